"""Variants of a model whose vectors have other lengths, by which some metrics do not compare them."""

import numpy as np
import pandas as pd
import pytest

import biasgrid as bg
from biasgrid.debias.transform import Transform
from biasgrid.tables.vector_lengths import have_other_lengths, mean_lengths, variants_of_other_lengths

QUERY = bg.Query([["a0", "a1"], ["b0", "b1"]], [["c0", "c1"]], ["A", "B"], ["C"])
WORDS = [word for s in (*QUERY.target_sets, *QUERY.attribute_sets) for word in s.words]
SCALED = {"First": ["rnd", "ripa"], "Second": ["rnd"], "Third": []}


def scalars(rows):
    """scalars.csv of lengths: (criterion, query, metric, model, debias, length)."""
    columns = ["criterion", "query", "metric", "model", "debias", "value"]
    return pd.DataFrame(rows, columns=columns).assign(quantity="mean_length")


def rows(lengths, metric="rnd", criterion="First", query="q"):
    return [(criterion, query, metric, *state, length) for state, length in lengths.items()]


def vectors(length):
    """A model whose vectors have all this length."""
    table = np.random.default_rng(0).normal(size=(len(WORDS), 5))
    table *= length / np.linalg.norm(table, axis=1, keepdims=True)
    return bg.load(dict(zip(WORDS, table, strict=True)))


def shortened(factor):
    """Makes all vectors shorter, and changes no direction."""

    def fit(model):
        fitted = bg.debias.hard(model, definitional_pairs=[["a0", "b0"], ["a1", "b1"]]).fitted_on
        return Transform("hard", fitted, matrix=factor * np.eye(5))

    return fit


@pytest.mark.parametrize(
    ("second", "differ"), [(5.0, False), (5.49, False), (5.51, True), (4.54, True), (None, False)]
)
def test_lengths_are_alike_up_to_a_tenth(second, differ):
    lengths = {("a", "none"): 5.0} | ({} if second is None else {("a", "hard"): second})
    place = "First", "rnd"
    assert have_other_lengths({place: lengths}, place, ("a", "none"), ("a", "hard")) is differ


def test_lengths_are_means_over_the_queries_of_a_criterion_and_of_all():
    table = scalars(
        [
            *rows({("a", "none"): 3.0, ("a", "hard"): 1.0, ("b", "none"): 3.0, ("b", "soft"): 3.0}),
            *rows({("a", "none"): 1.0, ("a", "hard"): 1.5}, "rnd", "Second", "q1"),
            *rows({("a", "none"): 2.0, ("a", "hard"): 3.5}, "rnd", "Second", "q2"),
            # a metric that does not grow with length, and a criterion that is not ranked
            *rows({("a", "none"): 1.0, ("a", "hard"): 9.0}, "ripa", "Second"),
            *rows({("a", "none"): 1.0, ("a", "hard"): 9.0}, "rnd", "Fourth"),
        ]
    )
    lengths = mean_lengths(table, SCALED)
    assert lengths["Second", "rnd"] == {("a", "none"): 1.5, ("a", "hard"): 2.5}
    # overall: of 3, 1, 2 and of 1, 1.5, 3.5
    assert lengths["Overall", "rnd"]["a", "none"] == lengths["Overall", "rnd"]["a", "hard"] == 2.0
    assert {criterion for criterion, _ in lengths} == {"First", "Second", "Overall"}
    assert variants_of_other_lengths(lengths) == {
        ("First", "rnd", "a", "hard"),
        ("Second", "rnd", "a", "hard"),
    }


@pytest.mark.parametrize(
    ("factor", "options", "reason"),
    [
        (0.5, {}, "vector lengths differ"),
        (0.95, {}, ""),
        (0.5, {"normalize": True}, ""),
    ],
)
def test_a_variant_with_shorter_vectors_is_not_compared_by_metrics_that_grow_with_them(
    factor, options, reason
):
    grid = bg.measure_grid(
        ["rnd", "mac"],
        [QUERY],
        {"long": vectors(9.0)},
        debias={"short": shortened(factor)},
        bootstrap={"draws": 20},
        progress=False,
        **options,
    )
    pairs = grid.frame("pairs").query("criterion != 'Overall' and family == 'states'").set_index("metric")
    assert (pairs.loc["rnd", "reason"], pairs.loc["mac", "reason"]) == (reason, "")
    # without random groups, variants are compared by their raw distances, and are never alike
    assert set(pairs["scale"]) == {"raw"}
    assert pairs.loc["mac", "difference"] == pytest.approx(0, abs=1e-7)
    assert pairs.loc["mac", "answer"] == "cannot tell"
    assert np.isnan(pairs["needed"].astype(float)).all()


@pytest.mark.filterwarnings("ignore:.*a word in two sets", "ignore::biasgrid.NoValueWarning")
@pytest.mark.parametrize("metric", ["rnd", "rnsb", "ripa"])
def test_a_score_has_the_mean_length_of_its_vectors(metric):
    query = (
        QUERY
        if metric != "rnsb"
        else bg.Query(
            [s.words for s in QUERY.target_sets], [["c0", "c1"], ["b0", "a1"]], ["A", "B"], ["C", "D"]
        )
    )
    measure = getattr(bg.metrics, metric)
    assert measure(query, vectors(7.0)).scalars["mean_length"] == pytest.approx(7.0, rel=1e-6)
    assert measure(query, vectors(7.0), normalize=True).scalars["mean_length"] == pytest.approx(1.0, rel=1e-6)


def test_metrics_of_directions_have_none():
    assert "mean_length" not in bg.metrics.mac(QUERY, vectors(7.0)).scalars
    assert "mean_length" not in bg.metrics.rnd(QUERY, vectors(7.0), distance="cos").scalars
