"""Queries with evidence of bias, their numbers of models, and scores that could not be significant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil, isclose
from typing import TYPE_CHECKING, Any

from ...core.phrases import query_labels
from ...debias import UNTOUCHED
from ...measure.evidence import ALL, GROUPS, OUT_OF_REACH, PERMUTATION, UNTESTED

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Found:
    """Query with clear evidence of bias.

    It has the query's label, the number of models with evidence and of tested models, and the metrics that find it.
    """

    label: str
    models: int
    models_of: int
    metrics: tuple[str, ...]


@dataclass(frozen=True)
class TopicFindings:
    """Queries of a topic with clear evidence, most models first, and the models with evidence on any of them."""

    name: str
    found: tuple[Found, ...]
    models: frozenset[str]
    models_of: int


@dataclass(frozen=True)
class Findings:
    """Findings of the tests of original models' scores.

    Parameters
    ----------
    topics
        Every topic with a test.
    queries
        Number of tested queries.
    weak
        Number of queries without clear evidence but with a score that is significant in one of two tests.
    is_weak_beside_groups
        Whether any of these scores was tested against random groups.
    has_two_tests
        Whether scores can have both tests of words. Metrics that can only have one test do not count then.
    has_groups
        Whether any score was tested against random groups.
    is_out_of_reach
        Whether no tested score could have been significant.
    """

    topics: tuple[TopicFindings, ...]
    queries: int
    weak: int
    is_weak_beside_groups: bool
    has_two_tests: bool
    has_groups: bool
    is_out_of_reach: bool

    @property
    def clear(self) -> list[TopicFindings]:
        """Return the topics with a query that has clear evidence."""
        return [topic for topic in self.topics if topic.found]

    @property
    def found(self) -> int:
        """Return the number of queries with clear evidence."""
        return sum(len(topic.found) for topic in self.topics)


def find_evidence(scores: pd.DataFrame | None, queries: Mapping[str, str]) -> Findings | None:
    """Return the findings of the tests of original models; None without tested scores.

    A query counts once for a model, whichever metric finds it, and a query's sub-queries count as the query.

    Parameters
    ----------
    scores
        scores.csv.
    queries
        Names of queries by id.
    """
    if scores is None or not {"evidence", "tests", "p_lowest"} <= {*scores.columns}:
        return None
    scores = scores[(scores["debias"] == UNTOUCHED) & (scores["evidence"] != UNTESTED)]
    if scores.empty:
        return None
    is_of_two = scores["tests"] > 1
    has_groups = not (is_of_two.any() and "p_groups" in scores and scores["p_groups"].isna().all())
    has_two = bool(is_of_two.any())
    rows = scores[is_of_two] if has_two else scores
    # A sub-query's row has the id of its query.
    ids = rows["query_id"] if "query_id" in rows else rows["query"]
    rows = rows.assign(
        asked=[queries.get(key, str(query)) for key, query in zip(ids, rows["query"], strict=True)]
    )
    topics = tuple(
        _topic(str(name), of_topic, has_groups) for name, of_topic in rows.groupby("criterion", sort=False)
    )
    is_weak = rows["evidence"].isin([PERMUTATION, GROUPS])
    if not has_groups:
        is_weak |= rows["evidence"] == ALL
    clear = set() if not has_groups else {*_places(rows[rows["evidence"] == ALL])}
    return Findings(
        topics,
        len({*_places(rows)}),
        len({*_places(rows[is_weak])} - clear),
        "p_groups" not in rows or bool(rows.loc[is_weak, "p_groups"].notna().any()),
        has_two,
        has_groups,
        bool((rows["evidence"] == OUT_OF_REACH).all()),
    )


def _places(rows: pd.DataFrame) -> Iterable[tuple[str, str]]:
    return rows[["criterion", "asked"]].itertuples(index=False, name=None)


def _topic(name: str, rows: pd.DataFrame, has_groups: bool) -> TopicFindings:
    _, labels = query_labels(dict.fromkeys(rows["asked"]))
    clear = rows[(rows["evidence"] == ALL) & has_groups]
    found = [
        Found(
            *(labels[query], of_query["model"].nunique()),
            rows.loc[rows["asked"] == query, "model"].nunique(),
            tuple(dict.fromkeys(of_query["metric"])),
        )
        for query, of_query in clear.groupby("asked", sort=False)
    ]
    found.sort(key=lambda entry: -entry.models)
    return TopicFindings(name, tuple(found), frozenset(clear["model"]), rows["model"].nunique())


@dataclass(frozen=True)
class Untestable:
    """Number of original models' scores that could not be significant, and the reasons.

    Parameters
    ----------
    few_words, few_draws
        Number of scores with too few words, or too few random draws.
    draws
        Approximate number of sufficient draws; 0 if all scores have enough.
    no_baseline
        Number of scores without a random-word baseline.
    reasons, topics
        Reasons for the missing baselines, and topics of these scores.
    """

    few_words: int
    few_draws: int
    draws: int
    no_baseline: int
    reasons: tuple[str, ...]
    topics: tuple[str, ...]


def find_untestable(scores: pd.DataFrame | None, spec: Mapping[str, Any]) -> Untestable:
    """Return how many scores of original models could not be significant, whatever their values.

    Parameters
    ----------
    scores
        scores.csv.
    spec
        As in `summary.conclude`.
    """
    if scores is None or not {"evidence", "tests", "p_lowest"} <= {*scores.columns}:
        return Untestable(0, 0, 0, 0, (), ())
    scores = scores[scores["debias"] == UNTOUCHED]
    tested = scores[scores["evidence"] != UNTESTED]
    needed = [
        _draws_needed(p_lowest, family, spec)
        for _, family in tested.groupby("criterion")
        for p_lowest in family.loc[family["evidence"] == OUT_OF_REACH, "p_lowest"]
    ]
    without = scores[scores["no_baseline"].fillna("") != ""] if "no_baseline" in scores else scores[:0]
    return Untestable(
        needed.count(0),
        len(needed) - needed.count(0),
        max(needed, default=0),
        len(without),
        tuple(dict.fromkeys(without["no_baseline"].astype(str))) if len(without) else (),
        tuple(dict.fromkeys(without["criterion"].astype(str))),
    )


def _draws_needed(p_lowest: float, family: pd.DataFrame, spec: Mapping[str, Any]) -> int:
    """Return the number of draws that would let a test that is out of reach be significant; 0 if no number would.

    More draws do not help if permutations are enumerated, or if there are too few topics. The smallest p-value of n
    draws is k / (n + 1), with k tails. Let R of m tests be significant. Its limit is then (1 - level) (R + 1) / m
    (Benjamini and Hochberg), or (1 - level) / (m - R) (Holm).
    """
    limited = [(k, n) for n in spec["draws"] for k in (1, 2) if isclose(p_lowest, k / (n + 1), rel_tol=1e-9)]
    if not limited:
        return 0
    tails, draws = limited[0]
    tests, significant = int((family["evidence"] != UNTESTED).sum()), int((family["evidence"] == ALL).sum())
    share = tests - significant if spec["adjust"] == "holm" else tests / (significant + 1)
    # Round up to two digits.
    number = max(tails * share / (1 - spec["level"]), draws + 1)
    unit = 10 ** max(0, len(str(int(number))) - 2)
    return ceil(number / unit) * unit
