"""Analogies by four methods, maps of words: by hand, against gensim and scikit-learn, on real vectors."""

import copy
import json
import math

import asked_study
import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, biasgrid, make_store, printed, refusal
from gensim.models import KeyedVectors
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression

from biasgrid import metrics, tables
from biasgrid.core.configs import read_yaml
from biasgrid.core.validation import to_record
from biasgrid.debias.transform import Transform, fitted
from biasgrid.evaluation import Spec, analogies, evaluate
from biasgrid.evaluation.analogy_answers import USUAL, answers
from biasgrid.figures.analogies import analogies as draw_analogies
from biasgrid.measure.measure import measure
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.metrics import metric
from biasgrid.models import build_store
from biasgrid.models.building import store_of
from biasgrid.models.sources import fetch
from biasgrid.queries.query import Query
from biasgrid.study.study import Study
from biasgrid.tables.analogies import ANALOGIES, ANALOGY_SUMMARY, KEYS

MODEL = "bolukbasi-w2v-gnews-small"
CONFIG = read_yaml(ROOT / "config" / "thesis.yaml")


@pytest.fixture(scope="module")
def google():
    """The Google News vectors of Bolukbasi et al."""
    study = Study.of(CONFIG | {"embeddings": str(ROOT / "data" / "embeddings")}, root=ROOT)
    fetch(MODEL, study.models[MODEL]["source"], study.embeddings / "raw", progress=False)
    build_store(MODEL, study.models[MODEL], study.embeddings)
    return store_of(study.embeddings, MODEL, study.models[MODEL]).open()


@pytest.fixture(scope="module")
def family():
    """The pairs of Google's family section."""
    asked = [
        four for section, four in analogies.questions("gensim:questions-words.txt") if section == "family"
    ]
    return list(dict.fromkeys(pair for a, b, c, d in asked for pair in ((a, b), (c, d))))


def circle(folder, **degrees):
    """A store of words at these angles, of length 1, 2, 3 ...: lengths must not count."""
    angles = np.radians(list(degrees.values()))
    lengths = np.arange(1, len(angles) + 1)[:, None]
    return make_store(folder, list(degrees), lengths * np.stack([np.cos(angles), np.sin(angles)], axis=1))


def best(model, pairs, words, method, excluded, **options):
    """The answers to the first question: [word, score, own]"""
    found = answers(model, pairs, words, methods=[method], excluded=[excluded], **options)
    return found[0]["answers"]


def cosine(degrees):
    return pytest.approx(math.cos(math.radians(degrees)), abs=2e-6)


def test_3cosadd_by_hand(tmp_path):
    # b - a has length 1 and points to 120 degrees, c to 30: c - a + b points to 75
    model = circle(tmp_path, a=0, b=60, c=30, near=80, far=155)
    without = best(model, [("a", "b")], ["c"], "3cosadd", True)
    assert without == [["near", cosine(5), ""], ["far", cosine(80), ""]]
    allowed = best(model, [("a", "b")], ["c"], "3cosadd", False, best=4)
    assert allowed == [
        ["near", cosine(5), ""],
        ["b", cosine(15), "b"],
        ["c", cosine(45), "c"],
        ["a", cosine(75), "a"],
    ]


def test_pair_distance_by_hand(tmp_path):
    # the chord from 30 to x degrees points to (x + 30)/2 + 90; the offset to 120
    model = circle(tmp_path, a=0, b=60, c=30, near=80, far=155)
    without = best(model, [("a", "b")], ["c"], "pair_distance", True)
    assert without == [["near", cosine(25), ""], ["far", cosine(62.5), ""]]
    allowed = best(model, [("a", "b")], ["c"], "pair_distance", False, best=9)
    # c is no answer: it has no offset from itself
    assert [entry[0] for entry in allowed] == ["b", "near", "far", "a"]
    assert allowed[0] == ["b", cosine(15), "b"]
    assert allowed[-1] == ["a", cosine(165), "a"]


def test_3cosavg_by_hand(tmp_path):
    # offsets of lengths 1 and root 3, both towards 120 degrees: their mean is at a right angle to c
    model = circle(tmp_path, a=0, b=60, a2=-30, b2=90, c=30, near=80, far=150)
    towards = 30 + math.degrees(math.atan((1 + math.sqrt(3)) / 2))
    (first, second) = best(model, [("a", "b"), ("a2", "b2")], ["c"], "3cosavg", True)
    assert first == ["near", cosine(towards - 80), ""]
    assert second == ["far", cosine(150 - towards), ""]
    # the sign that the thesis prints, source minus target, leads away
    printed = best(model, [("b", "a"), ("b2", "a2")], ["c"], "3cosavg", True)
    assert printed[0][1] == cosine(80 - (60 - towards))


def at(degrees):
    return np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees))])


def test_3cosavg_of_sets_of_different_size_by_hand(tmp_path):
    # the thesis's example: another capital, and no other country
    degrees = {"a": 0, "b": 60, "b2": 90, "c": 30, "near": 80, "far": 150}
    model = circle(tmp_path, **degrees)
    sets = {"source": ["a"], "target": ["b", "b2"]}
    wanted = at(30) + (at(60) + at(90)) / 2 - at(0)
    wanted /= np.linalg.norm(wanted)
    without = best(model, (), ["c"], "3cosavg", True, **sets)
    assert without == [[w, pytest.approx(at(degrees[w]) @ wanted, abs=2e-6), ""] for w in ("near", "far")]
    roles = {w: own for w, _, own in best(model, (), ["c"], "3cosavg", False, best=9, **sets)}
    assert roles == {"a": "a", "b": "b", "b2": "b", "c": "c", "near": "", "far": ""}
    # sets of one size, in pairs: the same answers
    of_pairs = best(model, [("a", "b"), ("c", "b2")], ["far"], "3cosavg", True)
    assert of_pairs == best(model, (), ["far"], "3cosavg", True, source=["a", "c"], target=["b", "b2"])
    # a word of a set is not in its own question
    own = best(model, (), ["b2"], "3cosavg", True, best=9, **sets)
    wanted = at(90) + at(60) - at(0)
    assert own[0] == ["near", pytest.approx(at(80) @ wanted / np.linalg.norm(wanted), abs=2e-6), ""]


def test_lrcos_of_sets_of_different_size(tmp_path):
    degrees = {"a": 0, "b": 60, "b2": 90, "c": 30, "near": 80, "far": 150}
    model = circle(tmp_path, **degrees)
    x = [at(degrees[w]) for w in ("b", "b2", "a", "near", "far")]
    chance = LogisticRegression(class_weight="balanced").fit(x, [1, 1, 0, 0, 0])
    found = best(model, (), ["c"], "lrcos", False, best=9, source=["a"], target=["b", "b2"])
    assert len(found) == 6
    for word, score, _ in found:
        p = chance.predict_proba([at(degrees[word])])[0, 1]
        assert score == pytest.approx(p * math.cos(math.radians(degrees[word] - 30)), abs=1e-4)


def test_lrcos_is_the_chance_of_the_class_times_the_cosine(tmp_path):
    # nothing but the pairs' words, c and two of other rank: the negatives drawn are exactly these
    degrees = {"a": 0, "b": 60, "a2": -30, "b2": 90, "c": 30, "near": 80, "far": 150}
    model = circle(tmp_path, **degrees)
    unit = {w: [math.cos(math.radians(x)), math.sin(math.radians(x))] for w, x in degrees.items()}
    x = [unit[w] for w in ("b", "b2", "a", "a2", "near", "far")]
    chance = LogisticRegression(class_weight="balanced").fit(x, [1, 1, 0, 0, 0, 0])
    found = best(model, [("a", "b"), ("a2", "b2")], ["c"], "lrcos", False, best=9)
    assert len(found) == 7
    for word, score, _ in found:
        p = chance.predict_proba([unit[word]])[0, 1]
        assert score == pytest.approx(p * math.cos(math.radians(degrees[word] - 30)), abs=1e-4)


def test_a_pair_that_holds_the_word_makes_no_question_of_it(tmp_path):
    model = circle(tmp_path, a=0, b=60, c=30, d=80)
    found = answers(model, [("a", "b"), ("c", "d")], ["c"], best=1)
    assert {(entry["method"], entry["pair"]) for entry in found} == {
        ("pair_distance", "a:b"),
        ("3cosadd", "a:b"),
        ("3cosavg", ""),
        ("lrcos", ""),
    }


def test_the_questions_words_are_excluded_in_any_case(tmp_path):
    model = circle(tmp_path, a=0, b=60, c=30, B=62, C=31, near=80, far=150)
    for method in ("3cosadd", "pair_distance", "3cosavg", "lrcos"):
        assert {w for w, *_ in best(model, [("a", "b")], ["c"], method, True, best=9)} == {"near", "far"}
    own = {w: own for w, _, own in best(model, [("a", "b")], ["c"], "3cosadd", False, best=9)}
    assert own == {"a": "a", "b": "b", "B": "b", "c": "c", "C": "c", "near": "", "far": ""}


def test_without_words_every_a_is_asked_and_its_b_is_right(tmp_path):
    # in a parallelogram by angles: the pairs' offsets are the same turn
    model = circle(tmp_path, a=0, b=20, a2=3, b2=23, a3=120, b3=140)
    found = answers(model, [("a", "b"), ("a2", "b2"), ("a3", "b3"), ("a", "none")], methods=["3cosadd"])
    questions = {(entry["pair"], entry["word"]) for entry in found}
    pairs = {"a": "a:b", "a2": "a2:b2", "a3": "a3:b3"}
    assert questions == {(pair, word) for word in pairs for a, pair in pairs.items() if a != word}
    right = {(e["pair"], e["word"]) for e in found if e["right"] and e["excluded"]}
    assert {("a:b", "a2"), ("a2:b2", "a")} <= right


def test_what_has_no_direction_is_left_out(tmp_path):
    model = make_store(
        tmp_path, ["a", "b", "c", "zero", "d"], np.array([[1, 0], [1, 1], [1, 2], [0, 0], [0, 1.0]])
    )
    found = answers(model, [("a", "b"), ("zero", "b")], ["c", "zero", "missing"], best=9)
    assert {entry["word"] for entry in found} == {"c"}
    assert {entry["pair"] for entry in found} == {"a:b", ""}
    assert "zero" not in {word for entry in found for word, *_ in entry["answers"]}
    # a pair of one direction: no chord to be like
    flat = make_store(tmp_path / "..", ["a", "b", "c", "d"], np.array([[1, 0], [2, 0], [1, 2], [0, 1.0]]))
    assert answers(flat, [("a", "b")], ["c"], methods=["pair_distance"]) == []


def test_a_debiased_model_is_asked_as_it_is(tmp_path):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(8, 5))
    vectors[1] = vectors[0] + [3, 0, 0, 0, 0]  # the pair differs along the first coordinate only
    model = make_store(tmp_path, list("abcdefgh"), vectors)
    axis = np.eye(5)[0]
    transform = Transform("test", fitted(model, {}, {}, {}), left=axis[:, None], right=axis[None])
    state = model.under(transform)
    assert answers(state, [("a", "b")], ["c"], methods=["pair_distance"]) == []
    (entry,) = answers(state, [("a", "b")], ["c"], methods=["3cosadd"], excluded=[False], best=1)
    assert entry["answers"] == [["c", pytest.approx(1, abs=1e-6), "c"]]


@pytest.mark.filterwarnings("ignore:.*repeats")
@pytest.mark.slow
@pytest.mark.parametrize("c", ["doctor", "architect", "brother"])
def test_3cosadd_is_gensims(google, c):
    words, rows = google.vocabulary(None)
    vectors = KeyedVectors(google.dimensions)
    vectors.add_vectors(words, np.array(google.array[rows]))
    theirs = vectors.most_similar(positive=["she", c], negative=["he"], topn=5, restrict_vocab=20_000)
    ours = best(google, [("he", "she")], [c], "3cosadd", True, best=5, vocabulary=20_000)
    # gensim leaves out the words as they are written, not in other cases
    assert [word for word, *_ in ours] == [word for word, _ in theirs]
    assert [score for _, score, _ in ours] == pytest.approx([score for _, score in theirs], abs=2e-6)


@pytest.mark.slow
def test_3cosavg_finds_the_sister_of_a_brother(google, family):
    pairs = [pair for pair in family if pair not in (("brother", "sister"), ("brothers", "sisters"))]
    assert best(google, pairs, ["brother"], "3cosavg", True)[0][0] == "sister"
    # Nissim et al.: with the question's words the word itself is the answer
    assert best(google, pairs, ["brother"], "3cosavg", False)[0][::2] == ["brother", "c"]


@pytest.mark.slow
def test_family_accuracy_of_3cosadd_is_the_benchmarks(google, family):
    found = answers(google, family, methods=["3cosadd"], excluded=[True], best=1, vocabulary=30_000)
    record = evaluate(google, None, {"analogies": {"google": "gensim:questions-words.txt"}}, 0)
    (fact,) = [m for m in record["measures"] if m["measure"] == "google_family"]
    assert len(found) == fact["n"]
    assert np.mean([entry["right"] for entry in found]) == fact["value"]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_answers(google, family):
    def asked(seed):
        return answers(google, family[:5], ["doctor", "nurse"], seed=seed, best=5)

    assert json.dumps(asked(1)) == json.dumps(asked(1))
    one, other = asked(1), asked(2)
    differ = {a["method"] for a, b in zip(one, other, strict=True) if a != b}
    assert differ == {"lrcos"}


# maps


def test_a_map_has_every_word_once_and_is_the_same_every_time(google):
    spec = {
        "map": {"sets": {"One": ["he", "she", "nonesuch"], "Two": ["she", "doctor"]}, "ranks": [201, 230]}
    }
    first, second = (evaluate(google, None, spec, seed=3)["set_map"] for _ in range(2))
    assert first == second
    assert len(set(first["words"])) == len(first["words"]) == len(first["xy"])
    side = dict(zip(first["words"], first["side"], strict=True))
    assert (side["he"], side["she"], side["doctor"]) == ("One", "One", "Two")
    ranked = google.vocabulary(230)[0][200:]
    assert {word for word, name in side.items() if name == "vocabulary, ranks 201 to 230"} == set(ranked)


def test_neighbours_in_the_model_are_neighbours_on_the_map(tmp_path):
    rng = np.random.default_rng(1)
    centres = np.repeat(10 * np.eye(20)[:2], 15, axis=0)
    words = [f"w{i}" for i in range(30)]
    model = make_store(tmp_path, words, centres + rng.normal(size=(30, 20)))
    drawn = evaluate(model, None, {"map": {"sets": {"one": words[:15], "two": words[15:]}}}, 0)["set_map"]
    xy, side = np.array(drawn["xy"]), np.array(drawn["side"])
    apart = np.hypot(*(xy[:, None] - xy).transpose(2, 0, 1)) + np.diag([np.inf] * 30)
    assert (side[apart.argmin(axis=1)] == side).all()


# tables and figures


@pytest.fixture(scope="module")
def records(google, tmp_path_factory):
    """The evaluation of gender of the shipped study, in a file, with fewer pairs and without its map."""
    spec = copy.deepcopy(Study.of(CONFIG, root=ROOT).config.evaluation["Gender"])
    del spec["questions"]["family"]["pairs"][6:]
    del spec["map"]
    record = {"criterion": "Gender", "model": MODEL, "debias": "none", **evaluate(google, None, spec, 42)}
    path = tmp_path_factory.mktemp("thesis") / "gender.json"
    path.write_text(json.dumps(record))
    return path


@pytest.mark.filterwarnings("ignore:.*repeats")
@pytest.mark.slow
def test_tables_of_answers(records):
    table, summary = (table.make({"evaluations": [records]}, {}) for table in (ANALOGIES, ANALOGY_SUMMARY))
    assert list(table) == ANALOGIES.names
    assert list(summary) == ANALOGY_SUMMARY.names
    assert set(table["method"]) == set(USUAL)
    # every share of the summary from the table's first answers
    first = table[table["rank"] == 1]
    keys = [column.name for column in KEYS]
    for role in "abc":
        shares = (first["own"] == role).groupby([first[key] for key in keys]).mean()
        mine = summary[summary["measure"] == f"own_{role}"].set_index(keys)["value"]
        pd.testing.assert_series_equal(mine.sort_index(), shares.sort_index(), check_names=False)
    assert (
        summary.loc[(summary["excluded"] == "yes") & summary["measure"].str.startswith("own"), "value"] == 0
    ).all()
    assert set(summary.loc[summary["measure"] == "right", "questions"]) == {"family"}
    # "doctor is to doctor" is what 3CosAdd says of every word, and what it cannot say when words are excluded
    own = summary[(summary["measure"] == "own_c") & (summary["excluded"] == "no")]
    own = own[own["questions"] != "family"].set_index(["questions", "method"])["value"]
    assert (own.xs("3cosadd", level="method") > 0.9).all()
    assert (own.xs("pair_distance", level="method") == 0).all()


@pytest.mark.slow
def test_a_figure_of_a_criterion_without_answers_is_refused(records):
    table, summary = (table.make({"evaluations": [records]}, {}) for table in (ANALOGIES, ANALOGY_SUMMARY))
    with refused("no rows of criterion 'Other'"):
        draw_analogies(table, summary, {}, "Other", MODEL, [])


# the study


@pytest.mark.filterwarnings("ignore:.*repeats")
@pytest.mark.slow
def test_the_shipped_study_is_valid_and_needs_no_debias_method():
    study = Study.of(CONFIG, root=ROOT)
    assert set(study.grid.evaluations) == {
        f"{MODEL}/none/gender",
        "word2vec-google-news-300-subset/none/religion",
    }
    assert {"analogies", "analogy_summary", "words"} <= set(study.tables)
    assert "mitigation" not in study.tables
    assert {drawing.kind for drawing in study.figures.values()} == {
        "analogies",
        "projections",
        "set-map",
        "phenomena",
        "phenomenon-correlations",
        "covariates",
    }
    # the pairs are Google's
    asked = [
        four for section, four in analogies.questions("gensim:questions-words.txt") if section == "family"
    ]
    theirs = {pair for a, b, c, d in asked for pair in ((a, b), (c, d))}
    assert {tuple(pair) for pair in study.evaluation_specs["Gender"].questions["family"].pairs} == theirs


@pytest.mark.slow
def test_a_study_asks_and_maps():
    study = asked_study.made()
    table, summary = (tables.read(study.paths.table_file(name)) for name in ("analogies", "analogy_summary"))
    # two words' pairs for two methods, both pairs for the others, with and without, the two best
    assert (table["questions"] == "mine").sum() == 2 * (3 * (2 * 2 + 2) * 2 * 2)
    assert set(table["model"]) == {"one", "two"}
    assert (summary["questions"] == "mine").sum() == 2 * 4 * 2 * 3
    assert {f"analogies-first-{model}" for model in ("one", "two")} <= set(study.figures)
    for evaluation in study.grid.evaluations.values():
        placed = json.loads(study.paths.evaluation_file(evaluation).read_text())["set_map"]
        assert set(placed["words"]) == {f"{side}{i}" for side in "cd" for i in range(5)}


# what is wrong is one line


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({"questions": ["x"]}, "questions: ['x'] is not a mapping"),
        ({"questions": {"x": {}}}, "questions: x: has neither pairs nor both source and target"),
        (
            {"questions": {"x": {"source": ["a"], "words": ["c"]}}},
            "questions: x: has neither pairs nor both source and target",
        ),
        (
            {"questions": {"x": {"source": ["a"], "target": ["b"], "words": ["c"], "pairs": [["a", "b"]]}}},
            "questions: x: has both pairs and sets (source, target); leave out one of them",
        ),
        (
            {"questions": {"x": {"source": ["a"], "target": ["b"], "words": ["c"]}}},
            "questions: x: pair_distance needs pairs; source and target are for 3cosavg",
        ),
        (
            {"questions": {"x": {"source": ["a"], "target": ["b"], "methods": ["3cosavg"]}}},
            "questions: x: source and target need words",
        ),
        (
            {"questions": {"x": {"pairs": [["a", "a"]]}}},
            "questions: x: pairs: 0: ['a', 'a'] is not a pair of two different words",
        ),
        ({"questions": {"x": {"pairs": [["a", "b"]], "best": 0}}}, "questions: x: best: 0"),
        ({"questions": {"x": {"pairs": [["a", "b"]], "word": ["c"]}}}, "questions: x: unknown key 'word'"),
        ({"map": {}}, "map: names no sets and no ranks"),
        ({"map": {"sets": {"x": []}}}, "map: sets: x: is empty"),
        ({"map": {"ranks": [600, 200]}}, "map: ranks: [600, 200]"),
        ({"map": {"ranks": [1, 9]}, "sorted": False}, "not sorted by frequency"),
    ],
)
def test_a_wrong_spec_is_one_line(spec, says):
    with refused(says):
        Spec.of(spec)


def test_the_command_line_asks(random_model):
    run = ("words", "analogy", "--model", random_model(0).path, "--pairs")
    done = biasgrid(*run, "w0:w1", "--word", "w2", "gone", "--method", "3cosadd", "--best", "4")
    assert "lacks 'gone'" in done.stderr
    (question,) = json.loads(done.stdout)["questions"]
    assert [question["method"], question["excluded"], question["word"]] == ["3cosadd", True, "w2"]
    assert not {"w0", "w1", "w2"} & {word for word, *_ in question["answers"]}
    (question,) = printed(*run, "w0:w1", "--word", "w2", "--keep-question-words", "--best", "40")["questions"]
    assert {"w0", "w1", "w2"} < {word for word, *_ in question["answers"]}
    for arguments, says in (
        (["w0", "--word", "w2"], "--pairs 'w0': expected two different words such as he:she"),
        (["w0:w1", "--word", "w2", "--best", "0"], "--best 0: must be 1 or more"),
        (["w0:w1", "--word", "w2", "--vocabulary", "-1"], "--vocabulary -1"),
        (["w0:w1", "--word", "gone"], "words: "),
    ):
        refusal(*run, *arguments, parts=[says])


# figure 3.2


@pytest.mark.filterwarnings("ignore:.*repeats", "ignore::biasgrid.LostWordsWarning")
@pytest.mark.slow
def test_occupations_lie_where_figure_3_2_has_them(word2vec):
    entry = CONFIG["criteria"]["Race direction"]["queries"]["names_and_occupations"]
    study = Study.of(CONFIG, root=ROOT)
    assert to_record(study.config.criteria["Race direction"].queries["names_and_occupations"]) == entry
    query = study.queries["names_and_occupations"]
    result = metrics.direct_bias(query, word2vec, direction="all_pairs", lost_vocabulary_threshold=0.4)
    bias = result.detail["bias"]["Occupations"]
    assert min(bias["architect"], bias["programmer"]) > 0.05
    assert max(bias["taxi_driver"], bias["bodyguard"]) < -0.05
    # scikit-learn's component of all 1,024 pairs, each centred on its own mean
    first, second = (
        np.array([word2vec.take([w], word2vec.rows([w]))[0] for w in words], dtype=float)
        for words in query.target_sets
    )
    first, second = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (first, second))
    half = (first[:, None] - second).reshape(-1, first.shape[1]) / 2
    (axis,) = PCA(1).fit(np.concatenate([half, -half])).components_
    axis *= np.sign(axis @ half.mean(axis=0))
    found = {w: word2vec.take([w], word2vec.rows([w]))[0].astype(float) for w in ("architect", "taxi_driver")}
    for word, vector in found.items():
        assert bias[word] == pytest.approx(vector @ axis / np.linalg.norm(vector), abs=1e-5)


# table 3.2 of the thesis, after Ethayarajh et al. (ACL 2019)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 39), st.permutations(range(40)))
def test_a_weat_of_single_words_is_always_2_and_tests_nothing(random_model, seed, order):
    model = random_model(seed % 3)
    x, y, a, b = (f"w{i}" for i in order[:4])
    query = Query([[x], [y]], [[a], [b]])
    weat_es = metric("weat_es")
    asked = {"permutation": {"draws": 10, "exact": 100, "alternative": "greater"}}
    (undefined,) = measure(MeasurementSpec(weat_es), query, model)
    assert (math.isnan(undefined.value), undefined.status) == (True, "degenerate:one word")
    keep = {"one_word": "keep"}
    (result,) = measure(MeasurementSpec(weat_es, keep, inference=asked), query, model)
    assert abs(result.value) == pytest.approx(2)
    # two partitions: a strict > gives 0 or .5, and the 0 is no evidence
    assert result.inference["permutation"]["partitions"] == 2
    assert result.inference["permutation"]["p_value"] == (0.5 if result.value > 0 else 1.0)
