"""Figures of a grid, drawn from its tables, and its comparison with published numbers."""

from __future__ import annotations

import dataclasses
import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import figures, tables
from ...core import validation
from ...core.errors import BiasgridError, is_among, join_names, not_allowed, quote, unknown_name
from ...core.in_memory import File, InMemory
from ...figures import Drawing
from ...figures.showing import check_path, hand_out
from ...measure.results import KEYS
from ..memory_paths import MemoryPaths
from ..study import Study

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# Requirements of each kind of figure, if `Figure.needs` is empty or uses other names of options.
NEEDS = {
    "models": "two models and a ranked criterion",
    "rank-intervals": "a bootstrap (bootstrap=True)",
    "influence": "a bootstrap and sensitivity (bootstrap=True, sensitivity=True)",
    "null": "null distributions of tests (permutation=True, null_distributions=True; in a study: null_distributions)",
    "comparison": "published numbers (published=...)",
    "quality-ranks": "benchmarks of quality, which a study evaluates",
    "rankings": "a ranked criterion",
    "rankings-by-criterion": "a ranked criterion",
    "correlations": "a ranked criterion",
    "scores": "a ranked criterion",
}
DEBIASED = "evaluations of debias methods (debias=..., evaluation=..., with what the figure shows)"
METRIC_COLUMNS = ("metric", "metric_a", "metric_b")


def plot_study(
    study: Study,
    kind: str,
    which: Mapping[str, Any],
    path: Path | str | None,
    published: Any = None,
    page: int | None = None,
) -> Figure:
    """Draw a figure of a study for `Grid.plot`."""
    kind = figures.current_name(kind)
    if not is_among(kind, figures.REGISTRY):
        where = figures.REGISTRY.of_plugin(kind)
        raise BiasgridError(
            where or unknown_name("kind of figure", kind, figures.REGISTRY, "biasgrid list figures")
        )
    check_path(path)
    of_kind = figures.REGISTRY[kind]
    if published is not None:
        table = InMemory(("comparison",), compare_with(study, published))
        study = _with_published(study)
        if isinstance(study.paths, MemoryPaths):
            study.paths.made["comparison"] = table
        drawings = [
            dataclasses.replace(drawing, inputs={**drawing.inputs, "comparison": table})
            for drawing in of_kind.drawings_of(study)
            if "comparison" in drawing.inputs
        ]
    else:
        drawings = list(of_kind.drawings_of(study))
    if not drawings:
        needs = (
            NEEDS.get(kind) or of_kind.needs or (DEBIASED if of_kind.group == "mitigation" else "other data")
        )
        raise BiasgridError(f"plot: {kind!r} needs {needs}, which this grid does not have")
    pages, drawings = drawings, _join_pages(drawings)
    matches = [drawing for drawing in drawings if _matches(study, drawing, which)]
    if not matches and "metric" in which:
        matches = _select_metrics(study, drawings, which)
    if not matches:
        conditions = ", ".join(f"{name}={value!r}" for name, value in which.items())
        raise BiasgridError(
            f"plot: no figure of kind {kind!r} has {conditions}; there are {_describe(study, drawings)}"
        )
    # Of several figures, the one that is named like its kind comes first.
    matches = [drawing for drawing in matches if drawing.name == kind] or matches
    if len(matches) > 1:
        warnings.warn(
            f"plot: {kind!r}: this is the figure of {_describe(study, matches[:1])}; "
            f"others: {_describe(study, matches[1:])}",
            stacklevel=3,
        )
    drawing = _page(study, of_kind, matches[0], pages, which.get("metric", ()), page)
    drawing = dataclasses.replace(drawing, kind=kind, order=figures.order_of(study.config))
    return hand_out(figures.draw(drawing), path)


def _join_pages(drawings: list[Drawing]) -> list[Drawing]:
    """Join the pages of a figure that a study divides (`only`) into one, because nothing is printed here."""
    by_key: dict[str, Drawing] = {}
    for drawing in drawings:
        spec = {name: value for name, value in drawing.spec.items() if name != "only"}
        key = json.dumps(spec) if "only" in drawing.spec else drawing.name
        by_key.setdefault(key, dataclasses.replace(drawing, spec=spec))
    return list(by_key.values())


def _page(
    study: Study,
    of_kind: figures.Figure,
    drawing: Drawing,
    pages: Sequence[Drawing],
    metric: str | Sequence[str],
    page: int | None,
) -> Drawing:
    """Return the page of a figure that is asked for; of several, the first and a warning that says how many."""
    if of_kind.pages is not None and metric:
        parts = list(of_kind.pages(study, [metric] if isinstance(metric, str) else metric))
    else:
        parts = [
            each.spec["only"]
            for each in pages
            if "only" in each.spec and {**drawing.spec, "only": each.spec["only"]} == each.spec
        ]
    count = max(len(parts), 1)
    if page is not None and (isinstance(page, bool) or not isinstance(page, int) or not 0 < page <= count):
        raise BiasgridError(not_allowed("page", page, f"1 to {count}" if count > 1 else "1"))
    if count == 1:
        return drawing
    if page is None:
        warnings.warn(
            f"plot: {of_kind.name!r} has {count} pages, and this is the first; page=2 draws the second",
            stacklevel=4,
        )
    return dataclasses.replace(drawing, spec={**drawing.spec, "only": parts[(page or 1) - 1]})


def compare_with(
    study: Study,
    published: Any,
    published_as: Mapping[str, str] | None = None,
    beside: Mapping[str, str | Sequence[str]] | None = None,
) -> pd.DataFrame:
    """Return `Grid.compare` with numbers that the study itself does not name."""
    from ...tables.comparison import COMPARISON

    sources = published if isinstance(published, (list, tuple)) else [published]
    files: list[File] = []
    for place, entry in enumerate(sources):
        if isinstance(entry, (str, Path)):
            validation.check_path(str(entry))
        elif not hasattr(entry, "itertuples"):
            raise BiasgridError(
                f"published: expected files or DataFrames of published numbers, not {quote(entry)}"
            )
        files.append(entry if isinstance(entry, (str, Path)) else InMemory((f"published[{place}]",), entry))
    for name, models in (("published_as", published_as), ("beside", beside)):
        if models is not None and not isinstance(models, Mapping):
            raise BiasgridError(
                f"{name}: expected a mapping of models to published models, not {quote(models)}"
            )
        for key in models or {}:
            if key not in study.models:
                raise BiasgridError(f"{name}: {unknown_name('model', key, study.models)}")
    comparison_study = _with_published(study, published_as, beside)
    return COMPARISON.frame(
        {**COMPARISON.inputs_of(comparison_study), "published": files, "computed": []},
        COMPARISON.spec_of(comparison_study),
    )


def _with_published(
    study: Study,
    published_as: Mapping[str, str] | None = None,
    beside: Mapping[str, str | Sequence[str]] | None = None,
) -> Study:
    """Return the study with a config that has published numbers; the config does not contain the numbers."""
    published_names = published_as or {}
    models = {
        key: model.model_copy(update={"published_as": published_names.get(key, model.published_as)})
        for key, model in study.config.models.items()
    }
    update = {"models": models, "published": ["given"], "computed": []}
    if beside is not None:
        update["beside"] = dict(beside)
    return dataclasses.replace(study, config=study.config.model_copy(update=update))


def _keys_shown(study: Study, drawing: Drawing) -> dict[str, str]:
    """Return the keys and words that a figure shows only one of: criterion, query, metric, model and so on."""
    cell = study.grid.cells.get(drawing.name.partition("/")[2])
    fields = drawing.spec if cell is None else vars(cell)
    return {name: fields[name] for name in (*KEYS, "words") if isinstance(fields.get(name), str)}


def _matches(study: Study, drawing: Drawing, which: Mapping[str, Any]) -> bool:
    place = _keys_shown(study, drawing)
    return all(place.get(name) == value for name, value in which.items())


def _select_metrics(study: Study, drawings: list[Drawing], which: Mapping[str, Any]) -> list[Drawing]:
    """Return the figures of the metrics in `which`; figures of several metrics are reduced to these metrics'
    rows."""
    rest = {name: value for name, value in which.items() if name != "metric"}
    metrics = [which["metric"]] if isinstance(which["metric"], str) else list(which["metric"])
    selections = []
    for drawing in drawings:
        if "metric" in drawing.spec:
            if drawing.spec["metric"] in metrics and _matches(study, drawing, rest):
                selections.append(drawing)
            continue
        inputs = {}
        for name, file in drawing.inputs.items():
            if name not in tables.REGISTRY or isinstance(file, list):
                continue
            table = tables.read(file)
            columns = [column for column in METRIC_COLUMNS if column in table]
            if columns and set(metrics) <= set(table[columns[0]]):
                inputs[name] = InMemory((name,), table[table[columns].isin(metrics).all(axis=1)])
        if inputs and _matches(study, drawing, rest):
            selections.append(dataclasses.replace(drawing, inputs={**drawing.inputs, **inputs}))
    return selections


def _describe(study: Study, drawings: list[Drawing]) -> str:
    places = (_keys_shown(study, drawing) for drawing in drawings)
    return join_names(
        " and ".join(f"{name}={value!r}" for name, value in place.items()) or "all" for place in places
    )
