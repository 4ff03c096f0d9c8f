"""Comparison of two studies: a frame of differing rows of each table, matched by key, and frames of other changes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from .. import tables
from ..core.errors import BiasgridError
from ..core.numbers import NOISE
from ..core.validation import to_record
from ..core.versions import count_versions
from ..measure import significance
from ..measure.evidence import ALL
from ..measure.records import read_model
from ..measure.results import KEYS
from ..queries.query import Query
from ..study.config import load
from ..study.results.finished_study import CONFIG, FinishedStudy
from ..tables.conclusions.least_biased import Answer, answers, decisions
from ..tables.inputs import FACTS

# Numbers with a smaller relative difference are equal.
TOLERANCE = 1e-12
# A smaller relative difference may be due to another processor or library.
ROUNDING = 1e-9
STATE = ["criterion", "metric", "model", "debias"]
PAIR = ["criterion", "metric", "family", "model_a", "debias_a", "model_b", "debias_b"]
P_VALUES = [name for test in significance.tests() for name in (test.column, test.adjusted)]
UNCERTAINTY = [*P_VALUES, "ci_low", "ci_high", "words_used", "words_lost"]
# Table -> its key, and the columns that are compared.
COLUMNS: dict[str, tuple[list[str], list[str]]] = {
    "scores": (KEYS, ["value", "status", "evidence", *UNCERTAINTY]),
    "aggregates": ([*STATE, "aggregation"], ["evidence"]),
    "rankings": (STATE, ["value", "rank"]),
    "pairs": (PAIR, ["difference", "p_adjusted"]),
    "comparison": (
        ["source", "table", "criterion", "metric", "model", "quantity"],
        ["published", "ours", "verdict"],
    ),
}
# Columns that `tables.conclusions.least_biased` also reads.
ANSWERED = {
    "rankings": ["value", "value_shared", "rank_shared", "queries", "queries_of", "reason"],
    "pairs": [
        "difference",
        "low",
        "high",
        "p_adjusted",
        "smallest_difference",
        "queries",
        "queries_of",
        "reason",
    ],
}
# Columns that older tables lack: they are then not compared.
LATER = {"evidence", *P_VALUES[2:]}
# Stands for a key that a config does not have.
ABSENT = object()
NEW_VALUE, LOST_VALUE, LAST_DIGITS = "has a value now", "lost its value", "rounding"
# Bytes of a cell that contain its versions, before its results.
HEAD = 8192

Frames = dict[str, pd.DataFrame]


@dataclass(frozen=True)
class Side:
    """Study that is compared with another one.

    Attributes
    ----------
    tables
        Tables of `COLUMNS` that it has, by name, with the columns that are compared.
    config
        Its config with default values.
    queries
        Queries by key.
    vectors
        Model -> its file's name -> checksum.
    versions
        Library -> the versions that measured its scores.
    metrics
        Keys of its metrics, in the order of the study.
    level
        Level of the comparison of pairs.
    """

    tables: Mapping[str, pd.DataFrame]
    config: Mapping[str, Any]
    queries: Mapping[str, Query]
    vectors: Mapping[str, Mapping[str, str]]
    versions: Mapping[str, str]
    metrics: Sequence[str]
    level: float


def side_of(study: FinishedStudy) -> Side:
    """Read the data of a study that are compared from its files.

    Raises BiasgridError for a study without scores, and for a damaged table.
    """
    if not study.paths.table_file("scores").is_file():
        raise BiasgridError(f"{study.folder}: not a finished study: it has no scores.csv; run it again")
    config = to_record(study.config)
    # Take paths from the study's file: in `study.config` they are relative to the working directory.
    raw = load.read(study.folder / CONFIG)
    config |= {key: raw[key] for key in ("published", "computed") if key in raw}
    config["criteria"] = {
        name: {**entry, "ratings": raw["criteria"][name]["ratings"]} if "ratings" in entry else entry
        for name, entry in config["criteria"].items()
    }
    files = {model: study.paths.model_file(model) for model in study.models}
    return Side(
        tables={name: _read(study, name) for name in COLUMNS if study.paths.table_file(name).is_file()},
        config=config,
        queries=study.queries,
        vectors={m: read_model(file).get("sha256", {}) for m, file in files.items() if file.is_file()},
        versions=_versions(study),
        metrics=list(dict.fromkeys(key for name in config["criteria"] for key in study.metrics(name))),
        level=FACTS["level"](study),
    )


def _read(study: FinishedStudy, name: str) -> pd.DataFrame:
    """Read a table's columns that are compared, with checks. Columns that older code did not make may be missing."""
    file, table = study.paths.table_file(name), tables.REGISTRY[name]
    with file.open(encoding="utf-8", errors="replace") as lines:
        header = set(lines.readline().rstrip("\r\n").split(","))
    key, compared = COLUMNS[name]
    needed = {*key, *compared} - LATER
    optional = header & {*compared, *ANSWERED.get(name, ())}
    columns = tuple(column for column in table.columns if column.name in needed | optional)
    read = replace(table, columns=columns).read(file, absent=True)
    return read[[column.name for column in columns]]


def _versions(study: FinishedStudy) -> dict[str, str]:
    """Return library -> the versions that measured the study's cells, from the beginning of each cell's file."""
    records = []
    for cell in study.grid.cells.values():
        if (file := study.paths.cell_file(cell)).is_file():
            with file.open("rb") as lines:
                match = re.search(rb'"versions": ?\{([^{}]*)\}', lines.read(HEAD))
            texts = re.findall(r'"([^"]*)": ?"([^"]*)"', match[1].decode(errors="replace")) if match else []
            records.append({"versions": dict(texts)})
    return {library: ", ".join(sorted(counts)) for library, counts in count_versions(records).items()}


def compare(a: Side, b: Side) -> Frames:
    """Compare two studies.

    Returns
    -------
    dict of DataFrame
        Rows that differ, with values in the first study (<column>_a) and in the second (<column>_b):

        - least_biased: criteria and metrics with another first model, or with another result on whether it is clear
        - pairs: of models, with another significance (-1: the first is less biased, 1: the second, 0: neither)
        - aggregates, evidence: aggregates and scores with other evidence
        - verdicts: published numbers with another result of the check
        - ranks: other ranks among the model variants that both studies rank
        - rank_shifts: ranks that differ only because of other variants, or of ties
        - scores: scores with another value or status, the largest change first
        - uncertainty: all other scores with another p-value, interval or number of words
        - metrics: number of scores by type of change, by metric
        - only_in_one, lone_scores: names that only one study has, and numbers of such scores
        - config, words, vectors, versions: inputs
        - in_both: number of rows in both studies, by table
        - lacking: tables that one study lacks, or has without the column `evidence`
    """
    rows = {name: _merge(a.tables.get(name), b.tables.get(name), name) for name in COLUMNS}
    lone = rows["scores"][rows["scores"]["side"] != "both"]
    shared = {name: part[part["side"] == "both"].drop(columns="side") for name, part in rows.items()}
    scores, aggregates, published = (shared[name] for name in ("scores", "aggregates", "comparison"))
    changed = differs(scores, "value", "status")
    answered = _answers(a, b)
    frames = {
        "least_biased": answered[answered["changed"].astype(bool)].drop(columns="changed"),
        "pairs": _pairs(shared["pairs"], a.level, b.level),
        "aggregates": aggregates[differs(aggregates, "evidence")],
        "evidence": scores[differs(scores, "evidence")],
        "verdicts": published[differs(published, "verdict")],
        **_ranks(shared["rankings"]),
        "scores": _scores(scores[changed]),
        "uncertainty": _by_size(scores[~changed & differs(scores, *UNCERTAINTY)], "p_adjusted"),
        "only_in_one": _frame("what a b", _names(a.tables["scores"], b.tables["scores"])),
        "lone_scores": lone.groupby(["criterion", "metric", "side"]).size().reset_index(name="scores"),
        "config": _frame("key a b", differences(a.config, b.config)),
        "words": _frame("query set gone came", _words(a.queries, b.queries)),
        "vectors": _frame("model file", _vectors(a.vectors, b.vectors)),
        "versions": _frame(
            "library a b", differences(a.versions, b.versions) if a.versions and b.versions else ()
        ),
        "lacking": _frame("table study what", _lacking(a, b)),
        "in_both": pd.DataFrame(
            {name: [len(part)] for name, part in (shared | {"least_biased": answered}).items()}
        ),
    }
    return frames | {"metrics": _by_metric(scores, frames)}


def _merge(a: pd.DataFrame | None, b: pd.DataFrame | None, name: str) -> pd.DataFrame:
    """Match the rows of both tables by key: columns <name>_a and <name>_b, and `side`: "both", "a" or "b"."""
    key, compared = COLUMNS[name]
    texts = {column.name for column in tables.REGISTRY[name].columns if column.dtype == "text"}
    types = {column: "str" if column in texts else "float64" for column in (*key, *compared)}
    # Columns that one of the tables lacks are not compared.
    common = [column for column in compared if all(t is None or column in t for t in (a, b))]
    parts = []
    for table in (a, b):
        part = pd.DataFrame(columns=[*key, *common]) if table is None else table[[*key, *common]]
        part = part.assign(**{c: "" if c in texts else np.nan for c in compared if c not in common})
        part = part.astype(types)
        part = _in_order(part) if name == "pairs" else part
        # Match duplicate keys, which should not occur, in their order.
        parts.append(part.assign(nth=part.groupby(key).cumcount()))
    rows = parts[0].merge(parts[1], on=[*key, "nth"], how="outer", suffixes=("_a", "_b"), indicator="side")
    sides = rows["side"].map({"both": "both", "left_only": "a", "right_only": "b"}).astype(str)
    return rows.drop(columns="nth").assign(side=sides)


def _in_order(pairs: pd.DataFrame) -> pd.DataFrame:
    """Order the variants of each pair by their keys, because another study may have another order."""
    turned = pairs["model_a"] + "\0" + pairs["debias_a"] > pairs["model_b"] + "\0" + pairs["debias_b"]
    names = {"model_a": "model_b", "model_b": "model_a", "debias_a": "debias_b", "debias_b": "debias_a"}
    others = pairs[turned].rename(columns=names)
    others["difference"] = -others["difference"]
    return pd.concat([pairs[~turned], others])


def differs(rows: pd.DataFrame, *columns: str) -> np.ndarray:
    """Return the mask of rows that differ in a column: numbers by more than `TOLERANCE`, texts in any way."""
    result = np.zeros(len(rows), dtype=bool)
    for column in columns:
        a, b = rows[f"{column}_a"], rows[f"{column}_b"]
        if pd.api.types.is_numeric_dtype(a):
            result |= ~np.isclose(a, b, rtol=TOLERANCE, atol=NOISE, equal_nan=True)
        else:
            result |= (a != b).to_numpy()
    return result


def _by_size(rows: pd.DataFrame, column: str, na_position: Literal["first", "last"] = "last") -> pd.DataFrame:
    """Sort rows by the size of a column's difference, the largest first."""
    sizes = (rows[f"{column}_b"] - rows[f"{column}_a"]).abs()
    return rows.loc[sizes.sort_values(ascending=False, na_position=na_position, kind="stable").index]


def _scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Return scores whose value or status changed, with the kind and the size of the change.

    Gained and lost values come first, then the rows are sorted by `share`: the difference as a share of the distance
    to the end of the interval. Above 1, the new value is outside.
    """
    before, after, low, high = (rows[name] for name in ("value_a", "value_b", "ci_low_a", "ci_high_a"))
    difference = after - before
    room = np.where(difference > 0, high - before, before - low)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(difference == 0, 0 * room, difference.abs() / np.maximum(room, 0))
    largest = np.maximum(before.abs(), after.abs())
    is_rounding = (difference != 0) & (difference.abs() <= ROUNDING * largest)
    gained, lost = before.isna() & after.notna(), before.notna() & after.isna()
    kind = np.select([gained, lost, is_rounding], [NEW_VALUE, LOST_VALUE, LAST_DIGITS], "")
    rows = rows.assign(difference=difference, share=share, kind=kind)
    order = rows.assign(place=~(gained | lost), size=-difference.abs(), share=-rows["share"])
    return rows.loc[order.sort_values(["place", "share", "size"], kind="stable").index]


def _by_metric(scores: pd.DataFrame, frames: Frames) -> pd.DataFrame:
    """Count, for each metric with changed scores, the scores in both studies, and the types of changes."""
    changed, evidence = frames["scores"], frames["evidence"]
    parts = {
        "in_both": scores,
        "changed": changed,
        "rounding": changed[changed["kind"] == LAST_DIGITS],
        "outside_interval": changed[changed["share"] > 1],
        "values_gained": changed[changed["kind"] == NEW_VALUE],
        "values_lost": changed[changed["kind"] == LOST_VALUE],
        "evidence_changed": evidence,
        "full_marks_gained": evidence[evidence["evidence_b"] == ALL],
        "full_marks_lost": evidence[evidence["evidence_a"] == ALL],
        "same_but_other_uncertainty": frames["uncertainty"],
    }
    counts = pd.DataFrame({name: part["metric"].value_counts() for name, part in parts.items()})
    counts = counts.fillna(0).astype(int).rename_axis("metric").reset_index()
    return counts[counts[[*parts][1:]].any(axis=1)]


def _ranks(rows: pd.DataFrame) -> Frames:
    """Return ranks that changed among the model variants that both studies rank, and other ranks that differ."""
    has_ranks = rows["rank_a"].notna() & rows["rank_b"].notna()
    among = rows[has_ranks].groupby(["criterion", "metric"])[["rank_a", "rank_b"]].rank()
    rows = rows.assign(among_a=among["rank_a"], among_b=among["rank_b"])
    has_one = rows["rank_a"].notna() != rows["rank_b"].notna()
    moved = has_one | (has_ranks & (rows["among_a"] != rows["among_b"]))
    shifted = has_ranks & ~moved & (rows["rank_a"] != rows["rank_b"])
    return {"ranks": _by_size(rows[moved], "among", "first"), "rank_shifts": rows[shifted]}


def _pairs(rows: pd.DataFrame, *levels: float) -> pd.DataFrame:
    """Return pairs whose significance was reversed, lost or gained."""
    before, after = (
        decisions(rows[f"difference_{side}"].to_numpy(), rows[f"p_adjusted_{side}"].to_numpy(), 1 - level)
        for side, level in zip("ab", levels, strict=True)
    )
    change = np.select([before == after, before == 0, after == 0], ["", "gained", "lost"], "reversed")
    rows = rows.assign(change=change, less_biased_a=before, less_biased_b=after)[change != ""]
    return rows.sort_values("change", key=lambda kind: -kind.str.len(), kind="stable")


def _frame(columns: str, rows: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=columns.split(), dtype=object)


def _answers(a: Side, b: Side) -> pd.DataFrame:
    """Return the least biased models in each study, and whether they are clear, by criterion and metric."""
    first, second = (_answers_of(side) for side in (a, b))
    rows = []
    for place in sorted(first.keys() & second.keys()):
        both = first[place], second[place]
        models = [[state.model for state in answer.models[:1]] for answer in both]
        decided = [answer.is_decided if answer.has_test else None for answer in both]
        # A study without comparisons only has an order by raw ranks.
        is_alike = first[place].has_test == second[place].has_test
        changed = is_alike and (models[0] != models[1] or decided[0] != decided[1])
        rows.append((*place, *models, *decided, changed))
    return _frame("criterion metric first_a first_b decided_a decided_b changed", rows)


def _answers_of(side: Side) -> dict[tuple[str, str], Answer]:
    """Return the comparisons of a study's models; empty for tables of an earlier version, which differ."""
    of_study = {name: side.tables[name] for name in ANSWERED if name in side.tables}
    is_complete = all({*ANSWERED[name]} <= {*table} for name, table in of_study.items())
    if not is_complete or "rankings" not in of_study or of_study["rankings"].empty:
        return {}
    found = answers(of_study["rankings"], of_study.get("pairs"), side.metrics, side.level)
    return {(answer.criterion, answer.metric): answer for answer in found}


def _lacking(a: Side, b: Side) -> Iterator[tuple[str, str, str]]:
    """Yield table, study, and the missing item: the "table", which the other study has, or the column "evidence"."""
    for name, (_, compared) in COLUMNS.items():
        for letter, side, other in (("a", a, b), ("b", b, a)):
            table = side.tables.get(name)
            if table is None and name in other.tables:
                yield name, letter, "table"
            elif table is not None and "evidence" in compared and "evidence" not in table:
                yield name, letter, "evidence"


def _names(a: pd.DataFrame, b: pd.DataFrame) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield names of scores that only one study has: kind, names in the first, names in the second."""
    kinds = ("criteria", "queries", "metrics", "models", "debias methods")
    for column, kind in zip(KEYS, kinds, strict=True):
        first, second = a[column].unique(), b[column].unique()
        if {*first} != {*second}:
            yield kind, _without(first, second), _without(second, first)


def _without(entries: Iterable[Any], others: Iterable[Any]) -> list[Any]:
    others = set(others)
    return [entry for entry in entries if entry not in others]


def differences(a: Any, b: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the keys of two nested mappings whose values differ, with both values.

    A missing value is `ABSENT`; for two lists of texts or numbers, only entries that the other lacks are given.
    """
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for name in dict.fromkeys([*a, *b]):
            inner = f"{key}.{name}" if key else str(name)
            yield from differences(a.get(name, ABSENT), b.get(name, ABSENT), inner)
    elif a != b or type(a) is not type(b):
        lists = isinstance(a, list) and isinstance(b, list)
        if lists and not any(isinstance(entry, (list, dict)) for entry in (*a, *b)):
            entries_in_one = _without(a, b), _without(b, a)
            yield (key, *entries_in_one) if any(entries_in_one) else (key, a, b)
        else:
            yield key, a, b


def _words(a: Mapping[str, Query], b: Mapping[str, Query]) -> list[tuple[str, str, list[str], list[str]]]:
    """Return sets of common queries whose words differ: query, set, words of `a` only, words of `b` only."""
    first, second = (
        {
            (query, part.name): list(part.words)
            for query in a
            if query in b
            for part in (*side[query].target_sets, *side[query].attribute_sets)
        }
        for side in (a, b)
    )
    words = {place: (first.get(place, []), second.get(place, [])) for place in first | second}
    return [(*place, _without(x, y), _without(y, x)) for place, (x, y) in words.items() if x != y]


def _vectors(
    a: Mapping[str, Mapping[str, str]], b: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[str, str]]:
    """Yield models of both studies, and their files with different checksums."""
    for model in (model for model in a if model in b):
        for name in sorted({*a[model], *b[model]}):
            if a[model].get(name) != b[model].get(name):
                yield model, name
