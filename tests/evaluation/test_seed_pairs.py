"""How well pairs stand for their direction: by hand, against scikit-learn, as a table and a figure."""

import json
import math

import asked_study
import numpy as np
import pytest
from conftest import make_store
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from sklearn.decomposition import PCA

from biasgrid import tables
from biasgrid.evaluation import evaluate
from biasgrid.evaluation.seed_pairs import representative
from biasgrid.figures.seed_pairs import seed_pairs


def about(axis, *differences):
    """Pairs of unit vectors whose differences are these multiples of coordinate axes: a + d/2, a - d/2."""
    first, second = [], []
    for difference in differences:
        half = np.array(difference, dtype=float) / 2
        rest = math.sqrt(1 - half @ half) * axis
        first.append(rest + half)
        second.append(rest - half)
    return np.array(first), np.array(second)


def test_pairs_by_hand():
    # two pairs that differ along x, one along y; nothing else
    first, second = about(np.array([0, 0, 1.0]), [1, 0, 0], [0.5, 0, 0], [0, 0.8, 0])
    rows = {row["pair"]: row for row in representative(["long", "short", "across"], first, second)}
    for name in ("long", "short"):
        assert rows[name]["cosine"] == pytest.approx(1)
        assert rows[name]["cosines_with_others"] == pytest.approx(0.5)
    assert rows["across"]["cosine"] == pytest.approx(0, abs=1e-9)
    assert rows["across"]["cosine_others"] == pytest.approx(0, abs=1e-9)
    assert rows["across"]["share_others"] == pytest.approx(1)
    # without the long pair, the one across is longest
    assert rows["long"]["cosine_others"] == pytest.approx(0, abs=1e-9)
    assert rows["long"]["angle_others"] == pytest.approx(90)
    assert rows["long"]["share_others"] == pytest.approx(0.64 / (0.64 + 0.25))
    assert rows["short"]["cosine_others"] == pytest.approx(1)
    assert rows["short"]["rank"] == 1
    last = max(rows.values(), key=lambda row: row["rank"])
    assert last["share_best"] == pytest.approx(1.25 / 1.89)
    assert last["angle_best"] == pytest.approx(0, abs=1e-5)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(3, 8))
def test_they_are_scikit_learns(seed, n):
    rng = np.random.default_rng(seed)
    common = rng.normal(size=9)
    first, second = rng.normal(size=(2, n, 9)) + np.array([1, -1])[:, None, None] * common
    first, second = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (first, second))

    def component(kept):
        middle = (first[kept] + second[kept]) / 2
        found = PCA().fit(np.concatenate([first[kept] - middle, second[kept] - middle]))
        towards = found.components_[0] @ (first[kept] - second[kept]).mean(axis=0)
        return found.components_[0] * np.sign(towards), found.explained_variance_ratio_[0]

    rows = representative([str(i) for i in range(n)], first, second)
    assert [row["rank"] for row in rows] == list(range(1, n + 1))
    whole, share = component(list(range(n)))
    for row in rows:
        i = int(row["pair"])
        others = [j for j in range(n) if j != i]
        difference = (first - second)[i] / np.linalg.norm((first - second)[i])
        direction, of_others = component(others)
        assert row["cosine"] == pytest.approx(difference @ whole, abs=1e-6)
        assert row["cosine_others"] == pytest.approx(difference @ direction, abs=1e-6)
        assert row["share_others"] == pytest.approx(of_others, abs=1e-9)
        assert row["angle_others"] == pytest.approx(
            math.degrees(math.acos(np.clip(whole @ direction, -1, 1))), abs=1e-4
        )
    assert rows[-1]["share_best"] == pytest.approx(share, abs=1e-9)
    ranked = [row["cosine_others"] for row in rows]
    assert ranked == sorted(ranked, reverse=True)


def test_pairs_that_have_nothing_in_common_flatter_themselves():
    rng = np.random.default_rng(1)
    rows = representative([str(i) for i in range(10)], *rng.normal(size=(2, 10, 2000)))
    assert np.mean([abs(row["cosine"]) for row in rows]) > 0.25
    assert np.mean([abs(row["cosine_others"]) for row in rows]) < 0.05


def test_what_is_not_defined_is_none(tmp_path):
    first, second = about(np.array([0, 0, 1.0]), [1, 0, 0], [0, 1, 0])
    # of two pairs of one length, across each other, neither is the first component
    for row in representative(["one", "other"], first, second):
        assert row["cosine"] is None
        assert row["cosine_others"] == pytest.approx(0)
    words = ["a", "b", "A", "c", "d"]
    model = make_store(tmp_path, words, np.array([[1, 0], [0, 1], [1, 0.2], [2, 1], [1, 3.0]]))
    spec = {"seed_pairs": {"x": [["a", "b"], ["b", "a"], ["c", "d"], ["c", "gone"]]}}
    # a pair turned round is the same pair, and one without a word is none
    found = evaluate(model, None, spec, 0)["seed_pairs"]["x"]
    assert {row["pair"] for row in found} == {"a:b", "c:d"}


@pytest.mark.slow
def test_a_study_has_the_table_and_its_figures():
    study = asked_study.made()
    table = tables.read(study.paths.table_file("seed_pairs"))
    assert len(table) == 2 * (4 + 2)
    (path,) = [study.paths.evaluation_file(e) for e in study.grid.evaluations.values() if e.model == "one"]
    record = json.loads(path.read_text())["seed_pairs"]["mine"]
    mine = table[(table["model"] == "one") & (table["list"] == "mine")]
    assert mine["cosine_others"].tolist() == [row["cosine_others"] for row in record]
    figures = {f"seed-pairs-first-{name}-{m}" for name in ("mine", "fewer") for m in ("one", "two")}
    assert figures <= set(study.figures)
    with refused("no rows of list 'none of these'"):
        seed_pairs(table, {}, "First", "one", "none", "none of these")
