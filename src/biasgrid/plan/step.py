"""A step of a plan: what it reads, what it depends on besides, what it writes, and how."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import absence, checksums
from ..configs import canonical
from ..files import write_text
from ..web_addresses import public
from . import code


def stat_of(file: Path | str) -> list[int] | None:
    """Return the size and the time of change of a file that the user can replace, or None if it cannot be read."""
    try:
        state = os.stat(file)
    except OSError:
        return None
    return [state.st_size, state.st_mtime_ns]


@dataclass(frozen=True)
class Step:
    """A step.

    name      kind and the rest, such as "table scores"
    inputs    the files that it reads, by role: a path or a list of paths. What is neither (`StoreOf`) is
              read, too, and not watched
    output    the file that it writes
    spec      whatever else it depends on, as JSON has it
    function  what makes the output, (inputs, spec, output), as "module:name": a plan is made without importing it
    modules   modules that it finds by itself, such as a metric's, which are its code, too
    beside    extensions of further files that it writes, beside the output and by its name, such as ".npy"
    own       those of `files` that belong to the user: their size and time count, an older time also
    present   of a step that is made of several models: itself, without those that could not be downloaded
              (`Study.present`); called when it runs
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

    @property
    def outputs(self) -> list[str]:
        """The files that it writes."""
        return [str(self.output), *(str(self.output.with_suffix(extension)) for extension in self.beside)]

    @property
    def by_role(self) -> dict[str, list[str]]:
        """The files that it reads, by role; when one of them changes, the step is stale."""
        by_role = {}
        for role, value in self.inputs.items():
            values = value if isinstance(value, list) else [value]
            if files := [str(file) for file in values if isinstance(file, (str, Path))]:
                by_role[role] = files
        return by_role

    @property
    def files(self) -> list[str]:
        """The files that it reads, in order."""
        return [file for files in self.by_role.values() for file in files]

    @property
    def depends_on(self) -> str:
        """Return one canonical text of all that the step depends on besides its files: `settings` and `code`."""
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
        """A digest of the code that it runs."""
        return code.digest(self.function.partition(":")[0], *self.modules)

    def run(self) -> Any:
        """Make the output; returns what the function returns. Of a model that could not be downloaded nothing is
        measured: the output says why, and None is returned."""
        step = self.now()
        if reasons := absence.reasons_in(step.inputs.get("model")):
            with checksums.renewing(step.output):
                for path in step.outputs:
                    write_text(Path(path), absence.record_of(reasons))
            return None
        module, _, name = step.function.partition(":")
        function = getattr(importlib.import_module(module), name)
        with checksums.renewing(step.output):
            return function(step.inputs, step.spec, step.output)

    def now(self) -> Step:
        """The step without what could not be downloaded, as far as its run has found that out."""
        return self if self.present is None else replace(self.present(), present=None)
