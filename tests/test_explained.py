"""What the comparison calls explained: each test recomputes, from the cause that a row names, the number that was
printed. None uses a metric of biasgrid."""

import csv
import json
import math
import re
import shutil

import numpy as np
import pytest
from conftest import ROOT
from scipy.stats import pearsonr
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from biasgrid.core.configs import read_yaml
from biasgrid.models import build_store, building
from biasgrid.models.sources import fetch
from biasgrid.study.study import Study
from biasgrid.tables import published

FILES = {folder: sorted((ROOT / "data" / folder).glob("*.csv")) for folder in ("published", "computed")}
ROWS = published.read(FILES["published"], FILES["computed"])
EXPLAINED = ROWS[ROWS["test"] != ""]


@pytest.fixture
def recomputes(request):
    """Call with the recomputed numbers by (query, quantity): they must be all rows that name the test, as printed."""
    called = []

    def check(found):
        name = f"tests/{request.path.name}::{request.node.name}"
        mine = EXPLAINED[EXPLAINED["test"] == name]
        printed = {(row.query, row.quantity): row for row in mine.itertuples()}
        assert len(printed) == len(mine) > 0
        assert set(found) == set(printed)
        for place, row in printed.items():
            assert abs(found[place] - row.published) <= 0.5 * 10.0**-row.digits + 1e-12, place
        called.append(name)

    yield check
    assert called, "a test that explains numbers must recompute them"


def test_every_explanation_is_a_test_that_recomputes():
    """The fixture holds a test to the rows that name it; here, that each named test is there and uses it."""
    here = (ROOT / "tests" / "test_explained.py").read_text(encoding="utf-8")
    defined = set(re.findall(r"^def (test_\w+)\((?:\w+, )*recomputes\)", here, re.MULTILINE))
    assert set(EXPLAINED["test"]) == {f"tests/test_explained.py::{name}" for name in defined}
    assert len(defined) >= 4


def test_ripa_of_the_first_seven_pairs(word2vec, recomputes):
    sets = json.loads((ROOT / "data/word_sets/weat.json").read_text(encoding="utf-8"))["sets"]
    words = {name: word2vec.rows(sets[name]) for name in ("female_terms", "male_terms", "family")}
    female, male, family = (word2vec.array[rows].astype(float) for rows in words.values())
    difference = (female - male)[:7]
    difference /= np.linalg.norm(difference, axis=1, keepdims=True)
    biases = family @ difference.T
    found = {("wefe_family", "value"): biases.mean()}
    for word, bias in zip(sets["family"], biases, strict=True):
        for name, value in (("mean", bias.mean()), ("std", bias.std())):
            found["wefe_family", f"/detail/word_values/Family/{word}/{name}"] = value
    recomputes(found)


def test_liblinear_stops_before_the_minimum(word2vec, recomputes):
    """scikit-learn's liblinear at its default tolerance, on the float32 vectors, as WEFE has them."""
    sets = json.loads((ROOT / "data/word_sets/weat.json").read_text(encoding="utf-8"))["sets"]
    family, career = (word2vec.array[word2vec.rows(sets[name])] for name in ("family", "career"))
    x, y = np.concatenate([family, career]), np.repeat([1, -1], [len(family), len(career)])
    fitted = LogisticRegression(solver="liblinear", max_iter=10_000).fit(x, y)
    targets = {"Female terms": sets["female_terms"], "Male Terms": sets["male_terms"]}
    words = [(name, word) for name, part in targets.items() for word in part]
    negative = fitted.predict_proba(word2vec.array[word2vec.rows([word for _, word in words])])[:, 0]
    share = negative / negative.sum()
    found = {("wefe_family_careers", "value"): (share * np.log(share * len(share))).sum()}
    for kind, values in (("probabilities", negative), ("distribution", share)):
        for (name, word), value in zip(words, values, strict=True):
            quantity = f"/detail/negative_sentiment_{kind}/{name}/{word}"
            found["wefe_family_careers", quantity] = value
    recomputes(found)


@pytest.mark.parametrize("metric", ["rnsb", "rnsb_normalized"])
def test_what_a_run_varies_by_is_measured(word2vec, metric):
    """The column run_sd of the documentation's RNSB, against 200 other splits, scikit-learn's, as WEFE makes them."""
    sets = json.loads((ROOT / "data/word_sets/weat.json").read_text(encoding="utf-8"))["sets"]
    parts = [sets[name] for name in ("family", "career", "female_terms", "male_terms")]
    x = word2vec.array[word2vec.rows([word for part in parts for word in part])].astype(float)
    if metric == "rnsb_normalized":
        x /= np.linalg.norm(x, axis=1, keepdims=True)
    y, runs = np.repeat([1, -1], 8), []
    for seed in range(10_000, 10_200):
        rows, _ = train_test_split(np.arange(16), test_size=0.2, stratify=y, random_state=seed)
        fitted = LogisticRegression(solver="liblinear", max_iter=10_000).fit(x[rows], y[rows])
        runs.append(fitted.predict_proba(x[16:])[:, 0])
    negative = np.array(runs)
    spread = {
        "probabilities": negative.std(axis=0, ddof=1),
        "distribution": (negative / negative.sum(axis=1, keepdims=True)).std(axis=0, ddof=1),
    }
    words = [("Female terms", word) for word in parts[2]] + [("Male Terms", word) for word in parts[3]]
    expected = {
        f"/detail/negative_sentiment_{kind}/{name}/{word}": sd
        for kind, sds in spread.items()
        for (name, word), sd in zip(words, sds, strict=True)
    }
    of_query = (ROWS["metric"] == metric) & (ROWS["query"] == "wefe_family_careers")
    rows = ROWS[of_query & (ROWS["quantity"] != "value")]
    assert len(rows) == {"rnsb": 3 * 32, "rnsb_normalized": 32}[metric]
    for row in rows.itertuples():
        # a standard deviation of 200 is good to 5 %, and what it is compared with to 1.1 %
        assert row.run_sd == pytest.approx(expected[row.quantity], rel=0.15)


def store_of(*configs, model):
    config = {}
    for name in configs:
        config |= read_yaml(ROOT / "config" / f"{name}.yaml")
    study = Study.of(config | {"embeddings": str(ROOT / "data" / "embeddings")}, root=ROOT)
    fetch(model, study.models[model]["source"], study.embeddings / "raw", progress=False)
    build_store(model, study.models[model], study.embeddings)
    return building.store_of(study.embeddings, model, study.models[model]).open(), study.queries


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.skipif(not shutil.which("npm"), reason="needs npm")
def test_sweeneys_own_split_and_classifier(recomputes):
    """Seed 0, not stratified; a multinomial logistic regression of two classes is a binary one with C = 2."""
    model, queries = store_of("sweeney", "with_npm", model="glove-6b-100d")

    def vectors(words):
        rows = model.rows(words)
        return model.array[rows[rows >= 0]].astype(float)

    query = queries["sweeney_national_origin"]
    sides = [vectors(s.words) for s in query.attribute_sets]
    x, y = np.concatenate(sides), np.repeat([1, -1], [len(side) for side in sides])
    train, test, own, others = train_test_split(x, y, test_size=0.1, random_state=0)
    fitted = LogisticRegression(C=2, max_iter=300).fit(train, own)
    names = vectors([word.lower() for s in query.target_sets for word in s.words])
    negative = fitted.predict_proba(names)[:, 0]
    share = negative / negative.sum()
    recomputes(
        {
            ("sweeney_national_origin", "value"): (share * np.log(share * len(share))).sum(),
            ("sweeney_national_origin", "/scalars/accuracy"): fitted.score(test, others),
        }
    )


@pytest.mark.network
def test_ratings_with_0_for_an_unrated_occupation(recomputes):
    model, queries = store_of("same", model="bolukbasi-w2v-gnews-small")

    def unit(words):
        found = model.array[model.rows(words)].astype(float)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    query = queries["occupations"]
    male, female = (unit(s.words).mean(axis=0) for s in query.target_sets)
    (occupations,) = query.attribute_sets
    biases = unit(occupations.words) @ (male - female) / np.linalg.norm(male - female)
    sets = json.loads((ROOT / "data/word_sets/debiaswe.json").read_text(encoding="utf-8"))["sets"]
    ratings = {word: rating for word, _, rating in sets["professions"]}
    assert set(occupations.words) - set(ratings) == {"flight_attendant"}
    rated = [ratings.get(word, 0) for word in occupations.words]
    recomputes({("occupations", "rating_pearson"): pearsonr(biases, rated).statistic})


def test_two_proportions_of_the_thesis_are_cut_off(recomputes):
    """Agreement of 133 and of 98 of 170 pairs within 3.5: the pooled z-test's p, cut off after five decimals."""
    with open(ROOT / "data/measured/maddalozzo_pll.csv", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["measure"] == "cp" and int(row["row"]) < 170]
    biases = {}
    for version in ("original", "paraphrase", "random"):
        mine = sorted((r for r in rows if r["version"] == version), key=lambda r: int(r["row"]))
        apart = np.array([float(r["pll_stereotype"]) - float(r["pll_antistereotype"]) for r in mine])
        biases[version] = np.sign(apart) * (np.abs(apart) > 3.5)
    agreed = [int((biases["original"] == biases[name]).sum()) for name in ("paraphrase", "random")]
    assert agreed == [133, 98]
    first, second = np.array(agreed) / 170
    pooled = (first + second) / 2
    p = math.erfc((first - second) / math.sqrt(2 * pooled * (1 - pooled) / 170) / math.sqrt(2))
    recomputes({("es_with_both", "/scalars/p_two_proportions"): math.floor(p * 1e5) / 1e5})
