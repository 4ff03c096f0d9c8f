"""StereoSet's items on masked models: the probability of the masked term, and of the next sentence, by hand."""

import json
import math

import numpy as np
import pytest
from fake_models import measured
from refusals import refused
from tiny_bert import MASK, PIECES, Reference, ids_of, older, weights_of, write_bert

import biasgrid as bg
from biasgrid import BiasgridError, LostWordsWarning, Query, metrics
from biasgrid.metrics import metric
from biasgrid.metrics.sentences import terms
from biasgrid.study.config.criteria import Query as Entry
from biasgrid.study.config.sentence_files import sentences

pytest.importorskip("torch")
pytest.importorskip("transformers")

# the terms are "c", "de" (two tokens) and "fgh" (three), in the place of the blank in "ab _ g."
STEREOTYPES, OTHERS, UNRELATED = ["ab c g.", "d a h"], ["ab de g.", "d bc h"], ["ab fgh g.", "d e h"]
ITEMS = Query([STEREOTYPES, OTHERS, UNRELATED], [], ["S", "A", "U"])
SETS = {"S": "stereotype", "A": "anti-stereotype", "U": "unrelated"}
FOLLOWING = Query(
    [
        ["ab c. [SEP] d e", "a b [SEP] c"],
        ["ab c. [SEP] f", "a b [SEP] dd"],
        ["ab c. [SEP] gh", "a b [SEP] e"],
    ],
    [],
    ["S", "A", "U"],
)


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return bg.language_model(str(write_bert(tmp_path_factory.mktemp("bert"), weights_of(3))))


@pytest.fixture(scope="module")
def with_next_sentence(tmp_path_factory):
    weights = older(weights_of(4, next_sentence=True))
    return bg.language_model(str(write_bert(tmp_path_factory.mktemp("next"), weights)))


def probability_of_term(before, term, after, seed=3):
    """The mean probability of the term's tokens, each predicted from those before it, in one place."""
    reference = Reference(weights_of(seed))
    first, last = ids_of(before)[:-1], ids_of(after)[1:]
    tokens, probabilities = ids_of(term)[1:-1], []
    for number, token in enumerate(tokens):
        seen = [*first, *tokens[:number], MASK, *last]
        place = len(first) + number
        probabilities.append(math.exp(reference.log_probabilities(seen)[place, token]))
    return np.mean(probabilities)


EXPECTED = np.array(
    [
        [probability_of_term("ab", term, "g.") for term in ("c", "de", "fgh")],
        [probability_of_term("d", term, "h") for term in ("a", "bc", "e")],
    ]
).T


def test_stereosets_default_is_the_probability_of_the_masked_term(bert):
    stereotypes, others, unrelated = EXPECTED
    ss = 100 * np.mean(stereotypes > others)
    lms = 50 * np.mean(stereotypes > unrelated) + 50 * np.mean(others > unrelated)
    expected = {
        "ss": ss,
        "lms": lms,
        "lms_thesis": 100 * np.mean(stereotypes + others > unrelated),
        "icat": lms * min(ss, 100 - ss) / 50,
    }
    for options in ({}, {"score": "term"}, {"normalize": "tokens"}):
        result = metrics.stereoset_ss(ITEMS, bert, **options)
        assert {name: result.scalars[name] for name in expected} == pytest.approx(expected)
        scores = result.detail["score"]
        found = [list(scores[name].values()) for name in ("S", "A", "U")]
        np.testing.assert_allclose(np.exp(found), EXPECTED, rtol=1e-4)


def test_whole_sentences_are_an_option(bert):
    result = metrics.stereoset_lms(ITEMS, bert, score="sz")
    reference = Reference(weights_of(3))
    for name, texts in zip("SAU", (STEREOTYPES, OTHERS, UNRELATED), strict=True):
        for text in texts:
            ids = ids_of(text)
            expected = reference.score(ids, [[place] for place in range(1, len(ids) - 1)])
            assert result.detail["score"][name][text] == pytest.approx(expected, abs=2e-4)
    assert result.detail["score"] != metrics.stereoset_lms(ITEMS, bert).detail["score"]


def test_a_tie_counts_for_the_stereotype_in_the_baseline_alone(tmp_path):
    scores = dict.fromkeys([*STEREOTYPES, *OTHERS], -2.0) | dict.fromkeys(UNRELATED, -3.0)
    result = metrics.stereoset_ss(ITEMS, measured(tmp_path / "m", scores))
    assert (result.value, result.scalars["ss_ties"]) == (0, 100)


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["she is soft, here.", "she is very hard, here."], ["soft", "very hard"]),
        (["soft girls", "hard girls", "wet girls"], ["soft", "hard", "wet"]),
        (["they are soft.", "they are hard."], ["soft", "hard"]),
        # what both have at the beginning is not counted at the end again
        (["a a b", "a b"], ["a", ""]),
        (["one", "two"], ["", ""]),
        (["same here", "same here"], ["", ""]),
        (["it is --", "it is !!"], ["--", "!!"]),
    ],
)
def test_the_term_is_what_sentences_of_an_item_do_not_share(texts, found):
    assert [text[slice(*span)] for text, span in zip(texts, terms(texts), strict=True)] == found


def test_a_sentence_without_a_term_is_lost(bert):
    query = Query([["ab c g", "a"], ["ab d g", "b"], ["ab e g", "c"]], [], ["S", "A", "U"])
    with pytest.warns(LostWordsWarning, match="has no term that can be masked"):
        result = metrics.stereoset_ss(query, bert)
    assert result.scalars["items"] == 1
    assert result.lost == {"S": ["a"], "A": ["b"], "U": ["c"]}


def test_the_score_of_a_pairs_term(bert):
    pairs = Query([STEREOTYPES, OTHERS])
    result = metrics.mean_pair_difference(pairs, bert, score="term")
    assert result.value == pytest.approx(np.mean(np.log(EXPECTED[0]) - np.log(EXPECTED[1])), rel=1e-4)
    # E^Stereo's divergence, of normal distributions of the terms' log-probabilities
    first, second = np.log(EXPECTED[:2])
    ratio = second.var() / first.var()
    apart = (first.mean() - second.mean()) ** 2
    given = (1 / ratio + apart / second.var() - 1 + np.log(ratio)) / 2
    back = (ratio + apart / first.var() - 1 - np.log(ratio)) / 2
    expected = 100 * max(given, back) / (given + back)
    assert metric("kl_div_s")(pairs, bert, score="term").value == pytest.approx(expected, rel=1e-4)


def test_intersentence_items_are_scored_by_the_next_sentence_head(with_next_sentence):
    reference = Reference(weights_of(4, next_sentence=True))
    result = metrics.stereoset_ss(FOLLOWING, with_next_sentence)
    for word_set in FOLLOWING.target_sets:
        for text in word_set:
            first, second = map(ids_of, text.split(" [SEP] "))
            ids = [*first, *second[1:]]
            expected = reference.log_probability_of_next(ids, [0] * len(first) + [1] * (len(second) - 1))
            assert result.detail["score"][word_set.name][text] == pytest.approx(expected, abs=2e-4)
    scores = [np.array(list(result.detail["score"][name].values())) for name in "SAU"]
    assert result.value == 100 * np.mean(scores[0] > scores[1])


def test_a_head_for_the_next_sentence_leaves_scores_of_words_as_they_are(with_next_sentence, tmp_path):
    alone = bg.language_model(str(write_bert(tmp_path / "m", weights_of(4))))
    np.testing.assert_array_equal(with_next_sentence.score(STEREOTYPES), alone.score(STEREOTYPES))


@pytest.mark.filterwarnings("ignore::biasgrid.NoValueWarning")
@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_a_model_without_the_head_says_so_in_a_line(bert, kind):
    model = bert if kind == "masked" else bg.language_model(lambda texts: [-1.0] * len(texts))
    with pytest.warns(LostWordsWarning, match="the model has no next-sentence head"):
        result = metrics.stereoset_ss(FOLLOWING, model, score="next")
    assert math.isnan(result.value)
    assert result.reason.endswith(
        "; the model has no next-sentence head, which predicts whether a sentence follows another"
    )


@pytest.mark.parametrize(
    ("query", "score", "said"),
    [
        (ITEMS, "next", "score: 'next' needs texts of two sentences"),
        (FOLLOWING, "term", "score: 'term' is not for items of two sentences"),
        (ITEMS, "tem", "did you mean 'term'"),
    ],
)
def test_a_score_that_does_not_fit_the_items_is_refused(bert, query, score, said):
    with refused(said, kind=BiasgridError):
        metrics.stereoset_ss(query, bert, score=score)


def item(test, number, kind="gender"):
    context = "He is here." if test == "intersentence" else "c BLANK"
    options = [
        {"id": f"{number}{label}", "sentence": f"{label} {number}", "gold_label": label, "labels": []}
        for label in SETS.values()
    ]
    return {"id": str(number), "bias_type": kind, "target": "x", "context": context, "sentences": options}


def test_both_tests_of_stereosets_file_are_read(tmp_path):
    data = {"intrasentence": [item("intrasentence", 1)], "intersentence": [item("intersentence", 2)]}
    (tmp_path / "dev.json").write_text(json.dumps({"version": "1.0", "data": data}))

    def texts(where=None):
        found = sentences(
            Entry(file="dev.json", sets=SETS, **({"where": where} if where else {})), "here", tmp_path
        )
        return [list(word_set) for word_set in found.values()]

    intrasentence = [["stereotype 1"], ["anti-stereotype 1"], ["unrelated 1"]]
    assert texts() == texts({"test": "intrasentence"}) == intrasentence
    assert texts({"test": "intersentence", "bias_type": "gender"}) == [
        [f"He is here. [SEP] {label} 2"] for label in SETS.values()
    ]
    with refused("where: test: no such row has 'intersentences'; allowed: 'intersentence', 'intrasentence'"):
        texts({"test": "intersentences"})


def test_pieces_of_the_tiny_model_are_as_the_tests_take_them():
    assert ids_of("fgh")[1:-1] == [PIECES.index(piece) for piece in ("f", "##g", "##h")]
