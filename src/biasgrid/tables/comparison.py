"""Table of the comparison of the study's numbers with published numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.in_memory import File, parts_of
from ..core.resources import find_file
from ..debias import UNTOUCHED
from ..measure.aggregation import OVERALL
from ..models.not_downloaded import MEANING
from .aggregates import AGGREGATES
from .cells import rating_cells
from .correlations import CORRELATIONS
from .derived_columns import MODEL_LABEL, QUERY_ID
from .inputs import SOURCES
from .published.compare import compare
from .published.published import COMPUTED, FREQUENCY, OF_FREQUENCY, PRINTED, PUBLISHED, read, rows_of
from .published.queries import FILE, words_digest
from .published.study_values import attribute_frequencies, run_deviations, unit
from .published.verdict import MEANINGS, NO_VALUE, VERDICTS
from .rankings import RANKINGS
from .ratings import RATINGS
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Planned


QUANTITY = PUBLISHED.index("quantity")


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Run `compare` on a study's tables, cells, inference and evaluations, and its files of published numbers."""
    numbers = read(inputs["published"], inputs["computed"])
    random = set(numbers.loc[numbers["runs"].notna(), "metric"])
    cells = _by_name(inputs["cells"], 4)
    random_cells = [file for file in inputs["cells"] if parts_of(file)[-2] in random]
    table = compare(
        numbers,
        AGGREGATES.read(inputs["aggregates"]),
        RANKINGS.read(inputs["rankings"]),
        CORRELATIONS.read(inputs["correlations"]),
        cells,
        {(model, debias): name for model, debias, name in spec["published_as"]},
        inference=_by_name(inputs["inferences"], 3),
        evaluations=inputs["evaluations"],
        beside=spec["beside"],
        rating_correlations=_rating_correlations(inputs["ratings"], spec["rated"])
        if "ratings" in inputs
        else None,
        run_sds=run_deviations(random_cells, spec["ranked"]),
        queries=_queries(spec),
        with_ngrams=spec.get("with_ngrams", ()),
        frequencies=attribute_frequencies(inputs.get("frequencies", ()), spec.get("attribute_sets", {})),
    )
    # Published numbers of absent models stay in the table, with the reason why they are not compared.
    table.loc[table["model"].isin(spec.get("absent", [])), ["verdict", "note"]] = [NO_VALUE, MEANING]
    return table.assign(model_label=[spec["labels"].get(model, "") for model in table["model"]])


def _by_name(files: Iterable[File], parts: int) -> dict[str, File]:
    """Return files by the last parts of their paths, which are model/debias/metric(/query)."""
    return {"/".join(parts_of(file)[-parts:]): file for file in files}


def _queries(spec: Mapping[str, Any]) -> dict[tuple[str, str], dict[str, str]]:
    """Return the queries that each metric is measured on, by criterion and for all ranked criteria together."""
    queries: dict[tuple[str, str], dict[str, str]] = {}
    for criterion, metric, keys in spec["measured"]:
        of_criterion = {key: spec["queries"][key] for key in keys}
        queries[criterion, metric] = of_criterion
        if criterion in spec["ranked"]:
            queries.setdefault((OVERALL, metric), {}).update(of_criterion)
    return queries


def _rating_correlations(path: Path, queries: Mapping[str, str]) -> dict[tuple, float]:
    """Return correlations with ratings, by model, debias, metric, query's id and quantity."""
    return {
        (row.model, row.debias, row.metric, queries[row.query], f"rating_{row.method}"): row.correlation
        for row in RATINGS.read(path).itertuples()
    }


def _inputs(study: Planned) -> dict[str, Any]:
    published, computed = study.config.published, study.config.computed
    files = {find_file(file).with_name(FILE) for file in (*published, *computed)}
    return {
        "published": [str(find_file(file)) for file in published],
        "computed": [str(find_file(file)) for file in computed],
        # `read` finds these files in the folders of the numbers.
        "published_queries": sorted(str(file) for file in files if file.is_file()),
        **({"frequencies": SOURCES["frequencies"](study)} if _needs_frequencies(study) else {}),
    }


def _needs_frequencies(study: Planned) -> bool:
    """Return whether a published number is about the frequency of words.

    Missing files, such as in results that were copied elsewhere, count as files without such numbers.
    """
    files = (*study.config.published, *study.config.computed)
    present = [file for file in files if find_file(file).is_file()]
    quantities = {row[QUANTITY] for row in rows_of(present)}
    return not quantities.isdisjoint((FREQUENCY, OF_FREQUENCY))


def published_as(study: Planned) -> dict[tuple[str, str], str]:
    """Return the model with whose published numbers each model is compared, by model and debias key.

    It is the model that the config names; otherwise an original model itself. A debiased model is compared only if
    the config names a model.
    """
    untouched_models = {
        (key, UNTOUCHED): study.config.models[key].published_as or key for key in study.models
    }
    debiased_models = {
        (model, key): name
        for key, (_, entry) in study.debias.items()
        for model, name in entry.published_as.items()
        if model not in study.absent
    }
    return untouched_models | debiased_models


def _spec(study: Planned) -> dict[str, Any]:
    planned = study.planned if study.absent else study
    names = published_as(planned)
    labels = {
        unit(model, debias): planned.config.models[model].label
        + ("" if debias == UNTOUCHED else f" + {study.labels[debias]}")
        for model, debias in names
    }
    measured: dict[tuple[str, str], dict[str, None]] = {}
    for cell in study.grid.cells.values():
        measured.setdefault((cell.criterion, cell.metric), {})[cell.query] = None
    with_ngrams = [key for key, model in study.models.items() if model.get("subwords")]
    attribute_sets = {key: list(query.attribute_sets_names) for key, query in study.queries.items()}
    return {
        **({"with_ngrams": with_ngrams} if with_ngrams else {}),
        **({"attribute_sets": attribute_sets} if _needs_frequencies(study) else {}),
        "labels": labels,
        "queries": {key: words_digest(query) for key, query in study.queries.items()},
        "measured": [[*place, list(keys)] for place, keys in measured.items()],
        "published_as": sorted([*state, name] for state, name in names.items()),
        "absent": sorted(unit(*state) for state in names if state[0] in study.absent),
        "beside": {key: names for key, names in study.config.beside.items() if key in study.models},
        # Map names of queries to their ids.
        "rated": {study.queries[cell.query].name: cell.query for cell in rating_cells(study)},
    }


COMPARISON = Table(
    "comparison",
    "Published numbers next to the study's own, and whether they agree. One row per published number of a model "
    "that the study has.",
    (
        Column("source", "where the number was published"),
        Column("table", "the table or figure of that source"),
        Column("criterion", "the criterion's name"),
        Column("metric", "the metric's key; for a correlation, two keys with ~ between them"),
        Column("model", "the model's key, with its debias method if there is one"),
        Column("quantity", "what the number is, after the id of its query"),
        Column.value("published", "the published number", "the quantity's"),
        Column.value("ours", "the study's number", "the quantity's"),
        Column.value("difference", "the study's number minus the published number", "the quantity's"),
        Column(
            "verdict",
            ". ".join(f"{verdict}: {meaning}" for verdict, meaning in MEANINGS.items()),
            values=VERDICTS,
        ),
        Column("note", "the reason for the result of the check"),
        Column(
            "origin",
            "whether a paper printed the number or other code computed it",
            values=(PRINTED, COMPUTED),
        ),
        Column.rank(
            "runs",
            "number of random runs that the published number averages; empty if it does not depend on chance",
        ),
        Column.value(
            "sd", "the standard deviation against which the difference is checked", "the quantity's", 0
        ),
        Column("test", "the test in biasgrid's test suite that reproduces the cause of a difference"),
        replace(
            QUERY_ID,
            meaning=f"{QUERY_ID.meaning}; empty if the number does not belong to a query of the study",
        ),
        replace(MODEL_LABEL, meaning=f"{MODEL_LABEL.meaning}, with its debias method if there is one"),
    ),
    reads=("aggregates", "rankings", "correlations", "cells", "inferences", "evaluations", "ratings"),
    inputs=_inputs,
    facts=("ranked",),
    spec=_spec,
    make=make,
)
TABLES = (COMPARISON,)
