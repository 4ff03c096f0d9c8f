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

from ..query import Query
from ..tables.scores import ADJUSTED
from .answer import Answer, answers

ALPHA = 0.05  # of adjusted p-values
ROUNDING = 1e-9  # a smaller relative difference is one of rounding
CELL = ["criterion", "query", "metric", "model", "debias"]
STATE = ["criterion", "metric", "model", "debias"]
PAIR = ["criterion", "metric", "family", "model_a", "debias_a", "model_b", "debias_b"]
PUBLISHED = ["source", "table", "criterion", "metric", "model", "quantity"]
# columns of scores.csv that it once did not have: of all tests but the first
LATER = [name for columns in list(ADJUSTED.items())[1:] for name in columns]
# the columns that are compared, by table: its key, then numbers, then texts
COLUMNS = {
    "scores": (
        CELL,
        ["value", "p_value", "p_adjusted", "ci_low", "ci_high", *LATER],
        ["words_used", "words_lost", "status"],
    ),
    "rankings": (STATE, ["value", "rank", "cells", "cells_nan"], []),
    "pairs": (PAIR, ["difference", "p_adjusted"], []),
    "comparison": (PUBLISHED, ["published", "ours"], ["verdict"]),
}
TESTS = {"p_adjusted": "permutation", "p_groups_adjusted": "random groups"}
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

    both, only_a, only_b  how many scores are in both studies, and in one alone
    scores       scores whose value or status changed
    uncertainty  scores of the same value and status, with another p-value, interval or number of words
    by_metric    per metric, how many scores are in both, and how many changed in which way
    names        what is in one study alone: kind, names in the first, names in the second
    alone        scores in one study alone, counted by criterion and metric
    ranks        ranks that changed among the states that both studies rank
    ranked       how many ranks are in both
    moved        ranks that differ for another reason: other states are ranked beside them, or ties otherwise
    pairs        decisions on pairs of models that were gained, lost or reversed
    paired       how many pairs are in both
    leaders      places where the least biased model changed, or whether it is decided
    verdicts     published numbers with another verdict
    judged       how many published numbers are in both
    config       keys of the config that differ: key, first, second
    words        sets of words that differ: query, set, words that are gone, words that came
    vectors      models whose files differ: model, files
    missing      tables that one study has and the other does not: table, the one without ("a", "b")
    """

    both: int
    only_a: int
    only_b: int
    scores: pd.DataFrame
    uncertainty: pd.DataFrame
    by_metric: pd.DataFrame
    names: list[tuple[str, list[str], list[str]]]
    alone: pd.DataFrame
    ranks: pd.DataFrame
    ranked: int
    moved: int
    pairs: pd.DataFrame
    paired: int
    leaders: list[dict[str, Any]]
    verdicts: pd.DataFrame
    judged: int
    config: list[tuple[str, Any, Any]]
    words: list[tuple[str, str, list[str], list[str]]]
    vectors: list[tuple[str, list[str]]]
    missing: list[tuple[str, str]]

    @property
    def results(self) -> int:
        """How many changes there are in what the studies found."""
        tables = (self.scores, self.uncertainty, self.ranks, self.pairs, self.leaders, self.verdicts)
        return sum(map(len, tables)) + self.only_a + self.only_b + self.moved

    @property
    def given(self) -> int:
        """How many changes there are in what went in."""
        return len(self.config) + len(self.words) + len(self.vectors)


def changes(a: Side, b: Side) -> Changes:
    """What differs between two studies."""
    both, alone = _matched(a.tables["scores"], b.tables["scores"], "scores")
    changed = _scores(both)
    uncertainty = _uncertainty(both)
    ranks, ranked, moved = _ranks(a, b)
    pairs, paired = _pairs(a, b)
    verdicts, judged = _verdicts(a, b)
    return Changes(
        len(both),
        int((alone["side"] == "a").sum()),
        int((alone["side"] == "b").sum()),
        changed,
        uncertainty,
        _by_metric(both, changed, uncertainty),
        _names(a, b),
        alone.groupby(["criterion", "metric", "side"], sort=False).size().reset_index(name="scores"),
        ranks,
        ranked,
        moved,
        pairs,
        paired,
        _leaders(a, b),
        verdicts,
        judged,
        list(differences(a.config, b.config)),
        list(_words(a.queries, b.queries)),
        _vectors(a.vectors, b.vectors),
        [
            (name, "a" if name in b.tables else "b")
            for name in COLUMNS
            if (name in a.tables) != (name in b.tables)
        ],
    )


def _matched(
    first: pd.DataFrame | None, second: pd.DataFrame | None, name: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows that both tables have, with columns <name>_a and <name>_b, as text; and the keys of the others, with the
    side that has them under "side"."""
    key, numbers, texts = COLUMNS[name]
    parts = []
    for table in (first, second):
        table = pd.DataFrame(columns=key, dtype=str) if table is None else table
        table = table[[column for column in (*key, *numbers, *texts) if column in table]]
        # rows of one key, which no study should have, are matched in their order
        parts.append(table.assign(nth=table.groupby(key).cumcount()))
    first, second = parts
    for column in (*numbers, *texts):
        # what one of them does not have at all has not changed
        if column not in first or column not in second:
            first, second = first.assign(**{column: ""}), second.assign(**{column: ""})
    merged = first.merge(second, on=[*key, "nth"], how="outer", suffixes=("_a", "_b"), indicator="side")
    merged["side"] = merged["side"].map({"both": "both", "left_only": "a", "right_only": "b"}).astype(str)
    merged = merged.drop(columns="nth").sort_values(key, kind="stable", ignore_index=True)
    there = merged["side"] == "both"
    return merged[there].drop(columns="side").reset_index(drop=True), merged.loc[~there, [*key, "side"]]


def _number(texts: pd.Series) -> np.ndarray:
    return pd.to_numeric(texts.where(texts != "", None), errors="coerce").to_numpy(dtype=float)


def _differs(both: pd.DataFrame, columns: Iterable[str]) -> np.ndarray:
    """Which rows differ in any of the columns."""
    found = np.zeros(len(both), dtype=bool)
    for column in columns:
        found |= (both[f"{column}_a"] != both[f"{column}_b"]).to_numpy()
    return found


def _scores(both: pd.DataFrame) -> pd.DataFrame:
    """Scores whose value or status changed: those that gained or lost their value, then by `share`."""
    part = both[_differs(both, ["value", "status"])]
    before, after = _number(part["value_a"]), _number(part["value_b"])
    low, high = _number(part["ci_low_a"]), _number(part["ci_high_a"])
    difference = after - before
    with np.errstate(divide="ignore", invalid="ignore"):
        # of the way from the value to the end of its interval: above 1, the new value is outside
        room = np.where(difference > 0, high - before, before - low)
        share = np.where(
            np.isnan(room), np.nan, np.where(room > 0, np.abs(difference) / room, np.inf * (difference != 0))
        )
        share = np.where(difference == 0, np.where(np.isnan(room), np.nan, 0.0), share)
        largest = np.maximum(np.abs(before), np.abs(after))
        rounding = (np.abs(difference) <= ROUNDING * largest) & (difference != 0)
    kind = np.select(
        [np.isnan(before) & ~np.isnan(after), ~np.isnan(before) & np.isnan(after), rounding],
        [NEW_VALUE, LOST_VALUE, "rounding"],
        "",
    )
    found = part[CELL].assign(
        before=before,
        after=after,
        difference=difference,
        low=low,
        high=high,
        share=share,
        kind=kind,
        significance=_significance(part),
        status_before=part["status_a"],
        status_after=part["status_b"],
    )
    place = np.select([np.isin(kind, [NEW_VALUE, LOST_VALUE]), ~np.isnan(share)], [0, 1], 2)
    order = np.lexsort((-np.nan_to_num(np.abs(difference)), -np.nan_to_num(share, posinf=np.inf), place))
    return found.iloc[order].reset_index(drop=True)


def _significance(part: pd.DataFrame) -> pd.Series:
    """Per score, which of its tests became significant, or are so no more; empty where both studies say the same, or
    one of them has no test."""
    texts = [""] * len(part)
    for column, test in TESTS.items():
        before, after = _number(part[f"{column}_a"]), _number(part[f"{column}_b"])
        tested = ~np.isnan(before) & ~np.isnan(after)
        for kind, changed in (
            (GAINED, tested & (before > ALPHA) & (after <= ALPHA)),
            (LOST, tested & (before <= ALPHA) & (after > ALPHA)),
        ):
            for row in np.flatnonzero(changed):
                texts[row] = "; ".join(filter(None, (texts[row], f"{kind} ({test})")))
    return pd.Series(texts, index=part.index, dtype=str)


def _uncertainty(both: pd.DataFrame) -> pd.DataFrame:
    """Scores of the same value and status of which something else changed: significance first."""
    part = both[~_differs(both, ["value", "status"])]
    others = [
        name for name in (*COLUMNS["scores"][1], *COLUMNS["scores"][2]) if name not in ("value", "status")
    ]
    part = part[_differs(part, others)]
    found = part[CELL].assign(
        value=_number(part["value_a"]),
        significance=_significance(part),
        **{f"{name}_{side}": _number(part[f"{name}_{side}"]) for name in others for side in "ab"},
    )
    move = np.nan_to_num(np.abs(found["p_adjusted_b"] - found["p_adjusted_a"]))
    return found.iloc[np.lexsort((-move, found["significance"] == ""))].reset_index(drop=True)


def _by_metric(both: pd.DataFrame, changed: pd.DataFrame, uncertainty: pd.DataFrame) -> pd.DataFrame:
    """Per metric: scores in both, changed, in their last digits alone, outside of their interval, ..."""
    found = pd.DataFrame({"both": both.groupby("metric").size()})
    significance = pd.concat([changed[["metric", "significance"]], uncertainty[["metric", "significance"]]])
    for name, rows in {
        "changed": changed,
        "rounding": changed[changed["kind"] == "rounding"],
        "outside": changed[changed["share"] > 1],
        "values_gained": changed[changed["kind"] == NEW_VALUE],
        "values_lost": changed[changed["kind"] == LOST_VALUE],
        "significance_gained": significance[significance["significance"].str.contains(GAINED)],
        "significance_lost": significance[significance["significance"].str.contains(LOST)],
        "uncertainty": uncertainty,
    }.items():
        found[name] = rows.groupby("metric").size()
    return found.fillna(0).astype(int).rename_axis("metric").reset_index()


def _names(a: Side, b: Side) -> list[tuple[str, list[str], list[str]]]:
    found = []
    for column, what in zip(
        CELL, ("criteria", "queries", "metrics", "models", "debias methods"), strict=True
    ):
        first, second = (list(dict.fromkeys(side.tables["scores"][column])) for side in (a, b))
        lone = [x for x in first if x not in set(second)], [x for x in second if x not in set(first)]
        if any(lone):
            found.append((what, *lone))
    return found


def _ranks(a: Side, b: Side) -> tuple[pd.DataFrame, int, int]:
    """Ranks that changed among the states that both studies rank; how many are in both; and how many of the others
    differ all the same."""
    both, _ = _matched(a.tables.get("rankings"), b.tables.get("rankings"), "rankings")
    for side in "ab":
        both[f"rank_{side}"] = _number(both[f"rank_{side}"])
        both[f"value_{side}"] = _number(both[f"value_{side}"])
    ranked = both["rank_a"].notna() & both["rank_b"].notna()
    among = both[ranked].groupby(["criterion", "metric"])
    for side in "ab":
        both.loc[ranked, f"among_{side}"] = among[f"rank_{side}"].rank()
    one = both["rank_a"].notna() != both["rank_b"].notna()
    changed = one | (ranked & (both["among_a"] != both["among_b"]))
    moved = ranked & ~changed & (both["rank_a"] != both["rank_b"])
    found = both.assign(by=(both["among_b"] - both["among_a"]).abs())[changed]
    columns = [*STATE, "rank_a", "rank_b", "among_a", "among_b", "value_a", "value_b"]
    found = found.sort_values("by", ascending=False, na_position="first", kind="stable")
    return found[columns].reset_index(drop=True), len(both), int(moved.sum())


def _pairs(a: Side, b: Side) -> tuple[pd.DataFrame, int]:
    """Pairs whose decision was gained, lost or reversed: -1 where model_a is the less biased, 1 where model_b is, 0
    where that is not decided; and how many pairs are in both."""
    both, _ = _matched(*(_turned(side.tables.get("pairs")) for side in (a, b)), "pairs")
    decided = {}
    for side, level in (("a", a.level), ("b", b.level)):
        p, difference = _number(both[f"p_adjusted_{side}"]), _number(both[f"difference_{side}"])
        decided[side] = np.where(p <= 1 - level, np.sign(difference), 0).astype(int)
    before, after = decided.values()
    change = np.select([before == after, before == 0, after == 0], ["", GAINED, LOST], REVERSED)
    found = both[PAIR].assign(
        change=change,
        before=before,
        after=after,
        p_before=_number(both["p_adjusted_a"]),
        p_after=_number(both["p_adjusted_b"]),
    )[change != ""]
    order = found["change"].map({REVERSED: 0, LOST: 1, GAINED: 2}).sort_values(kind="stable").index
    return found.loc[order].reset_index(drop=True), len(both)


def _turned(pairs: pd.DataFrame | None) -> pd.DataFrame | None:
    """A table of pairs, each with its states in the order of their keys: another study may have another order."""
    if pairs is None:
        return None
    pairs = pairs.copy()
    wrong = (pairs["model_a"] + "\0" + pairs["debias_a"]) > (pairs["model_b"] + "\0" + pairs["debias_b"])
    for name in ("model", "debias"):
        one, other = f"{name}_a", f"{name}_b"
        pairs.loc[wrong, [one, other]] = pairs.loc[wrong, [other, one]].to_numpy()
    pairs.loc[wrong, "difference"] = [str(-value) for value in _number(pairs.loc[wrong, "difference"])]
    return pairs


def _leaders(a: Side, b: Side) -> list[dict[str, Any]]:
    """Criteria and metrics of both whose least biased model is another now, or where it became decided, or is so no
    more."""
    first, second = ({(x.criterion, x.metric): x for x in _answers(side)} for side in (a, b))
    found = []
    for place in first.keys() & second.keys():
        before, after = first[place], second[place]
        models = [{state.model for state in answer.first} for answer in (before, after)]
        tested = before.tested and after.tested
        if models[0] != models[1] or (tested and before.decided != after.decided):
            found.append(
                {
                    "criterion": place[0],
                    "metric": place[1],
                    "before": sorted(models[0]),
                    "after": sorted(models[1]),
                    "decided_before": before.decided if before.tested else None,
                    "decided_after": after.decided if after.tested else None,
                }
            )
    return sorted(found, key=lambda row: (row["criterion"], row["metric"]))


def _answers(side: Side) -> list[Answer]:
    tables = {}
    for name in ("rankings", "pairs"):
        if name in side.tables:
            numbers = {column: _number(side.tables[name][column]) for column in COLUMNS[name][1]}
            tables[name] = side.tables[name].assign(**numbers)
    if "rankings" not in tables or tables["rankings"].empty:
        return []
    return answers(tables["rankings"], tables.get("pairs"), side.metrics, side.level)


def _verdicts(a: Side, b: Side) -> tuple[pd.DataFrame, int]:
    """Published numbers whose verdict changed, and how many are in both."""
    both, _ = _matched(a.tables.get("comparison"), b.tables.get("comparison"), "comparison")
    found = both[_differs(both, ["verdict"])]
    numbers = {
        f"{name}_{side}": _number(found[f"{name}_{side}"]) for name in ("published", "ours") for side in "ab"
    }
    return found.assign(**numbers).reset_index(drop=True), len(both)


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
            lone = [x for x in a if x not in b], [x for x in b if x not in a]
            yield (key, *lone) if any(lone) else (key, a, b)
        else:
            yield key, a, b


def _words(a: Mapping[str, Query], b: Mapping[str, Query]) -> Iterator[tuple[str, str, list[str], list[str]]]:
    """Sets of the queries of both whose words differ: query, set, words that are gone, words that came."""
    for query in a:
        if query in b:
            first, second = (
                {
                    given.name: list(given.words)
                    for given in (*of[query].target_sets, *of[query].attribute_sets)
                }
                for of in (a, b)
            )
            for name in dict.fromkeys([*first, *second]):
                before, after = first.get(name, []), second.get(name, [])
                if before != after:
                    gone, came = set(after), set(before)
                    yield (
                        query,
                        name,
                        [w for w in before if w not in gone],
                        [w for w in after if w not in came],
                    )


def _vectors(
    a: Mapping[str, Mapping[str, str]], b: Mapping[str, Mapping[str, str]]
) -> list[tuple[str, list[str]]]:
    """Models of both whose files have another checksum, and which."""
    found = []
    for model in a:
        if model in b:
            files = [
                name for name in sorted({*a[model], *b[model]}) if a[model].get(name) != b[model].get(name)
            ]
            if files:
                found.append((model, files))
    return found
