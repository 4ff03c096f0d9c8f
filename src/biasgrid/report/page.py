"""What the page of a study shows, made from the study's tables: plain values for the templates."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from ..caveats import DEGENERATE, why_undefined
from ..debias import UNTOUCHED
from ..statistics.aggregation import OVERALL
from ..tables.rankings import fewer_scores
from ..verdicts.comparability import metrics_by_length
from .cells import anchor
from .marks import explained_by_frequency, mark_of
from .names import Names, number, p_value
from .sections.verdict import answers_of

if TYPE_CHECKING:
    import pandas as pd

Tables = Mapping[str, "pd.DataFrame"]
STATE = ["model", "debias"]
LENGTH_MARK = "‡"  # of a metric by which models do not compare
FEW = 4  # correlations over fewer models are not shown


def states_of(scores: pd.DataFrame, spec: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Models and their debiased states, in the order of the study."""
    states = set(scores[STATE].itertuples(index=False, name=None))
    order = [(model, debias) for model in spec["models"] for debias in (UNTOUCHED, *spec["debias"])]
    return [state for state in order if state in states]


def length_metrics(tables: Tables, spec: Mapping[str, Any]) -> dict[str, list[str]]:
    """Criterion -> the metrics by which the models do not compare, as they grow with the length of vectors."""
    return metrics_by_length(tables.get("scalars"), spec["scaled"])


def ranking_section(tables: Tables, spec: Mapping[str, Any], names: Names) -> list[dict[str, Any]]:
    """Per criterion, models by metrics: rank, its interval, value, and the p-value of the distance from the first."""
    if "rankings" not in tables or tables["rankings"].empty:
        return []
    rankings = tables["rankings"]
    rankings = rankings.assign(fewer=fewer_scores(rankings))
    marks = length_metrics(tables, spec)
    p_values = _p_values(tables, spec)
    sections = []
    for criterion in _criteria_of(rankings, spec):
        part = rankings[rankings["criterion"] == criterion]
        rows = {(row.metric, row.model, row.debias): row for row in part.itertuples()}
        metrics = [metric for metric in spec["metrics"] if metric in set(part["metric"])]
        states = states_of(part, spec)
        body = []
        for state in states:
            cells = []
            for metric in metrics:
                row = rows.get((metric, *state))
                cells.append(_ranking_cell(row, p_values.get((criterion, metric, *state)), len(states)))
            body.append({"model": state[0], "debias": state[1], "label": names.state(*state), "cells": cells})
        sections.append(
            {
                "criterion": criterion,
                "metrics": metrics,
                "by_length": marks.get(criterion, []),
                "states": len(states),
                "rows": body,
            }
        )
    return sections


def _ranking_cell(row: Any, p: float | None, states: int) -> dict[str, Any] | None:
    if row is None:
        return None
    low, high, share = row.rank_low, row.rank_high, 100 / max(states, 1)
    return {
        "rank": number(row.rank),
        "value": number(row.value),
        "low": number(low),
        "high": number(high),
        "p": p_value(p),
        "fewer": bool(row.fewer),
        # percentages of the width of a bar, on which each rank has an equal share
        "bar": None
        if isnan(low) or isnan(row.rank)
        else (
            round((low - 1) * share, 1),
            round((high - low + 1) * share, 1),
            round((row.rank - 0.5) * share, 1),
        ),
    }


def _p_values(tables: Tables, spec: Mapping[str, Any]) -> dict[tuple[str, ...], float]:
    """Criterion, metric, model, debias -> the adjusted p-value of its difference from the model that comes first."""
    return {
        (answer.criterion, answer.metric, state.model, state.debias): state.p_first
        for answer in answers_of(tables, spec)
        for state in answer.rivals
    }


def script_data(tables: Tables, spec: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """What the page's script filters by and downloads: keys with their labels, and rows of the ranking as the study's
    tables have them."""
    if "rankings" not in tables or tables["rankings"].empty:
        return {}
    rankings, p_values = tables["rankings"], _p_values(tables, spec)
    rows = []
    for row in rankings.itertuples():
        place = row.criterion, row.metric, row.model, row.debias
        numbers = [row.rank, row.rank_low, row.rank_high, row.value, p_values.get(place)]
        rows.append(
            [
                *place,
                *(None if value is None or isnan(value) else value for value in numbers),
                row.cells,
                row.cells_nan,
            ]
        )
    states = states_of(rankings, spec)
    metrics = set(rankings["metric"])
    return {
        "study": spec["study"],
        "criteria": _criteria_of(rankings, spec),
        "metrics": [{"key": key, "label": names.label(key)} for key in spec["metrics"] if key in metrics],
        "models": {model: names.short(model) for model, _ in states},
        "debias": {
            debias: "as it is" if debias == UNTOUCHED else names.label(debias) for _, debias in states
        },
        "columns": [
            *("criterion", "metric", *STATE, "rank", "rank_low", "rank_high", "value", "p_adjusted"),
            *("cells", "cells_nan"),
        ],
        "rankings": rows,
    }


def _criteria_of(table: pd.DataFrame, spec: Mapping[str, Any]) -> list[str]:
    """The criteria of a table, all of them together first; with one criterion that would repeat it."""
    criteria = set(table["criterion"])
    together = [OVERALL] * (len(criteria) > 2)
    return [name for name in (*together, *spec["criteria"]) if name in criteria]


def heatmap_section(tables: Tables, spec: Mapping[str, Any], names: Names) -> list[dict[str, Any]]:
    """Per metric, queries by models: value, how far it is from no bias, what it is evidence for, and why a value is
    missing."""
    scores = tables["scores"]
    neutral = {(criterion, metric): value for criterion, metric, value in spec["neutrals"]}
    sections = []
    for metric in spec["metrics"]:
        part = scores[scores["metric"] == metric]
        if part.empty:
            continue
        zero = np.array([neutral[criterion, metric] for criterion in part["criterion"]])
        # share of the metric's cells that are nearer to no bias; ranks, so that an outlier changes no other shade
        shade = (part["value"] - zero).abs().rank(pct=True)
        states = states_of(part, spec)
        rows: dict[tuple[str, str], dict[tuple[str, str], dict[str, Any]]] = {}
        for row, darkness in zip(part.itertuples(), shade, strict=True):
            cell = {
                "value": number(row.value),
                "shade": None if isnan(darkness) else int(np.ceil(darkness * 9)),
                "status": row.status,
                "missing": missing(row.status),
                "mark": mark_of(row.evidence),
                "anchor": anchor(row.criterion, row.query, row.metric, row.model, row.debias),
            }
            rows.setdefault((row.criterion, row.query), {})[row.model, row.debias] = cell
        criteria = [criterion for criterion in spec["criteria"] if any(key[0] == criterion for key in rows)]
        sections.append(
            {
                "metric": metric,
                "label": names.label(metric),
                "states": [names.state(*state) for state in states],
                "groups": [
                    {
                        "criterion": criterion,
                        "rows": [
                            {
                                "query": query,
                                "anchor": anchor(criterion, query, metric),
                                "cells": [cells.get(state) for state in states],
                            }
                            for (row_criterion, query), cells in rows.items()
                            if row_criterion == criterion
                        ],
                    }
                    for criterion in criteria
                ],
                "missing": int(part["value"].isna().sum()),
                "scores": len(part),
                "explained": explained_by_frequency(part, spec["level"]),
                **spec["facts"][metric],
            }
        )
    return sections


def _agree(low: float, high: float) -> str:
    """What an interval of a correlation says, in a word; empty without an interval."""
    if isnan(low):
        return ""
    return "agree" if low > 0 else "oppose" if high < 0 else "unclear"


def missing(status: str) -> str:
    """Why a value is missing, in a few words; empty where it is not."""
    if status == "ok":
        return ""
    kind, _, sets = status.partition(":")
    if kind == "lost_words":
        return f"too many words lost of {sets.replace(';', ' and ')}"
    if kind == DEGENERATE:
        return why_undefined(status)
    return status.replace("_", " ")


def correlation_section(tables: Tables, spec: Mapping[str, Any], names: Names) -> list[dict[str, Any]]:
    """Per criterion, metrics by metrics: Spearman's correlation of the ranks, its interval, and how many models."""
    if "correlations" not in tables or "spearman" not in set(tables["correlations"]["method"]):
        return []
    table, rankings = tables["correlations"], tables["rankings"]
    table = table[table["method"] == "spearman"]
    marks = length_metrics(tables, spec)
    sections = []
    for criterion in _criteria_of(table, spec):
        part = table[table["criterion"] == criterion]
        ranks = rankings[(rankings["criterion"] == criterion) & rankings["rank"].notna()]
        states = {
            metric: set(metric_ranks[STATE].itertuples(index=False, name=None))
            for metric, metric_ranks in ranks.groupby("metric")
        }
        metrics = [metric for metric in spec["metrics"] if metric in set(part["metric_a"])]
        labels = {key: names.label(key) + LENGTH_MARK * (key in marks.get(criterion, [])) for key in metrics}
        cells = {(row.metric_a, row.metric_b): row for row in part.itertuples()}
        counts = [
            len(states.get(a, set()) & states.get(b, set())) for a in metrics for b in metrics if a != b
        ]
        rows = []
        for i, a in enumerate(metrics):
            row = []
            for b in metrics[:i]:
                pair, n = cells[a, b], len(states.get(a, set()) & states.get(b, set()))
                wide = 2.0 if isnan(pair.ci_low) else pair.ci_high - pair.ci_low
                row.append(
                    {
                        "n": n,
                        "value": number(pair.correlation, 2) if n >= FEW else "",
                        "low": number(pair.ci_low, 2) if n >= FEW else "",
                        "high": number(pair.ci_high, 2) if n >= FEW else "",
                        "says": _agree(pair.ci_low, pair.ci_high) if n >= FEW else "",
                        # -4 to 4; pale where the interval is wide
                        "shade": 0
                        if n < FEW or isnan(pair.correlation)
                        else round(pair.correlation * 4 * max(0.25, 1 - wide / 2)),
                    }
                )
            rows.append({"label": labels[a], "cells": row})
        sections.append(
            {
                "criterion": criterion,
                "columns": [labels[metric] for metric in metrics[:-1]],
                "by_length": [metric for metric in metrics if metric in marks.get(criterion, [])],
                "rows": rows[1:],
                "few": max(counts, default=0) < FEW,
                "most": max(counts, default=0),
                "least": min(counts, default=0),
            }
        )
    return [part for part in sections if part["rows"]]
