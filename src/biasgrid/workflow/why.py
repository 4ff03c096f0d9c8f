"""Why a run would make a step, in words: which word, parameter or module changed.

Whether it would is the engine's to say, from a plan that is made and not run. What changed is found in what is there:
the query's file, the step's former spec, and the modules of the code that it was made by (`record`).
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from ..digests import content
from ..errors import BiasgridError, join_names, quote, unknown_name
from ..files import write_text
from ..plan import code
from ..plan.study import Study
from ..query import Query
from . import engine, stores
from .batches import log_of
from .made import Made
from .plan import Plan

NAME = "BIASGRID_WHY"  # environment variable: the step that is asked after
KEPT = 500  # digests of code, of which the oldest are forgotten
MODULES = ".modules.json"  # in the folder of logs
SHOWN = 5  # of many changes
MOST_CAUSES = 12  # of a study
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


class Why:
    """What changed since the steps of a study were made.

    Parameters
    ----------
    workflow
        The engine's, with a plan.
    study
        The study as it is now.
    logs
        The folder of the run's logs and notes.
    """

    def __init__(self, workflow: Any, study: Study, logs: Path):
        self._study, self._logs = study, logs
        self._made, self._plan, self._modules = Made(logs), Plan(study), _modules(logs)
        self._reasons = engine.reasons(workflow)
        self._causes: dict[str, dict[str, None]] = {}

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
        files = {file: reason for file, reason in self._reasons.items() if reason.rule != "all"}
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
        return (name.rpartition(" ")[0] or name) if name in self._plan else self._reasons[name].rule

    @cached_property
    def _makers(self) -> dict[str, str]:
        """File -> the step that makes it."""
        return {file: name for name, step in self._plan.items() for file in step.outputs}

    def _causes_of(self, file: str) -> dict[str, None]:
        """What a file is made again for, its own reasons and those of what it is made from."""
        if file not in self._causes:
            self._causes[file] = {}
            self._causes[file] = dict.fromkeys(self._find_causes(file))
        return self._causes[file]

    def _find_causes(self, file: str) -> Iterator[str]:
        reason = self._reasons.get(file)
        if reason is None:
            return
        if not Path(file).exists():
            yield f"{file}{NOT_THERE}"
            return
        if file not in self._makers:
            yield from self._source_changes(file, reason)
            return
        step = self._plan[self._makers[file]]
        before = next((text for text in map(_text, reason.before) if text.startswith("[")), "")
        before = before or self._made.former_dependence(log_of(step, self._logs))
        if before and before != step.depends_on:
            yield from self._dependence_changes(self._makers[file], before, step.depends_on)
        for other in step.files:
            if other in reason.updated and other not in self._reasons:
                yield f"{other} is newer than {file}"
            yield from self._causes_of(other)
        yield from (f"{file}: {text}" for text in reason.other)

    def _source_changes(self, file: str, reason: engine.Reason) -> Iterator[str]:
        """Of a file that is no step's: a query, the record of a model's store, the study's own."""
        key = Path(file).stem
        if file == str(self._study.paths.query_file(key)) and key in self._study.queries:
            yield from _query_changes(key, Path(file), self._study.queries[key])
        elif replaced := [other for manifest in (file, *reason.made) for other in self._replaced(manifest)]:
            yield from (f"{other} was replaced" for other in replaced)
        elif name := next(filter(None, map(self._source_of, (file, *reason.made))), ""):
            yield f"the source of {name} changed"
        elif reason.before or reason.updated:
            what = f"the source, format or store of the model {key}" if "/models/" in file else file
            yield f"{what} changed"
        else:
            yield f"{file} is made again: {join_names(reason.other or reason.made)}"

    def _replaced(self, manifest: str) -> list[str]:
        """The user's files of an archive that have another content than when it was read last."""
        if not (name := self._source_of(manifest)):
            return []
        reason = self._reasons[manifest]
        before = " ".join(map(_text, reason.before))
        return [
            file
            for file in stores.local_file(self._study, name)
            if (content(file) not in before if before else file in reason.updated)
        ]

    def _source_of(self, manifest: str) -> str:
        """Return the name of the archive whose manifest is made; empty for any other file."""
        name = Path(manifest).parent.name
        is_made = Path(manifest).name == "manifest.json" and manifest in self._reasons
        return name if is_made and name in self._study.sources else ""

    def _dependence_changes(self, name: str, before: str, now: str) -> Iterator[str]:
        (old_spec, old_code), (new_spec, new_code) = json.loads(before), json.loads(now)
        old_files, new_files = (spec.get("own_files", {}) for spec in (old_spec, new_spec))
        yield from (
            f"{file} was replaced" for file in new_files if old_files.get(file, "") != new_files[file]
        )
        # the first of steps that keep parts of their output
        left_out = ("code", "own_files")
        old_spec, new_spec = (
            {k: v for k, v in spec.items() if k not in left_out} for spec in (old_spec, new_spec)
        )
        if changes := list(_differences(old_spec, new_spec)):
            shown = "; ".join(changes[:SHOWN]) + "; ..." * (len(changes) > SHOWN)
            yield f"{name}: {shown}"
        if old_code != new_code:
            old, new = self._modules.get(old_code), code.members().get(new_code)
            changed = [m for m in sorted({*old, *new}) if old.get(m) != new.get(m)] if old and new else []
            yield f"code changed: {join_names(changed)}" if changed else f"{CODE_OF}{name}{CHANGED}"


def _whose_code(cause: str) -> str:
    """Return the step whose code changed, of a cause that says so; else an empty text."""
    is_code = cause.startswith(CODE_OF) and cause.endswith(CHANGED)
    return cause.removeprefix(CODE_OF).removesuffix(CHANGED) if is_code else ""


def _text(param: str) -> str:
    """A param as the engine has it, written in Python."""
    try:
        return str(ast.literal_eval(param))
    except (ValueError, SyntaxError):
        return ""


def _query_changes(key: str, file: Path, query: Query) -> Iterator[str]:
    """Which words of a query changed since its file was written."""
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
