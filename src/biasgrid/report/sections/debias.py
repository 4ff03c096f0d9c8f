"""Before and after debiasing: per model and method, each metric, bias that is still recoverable, and quality."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...debias import UNTOUCHED
from ...statistics.aggregation import OVERALL
from ...statistics.two_models import STATES
from ...tables.vector_lengths import mean_lengths, variants_of_other_lengths
from .section import Material, Section

if TYPE_CHECKING:
    import pandas as pd


def make(material: Material) -> dict[str, Any]:
    tables, spec = material.tables, material.spec
    states = [state for state in material.states_of(tables["scores"]) if state[1] != UNTOUCHED]
    return {
        "states": [
            {
                "model": model,
                "debias": debias,
                "bias": _bias(material, model, debias),
                "measures": _measures(tables, model, debias),
                "quality": _quality(tables, model, debias),
            }
            for model, debias in states
        ],
        # where debiased vectors have another length than the model's
        "by_length": variants_of_other_lengths(mean_lengths(tables["scalars"], spec["scaled"]))
        if "scalars" in tables
        else set(),
    }


def _bias(material: Material, model: str, debias: str) -> list[tuple[str, str, float, float, float]]:
    """Criterion, metric, aggregate before and after, and the adjusted p-value of their difference."""
    rankings = material.tables.get("rankings")
    if rankings is None:
        return []
    of_model = rankings[rankings["model"] == model].set_index(["criterion", "metric"])
    before, after = (of_model.loc[of_model["debias"] == state, "value"] for state in (UNTOUCHED, debias))
    p_values = _p_values(material.tables.get("pairs"), model, debias)
    order = [*material.spec["criteria"], OVERALL]
    # with one criterion, "Overall" would repeat it
    order = order[:-1] if after.index.unique("criterion").size == 2 else order
    places = sorted((place for place in after.index if place[0] in order), key=lambda p: order.index(p[0]))
    return [(*place, before.get(place), after[place], p_values.get(place)) for place in places]


def _p_values(pairs: pd.DataFrame | None, model: str, debias: str) -> dict[tuple[str, str], float]:
    if pairs is None:
        return {}
    of_model = pairs[(pairs["family"] == STATES) & (pairs["model_a"] == model)]
    # a pair has its states in alphabetical order
    is_of_both = of_model[["debias_a", "debias_b"]].isin([debias, UNTOUCHED]).all(axis=1)
    return {(row.criterion, row.metric): row.p_adjusted for row in of_model[is_of_both].itertuples()}


def _measures(tables: Any, model: str, debias: str) -> pd.DataFrame | None:
    """Evaluations before and after: bias that is still recoverable, and quality."""
    if (table := tables.get("mitigation")) is None:
        return None
    return table[(table["model"] == model) & (table["debias"] == debias) & (table["group"] != "metric")]


def _quality(tables: Any, model: str, debias: str) -> list[tuple[str, float, float]]:
    """Benchmark, and its value before and after."""
    if (table := tables.get("quality")) is None:
        return []
    of_model = table[table["model"] == model]
    before, after = (
        of_model[of_model["debias"] == state].set_index("benchmark")["value"] for state in (UNTOUCHED, debias)
    )
    return [(name, before.get(name), after[name]) for name in table["benchmark"].unique() if name in after]


READ = ("scores", "rankings", "pairs", "scalars", "mitigation", "quality")
SECTIONS = (
    Section(
        "debias",
        "Before and after debiasing",
        READ,
        make,
        "debias.html",
        place=70,
        lead="bias, what can be recovered, and quality",
    ),
)
