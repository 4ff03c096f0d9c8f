"""Counts of words: kept by the formats that have them, beside the vectors of a store."""

import json
import pickle

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors, Word2Vec
from gensim.models.fasttext import save_facebook_model
from gensim.models.keyedvectors import CompatVocab

import biasgrid
from biasgrid.models import EmbeddingStore
from biasgrid.models.readers import convert

# "the" 5 times, "cat" 3 times, "dog" and "sat" twice, "ran" once
SENTENCES = [
    ["the", "cat", "sat"],
    ["the", "dog", "ran"],
    ["the", "cat", "the", "dog"],
    ["the", "cat", "sat"],
]
COUNTS = {"the": 5, "cat": 3, "dog": 2, "sat": 2, "ran": 1}
SMALL = {"vector_size": 4, "min_count": 1, "epochs": 1, "seed": 1, "workers": 1}


def counts_of(store) -> dict[str, int]:
    assert store.counts.dtype == np.int64
    assert store.counts.shape == (len(store.array),)
    return dict(zip(store.words(), store.counts.tolist(), strict=True))


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(("made_by", "more"), [(Word2Vec, {}), (FastText, {"bucket": 20})])
def test_what_gensim_saves_of_a_trained_model_has_counts(tmp_path, made_by, more, whole):
    model = made_by(SENTENCES, **SMALL, **more)
    (model if whole else model.wv).save(str(tmp_path / "m.model"))
    store = convert(tmp_path / "m.model", tmp_path / "store", name="m", trust_pickle=True)
    assert counts_of(store) == COUNTS
    assert store.metadata.get("tokens") == (13 if whole else None)


@pytest.mark.parametrize("number", [int, np.int64, np.uint32])
@pytest.mark.parametrize("protocol", [2, 5])
def test_the_entries_of_gensim_3s_vocabulary_have_counts(tmp_path, number, protocol):
    made = KeyedVectors.__new__(KeyedVectors)
    vocab = {word: CompatVocab(count=number(n), index=i) for i, (word, n) in enumerate(COUNTS.items())}
    vectors = np.ones((len(COUNTS), 2), dtype=np.float32)
    made.__dict__ = {"index2word": list(COUNTS), "vectors": vectors, "vocab": vocab}
    (tmp_path / "m.kv").write_bytes(pickle.dumps(made, protocol))
    assert counts_of(convert(tmp_path / "m.kv", tmp_path / "store", name="m", trust_pickle=True)) == COUNTS


def test_facebooks_dictionary_has_counts(tmp_path):
    save_facebook_model(FastText(SENTENCES, **SMALL, bucket=20), str(tmp_path / "m.bin"))
    assert counts_of(convert(tmp_path / "m.bin", tmp_path / "store", name="m")) == COUNTS


def test_ranks_in_place_of_counts_are_left_out(tmp_path):
    """gensim gives the words of a word2vec file the numbers n, n-1, ..., 1."""
    (tmp_path / "m.txt").write_text("3 2\nthe 1 2\ncat 3 4\ndog 5 6\n")
    vectors = KeyedVectors.load_word2vec_format(str(tmp_path / "m.txt"))
    assert vectors.expandos["count"].tolist() == [3, 2, 1]
    vectors.save(str(tmp_path / "m.kv"))
    assert convert(tmp_path / "m.kv", tmp_path / "store", name="m", trust_pickle=True).counts is None


@pytest.mark.parametrize("counts", [[5, 3], [5, 3, 0], [5.0, 3.0, 1.0], [5, 3, -1], [1, 1, 1]])
def test_what_cannot_be_counts_is_left_out(tmp_path, counts):
    vectors = KeyedVectors(2)
    vectors.add_vectors(["the", "cat", "dog"], np.ones((3, 2), dtype=np.float32))
    vectors.expandos["count"] = np.array(counts)
    (tmp_path / "m.kv").write_bytes(pickle.dumps(vectors))
    assert convert(tmp_path / "m.kv", tmp_path / "store", name="m", trust_pickle=True).counts is None


def made(tmp_path, name="store"):
    Word2Vec(SENTENCES, **SMALL).save(str(tmp_path / "m.model"))
    return convert(tmp_path / "m.model", tmp_path / name, name="m", trust_pickle=True)


def test_a_store_of_a_store_and_a_saved_one_keep_counts(tmp_path):
    store = made(tmp_path)
    again = convert(store.path, tmp_path / "again", name="m")
    assert counts_of(again) == COUNTS
    again.save(tmp_path / "saved")
    assert counts_of(biasgrid.load(tmp_path / "saved")) == COUNTS


def test_a_debiased_model_keeps_the_counts_of_its_words(tmp_path):
    store = made(tmp_path)
    transform = biasgrid.debias.leace(store, classes={"a": ["the", "cat"], "b": ["dog", "sat"]})
    debiased = store.under(transform)
    assert debiased.counts is store.counts
    debiased.save(tmp_path / "debiased")
    assert counts_of(EmbeddingStore.open(tmp_path / "debiased")) == COUNTS


def test_duplicates_keep_the_first_words_count(tmp_path):
    from biasgrid.models.store_writer import StoreWriter

    with StoreWriter(tmp_path / "store", "made") as writer:
        writer.add(["a", "b", "a"], np.ones((3, 2)), counts=np.array([7, 5, 3]))
        writer.finish({"name": "m", "vocab_prefix": ""})
    assert counts_of(EmbeddingStore.open(tmp_path / "store")) == {"a": 7, "b": 5}


def test_a_store_without_counts_replaces_one_with_them(tmp_path):
    store = made(tmp_path)
    assert (store.path / "counts.npy").is_file()
    (tmp_path / "m.txt").write_text("the 1 2\ncat 3 4\n")
    without = convert(tmp_path / "m.txt", store.path, name="m")
    assert without.counts is None
    assert not (store.path / "counts.npy").exists()
    assert set(without.metadata["sha256"]) == {"vectors.npy", "vocabulary.sqlite"}


def test_counts_have_a_checksum(tmp_path):
    from hashlib import sha256

    store = made(tmp_path)
    digest = sha256((store.path / "counts.npy").read_bytes()).hexdigest()
    assert json.loads((store.path / "model.json").read_text())["sha256"]["counts.npy"] == digest
