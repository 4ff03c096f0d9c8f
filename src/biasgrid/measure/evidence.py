"""Evidence of bias in a score or an aggregate: one rule for all pages and figures (`evidence` of scores.csv).

Two tests are about the words of a query: the permutation test, and the test against random groups. A permutation test
of the labels from which a classifier learns is not about these words, and does not count.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..metrics.registry import Metric
from ..models.kinds import REGISTRY as KINDS
from . import significance
from .result import Result
from .statistics.adjustment import METHODS

ALL, PERMUTATION, GROUPS, NONE, UNTESTED, OUT_OF_REACH = VERDICTS = (
    "all",
    "permutation",
    "groups",
    "none",
    "untested",
    "out_of_reach",
)
# If both tests are equally strong, the first is named.
COUNTING: dict[str, significance.Test] = {test.counts: test for test in significance.tests() if test.counts}
TESTS = tuple(COUNTING)
# Level of a study without a bootstrap.
LEVEL = 0.95
# Type of evidence -> its mark: "full", "half", "open", "dot", or "" for scores without a test.
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
# Phrases for the types of evidence, for all pages and figures; `phrase` adapts them to the tests that were made.
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
# Follows where nothing is significant.
NO_PROOF = "This does not prove that there is no bias."
# Phrases for a metric that can have only one test, or a score that has one.
ONLY_TEST = "evidence of bias in the only test"
NONE_IN_ONE = "no evidence of bias in this test"


class Test(NamedTuple):
    """Test of all scores, each (n,).

    Attributes
    ----------
    p_value
        p-values; NaN if the test was not made.
    lowest
        Smallest p-values that the test can reach.
    family
        Families of p-values that are adjusted together.
    name
        Names: p-values of one family and name are one test, and differ only by their random draws.
    """

    p_value: np.ndarray
    lowest: np.ndarray
    family: Sequence[Hashable]
    name: Sequence[Hashable]


class Evidence(NamedTuple):
    """Evidence of each score, (n,).

    It is one of `VERDICTS`, with the adjusted p-value of all tests together. The p-value is NaN if a test that the
    metric can have was not made.
    """

    verdict: np.ndarray
    p_value: np.ndarray


def tests_of(metric: Metric) -> tuple[str, ...]:
    """Return the tests of words that a metric can have on the type of model that it needs."""
    has_vectors = KINDS[metric.needs].random_groups
    return tuple(
        name
        for name, test in COUNTING.items()
        if not test.applies(metric) and test.family(metric) == "words" and (has_vectors or not test.pooled)
    )


def evidence_of(result: Result, metric: Metric, level: float = LEVEL) -> str:
    """Return the evidence of a single result, one of `VERDICTS`; its p-values are not adjusted for other tests."""
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
        Number of tests of words that the metric can have, and number of tests that were made.

    Notes
    -----
    A metric with one possible test never has "clear" evidence, because no second test confirms it. A test that was
    not made found nothing.
    """
    if verdict == ALL and possible == 1:
        return ONLY_TEST
    if verdict == NONE and made == 1:
        return NONE_IN_ONE
    return NOT_MADE.get(verdict, PHRASES[verdict]) if made < possible else PHRASES[verdict]


def judge(
    tests: Mapping[str, Test],
    possible: np.ndarray,
    families: Sequence[Hashable],
    method: str,
    level: float = LEVEL,
) -> Evidence:
    """Judge the evidence of scores.

    - "all": every test that a metric can have was made, and the larger of their p-values, adjusted in one family, is
      at most 1 - level. The larger p-value tests the union of the null hypotheses (intersection-union test). If two
      lists were adjusted separately, the share of false rejections among their common scores would not be bounded.
    - "permutation", "groups": only this test is significant, adjusted in its own family; if both are, the test with
      the smaller p-value.
    - "out_of_reach": not significant, and not even with the smallest p-value that its tests can reach, all other
      p-values being equal. The result is "none" instead if a test that can reach a p-value of at most 1 - level gave
      a larger one.
    - "untested": no test was made.

    Parameters
    ----------
    tests
        "permutation" and "groups", if the study has them.
    possible
        Number of tests of words that the metric can have on this type of model, (n,).
    families
        Families of scores that are adjusted together for "all".
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
    """Return the smallest p-value that all tests of a score can reach together, (n,); NaN without a test."""
    return _largest(
        np.array([np.where(np.isnan(test.p_value), np.nan, test.lowest) for test in tests], float)
    )


def adjust(test: Test, method: str) -> np.ndarray:
    """Adjust p-values for the number of different tests of their family, (n,); NaN marks a missing test.

    Tests with one family and name count once, and the largest of their p-values is used for all.
    """
    values = np.full(len(test.p_value), np.nan)
    for rows_of_names in _families(test).values():
        adjusted = METHODS[method](np.array([test.p_value[rows].max() for rows in rows_of_names.values()]))
        for rows, p_value in zip(rows_of_names.values(), adjusted, strict=True):
            values[rows] = p_value
    return values


def _lowest_adjusted(test: Test, rows: np.ndarray, method: str) -> np.ndarray:
    """Return the adjusted p-value of each of some scores if its own p-value were as small as possible."""
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
    """Return family -> test's name -> the row numbers of its p-values."""
    places: dict[Hashable, dict[Hashable, list[int]]] = {}
    for row in np.flatnonzero(~np.isnan(test.p_value)).tolist():
        places.setdefault(test.family[row], {}).setdefault(test.name[row], []).append(row)
    return places


def _largest(values: np.ndarray) -> np.ndarray:
    """Return the largest value of each column, ignoring NaN; NaN if all values are NaN."""
    return np.fmax.reduce(values) if len(values) else np.full(values.shape[1], np.nan)
