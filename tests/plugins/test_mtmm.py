"""The multitrait-multimethod matrix: blocks, criteria of Campbell and Fiske by hand, which traits a study has."""

import numpy as np
import pytest
from biasgrid_plugin_psychometrics.correlation import correlation_matrix
from biasgrid_plugin_psychometrics.tables.mtmm import traits_of
from conftest import ROOT

import biasgrid as bg
from biasgrid.core.in_memory import InMemory
from biasgrid.study.study import Study
from biasgrid.tables import REGISTRY

RNG = np.random.default_rng(2)
WORDS = [f"w{i}" for i in range(40)]
# so alike that some numbers of one trait go with the other as much
TRAITS = np.linalg.cholesky([[1, 0.8], [0.8, 1]]) @ RNG.normal(size=(2, 40))
# trait, then method; same scores as rnd does
SCORES = {
    (t, metric, model): TRAITS[t] + 1.5 * RNG.normal(size=40)
    for t in (0, 1)
    for metric in ("ect", "rnd")
    for model in ("m", "n")
}
SCORES |= {(t, "same", "m"): 3 * SCORES[t, "rnd", "m"] for t in (0, 1)}


def cell(trait, metric, model, scores):
    of_metric = {"ect": "split-half", "rnd": "alpha", "same": "alpha"}
    place = {"criterion": "G", "query": f"q{trait}", "metric": metric, "model": model, "debias": "none"}
    result = {
        "query": f"Q{trait}",
        "detail": {"number": {"Jobs": dict(zip(WORDS, scores.tolist(), strict=True))}},
        "found": {"Jobs": {word.upper(): [word] for word in WORDS}},
        "reliability": [{"set": "Jobs", "value": 0.8, "coefficient": of_metric[metric]}],
    }
    return InMemory((model, metric, f"q{trait}"), {**place, "results": [result]})


@pytest.fixture(scope="module")
def table():
    files = [cell(*key, scores) for key, scores in SCORES.items()]
    entry = {"detail": "number", "taken": "", "sign": 1, "neutral": 0.0}
    spec = {
        "traits": [["Jobs", f"trait {t}", [["G", f"Q{t}"]]] for t in (0, 1)],
        "words": [["G", metric, entry] for metric in ("ect", "rnd", "same")],
    }
    return REGISTRY["mtmm"].make({"cells": files, "inferences": files}, spec)


def test_each_two_numbers_are_a_row_of_their_block(table):
    # four methods and two traits: 8 reliabilities, 2 x 6 validities, 4 of one method, 12 of neither
    counts = {"reliability": 8, "same trait": 12, "same method": 4, "neither": 12}
    assert table["block"].value_counts().to_dict() == counts
    assert set(table["metric"]) == {"ect", "rnd"}  # the numbers of same are those of rnd
    assert (table["words"] == 40).all()
    diagonal = table[table["block"] == "reliability"].groupby("metric")["correlation"]
    assert diagonal.agg(["min", "max", "count"]).loc["rnd"].tolist() == [0.8, 0.8, 4]
    assert diagonal.count()["ect"] == 0  # no split-half
    for row in table[table["block"] != "reliability"].itertuples():
        first = SCORES[int(row.trait[-1]), row.metric, row.model]
        second = SCORES[int(row.other_trait[-1]), row.other_metric, row.other_model]
        assert row.correlation == pytest.approx(np.corrcoef(first, second)[0, 1])
        assert row.ci_low < row.correlation < row.ci_high


def test_a_validity_is_compared_with_other_traits_of_its_methods(table):
    def size(*keys):
        return abs(np.corrcoef(*(SCORES[key] for key in keys))[0, 1])

    validities = table[table["block"] == "same trait"]
    assert all(validities[column].nunique() > 1 for column in ("above_other_methods", "above_same_method"))
    for row in validities.itertuples():
        t, a, b = int(row.trait[-1]), (row.metric, row.model), (row.other_metric, row.other_model)
        across = [size((t, *a), (1 - t, *b)), size((1 - t, *a), (t, *b))]
        within = [size((t, *a), (1 - t, *a)), size((t, *b), (1 - t, *b))]
        assert row.above_other_methods == np.mean([row.correlation > x for x in across])
        assert row.above_same_method == np.mean([row.correlation > x for x in within])


def test_traits_of_a_set_share_no_word():
    study = Study.read(ROOT / "config" / "embedded.yaml", ROOT)
    traits = {}
    for name, trait, _ in traits_of(study):
        traits.setdefault(name, []).append(trait)
    # not White and Asian last names besides: White last names are in both
    assert traits["Positive words"] == [
        "Male terms – Female terms",
        "White last names – Black last names",
        "Christianity terms – Islam terms",
    ]
    assert "Career" not in traits  # one pair of groups alone


def test_the_figure_of_a_set_is_asked_for_by_its_name():
    sets = {
        name: [f"{name}{i}" for i in range(10)] for name in ("jobs", "arts", "men", "women", "old", "young")
    }
    model = bg.load({word: RNG.normal(size=9) for words in sets.values() for word in words}, name="made")
    queries = [
        bg.Query([sets["jobs"], sets["arts"]], [sets[a], sets[b]], ["Jobs", "Arts"], [a, b])
        for a, b in (("men", "women"), ("old", "young"))
    ]
    grid = bg.measure_grid(
        ["weat", "rnd"], queries, [model], bootstrap={"draws": 20}, reliability=True, progress=False
    )
    with pytest.warns(UserWarning, match="the figure of words='Jobs'; others: words='Arts'"):
        grid.plot("mtmm")
    figure = grid.plot("mtmm", words="Arts")
    assert "Arts" in " ".join(text.get_text() for text in figure.texts)
    with pytest.raises(bg.BiasgridError, match="has words='Men'; there are words='Jobs', words='Arts'"):
        grid.plot("mtmm", words="Men")


def test_an_interval_is_as_wide_as_the_influence_of_words_varies():
    rows = np.random.default_rng(19).standard_t(3, size=(2, 25))
    r, low, high = (ends[0, 1] for ends in correlation_matrix(rows))
    a, b = ((row - row.mean()) / row.std() for row in rows)
    error = (a * b - r / 2 * (a**2 + b**2)).std() / (1 - r**2)
    reach = 1.959964 * max(error, 1) / np.sqrt(22)
    assert error > 1
    assert (low, high) == pytest.approx(tuple(np.tanh(np.arctanh(r) + side * reach) for side in (-1, 1)))


@pytest.mark.parametrize(("draw", "least"), [("normal", 0.93), ("standard_t", 0.89)])
def test_intervals_of_correlations_hold_what_they_should(draw, least):
    rng = np.random.default_rng(3)
    options = (5,) if draw == "standard_t" else ()
    root = np.linalg.cholesky([[1, 0.5], [0.5, 1]])
    numbers = [root @ getattr(rng, draw)(*options, size=(2, 30)) for _ in range(400)]
    ends = [correlation_matrix(rows)[1:] for rows in numbers]
    assert np.mean([low[0, 1] <= 0.5 <= high[0, 1] for low, high in ends]) > least
