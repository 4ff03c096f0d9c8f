"""Short names of models: short, different, and never without what says that a file is a part of a model."""

import pytest

from biasgrid.labels import short_labels, sic

EMBEDDED = {
    "w2v": "word2vec Google News 300d (subset, 13,013 words)",
    "glove": "GloVe 6B 50d (complete)",
    "spacy": "spaCy en_core_web_md 3.7.1 Explosion Vectors (20,000 rows, long vectors)",
    "glove-840b": "GloVe 840B 300d (filtered, 33,860 words)",
}


def test_as_many_words_as_tell_models_apart_and_what_the_file_is():
    assert short_labels(EMBEDDED) == {
        "w2v": "word2vec (subset)",
        "glove": "GloVe 6B (complete)",
        "spacy": "spaCy (20,000 rows)",
        "glove-840b": "GloVe 840B (filtered)",
    }


@pytest.mark.parametrize(
    ("labels", "short"),
    [
        (["word2vec Google News 300d (subset, 9 words)"], ["word2vec Google News 300d (subset)"]),
        (
            ["GloVe (base)", "GloVe, seed 2", "GloVe, seed 3"],
            ["GloVe (base)", "GloVe, seed 2", "GloVe, seed 3"],
        ),
        (["CBOW, Brown, seed 1", "skip-gram, Brown, seed 1"], ["CBOW", "skip-gram"]),
        (["BERT", "BERT large"], ["BERT", "BERT large"]),
        (["GloVe (whole, 9)", "GloVe (whole, 9) copy 2"], ["GloVe (whole)", "GloVe (whole) copy 2"]),
        (["GloVe (not closed", "fastText (a (b))"], ["GloVe", "fastText (a (b))"]),
        # alike when cut: whole
        (["fastText (a, 1)", "fastText (a, 2)"], ["fastText (a, 1)", "fastText (a, 2)"]),
        (["Model <one>", "Model <two>"], ["Model <one>", "Model <two>"]),
        ([], []),
    ],
)
def test_short_labels(labels, short):
    assert list(short_labels(dict(enumerate(labels))).values()) == short


def test_a_misspelling_of_print_is_marked():
    name = "Male terms and Female terms wrt Intelligence and Appearence"
    assert sic(name) == f"{name} [sic]"
    assert sic("Appearance and Family") == "Appearance and Family"
