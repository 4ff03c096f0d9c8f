"""What a score, or an aggregate, is evidence for: one rule, which all surfaces read (`evidence` of scores.csv).

Two tests are about the words that a query asks about: the permutation test, and that against random groups. A
permutation test of the labels that a classifier learns from says nothing of them, and does not count.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..embeddings.kinds import REGISTRY as KINDS
from ..inference import significance
from ..metrics.registry import Metric
from ..result import UNADJUSTED, Result
from ..statistics.adjustment import METHODS

ALL, PERMUTATION, GROUPS, NONE, UNTESTED, OUT_OF_REACH = VERDICTS = (
    "all",
    "permutation",
    "groups",
    "none",
    "untested",
    "out_of_reach",
)
# in the order in which one is named where both are as strong
COUNTING: dict[str, significance.Test] = {test.counts: test for test in significance.tests() if test.counts}
TESTS = tuple(COUNTING)
LEVEL = 0.95  # of a study without a bootstrap
# verdict -> what marks it: "full", "half", "open", "dot"; no mark of what is not tested
MARKS = {ALL: "full", PERMUTATION: "half", GROUPS: "half", NONE: "open", OUT_OF_REACH: "dot", UNTESTED: ""}
IN_A_FAMILY = ", among so many tests"
MEANINGS = {
    ALL: "significant in every test of words that the metric has",
    PERMUTATION: "significant in the permutation test only",
    GROUPS: "significant in the test against random groups only",
    NONE: "not significant in any test",
    OUT_OF_REACH: f"cannot reach significance: too few words or random draws{IN_A_FAMILY}",
    UNTESTED: "no test of words was made",
}
# The phrase that people read in place of a verdict, on every surface; `phrase` fits it to the tests that were made.
PHRASES = {
    ALL: "clear evidence of bias",
    PERMUTATION: "weak evidence: unrelated word groups differ as much",
    GROUPS: "weak evidence: shuffled words differ as much",
    NONE: "no evidence of bias in these tests",
    OUT_OF_REACH: "cannot tell: too few words or draws",
    UNTESTED: "not tested",
}
NOT_MADE = {
    PERMUTATION: "weak evidence: not compared with unrelated word groups",
    GROUPS: "weak evidence: not compared with shuffled words",
}
# of a metric that can have one test alone, or a score that has one
ONLY_TEST = "evidence of bias in the only test"
NONE_IN_ONE = "no evidence of bias in this test"

# what the tests of one score, together, say beyond that
READINGS = {
    ALL: "",
    PERMUTATION: "The sets differ, but random groups of this model's words may differ as much.",
    GROUPS: "The groups differ more than random groups do, but not more than the query's words dealt out anew may.",
    NONE: "That is no proof that there is no bias.",
    OUT_OF_REACH: "More words or more draws could say more.",
}


class Test(NamedTuple):
    """A test of all scores, each (n,).

    p_value  NaN where it was not made
    lowest   the smallest p-value that it could have given
    family   which p-values are adjusted together
    name     those of one family and name are one test, whose p-values differ by their draws alone
    """

    p_value: np.ndarray
    lowest: np.ndarray
    family: Sequence[Hashable]
    name: Sequence[Hashable]


class Evidence(NamedTuple):
    """Of each score, (n,): one of `VERDICTS`, and the p-value of all its tests together, adjusted; NaN where not all
    that the metric can have were made."""

    verdict: np.ndarray
    p_value: np.ndarray


def tests_of(metric: Metric) -> tuple[str, ...]:
    """The tests of words that a metric can have on the kind of model that it needs."""
    has_vectors = KINDS[metric.needs].random_groups
    return tuple(
        name
        for name, test in COUNTING.items()
        if not test.applies(metric) and test.family(metric) == "words" and (has_vectors or not test.pooled)
    )


def evidence_of(result: Result, metric: Metric, level: float = LEVEL) -> str:
    """What a single result is evidence for, one of `VERDICTS`: alone it has no family, and its p-values are not
    adjusted."""
    tests = {}
    for name in tests_of(metric):
        record = (result.inference or {}).get(COUNTING[name].name, {})
        p_value, lowest = (np.array([record.get(key)], dtype=float) for key in ("p_value", "p_lowest"))
        tests[name] = Test(p_value, lowest, [()], [()])
    return str(judge(tests, np.array([len(tests)]), [()], "holm", level).verdict[0])


def phrase(verdict: str, possible: int = 2, made: int = 2) -> str:
    """Return the phrase of `PHRASES` that is true of a score.

    Parameters
    ----------
    verdict
        One of `VERDICTS`.
    possible, made
        How many tests of words the metric can have, and how many of them were made.

    Notes
    -----
    A metric with one possible test has no "clear" evidence: nothing confirms that test. A test that was not made
    found nothing.
    """
    if verdict == ALL and possible == 1:
        return ONLY_TEST
    if verdict == NONE and made == 1:
        return NONE_IN_ONE
    return NOT_MADE.get(verdict, PHRASES[verdict]) if made < possible else PHRASES[verdict]


def reading(result: Result, metric: Metric) -> list[str]:
    """What the tests of a single result say, in sentences; none where no test was made."""
    if result.evidence == UNTESTED:
        return []
    untested = [name for name in tests_of(metric) if COUNTING[name].name not in (result.inference or {})]
    meaning = MEANINGS[result.evidence].removesuffix(IN_A_FAMILY)
    sentences = [f"Evidence, {UNADJUSTED} for other tests that you make: {meaning}."]
    if untested and result.evidence in TESTS:
        return [
            *sentences,
            f"That is no evidence of bias without the other test, {COUNTING[untested[0]].name}.",
        ]
    return [*sentences, *filter(None, [READINGS[result.evidence]])]


def judge(
    tests: Mapping[str, Test],
    possible: np.ndarray,
    families: Sequence[Hashable],
    method: str,
    level: float = LEVEL,
) -> Evidence:
    """What scores are evidence for.

    "all": every test that a metric can have was made, and the larger of their p-values, adjusted in one family, is at
    most 1 - level. The larger p-value is that of the union of the null hypotheses (intersection-union test). Two
    lists that are adjusted apart would not bound the share of false ones among what is in both.
    "permutation", "groups": that test alone is significant, adjusted in its own family; if both are, the one with the
    smaller p-value.
    "out_of_reach": not significant, and it would not be with the smallest p-value that its tests can give, all other
    p-values as they are. But "none" where a test that can give a p-value of at most 1 - level gave a larger one.
    "untested": no test was made.

    Parameters
    ----------
    tests
        "permutation" and "groups", where the study has them.
    possible
        How many tests of words the metric can have on this kind of model, (n,).
    families
        Which scores are adjusted together for "all".
    method
        "holm" or "benjamini-hochberg".

    References
    ----------
    Berger. Multiparameter hypothesis testing and acceptance sampling. Technometrics 24, 1982; Benjamini and Heller.
    Screening for partial conjunction hypotheses. Biometrics 64, 2008.
    """
    number, limit = len(possible), 1 - level + 1e-12
    p_values = np.reshape([test.p_value for test in tests.values()], (len(tests), number)).astype(float)
    is_made = ~np.isnan(p_values)
    lowest = np.reshape([test.lowest for test in tests.values()], p_values.shape).astype(float)
    lowest[~is_made] = np.nan
    made_count = is_made.sum(axis=0)
    is_complete = (made_count == possible) & (made_count > 0)
    names = list(zip(*(test.name for test in tests.values()), strict=True)) or [()] * number
    lowest_together = lowest_p_values(tests.values()) if tests else np.full(number, np.nan)
    together = Test(np.where(is_complete, _largest(p_values), np.nan), lowest_together, families, names)
    p_together = adjust(together, method)
    adjusted = np.reshape([adjust(test, method) for test in tests.values()], p_values.shape)
    verdict = np.where(made_count > 0, NONE, UNTESTED).astype(object)
    is_asked = (made_count > 0) & ~((p_values > limit) & (lowest <= limit)).any(axis=0)
    lowest_adjusted = np.full(number, np.inf)
    for test, is_own in ((together, is_complete), *zip(tests.values(), is_made & ~is_complete, strict=True)):
        rows = np.flatnonzero(is_asked & is_own)
        lowest_adjusted[rows] = np.minimum(lowest_adjusted[rows], _lowest_adjusted(test, rows, method))
    verdict[is_asked & (lowest_adjusted > limit)] = OUT_OF_REACH
    for row in np.flatnonzero((adjusted <= limit).any(axis=0)):
        verdict[row] = list(tests)[int(np.nanargmin(adjusted[:, row]))]
    verdict[p_together <= limit] = ALL
    return Evidence(verdict, p_together)


def lowest_p_values(tests: Iterable[Test]) -> np.ndarray:
    """The smallest p-value that all tests of a score that were made can give together, (n,); NaN where none was."""
    return _largest(
        np.array([np.where(np.isnan(test.p_value), np.nan, test.lowest) for test in tests], float)
    )


def adjust(test: Test, method: str) -> np.ndarray:
    """p-values, each adjusted for the number of different tests of its family, (n,); NaN where there is no test.

    Those of one family and name count once: the largest of them is that of all.
    """
    values = np.full(len(test.p_value), np.nan)
    for rows_of_names in _families(test).values():
        adjusted = METHODS[method](np.array([test.p_value[rows].max() for rows in rows_of_names.values()]))
        for rows, p_value in zip(rows_of_names.values(), adjusted, strict=True):
            values[rows] = p_value
    return values


def _lowest_adjusted(test: Test, rows: np.ndarray, method: str) -> np.ndarray:
    """The adjusted p-value of each of some scores if its own were as small as it can be."""
    asked, values = set(rows.tolist()), np.full(len(test.p_value), np.nan)
    for rows_of_names in _families(test).values():
        p_values = np.array([test.p_value[places].max() for places in rows_of_names.values()])
        for place, rows_of_name in enumerate(rows_of_names.values()):
            if not asked.isdisjoint(rows_of_name):
                if_lowest = p_values.copy()
                if_lowest[place] = test.lowest[rows_of_name].max()
                values[rows_of_name] = METHODS[method](if_lowest)[place]
    return values[rows]


def _families(test: Test) -> dict[Hashable, dict[Hashable, list[int]]]:
    """Family -> test's name -> the places of its p-values."""
    places: dict[Hashable, dict[Hashable, list[int]]] = {}
    for row in np.flatnonzero(~np.isnan(test.p_value)).tolist():
        places.setdefault(test.family[row], {}).setdefault(test.name[row], []).append(row)
    return places


def _largest(values: np.ndarray) -> np.ndarray:
    """The largest of each column that is not NaN; NaN where none is."""
    return np.fmax.reduce(values) if len(values) else np.full(values.shape[1], np.nan)
