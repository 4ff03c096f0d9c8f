"""What differs between two studies, or two versions of one: their tables, matched by key.

Tables are taken as text, as their files have them, so that "the same" means the same to the last digit, and an empty
field, which is NaN, is the same as another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..inference import significance
from ..query import Query
from ..results import KEYS
from ..verdicts.evidence import ALL
from ..verdicts.least_biased import Answer, answers, decisions

ROUNDING = 1e-9  # a smaller relative difference is one of rounding
STATE = ["criterion", "metric", "model", "debias"]
PAIR = ["criterion", "metric", "family", "model_a", "debias_a", "model_b", "debias_b"]
PUBLISHED = ["source", "table", "criterion", "metric", "model", "quantity"]
# of all tests but the first
TESTED = [name for test in significance.tests()[1:] for name in (test.column, test.adjusted)]
LATER = [*TESTED, "evidence"]  # columns that tables once did not have
# the columns that are compared, by table: its key, then numbers, then texts
COLUMNS = {
    "scores": (
        KEYS,
        ["value", "p_value", "p_adjusted", "ci_low", "ci_high", *TESTED, "words_used", "words_lost"],
        ["status", "evidence"],
    ),
    "aggregates": ([*STATE, "aggregation"], [], ["evidence"]),
    "rankings": (STATE, ["value", "rank", "cells", "cells_nan"], []),
    "pairs": (PAIR, ["difference", "p_adjusted"], []),
    "comparison": (PUBLISHED, ["published", "ours"], ["verdict"]),
}
# the numbers, and the texts, that say which model is the least biased
ANSWERED = {
    "rankings": (["value", "value_shared", "rank_shared", "queries", "queries_of"], ["reason"]),
    "pairs": (["difference", "low", "high", "p_adjusted", "queries", "queries_of"], ["reason", "holds_for"]),
}
GAINED, LOST, REVERSED = "gained", "lost", "reversed"
ABSENT = object()  # of a key that a config does not have
NEW_VALUE, LOST_VALUE = "has a value now", "lost its value"


@dataclass(frozen=True)
class Side:
    """One of the two studies.

    tables    by name, of text; those of `COLUMNS` that it has
    config    with its defaults
    queries   by key
    vectors   model -> its file's name -> checksum
    metrics   their keys, in the order of the study
    level     of the comparison of pairs
    """

    tables: Mapping[str, pd.DataFrame]
    config: Mapping[str, Any]
    queries: Mapping[str, Query]
    vectors: Mapping[str, Mapping[str, str]]
    metrics: Sequence[str]
    level: float


@dataclass(frozen=True)
class Changes:
    """What differs; tables have a row for each change, the largest first.

    shared_scores    how many scores are in both studies
    only_a, only_b   how many scores are in one study alone
    scores           scores whose value or status changed
    uncertainty      scores of the same value and status, with another p-value, interval, number of words or evidence
    by_metric        per metric, how many scores are in both, and how many changed in which way
    names            what is in one study alone: kind, names in the first, names in the second
    lone_scores      how many scores are in one study alone, by criterion, metric and study
    aggregates       aggregates whose evidence changed
    shared_aggregates  how many aggregates are in both
    ranks            ranks that changed among the states that both studies rank
    shared_ranks     how many ranks are in both
    rank_shifts      how many ranks differ only because other states are ranked beside them, or because of ties
    pairs            decisions on pairs of models that were gained, lost or reversed
    shared_pairs     how many pairs are in both
    leaders          criteria and metrics for which the least biased model changed, or whether it is decided
    shared_leaders   for how many criteria and metrics both studies say which model is
    verdicts         published numbers with another verdict
    shared_verdicts  how many published numbers are in both
    config           keys of the config that differ: key, first, second
    words            sets of words that differ: query, set, words of the first study only, words of the second only
    vectors          models whose files differ: model, files
    missing          tables that one study has and the other does not: table, the one without ("a", "b")
    no_evidence      tables of an earlier version, without the column `evidence`: table, study
    """

    shared_scores: int
    only_a: int
    only_b: int
    scores: pd.DataFrame
    uncertainty: pd.DataFrame
    by_metric: pd.DataFrame
    names: list[tuple[str, list[str], list[str]]]
    lone_scores: pd.DataFrame
    aggregates: pd.DataFrame
    shared_aggregates: int
    ranks: pd.DataFrame
    shared_ranks: int
    rank_shifts: int
    pairs: pd.DataFrame
    shared_pairs: int
    leaders: list[dict[str, Any]]
    shared_leaders: int
    verdicts: pd.DataFrame
    shared_verdicts: int
    config: list[tuple[str, Any, Any]]
    words: list[tuple[str, str, list[str], list[str]]]
    vectors: list[tuple[str, list[str]]]
    missing: list[tuple[str, str]]
    no_evidence: list[tuple[str, str]]

    @property
    def result_changes(self) -> int:
        """How many changes there are in the studies' results."""
        tables = (
            self.scores,
            self.uncertainty,
            self.aggregates,
            self.ranks,
            self.pairs,
            self.leaders,
            self.verdicts,
        )
        return sum(map(len, tables)) + self.only_a + self.only_b + self.rank_shifts

    @property
    def input_changes(self) -> int:
        """How many changes there are in the studies' config, words and vectors."""
        return len(self.config) + len(self.words) + len(self.vectors)


def changes(a: Side, b: Side) -> Changes:
    """What differs between two studies."""
    matches, lone_scores = _match_rows(a.tables["scores"], b.tables["scores"], "scores")
    changed_scores = _scores(matches)
    uncertainty = _uncertainty(matches)
    aggregates, _ = _match_rows(a.tables.get("aggregates"), b.tables.get("aggregates"), "aggregates")
    ranks, shared_ranks, rank_shifts = _ranks(a, b)
    pairs, shared_pairs = _pairs(a, b)
    verdicts, shared_verdicts = _verdicts(a, b)
    return Changes(
        len(matches),
        int((lone_scores["side"] == "a").sum()),
        int((lone_scores["side"] == "b").sum()),
        changed_scores,
        uncertainty,
        _by_metric(matches, changed_scores, uncertainty),
        _names(a, b),
        lone_scores.groupby(["criterion", "metric", "side"], sort=False).size().reset_index(name="scores"),
        aggregates[_differs(aggregates, ["evidence"])].reset_index(drop=True),
        len(aggregates),
        ranks,
        shared_ranks,
        rank_shifts,
        pairs,
        shared_pairs,
        *_leaders(a, b),
        verdicts,
        shared_verdicts,
        list(differences(a.config, b.config)),
        list(_words(a.queries, b.queries)),
        _vectors(a.vectors, b.vectors),
        [
            (name, "a" if name in b.tables else "b")
            for name in COLUMNS
            if (name in a.tables) != (name in b.tables)
        ],
        [
            (name, side)
            for name in ("scores", "aggregates")
            for side, tables in (("a", a.tables), ("b", b.tables))
            if name in tables and "evidence" not in tables[name]
        ],
    )


def _match_rows(
    first: pd.DataFrame | None, second: pd.DataFrame | None, name: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows that both tables have, with columns <name>_a and <name>_b, as text; and the keys of all other rows, with
    the side that has them under "side"."""
    key, numbers, texts = COLUMNS[name]
    parts = []
    for table in (first, second):
        table = pd.DataFrame(columns=key, dtype=str) if table is None else table
        table = table[[column for column in (*key, *numbers, *texts) if column in table]]
        # rows of one key, which no study should have, are matched in their order
        parts.append(table.assign(nth=table.groupby(key).cumcount()))
    first, second = parts
    for column in (*numbers, *texts):
        # a column that one table lacks is not compared
        if column not in first or column not in second:
            first, second = first.assign(**{column: ""}), second.assign(**{column: ""})
    rows = first.merge(second, on=[*key, "nth"], how="outer", suffixes=("_a", "_b"), indicator="side")
    rows["side"] = rows["side"].map({"both": "both", "left_only": "a", "right_only": "b"}).astype(str)
    rows = rows.drop(columns="nth").sort_values(key, kind="stable", ignore_index=True)
    in_both = rows["side"] == "both"
    return rows[in_both].drop(columns="side").reset_index(drop=True), rows.loc[~in_both, [*key, "side"]]


def _number(texts: pd.Series) -> np.ndarray:
    return pd.to_numeric(texts.where(texts != "", None), errors="coerce").to_numpy(dtype=float)


def _differs(matches: pd.DataFrame, columns: Iterable[str]) -> np.ndarray:
    """Which rows differ in any of the columns."""
    differs = np.zeros(len(matches), dtype=bool)
    for column in columns:
        differs |= (matches[f"{column}_a"] != matches[f"{column}_b"]).to_numpy()
    return differs


def _scores(matches: pd.DataFrame) -> pd.DataFrame:
    """Scores whose value or status changed: those that gained or lost their value, then by `share`."""
    part = matches[_differs(matches, ["value", "status"])]
    before, after = _number(part["value_a"]), _number(part["value_b"])
    low, high = _number(part["ci_low_a"]), _number(part["ci_high_a"])
    difference = after - before
    with np.errstate(divide="ignore", invalid="ignore"):
        # the difference as a share of the way to the end of the interval: above 1, the new value is outside
        room = np.where(difference > 0, high - before, before - low)
        share = np.where(
            np.isnan(room), np.nan, np.where(room > 0, np.abs(difference) / room, np.inf * (difference != 0))
        )
        share = np.where(difference == 0, np.where(np.isnan(room), np.nan, 0.0), share)
        largest = np.maximum(np.abs(before), np.abs(after))
        is_rounding = (np.abs(difference) <= ROUNDING * largest) & (difference != 0)
    kind = np.select(
        [np.isnan(before) & ~np.isnan(after), ~np.isnan(before) & np.isnan(after), is_rounding],
        [NEW_VALUE, LOST_VALUE, "rounding"],
        "",
    )
    rows = part[KEYS].assign(
        before=before,
        after=after,
        difference=difference,
        low=low,
        high=high,
        share=share,
        kind=kind,
        evidence_before=part["evidence_a"],
        evidence_after=part["evidence_b"],
        status_before=part["status_a"],
        status_after=part["status_b"],
    )
    place = np.select([np.isin(kind, [NEW_VALUE, LOST_VALUE]), ~np.isnan(share)], [0, 1], 2)
    order = np.lexsort((-np.nan_to_num(np.abs(difference)), -np.nan_to_num(share, posinf=np.inf), place))
    return rows.iloc[order].reset_index(drop=True)


def _uncertainty(matches: pd.DataFrame) -> pd.DataFrame:
    """Scores of the same value and status with another p-value, interval, number of words or evidence; those whose
    evidence changed come first."""
    part = matches[~_differs(matches, ["value", "status"])]
    numbers = COLUMNS["scores"][1][1:]
    part = part[_differs(part, [*numbers, "evidence"])]
    rows = part[KEYS].assign(
        value=_number(part["value_a"]),
        **{f"evidence_{side}": part[f"evidence_{side}"] for side in "ab"},
        **{f"{name}_{side}": _number(part[f"{name}_{side}"]) for name in numbers for side in "ab"},
    )
    p_change = np.nan_to_num(np.abs(rows["p_adjusted_b"] - rows["p_adjusted_a"]))
    return rows.iloc[np.lexsort((-p_change, ~_differs(rows, ["evidence"])))].reset_index(drop=True)


def _by_metric(
    matches: pd.DataFrame, changed_scores: pd.DataFrame, uncertainty: pd.DataFrame
) -> pd.DataFrame:
    """Per metric, how many scores are in both studies, and how many of them changed in which way."""
    counts = pd.DataFrame({"both": matches.groupby("metric").size()})
    evidence = matches[_differs(matches, ["evidence"])]
    for name, rows in {
        "changed": changed_scores,
        "rounding": changed_scores[changed_scores["kind"] == "rounding"],
        "outside": changed_scores[changed_scores["share"] > 1],
        "values_gained": changed_scores[changed_scores["kind"] == NEW_VALUE],
        "values_lost": changed_scores[changed_scores["kind"] == LOST_VALUE],
        "evidence_changed": evidence,
        "full_marks_gained": evidence[evidence["evidence_b"] == ALL],
        "full_marks_lost": evidence[evidence["evidence_a"] == ALL],
        "uncertainty": uncertainty,
    }.items():
        counts[name] = rows.groupby("metric").size()
    return counts.fillna(0).astype(int).rename_axis("metric").reset_index()


def _names(a: Side, b: Side) -> list[tuple[str, list[str], list[str]]]:
    lone_names = []
    for column, kind in zip(
        KEYS, ("criteria", "queries", "metrics", "models", "debias methods"), strict=True
    ):
        first, second = (list(dict.fromkeys(side.tables["scores"][column])) for side in (a, b))
        names_in_one = [x for x in first if x not in set(second)], [x for x in second if x not in set(first)]
        if any(names_in_one):
            lone_names.append((kind, *names_in_one))
    return lone_names


def _ranks(a: Side, b: Side) -> tuple[pd.DataFrame, int, int]:
    """Ranks that changed among the states that both studies rank; how many ranks are in both; and how many of the
    unchanged ones differ as numbers (`Changes.rank_shifts`)."""
    matches, _ = _match_rows(a.tables.get("rankings"), b.tables.get("rankings"), "rankings")
    for side in "ab":
        matches[f"rank_{side}"] = _number(matches[f"rank_{side}"])
        matches[f"value_{side}"] = _number(matches[f"value_{side}"])
    has_ranks = matches["rank_a"].notna() & matches["rank_b"].notna()
    groups = matches[has_ranks].groupby(["criterion", "metric"])
    for side in "ab":
        matches.loc[has_ranks, f"among_{side}"] = groups[f"rank_{side}"].rank()
    has_one_rank = matches["rank_a"].notna() != matches["rank_b"].notna()
    is_change = has_one_rank | (has_ranks & (matches["among_a"] != matches["among_b"]))
    is_shift = has_ranks & ~is_change & (matches["rank_a"] != matches["rank_b"])
    rows = matches.assign(by=(matches["among_b"] - matches["among_a"]).abs())[is_change]
    columns = [*STATE, "rank_a", "rank_b", "among_a", "among_b", "value_a", "value_b"]
    rows = rows.sort_values("by", ascending=False, na_position="first", kind="stable")
    return rows[columns].reset_index(drop=True), len(matches), int(is_shift.sum())


def _pairs(a: Side, b: Side) -> tuple[pd.DataFrame, int]:
    """Pairs whose decision was gained, lost or reversed: -1 where model_a is the less biased, 1 where model_b is, 0
    where that is not decided; and how many pairs are in both."""
    first, second = (_order_states(side.tables.get("pairs")) for side in (a, b))
    matches, _ = _match_rows(first, second, "pairs")
    side_decisions = []
    for side, level in (("a", a.level), ("b", b.level)):
        p, difference = _number(matches[f"p_adjusted_{side}"]), _number(matches[f"difference_{side}"])
        side_decisions.append(decisions(difference, p, 1 - level))
    before, after = side_decisions
    change = np.select([before == after, before == 0, after == 0], ["", GAINED, LOST], REVERSED)
    rows = matches[PAIR].assign(
        change=change,
        before=before,
        after=after,
        p_before=_number(matches["p_adjusted_a"]),
        p_after=_number(matches["p_adjusted_b"]),
    )[change != ""]
    order = rows["change"].map({REVERSED: 0, LOST: 1, GAINED: 2}).sort_values(kind="stable").index
    return rows.loc[order].reset_index(drop=True), len(matches)


def _order_states(pairs: pd.DataFrame | None) -> pd.DataFrame | None:
    """A table of pairs, each with its states in the order of their keys: another study may have another order."""
    if pairs is None:
        return None
    pairs = pairs.copy()
    wrong = (pairs["model_a"] + "\0" + pairs["debias_a"]) > (pairs["model_b"] + "\0" + pairs["debias_b"])
    for name in ("model", "debias"):
        first, second = f"{name}_a", f"{name}_b"
        pairs.loc[wrong, [first, second]] = pairs.loc[wrong, [second, first]].to_numpy()
    pairs.loc[wrong, "difference"] = [str(-value) for value in _number(pairs.loc[wrong, "difference"])]
    return pairs


def _leaders(a: Side, b: Side) -> tuple[list[dict[str, Any]], int]:
    """Criteria and metrics of both studies for which the least biased model changed, or whether it is decided; and
    how many they have in common."""
    first, second = ({(x.criterion, x.metric): x for x in _answers(side)} for side in (a, b))
    leaders = []
    shared = first.keys() & second.keys()
    for place in shared:
        before, after = first[place], second[place]
        models = [{state.model for state in answer.first} for answer in (before, after)]
        has_tests = before.has_test and after.has_test
        if models[0] != models[1] or (has_tests and before.is_decided != after.is_decided):
            leaders.append(
                {
                    "criterion": place[0],
                    "metric": place[1],
                    "before": sorted(models[0]),
                    "after": sorted(models[1]),
                    "decided_before": before.is_decided if before.has_test else None,
                    "decided_after": after.is_decided if after.has_test else None,
                }
            )
    return sorted(leaders, key=lambda row: (row["criterion"], row["metric"])), len(shared)


def _answers(side: Side) -> list[Answer]:
    tables = {}
    for name, (columns, texts) in ANSWERED.items():
        if name in side.tables:
            # a study of an earlier version compared models in another way: it has no such answer
            if not {*columns, *texts} <= {*side.tables[name]}:
                return []
            # pairs.csv of older code does not say what a comparison holds for
            table = (
                side.tables[name]
                if "holds_for" in side.tables[name]
                else side.tables[name].assign(holds_for="")
            )
            tables[name] = table.assign(**{column: _number(table[column]) for column in columns})
    if "rankings" not in tables or tables["rankings"].empty:
        return []
    draws = side.config.get("inference", {}).get("bootstrap", {}).get("draws", 0)
    return answers(tables["rankings"], tables.get("pairs"), side.metrics, side.level, draws)


def _verdicts(a: Side, b: Side) -> tuple[pd.DataFrame, int]:
    """Published numbers whose verdict changed, and how many are in both."""
    matches, _ = _match_rows(a.tables.get("comparison"), b.tables.get("comparison"), "comparison")
    rows = matches[_differs(matches, ["verdict"])]
    numbers = {
        f"{name}_{side}": _number(rows[f"{name}_{side}"]) for name in ("published", "ours") for side in "ab"
    }
    return rows.assign(**numbers).reset_index(drop=True), len(matches)


def differences(a: Any, b: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The keys of two nested mappings whose values differ: key, value in the first, in the second. What is not there
    is `ABSENT`; of two lists of texts or numbers, what the other lacks."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for name in dict.fromkeys([*a, *b]):
            yield from differences(
                a.get(name, ABSENT), b.get(name, ABSENT), f"{key}.{name}" if key else str(name)
            )
    elif a != b or type(a) is not type(b):
        lists = isinstance(a, list) and isinstance(b, list)
        if lists and not any(isinstance(entry, (list, dict)) for entry in (*a, *b)):
            entries_in_one = [x for x in a if x not in b], [x for x in b if x not in a]
            yield (key, *entries_in_one) if any(entries_in_one) else (key, a, b)
        else:
            yield key, a, b


def _words(a: Mapping[str, Query], b: Mapping[str, Query]) -> Iterator[tuple[str, str, list[str], list[str]]]:
    """Sets of the queries of both whose words differ: query, set, words of `a` only, words of `b` only."""
    for query in a:
        if query in b:
            first, second = (
                {
                    word_set.name: list(word_set.words)
                    for word_set in (*queries[query].target_sets, *queries[query].attribute_sets)
                }
                for queries in (a, b)
            )
            for name in dict.fromkeys([*first, *second]):
                before, after = first.get(name, []), second.get(name, [])
                if before != after:
                    words_after, words_before = set(after), set(before)
                    yield (
                        query,
                        name,
                        [w for w in before if w not in words_after],
                        [w for w in after if w not in words_before],
                    )


def _vectors(
    a: Mapping[str, Mapping[str, str]], b: Mapping[str, Mapping[str, str]]
) -> list[tuple[str, list[str]]]:
    """Models of both whose files have another checksum, and which."""
    models_with_files = []
    for model in a:
        if model in b:
            files = [
                name for name in sorted({*a[model], *b[model]}) if a[model].get(name) != b[model].get(name)
            ]
            if files:
                models_with_files.append((model, files))
    return models_with_files
