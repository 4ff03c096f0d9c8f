"""Checksums in a run (`biasgrid.checksums`): what was damaged is made again, and what is made is recorded."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from .. import checksums
from ..errors import BiasgridError, join_names
from ..plan.paths import ENCODED_STORES
from . import engine


class Recorded:
    """The records of the results of a study or experiment.

    Parameters
    ----------
    results
        Their folder.
    logs
        Where the run's lock lies, and what is known of the files of this machine.
    config
        The resolved config of a study, as its study.json has it.
    """

    def __init__(self, results: Path, logs: Path, config: str = ""):
        self.forced: set[str] = set()  # files that are made again
        self._config, self._results = config, results
        self.inputs: dict[str, str] = {}  # the user's files that the study is made from, and their digests
        self._lock_file, self._known = logs / ".lock", logs / ".checksums.json"

    def remove_damaged(self, workflow: Any, say: Callable[[str], None]) -> None:
        """Have this run make again what a step makes and is not as recorded, or missing if the run makes all. A dry
        run only plans it."""
        if self._is_locked():
            return  # the run that holds it is writing; this one is refused when it begins
        try:
            damaged, missing = checksums.changes(self._results, self._known)
        except BiasgridError as error:
            say(f"{error}: it is made again")
            damaged, missing = [], []
        study = self._results / "study.json"  # of results without records, too
        if study.is_file() and study.name not in damaged and not _is_mapping(study):
            damaged.append(study.name)
        if study.name not in damaged:
            self._check_record(workflow, study)

        def made(names: list[str]) -> list[str]:
            files = [str(self._results / name) for name in names]
            return [file for file in files if engine.has_rule_for(workflow, file)]

        files = made(damaged)
        self.forced = {*files, *(made(missing) if engine.asks_for_all(workflow) else ())}
        engine.force(workflow, self.forced)
        for file in () if engine.only_plans(workflow) else files:
            Path(file).unlink(missing_ok=True)
        if files:
            was, will = ("was", "it is") if len(files) == 1 else ("were", "they are")
            say(f"{join_names(files)} {was} damaged or changed by hand; {will} made again")

    def _check_record(self, workflow: Any, study: Path) -> None:
        """End the run where results of another config, or of other input files, were copied without what the engine
        knows of them: all that is there would pass for up to date."""
        if not self._config or not study.is_file() or workflow.dag_settings.forceall:
            return
        if engine.has_record(workflow, str(study)):
            return
        what = "another config" if study.read_text(encoding="utf-8") != self._config else self._other_input()
        if what:
            engine.stop(
                f"{self._results} is of {what}, and what is out of date cannot be told without .snakemake of "
                "the folder where it was made: copy that, too, or make all again with --forceall"
            )

    def _other_input(self) -> str:
        """An input file that is another one than that which the results were made from; empty where all are."""
        try:
            former = checksums.read_inputs(self._results)
        except BiasgridError:  # the run writes it anew when it ends
            return ""
        others = [file for file, digest in self.inputs.items() if former.get(file, digest) != digest]
        return f"another {others[0]}" if others else ""

    def begin(self, workflow: Any) -> None:
        """Take off the records of what this run is about to write."""
        names = self._names(engine.outputs_to_make(workflow))
        checksums.forget(self._results, [*names, *self._stores(names)])

    def end(self, workflow: Any) -> None:
        """Record what this run has made, and what a run that was killed has made before it."""
        if not engine.is_job(workflow):
            names = self._names(engine.outputs(workflow))
            checksums.record(self._results, [*names, *self._stores(names)], self._known)

    def end_of_all(self) -> None:
        """Record the input files of results that are all made from them."""
        if self.inputs:
            checksums.write_inputs(self._results, self.inputs)

    def _names(self, files: Iterable[str]) -> list[str]:
        """Those of the files that lie in the folder of results, by their names in it."""
        beginning = f"{self._results}/"
        return [file.removeprefix(beginning) for file in dict.fromkeys(files) if file.startswith(beginning)]

    def _stores(self, names: Collection[str]) -> Iterable[str]:
        """Yield the files of the stores of encoded models whose records are among these names: they lie in the folder
        of results, and no rule has them as outputs."""
        stores = self._results / ENCODED_STORES
        for file in sorted(stores.rglob("*")):
            folder, *inner = file.relative_to(stores).parts
            is_hidden = any(part.startswith(".") for part in (folder, *inner))
            if f"models/{folder}.json" in names and not is_hidden and file.is_file():
                yield file.relative_to(self._results).as_posix()

    def _is_locked(self) -> bool:
        try:
            with self._lock_file.open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # no run yet, or a file system without locks
            pass
        return False


def _is_mapping(file: Path) -> bool:
    try:
        return isinstance(json.loads(file.read_text(encoding="utf-8")), dict)
    except (OSError, ValueError, RecursionError):
        return False
