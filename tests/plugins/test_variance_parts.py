"""The table of variance parts, of a grid of made models."""

import math

import numpy as np
import pytest
from biasgrid_plugin_psychometrics.generalisability import variance_parts

import biasgrid as bg

RNG = np.random.default_rng(2)
NAMES = [f"{name}{i}" for name in "mfxy" for i in range(8)]
GENDER = {name: (1, -1, 0, 0)["mfxy".index(name[0])] for name in NAMES}


def model(name, strength):
    """Words on an axis of gender, as strongly as the words of X lie on it."""
    vectors = {}
    for word in NAMES:
        vector = 0.6 * RNG.normal(size=12)
        vector[0] = 2 * GENDER[word] + (strength + 0.2 * RNG.normal() if word[0] == "x" else 0)
        vectors[word] = vector
    return bg.load(vectors, name=name)


MODELS = [model("weak", 0.0), model("strong", 2.0), model("other", -1.0)]
SETS = [[word for word in NAMES if word[0] == name] for name in "mfxy"]
PAIRS = bg.Query(SETS[:2], SETS[2:3], ["M", "F"], ["X"])
FOUR = bg.Query(SETS[2:], SETS[:2], ["X", "Y"], ["M", "F"])
METRICS = ["ripa", "weat"]
pytestmark = pytest.mark.filterwarnings("ignore:not measured")  # WEAT needs more sets than one query has


@pytest.fixture(scope="module")
def grid():
    options = {"bootstrap": {"draws": 200}, "reliability": True, "progress": False}
    return bg.measure_grid(METRICS, {"Gender": [PAIRS, FOUR]}, MODELS, **options)


@pytest.fixture(scope="module")
def parts(grid):
    return grid.frame("variance_parts").set_index(["metric", "part"])


def test_parts_of_variance_are_of_queries_that_all_models_have(grid, parts):
    scores = grid.scores[grid.scores["metric"] == "ripa"]
    values = scores.pivot(index="model", columns="query", values="value").to_numpy()
    expected = variance_parts(values)
    assert parts.loc[("ripa", "model"), "variance"] == pytest.approx(expected.rows)
    assert parts.loc[("ripa", "query"), "variance"] == pytest.approx(expected.columns)
    both, error = (parts.loc[("ripa", name), "variance"] for name in ("model x query", "error"))
    assert both + error == pytest.approx(expected.interaction)
    assert error > 0
    shares = parts.loc["ripa", "share"]
    assert shares.sum() == pytest.approx(1)
    negative = parts["variance"] < 0
    assert (parts.loc[negative, "share"] == 0).all()
    assert parts.loc[negative, "note"].str.startswith("negative: about 0").all()
    assert parts.loc["ripa"].index.tolist() == ["model", "query", "model x query", "error"]


@pytest.mark.slow
def test_few_models_are_described_and_many_have_an_interval(parts):
    row = parts.loc[("ripa", "model")]
    assert "fewer than 6 models" in row["note"]
    assert math.isnan(row["low"])
    assert (row["models"], row["queries"], row["queries_of"]) == (3, 3, 3)
    # WEAT has one query
    assert parts.loc[("weat", "model"), "note"] == "fewer than 2 queries that all models have"
    many = [model(f"m{i}", i / 3) for i in range(6)]
    options = {"bootstrap": {"draws": 40}, "reliability": True, "progress": False}
    found = bg.measure_grid(["ripa"], [PAIRS, FOUR], many, **options).frame("variance_parts")
    row = found.set_index("part").loc["model"]
    assert row["low"] < row["ratio"] < row["high"]
    assert row["note"] in ("", "negative: about 0")
