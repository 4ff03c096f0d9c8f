"""Deposit of a finished study as a folder, without vectors and local paths, with the metadata of a data repository.

`report`, `compare`, `open_study` and `join` read it like any other results.
"""

from __future__ import annotations

import html
import json
import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ... import tables
from ...core.errors import BiasgridError
from ...core.files import new_folder, refuse_links, write_bytes, write_text
from ...core.schema import not_whole
from ...core.versions import count_versions
from ...core.web_addresses import has_password, public
from ...measure.results import cells
from ...study import checksums
from ...study.plugins import FILE
from ...study.results.finished_study import CONFIG, FinishedStudy
from ...tables import rank_samples
from ...version import __version__
from ..existing import step_of
from ..report_step import report_step

PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
TYPES = {"text": "string", "number": "number", "count": "integer", "optional count": "integer"}
# Keys of paths in a config.
PLACES = ("path", "file", "url", "results", "embeddings", "word_sets", "templates")
PATH_LISTS = ("published", "computed", "plugins")
ELSEWHERE = re.compile(r"/|~|\.\.|file:|[A-Za-z]:[\\/]")  # beginnings of paths of one machine


def publish(study: FinishedStudy, folder: Path, authors: Sequence[str], licence: str) -> int:
    """Write a study's folder completely, or not at all; return its number of files, without the checksums.

    Raises
    ------
    BiasgridError
        The study is not finished; its results differ from their checksums or have links to other files; a
        file contains a local path; or the folder exists already.
    """
    refuse_links(study.folder)
    step_of(study)  # raises an error if the study is not finished
    _, differences = checksums.differences(study.folder)
    if damaged := [name for how in ("differs", "is missing") for name in differences.get(how, ())]:
        raise BiasgridError(
            f"{study.folder / damaged[0]}: changed since the study was run; run the study again"
        )
    made = [study.paths.table_file(name) for name in study.tables]
    made += [study.paths.ranks_file, study.paths.report_file, study.folder / CONFIG, study.folder / FILE]
    with new_folder(folder) as part:
        for file in [*records(study), *made]:
            if file.is_file():
                name = file.relative_to(study.folder)
                content = _without_local_paths(file, name)
                if file == study.paths.report_file:
                    content = _with_commands_of(study, folder, content)
                write_bytes(part / name, content)
        package = _package(study, part, authors, licence)
        write_text(part / checksums.DESCRIPTION, json.dumps(package, ensure_ascii=False, indent=1) + "\n")
        write_text(part / "CITATION.cff", _citation(study, authors, licence))
        write_text(part / "LICENCE.txt", _licence(study, licence))
        checksums.record_all(part)
        count = len(checksums.read(part))
    return count


def records(study: FinishedStudy) -> list[Path]:
    """Return the files from which tables and page are made, without the tables; none contains vectors."""
    ranks = [rank_samples.inputs(study)] if study.config.inference.bootstrap else []
    inputs = [*study.tables.values(), *ranks, report_step(study).inputs]
    made = {study.paths.ranks_file, study.folder / CONFIG, *map(study.paths.table_file, study.tables)}
    files = {Path(file) for roles in inputs for file in _paths(roles.values())}
    files |= set(map(study.paths.query_file, study.queries))
    return sorted(file for file in files - made if file.is_relative_to(study.folder) and file.is_file())


def _paths(values: Iterable[Any]) -> Iterable[Path | str]:
    for value in values:
        yield from (v for v in (value if isinstance(value, list) else [value]) if isinstance(v, (str, Path)))


def _without_local_paths(file: Path, name: Path) -> bytes:
    """Return a file's content; in configs and models' records, only the names of files are kept from paths."""
    content = file.read_bytes()
    if name.suffix == ".json" and (name.name in (CONFIG, FILE) or name.parts[0] == "models"):
        try:
            record = public(_relative(json.loads(content)))
        except (ValueError, RecursionError) as error:
            raise not_whole(file, "a record", error) from None
        content = (json.dumps(record, ensure_ascii=False, indent=1) + "\n").encode()
    if name.suffix != ".npy":
        text = content.decode(errors="replace")
        if has_password(text):
            raise BiasgridError(f"{file}: has a password in an address; not published")
        if found := _local_path_pattern().search(text):
            raise BiasgridError(f"{file}: has a path of this machine, {found[0]}; not published")
    return content


def _with_commands_of(study: FinishedStudy, folder: Path, page: bytes) -> bytes:
    """Return a page whose commands name the config in the published folder, and not that in the folder of the run."""
    config = study.config
    of_run, published = (
        html.escape(shlex.quote((place / CONFIG).as_posix())).encode()
        for place in (Path(config.results, config.study), Path(folder.name))
    )
    return page.replace(b"--study " + of_run, b"--study " + published)


def _relative(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _relative(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_relative(inner, "path" if key in PATH_LISTS else "") for inner in value]
    is_elsewhere = key in PLACES and isinstance(value, str) and ELSEWHERE.match(value)
    return re.split(r"[\\/]", value.rstrip("\\/"))[-1] if is_elsewhere else value


def _local_path_pattern() -> re.Pattern[str]:
    """Return a pattern that matches the user's home folder and the current folder where they occur as paths."""
    folders = {str(place) for place in (Path.home(), Path.cwd()) if len(place.parts) > 1}
    return re.compile(rf"(?<![\w/.~-])(?:{'|'.join(map(re.escape, sorted(folders))) or '(?!)'})(?![\w.-])")


def _package(study: FinishedStudy, part: Path, authors: Sequence[str], licence: str) -> dict[str, Any]:
    """Return the description according to the Data Package standard, version 2."""
    inferences = {study.paths.inference_file(group[0]) for group in study.grid.inference_groups.values()}
    files = [*map(study.paths.cell_file, study.grid.cells.values()), *sorted(inferences)]
    return {
        "$schema": PROFILE,
        "name": study.name.lower(),
        "title": _title(study),
        "licenses": [{"name": licence}],
        **({"contributors": [{"title": name, "roles": ["author"]} for name in authors]} if authors else {}),
        "sources": [
            {"title": model["label"], "licence": model["licence"]} for model in study.models.values()
        ],
        "created_by": {"biasgrid": __version__, "config": study.digest},
        "versions": count_versions(record for record, _ in cells(files)),
        "resources": [
            _resource(study, part, name) for name in study.tables if (part / f"{name}.csv").is_file()
        ],
    }


def _resource(study: FinishedStudy, part: Path, name: str) -> dict[str, Any]:
    table = study.plugins.tables.get(name) or tables.REGISTRY[name]
    file = part / f"{name}.csv"
    with file.open(encoding="utf-8") as lines:
        header = next(lines).rstrip("\n").split(",")
    declared = {column.name: column for column in (*table.columns, *table.ends)}
    return {
        "name": name.replace("_", "-"),
        "title": table.meaning,
        "type": "table",
        "path": file.name,
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "bytes": file.stat().st_size,
        "hash": f"sha256:{checksums.hash_file(file)}",
        "schema": {
            "fields": [_field(column, declared.get(column)) for column in header],
            "missingValues": [""],
        },
    }


def _field(name: str, column: tables.Column | None) -> dict[str, Any]:
    if column is None:  # a column of a newer or older version
        return {"name": name, "type": "string"}
    record: dict[str, Any] = {"name": name, "type": TYPES[column.dtype], "description": column.meaning}
    low, high = column.range or (-math.inf, math.inf)
    limits = {"minimum": low, "maximum": high}
    constraints: dict[str, Any] = {key: end for key, end in limits.items() if math.isfinite(end)}
    if column.values:
        constraints["enum"] = [value for value in column.values if value]
    return (
        record
        | ({"unit": column.unit} if column.unit else {})
        | ({"constraints": constraints} if constraints else {})
    )


def _title(study: FinishedStudy) -> str:
    return f"Results of the study {study.name}, measured with biasgrid {__version__}"


def _citation(study: FinishedStudy, authors: Sequence[str], licence: str) -> str:
    record: Mapping[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use these results, please cite them, biasgrid, and the papers of the metrics.",
        "title": _title(study),
        "type": "dataset",
        "license": licence,
        "authors": [{"name": author} for author in authors or ["anonymous"]],
        "references": [
            {
                "type": "software",
                "title": "biasgrid: social bias in word embeddings, measured reproducibly",
                "version": __version__,
                "authors": [{"name": "The biasgrid developers"}],
            }
        ],
    }
    return yaml.safe_dump(record, sort_keys=False, allow_unicode=True)


def _licence(study: FinishedStudy, licence: str) -> str:
    lines = [
        f"The numbers in this folder: {licence}.",
        "The words and sentences of the queries keep the terms of the lists that they are from: biasgrid's",
        "data/LICENSES.md. Those of May et al.'s SEAT files (a query that ends in (sent-weat6) or the like) are",
        "CC BY-NC 4.0: with credit, and for no commercial use.",
        "No vectors are in this folder. What was measured, and its own licence:",
        *(f"- {model['label']}: {model['licence'] or 'not stated'}" for model in study.models.values()),
    ]
    return "\n".join(lines) + "\n"
