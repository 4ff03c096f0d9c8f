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
from biasgrid.measure.result import as_json
from biasgrid.tables.scores import SCORES

QUERY = Query([["w0", "w1", "w2"], ["w3", "w4", "w5"]], [["w6", "w7"], ["w8", "w9"]], ["A", "B"], ["C", "D"])


@pytest.mark.filterwarnings("ignore:.*cannot be small")
@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
def test_a_result_is_one_line_at_a_prompt(random_model):
    result = metrics.weat(QUERY, random_model(0), permutation=True)
    assert repr(result) == (
        # of 3 words a set there are 20 permutations, too few for evidence
        f"<WEAT {result.value:.2f} of 'A and B wrt C and D' on made: shuffled words p = .60 (lowest possible p .10), "
        "cannot tell: too few words or draws>"
    )
    lost = metrics.weat(Query([["w0", "<b>"], ["w3"]], [["w6"], ["w8"]], ["A;B", "B"]), random_model(0))
    assert "on made: too many words are lost: A;B lacks 1 of 2 words ('<b>'), 1 word missing>" in repr(lost)
    assert lost.reason == "too many words are lost: A;B lacks 1 of 2 words ('<b>')"
    assert len(repr(lost).splitlines()) == 1
    p_values = {"permutation": 0.0002, "random_groups": 0.997}
    tested = {test: result.inference.get(test, {}) | {"p_value": p} for test, p in p_values.items()}
    small = replace(result, inference=result.inference | tested)
    assert "shuffled words p < .001 (lowest possible p .10), random word groups p > .99" in repr(small)


def with_p_values(result, **p_values):
    """The result with other p-values, which any number of draws could give."""
    tested = {test: {"p_value": p, "p_lowest": 1e-4, "method": "exact"} for test, p in p_values.items()}
    return replace(result, inference=dict(result.inference) | tested, ci_low=-0.5, ci_high=1.25, value=0.52)


def test_a_printed_result_is_five_lines(random_model):
    result = metrics.weat(QUERY, random_model(0), bootstrap={"draws": 20})
    result = with_p_values(result, permutation=0.0008, random_groups=0.21)
    result = replace(
        result, evidence="permutation", wording=replace(result.wording, tests=("permutation", "groups"))
    )
    assert str(result).splitlines() == [
        "WEAT 0.52   95 % interval -0.50 to 1.2",
        "The words of A are closer to C than the words of B are.",
        "  shuffled words      p < .001  very unlikely by chance",
        "  random word groups  p = .21   1 in 5 differ this much",
        "Weak evidence: unrelated word groups differ as much (p-values unadjusted).",
    ]
    below = with_p_values(replace(result, value=-0.52), permutation=0.04, random_groups=0.6)
    below = replace(below, value=-0.52, evidence="none")
    assert str(below).splitlines()[1:] == [
        "The words of A are closer to D than the words of B are.",
        "  shuffled words      p = .040  unlikely by chance",
        "  random word groups  p = .60   60 % differ this much",
        "No evidence of bias in these tests.",
    ]


@pytest.mark.parametrize("name", [name for name, m in metrics.REGISTRY.items() if m.needs == "vectors"])
@pytest.mark.filterwarnings("ignore")
def test_each_metric_has_text_and_card(random_model, name):
    sets = {2: ["he", "she"], 1: ["he"], "n": ["he", "she"], "k": ["he", "she"], 4: ["a", "b", "c", "d"]}
    targets, attributes = (len(sets[need]) for need in metrics.REGISTRY[name].template)
    words = [f"w{i}" for i in range(10)] + ["x0", "x1"]
    query = Query(
        [[words[2 * i % 8], words[2 * i % 8 + 1]] for i in range(targets)],
        [[words[8 - i], words[9 - i]] for i in range(attributes)],
        [f"<T{i}>" for i in range(targets)],
        [f"& A{i}" for i in range(attributes)],
    )
    result = getattr(metrics, name)(
        query, random_model(0), bootstrap={"draws": 20}, random_groups={"draws": 19}
    )
    label = metrics.REGISTRY[name].label
    for shown in (result, replace(result, value=math.nan, status="degenerate")):
        assert str(shown).startswith(label)
        assert all(len(line) <= 80 for line in str(shown).splitlines())
        html = shown._repr_html_()
        assert "<T0>" not in html
        assert "& A" not in html
        assert ("<svg" in html) == (not math.isnan(shown.value))
        assert html.count("<div") == html.count("</div>")


def test_a_card_shows_the_result_on_an_axis(random_model):
    result = metrics.weat(QUERY, random_model(0), bootstrap={"draws": 20})
    result = with_p_values(result, permutation=0.0008, random_groups=0.21)
    html = replace(result, evidence="permutation")._repr_html_()
    # without scripts, links or styles of the page
    assert not any(part in html for part in ("<script", "<style", "http", "class="))
    assert 'aria-label="WEAT 0.52, 95 % interval -0.50 to 1.2; 0 means no bias"' in html
    assert "Words shuffled between A and B" in html
    assert "Random word groups instead of A and B" in html
    assert "1 in 5 differ this much" in html
    assert "0 = no bias" in html
    # a value without evidence has an open mark, one with both tests a full one
    marks = {
        evidence: replace(result, evidence=evidence)._repr_html_()
        for evidence in ("all", "permutation", "none")
    }
    assert [marks[evidence].count('fill="none"') for evidence in marks] == [0, 1, 1]
    assert [marks[evidence].count("<path") for evidence in marks] == [0, 1, 0]


def test_a_card_keeps_the_direction_of_each_name(random_model):
    names = Query(QUERY.target_sets, QUERY.attribute_sets, ["\u0631\u062c\u0644", "B"], ["C", "D"], name="q")
    html = metrics.weat(names, random_model(0))._repr_html_()
    assert "<bdi>q</bdi>" in html
    assert "<bdi>C</bdi>" in html


@pytest.mark.filterwarnings("ignore::biasgrid.NoValueWarning")
def test_a_missing_number_has_its_reason(random_model, tmp_path):
    result = metrics.mac(QUERY, random_model(0), permutation=True, bootstrap={"draws": 20})
    assert result.reason == ""
    assert result.reasons == {"p_value": metrics.metric("mac").no_test}
    assert result.reasons["p_value"] in result._repr_html_()
    assert result.reasons["p_value"] in " ".join(str(result).split())
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
