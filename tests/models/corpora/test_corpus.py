"""A counted corpus against counting in plain Python."""

import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

import biasgrid as bg
from biasgrid import BiasgridError
from biasgrid.models import build_store
from biasgrid.models.corpus import counting
from biasgrid.models.corpus.corpus import Corpus

WORDS = ["he", "she", "doctor", "nurse", "the", "a"]
texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), min_size=2, max_size=20)


def corpus(lines, **options):
    return bg.load([" ".join(line) for line in lines], kind="corpus", **options)


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(texts)
def test_words_and_places_are_those_of_the_text(lines):
    found = corpus(lines)
    whole = [word for line in lines for word in line]
    counts = Counter(whole)
    assert (len(found), found.tokens, found.sentences) == (len(counts), len(whole), len(lines))
    words = found.words()
    assert {word: int(found.counts[row]) for row, word in enumerate(words)} == counts
    assert (np.diff(found.counts) <= 0).all()
    for row, word in enumerate(words):
        assert found.places(row).tolist() == [i for i, other in enumerate(whole) if other == word]


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(texts, st.sampled_from([None, 2, 3, 10]))
def test_cooccurrences_are_those_of_the_text(lines, window):
    found = corpus(lines)
    whole = [word for line in lines for word in line]
    units = [set(line) for line in lines]
    if window:
        units = [set(whole[start : start + window]) for start in range(0, len(whole), window)]
    words = [word for word in WORDS if word in found]
    together = found.cooccurrence(words, window)
    assert together.total == len(units)
    expected = Counter(tuple(word in unit for word in words) for unit in units)
    expected.pop((False,) * len(words), None)
    patterns = map(tuple, (together.patterns.toarray() > 0).tolist())
    assert dict(zip(patterns, together.units.tolist(), strict=True)) == expected


def test_more_than_64_words_are_told_apart():
    words = [f"w{i}" for i in range(130)]
    together = corpus([words[i : i + 2] for i in range(129)]).cooccurrence(words)
    assert together.patterns.shape == (129, 130)
    assert (together.units == 1).all()
    assert (together.patterns.sum(axis=1) == 2).all()
    assert together.patterns.sum(axis=0).tolist() == [1, *[2] * 128, 1]


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
def test_words_are_looked_up_in_lower_case():
    found = corpus([["Einstein", "NASA"], ["einstein"]])
    assert found.words() == ["einstein", "nasa"]
    assert found.rows(["Einstein", "nasa", "gone"]).tolist() == [0, 1, -1]
    assert "EINSTEIN" in found
    assert found.take(["einstein"], np.array([0])).tolist() == [[2.0]]
    result = bg.metrics.pair_frequency(bg.Query([["Einstein", "einstein"], ["x"]], [["NASA"]]), found)
    assert result.found["Target set 0"] == {"Einstein": ["einstein"], "einstein": ["einstein"]}


def test_blocks_of_any_size_give_the_same_bytes(tmp_path, monkeypatch):
    (tmp_path / "text").write_text("\n".join(" ".join(WORDS[i % 6 :]) for i in range(50)))
    made = []
    for size in (1 << 22, 7):
        monkeypatch.setattr(counting, "BLOCK", size)
        made.append(
            counting.make_corpus(tmp_path / "text", tmp_path / str(size), name="x", model={}, metadata={})
        )
    assert made[0].metadata == made[1].metadata
    files = [{path.name: path.read_bytes() for path in one.path.iterdir() if path.suffix} for one in made]
    assert files[0] == files[1]


def test_an_opened_corpus_can_be_pickled_and_says_what_it_is():
    found = corpus([["he", "left"], ["she", "left"]], name="tiny")
    assert repr(found) == "Corpus('tiny': 3 words, 4 tokens, 2 sentences)"
    assert "<td>tiny</td>" in found._repr_html_()
    assert pickle.loads(pickle.dumps(found)).words() == found.words() == list(found)


QUERY = bg.Query([["a"], ["b"]], [["c"]])


def counted(*lines):
    return bg.load(list(lines), kind="corpus", name="tiny")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: counted("...", " "), "has no words: no corpus"),
        (lambda: bg.load("gone.txt", kind="corpus"), "no such file"),
        (lambda: counted(3), "a list of sentences as text, and 3 is none"),
        (
            lambda: bg.load(["a"], kind="corpus", format="tokkens"),
            "format: unknown format 'tokkens'; did you mean 'tokens'?",
        ),
        (lambda: bg.load(["a"], kind="corpora"), "kind: unknown value 'corpora'"),
        (lambda: bg.load(__file__, kind="corpus", sha256="00"), "expected sha256 00, got "),
        (
            lambda: bg.metrics.pmi(QUERY, counted("a b c")),
            "in which all words stand together: count in windows",
        ),
        (lambda: bg.metrics.pmi(QUERY, counted("a b", "c"), window=1), "window: 1 is not allowed"),
        (
            lambda: bg.metrics.rnd(QUERY, counted("a c", "b")),
            "rnd needs a model of kind vectors, and tiny is one of corpus",
        ),
        (
            lambda: bg.metrics.pmi(QUERY, bg.load({"a": [1, 0], "b": [0, 1], "c": [1, 1]}, name="small")),
            "pmi needs a model of kind corpus, and small is one of vectors",
        ),
        (lambda: counted("a").under(None), "a debias method changes vectors, of which it has none"),
    ],
)
def test_what_is_no_corpus_or_not_for_one_gets_one_line(call, says):
    with refused(says):
        call()


@pytest.mark.parametrize(
    "file", ["model.json", "vocabulary.sqlite", "counts.npy", "places.npy", "starts.npy"]
)
@pytest.mark.parametrize("damage", ["gone", "cut", "empty"])
def test_a_damaged_folder_is_refused(tmp_path, file, damage):
    (tmp_path / "text").write_text("he left\nshe left\n" * 50)
    made = counting.make_corpus(tmp_path / "text", tmp_path / "corpus", name="x", model={}, metadata={}).path
    content = (made / file).read_bytes()
    if damage == "gone":
        (made / file).unlink()
    else:
        (made / file).write_bytes(content[: len(content) // 2] if damage == "cut" else b"")
    with pytest.raises(BiasgridError, match=r"not a corpus|not a whole corpus|is damaged"):
        Corpus.open(made).words()


def test_a_changed_key_of_its_own_makes_another_corpus(tmp_path):
    (tmp_path / "text").write_text("he left she came he left")
    source = {"type": "file", "path": str(tmp_path / "text")}
    model = {"label": "Text", "kind": "corpus", "window": 2, "source": source}
    for window in (2, 3):
        made = build_store("text", model | {"window": window}, tmp_path / "stores")
        assert (made.window, made.units(made.window)) == (window, 6 // window)
