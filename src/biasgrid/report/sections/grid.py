"""One grid under the verdict: models by metrics, with the answers of comparisons, ranks of raw values, and marks of
evidence, of one criterion at a time; and the intervals of the ranks over all criteria."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from ...debias import UNTOUCHED
from ...numbers import plain, typeset
from ...statistics.aggregation import OVERALL
from ...statistics.ranks import most_resampled
from ...statistics.scale import NO_BASELINE
from ...tables.shared import places_of
from ...verdicts.agreement import agreement
from ...verdicts.decisive_queries import decisive_queries
from ...verdicts.direction import directions
from ...verdicts.evidence import MEANINGS, UNTESTED
from ...verdicts.least_biased import Answer, RankedState
from ...verdicts.reliability import of_scores, turned
from .. import sentences
from ..marks import legend, mark_of
from ..names import Names
from ..score_records import anchor
from .section import Material, Section, State

if TYPE_CHECKING:
    import pandas as pd

    from ...statistics.aggregation import Aggregation
    from ...tables.shared import Parts

DEBIASED = {"less": "less", "more": "more", "": "undecided"}
PLACE = ["criterion", "metric", "model", "debias"]


def make(material: Material) -> dict[str, Any]:
    tables, spec, names = material.tables, material.spec, material.names
    if "rankings" not in tables or tables["rankings"].empty:
        return {"panels": []}
    criteria = material.criteria_of(tables["rankings"])
    by_criterion = {name: [a for a in material.answers if a.criterion == name] for name in criteria}
    evidence = _evidence(tables.get("aggregates"), spec["ranking"]["aggregation"])
    decisive = _decisive(tables["scores"], **spec["ranking"])
    signed = directions(tables["scores"], spec["summary"]["sides"])
    panels = [
        {
            "name": name,
            "single": sentences.of_single(of_criterion, names),
            "queries": max((answer.queries for answer in of_criterion), default=0),
            "queries_of": max((answer.queries_of for answer in of_criterion), default=0),
            "drivers": _drivers(
                {a.metric: decisive[name, a.metric] for a in of_criterion if (name, a.metric) in decisive},
                tables["scores"],
                names,
            ),
            "directions": sentences.of_directions(
                signed if name == criteria[0] else signed[signed["criterion"] == name],
                [answer.metric for answer in of_criterion],
                names,
            ),
            "turned": _turned(tables.get("reliability"), name, spec["summary"]["criteria"]),
            **_tiles(of_criterion, evidence, material),
        }
        for name, of_criterion in by_criterion.items()
    ]
    return {
        "panels": panels,
        "at": at,
        "forests": _forests(tables.get("rank_intervals"), panels[0], material),
        "level": plain(100 * spec["level"]),
        "marks": [mark for mark in legend() if mark[0] != "no mark"],
        "covers": [
            *_coverage(by_criterion, spec),
            *filter(None, [sentences.of_frequency(tables["scores"], 1 - spec["level"])]),
        ],
    }


def _evidence(aggregates: pd.DataFrame | None, aggregation: str) -> dict[tuple[str, ...], dict[str, str]]:
    """Return the mark of each aggregate that models are ranked by, and what it means: also of how many scores, where
    its test is not of all."""
    if aggregates is None:
        return {}
    ranked = aggregates[aggregates["aggregation"] == aggregation]
    marks = {}
    for row in ranked.itertuples():
        scores, meaning = row.cells - row.cells_nan, MEANINGS[row.evidence]
        if row.scores_in_test < scores:
            without = f"{scores - row.scores_in_test:g} of its {scores} scores have {NO_BASELINE}"
            meaning += f"; {without}" + (", the test is of the others" if row.evidence != UNTESTED else "")
        place = tuple(getattr(row, name) for name in PLACE)
        marks[place] = {"mark": mark_of(row.evidence), "meaning": meaning}
    return marks


def _tiles(
    of_criterion: Sequence[Answer],
    evidence: Mapping[tuple[str, ...], Mapping[str, str]],
    material: Material,
) -> dict[str, Any]:
    """A criterion's metrics and models, and of each metric and model the tile."""
    tiles: dict[tuple[str, State], dict[str, Any]] = {}
    models: dict[str, list[RankedState]] = {}
    for answer in of_criterion:
        for state in (*answer.models, *answer.not_ranked):
            models.setdefault(state.model, []).append(state)
            tiles[answer.metric, (state.model, UNTOUCHED)] = {
                "rank": typeset(state.rank, form=plain),
                "different": state.different,
                "kind": "decided" * (state.model == answer.least_biased),
                "text": "no value" if isnan(state.rank) and not state.queries else "not ranked",
            }
        for debiased in answer.debiased:
            tiles[answer.metric, (debiased.model, debiased.debias)] = {
                "text": debiased.reason or DEBIASED[debiased.direction],
                "kind": debiased.direction,
            }
    for (metric, key), tile in tiles.items():
        untested = {"mark": mark_of(UNTESTED), "meaning": MEANINGS[UNTESTED]}
        tile |= evidence.get((of_criterion[0].criterion, metric, *key), untested)
    order = [
        (model, debias)
        for model in material.spec["models"]
        for debias in (UNTOUCHED, *material.spec["debias"])
    ]
    states = [state for state in order if any((answer.metric, state) in tiles for answer in of_criterion)]
    names = material.names
    compared = [answer for answer in of_criterion if answer.comparable]
    note = sentences.of_agreement(agreement(compared), names, len(compared)) if len(models) > 1 else ""
    return {
        "columns": [(answer, *_verdict(answer, names)) for answer in of_criterion],
        "states": [state for state in states if state[1] == UNTOUCHED],
        "debiased": [state for state in states if state[1] != UNTOUCHED],
        "lost": {model: sentences.of_lost_queries(of_model) for model, of_model in models.items()},
        "tiles": tiles,
        "agreement": note,
    }


def _verdict(answer: Answer, names: Names) -> tuple[str, str, str]:
    """The kind of a verdict, which its colour is of, the verdict, and notes on it."""
    notes = [
        sentences.of_incomparable(answer, names) * answer.is_decided,
    ]
    return *_kind(answer), "; ".join(filter(None, notes))


def _kind(answer: Answer) -> tuple[str, str]:
    if not answer.models_with_value:
        return "unknown", "no value"
    if not answer.models:
        return "unknown", sentences.REASONS[answer.reason]
    if not answer.has_test:
        return "unknown", "not tested"
    if answer.not_compared:
        return "unknown", f"not compared: {answer.not_compared}"
    return ("yes", "decided") if answer.is_decided else ("no", "not decided")


def _decisive(
    scores: pd.DataFrame,
    ranked: Sequence[str],
    neutral: Mapping[str, float],
    aggregation: Aggregation,
    by: str,
    ties: str,
    coverage: float,
    parts: Parts,
) -> dict[tuple[str, str], tuple[tuple[str, str], ...]]:
    """The queries that decide which model comes first; parameters as of `tables.rankings.rankings`."""
    untouched = scores[(scores["debias"] == UNTOUCHED) & scores["criterion"].isin(ranked)].reset_index(
        drop=True
    )
    places = places_of(untouched, ranked, coverage, parts)
    return decisive_queries(places, untouched["value"].to_numpy(), neutral, aggregation, by)


def _drivers(
    decisive: Mapping[str, Iterable[tuple[str, str]]], scores: pd.DataFrame, names: Names
) -> list[dict[str, Any]] | None:
    """The queries without which another model comes first: by which metric, and which model; None where no metric
    can tell."""
    if not decisive:
        return None
    rows = scores.drop_duplicates("query").set_index("query")
    drivers: dict[str, dict[str, Any]] = {}
    for metric, queries in decisive.items():
        for query, model in queries:
            row = rows.loc[query]
            driver = drivers.setdefault(
                query,
                {"id": row["query_id"], "anchor": anchor(row["criterion"], query, metric), "first": []},
            )
            driver["first"].append(f"{names.state(model)} by {names.label(metric)}")
    return [{"query": query, **driver} for query, driver in drivers.items()]


def _coverage(by_criterion: Mapping[str, Sequence[Answer]], spec: Mapping[str, Any]) -> list[str]:
    first, of_first = next(iter(by_criterion.items()))
    models = {model for answer in of_first for model in answer.models_with_value}
    verdicts = sum(bool(answer.comparable) for answers in by_criterion.values() for answer in answers)
    return sentences.of_coverage(spec["queries"][first], len(models), spec["inference"], verdicts)


def _turned(card: pd.DataFrame | None, criterion: str, ranked: Iterable[str]) -> dict[str, str]:
    """Metric -> how many of its scores on a criterion another list of words may turn."""
    if card is None:
        return {}
    names = ranked if criterion == OVERALL else [criterion]
    rows = of_scores(card[card["criterion"].isin(names)])
    return {metric: turned(part) for metric, part in rows.groupby("metric")}


def _forests(
    intervals: pd.DataFrame | None, panel: Mapping[str, Any], material: Material
) -> dict[str, Any] | None:
    """Of each metric of a panel the ranks of the models with their intervals, as figures draw them."""
    if intervals is None or (part := intervals[intervals["criterion"] == panel["name"]]).empty:
        return None
    table, resampled = most_resampled(part)
    metrics = []
    for answer, *_ in panel["columns"]:
        rows = {row.model: row for row in table[table["metric"] == answer.metric].itertuples()}
        ranked = [rows[m] for m, _ in panel["states"] if m in rows and not isnan(rows[m].rank)]
        if len(ranked) > 1:
            metrics.append((answer.metric, ranked))
    if not metrics:
        return None
    longest = max(len(material.names.label(row.model)) for _, rows in metrics for row in rows)
    # what the longest name needs more than 142 units lies to the left of 0
    return {"resampled": resampled, "metrics": metrics, "left": min(142 - 6 * longest, 0)}


def at(rank: float, last: float) -> float:
    """Where a rank lies on the axis of a forest, which ends at the last rank."""
    return round(155 + 92 * (rank - 1) / max(last - 1, 1), 1)


READ = ("rankings", "pairs", "scores", "aggregates", "rank_intervals", "reliability")
SECTIONS = (Section("grid", "Models by metrics", READ, make, "grid.html", place=20),)
