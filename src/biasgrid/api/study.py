"""A finished study, read from its folder of results."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import absence
from ..config import load
from ..config.study import StudyConfig
from ..errors import BiasgridError, InputError, join_names, quote
from ..query import Query
from ..resources import find_file
from ..schema import without_version
from ..study import Study
from .grid_frames import Grid

CONFIG = "study.json"


@dataclass(frozen=True)
class FinishedStudy(Study):
    """A study whose results are in a folder, wherever that lies now."""

    folder: Path

    @property
    def results(self) -> Path:
        return self.folder

    @cached_property
    def absent(self) -> dict[str, str]:
        return absence.models_of(self)

    @cached_property
    def aggregate_criteria(self) -> dict[str, list[str]]:
        """Those that were tested; older code tested no aggregates."""
        return {
            name: criteria
            for name, criteria in super().aggregate_criteria.items()
            if Study.aggregates_file(self, self.inference_groups[name][0]).is_file()
        }


def open_study(study: Path | str) -> Grid:
    """A finished study as the grid that `measure_grid` would give.

    Parameters
    ----------
    study
        The folder of its results, such as results/embedded, or its config file; the results of that are looked for
        below the working directory, where the study runs. A path that does not exist here is looked for in the
        checkout that biasgrid runs from, so that notebooks in any of its folders find its studies.

    Returns
    -------
    Grid
        Its tables are those of the folder, and its figures are drawn from them. Nothing is measured, and no model is
        opened.

    Raises
    ------
    BiasgridError
        For a folder that is not that of a study's results, and a study that is not finished.

    Examples
    --------
    >>> study = open_study("results/embedded")  # doctest: +SKIP
    >>> study.rank()  # doctest: +SKIP
    """
    finished_study = find_study(study)
    missing = [name for name in finished_study.tables if not finished_study.table_file(name).is_file()]
    if missing:
        raise BiasgridError(
            f"{study}: not a finished study: it has no {join_names(f'{name}.csv' for name in missing)}; run it again"
        )
    return Grid(finished_study)


def find_study(study: Path | str) -> FinishedStudy:
    """A finished study, as `open_study` finds it, whose files need not be complete."""
    if not isinstance(study, (str, os.PathLike)):
        raise InputError(f"study: {quote(study)} is no path; expected a folder such as results/embedded")
    path = find_file(study)
    if path.is_file() and path.name != CONFIG:
        folder = Study.read(path).results
        if not folder.is_dir():
            raise BiasgridError(f"{path}: its results, {folder}, do not exist yet; run the study first")
    else:
        folder = path.parent if path.name == CONFIG else path
    folder = folder.absolute()
    if not (folder / CONFIG).is_file():
        what = "it has no study.json" if folder.is_dir() else "there is no such folder"
        raise BiasgridError(
            f"{study}: not the results of a study: {what}; expected a folder such as results/embedded"
        )
    return _read(folder)


def _read(folder: Path) -> FinishedStudy:
    where, record = str(folder / CONFIG), load.read(folder / CONFIG)
    root = _root(folder, record)
    config = load.complete(StudyConfig, without_version(record, where), where, root)
    # the words of its queries are in files, whatever has become of its word sets
    keys = [key for entry in config["criteria"].values() for key in entry["queries"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of repeated words: the study said so
        queries = {key: Query.read(folder / "queries" / f"{key}.json") for key in keys}
    for part in ("published", "computed"):
        config[part] = [_path_in_study(root, path) for path in config[part]]
    for entry in config["criteria"].values():
        if "ratings" in entry:
            entry["ratings"]["file"] = _path_in_study(root, entry["ratings"]["file"])
    return FinishedStudy(config, queries, folder)


def _path_in_study(root: Path, path: str) -> str:
    """A file of the study, wherever the working directory is."""
    return str(root / path) if (root / path).exists() else path


def _root(folder: Path, record: Any) -> Path:
    """The folder that a study ran in, which paths in its config are relative to."""
    results = record.get("results") if isinstance(record, dict) else None
    parts = Path(results).parts if isinstance(results, str) else ()
    parent = folder.parent
    if parts and parent.parts[-len(parts) :] == parts:
        return Path(*parent.parts[: -len(parts)])
    return Path.cwd()
