"""Table of phenomena: tests of whether a metric's mean over many sets of neutral words is its no-bias value."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import TYPE_CHECKING, Any

import pandas as pd

from biasgrid.core.seeds import seed_of
from biasgrid.measure.statistics.one_sample import sign_flips, t_test, z_test
from biasgrid.tables.aggregates import AGGREGATES
from biasgrid.tables.keys import CRITERION, DEBIAS, METRIC, MODEL
from biasgrid.tables.scales import neutrals
from biasgrid.tables.scores import SCORES
from biasgrid.tables.table import ANY, Column, Files, Table

from ..cells import phenomena_of

if TYPE_CHECKING:
    from biasgrid.tables.planned import Planned


LEVEL = 0.05
ALWAYS = "always rejects: the values cannot lie on both sides of the neutral one"
SIGN_FLIPS, RANDOM_GROUPS = "sign flips", "random groups"


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Test the means over phenomena: one row per criterion with phenomena, metric, model and debias method.

    Parameters
    ----------
    inputs
        The tables "scores" and "aggregates".
    spec
        "phenomena": criterion -> query id -> phenomenon. "neutral": a list of [criterion, metric, no-bias value,
        whether values can be on both sides of it]. "seed": the seed of the study.
    """
    values = values_of_phenomena(SCORES.read(inputs["scores"]), spec["phenomena"])
    metrics = {
        (criterion, metric): (neutral, two_sided) for criterion, metric, neutral, two_sided in spec["neutral"]
    }
    seed = seed_of(spec["seed"], "phenomena")
    keys = [column.name for column in KEYS]
    # Only the aggregation that ranks models has p-values against random groups.
    tested = AGGREGATES.read(inputs["aggregates"]).dropna(subset="p_groups")
    p_groups = dict(zip(tested[keys].itertuples(index=False, name=None), tested["p_groups"], strict=True))
    rows = []
    for key, part in values.groupby(keys):
        neutral, both_sides = metrics[key[:2]]
        rows.append((*key, *_test_phenomena(part, neutral, both_sides, seed, p_groups.get(key, nan))))
    return PHENOMENA.finish(rows)


def values_of_phenomena(scores: pd.DataFrame, phenomena: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """Return the rows of the scores whose query is one of the phenomena, with a column phenomenon."""
    names = [
        phenomena.get(criterion, {}).get(query)
        for criterion, query in zip(scores["criterion"], scores["query_id"], strict=True)
    ]
    return scores.assign(phenomenon=names).dropna(subset="phenomenon")


def _test_phenomena(
    part: pd.DataFrame, neutral: float, both_sides: bool, seed: int, p_groups: float
) -> tuple[Any, ...]:
    values = part["value"].dropna().to_numpy()
    z, p_z = z_test(values, neutral)
    p_t = p_flips = nan
    if both_sides:
        p_t, p_flips = t_test(values, neutral), sign_flips(values, neutral, seed)
    test, p_valid = (SIGN_FLIPS, p_flips) if both_sides else (RANDOM_GROUPS, p_groups)
    mean, sd = (values.mean() if len(values) else nan), (values.std(ddof=1) if len(values) > 1 else nan)
    return (
        *(len(values), mean, sd, neutral, z, p_z, "" if both_sides else ALWAYS, p_t, p_flips, p_groups),
        *(test if p_valid == p_valid else "", p_valid, _decision(p_z), _decision(p_valid)),
    )


def _decision(p_value: float) -> str:
    return "" if p_value != p_value else "yes" if p_value < LEVEL else "no"


def spec_of(study: Planned) -> dict[str, Any]:
    """Return the spec of tables over phenomena: the queries that are phenomena."""
    return {"phenomena": phenomena_of(study)}


def _spec(study: Planned) -> dict[str, Any]:
    phenomena = spec_of(study)["phenomena"]
    neutral = [
        [criterion, metric, value, study.metric(criterion, metric).bias == "two-sided"]
        for (criterion, metric), value in sorted(neutrals(study).items())
        if criterion in phenomena
    ]
    return {**spec_of(study), "neutral": neutral}


KEYS = (CRITERION, METRIC, MODEL, DEBIAS)
PHENOMENA = Table(
    "phenomena",
    "One row per criterion with phenomena, metric, model and debias method: tests of whether the mean over the "
    "phenomena is the no-bias value.",
    (
        *KEYS,
        Column.count("n", "phenomena with a value"),
        Column.value("mean", "mean of the values"),
        Column.value("sd", "their standard deviation (n - 1)", least=0),
        Column.value("neutral", "the metric's no-bias value"),
        Column("z", "(mean - neutral) / (sd / square root of n)", "number", range=ANY),
        Column.share("p_z", "two-sided p-value of z, as in Maddalozzo 2023"),
        Column("z_note", "why the z-test says nothing of this metric, if so", values=(ALWAYS, "")),
        Column.share(
            "p_t",
            "two-sided p-value of Student's t-test; empty where values cannot lie on both sides of the neutral one",
        ),
        Column.share(
            "p_sign_flips",
            "two-sided p-value of the permutation test that flips the signs of the differences from the neutral "
            "value; empty as p_t. It takes the groups as given, and the phenomena for independent of each other",
        ),
        Column.share(
            "p_groups",
            "p-value of the mean distance from the no-bias value against random groups, from aggregates.csv. The "
            "same random groups replace the groups in all phenomena, so these may depend on each other. Empty if "
            "fewer than half of the phenomena have a test against random groups",
        ),
        Column("valid_test", "the test of p_valid", values=(SIGN_FLIPS, RANDOM_GROUPS, "")),
        Column.share(
            "p_valid", "p_sign_flips; of a metric whose no-bias value is an end of its range, p_groups"
        ),
        Column("rejects_z", f"whether p_z is below {LEVEL}", values=("yes", "no", "")),
        Column("rejects_valid", f"whether p_valid is below {LEVEL}", values=("yes", "no", "")),
    ),
    reads=("scores", "aggregates"),
    when=phenomena_of,
    facts=("seed",),
    spec=_spec,
    make=make,
    key=tuple(column.name for column in KEYS),
)
TABLES = (PHENOMENA,)
