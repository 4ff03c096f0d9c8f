"""Joining of published folders, or results, into one study.

Their records are checked and copied. Tables, ranks, conclusions and page are made from them as in any other
study. Their code is never run, and their tables are not read.
"""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from ...core.errors import BiasgridError, join_names, quote, quote_both
from ...core.files import new_folder, write_text
from ...core.printable import check_texts
from ...core.schema import read
from ...core.untrusted import read_npy
from ...core.validation import to_record
from ...figures import plan_figures
from ...measure.records import read_model
from ...measure.results import cells_in
from ...study import checksums
from ...study.config import load
from ...study.results.finished_study import CONFIG, FinishedStudy, find_study
from ...study.step import Step
from ...study.steps import figure_step, rank_samples_step, table_step
from ..existing import step_of
from ..report_step import report_step
from .deposit import records

LARGEST = 1 << 28  # bytes of a file that is read whole
# Keys that must be the same in all studies, in addition to criteria, queries and debias methods.
SAME = (
    *("seed", "words", "metrics", "aggregation", "ranking", "correlations", "query_ranks", "frequencies"),
    *("quality", "evaluation", "inference", "reliability"),
)
ARCHIVES = ("benchmarks", "corpora", "encoders")
# Keys of a criterion that are compared separately, or left out.
OF_MODELS = ("models", "ratings", "queries", "phenomena")
# Keys that apply only to one study's models.
LEFT_OUT = ("published", "computed", "beside", "trainings", "shuffled", "null_distributions", "embeddings")


class DifferencesError(BiasgridError):
    """An error with the reasons why folders are not joined, one per line."""

    def __init__(self, lines: Sequence[str]):
        super().__init__(lines[-1])
        self.lines = lines


def join(folders: Sequence[Path], into: Path) -> tuple[FinishedStudy, list[str]]:
    """Write the study of all models of these folders, completely or not at all; return it and allowed
    differences.

    Raises
    ------
    DifferencesError
        The folders differ in queries, words, parameters or the version of biasgrid.
    BiasgridError
        A folder is damaged, not finished, or malicious.
    """
    studies = {str(folder): _read(folder) for folder in folders}
    if len(studies) < 2:
        raise BiasgridError("give two or more different folders")
    differences, notes = _compare(studies)
    if differences:
        raise DifferencesError(differences)
    with new_folder(into) as part:
        for name, study in studies.items():
            for file in records(study):
                if not (place := part / file.relative_to(study.folder)).exists():
                    place.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, place)
            notes += [f"{name}: model {key} is left out: {why}" for key, why in study.absent.items()]
        config = _joined(studies, into.name)
        figures = config.pop("figures")
        write_text(part / CONFIG, _json(config | {"figures": []}))
        plain = find_study(part)
        drawable = [figure for figure in figures if _is_drawable(plain, figure)]
        write_text(part / CONFIG, _json(config | {"figures": drawable}))
        for step in _steps(joined := find_study(part)):
            step.run()
        checksums.record_all(part)
    return joined, notes


def _read(folder: Path) -> FinishedStudy:
    """Read a finished study, after checks that its files are complete, its own, and have the recorded contents."""
    for file in sorted(folder.rglob("*")):
        state = file.lstat()
        if not (stat.S_ISREG(state.st_mode) or stat.S_ISDIR(state.st_mode)):
            raise BiasgridError(f"{file}: is a link or not a regular file; not read")
        if state.st_size > LARGEST:
            raise BiasgridError(f"{file}: has {state.st_size:,} bytes, more than {LARGEST:,}; not read")
    _, differences = checksums.differences(folder)
    for how in ("differs", "is missing"):
        if names := differences.get(how):
            raise BiasgridError(
                f"{folder / names[0]}: {how}: {checksums.NAME} has a different digest; not joined"
            )
    record = read(folder / CONFIG, "a study")
    check_texts(record, f"{folder / CONFIG}")
    for key in load.PARTS:
        if not isinstance(record.get(key, {}), dict):
            raise BiasgridError(
                f"{folder / CONFIG}: {key}: names files; a finished study has their contents instead"
            )
    if record.get("plugins"):
        raise BiasgridError(
            f"{folder / CONFIG}: plugins: are code, which this command does not run; not joined"
        )
    study = find_study(folder)
    step_of(study)  # raises an error if the study is not finished
    _check_records(study)
    return study


def _check_records(study: FinishedStudy) -> None:
    """Raise BiasgridError if a record's contents do not match its place."""
    paths, grid = study.paths, study.grid
    for cell in grid.cells.values():
        _check_same(paths.cell_file(cell), [cell.spec])
    for group in grid.inference_groups.values():
        _check_same(paths.inference_file(group[0]), [inference.spec for inference in group])
        if (samples := paths.samples_file(group[0])).is_file():
            read_npy(samples)
    for model in study.models:
        check_texts(record := read_model(paths.model_file(model)), f"{paths.model_file(model)}")
        if record["name"] != model:
            raise BiasgridError(f"{paths.model_file(model)}: is of {quote(record['name'])}")
    for file in records(study):
        place = file.relative_to(study.folder).with_suffix("").parts
        if place[0] in ("evaluation", "frequency") and read(file, "a record").get("model") != place[1]:
            raise BiasgridError(f"{file}: is not of the model {place[1]}")


def _check_same(file: Path, specs: Sequence[Mapping[str, Any]]) -> None:
    found = cells_in(file)
    if len(found) != len(specs):
        raise BiasgridError(f"{file}: has {len(found)} scores; the study has {len(specs)} there")
    for record, spec in zip(found, specs, strict=True):
        if key := next((key for key, value in spec.items() if record.get(key) != value), None):
            theirs, ours = quote_both(record.get(key), spec[key])
            raise BiasgridError(f"{file}: {key}: {theirs}; {CONFIG} says {ours}")


def _compare(studies: Mapping[str, FinishedStudy]) -> tuple[list[str], list[str]]:
    """Return the differences that prevent joining, and the allowed differences, one per line."""
    (first, a), *others = studies.items()
    differences: list[str] = []
    notes: list[str] = []
    for name, b in others:
        lines = [*_config_differences(a, b), *_query_differences(a, b)]
        allowed: list[str] = []
        versions_a, versions_b = _versions(a), _versions(b)
        for library in dict.fromkeys([*versions_a, *versions_b]):
            if (theirs := versions_b.get(library, "none")) != (ours := versions_a.get(library, "none")):
                line = f"version of {library}: {theirs}, and {ours} in {{first}}"
                # Other versions of biasgrid may measure something else. Other libraries only change the last digits.
                (lines if library == "biasgrid" else allowed).append(line)
        differences += [f"{name}: {line.replace('{first}', first)}" for line in lines]
        notes += [f"{name}: {line.replace('{first}', first)}" for line in allowed]
    vectors: dict[str, tuple[str, str]] = {}
    for name, study in studies.items():
        for model in study.models:
            digest = json.dumps(read_model(study.paths.model_file(model)).get("sha256") or [name, model])
            other, key = vectors.setdefault(digest, (name, model))
            if other == name:
                continue
            if key == model:
                notes.append(f"{name}: model {model} is that of {other}, and taken once")
            else:
                notes.append(f"{name}: model {model} has the vectors of {key} in {other}: both are ranked")
    differences += _entry_differences(studies, "models")
    for part in ARCHIVES:
        differences += _entry_differences(studies, part)
    return differences, notes


def _config_differences(a: FinishedStudy, b: FinishedStudy) -> Iterator[str]:
    for key in SAME:
        yield from _record_differences(
            to_record(getattr(a.config, key)), to_record(getattr(b.config, key)), key
        )
    criteria_a, criteria_b = (
        {name: _comparable_keys(e) for name, e in s.config.criteria.items()} for s in (a, b)
    )
    yield from _record_differences(criteria_a, criteria_b, "criteria")
    for key in a.debias.keys() & b.debias.keys():
        of_a, of_b = ({"criterion": s.debias[key][0], **_comparable_keys(s.debias[key][1])} for s in (a, b))
        yield from _record_differences(of_a, of_b, f"debias: {key}")


def _comparable_keys(entry: Any) -> dict[str, Any]:
    return {key: value for key, value in to_record(entry).items() if key not in OF_MODELS}


def _record_differences(a: Any, b: Any, place: str) -> Iterator[str]:
    """Yield the differences of two records, one per line, with "{first}" in place of the first one's name."""
    if a == b:
        return
    if isinstance(a, dict) and isinstance(b, dict):
        for key in dict.fromkeys([*a, *b]):
            yield from _record_differences(a.get(key), b.get(key), f"{place}: {key}")
    else:
        quoted = zip((b, a), quote_both(b, a), strict=True)
        theirs, ours = ("not given" if value is None else text for value, text in quoted)
        yield f"{place}: {theirs}, and {ours} in {{first}}"


def _query_differences(a: FinishedStudy, b: FinishedStudy) -> Iterator[str]:
    for key in dict.fromkeys([*a.queries, *b.queries]):
        if key not in b.queries:
            yield f"query {key}: is in {{first}} alone"
        elif key not in a.queries:
            yield f"query {key}: is not in {{first}}"
        elif a.query_digest(key) != b.query_digest(key):
            words_a, words_b = (
                {s.name: list(s.words) for s in (*q.target_sets, *q.attribute_sets)}
                for q in (a.queries[key], b.queries[key])
            )
            if list(words_a) != list(words_b) or words_a == words_b:
                yield f"query {key}: has other names, or another order, than in {{first}}"
                continue
            for name, words in words_a.items():
                if others := sorted(set(words) ^ set(words_b[name])):
                    yield f"query {key}: {name}: differs from {{first}} by {join_names(others)}"
                elif words != words_b[name]:
                    yield f"query {key}: {name}: has another order of words than in {{first}}"


def _entry_differences(studies: Mapping[str, FinishedStudy], part: str) -> Iterator[str]:
    seen: dict[str, tuple[str, Any]] = {}
    for name, study in studies.items():
        for key, entry in (getattr(study.config, part) or {}).items():
            record: Any = {k: v for k, v in to_record(entry).items() if k != "download_mb"}
            if part == "models" and key not in study.absent:
                record |= {"vectors": read_model(study.paths.model_file(key)).get("sha256")}
            first, other = seen.setdefault(key, (name, record))
            if other != record:
                yield f"{name}: {part}: {key}: is another one in {first}; one of them needs another key"


def _versions(study: FinishedStudy) -> dict[str, str]:
    """Return the versions of each library that computed the study's scores: library -> versions."""
    found: dict[str, set[str]] = {}
    for cell in study.grid.cells.values():
        for record in cells_in(study.paths.cell_file(cell)):
            for library, version in (record.get("versions") or {"biasgrid": "?"}).items():
                found.setdefault(str(library), set()).add(str(version))
    return {library: ", ".join(sorted(versions)) for library, versions in found.items()}


def _joined(studies: Mapping[str, FinishedStudy], name: str) -> dict[str, Any]:
    """Return the config of all models, in the order of the folders, in the format of study.json."""
    records = [json.loads(study.to_json()) for study in studies.values()]
    order = dict.fromkeys(key for study in studies.values() for key in study.models)
    joined = {key: value for key, value in records[0].items() if key not in LEFT_OUT}
    joined |= {"study": name, "results": "results", "debias": {}}
    for part in ("models", *ARCHIVES):
        entries = {key: entry for record in records for key, entry in (record.get(part) or {}).items()}
        joined |= {part: entries} if entries else {}
    joined["models"] = {key: joined["models"][key] for key in order}
    for criterion, entry in joined["criteria"].items():
        chosen = [record["criteria"][criterion].get("models") for record in records]
        entry.pop("ratings", None)
        if any(chosen):
            entry["models"] = _in_order(
                order, (c or r["models"] for c, r in zip(chosen, records, strict=True))
            )
    for study, record in zip(studies.values(), records, strict=True):
        for key, (criterion, _) in study.debias.items():
            entry = (
                joined["debias"].setdefault(criterion, {}).setdefault(key, record["debias"][criterion][key])
            )
            fits = ([model for model, fit in s.grid.fits if fit == key] for s in studies.values())
            entry["models"] = _in_order(order, fits)
    return joined


def _in_order(order: Iterable[str], lists: Iterable[Iterable[str]]) -> list[str]:
    chosen = {key for of_one in lists for key in of_one}
    return [key for key in order if key in chosen]


def _json(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def _is_drawable(study: FinishedStudy, figure: str) -> bool:
    try:
        return bool(plan_figures(study, [figure]))
    except BiasgridError:  # the figure needs something that is left out
        return False


def _steps(study: FinishedStudy) -> list[Step]:
    """Return the steps of tables, ranks, figures and the page, each after the steps whose files it reads."""
    steps = [table_step(study, name) for name in study.tables]
    if study.config.inference.bootstrap and "rankings" in study.tables:
        steps.append(rank_samples_step(study))
    steps += [figure_step(study, drawing) for drawing in study.figures.values()]
    steps.append(report_step(study))
    makers = {output: step.name for step in steps for output in step.outputs}
    by_name = {step.name: step for step in steps}
    graph = {step.name: {makers[file] for file in step.files if file in makers} for step in steps}
    return [by_name[name] for name in TopologicalSorter(graph).static_order()]
