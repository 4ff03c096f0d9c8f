"""Why a run would make a step, in words: which word, parameter or module changed.

Snakemake decides what is made again, in a dry run. Here each job of that dry run is explained: by the words in a
query's file, and by what a step was made of when it was made last (`note`, `record`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..core.errors import BiasgridError, join_names, quote, unknown_name
from ..core.files import write_text
from ..queries.query import Query
from ..study import code
from ..study.study import Study
from . import stores
from .plan import Plan

KEPT = 500  # digests of code, of which the oldest are forgotten
MODULES = ".modules.json"  # in the folder of logs
NOTES = "made_of"  # in the folder of logs: a file for each step
SHOWN = 5  # of many changes
MOST_CAUSES = 12  # of a study
LONGEST_REASON = 120  # characters of a reason that Snakemake gives
NOT_THERE = " is not there"
MISSING = "files that are not there"
CODE_OF, CHANGED = "the code of ", " changed"  # around a step whose former modules are not known


def check(study: Study, name: str) -> None:
    """Raises BiasgridError for a name that no step of the study has."""
    plan = Plan(study)
    if name not in plan:
        kinds = dict.fromkeys(other.rpartition(" ")[0] or other for other in plan)
        raise BiasgridError(f"--why: {unknown_name('step', name, plan, f'of the kinds {join_names(kinds)}')}")


def record(logs: Path) -> None:
    """Note which modules the digests of code are of that this process has planned with."""
    new = code.members()
    known = {digest: members for digest, members in _modules(logs).items() if digest not in new} | new
    write_text(logs / MODULES, json.dumps(dict(list(known.items())[-KEPT:])))


def _modules(logs: Path) -> dict[str, dict[str, str]]:
    try:
        return dict(json.loads((logs / MODULES).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def note(logs: Path, name: str, settings: str, code: str = "") -> None:
    """Note what a step was made of: its settings and the digest of its code."""
    write_text(_note(logs, name), json.dumps([settings, code], ensure_ascii=False))


def _note(logs: Path, name: str) -> Path:
    return logs / NOTES / f"{name.replace(' ', '/')}.json"


def _read_note(logs: Path, name: str) -> tuple[str, str]:
    """Return what a step was made of; empty texts if that is not known."""
    try:
        settings, code = json.loads(_note(logs, name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "", ""
    return settings, code


@dataclass(frozen=True)
class Job:
    """A job of a dry run: its rule, the reason that Snakemake gives, and the files that it makes."""

    rule: str
    reason: str
    files: tuple[str, ...]


class Why:
    """What changed since the steps of a study were made.

    Parameters
    ----------
    jobs
        The jobs of a dry run.
    study
        The study as it is now.
    logs
        The folder of the study's logs.
    """

    def __init__(self, jobs: Iterable[Job], study: Study, logs: Path):
        self._study, self._logs = study, logs
        self._plan, self._modules = Plan(study), _modules(logs)
        self._jobs = {file: job for job in jobs for file in job.files}
        self._causes: dict[Job, dict[str, None]] = {}

    def lines(self, name: str) -> list[str]:
        """Why a run would make a step, a line each; one line that says that it would not."""
        step = self._plan[name]
        causes = list(self._causes_of(str(step.output)))
        if not causes:
            return [f"{name}: nothing changed, it is not made again"]
        is_there = step.output.exists()
        lines = [f"{name} is made{' again' * is_there}:", *(f"  {cause}" for cause in causes[:SHOWN])]
        return lines + ([f"  and {len(causes) - SHOWN} more changes"] if len(causes) > SHOWN else [])

    def study_lines(self) -> list[str]:
        """Return what a run would make and why, by cause; the causes of most steps come first."""
        files = list(self._jobs)
        if not files:
            return ["nothing changed, nothing is made again"]
        steps: dict[str, dict[str, None]] = {}
        missing: dict[str, None] = {}
        for file in files:
            for cause in self._causes_of(file):
                if cause.endswith(NOT_THERE):
                    missing[cause.removesuffix(NOT_THERE)] = None
                    cause = MISSING
                elif name := _whose_code(cause):
                    cause = f"{CODE_OF}the {self._kind(name)} steps{CHANGED}"
                steps.setdefault(cause, {})[self._makers.get(file, file)] = None
        lines = [f"a run makes {self._counts(self._makers.get(file, file) for file in files)}:"]
        ordered = sorted(steps.items(), key=lambda item: -len(item[1]))
        for cause, names in ordered[:MOST_CAUSES]:
            told = cause
            if cause == MISSING:
                first = next(iter(missing))
                told = (
                    f"{first}{NOT_THERE}" if len(missing) == 1 else f"{len(missing):,} {MISSING}, as {first}"
                )
            lines.append(f"  {told}: {self._counts(names)}")
        rest = len(ordered) - MOST_CAUSES
        return [*lines, f"  and {rest:,} more changes"] if rest > 0 else lines

    def _counts(self, names: Iterable[str]) -> str:
        """Return how many steps of each kind there are among names of steps, and files that no step makes."""
        kinds = Counter(map(self._kind, dict.fromkeys(names)))
        return ", ".join(f"{kind} {count:,}" if count > 1 else kind for kind, count in kinds.items())

    def _kind(self, name: str) -> str:
        """Return the kind of a step, and the rule of a file that no step makes."""
        return (name.rpartition(" ")[0] or name) if name in self._plan else self._jobs[name].rule

    @cached_property
    def _makers(self) -> dict[str, str]:
        """File -> the step that makes it."""
        return {file: name for name, step in self._plan.items() for file in step.outputs}

    def _causes_of(self, file: str) -> dict[str, None]:
        """Return what the job that makes a file is run for: its own reasons, and those of what it reads."""
        job = self._jobs.get(file)
        if job is None:
            return {}
        if job not in self._causes:
            self._causes[job] = {}  # steps of one job read from one another
            self._causes[job] = dict.fromkeys(self._find_causes(job)) or {
                f"{job.rule}: {job.reason:.{LONGEST_REASON}}": None
            }
        return self._causes[job]

    def _find_causes(self, job: Job) -> Iterator[str]:
        for file in job.files:
            own_causes = list(self._own_causes(file))
            if not Path(file).exists():
                # the record of a changed archive or store was deleted
                yield from (file not in self._makers and own_causes) or [f"{file}{NOT_THERE}"]
                continue
            yield from own_causes
            for other in self._read_by(file):
                if other not in self._jobs and _is_newer(other, file):
                    yield f"{other} is newer than {file}"
                if other not in job.files:
                    yield from self._causes_of(other)

    def _read_by(self, file: str) -> list[str]:
        """Return the files that the step of a file reads."""
        if name := self._makers.get(file):
            return self._plan[name].files
        key = Path(file).stem
        if file == str(self._study.paths.model_file(key)) and key in self._study.models:
            return [str(self._study.paths.source_file(name)) for name in stores.archives(self._study, key)]
        return []

    def _own_causes(self, file: str) -> Iterator[str]:
        """Yield what changed of the step of a file, without what it reads."""
        name, key = self._makers.get(file), Path(file).stem
        if name:
            step = self._plan[name]
            yield from self._setting_changes(name, *_read_note(self._logs, name), step.settings, step.code)
        elif file == str(self._study.paths.query_file(key)) and key in self._study.queries:
            yield from _query_changes(key, Path(file), self._study.queries[key])
        elif file == str(self._study.paths.source_file(key)) and key in self._study.sources:
            settings = stores.archive_settings(self._study, key)
            yield from self._source_changes(f"archive {key}", key, settings)
        elif file == str(self._study.paths.model_file(key)) and key in self._study.models:
            yield from self._source_changes(f"store {key}", key, stores.store_settings(self._study, key))

    def _source_changes(self, step: str, name: str, now: str) -> Iterator[str]:
        """Yield what changed of an archive or a store, which have no step in the plan."""
        before, _ = _read_note(self._logs, step)
        if not before or before == now:
            return
        old, new = (json.loads(text.rpartition("}")[0] + "}") for text in (before, now))
        old_files, new_files = (spec.pop("own_files", {}) for spec in (old, new))
        replaced = [file for file in new_files if old_files.get(file, "") != new_files[file]]
        yield from (f"{file} was replaced" for file in replaced)
        if old != new or not replaced:
            yield f"the source, format or store of {name} changed"

    def _setting_changes(
        self, name: str, old_settings: str, old_code: str, new_settings: str, new_code: str
    ) -> Iterator[str]:
        """Yield which settings, files of the user and modules of a step changed since it was made."""
        if old_settings and old_settings != new_settings:
            old_spec, new_spec = json.loads(old_settings), json.loads(new_settings)
            old_files, new_files = (spec.get("own_files", {}) for spec in (old_spec, new_spec))
            yield from (
                f"{file} was replaced" for file in new_files if old_files.get(file, "") != new_files[file]
            )
            # the first is the code of steps that keep parts of their output
            left_out = ("code", "own_files")
            old_spec, new_spec = (
                {k: v for k, v in spec.items() if k not in left_out} for spec in (old_spec, new_spec)
            )
            if changes := list(_differences(old_spec, new_spec)):
                shown = "; ".join(changes[:SHOWN]) + "; ..." * (len(changes) > SHOWN)
                yield f"{name}: {shown}"
        if old_code and old_code != new_code:
            old, new = self._modules.get(old_code), code.members().get(new_code)
            changed = [m for m in sorted({*old, *new}) if old.get(m) != new.get(m)] if old and new else []
            yield f"code changed: {join_names(changed)}" if changed else f"{CODE_OF}{name}{CHANGED}"


def _is_newer(file: str, other: str) -> bool:
    return Path(file).exists() and Path(file).stat().st_mtime > Path(other).stat().st_mtime


def _whose_code(cause: str) -> str:
    """Return the step whose code changed, of a cause that says so; else an empty text."""
    is_code = cause.startswith(CODE_OF) and cause.endswith(CHANGED)
    return cause.removeprefix(CODE_OF).removesuffix(CHANGED) if is_code else ""


def _query_changes(key: str, file: Path, query: Query) -> Iterator[str]:
    """Which words of a query changed since its file was written."""
    if not file.exists():
        return
    try:
        former = Query.read(file)
    except BiasgridError:
        yield f"{file} is damaged"
        return
    sets = {s.name: s.words for s in (*query.target_sets, *query.attribute_sets)}
    old_sets = {s.name: s.words for s in (*former.target_sets, *former.attribute_sets)}
    for name in dict.fromkeys([*old_sets, *sets]):
        old, new = old_sets.get(name, ()), sets.get(name, ())
        if old == new:
            continue
        gone, come = ([w for w in a if w not in b] for a, b in ((old, new), (new, old)))
        words = [f"{join_names(map(quote, come))} came"] if come else []
        words += [f"{join_names(map(quote, gone))} went"] if gone else []
        yield f"query {key}, set {quote(name)}: {', '.join(words) or 'the order of its words'}"
    if old_sets == sets:
        yield f"query {key}: its name or the order of its sets changed"


def _differences(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Where two specs differ, and in what."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys([*old, *new]):
            yield from _differences(old.get(key), new.get(key), f"{place}.{key}" if place else str(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, pair in enumerate(zip(old, new, strict=True)):
            yield from _differences(*pair, f"{place}[{number}]")
    elif old != new:
        yield f"{place}: {_shown(old)} -> {_shown(new)}"


def _shown(value: Any) -> str:
    return "none" if value is None else f"{json.dumps(value, ensure_ascii=False):.60}"
