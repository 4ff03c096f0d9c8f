"""Table of aggregates: averages and sums of scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BiasgridError
from ..core.in_memory import InMemory
from ..debias import UNTOUCHED
from ..measure.aggregation import (
    AGGREGATIONS,
    OVERALL,
    Aggregation,
    aggregation_name,
    aggregator,
    groups,
)
from ..measure.evidence import GROUPS, Test, adjust, judge, lowest_p_values
from ..measure.records import read_aggregates
from ..measure.results import ACROSS_QUERIES
from . import rank_samples
from .keys import CRITERION, DEBIAS, METRIC, MODEL
from .model_pairs import StandardizedScores, mean_of_state
from .query_groups import set_sizes_of
from .scores import EVIDENCE, SCORES, read_ranked
from .shared import places_of
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Planned


STANDARDIZED = "standardized"
# Level of the narrow interval, the thick part of a line in figures.
HALF = 0.5
KEYS = [*ACROSS_QUERIES, "aggregation"]


def aggregates(
    scores: pd.DataFrame,
    ranked_criteria: Sequence[str],
    aggregations: Iterable[Aggregation] = tuple(AGGREGATIONS),
) -> pd.DataFrame:
    """Aggregate the scores of each criterion, and of the ranked criteria together as "Overall", in several ways.

    As in the case study, the overall value is an aggregate of all cells of the criteria, not of the criteria's
    values. It is left out for a debias method that is not measured on all of these criteria. NaN cells are left out
    and counted; an aggregate is NaN if all its cells are NaN.

    Parameters
    ----------
    scores
        The table of scores.
    ranked_criteria
        Names of the ranked criteria.
    aggregations
        Names, or functions of an array.
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
    """Return the rows of the aggregation that ranks models; the table is empty for a user's function."""
    return table[table["aggregation"] == aggregation_name(aggregation)]


def standardized(
    scores: pd.DataFrame, inputs: Files, spec: Mapping[str, Any]
) -> dict[tuple[str, str, str, str], tuple[float, ...]]:
    """Return mean standardised bias and its two intervals, by ranked criterion (or "Overall"), metric, model, debias.

    Parameters
    ----------
    scores
        The table of scores.
    inputs
        "samples" and "inferences", as in `rank_samples.write`; empty without a bootstrap.
    spec
        The spec of `rank_samples.write`, with "words", the argument of `Place.words`, and "level".

    Returns
    -------
    dict
        Without groups in which fewer than half of the scores have a baseline.
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
                claims = [
                    mean_of_state(place, state, on_scale, words, level) for level in (spec["level"], HALF)
                ]
                if claims[0]:
                    ends = [float(end) for claim in claims if claim for end in (claim.low, claim.high)]
                    found[place.criterion, place.metric, *state] = float(claims[0].difference), *ends
    return found


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Compute the aggregates and, for the aggregation that ranks models, baseline tests and standardised bias.

    Parameters
    ----------
    inputs
        "scores": the table; "aggregate_tests", if there are any: the files of `measure.aggregates`; "samples" and
        "inferences", with a bootstrap: as in `rank_samples.write`.
    spec
        The spec of `standardized`, left out if no random groups were drawn; "ranked": the criteria; "aggregation":
        the aggregation that ranks; "adjust", "level": as in `tables.scores.make`; "groups": metric, model and debias
        method of each file of tests.
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
    # Debiased models are a separate family of tests, and so are all criteria together.
    families = list(zip(table["criterion"], table["debias"] == UNTOUCHED, strict=True))
    test = Test(table["p_groups"].to_numpy(), lowest, families, range(len(table)))
    table["tests"] = (table["aggregation"] == spec["aggregation"]).astype(int)
    outcome = judge({GROUPS: test}, table["tests"].to_numpy(), families, spec["adjust"], spec["level"])
    table["p_groups_adjusted"] = adjust(test, spec["adjust"])
    table["evidence"], table["p_evidence"] = outcome
    table["p_lowest"] = lowest_p_values([test])
    means = standardized(scores, inputs, spec) if has_scale else {}
    nothing = (math.nan,) * len(OF_SCALE)
    of_rows = [
        means.get(tuple(key), nothing) if aggregation == spec["aggregation"] else nothing
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
        "mean standardised bias over queries; a query's value is the mean over its sub-queries. Models are "
        "compared by it. Only scores with a random-word baseline count. Empty if fewer than half of the scores "
        "have one, and for aggregations that do not rank models",
        "standard deviations",
    ),
    Column.value(
        "standardized_low",
        "lower end of its 95 % confidence interval, for these queries with other word lists of the same size. "
        "It includes the Monte Carlo error of the baselines. Without bias, it may miss the value that all words "
        "would give. In a simulation it covered that value in 0 to 10 % of cases for RNSB and in 88 % or more "
        "for other metrics (docs/calibration.md)",
        "standard deviations",
    ),
    Column.value("standardized_high", "upper end of the same interval", "standard deviations"),
    Column.value(
        "standardized_half_low",
        "lower end of its 50 % confidence interval, by the same method: where half of other word lists of the same "
        "size would be, or more. In a simulation it covered their mean in 53 to 74 % of cases (docs/calibration.md). "
        "Figures draw it as the thick part of a line",
        "standard deviations",
    ),
    Column.value("standardized_half_high", "upper end of the 50 % interval", "standard deviations"),
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
            "how the scores are summarised: their average or sum, or that of their absolute values",
            values=tuple(AGGREGATIONS),
        ),
        Column.value("value", "the average or sum; empty if no score has a value"),
        Column.count("cells", "number of scores"),
        Column.count("cells_nan", "number of scores without a value; they are left out"),
        Column.share(
            "p_groups",
            "p-value of the random-word baseline test: are the scores, on average, further from no bias than "
            "random groups? Only for the aggregation that ranks models, in ranked criteria and in those with "
            "phenomena",
        ),
        Column.share(
            "p_groups_adjusted", "p_groups, adjusted for the number of models and metrics in the criterion"
        ),
        Column("draws", "number of random groups that the test used", "optional count"),
        *EVIDENCE,
        Column(
            "scores_in_test",
            "number of scores that have a test against random groups. The test uses only these; it is left out "
            "if they are fewer than half of the scores with a value",
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
