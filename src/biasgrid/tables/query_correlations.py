"""Tables of the agreement of models and metrics on the order of queries: pairwise, and all together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.seeds import seed_of
from ..measure.statistics.concordance import (
    chance_of_correlation,
    chance_of_w,
    corrected_interval,
    kendalls_w,
    kendalls_w_over_units,
)
from ..measure.statistics.correlation import METHODS, correlate_columns, over_units
from . import query_ranks
from .keys import CRITERION
from .query_ranks import TEMPLATE, UNIT, directed_values
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

# Smallest number of queries of a correlation.
FEWEST = 3
# Number of resamples of queries.
DRAWS = 2000


def correlations(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for place, units, parents in _units(inputs, spec):
        seed = seed_of(spec["seed"], f"query correlations/{'/'.join(place)}")
        for a, b in combinations(units, 2):
            x, y = units[a][:, 0], units[b][:, 0]
            common = ~np.isnan(x) & ~np.isnan(y)
            samples_a, samples_b = (units[key][common, 1:] for key in (a, b))
            _, query_numbers = np.unique(parents[common], return_inverse=True)
            for method in METHODS:
                value, over_words, over_queries, p = math.nan, (math.nan,) * 2, (math.nan,) * 2, math.nan
                if common.sum() >= FEWEST:
                    value, low, high = over_units(
                        [x[common], y[common]], query_numbers, method, seed, DRAWS, spec["level"]
                    )
                    over_queries = low, high
                    p = chance_of_correlation(x[common], y[common], method, seed)
                    if samples_a.size and not math.isnan(value):
                        over_words = corrected_interval(
                            correlate_columns(samples_a, samples_b, method), value, spec["level"]
                        )
                rows.append((*place, *a, *b, method, int(common.sum()), value, *over_words, *over_queries, p))
    return pd.DataFrame(rows, columns=QUERY_CORRELATIONS.names)


def agreement(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for place, units, parents in _units(inputs, spec):
        values = np.array(list(units.values()))
        common = ~np.isnan(values[:, :, 0]).any(axis=0)
        values, seed = values[:, common], seed_of(spec["seed"], f"query agreement/{'/'.join(place)}")
        w, over_words, over_queries, p = math.nan, (math.nan,) * 2, (math.nan,) * 2, math.nan
        if len(units) > 1 and common.sum() >= FEWEST:
            w = float(kendalls_w(values[:, :, :1])[0])
        if not math.isnan(w):
            p = chance_of_w(values[:, :, 0], seed)
            if values.shape[2] > 1:
                samples = 2 * kendalls_w(values[:, :, 1:]) - 1
                ends = corrected_interval(samples, 2 * w - 1, spec["level"])
                over_words = ((ends[0] + 1) / 2, (ends[1] + 1) / 2)
            _, query_numbers = np.unique(parents[common], return_inverse=True)
            over_queries = kendalls_w_over_units(values[:, :, 0], query_numbers, seed, DRAWS, spec["level"])
        rows.append((*place, len(units), int(common.sum()), w, *over_words, *over_queries, p))
    return pd.DataFrame(rows, columns=QUERY_AGREEMENT.names)


def _units(
    inputs: Files, spec: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, str], dict[tuple[str, ...], np.ndarray], np.ndarray]]:
    """Yield the values of all metrics, models and debias methods, for each criterion and template.

    The values are (queries, 1 + draws), the first with all words. The last array has each (sub-)query's query in the
    config.
    """
    table, samples = directed_values(inputs, spec)
    for place, part in table.groupby(["criterion", "template"]):
        queries = {name: i for i, name in enumerate(sorted(part["query"].unique()))}
        parents = np.empty(len(queries), dtype=object)
        units: dict[tuple[str, ...], np.ndarray] = {}
        for unit, rows in part.groupby(UNIT):
            values = np.full((len(queries), 1 + samples.shape[1]), math.nan)
            places = rows["query"].map(queries).to_numpy()
            values[places, 0], values[places, 1:] = rows["value"], samples[rows.index]
            parents[places] = rows["query_id"]
            units[unit] = values
        yield place, units, parents.astype(str)


def _columns_of(side: str) -> tuple[Column, ...]:
    owner = {"a": "first", "b": "second"}[side]
    return (
        Column(f"metric_{side}", f"key of the {owner} metric"),
        Column(f"model_{side}", f"key of the {owner} model"),
        Column(f"debias_{side}", f"key of the {owner} debias method"),
    )


def _ends(of: Callable[[str, str], Column]) -> tuple[Column, ...]:
    of_words = (
        "95 % interval over words (percentiles of the bootstrap, with the same draws for all models; "
        "corrected for its bias, because resamples add noise)"
    )
    of_queries = f"95 % interval over queries (percentiles of {DRAWS:,} resamples of the config's queries)"
    return (
        of("words_low", f"lower end of its {of_words}"),
        of("words_high", "upper end of the same interval"),
        of("queries_low", f"lower end of its {of_queries}"),
        of("queries_high", "upper end of the same interval"),
    )


QUERY_CORRELATIONS = Table(
    "query_correlations",
    "Whether two metrics or models order the queries alike. One row per criterion, template, pair of columns (a "
    "metric, a model and a debias method each) and method, in studies with `query_ranks: true`. Values are "
    "those of query_ranks.",
    (
        CRITERION,
        TEMPLATE,
        *_columns_of("a"),
        *_columns_of("b"),
        Column(
            "method", "spearman: correlation of the ranks; pearson: correlation of the values", values=METHODS
        ),
        Column.count("n", "number of queries with both values"),
        Column.correlation(
            "correlation", "the correlation; 0 means no relation. Empty with fewer than three queries"
        ),
        *_ends(Column.correlation),
        Column.share(
            "p_value", "share of random orders of the queries whose correlation is at least as far from 0"
        ),
    ),
    **query_ranks.OF_RANKS,
    make=correlations,
)
QUERY_AGREEMENT = Table(
    "query_agreement",
    "Whether all metrics and models order the queries alike. One row per criterion and template, in studies "
    "with `query_ranks: true`.",
    (
        CRITERION,
        TEMPLATE,
        Column.count(
            "columns", "number of combinations of metric, model and debias method that order the queries"
        ),
        Column.count("n", "number of queries on which all of them have a value"),
        Column.share(
            "kendalls_w",
            "Kendall's W: 0 means no agreement, 1 the same order everywhere. Empty with fewer than three "
            "queries or two columns",
        ),
        *_ends(Column.share),
        Column.share("p_value", "share of random orders that agree at least as much"),
    ),
    **query_ranks.OF_RANKS,
    make=agreement,
    key=("criterion", "template"),
)
TABLES = (QUERY_CORRELATIONS, QUERY_AGREEMENT)
