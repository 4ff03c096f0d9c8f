"""Analogies by difference matching, within a distance, and generated from a pair: by hand, in full, as published."""

import json
import math

import asked_study
import numpy as np
import pytest
from artists import texts
from conftest import printed, refusal
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from test_thesis import best, circle, cosine, google  # noqa: F401

from biasgrid import tables
from biasgrid.evaluation import Spec
from biasgrid.evaluation.analogy_answers import answers
from biasgrid.evaluation.pairs_alike import pairs_alike
from biasgrid.figures import draw

# Bolukbasi et al. 2016, the figure of analogies for she-he, stereotypes and appropriate ones, as it is known by heart
PUBLISHED = {
    "sewing:carpentry",
    "nurse:surgeon",
    "blond:burly",
    "giggle:chuckle",
    "sassy:snappy",
    "volleyball:football",
    "registered_nurse:physician",
    "interior_designer:architect",
    "feminism:conservatism",
    "vocalist:guitarist",
    "diva:superstar",
    "cupcakes:pizzas",
    "housewife:shopkeeper",
    "softball:baseball",
    "cosmetics:pharmaceuticals",
    "petite:lanky",
    "charming:affable",
    "hairdresser:barber",
    "lovely:brilliant",
    "queen:king",
    "waitress:waiter",
    "sister:brother",
    "ovarian_cancer:prostate_cancer",
    "mother:father",
    "convent:monastery",
}


def chord(first, second):
    """The length of the chord between two angles on the unit circle."""
    return 2 * math.sin(math.radians(abs(first - second)) / 2)


def test_difference_matching_by_hand(tmp_path):
    # a - b points from 60 to 0 degrees and has length 1; c - a + b lies at 75 degrees, root 2 away
    model = circle(tmp_path, a=0, b=60, c=30, near=80, far=155)
    target = np.array([math.cos(math.radians(75)), math.sin(math.radians(75))]) * math.sqrt(2)
    found = best(model, [("a", "b")], ["c"], "difference_matching", True)
    for (word, score, _), degrees in zip(found, (80, 155), strict=True):
        at = np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees))])
        assert word == {80: "near", 155: "far"}[degrees]
        assert score == pytest.approx(-np.linalg.norm(at - target), abs=2e-6)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2), st.permutations(range(40)), st.booleans())
def test_difference_matching_answers_as_3cosadd(random_model, seed, order, excluded):
    a, b, c = (f"w{i}" for i in order[:3])
    found = {
        method: [word for word, *_ in best(random_model(seed), [(a, b)], [c], method, excluded, best=5)]
        for method in ("difference_matching", "3cosadd")
    }
    assert found["difference_matching"] == found["3cosadd"]


def test_a_threshold_leaves_out_what_is_far_from_c(tmp_path):
    model = circle(tmp_path, a=0, b=60, c=30, near=80, far=155)
    for method in ("pair_distance", "3cosadd", "difference_matching", "3cosavg", "lrcos"):
        (within,) = best(model, [("a", "b")], ["c"], method, True, threshold=chord(30, 80) + 0.01)
        assert within[0] == "near"
        assert best(model, [("a", "b")], ["c"], method, True, threshold=chord(30, 80) - 0.01) == []


def test_generated_pairs_by_hand(tmp_path):
    # a chord from y to x degrees points to (x + y)/2 + 90: those about 30 degrees are parallel to that of a and b
    model = circle(tmp_path, b=60, a=0, p=25, q=36, r=10, s=200)
    (without,) = answers(model, [("b", "a")], methods=["generated"], excluded=[True], best=9)
    assert without["word"] == ""
    assert without["pair"] == "b:a"
    # p and q are taken by the first; r has nobody left, and s is too far from all
    assert without["answers"] == [["q:p", cosine(0.5), ""]]
    (allowed,) = answers(model, [("b", "a")], methods=["generated"], excluded=[False], best=9, threshold=1.01)
    assert allowed["answers"] == [["b:a", cosine(0), "a"], ["q:p", cosine(0.5), ""]]
    (narrow,) = answers(model, [("b", "a")], methods=["generated"], excluded=[False], best=9, threshold=0.9)
    assert [answer for answer, *_ in narrow["answers"]] == ["q:p", "b:r"]


def brute(vectors, offset, barred, threshold, best):
    """All pairs one by one, the same rule."""
    vectors, offset = vectors.astype(float), offset / np.linalg.norm(offset)
    found = []
    for x in range(len(vectors)):
        for y in range(len(vectors)):
            difference = vectors[x] - vectors[y]
            if x != y and not (barred[x] or barred[y]) and np.linalg.norm(difference) <= threshold:
                found.append((difference @ offset / np.linalg.norm(difference), x, y))
    taken, kept = set(), []
    for along, x, y in sorted(found, reverse=True):
        if along > 0 and not {x, y} & taken and len(kept) < best:
            taken |= {x, y}
            kept.append((x, y, along))
    return kept


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 25), st.floats(0.3, 2), st.integers(1, 40))
def test_generated_pairs_are_those_of_a_full_search(seed, words, best, threshold, pool):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(words, 3))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    offsets, barred = rng.normal(size=(2, 3)), rng.random((2, words)) < 0.2
    with pytest.MonkeyPatch.context() as patch:
        # with a small pool, words that come twice leave too few
        patch.setattr("biasgrid.evaluation.pairs_alike.POOL", pool)
        found = pairs_alike(vectors, offsets, barred, threshold, best)
    for alike, offset, out in zip(found, offsets, barred, strict=True):
        expected = brute(vectors, offset, out, threshold, best)
        assert [pair[:2] for pair in alike] == [pair[:2] for pair in expected]
        assert [pair[2] for pair in alike] == pytest.approx([pair[2] for pair in expected])


@pytest.mark.filterwarnings("ignore:.*repeats")
@pytest.mark.slow
def test_the_analogies_that_bolukbasi_et_al_print(google):  # noqa: F811
    (entry,) = answers(
        google, [("she", "he")], methods=["generated"], excluded=[True], best=150, vocabulary=None
    )
    # figure 1 is made of the first 150
    assert {pair for pair, *_ in entry["answers"]} >= PUBLISHED


def test_a_summary_has_the_share_of_each_word_among_the_first_answers(tmp_path):
    """Four questions, whose first answers are c, c, b and none of theirs; three of them have a right answer."""
    first = [("c", True), ("c", False), ("b", False), ("", None)]
    entries = [
        {
            "method": "3cosadd",
            "excluded": False,
            "pair": "",
            "word": f"w{i}",
            "answers": [[f"x{i}", 0.9, own], ["y", 0.8, "a"]],
        }
        | ({} if right is None else {"right": right})
        for i, (own, right) in enumerate(first)
    ]
    record = {"criterion": "G", "model": "m", "debias": "none", "measures": [], "answers": {"made": entries}}
    path = tmp_path / "g.json"
    path.write_text(json.dumps(record))
    summary = tables.REGISTRY["analogy_summary"].make({"evaluations": [path]}, {}).set_index("measure")
    assert summary["value"].to_dict() == pytest.approx(
        {"own_a": 0, "own_b": 1 / 4, "own_c": 2 / 4, "right": 1 / 3}
    )
    assert summary["n"].to_dict() == {"own_a": 4, "own_b": 4, "own_c": 4, "right": 3}


@pytest.mark.slow
def test_a_study_has_generated_pairs():
    study = asked_study.made()
    table = tables.read(study.paths.table_file("analogies"))
    generated = table[table["method"] == "generated"]
    # two pairs, with and without their words, the four best
    assert len(generated) == 2 * 2 * 2 * 4
    assert set(generated["word"]) == {""}
    assert generated["answer"].str.fullmatch(r"\w+:\w+").all()
    summary = tables.read(study.paths.table_file("analogy_summary"))
    assert summary["measure"].isin(["own_a", "own_b", "own_c"]).all()
    # the figure has the questions about words, by the methods that were asked
    drawn = texts(draw(study.figures["analogies-first-one"]))
    assert "Difference matching" in " ".join(drawn).replace("\n", " ")
    assert "alike" not in drawn


def test_the_command_line_generates(random_model):
    model = str(random_model(0).path)
    run = ["words", "analogy", "--model", model, "--pairs", "w0:w1"]
    (entry,) = printed(*run, "--method", "generated", "--threshold", "2", "--best", "5")["questions"]
    assert len(entry["answers"]) == 5
    for arguments, says in (
        ([], "--word: every method needs it except generated"),
        (["--method", "generated", "--word", "w2"], "--word: every method needs it except generated"),
        (["--word", "w2", "--threshold", "3"], "threshold: 3.0 is not allowed"),
    ):
        refusal(*run, *arguments, parts=[says])


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("methods", ["3cosmul"], "unknown value '3cosmul'"),
        ("methods", [], "methods: is empty"),
        ("threshold", 0, "threshold: 0 is not allowed"),
    ],
)
def test_a_wrong_question_is_one_line(key, value, says):
    with refused(says):
        Spec.of({"questions": {"x": {"pairs": [["a", "b"]], key: value}}})
