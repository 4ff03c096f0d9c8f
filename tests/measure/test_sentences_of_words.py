"""Sets of sentences that are made of words, as in SEAT: words are permuted, drawn again and left out, with all their
sentences."""

from itertools import combinations, product

import numpy as np
import pytest

from biasgrid import BiasgridError, Query, metrics
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.queries.word_set import WordSet

# word -> its sentences, of unlike number
A = {"ann": ["w0", "w1", "w2"], "amy": ["w3"]}
B = {"bob": ["w4", "w5"], "ben": ["w6", "w7"], "tim": ["w8"]}
C = {"work": ["w10", "w11", "w12"], "pay": ["w13", "w14"]}
D = {"home": ["w20"], "kin": ["w21"]}


def sentences(name, words):
    return WordSet(
        name,
        tuple(text for texts in words.values() for text in texts),
        tuple(word for word, texts in words.items() for _ in texts),
    )


QUERY = Query([sentences("A", A), sentences("B", B)], [sentences("C", C), sentences("D", D)])


def value(model, a, b, c=C, d=D):
    """With these words' sentences, as often as a word is there."""
    sides = [
        [[t for w in words for t in {**A, **B, **C, **D}[w]] for words in side] for side in ((a, b), (c, d))
    ]
    vectors = [[model.vectors(texts).astype(float) for texts in side] for side in sides]
    return metrics.metric("weat_es").function(*vectors).value


def inferred(model, **parts):
    (found,), samples = infer_query(MeasurementSpec(metrics.metric("weat_es"), inference=parts), QUERY, model)
    return found, samples


def test_words_are_permuted_with_their_sentences(random_model):
    model, people = random_model(21), [*A, *B]
    test = inferred(model, permutation={"alternative": "greater"})[0]["permutation"]
    values = [value(model, a, [w for w in people if w not in a]) for a in combinations(people, 2)]
    assert test["partitions"] == len(values) == 10
    assert test["observed"] == pytest.approx(value(model, A, B)) == pytest.approx(values[0])
    assert test["p_value"] == pytest.approx(np.mean(np.array(values) >= values[0] - 1e-9))


@pytest.mark.slow
def test_words_are_drawn_again_and_left_out_with_their_sentences(random_model):
    model = random_model(22)
    found, (samples,) = inferred(model, bootstrap={"draws": 60}, sensitivity={"halves": 5})
    draws = [list(product(words, repeat=len(words))) for words in (A, B, C, D)]
    possible = np.unique([value(model, *sets) for sets in product(*draws)])
    near = possible[np.abs(possible[:, None] - samples).argmin(axis=0)]
    assert samples == pytest.approx(near, abs=1e-9)
    assert len(np.unique(samples.round(9))) > 20
    whole = value(model, A, B)
    assert {name: list(words) for name, words in found["influence"].items()} == {
        name: list(words) for name, words in zip("ABCD", (A, B, C, D), strict=True)
    }
    assert found["influence"]["B"]["ben"] == pytest.approx(value(model, A, ["bob", "tim"]) - whole)
    assert found["influence"]["C"]["pay"] == pytest.approx(value(model, A, B, ["work"]) - whole)


def test_pairs_of_sentences_stay_pairs(random_model):
    """A metric of pairs takes sentence by sentence, whatever they are made of."""
    model, sets = random_model(23), [sentences("A", A), sentences("B", {"bob": B["bob"], "ben": B["ben"]})]
    parts = {"permutation": {}, "bootstrap": {"draws": 30}, "sensitivity": {"halves": 5}}
    plain = Query([list(s) for s in sets], [QUERY.attribute_sets[0].words], ["A", "B"], ["C"])
    made_of = Query(sets, [WordSet("C", QUERY.attribute_sets[0].words)])
    found = [
        infer_query(MeasurementSpec(metrics.metric("ripa"), inference=parts), q, model)[0]
        for q in (plain, made_of)
    ]
    assert found[0] == found[1]


def test_a_query_keeps_what_its_sentences_are_made_of():
    assert Query.from_dict(QUERY.to_dict()) == QUERY
    assert QUERY.to_dict()["target_sets"][0]["of"] == ["ann", "ann", "ann", "amy"]
    assert "of" not in Query([["x"]], [["y"]]).to_dict()["target_sets"][0]
    renamed = Query(list(QUERY.target_sets), [["y"]], ["X", "Y"])
    assert renamed.target_sets[0].units == ("ann", "amy")
    for of in (["ann"], [1, 2], "ab"):
        with pytest.raises(BiasgridError, match="of must"):
            WordSet("A", ("x", "y"), of)
