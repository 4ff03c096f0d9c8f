"""Which metrics do not compare, as their values grow with the length of vectors."""

import numpy as np
import pandas as pd
import pytest
from tables_of_models import tables

import biasgrid as bg
from biasgrid.figures import REGISTRY
from biasgrid.in_memory import InMemory
from biasgrid.tables.scales import scaled_metrics
from biasgrid.verdicts.comparability import are_alike, incomparable, metrics_by_length

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


@pytest.mark.parametrize(
    ("lengths", "alike"),
    [
        ([1.0, 1.0], True),
        ([5.0, 5.49], True),
        ([5.0, 5.51], False),
        ([3.0], True),
        ([], True),
        ([2, np.nan], True),
    ],
)
def test_lengths_are_alike_up_to_a_tenth(lengths, alike):
    assert are_alike(lengths) is alike


def test_a_metric_compares_where_lengths_are_alike():
    table = scalars(
        [
            *rows({("a", "none"): 1.0, ("b", "none"): 7.0}),
            *rows({("a", "none"): 2.0, ("b", "none"): 2.1}, "ripa"),
            # a mean over queries counts
            *rows({("a", "none"): 2.0, ("b", "none"): 1.0}, "rnd", "Second", "q1"),
            *rows({("a", "none"): 1.0, ("b", "none"): 2.0}, "rnd", "Second", "q2"),
        ]
    )
    # Overall: means of 1, 2, 1 and of 7, 1, 2
    assert metrics_by_length(table, SCALED) == {
        "First": ["rnd"],
        "Overall": ["rnd"],
    }
    # where Second alone is ranked, Overall is of it
    assert metrics_by_length(table, {"Second": ["rnd"]}) == {}


def test_a_debiased_model_is_compared_with_itself():
    table = scalars(rows({("a", "none"): 3.0, ("a", "hard"): 1.0, ("b", "none"): 3.0, ("b", "soft"): 3.0}))
    entry, overall = incomparable(table, {"First": ["rnd"]})
    assert overall.states == entry.states
    assert (entry.models, entry.states) == (False, (("a", "hard"),))
    assert entry.lengths["a", "hard"] == 1.0


def test_results_without_lengths_count_as_of_different_ones():
    assert metrics_by_length(None, {"First": ["rnd"]}) == {"First": ["rnd"], "Overall": ["rnd"]}
    assert metrics_by_length(scalars([]), {"First": ["rnd"]}) == {
        "First": ["rnd"],
        "Overall": ["rnd"],
    }
    assert metrics_by_length(None, {"First": []}) == {}


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


@pytest.mark.parametrize(("options", "marked"), [({}, ["rnd", "ripa"]), ({"normalize": True}, [])])
def test_a_grid_knows_its_lengths(options, marked):
    grid = bg.measure_grid(
        ["rnd", "ripa", "mac"],
        [QUERY],
        {"short": vectors(1.0), "long": vectors(9.0)},
        progress=False,
        **options,
    )
    (criterion,) = grid.criteria
    found = metrics_by_length(grid.frame("scalars"), scaled_metrics(grid.study))
    assert found == ({criterion: marked, "Overall": marked} if marked else {})


def texts(figure):
    return " ".join(
        text.get_text().replace("\n", " ") for text in figure.findobj(lambda a: hasattr(a, "get_text"))
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rankings", "rankings-by-criterion"])
def test_the_figure_of_summed_ranks_says_what_does_not_compare_and_that_the_order_is_undecided(kind):
    models = {name: vectors(length) for name, length in {"short": 1.0, "long": 9.0}.items()}
    grid = bg.measure_grid(["rnd", "mac"], [QUERY], models, progress=False)
    text = texts(grid.plot(kind))
    assert "RND grows with vector length and does not compare" in text
    assert "was not tested (no bootstrap)" in text
    # the same directions: by MAC both are as biased
    grid = bg.measure_grid(["rnd", "mac"], [QUERY], models, progress=False, bootstrap={"draws": 20})
    assert "The order of the models is undecided" in texts(grid.plot(kind))
    grid = bg.measure_grid(["rnd", "mac"], [QUERY], models, progress=False, normalize=True)
    assert "does not compare" not in texts(grid.plot(kind))


@pytest.mark.parametrize(("lengths", "is_decided"), [((1.0, 9.0), False), ((1.0, 1.0), True)])
def test_an_order_that_only_a_metric_of_other_lengths_decides_is_undecided(lengths, is_decided):
    rankings, pairs = tables(
        {"rnd": {"a": 0.1, "b": 0.5}, "mac": {"a": 0.2, "b": 0.2}}, {"rnd": {("a", "b"): 0.001}}
    )
    of_models = {(model, "none"): length for model, length in zip("ab", lengths, strict=True)}
    frames = {
        "rankings": rankings.assign(rank=rankings["rank_shared"]),
        "pairs": pairs,
        "scalars": scalars(rows(of_models, criterion="Gender")),
    }
    files = {name: InMemory((name,), frame) for name, frame in frames.items()}
    verdicts = {"scaled": {"Gender": ["rnd"]}, "level": 0.95, "draws": 500}
    figure = REGISTRY["rankings-by-criterion"].draw(files, {"labels": {}} | verdicts)
    assert ("The order of the models is undecided" in texts(figure)) != is_decided


@pytest.mark.slow
def test_the_figure_of_correlations_marks_what_does_not_compare():
    models = {f"m{i}": vectors(i + 1.0) for i in range(4)}
    text = texts(bg.measure_grid(["rnd", "mac"], [QUERY], models, progress=False).plot("correlations"))
    assert "RND‡" in text
    assert "MAC‡" not in text
    assert "‡ grows with vector length" in text
