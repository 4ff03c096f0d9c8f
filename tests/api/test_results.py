"""What the door gives back: results, and transforms."""

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import make_store

from biasgrid import Query, debias, metrics
from biasgrid.debias import Transform
from biasgrid.result import as_json
from biasgrid.tables.scores import SCORES

QUERY = Query([["w0", "w1", "w2"], ["w3", "w4", "w5"]], [["w6", "w7"], ["w8", "w9"]], ["A", "B"], ["C", "D"])


@pytest.mark.filterwarnings("ignore:.*cannot be small")
@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
def test_a_result_is_one_line_and_a_table_in_a_notebook(random_model):
    result = metrics.weat(QUERY, random_model(0), permutation=True)
    assert repr(result) == (
        # of 3 words a set there are 20 permutations, too few for evidence
        f"<weat of 'A and B wrt C and D' on made: value={result.value:.3f}, "
        "p_value=.60 (lowest possible p .10), "
        "evidence=out_of_reach (unadjusted)>"
    )
    html = result._repr_html_()
    assert f"<td>{result.value:.3f}</td>" in html
    assert "<th>p_value</th><td>.60 (lowest possible p .10)</td>" in html
    assert "interval" not in html
    lost = metrics.weat(Query([["w0", "<b>"], ["w3"]], [["w6"], ["w8"]], ["A;B", "B"]), random_model(0))
    assert "on made: no value, status='lost_words:A;B', words_lost=1" in repr(lost)
    assert lost.reason == "too many words are lost: A;B lacks 1 of 2 words ('<b>')"
    assert "lacks 1 of 2 words (&#x27;&lt;b&gt;&#x27;)" in lost._repr_html_()
    assert len(repr(lost).splitlines()) == 1
    p_values = {"permutation": 0.0002, "random_groups": 0.997}
    tested = {test: result.inference.get(test, {}) | {"p_value": p} for test, p in p_values.items()}
    small = replace(result, inference=result.inference | tested)
    assert "p_value<.001 (lowest possible p .10), p_groups>.99" in repr(small)
    assert "<th>p_value</th><td>&lt; .001 (lowest possible p .10)</td>" in small._repr_html_()


@pytest.mark.filterwarnings("ignore::biasgrid.NoValueWarning")
def test_a_missing_number_has_its_reason(random_model, tmp_path):
    result = metrics.mac(QUERY, random_model(0), permutation=True, bootstrap={"draws": 20})
    assert result.reason == ""
    assert result.reasons == {"p_value": metrics.metric("mac").no_test}
    assert result.reasons["p_value"] in result._repr_html_()
    flat = make_store(tmp_path, list("abcd"), np.ones((4, 2)))
    result = metrics.weat_es(Query([["a"], ["b"]], [["c"], ["d"]]), flat, permutation=True, one_word="keep")
    assert math.isnan(result.value)
    assert result.reasons == {"value": result.reason}
    assert "undefined for these vectors" in result.reason
    assert metrics.weat(QUERY, random_model(0)).reasons == {}
    # no interval of one word a set
    one = metrics.rnd(Query([["w0"], ["w1"]], [["w2"]]), random_model(0), bootstrap=True)
    assert math.isnan(one.ci_low)
    assert "cannot be left out" in one.reasons["jackknife interval"]


def test_a_result_as_a_dictionary_and_as_a_row(random_model):
    plain = metrics.weat(QUERY, random_model(0))
    whole = metrics.weat(
        QUERY, random_model(0), permutation=True, bootstrap=True, random_groups={"draws": 19}
    )
    for result in (plain, whole, replace(plain, value=math.nan, status="degenerate")):
        record = result.to_dict()
        assert record == {"metric": "weat", "model": "made"} | as_json(result)
        assert json.loads(json.dumps(record, allow_nan=False)) == record
        row = result.to_frame()
        assert len(row) == 1
        # in the order of scores.csv
        columns = [name for name in SCORES.names if name in row]
        assert [name for name in columns if name != "debias"] == [*row]
        for name in row:
            value = getattr(result, name)
            assert row[name][0] == value or (math.isnan(value) and math.isnan(row[name][0]))
    assert replace(plain, value=math.nan).to_dict()["value"] is None
    both = pd.concat([plain.to_frame(), whole.to_frame()])
    assert both["p_value"].isna().tolist() == [True, False]
    assert pickle.loads(pickle.dumps(whole)).to_dict() == whole.to_dict()


@pytest.fixture
def transforms(random_model):
    model = random_model(0)
    pairs = [["w0", "w1"], ["w2", "w3"], ["w4", "x<y"]]
    return model, [
        debias.hard(model, definitional_pairs=pairs, ignore=["w9"]),
        debias.hsr(model, definitional_words=["w0", "w1"], target=["w7", "w8"]),
        debias.ran(model, definitional_pairs=pairs[:2], target=["w7"], epochs=3),
        debias.inlp(
            model, classes={"a": ["w0", "w1", "gone"], "b": ["w2", "w3"]}, n_iterations=1, held_out=0.0
        ),
    ]


def test_a_transform_is_one_line_and_a_table_in_a_notebook(transforms):
    _, (hard, hsr, ran, inlp) = transforms
    assert repr(hard) == (
        "<Transform hard, fitted on made (9 dimensions), mapped all words but 1, own vectors 4, "
        "lost 2 of the given words and sets>"
    )
    assert "mapped only 2 words" in repr(hsr)
    assert "own vectors 1" in repr(ran)
    assert "lost 1 of" in repr(inlp)
    for transform in (hard, hsr, ran, inlp):
        assert len(repr(transform)) < 200
        assert "\n" not in repr(transform)
    html = hard._repr_html_()
    assert "<th>debias method</th><td>hard</td>" in html
    assert "x&lt;y" in html
    assert "x<y" not in html


def test_transforms_are_pickled(transforms):
    model, fitted = transforms
    words = ["w0", "w7", "w9", "w20"]
    rows = model.rows(words)
    for transform in fitted:
        expected = transform.apply(model.take(words, rows), words)
        again = pickle.loads(pickle.dumps(transform))
        assert isinstance(again, Transform)
        assert np.array_equal(again.apply(model.take(words, rows), words), expected)
        assert again.summary() == transform.summary()
        query = metrics.weat(QUERY, model.under(again))
        assert query.value == metrics.weat(QUERY, model.under(transform)).value
