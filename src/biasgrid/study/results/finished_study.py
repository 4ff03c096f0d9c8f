"""A finished study, read from its folder of results without loading plugins, so that others' results run no code."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import tables
from ...core.errors import BiasgridError, InputError, join_names, quote
from ...core.registry import UnknownEntryError, pending
from ...core.resources import did_you_mean_file, find_file
from ...core.schema import read
from ...core.user_warnings import stacklevel
from ...core.validation import check_path
from ...debias import Method
from ...evaluation.spec import Spec
from ...figures import Drawing, plan_figures
from ...measure.aggregation import OVERALL
from ...measure.results import KEYS
from ...metrics import Metric
from ...models import not_downloaded
from ...models.kinds import VECTORS, Kind
from ...models.not_downloaded import STATUS
from ...queries.query import Query
from ...tables.planned import Paths
from .. import checksums
from ..config import load
from ..config.criteria import Ratings
from ..config.study import StudyConfig
from ..planned_grid import StudyGrid
from ..plugins import FILE, Plugins, read_plugins
from ..study import Study

if TYPE_CHECKING:
    import pandas as pd

    from ...tables import Table

CONFIG = "study.json"


@dataclass(frozen=True)
class FinishedStudy(Study):
    """A study whose results are in a folder, wherever that is now.

    Its plugins are not loaded; it knows only their description in the results (`plugins`).
    """

    folder: Path
    plugins: Plugins = field(default=Plugins(), kw_only=True)

    def __post_init__(self) -> None:
        self.plugins.note()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.plugins.note()

    def metric(self, criterion: str, key: str) -> Metric:
        """Return the metric of these results; another study may have a plugin of the same name."""
        entry = self.metrics(criterion)[key]
        noted: Metric | None = self.plugins.find("metrics", entry.metric or key)
        return noted.under(entry.params or {}) if noted else super().metric(criterion, key)

    def method(self, name: str) -> Method[...]:
        """Return the debias method of a name."""
        noted: Method[...] | None = self.plugins.find("methods", name)
        return noted or super().method(name)

    def kind(self, model: str) -> Kind:
        """Return the type of a model."""
        noted: Kind | None = self.plugins.find("kinds", self.config.models[model].kind or VECTORS)
        return noted or super().kind(model)

    @cached_property
    def evaluation_specs(self) -> dict[str | None, Spec]:
        """Return the specifications of evaluations, without plugins' parts."""
        with pending():
            return super().evaluation_specs

    @cached_property
    def tables(self) -> dict[str, Mapping[str, Any]]:
        """Return the tables that the study has, plugins' tables last; plugins of this session do not add any."""
        shipped = {name: table for name, table in tables.REGISTRY.items() if tables.REGISTRY.is_shipped(name)}
        own = {name: files for name, table in shipped.items() if (files := table.inputs_of(self))}
        return own | {name: table.inputs_of(self) for name, table in self.plugins.tables.items()}

    @cached_property
    def figures(self) -> dict[str, Drawing]:
        """Return the figures that can be drawn again; only the run itself draws figures of plugins."""
        of_plugins = {kind.config_name for kind in self.plugins.figures.values()}
        return plan_figures(self, [name for name in self.config.figures if name not in of_plugins])

    @property
    def results(self) -> Path:
        return self.folder

    def read_table(self, table: Table, file: Path) -> pd.DataFrame:
        """Return a table of the study from its file, with the rows of sources that could not be downloaded.

        Raises BiasgridError if a file is not this table (`tables.read`) or if a row belongs to a score that the
        study's config does not have.
        """
        rows = tables.read(file, absent=True)
        self.check_places(table, rows, file)
        return rows

    def check_places(self, table: Table, rows: pd.DataFrame, file: Path) -> None:
        """Raise BiasgridError if a row's keys do not belong to a score of this study.

        The keys are the table's columns among criterion, query, metric, model and debias method.
        """
        measured = rows[rows["status"] != STATUS] if "status" in rows else rows
        for name in {"query_id", "parent_query_id"} & {*rows}:
            is_unknown = ~rows[name].isin([*self.queries, ""])
            if is_unknown.any():
                row = int(is_unknown.to_numpy().argmax())
                raise BiasgridError(
                    f"{file}: line {row + 2}: {name}: {quote(rows[name].iloc[row])}: {CONFIG} has no such query; "
                    "run the study again"
                )
        for side in ("", "_a", "_b"):
            keys = {c.key: c.name for c in table.columns if c.key and c.name in (c.key, f"{c.key}{side}")}
            if "metric" not in keys or not {*keys.values()} <= {*rows}:
                continue
            wanted = measured[[*keys.values()]].drop_duplicates()
            places = self._places(tuple(keys))
            for row, *place in wanted.itertuples(name=None):
                if tuple(place) not in places:
                    raise BiasgridError(
                        f"{file}: line {row + 2}: {' / '.join(map(quote, place))}: {CONFIG} has no such "
                        f"{' / '.join(keys)}; run the study again"
                    )

    def _places(self, keys: tuple[str, ...]) -> set[tuple[str, ...]]:
        """Return the keys of all scores, reduced to some of `results.KEYS`, and of aggregates over all topics."""
        if keys not in self._places_by_keys:
            numbers = [KEYS.index(key) for key in keys]
            places = {tuple(place[number] for number in numbers) for place in self._score_places}
            if "query" not in keys and "criterion" in keys:
                criterion = keys.index("criterion")
                places |= {(*p[:criterion], OVERALL, *p[criterion + 1 :]) for p in places}
            self._places_by_keys[keys] = places
        return self._places_by_keys[keys]

    @cached_property
    def _places_by_keys(self) -> dict[tuple[str, ...], set[tuple[str, ...]]]:
        return {}

    @cached_property
    def _score_places(self) -> set[tuple[str, ...]]:
        """Return `KEYS` of every score, and of whole queries, which some tables have instead of their sub-queries."""
        return {
            (cell.criterion, part.name, cell.metric, cell.model, cell.debias)
            for cell in self.grid.cells.values()
            for query in [self.queries[cell.query]]
            for part in (query, *query.subqueries(self.metric(cell.criterion, cell.metric).template))
        }

    @cached_property
    def changed_files(self) -> str:
        """Return a sentence with the names of files that changed after the run recorded their checksums, or ""."""
        if not (names := checksums.changed_records(self.folder)):
            return ""
        where = "get the folder again" if checksums.is_published(self.folder) else "run the study again"
        return (
            f"{join_names(names)}: changed since the study was run (the checksum differs), so its numbers may be "
            f"wrong; {where} to restore " + ("it" if len(names) == 1 else "them")
        )

    def warn_of_changed_files(self) -> None:
        """Warn of files that changed after the study was run."""
        if self.changed_files:
            warnings.warn(f"{self.folder}: {self.changed_files}", stacklevel=stacklevel())

    @cached_property
    def absent(self) -> dict[str, str]:
        return not_downloaded.models_of(self)

    @cached_property
    def grid(self) -> FinishedGrid:
        return FinishedGrid(self)


@dataclass(frozen=True)
class FinishedGrid(StudyGrid):
    """The grid of a study that an older version may have run."""

    study: FinishedStudy

    @cached_property
    def aggregate_criteria(self) -> dict[str, list[str]]:
        """Return the criteria whose aggregates were tested; older versions did not test any."""
        paths = Paths(self.study.results)
        return {
            name: criteria
            for name, criteria in super().aggregate_criteria.items()
            if paths.aggregates_file(self.inference_groups[name][0]).is_file()
        }


def find_study(study: Path | str) -> FinishedStudy:
    """Return a finished study, found as by `open_study.open_study`; some of its files may be missing."""
    if not isinstance(study, (str, os.PathLike)):
        raise InputError(f"study: {quote(study)} is no path; expected a folder such as results/embedded")
    path = find_file(check_path(os.fspath(study)))
    if path.is_file() and path.name != CONFIG:
        with pending():
            config = load.complete(StudyConfig, load.read(path), str(path), Path("."))
        folder = Path(config.results) / config.study
        if not folder.is_dir():
            raise BiasgridError(f"{path}: its results, {folder}, do not exist yet; run the study first")
    else:
        folder = path.parent if path.name == CONFIG else path
    folder = folder.absolute()
    if not (folder / CONFIG).is_file():
        what = "it has no study.json" if folder.is_dir() else "there is no such folder"
        raise BiasgridError(
            f"{study}: not the results of a study: {what}; expected a folder such as results/embedded"
            f"{'' if folder.exists() else did_you_mean_file(path)}"
        )
    return _read(folder)


def _read(folder: Path) -> FinishedStudy:
    where, record = str(folder / CONFIG), read(folder / CONFIG, "a study")
    root = _root(folder, record)
    plugins = read_plugins(folder)
    try:
        with pending():
            config = load.complete(StudyConfig, record, where, root)
    except BiasgridError as error:
        raise BiasgridError(f"{error}; if it is damaged, delete it and run the study again") from None
    # The words of its queries are in files, even if its word sets have changed since.
    keys = [key for entry in config.criteria.values() for key in entry.queries]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the run has warned of repeated words
        queries = {key: Query.read(folder / "queries" / f"{key}.json") for key in keys}
    criteria = {
        name: entry.model_copy(update={"ratings": _ratings_in_study(root, entry.ratings)})
        if entry.ratings
        else entry
        for name, entry in config.criteria.items()
    }
    published, computed = (
        [_path_in_study(root, path) for path in paths] for paths in (config.published, config.computed)
    )
    update = {"criteria": criteria, "published": published, "computed": computed}
    study = FinishedStudy(config.model_copy(update=update), queries, folder, plugins=plugins)
    try:
        study.labels, study.grid.fits, [study.kind(model) for model in study.models]
    except UnknownEntryError as error:
        raise BiasgridError(
            f"{where}: {error}; plugins are not loaded, and {FILE}, which describes them, says nothing of it: run "
            "the study again"
        ) from None
    return study


def _ratings_in_study(root: Path, ratings: Ratings) -> Ratings:
    return ratings.model_copy(update={"file": _path_in_study(root, ratings.file)})


def _path_in_study(root: Path, path: str) -> str:
    """Return the path of a study's file, whatever the working directory is."""
    return str(root / path) if (root / path).exists() else path


def _root(folder: Path, record: Any) -> Path:
    """Return the folder in which a study ran, which paths in its config are relative to."""
    results = record.get("results") if isinstance(record, dict) else None
    parts = Path(results).parts if isinstance(results, str) else ()
    parent = folder.parent
    if parts and parent.parts[-len(parts) :] == parts:
        return Path(*parent.parts[: -len(parts)])
    return Path.cwd()
