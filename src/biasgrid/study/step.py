"""Steps of a plan: the input files, the other dependencies, the output files and the function of each."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..core.configs import canonical
from ..core.files import write_text
from ..core.web_addresses import public
from ..models import not_downloaded
from . import checksums, code


def stat_of(file: Path | str) -> list[int] | None:
    """Return the size and the time of change of a file that the user can replace, or None if it cannot be read."""
    try:
        state = os.stat(file)
    except OSError:
        return None
    return [state.st_size, state.st_mtime_ns]


@dataclass(frozen=True)
class Step:
    """A step of a plan.

    Parameters
    ----------
    name
        The kind of step and what it makes, such as "table scores".
    inputs
        The files that the step reads, by role: a path or a list of paths. Other values (`StoreOf`) are also read,
        but changes to them do not make the step stale.
    output
        The file that the step writes.
    spec
        All other values on which the step depends, in the types of JSON.
    function
        The function (inputs, spec, output) that makes the output, as "module:name". Planning does not import it.
    modules
        Modules that the function looks up by name, such as the module of a metric. They belong to the step's code.
    beside
        Extensions of further output files, which have the same path as the output otherwise, such as ".npy".
    present
        For a step of several models, a function that returns the step without the models that could not be
        downloaded (`Study.present`). It is called when the step runs.
    own
        The files among `files` that belong to the user. A change of their size or time, even to an older time, makes
        the step stale.
    version
        For a step that an edit of its code does not make stale, the version of what it writes.
    """

    name: str
    inputs: Mapping[str, Any]
    output: Path
    spec: Mapping[str, Any]
    function: str
    modules: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    present: Callable[[], Step] | None = None
    own: tuple[str, ...] = ()
    version: str = ""

    @property
    def outputs(self) -> list[str]:
        """Return the files that the step writes."""
        return [str(self.output), *(str(self.output.with_suffix(extension)) for extension in self.beside)]

    @property
    def by_role(self) -> dict[str, list[str]]:
        """Return the files that the step reads, by role. If one of them changes, the step is stale."""
        by_role = {}
        for role, value in self.inputs.items():
            values = value if isinstance(value, list) else [value]
            if files := [str(file) for file in values if isinstance(file, (str, Path))]:
                by_role[role] = files
        return by_role

    @property
    def files(self) -> list[str]:
        """Return the files that the step reads, in order."""
        return [file for files in self.by_role.values() for file in files]

    @property
    def depends_on(self) -> str:
        """Return all dependencies of the step except its files as one canonical text: `settings` and `code`."""
        return canonical([self.settings, self.code])

    @property
    def settings(self) -> str:
        """Return the step's spec, and the sizes and times of the user's files, as canonical JSON.

        Snakemake records this text, so secrets in web addresses are left out.
        """
        own_files = {"own_files": {file: stat_of(file) for file in self.own}} if self.own else {}
        spec = {**self.spec, **own_files}
        return canonical(public(spec)) if "://" in (text := canonical(spec)) else text

    @property
    def code(self) -> str:
        """Return the digest of the code that the step runs, or its `version`."""
        return self.version or code.digest(self.function.partition(":")[0], *self.modules)

    def run(self) -> Any:
        """Make the output, and return the value of the step's function.

        If the model could not be downloaded, the output records the reason, and None is returned.
        """
        step = self.now()
        if reasons := not_downloaded.reasons_in(step.inputs.get("model")):
            with checksums.renewing(step.output):
                for path in step.outputs:
                    write_text(Path(path), not_downloaded.record_of(reasons))
            return None
        module, _, name = step.function.partition(":")
        function = getattr(importlib.import_module(module), name)
        with checksums.renewing(step.output):
            return function(step.inputs, step.spec, step.output)

    def now(self) -> Step:
        """Return the step without the models and archives that are already known to be not downloaded."""
        return self if self.present is None else replace(self.present(), present=None)
