"""Table of scores: every value of the results table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BiasgridError, quote, unknown_name
from ..core.in_memory import File
from ..core.schema import not_whole
from ..debias import UNTOUCHED
from ..measure.evidence import (
    MEANINGS,
    VERDICTS,
    judge,
    lowest_p_values,
    tests_of,
)
from ..measure.evidence import Test as PValues
from ..measure.evidence import adjust as adjust_families
from ..measure.results import A_CELL, KEYS, cells, results, results_of
from ..measure.significance import REGISTRY, Test, columns, tests
from ..measure.statistics.scale import EXCESS, NONE, TOO_FEW_TOPICS, Scale, why_no_baseline
from ..models.not_downloaded import MEANING, STATUS
from .column import Columns
from .keys import CELL
from .scales import neutrals
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Planned


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per criterion, (sub-)query, metric, model and debias method.

    Queries of one criterion may share a sub-query (WEFE: "removed by name"). It has one row, from the first cell with
    it; the config's check ensures that one name means the same words.

    Parameters
    ----------
    inputs
        "cells": the cells' files; "inferences": the files of their inference; "queries": the files of the queries.
    spec
        "interval": the kind of interval of ci_low and ci_high ("jackknife", "percentile" or "bca"); "adjust": how
        p-values are adjusted, see `adjust`; "level"; "tests": the possible number of tests of words for each
        criterion and metric, as [criterion, metric, number].
    """
    import pandas as pd

    cells_inferred = list(cells(inputs["inferences"]))
    inference_results = {(key, query): result for key, query, result in results_of(cells_inferred)}
    rows: dict[tuple, dict] = {}
    lowest: dict[tuple, dict[str, float]] = {}
    scales: dict[tuple, Scale | None] = {}
    without_baseline: dict[tuple, str] = {}
    numbers = {(criterion, metric): number for criterion, metric, number in spec["tests"]}
    of_columns = columns()
    names = SCORES.names[5:]
    read = ((file, *result) for file in inputs["cells"] for result in results([file]))
    for file, key, query, result in read:
        row = dict(zip(KEYS, key, strict=True))
        if (row["criterion"], row["metric"]) not in numbers:
            raise not_whole(
                file, A_CELL, f"the study has no {quote(row['metric'])} of {quote(row['criterion'])}"
            )
        row |= {name: result.get(name) for name in names}
        if inputs["inferences"] and (key, query) not in inference_results:
            group = "/".join((*key[3:], key[2]))
            raise BiasgridError(
                f"inference/{group}.json: nothing of {query!r} is in it; make it again: "
                f'biasgrid step "inference {group}" --study CONFIG'
            )
        # Take inference from the same cell as the value: another cell has another seed.
        inference = inference_results.get((key, query), {})
        row |= {column: inference.get(test, {}).get("p_value") for column, test in of_columns.items()}
        row["ci_low"], row["ci_high"] = inference.get("bootstrap", {}).get(spec["interval"], (None, None))
        scales.setdefault(key, Scale.of_record(inference.get("random_groups")))
        without_baseline.setdefault(key, why_no_baseline(inference.get("random_groups")))
        lowest.setdefault(
            key, {column: inference.get(test, {}).get("p_lowest") for column, test in of_columns.items()}
        )
        rows.setdefault(key, row)
    table = pd.DataFrame(rows.values(), columns=SCORES.names).sort_values(KEYS, ignore_index=True)
    table = table.astype(dict.fromkeys(["value", *of_columns, "ci_low", "ci_high"], "float64"))
    table[STANDARDIZED] = _standardized(table, scales, spec["level"])
    # A score after debiasing is compared with the random groups of the original model.
    table["no_baseline"] = [
        without_baseline.get((*place, UNTOUCHED), "")
        for *place, _ in table[KEYS].itertuples(index=False, name=None)
    ]
    table.loc[table["value"].isna(), "no_baseline"] = ""
    of_tests = equal_tests(cells_inferred, inputs["queries"])
    for test in tests():
        table[test.adjusted] = adjust(table, spec["adjust"], of_tests.get(test.column), test.column)
    table["tests"] = [
        numbers[place] for place in table[["criterion", "metric"]].itertuples(index=False, name=None)
    ]
    lowest_of = pd.DataFrame([lowest[key] for key in table[KEYS].itertuples(index=False, name=None)])
    lowest_of = lowest_of.reindex(columns=list(of_columns)).astype("float64")
    of_words: dict[str, PValues] = {
        test.counts: _test(table, test.column, of_tests.get(test.column), lowest_of[test.column], "words")
        for test in tests()
        if test.counts
    }
    outcome = judge(
        of_words,
        table["tests"].to_numpy(),
        list(zip(table["criterion"], table["debias"] == UNTOUCHED, strict=True)),
        spec["adjust"],
        spec["level"],
    )
    table["evidence"], table["p_evidence"] = outcome
    table["p_lowest"] = lowest_p_values(of_words.values())
    return table


def _standardized(table: pd.DataFrame, scales: Mapping[tuple, Scale | None], level: float) -> np.ndarray:
    """Return the columns `STANDARDIZED` of scores: (scores, 4).

    A score after debiasing is standardised with the random groups of the original model; in the last column, with the
    random groups of the debiased model.
    """
    rows = []
    for *place, value, low, high in table[[*KEYS, "value", "ci_low", "ci_high"]].itertuples(
        index=False, name=None
    ):
        own = scales[tuple(place)]
        before = scales.get((*place[:-1], UNTOUCHED))
        read = before.read(value, low, high, level) if before else NONE
        rows.append((*read[:3], own.read(value).value if own else math.nan))
    return np.reshape(rows, (-1, len(STANDARDIZED)))


def equal_tests(
    cells_inferred: Sequence[tuple[dict, list[dict]]], queries: Iterable[File]
) -> dict[str, dict[tuple, tuple[str, str]]]:
    """Return the family and the test of each p-value of cells (from `results.cells`), as input of `adjust`."""
    if not cells_inferred:
        return {}
    # Import late: scipy.stats takes a second, which a study without inference saves.
    from ..measure.families import tests_of_cells

    return tests_of_cells((cell for cell, _ in cells_inferred), queries)


def adjust(
    table: pd.DataFrame,
    method: str,
    of_tests: Mapping[tuple, tuple[str, str]] | None = None,
    column: str = "p_value",
) -> pd.Series:
    """Adjust each p-value for the number of tests of its family.

    Parameters
    ----------
    table
        One row per p-value, with its criterion, query, metric, model and debias method.
    method
        "holm" or "benjamini-hochberg", see `biasgrid.measure.statistics.adjustment`.
    of_tests
        (criterion, query, metric, model) -> (family, test), from `measure.families.tests_of_cells`. A criterion's
        tests of one family are adjusted together, separately for original and for debiased models. Tests with one
        name on the same query, model and debias method count once. Their p-values differ only if their draws differ,
        and the largest one is used for all. A missing key means a test of words that differs from all other metrics'
        tests.
    column
        The p-values' column; NaN marks a missing test.

    Returns
    -------
    pandas.Series
        One value per row of the table, from 0 to 1; NaN without a test.
    """
    import pandas as pd

    return pd.Series(adjust_families(_test(table, column, of_tests), method), index=table.index)


def _test(
    table: pd.DataFrame,
    column: str,
    of_tests: Mapping[tuple, tuple[str, str]] | None,
    lowest: pd.Series | None = None,
    test_of: str | None = None,
) -> PValues:
    """Return a column of p-values as a test; `test_of` "words" leaves out tests of labels."""
    families, names, is_of = [], [], []
    for criterion, query, metric, model, debias in table[KEYS].itertuples(index=False, name=None):
        family, test = (of_tests or {}).get((criterion, query, metric, model), ("words", metric))
        # Debiased models are a separate family.
        families.append((criterion, family, debias == UNTOUCHED))
        names.append((query, model, debias, test))
        is_of.append(test_of in (None, family))
    p_values = np.where(is_of, table[column].to_numpy(), math.nan)
    return PValues(p_values, p_values if lowest is None else lowest.to_numpy(), families, names)


def read_ranked(path: File, ranking: Mapping[str, Any]) -> pd.DataFrame:
    """Read the table from its file for rankings (`ranking`: the arguments of `tables.rankings.rankings`).

    Raises BiasgridError like `Table.read`, and for a table of another study, which has metrics that this one lacks.
    """
    table = SCORES.read(path)
    metrics = table.loc[table["criterion"].isin(ranking["ranked"]), "metric"]
    if foreign := sorted(set(metrics) - set(ranking["neutral"])):
        raise BiasgridError(
            f"{path}: {unknown_name('metric', foreign[0], sorted(ranking['neutral']))}; make it again: "
            'biasgrid step "table scores" --study CONFIG'
        )
    return table


def _absent(study: Planned) -> list[dict[str, str]]:
    """Return the rows of the models that could not be downloaded."""
    planned = study.planned
    rows: dict[tuple, dict[str, str]] = {}
    for cell in planned.grid.cells.values():
        if cell.model not in study.absent:
            continue
        query = planned.queries[cell.query]
        for part in query.subqueries(planned.metric(cell.criterion, cell.metric).template):
            place = (cell.criterion, part.name, cell.metric, cell.model, cell.debias)
            row = dict(zip(KEYS, place, strict=True))
            row |= {
                "query_id": cell.query,
                "parent_query_id": "" if part is query else cell.query,
                "model_label": planned.config.models[cell.model].label,
            }
            rows.setdefault(place, row)
    return list(rows.values())


def _spec(study: Planned) -> dict[str, Any]:
    tests = sorted(
        [criterion, metric, len(tests_of(study.metric(criterion, metric)))]
        for criterion, metric in neutrals(study)
    )
    return {"interval": study.config.inference.interval, "tests": tests}


# Columns of scores and of aggregates.
EVIDENCE = (
    Column(
        "evidence",
        "which tests of words are significant after adjustment for the number of tests. "
        + "; ".join(f"`{name}`: {MEANINGS[name]}" for name in VERDICTS),
        values=VERDICTS,
    ),
    Column("tests", "number of tests of words that the metric can have on models of this type", "count"),
    Column.share(
        "p_evidence",
        "the largest p-value of these tests, adjusted for the number of different tests in the criterion; empty "
        "if not all tests were made",
    ),
    Column.share(
        "p_lowest",
        "the smallest unadjusted p-value that the tests that were made can reach together. The number of random "
        "draws, words and topics limits it",
    ),
)


OF_SCALE = (
    Column.value(
        "standardized",
        "standardised bias: how much further the score is from no bias than random groups of words of the "
        "model. 0 means as far as random groups are on average. After debiasing, the random groups are those of "
        "the original model. Empty without random groups",
        "standard deviations",
    ),
    Column.value(
        "standardized_low",
        "lower end of its 95 % confidence interval, over words and over the random groups drawn. Without bias, "
        "it covers the value that all words would give in 64 to 88 % of cases for RNSB, and in 94 % or more for "
        "other metrics (docs/calibration.md)",
        "standard deviations",
    ),
    Column.value("standardized_high", "upper end of the same interval", "standard deviations"),
    Column.value(
        "standardized_own",
        "standardised bias after debiasing, against random groups of the debiased model itself",
        "standard deviations",
    ),
)
STANDARDIZED = [column.name for column in OF_SCALE]


def _columns() -> list[Column]:
    """Return the columns; the columns of plugins' tests come last."""
    shipped = [test for test in tests() if REGISTRY.is_shipped(test.name)]
    first, *others = [pair for test in shipped for pair in _p_values(test)]
    return [
        *CELL,
        Column.value("value", "the metric's value"),
        *(first, others.pop(0)),
        Column.value("ci_low", "lower end of the 95 % confidence interval over words"),
        Column.value("ci_high", "upper end of the same interval"),
        Column("words_used", "number of the query's words that the model has", "count"),
        Column("words_lost", "number of the query's words that the model lacks", "count"),
        Column("status", f'"ok", or why there is no value; "{STATUS}": {MEANING}'),
        *others,
        *EVIDENCE,
        *OF_SCALE,
        Column(
            "no_baseline",
            "in a few words, why a score with a value has no `standardized`, such as "
            f"{TOO_FEW_TOPICS!r}; `tests.csv` has the full sentence. Empty if there is a value, "
            "and without `random_groups`",
        ),
        *(pair for test in tests() if test not in shipped for pair in _p_values(test)),
    ]


def _p_values(test: Test) -> tuple[Column, Column]:
    meaning = f"p-value of the {test.noun}; `tests.csv` has the reason if there is none"
    adjusted = f"{test.column}, adjusted for the number of different tests in its criterion"
    return (
        Column.share(test.column, meaning),
        Column.share(test.adjusted, adjusted),
    )


SCORES = Table(
    "scores",
    "Every score, with its uncertainty, or why it is missing. One row per criterion, (sub-)query, metric, model "
    "and debias method.",
    Columns(_columns),
    reads=("cells", "inferences", "queries"),
    facts=("adjust", "level"),
    spec=_spec,
    make=make,
    key=tuple(KEYS),
    absent=_absent,
    gone=MappingProxyType({"excess": EXCESS}),
)
TABLES = (SCORES,)
