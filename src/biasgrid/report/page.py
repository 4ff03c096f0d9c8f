"""What the page of a study shows, made from the study's tables: plain values for the templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from ..caveats import DEGENERATE, why_undefined
from ..debias import UNTOUCHED
from ..labels import LENGTH_MARK
from ..numbers import coefficient, interval, p_value, plain, typeset, typographic
from ..statistics.aggregation import OVERALL
from ..tables import correlations
from ..tables.rankings import fewer_scores
from ..verdicts.comparability import metrics_by_length
from ..verdicts.direction import directions
from .cells import Question, anchor
from .marks import explained_by_frequency, mark_of
from .names import Names
from .sections.verdict import answers_of

if TYPE_CHECKING:
    import pandas as pd

Tables = Mapping[str, "pd.DataFrame"]
STATE = ["model", "debias"]
SHADES = 9  # on each side of no bias
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
    p_values, first = _p_values(tables, spec), _first(tables, spec)
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
                place = criterion, metric, *state
                cell = _ranking_cell(rows.get((metric, *state)), p_values.get(place), len(states))
                cells.append(cell and cell | {"is_first": place in first})
            body.append({"model": state[0], "debias": state[1], "label": names.state(*state), "cells": cells})
        sections.append(
            {
                "criterion": criterion,
                "metrics": metrics,
                "by_length": marks.get(criterion, []),
                # debiased models apart
                "groups": [
                    group
                    for is_debiased in (False, True)
                    if (group := [row for row in body if (row["debias"] != UNTOUCHED) == is_debiased])
                ],
            }
        )
    return sections


def _ranking_cell(row: Any, p: float | None, states: int) -> dict[str, Any] | None:
    if row is None:
        return None
    low, high, share = row.rank_low, row.rank_high, 100 / max(states, 1)
    return {
        "rank": typeset(row.rank, form=plain),
        "value": typeset(row.value),
        "low": typeset(low, form=plain),
        "high": typeset(high, form=plain),
        "p": typeset(p, form=p_value),
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


def _first(tables: Tables, spec: Mapping[str, Any]) -> set[tuple[str, ...]]:
    """Criterion, metric, model, debias of the model that these p-values compare the others with."""
    return {
        (answer.criterion, answer.metric, state.model, state.debias)
        for answer in answers_of(tables, spec)
        for state in answer.models[: answer.has_test]
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
            debias: "without debiasing" if debias == UNTOUCHED else names.label(debias)
            for _, debias in states
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


def heatmap_section(
    tables: Tables, spec: Mapping[str, Any], names: Names, questions: Iterable[Question]
) -> list[dict[str, Any]]:
    """Per metric, queries by models: value, distance from no bias and its side, what it is evidence for, and
    why a value is missing."""
    scores = tables["scores"]
    poles = {(question.criterion, question.query, question.metric): question.poles for question in questions}
    signed = directions(scores, spec["summary"]["sides"])
    opposed = set(
        signed.loc[signed["is_opposed"], ["criterion", "query", "metric"]].itertuples(index=False, name=None)
    )
    neutral = {(criterion, metric): value for criterion, metric, value in spec["neutrals"]}
    sections = []
    for metric in spec["metrics"]:
        part = scores[scores["metric"] == metric]
        if part.empty:
            continue
        zero = np.array([neutral[criterion, metric] for criterion in part["criterion"]])
        distances = (part["value"] - zero).to_numpy(float)
        full, is_signed = _full_shade(np.abs(distances)), spec["facts"][metric]["is_signed"]
        sides = np.sign(distances) if is_signed else 1
        shades = sides * np.ceil(np.minimum(np.abs(distances) / full, 1) * SHADES)
        states = states_of(part, spec)
        rows: dict[tuple[str, str], dict[tuple[str, str], dict[str, Any]]] = {}
        for row, shade in zip(part.itertuples(), shades.tolist(), strict=True):
            cell = {
                "value": typeset(row.value),
                "shade": None if isnan(shade) else int(shade),
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
                                "poles": poles[criterion, query, metric],
                                "is_opposed": (criterion, query, metric) in opposed,
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
                "shades": range(-SHADES if is_signed else 0, SHADES + 1),
                "full": full,
                "largest": float(np.nanmax(np.abs(distances), initial=0.0)),
                "explained": explained_by_frequency(part, spec["level"]),
                **spec["facts"][metric],
            }
        )
    return sections


def _full_shade(distances: np.ndarray) -> float:
    """The distance from no bias with the full shade: the largest that is no outlier by Tukey's rule (1.5 times the
    interquartile range above the third quartile), so that a few outliers leave all others not white."""
    distances = distances[~np.isnan(distances)]
    if not len(distances):
        return 1.0
    low, high = np.quantile(distances, [0.25, 0.75])
    return float(distances[distances <= high + 1.5 * (high - low)].max()) or float(distances.max()) or 1.0


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


def correlation_section(
    inputs: Mapping[str, Any], tables: Tables, spec: Mapping[str, Any], names: Names
) -> list[dict[str, Any]]:
    """Per criterion, metrics by metrics: Spearman's correlation of the ranks of the models without debiasing, its
    interval, and how many models both metrics rank."""
    if "rankings" not in tables or tables["rankings"].empty:
        return []
    rankings = tables["rankings"]
    table = correlations.make(inputs, spec["correlations"], debiased=False)
    has_rank = rankings["rank"].notna() & (rankings["debias"] == UNTOUCHED)
    marks = length_metrics(tables, spec)
    sections = []
    for criterion in _criteria_of(table, spec):
        part = table[table["criterion"] == criterion]
        metrics = [metric for metric in spec["metrics"] if metric in set(part["metric_a"])]
        labels = {key: names.label(key) + LENGTH_MARK * (key in marks.get(criterion, [])) for key in metrics}
        pairs = {(row.metric_a, row.metric_b): row for row in part.itertuples()}
        models = {
            metric: set(
                rankings.loc[
                    has_rank & (rankings[["criterion", "metric"]] == [criterion, metric]).all(axis=1), "model"
                ]
            )
            for metric in metrics
        }
        rows: list[dict[str, Any]] = [
            {
                "label": labels[a],
                "cells": [_correlation(pairs[a, b], len(models[a] & models[b])) for b in metrics[:i]],
            }
            for i, a in enumerate(metrics)
        ]
        counts = [cell["n"] for row in rows for cell in row["cells"]]
        sections.append(
            {
                "criterion": criterion,
                "columns": [labels[metric] for metric in metrics[:-1]],
                "rows": rows[1:],
                "n": sorted({min(counts, default=0), max(counts, default=0)}),
            }
        )
    return [part for part in sections if part["rows"]]


def _correlation(pair: Any, n: int) -> dict[str, Any]:
    is_shown = n >= FEW and not isnan(pair.correlation)
    width = 2.0 if isnan(pair.ci_low) else pair.ci_high - pair.ci_low
    return {
        "n": n,
        "value": typeset(pair.correlation, form=coefficient) if is_shown else "",
        "interval": typographic(interval(pair.ci_low, pair.ci_high, form=coefficient))
        if is_shown and not isnan(pair.ci_low)
        else "",
        # -4 to 4; pale where the interval is wide
        "shade": round(pair.correlation * 4 * max(0.25, 1 - width / 2)) if is_shown else 0,
    }
