"""Why a run would make a step, in words: which word, parameter or module changed.

Snakemake decides what is made again, in a dry run. Here each job of that dry run is explained: by the words in a
query's file, and by what a step was made of when it was made last (`note`, `record`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import BiasgridError, join_names, quote, unknown_name
from ..core.files import write_text
from ..queries.query import Query
from ..study import code
from ..study.step import Step
from ..study.study import Study
from .plan import Plan

KEPT = 500  # digests of code, of which the oldest are forgotten
MODULES = ".modules.json"  # in the folder of logs
NOTES = "made_of"  # in the folder of logs: a file for each step
SHOWN = 5  # of many changes
MOST_CAUSES = 12  # of a study
LONGEST_REASON = 120  # characters of a reason that Snakemake gives
PARAMS = "Params have changed since last execution"  # begins such a reason
NOT_THERE = " is not there"
MISSING = "files that are not there"


def check(study: Study, name: str) -> None:
    """Raises BiasgridError for a name that no step of the study has."""
    plan = Plan(study)
    if name not in plan:
        kinds = dict.fromkeys(other.rpartition(" ")[0] or other for other in plan)
        raise BiasgridError(f"--why: {unknown_name('step', name, plan, f'of the kinds {join_names(kinds)}')}")


def record(logs: Path) -> None:
    """Note which modules the digests of code are of that this process has planned with."""
    new, former = code.members(), _read(logs / MODULES)
    known = {digest: members for digest, members in former.items() if digest not in new} | new
    write_text(logs / MODULES, json.dumps(dict(list(known.items())[-KEPT:])))


def note(logs: Path, name: str, settings: str, code: str = "") -> None:
    """Note what a step was made of: its settings and the digest of its code."""
    write_text(_note(logs, name), json.dumps({"settings": settings, "code": code}, ensure_ascii=False))


def _note(logs: Path, name: str) -> Path:
    return logs / NOTES / f"{name.replace(' ', '/')}.json"


def _read(file: Path) -> dict[str, Any]:
    """Return the mapping in a file of JSON; an empty one if it is damaged or missing."""
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


@dataclass(frozen=True)
class Job:
    """A job of a dry run: its rule, the reason that Snakemake gives, and the files that it makes."""

    rule: str
    reason: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class Cause:
    """Why a job is run. Causes of one group are counted together where a whole study is explained."""

    text: str
    group: str


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
        self._plan, self._modules = Plan(study), _read(logs / MODULES)
        self._jobs = {file: job for job in jobs for file in job.files}
        self._causes: dict[Job, dict[Cause, None]] = {}

    def lines(self, name: str) -> list[str]:
        """Why a run would make a step, a line each; one line that says that it would not."""
        step = self._plan[name]
        causes = list(self._causes_of(str(step.output)))
        if not causes:
            return [f"{name}: nothing changed, it is not made again"]
        is_there = step.output.exists()
        lines = [f"{name} is made{' again' * is_there}:", *(f"  {cause.text}" for cause in causes[:SHOWN])]
        return lines + ([f"  and {len(causes) - SHOWN} more changes"] if len(causes) > SHOWN else [])

    def study_lines(self) -> list[str]:
        """Return what a run would make and why, by cause; the causes of most steps come first."""
        files = list(self._jobs)
        if not files:
            return ["nothing changed, nothing is made again"]
        steps: dict[str, dict[str, None]] = {}
        texts: dict[str, dict[str, None]] = {}
        for file in files:
            for cause in self._causes_of(file):
                steps.setdefault(cause.group, {})[self._plan.makers.get(file, file)] = None
                texts.setdefault(cause.group, {})[cause.text] = None
        lines = [f"a run makes {self._counts(self._plan.makers.get(file, file) for file in files)}:"]
        ordered = sorted(steps.items(), key=lambda item: -len(item[1]))
        for group, names in ordered[:MOST_CAUSES]:
            if group == MISSING:
                first, *others = texts[group]
                group = (
                    f"{len(others) + 1:,} {MISSING}, as {first.removesuffix(NOT_THERE)}" if others else first
                )
            lines.append(f"  {group}: {self._counts(names)}")
        rest = len(ordered) - MOST_CAUSES
        return [*lines, f"  and {rest:,} more changes"] if rest > 0 else lines

    def _counts(self, names: Iterable[str]) -> str:
        """Return how many steps of each kind there are among names of steps, and files that no step makes."""
        kinds = Counter(map(self._kind, dict.fromkeys(names)))
        return ", ".join(f"{kind} {count:,}" if count > 1 else kind for kind, count in kinds.items())

    def _kind(self, name: str) -> str:
        """Return the kind of a step, and the rule of a file that no step makes."""
        return (name.rpartition(" ")[0] or name) if name in self._plan else self._jobs[name].rule

    def _causes_of(self, file: str) -> dict[Cause, None]:
        """Return what the job that makes a file is run for: its own reasons, and those of what it reads."""
        job = self._jobs.get(file)
        if job is None:
            return {}
        if job not in self._causes:
            self._causes[job] = {}  # steps of one job read from one another
            # Snakemake continues with all params, before and now
            said = PARAMS if job.reason.startswith(PARAMS) else job.reason
            reason = f"{job.rule}: {said:.{LONGEST_REASON}}"
            self._causes[job] = dict.fromkeys(self._find_causes(job)) or {Cause(reason, reason): None}
        return self._causes[job]

    def _find_causes(self, job: Job) -> Iterator[Cause]:
        for file in job.files:
            name = self._plan.makers.get(file)
            step = self._plan[name] if name else None
            changes = list(self._changes_of(step)) if step else []
            if not Path(file).exists():
                # the record of an archive or a store that changed was deleted
                is_record = name and name.startswith(("archive ", "store "))
                yield from (is_record and changes) or [Cause(f"{file}{NOT_THERE}", MISSING)]
                continue
            yield from changes
            for other in step.files if step else ():
                if other not in self._jobs and _is_newer(other, file):
                    yield Cause(text := f"{other} is newer than {file}", text)
                if other not in job.files:
                    yield from self._causes_of(other)

    def _changes_of(self, step: Step) -> Iterator[Cause]:
        """Yield which words, settings, files of the user and modules of a step changed since it was made."""
        made_of = _read(_note(self._logs, step.name))
        settings, of_code = made_of.get("settings", "{}"), made_of.get("code", "")
        if step.name.startswith("query "):
            texts = _query_changes(step, self._study.queries[step.spec["query"]])
        else:
            texts = _changes(step.name, json.loads(settings), json.loads(step.settings))
        yield from (Cause(text, text) for text in texts)
        if of_code and of_code != step.code:
            old, new = self._modules.get(of_code), code.members().get(step.code)
            changed = [m for m in sorted({*old, *new}) if old.get(m) != new.get(m)] if old and new else []
            if changed:
                yield Cause(text := f"code changed: {join_names(changed)}", text)
            else:
                of_kind = f"the code of the {self._kind(step.name)} steps changed"
                yield Cause(f"the code of {step.name} changed", of_kind)


def _query_changes(step: Step, query: Query) -> Iterator[str]:
    """Yield what changed in a query since its file was written."""
    if step.output.exists():
        try:
            former = Query.read(step.output)
        except BiasgridError:
            yield f"{step.output} is damaged"
        else:
            yield from _changes(step.name, _content(former), _content(query))


def _content(query: Query) -> dict[str, Any]:
    """Return the name of a query, the names of its sets, and the words of each."""
    sets = {s.name: list(s.words) for s in (*query.target_sets, *query.attribute_sets)}
    of_sets = {f"set {quote(name)}": words for name, words in sets.items()}
    return {"name": query.name, "sets": list(sets), **of_sets}


def _changes(name: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """Yield which settings of a step, and which of the user's files, changed.

    Nothing is known of them if `old` is empty.
    """
    if not old:
        return
    for spec in (old, new):
        spec.pop("code", None)  # of steps that keep parts of their output
    old_files, new_files = (spec.pop("own_files", {}) for spec in (old, new))
    yield from (f"{file} was replaced" for file in new_files if old_files.get(file, "") != new_files[file])
    if changes := list(_differences(old, new)):
        yield f"{name}: {'; '.join(changes[:SHOWN])}{'; ...' * (len(changes) > SHOWN)}"


def _is_newer(file: str, other: str) -> bool:
    return Path(file).exists() and Path(file).stat().st_mtime > Path(other).stat().st_mtime


def _differences(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Yield where two specs differ, and in what."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys([*old, *new]):
            yield from _differences(old.get(key), new.get(key), f"{place}.{key}" if place else str(key))
    elif _are_texts(old) and _are_texts(new) and old != new:
        come, gone = ([text for text in a if text not in b] for a, b in ((new, old), (old, new)))
        texts = [f"{join_names(map(quote, come))} came"] if come else []
        texts += [f"{join_names(map(quote, gone))} went"] if gone else []
        yield f"{place}: {', '.join(texts) or 'another order'}"
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, pair in enumerate(zip(old, new, strict=True)):
            yield from _differences(*pair, f"{place}[{number}]")
    elif old != new:
        yield f"{place}: {_shown(old)} -> {_shown(new)}"


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def _shown(value: Any) -> str:
    return "none" if value is None else f"{json.dumps(value, ensure_ascii=False):.60}"
