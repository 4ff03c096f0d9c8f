"""The table of aggregates: averages and sums of scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..debias import UNTOUCHED
from ..errors import BiasgridError
from ..in_memory import InMemory
from ..records import read_aggregates
from ..results import ACROSS_QUERIES
from ..statistics.aggregation import AGGREGATIONS, OVERALL, Aggregation, aggregation_name, aggregator, groups
from ..verdicts.evidence import GROUPS, Test, adjust, judge, lowest_p_values
from . import rank_samples
from .keys import CRITERION, DEBIAS, METRIC, MODEL
from .model_pairs import StandardizedScores, mean_of_state
from .query_groups import set_sizes_of
from .scores import EVIDENCE, SCORES, read_ranked
from .shared import places_of
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

    from ..planned import Planned


STANDARDIZED = "standardized"
KEYS = [*ACROSS_QUERIES, "aggregation"]


def aggregates(
    scores: pd.DataFrame,
    ranked_criteria: Sequence[str],
    aggregations: Iterable[Aggregation] = tuple(AGGREGATIONS),
) -> pd.DataFrame:
    """Every aggregation (a name, or a function of an array) of every criterion's scores, and of the ranked criteria
    together as "Overall".

    The overall value is taken over all cells of the criteria, not over the criteria's values (as the case study
    does); a model under a debias method that is not measured on all of them has none. NaN cells are left out and
    counted; an aggregate of nothing but NaN is NaN.
    """
    import pandas as pd

    functions = {aggregation_name(aggregation): aggregator(aggregation) for aggregation in aggregations}
    rows = []
    all_values = scores["value"].to_numpy()
    for (criterion, metric, model, debias), places in groups(scores, ranked_criteria):
        values = all_values[places]
        finite = values[~np.isnan(values)]
        for name, aggregate in functions.items():
            value = float(aggregate(finite)) if len(finite) else math.nan
            rows.append(
                (criterion, metric, model, debias, name, value, len(values), len(values) - len(finite))
            )
    names = [*KEYS, "value", "cells", "cells_nan"]
    return pd.DataFrame(rows, columns=names).sort_values(KEYS, ignore_index=True)


def of_ranking(table: pd.DataFrame, aggregation: Aggregation) -> pd.DataFrame:
    """Return the rows of the aggregation that ranks models; none of a function of one's own."""
    return table[table["aggregation"] == aggregation_name(aggregation)]


def standardized(
    scores: pd.DataFrame, inputs: Files, spec: Mapping[str, Any]
) -> dict[tuple[str, str, str, str], tuple[float, float, float]]:
    """Return mean standardised bias and its interval, by ranked criterion (or "Overall"), metric, model and debias.

    Parameters
    ----------
    scores
        The table.
    inputs
        "samples" and "inferences", as `rank_samples.write` takes them; none without a bootstrap.
    spec
        That of `rank_samples.write`; "words": as `Place.words` takes it; "level".

    Returns
    -------
    dict
        Without those of which fewer than half of the scores have a baseline.
    """
    ranking = spec["ranking"]
    if "samples" in inputs:
        samples, _ = rank_samples.value_samples(scores, inputs, spec)
        on_scale = StandardizedScores.read(scores, samples, inputs, ranking["neutral"])
    else:
        values = scores[STANDARDIZED].to_numpy()
        on_scale = StandardizedScores(values, np.full(len(values), math.nan), np.zeros(len(values)))
    found = {}
    for place in places_of(scores, ranking["ranked"], ranking["coverage"], ranking["parts"]):
        if place.criterion in (OVERALL, *ranking["ranked"]):
            words = place.words(scores, spec["words"])
            for state in place.states:
                if claim := mean_of_state(place, state, on_scale, words, spec["level"]):
                    numbers = float(claim.difference), float(claim.low), float(claim.high)
                    found[place.criterion, place.metric, *state] = numbers
    return found


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """The aggregates, and of those that rank models the tests against random groups, and standardised bias.

    Parameters
    ----------
    inputs
        "scores": the table; "aggregate_tests", if there are any: the files of `inference.aggregates`; "samples" and
        "inferences", with a bootstrap: as `rank_samples.write` takes them.
    spec
        That of `standardized`, which is left out where no random groups were drawn; "ranked": the criteria;
        "aggregation": the one that ranks; "adjust", "level": as of `tables.scores.make`; "groups": of each file of
        tests the metric, model and debias method.
    """
    import pandas as pd

    has_scale = "ranking" in spec
    scores = read_ranked(inputs["scores"], spec["ranking"]) if has_scale else SCORES.read(inputs["scores"])
    table = aggregates(scores, spec["ranked"])
    tests = {}
    for state, file in zip(spec["groups"], inputs.get("aggregate_tests", ()), strict=True):
        if not isinstance(file, InMemory) and not Path(file).is_file():
            name = "/".join((*state[1:], state[0]))
            raise BiasgridError(
                f'{file}: does not exist; make it: biasgrid step "aggregates {name}" --study CONFIG'
            )
        for record in read_aggregates(file):
            tests[(record["criterion"], *state, spec["aggregation"])] = record
    records = [tests.get(key, {}) for key in table[KEYS].itertuples(index=False, name=None)]
    table["p_groups"], lowest = (
        np.array([record.get(name) for record in records], dtype=float) for name in ("p_value", "p_lowest")
    )
    for name in ("draws", "scores_in_test"):
        table[name] = pd.Series([record.get(name) for record in records], dtype=object)
    # debiased states are a family of their own, and so are all criteria together
    families = list(zip(table["criterion"], table["debias"] == UNTOUCHED, strict=True))
    test = Test(table["p_groups"].to_numpy(), lowest, families, range(len(table)))
    table["tests"] = (table["aggregation"] == spec["aggregation"]).astype(int)
    outcome = judge({GROUPS: test}, table["tests"].to_numpy(), families, spec["adjust"], spec["level"])
    table["p_groups_adjusted"] = adjust(test, spec["adjust"])
    table["evidence"], table["p_evidence"] = outcome
    table["p_lowest"] = lowest_p_values([test])
    means = standardized(scores, inputs, spec) if has_scale else {}
    of_rows = [
        means.get(tuple(key), (math.nan,) * 3) if aggregation == spec["aggregation"] else (math.nan,) * 3
        for *key, aggregation in table[KEYS].itertuples(index=False, name=None)
    ]
    table[[column.name for column in OF_SCALE]] = np.reshape(of_rows, (-1, len(OF_SCALE)))
    return table[AGGREGATES.names]


def _spec(study: Planned) -> dict[str, Any]:
    cells = [study.grid.inference_groups[name][0].cell for name in sorted(study.grid.aggregate_criteria)]
    of_scale = {**rank_samples.spec(study), "words": set_sizes_of(study)} if _has_random_groups(study) else {}
    return of_scale | {
        "aggregation": aggregation_name(study.config.aggregation),
        "groups": [[cell.metric, cell.model, cell.debias] for cell in cells],
    }


def _inputs(study: Planned) -> dict[str, Any]:
    if _has_random_groups(study) and study.config.inference.bootstrap:
        return rank_samples.inputs(study)
    return {"scores": study.paths.table_file("scores")}


def _has_random_groups(study: Planned) -> bool:
    return "random_groups" in study.config.inference.parts


OF_SCALE = (
    Column.value(
        STANDARDIZED,
        "mean standardised bias of the scores that have a baseline of random groups, for the aggregation that ranks "
        "models, empty for others: the mean over queries, each the mean of its sub-queries, as pairs of models are "
        "compared by it. Empty also where fewer than half of the scores have a baseline",
        "standard deviations",
    ),
    Column.value(
        "standardized_low",
        "lower end of its 95 % confidence interval, for these queries and other lists of as many words; the Monte "
        "Carlo error of the baselines is part of it. Without bias, it need not hold the value of all words: in a "
        "simulation it did in 0 to 10 % of cases for RNSB, 88 % or more for others (docs/calibration.md)",
        "standard deviations",
    ),
    Column.value("standardized_high", "its upper end", "standard deviations"),
)


AGGREGATES = Table(
    "aggregates",
    "Average or sum of a model's scores, by metric and criterion. One row per criterion (and all ranked ones "
    "together), metric, model, debias method and way to aggregate.",
    (
        CRITERION,
        METRIC,
        MODEL,
        DEBIAS,
        Column(
            "aggregation",
            "average or sum of the scores, plain or of absolute values",
            values=tuple(AGGREGATIONS),
        ),
        Column.value("value", "the aggregate; empty where no score has a value"),
        Column.count("cells", "how many scores there are"),
        Column.count("cells_nan", "how many of them have no value, and are left out"),
        Column.share(
            "p_groups",
            "p-value of the test of the scores' aggregated distances from no bias against random groups, for the "
            "aggregation that ranks models; of ranked criteria and of those with phenomena",
        ),
        Column.share(
            "p_groups_adjusted", "p_groups, adjusted for the number of models and metrics of the criterion"
        ),
        Column("draws", "random groups that the test rests on", "optional count"),
        *EVIDENCE,
        Column(
            "scores_in_test",
            "how many of the scores have a test against random groups; the test is of these, and there is none if "
            "they are fewer than half of the scores with a value",
            "optional count",
        ),
        *OF_SCALE,
    ),
    reads=("aggregate_tests",),
    inputs=_inputs,
    facts=("ranked", "adjust", "level"),
    spec=_spec,
    make=make,
    key=("criterion", "metric", "model", "debias", "aggregation"),
)
TABLES = (AGGREGATES,)
