"""Short names of models: as short as they can be while they tell models apart."""

import pytest

from biasgrid.core.labels import short_labels, sic

EMBEDDED = {
    "w2v": "word2vec Google News 300d (subset, 13,013 words)",
    "glove": "GloVe 6B 50d (complete)",
    "spacy": "spaCy en_core_web_md 3.7.1 Explosion Vectors (20,000 rows, long vectors)",
    "glove-840b": "GloVe 840B 300d (filtered, 33,860 words)",
}


def test_short_labels_have_as_many_words_as_tell_models_apart():
    assert short_labels(EMBEDDED) == {
        "w2v": "word2vec",
        "glove": "GloVe 6B",
        "spacy": "spaCy",
        "glove-840b": "GloVe 840B",
    }


@pytest.mark.parametrize(
    ("labels", "short"),
    [
        (["word2vec Google News 300d (subset, 9 words)"], ["word2vec Google News 300d"]),
        (
            ["GloVe (base)", "GloVe, seed 2", "GloVe, seed 3"],
            ["GloVe (base)", "GloVe, seed 2", "GloVe, seed 3"],
        ),
        (["CBOW, Brown, seed 1", "skip-gram, Brown, seed 1"], ["CBOW", "skip-gram"]),
        (["BERT", "BERT large"], ["BERT", "BERT large"]),
        (["GloVe (whole, 9)", "GloVe (whole, 9) copy 2"], ["GloVe (whole)", "GloVe copy 2"]),
        (["GloVe (not closed", "fastText (a (b))"], ["GloVe", "fastText"]),
        # alike without brackets: the first part in brackets, else all of it
        (["fastText (a, 1)", "fastText (b, 2)"], ["fastText (a)", "fastText (b)"]),
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
