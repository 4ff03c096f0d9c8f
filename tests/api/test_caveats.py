"""What limits a number stands beside it: in Python, a notebook, a terminal, a page and a run's warnings."""

import json
import warnings

import numpy as np
import pytest
from conftest import biasgrid, make_store

import biasgrid as bg
from biasgrid import Query, metrics
from biasgrid.measure import value_warnings

WORDS = [f"w{i}" for i in range(16)]
TWO = Query([WORDS[:2], WORDS[2:4]], [WORDS[8:12], WORDS[12:]], ["A", "B"], ["C", "D"], name="two")
ONE = Query([WORDS[:1], WORDS[2:3]], [WORDS[8:12], WORDS[12:]], ["A", "B"], ["C", "D"], name="one")
SHARED = Query([WORDS[:3], WORDS[2:6]], [WORDS[8:12], ["w12", "w5"]], ["A", "B"], ["C", "D"], name="shared")
SHARED_TEXT = "'w2' in 'A' and 'B'; 'w5' in 'B' and 'D'"


@pytest.fixture
def model(tmp_path):
    value_warnings.WARNED.clear()
    return make_store(tmp_path, WORDS, np.random.default_rng(0).normal(size=(16, 5)))


def caught(call) -> list[str]:
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        call()
    return [str(message.message) for message in messages]


@pytest.mark.filterwarnings("ignore:.*cannot be small")
def test_a_p_value_that_cannot_be_small_has_the_lowest_possible_one_beside_it(model):
    """Two and two words are dealt out in six ways, of which two are as far on either side."""
    result = metrics.weat(TWO, model, permutation=True, random_groups={"draws": 99})
    assert result.inference["permutation"]["p_lowest"] == pytest.approx(2 / 6)
    assert "(lowest possible p .33)" in repr(result)
    assert "cannot be significant: lowest possible p .33" in str(result)
    assert "cannot be significant: lowest possible p .33</td>" in result._repr_html_()
    assert repr(result).count("lowest possible") == 1
    enough = Query([WORDS[:4], WORDS[4:8]], TWO.attribute_sets)
    assert "lowest" not in repr(metrics.weat(enough, model, permutation=True))


def test_few_words_are_warned_of_once(model):
    value_warnings.WARNED.clear()
    expected = "query 'two' on 'made': p_value of weat cannot be small: lowest possible p .33"
    assert caught(lambda: metrics.weat(TWO, model, permutation=True)) == [expected]
    assert caught(lambda: metrics.weat(TWO, model, permutation=True)) == []
    assert caught(lambda: metrics.weat(TWO, model)) == []


def test_a_missing_interval_says_its_reason(model):
    result = metrics.weat(ONE, model, bootstrap={"draws": 20})
    for interval in ("jackknife", "bca"):
        result = metrics.weat(ONE, model, bootstrap={"draws": 20}, interval=interval)
        why = "no interval: a set has one word, which cannot be left out"
        assert why in repr(result)
        assert f"{why}</td>" in result._repr_html_()
    low, high = (result := metrics.weat(TWO, model, bootstrap={"draws": 20})).ci_low, result.ci_high
    assert f"95 % interval {low:.2g} to {high:.2g}" in repr(result)
    assert "interval" not in repr(metrics.weat(ONE, model))
    assert "interval" not in metrics.weat(ONE, model).to_dict()


def test_a_kept_effect_size_says_what_fixes_it(model):
    expected = ["query 'one' on 'made': the value of weat_es is kept: two sets of one word each fix its size by "
                "construction"]  # fmt: skip
    assert caught(lambda: metrics.weat_es(ONE, model, one_word="keep")) == expected
    kept = metrics.weat_es(ONE, model, one_word="keep")
    assert "on made: two sets of one word each fix its size by construction" in repr(kept)
    assert "Two sets of one word each fix its size by construction." in str(kept)
    assert "Two sets of one word each fix its size by construction.</div>" in kept._repr_html_()
    assert "fix" not in repr(metrics.weat(ONE, model))
    undefined = (
        "query 'one' on 'made': the value of weat_es is NaN: two sets of one word each fix its size by"
    )
    assert caught(lambda: metrics.weat_es(ONE, model))[0].startswith(undefined)


def test_a_word_in_two_sets_is_warned_of_once_per_query(model):
    expected = f"query 'shared' has a word in two sets: {SHARED_TEXT}"
    assert caught(lambda: metrics.weat(SHARED, model)) == [expected]
    assert caught(lambda: metrics.weat_es(SHARED, model)) == []
    assert caught(lambda: metrics.weat(TWO, model)) == []
    # two attribute sets may share a word
    assert caught(lambda: metrics.mac(Query([["w0"]], [["w1"], ["w1"]]), model)) == []


def test_a_grid_has_a_line_for_each_limit(model):
    def measure(queries, **options):
        return caught(
            lambda: bg.measure_grid(
                {"weat_es": {"one_word": "keep"}}, queries, [model], progress=False, **options
            )
        )

    again = Query(SHARED.target_sets, SHARED.attribute_sets[1:] + TWO.attribute_sets[:1], name="again")
    assert measure([SHARED, again, ONE]) == [
        f"a word is in two sets: {SHARED_TEXT} (query 'shared' and 1 more)",
        "1 score is kept, where two sets of one word each fix its size by construction: weat_es of 'one' on 'made'",
    ]
    assert measure([TWO, Query([WORDS[:4], WORDS[4:8]], TWO.attribute_sets)], permutation=True) == [
        "1 score is of too few words or draws for a small p; the first: weat_es of 'two' on 'made' (lowest possible "
        "p .33)"
    ]


def test_the_terminal_has_the_same(model, tmp_path):
    (tmp_path / "query.json").write_text(SHARED.to_json())
    command = ["measure", "--metric", "weat", "--model", str(model.path), "--query"]
    done = biasgrid(*command, str(tmp_path / "query.json"))
    assert f"biasgrid: warning: query 'shared' has a word in two sets: {SHARED_TEXT}" in done.stderr
    (tmp_path / "one.json").write_text(ONE.to_json())
    done = biasgrid(*command, str(tmp_path / "one.json"), "--permutation", "--bootstrap", "--table")
    assert "lowest possible p 1" in done.stdout
    assert "a set has one word, which cannot be left out" in done.stdout
    record = json.loads(biasgrid(*command, str(tmp_path / "one.json"), "--bootstrap").stdout)
    assert record["interval"] == "jackknife"
    assert record["ci_low"] is None
