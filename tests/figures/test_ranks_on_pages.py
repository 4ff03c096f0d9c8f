"""Figures of ranks fit on a page, also those of many metrics and models, and show every metric and criterion once."""

from __future__ import annotations

from itertools import combinations, product

import pandas as pd
import pytest
from conftest import ROOT

from biasgrid.figures import REGISTRY
from biasgrid.figures.correlations import correlations
from biasgrid.figures.frame import PAGE
from biasgrid.figures.rank_intervals import rank_intervals
from biasgrid.study.study import Study

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["embedded", "config"])
def study(request):
    return Study.read(ROOT / "config" / f"{request.param}.yaml", ROOT)


@pytest.fixture(scope="module")
def tables(study):
    """Tables of the study's size: ranks by place, intervals of one rank to either side."""
    cells = [cell for cell in study.grid.cells.values() if cell.criterion in study.ranked_criteria]
    units = sorted({(cell.model, cell.debias) for cell in cells})
    metrics = sorted({cell.metric for cell in cells})
    criteria = [*study.ranked_criteria, "Overall"]
    ranked = [
        (c, metric, *unit, float(i + 1), 0)
        for c, metric in product(criteria, metrics)
        for i, unit in enumerate(units)
    ]
    ranks = pd.DataFrame(ranked, columns=["criterion", "metric", "model", "debias", "rank", "cells_nan"])
    # debiased states have no rank beside the models
    models = [unit for unit in units if unit[1] == "none"]
    pairs = [
        (c, metric, "both", *a, *b, 0.5)
        for c, metric in product(criteria, metrics)
        for a, b in combinations(models, 2)
    ]
    shared = ranks.assign(
        value_shared=ranks["rank"],
        rank_shared=ranks["rank"].where(ranks["debias"] == "none"),
        reason=ranks["debias"].map(lambda debias: "" if debias == "none" else "debiased"),
    ).assign(value=1.0, queries=7, queries_of=7)
    of_pairs = ["criterion", "metric", "resampled", "model_a", "debias_a", "model_b", "debias_b"]
    coefficients = [
        (c, "spearman", a, b, 1.0, -0.55, 0.55) for c in criteria for a, b in product(metrics, repeat=2)
    ]
    of_metrics = ["criterion", "method", "metric_a", "metric_b", "correlation", "ci_low", "ci_high"]
    return {
        "rankings": shared,
        "rank_intervals": ranks[ranks["debias"] == "none"].assign(
            resampled="both", low=ranks["rank"] - 1, high=ranks["rank"] + 1
        ),
        "pairs": pd.DataFrame(pairs, columns=[*of_pairs, "p_adjusted"]).assign(
            family="models",
            difference=-1.0,
            low=-2.0,
            high=0.0,
            queries=7,
            queries_of=7,
            reason="",
            smallest_difference=1.0,
        ),
        "correlations": pd.DataFrame(coefficients, columns=of_metrics),
    }


@pytest.mark.parametrize("kind", ["correlations", "rank-intervals"])
def test_each_page_is_no_taller_than_a_page_and_together_they_show_all(study, tables, kind):
    draw = {
        "correlations": lambda **spec: correlations(
            tables["correlations"], rankings=tables["rankings"], **spec | {"method": "spearman"}
        ),
        "rank-intervals": lambda **spec: rank_intervals(
            *(tables[name] for name in ("rank_intervals", "rankings", "pairs")), **spec
        ),
    }[kind]
    shown: dict[str, list[str]] = {}
    drawings = list(REGISTRY[kind].drawings_of(study))
    for drawing in drawings:
        figure = draw(**drawing.spec)
        assert figure.get_figheight() <= PAGE[1] + 1e-9, drawing.name
        heads = [axes.get_title(loc="left").partition(", n =")[0] for axes in figure.axes]
        shown.setdefault(drawing.spec.get("criterion", ""), []).extend(filter(None, heads))
    criteria = {*study.ranked_criteria, "Overall" if kind == "rank-intervals" else "All topics"}
    metrics = {study.labels[key] for key in tables["rankings"]["metric"]}
    if kind == "rank-intervals":
        assert {c: sorted(found) for c, found in shown.items()} == dict.fromkeys(criteria, sorted(metrics))
    else:
        assert sorted(shown[""]) == sorted(criteria)
