"""Section on bias before and after debiasing: per model and method, each metric, recoverable bias, and quality."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from ...debias import UNTOUCHED
from ...measure.aggregation import OVERALL
from ...measure.statistics.two_models import LENGTHS
from ...tables.conclusions.least_biased import Answer, DebiasedState, before_and_after
from .. import sentences
from .ranking import EFFECTS, change
from .section import ReportData, Section

if TYPE_CHECKING:
    import pandas as pd

# End of the picture's axis, as a multiple of the value before.
WIDEST = 2.0


def make(material: ReportData) -> dict[str, Any]:
    tables = material.tables
    states = [state for state in material.states_of(tables["scores"]) if state[1] != UNTOUCHED]
    return {
        "states": [
            {
                "model": model,
                "debias": debias,
                "finding": sentences.of_debiasing(effects := _effects(material.answers, model, debias)),
                "bias": _bias(material, model, debias, effects),
                "measures": _measures(tables, model, debias),
                "quality": _quality(tables, model, debias),
            }
            for model, debias in states
        ],
        "change": change,
        "WIDEST": WIDEST,
    }


def _effects(answers: Sequence[Answer], model: str, debias: str) -> dict[tuple[str, str], DebiasedState]:
    """Return the comparisons of a debiased model with its original, by topic and metric."""
    return {
        (answer.criterion, answer.metric): state
        for answer in answers
        for state in answer.debiased
        if (state.model, state.debias) == (model, debias)
    }


def _bias(
    material: ReportData, model: str, debias: str, effects: dict[tuple[str, str], DebiasedState]
) -> dict[str, list[dict[str, Any]]]:
    """Return by topic, for each metric, the average bias before and after, and the significance of the difference."""
    rankings = material.tables.get("rankings")
    if rankings is None:
        return {}
    of_model = rankings[rankings["model"] == model]
    before, after = (
        {(row.criterion, row.metric): row for row in of_model[of_model["debias"] == state].itertuples()}
        for state in (UNTOUCHED, debias)
    )
    order = [*material.spec["criteria"], OVERALL]
    # Leave out "Overall" if there is only one criterion.
    order = order[:-1] if len({criterion for criterion, _ in after}) == 2 else order
    rows: dict[str, list[dict[str, Any]]] = {}
    for place in sorted((place for place in after if place[0] in order), key=lambda p: order.index(p[0])):
        values = (
            before_and_after(before[place], after[place]) if place in before else (nan, after[place].value)
        )
        rows.setdefault(place[0], []).append(_row(place[1], values, effects.get(place)))
    return rows


def _row(metric: str, values: tuple[float, float], effect: DebiasedState | None) -> dict[str, Any]:
    before, after = values
    ratio = after / before if before else nan
    is_comparable = effect is None or effect.reason != LENGTHS
    if not is_comparable:
        note = "not comparable: depends on vector length"
    else:
        note = (effect.reason or EFFECTS[effect.direction]) if effect else ""
    return {
        "metric": metric,
        "before": before,
        "after": after,
        "kind": effect.direction if effect and not effect.reason else "",
        "to": None if isnan(ratio) else round(100 * min(ratio, WIDEST)),
        "change": change(before, after),
        "p": effect.p_adjusted if effect else nan,
        "note": note,
    }


def _measures(tables: Any, model: str, debias: str) -> pd.DataFrame | None:
    """Return evaluations before and after: recoverable bias, and other measures."""
    if (table := tables.get("mitigation")) is None:
        return None
    return table[(table["model"] == model) & (table["debias"] == debias) & (table["group"] != "metric")]


def _quality(tables: Any, model: str, debias: str) -> list[tuple[str, float, float]]:
    """Return benchmarks, each with its value before and after."""
    if (table := tables.get("quality")) is None:
        return []
    of_model = table[table["model"] == model]
    before, after = (
        of_model[of_model["debias"] == state].set_index("benchmark")["value"] for state in (UNTOUCHED, debias)
    )
    return [(name, before.get(name), after[name]) for name in table["benchmark"].unique() if name in after]


READ = ("scores", "rankings", "pairs", "mitigation", "quality")
SECTIONS = (
    Section(
        "debias",
        "Before and after debiasing",
        READ,
        make,
        "debias.html",
        place=70,
        lead="bias, recoverable bias, and quality of the vectors",
        nav="Debiasing",
    ),
)
