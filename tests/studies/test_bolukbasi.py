"""Bolukbasi et al. 2016 on the authors' own vectors: against scikit-learn and NumPy, what is printed, the figure."""

import json

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, files_in, make_store
from refusals import refused
from scipy.stats import spearmanr
from shipped_study import shipped
from sklearn.decomposition import PCA

from biasgrid import figures
from biasgrid.debias.transform import Transform, fitted
from biasgrid.evaluation import Spec, evaluate
from biasgrid.models.building import store_of
from biasgrid.study import steps
from biasgrid.tables import published as comparison
from biasgrid.tables.comparison import published_as

pytestmark = pytest.mark.slow

SETS = json.loads((ROOT / "data" / "word_sets" / "debiaswe.json").read_text())["sets"]
PAIRS = SETS["definitional_pairs"]
MODEL = "bolukbasi-w2v-gnews-small"
STATES = [f"{MODEL}/{debias}/professions" for debias in ("none", "gender-hard")]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The shipped study, its store, its hard debias and its evaluations, in a folder of its own."""
    study = shipped("bolukbasi", tmp_path_factory.mktemp("bolukbasi") / "results", MODEL)
    for model, debias in study.grid.fits:
        steps.fit_step(study, model, debias).run()
    for evaluation in study.grid.evaluations.values():
        steps.evaluation_step(study, evaluation).run()
    return study


@pytest.fixture(scope="module")
def records(study):
    assert sorted(study.grid.evaluations) == sorted(STATES)
    return [
        json.loads(study.paths.evaluation_file(study.grid.evaluations[name]).read_text()) for name in STATES
    ]


@pytest.fixture(scope="module")
def vectors(study):
    """Word -> its vector at unit length."""
    model = store_of(study.embeddings, MODEL, study.models[MODEL]).open()
    words = [w for pair in PAIRS for w in pair] + [w for w, *_ in SETS["professions"]]
    found = model.array[model.rows(words)].astype(float)
    return dict(zip(words, found / np.linalg.norm(found, axis=1, keepdims=True), strict=True))


def value(record, measure):
    (found,) = [m for m in record["measures"] if m["measure"] == measure]
    return found["value"]


def test_the_components_shares_are_those_of_scikit_learn(records, vectors):
    centred = [vectors[w] - (vectors[a] + vectors[b]) / 2 for a, b in PAIRS for w in (a, b)]
    expected = PCA().fit(np.array(centred)).explained_variance_ratio_[:10]
    shares = records[0]["direct"]["shares"]
    assert shares == pytest.approx(expected, abs=1e-12)
    assert value(records[0], "first_component_share") == pytest.approx(expected[0], abs=1e-12)
    # the trap: scikit-learn centres differences once more, which takes the common part away
    differences = np.array([vectors[a] - vectors[b] for a, b in PAIRS])
    assert PCA().fit(differences).explained_variance_ratio_[0] < 0.3 < shares[0]


def test_random_pairs_have_no_first_component(records):
    random = records[0]["direct"]["random_shares"]
    rng = np.random.default_rng(99)
    draws = rng.normal(size=(400, 10, 300))
    draws /= np.linalg.norm(draws, axis=2, keepdims=True)
    expected = (np.linalg.svd(draws, compute_uv=False) ** 2 / 10).mean(axis=0)
    assert random == pytest.approx(expected, abs=1e-3)
    assert records[1]["direct"]["random_shares"] == random


def test_projections_and_extremes_are_numpys(study, records, vectors):
    she_he = vectors["she"] - vectors["he"]
    she_he /= np.linalg.norm(she_he)
    gendered = set(SETS["gender_specific"])
    neutral = {w: vectors[w] @ she_he for w, *_ in SETS["professions"] if w not in gendered}
    projections = records[0]["direct"]["projections"]
    for end, sign in (("she", 1), ("he", -1)):
        assert dict(projections[end]) == pytest.approx({w: sign * x for w, x in neutral.items()}, abs=1e-6)
        words = sorted(neutral, key=lambda w, sign=sign: -sign * neutral[w])
        assert [w for w, _ in projections[end]] == words
        printed = study.config.evaluation["Professions"]["direct"]["extremes"][end]
        among = len(set(printed) & set(words[:10])) / 10
        assert value(records[0], f"extreme_{end}") == among == 0.8
        own = [-sign * vectors[w] @ she_he for w in printed]
        assert value(records[0], f"extreme_{end}_order") == pytest.approx(
            spearmanr(range(10), own).statistic, abs=1e-9
        )


def test_what_is_printed_is_reproduced(study):
    empty = {
        "aggregates": pd.DataFrame(
            columns=["criterion", "metric", "model", "debias", "aggregation", "value"]
        ),
        "rankings": pd.DataFrame(columns=["criterion", "metric", "model", "debias", "rank"]),
        "correlations": pd.DataFrame(columns=["criterion", "method", "metric_a", "metric_b", "correlation"]),
    }
    files = map(study.paths.evaluation_file, study.grid.evaluations.values())
    published = comparison.read(study.config.published)
    table = comparison.compare(
        published,
        **empty,
        cells=files_in(study.results / "cells"),
        published_as=published_as(study),
        evaluations=files,
    )
    assert len(table) == len(published)
    verdicts = table.set_index(["model", "quantity"])["verdict"]
    assert set(verdicts) == {"reproduced"}
    assert set(verdicts.index) == {
        (MODEL, "direct/direct_bias"),
        (MODEL, "direct/direct_bias_all"),
        (MODEL, "direct/first_component_share"),
        (f"{MODEL} under gender-hard", "direct/direct_bias"),
    }


def test_the_reasons_that_the_notes_give(records):
    ranks = {
        end: {w: i for i, (w, _) in enumerate(words, 1)}
        for end, words in records[0]["direct"]["projections"].items()
    }
    assert len(ranks["she"]) == 303
    assert "socialite" in SETS["gender_specific"]
    assert [ranks["she"][w] for w in ("registered_nurse", "paralegal", "housekeeper")] == [2, 6, 11]
    assert [ranks["he"][w] for w in ("sportsman", "marksman")] == [4, 6]
    assert [ranks["he"][w] for w in ("broadcaster", "magician")] == [13, 14]


def test_the_variance_that_a_transform_leaves_on_the_direction(tmp_path):
    # differences of the pairs, unit vectors: (2, 0, 0) and (1, 0, 1): g is nearest to x
    words = ["she", "he", "her", "his", "a", "b"]
    model = make_store(
        tmp_path, words, np.array([(1, 0, 0), (-1, 0, 0), (1, 0, 0), (0, 0, -1), (1, 1, 0), (0, 1, 1.0)])
    )
    spec = {
        "direct": {
            "definitional_pairs": [["she", "he"], ["her", "his"]],
            "words": ["a", "b"],
            "exclude": ["b"],
        }
    }
    differences = np.array([(2.0, 0, 0), (1, 0, 1)])
    expected = np.linalg.eigvalsh(differences.T @ differences)[-1] / 6
    record = evaluate(model, None, spec, 0)
    assert value(record, "first_component_share") == pytest.approx(expected, abs=1e-6)
    assert "projections" not in record["direct"]
    # a's cosine with g is that of the whole bias; b is excluded from one mean and not from the other
    g = np.linalg.eigh(differences.T @ differences)[1][:, -1]
    cosines = np.abs([[1, 1, 0], [0, 1, 1]] @ g) / np.sqrt(2)
    assert value(record, "direct_bias") == pytest.approx(cosines[0], abs=1e-6)
    assert value(record, "direct_bias_all") == pytest.approx(cosines.mean(), abs=1e-6)
    # without g the pairs have no variance along it
    gone = Transform("test", fitted(model, {}, {}, {}), left=g[:, None], right=g[None])
    assert value(evaluate(model, gone, spec, 0), "first_component_share") < 1e-9


@pytest.mark.parametrize(
    ("extremes", "says"),
    [
        ({"she": ["a"]}, "extremes: expected a mapping of two words"),
        (["she", "he"], "direct: extremes: … is not a mapping"),
        ({"she": ["a"], "he": []}, "extremes: he: is empty"),
        ({"she": ["a"], "they": ["b"]}, "lacks 'she' or 'they'"),
    ],
)
def test_wrong_extremes(tmp_path, extremes, says):
    model = make_store(tmp_path, ["she", "he", "her", "his", "a"], np.eye(5))
    direct = {"definitional_pairs": [["she", "he"], ["her", "his"]], "words": ["a"], "extremes": extremes}
    with refused(*says.split("…")):
        evaluate(model, None, Spec.of({"direct": direct}), 0)


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_figure(study):
    assert list(study.figures) == [f"professions-professions-{MODEL}"]
    # left is what the study names first, as in the paper; the numbers: figures/test_pictures.py
    she, he, _ = figures.draw(study.figures[f"professions-professions-{MODEL}"]).axes
    assert (she.get_title("left"), he.get_title("left")) == ("closer to she", "closer to he")
    labels = she.get_yticklabels()[:3]
    assert [label.get_text() for label in labels] == ["homemaker", "registered nurse", "nurse"]
