"""Warnings of lost words and of NaN at the door for Python."""

import warnings

import numpy as np
import pytest
from conftest import make_store

from biasgrid import Query, metrics
from biasgrid.measure import value_warnings
from biasgrid.measure.value_warnings import LostWordsWarning, NoValueWarning, warn_lost

WORDS = [f"w{i}" for i in range(16)]


@pytest.fixture
def model(tmp_path):
    value_warnings.WARNED.clear()
    return make_store(tmp_path, WORDS, np.random.default_rng(0).normal(size=(16, 5)))


def query(*more: str, name: str | None = None) -> Query:
    return Query([WORDS[:4], WORDS[4:8]], [WORDS[8:12], [*WORDS[12:], *more]], name=name)


def said(model, query, metric="weat", **options) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_lost(query, model, metrics.metric(metric)(query, model, **options))
    return caught


def test_lost_words_are_told_once_for_a_query_and_a_model(model):
    (warning,) = said(model, query("gone", name="mine"))
    assert warning.category is LostWordsWarning
    assert warning.filename == __file__
    assert str(warning.message) == "query 'mine' on 'made': 1 of 17 words are lost: 'gone'"
    for metric in ("weat", "weat_es"):
        assert said(model, query("gone", name="mine"), metric) == []
    assert len(said(model, query("gone", name="another"))) == 1
    assert len(said(model, query("other", name="mine"))) == 1
    assert said(model, query()) == []


def test_a_nan_comes_with_its_reason_also_where_its_words_were_told_before(model):
    lossy = query("x", "y", "z")
    (first,) = said(model, lossy, lost_vocabulary_threshold=0.5)
    assert "NaN" not in str(first.message)
    (second,) = said(model, lossy)
    assert str(second.message).endswith(
        "3 of 19 words are lost: 'x', 'y', 'z'; "
        "the value is NaN: too many words are lost of 'Attribute set 1' (3 of 7)"
    )
    assert said(model, lossy) == []


def test_a_metric_that_is_undefined_says_so(tmp_path):
    same = make_store(tmp_path, WORDS, np.ones((16, 5)))
    (warning,) = said(same, query(), "weat_es")
    assert warning.category is NoValueWarning
    assert "is NaN: it is undefined for these vectors" in str(warning.message)
    assert said(same, query(), "weat_es") == []


def test_a_warning_is_a_line(model):
    many = Query(
        [WORDS[:1], WORDS[1:2]],
        [[f"lost{i}" for i in range(999)], ["a\nb"]],
        name=("long name " * 20).strip(),
    )
    (warning,) = said(model, many)
    assert len(str(warning.message)) < 420
    assert "\n" not in str(warning.message)


def test_as_an_error_it_is_one_each_time(model):
    value_warnings.WARNED.clear()
    with pytest.warns(LostWordsWarning, match="1 of 17 words are lost: 'gone'"):
        result = metrics.weat(query("gone"), model)
    value_warnings.WARNED.clear()
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error", LostWordsWarning)
            with pytest.raises(LostWordsWarning):
                warn_lost(query("gone"), model, result)


def test_what_was_said_takes_no_memory_without_end(model, monkeypatch):
    monkeypatch.setattr(value_warnings, "MOST", 3)
    for number in range(20):
        assert len(said(model, query(f"gone{number}"))) == 1
        assert len(value_warnings.WARNED) <= 3
