"""`load`: models of every kind, and that they give the values of the store of the same vectors."""

from __future__ import annotations

import gc
import json
import multiprocessing
import pickle
import struct
import tracemalloc
import weakref
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, make_store
from gensim.models import FastText, KeyedVectors, Word2Vec
from gensim.models.fasttext import load_facebook_vectors, save_facebook_model
from loopback import started
from refusals import refused

from biasgrid import EmbeddingStore, Query, debias, metrics
from biasgrid.core import resources
from biasgrid.core.errors import BiasgridError, DiskError, InputError, NetworkError, WordError
from biasgrid.measure.measure import measure
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.measure.result import as_json
from biasgrid.models import build_store, shipped
from biasgrid.models.load import load
from biasgrid.models.sources import verify

SENTENCES = [[f"w{i * j % 37}{'é' * (i % 3)}" for i in range(12)] for j in range(200)]
SETS = json.loads((ROOT / "data/word_sets/weat.json").read_text())["sets"]
CAREER = Query(
    [SETS["male_terms"], SETS["female_terms"]], [SETS["career"], SETS["family"]], ["M", "F"], ["C", "Fa"]
)
CROSSED = Query([words[4 * i : 4 * i + 4] for words in CAREER.target_sets for i in (0, 1)], [SETS["career"]])
WORDS = ["he", "she", "naïve", "中文", "a b"]
VECTORS = np.random.default_rng(0).normal(size=(5, 4))
SEVERAL = {"definitional_pairs": [["he", "she"], ["man", "woman"], ["boy", "girl"], ["king", "queen"]]}


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """gensim's Word2Vec and FastText of made-up sentences, and the folder of their files."""
    folder = tmp_path_factory.mktemp("trained")
    options = {"vector_size": 8, "min_count": 1, "epochs": 1, "seed": 1, "workers": 1}
    word2vec, fasttext = Word2Vec(SENTENCES, **options), FastText(SENTENCES, **options, bucket=500)
    word2vec.save(str(folder / "w2v.model"))
    word2vec.save(str(folder / "w2v_large.model"), sep_limit=10)
    word2vec.wv.save(str(folder / "w2v.kv"))
    fasttext.save(str(folder / "ft.model"))
    fasttext.save(str(folder / "ft_large.model"), sep_limit=10)
    fasttext.wv.save(str(folder / "ft.kv"))
    fasttext.wv.save(str(folder / "ft_large.kv"), sep_limit=10)
    save_facebook_model(fasttext, str(folder / "ft.bin"))
    return SimpleNamespace(word2vec=word2vec, fasttext=fasttext, folder=folder)


@pytest.fixture(scope="session")
def keyed_vectors(word2vec) -> KeyedVectors:
    """The real vectors as a gensim user has them."""
    vectors = KeyedVectors(word2vec.dimensions)
    vectors.add_vectors(word2vec.words(), word2vec.array)
    return vectors


# what a model can be made of


def test_a_mapping_a_pair_and_a_frame_are_one_model():
    frame = pd.DataFrame(VECTORS, index=WORDS)
    sources = [dict(zip(WORDS, VECTORS, strict=True)), (WORDS, VECTORS), [WORDS, VECTORS.tolist()], frame]
    models = [load(source, name="tiny") for source in sources]
    for model in models:
        assert (model.name, len(model), model.dimensions, list(model)) == ("tiny", 5, 4, WORDS)
        assert (model.vectors(WORDS) == VECTORS.astype(np.float32)).all()
        assert model.fingerprint == models[0].fingerprint
    assert [load(source).name for source in sources] == ["model", "model", "model", "DataFrame"]


def test_it_is_a_copy():
    vectors = VECTORS.astype(np.float32)
    model = load((WORDS, vectors))
    before = model["he"]
    vectors[:] = 7
    assert (model["he"] == before).all()
    with pytest.raises(ValueError, match="read-only"):
        model.array[0] = 1


def test_the_first_of_duplicates_counts():
    with pytest.warns(UserWarning, match="duplicate_words 1"):
        model = load((["a", "b", "a"], np.eye(3)))
    assert model["a"].tolist() == [1, 0, 0]
    assert len(model) == len(model.array) == 2


def test_gensim_models_and_their_vectors(trained):
    for given in (trained.word2vec, trained.word2vec.wv, trained.fasttext, trained.fasttext.wv):
        vectors = getattr(given, "wv", given)
        model = load(given)
        assert model.words() == list(vectors.index_to_key)
        assert (model.array == vectors.vectors).all()
        assert model.name == type(given).__name__


def test_wefes_model_has_its_name_and_prefix(trained):
    prefixed = KeyedVectors(4)
    prefixed.add_vectors([f"/c/en/{word}" for word in WORDS], VECTORS)
    wefe = SimpleNamespace(
        wv=prefixed, vocab=prefixed.key_to_index, name="Numberbatch", vocab_prefix="/c/en/"
    )
    model = load(wefe)
    assert (model.name, model.vocab_prefix) == ("Numberbatch", "/c/en/")
    query = Query([["he"], ["she"]], [["naïve"], ["中文"]])
    plain = load((WORDS, VECTORS))
    assert metrics.weat(query, model).value == metrics.weat(query, plain).value
    assert load(SimpleNamespace(wv=trained.word2vec.wv, name="x", vocab_prefix=None)).vocab_prefix == ""
    assert load(wefe, name="mine").name == "mine"


def test_flairs_static_embeddings():
    class Weight:  # as torch's parameter
        def detach(self):
            return self

        cpu = detach

        def numpy(self):
            return np.vstack([VECTORS, np.zeros(4)]).astype(np.float32)  # the last is for unknown words

    vocab = dict(zip(WORDS[::-1], range(4, -1, -1), strict=True))
    flair = SimpleNamespace(vocab=vocab, embedding=SimpleNamespace(weight=Weight()), name="glove")
    model = load(flair)
    assert (model.name, len(model)) == ("glove", 5)
    assert (model.vectors(WORDS) == VECTORS.astype(np.float32)).all()
    older = KeyedVectors(4)
    older.add_vectors(WORDS, VECTORS)
    old = load(SimpleNamespace(precomputed_word_embeddings=older, name="old"))
    assert (old.vectors(WORDS) == model.vectors(WORDS)).all()


def test_files_and_stores(tmp_path):
    text = tmp_path / "mine.txt"
    text.write_text("he 1 0\nshe 0 1\n")
    model = load(text)
    assert (model.name, model["she"].tolist()) == ("mine", [0, 1])
    named = load(str(text), name="named", format="text")
    assert named.name == "named"
    store = make_store(tmp_path, WORDS[:2], VECTORS[:2])
    assert load(store.path).name == "made"
    assert load(store.path, name="other").name == "other"
    assert load(store) is store


@pytest.mark.slow
def test_a_files_store_goes_with_the_model(tmp_path):
    text = tmp_path / "mine.txt"
    text.write_text("he 1 0\nshe 0 1\n")
    model = load(text)
    folder, pickled = model.path.parent, pickle.dumps(model)
    assert pickle.loads(pickled)["he"].tolist() == [1, 0]
    # a child that lets go of its copy removes nothing
    context = multiprocessing.get_context("fork")
    child = context.Process(target=gc.collect)
    child.start()
    child.join()
    assert folder.is_dir()
    del model
    gc.collect()
    assert not folder.exists()
    with pytest.raises(BiasgridError, match="store is gone"):
        pickle.loads(pickled)


@pytest.mark.parametrize(
    ("source", "options", "says"),
    [
        (3, {}, "cannot load int 3; allowed: a path"),
        (None, {}, "cannot load NoneType"),
        (np.eye(2), {}, "give load(array, words=[...])"),
        ({}, {}, "the mapping is empty"),
        ({"a": [1, 2], "b": [1]}, {}, "the vector of 'b' has shape (1,)"),
        ({"a": "xy"}, {}, "the vector of 'a'"),
        ({1: [1, 2]}, {}, "1 is not a word"),
        ((["a"], [[1, 2], [3, 4]]), {}, "1 words, but 2 vectors"),
        ((["a", "b"], [[1, "x"], [3, 4]]), {}, "expected numbers"),
        ((["a"], [[1, np.nan]]), {}, "word 'a', has a value nan"),
        ((["a"], [1.0]), {}, "an array of numbers (words, dimensions)"),
        (pd.DataFrame(np.eye(2), index=["a", np.nan]), {}, "keep_default_na"),
        (pd.DataFrame({"x": [1.0], "y": ["z"]}, index=["a"]), {}, "not of numbers"),
        ({"a": [1]}, {"format": "text"}, "format is for files"),
        ({"a": [1]}, {"subwords": True}, "subwords=True is for fastText"),
        ({"a": [1]}, {"vocab_prefix": "/c/"}, "no word begins with vocab_prefix"),
        ({"a": [1]}, {"name": 7}, "name: expected a text, not 7"),
        (Path("nowhere"), {}, "nowhere: no such file or folder"),
        ("nowhere/model.bin", {}, "no such file or folder"),
        ("", {}, "empty text"),
        ("a" * 5000, {}, "no such file or folder"),
        ((None, VECTORS), {}, "None is no list of words"),
        ((WORDS, VECTORS.astype(complex)), {}, "complex numbers"),
        ({"a": np.array([1j])}, {}, "complex numbers"),
        ("glove-6b-50", {}, "did you mean 'glove-6b-50d'"),
        ("glove-6b-50d", {"sha256": "0"}, "sha256: is not for a model that is loaded by its name"),
    ],
)
def test_wrong_use_is_answered_in_one_sentence(source, options, says):
    with refused(says, kind=InputError):
        load(source, **options)


PAIRS = {"definitional_pairs": [["w0", "w1"], ["w2", "w3"]]}


@pytest.fixture
def made(random_model, trained, tmp_path):
    """Models of every make, and a folder with files that are none."""
    np.savez(tmp_path / "half.npz", words=np.array(WORDS))
    np.savez(tmp_path / "objects.npz", words=np.array([1, "a"], dtype=object), vectors=VECTORS[:2])
    np.savez(tmp_path / "fewer.npz", words=np.array(WORDS[:3]), vectors=VECTORS)
    (tmp_path / "file").write_text("")
    return SimpleNamespace(
        store=random_model(0),
        transform=debias.linear_projection(random_model(0), **PAIRS),
        axes=load((["a", "b", "zero"], np.array([[1.0, 0], [0, 1], [0, 0]]))),
        tiny=make_store(tmp_path, WORDS[:2], VECTORS[:2]),
        odd=load((WORDS, VECTORS)),
        trained=trained,
        folder=tmp_path,
    )


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda of: load(of.transform), InputError, "a transform is no model: put it over one"),
        (
            lambda of: debias.linear_projection(of.store.under(of.transform), **PAIRS),
            InputError,
            "to debias it again, save it",
        ),
        (lambda of: of.store.under("hard"), InputError, "expected a transform"),
        (lambda of: of.store["W3"], WordError, "has no word 'W3'; did you mean 'w3'?"),
        (lambda of: of.store["W3"], KeyError, "did you mean"),
        (lambda of: load((of.store.words(), of.store.array))["W3"], WordError, "did you mean 'w3'?"),
        (lambda of: of.store[["w3"]], InputError, "expected one word"),
        (lambda of: of.axes[["a"]], InputError, "expected one word"),
        (lambda of: of.store.vectors("w3"), InputError, "w3"),
        (lambda of: of.axes.vectors("a"), InputError, "'a'"),
        (lambda of: of.axes.most_similar("zero"), InputError, "no direction"),
        (lambda of: of.axes.most_similar([]), InputError, "no direction"),
        (lambda of: of.axes.most_similar([np.zeros(2)]), InputError, "no direction"),
        (lambda of: of.axes.most_similar([1.0, 2.0, 3.0]), InputError, "shape (3,)"),
        (lambda of: of.axes.most_similar("a", topn=0), InputError, "topn: 0 is not allowed"),
        (lambda of: of.axes.most_similar(3), InputError, "most_similar: 3 is not allowed"),
        (lambda of: of.store.under(of.transform, name=3), InputError, "name: expected a text, not 3"),
        (lambda of: load(of.folder / "half.npz"), BiasgridError, "found words <U5 (5,)"),
        (lambda of: load(of.folder / "objects.npz"), BiasgridError, "of Python objects"),
        (lambda of: load(of.folder / "fewer.npz"), BiasgridError, "3 words"),
        (lambda of: of.odd.save(of.folder / "m.doc"), BiasgridError, "cannot write '.doc'"),
        (lambda of: of.odd.save(of.folder / "m.txt"), BiasgridError, "cannot hold the word 'a b'"),
        (lambda of: of.odd.save(of.folder / "file" / "m.npz"), DiskError, "file"),
        (lambda of: load(of.trained.folder / "w2v.model"), BiasgridError, "trust_pickle=True"),
        (
            lambda of: load(of.trained.folder / "w2v.model", trust_pickle=True, subwords=True),
            BiasgridError,
            "gensim-kv has no n-grams",
        ),
        (lambda of: load(of.trained.word2vec, subwords=True), InputError, "has no n-grams"),
        (lambda of: load(of.tiny.path, subwords=True), InputError, "subwords: is not for a store"),
    ],
)  # fmt: skip
def test_what_a_model_cannot_is_answered_in_one_sentence(made, call, kind, says):
    before = sorted(made.folder.rglob("*"))
    with refused(says, kind=kind):
        call(made)
    assert sorted(made.folder.rglob("*")) == before


# what a model can do


def test_look_ups(random_model):
    store = random_model(0)
    memory = load((store.words(), store.array), name="memory")
    for model in (store, memory):
        assert model["w3"].shape == (9,)
        assert (model.vectors(["w3", "w1"]) == store.array[[3, 1]]).all()
        assert model.vectors([]).shape == (0, 9)
        assert "w3" in model
        assert "he" not in model
        assert 3 not in model
        assert list(model) == model.words()


def test_most_similar_is_gensims(word2vec, keyed_vectors):
    memory = load(keyed_vectors)
    for arguments in (
        {"positive": "doctor"},
        {"positive": ["king", "woman"], "negative": ["man"]},
        {"positive": keyed_vectors["nurse"], "topn": 4},
        {"positive": ["he"], "topn": 5, "restrict_vocab": 5000},
    ):
        expected = keyed_vectors.most_similar(**arguments)
        for model in (word2vec, memory):
            found = model.most_similar(**arguments)
            assert [word for word, _ in found] == [word for word, _ in expected]
            np.testing.assert_allclose(
                [value for _, value in found], [value for _, value in expected], atol=1e-6
            )


def test_what_has_no_direction_is_similar_to_nothing():
    model = load((["a", "b", "zero"], np.array([[1.0, 0], [0, 1], [0, 0]])))
    assert model.most_similar("a") == [("b", 0.0)]


def test_reprs_are_short(random_model):
    store = random_model(0)
    transform = debias.linear_projection(store, definitional_pairs=[["w0", "w1"], ["w2", "w3"]])
    memory = load({"<b>": [1, 2]}, name="<i>")
    for model in (store, memory, store.under(transform), store.under(transform, name="mine")):
        text, page = repr(model), model._repr_html_()
        assert "\n" not in text
        assert len(text) < 300
        assert model.name in text
        assert page.startswith("<table>")
    assert "<i>" not in memory._repr_html_()
    assert store.under(transform).name == "made_linear_projection_debiased"
    assert store.under(transform, name="mine").name == "mine"


# the same values


@pytest.mark.slow
def test_every_metric_and_its_inference_give_the_values_of_the_store(word2vec, keyed_vectors):
    memory = load(keyed_vectors, name=word2vec.name)
    for metric in (metric for metric in metrics.REGISTRY.values() if metric.needs == "vectors"):
        query = CROSSED if metric.template[0] == 4 else CAREER
        one, other = (measure(MeasurementSpec(metric, seed=3), query, model) for model in (word2vec, memory))
        assert [as_json(result) for result in one] == [as_json(result) for result in other], metric.name
    parts = {"permutation": {}, "random_groups": {}, "bootstrap": {}, "sensitivity": {}}
    one, other = (as_json(metrics.weat(CAREER, model, **parts)) for model in (word2vec, memory))
    assert one == other


@pytest.mark.slow
def test_every_debias_method_gives_the_transform_of_the_store(word2vec, keyed_vectors):
    memory = load(keyed_vectors, name=word2vec.name)
    few = {"target": ["doctor", "nurse", "engineer", "teacher"]}
    words = {
        "hard": SEVERAL,
        "multiclass_hard": {
            "definitional_sets": SEVERAL["definitional_pairs"],
            "equalize_sets": [["boy", "girl"]],
        },
        "double_hard": {**SEVERAL, "n_words": 100, "n_components": 2},
        "hsr": {"definitional_words": ["he", "she", "man", "woman"]},
        "ran": {**SEVERAL, **few, "epochs": 3},
        "inlp": {**SEVERAL, "n_words": 100, "n_iterations": 2},
        "leace": {**SEVERAL, "n_words": 100},
        "linear_projection": SEVERAL,
        "glpp": {"n_words": 200},
    }
    assert set(words) <= set(debias.REGISTRY)
    pairs = SEVERAL["definitional_pairs"]
    first, second = map(list, zip(*pairs, strict=True))
    of_kind = {"words": [*first, *second], "sets": pairs, "classes": {"first": first, "second": second}}
    for name, method in debias.REGISTRY.items():
        options = words.get(name) or {word: of_kind[method.words[word]] for word in method.required_words}
        one, other = (method(model, **options) for model in (word2vec, memory))
        assert one.fitted_on == other.fitted_on, name
        values = [
            metrics.weat(CAREER, model.under(transform)).value
            for model, transform in ((word2vec, one), (memory, other), (word2vec, other), (memory, one))
        ]
        assert len(set(values)) == 1, name


def test_gensim_objects_give_the_values_of_their_files(trained):
    words = trained.word2vec.wv.index_to_key
    query = Query([words[:5], words[5:10]], [words[10:15], words[15:20]])
    for given, files in (
        (trained.word2vec, ["w2v.model", "w2v_large.model", "w2v.kv"]),
        (trained.fasttext, ["ft.model", "ft_large.model", "ft.kv", "ft_large.kv", "ft.bin"]),
    ):
        expected = [metric(query, load(given)).value for metric in (metrics.weat, metrics.rnsb)]
        for file in files:
            model = load(trained.folder / file, trust_pickle=True)
            assert [metric(query, model).value for metric in (metrics.weat, metrics.rnsb)] == expected, file
            assert model.fingerprint == load(given.wv).fingerprint, file


def test_what_was_measured_is_not_kept(word2vec, keyed_vectors):
    """A model that nobody has any more takes no memory, whatever was computed of it."""
    asked = (word for sets in (CAREER.target_sets, CAREER.attribute_sets) for s in sets for word in s.words)
    words = [*dict.fromkeys([*asked, *word2vec.words()[:1500]])]
    model = load((words, word2vec.vectors(words)))
    assert metrics.weat(CAREER, model, random_groups={"draws": 99}).p_groups > 0
    of_gensim = load(keyed_vectors)
    metrics.weat(CAREER, of_gensim)
    held, held_of_gensim = weakref.ref(model), weakref.ref(of_gensim)
    del model, of_gensim
    gc.collect()
    assert held_of_gensim() is None
    assert held() is None


def value_of(model) -> float:
    return metrics.weat(CAREER, model).value


@pytest.mark.slow
def test_models_pickled_into_other_processes_give_the_same_values(word2vec, keyed_vectors, tmp_path):
    keyed_vectors.save_word2vec_format(str(tmp_path / "model.bin"), binary=True)
    memory, file = load(keyed_vectors), load(tmp_path / "model.bin")
    transform = debias.hard(memory, **SEVERAL)
    models = [word2vec, memory, file, word2vec.under(transform)]
    expected = [value_of(model) for model in models]
    assert len(set(expected[:3])) == 1
    assert expected[3] != expected[0]
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(value_of, models)) == expected


# written and read again


@pytest.mark.parametrize("suffix", [".kv", ".bin", ".txt", ".vec", ".npz", ".bin.gz", ""])
def test_saved_models_come_back(tmp_path, random_model, suffix):
    store = random_model(1)
    memory = load((store.words(), store.array), name="memory")
    pairs = [["w0", "w1"], ["w2", "w3"]]
    transform = debias.hard(store, definitional_pairs=pairs, equalize_pairs=[["w4", "w5"]], ignore=["w6"])
    for number, model in enumerate((store, memory, store.under(transform), memory.under(transform))):
        path = tmp_path / f"{number}{suffix}"
        model.save(path)
        back = load(path, trust_pickle=True)
        assert back.words() == store.words()
        assert (back.vectors(back.words()) == model.vectors(model.words())).all()
        assert ("debias" in back.metadata) == (suffix == "" and number > 1)
    if suffix in (".bin", ".npz", ".kv"):
        first, second = ((tmp_path / f"{number}{suffix}").read_bytes() for number in (2, 3))
        assert first == second


def test_npz_is_plain_numpy(tmp_path):
    load((WORDS, VECTORS)).save(tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz", allow_pickle=False) as arrays:
        assert arrays["words"].tolist() == WORDS
        assert (arrays["vectors"] == VECTORS.astype(np.float32)).all()
    np.savez_compressed(tmp_path / "yours.npz", words=np.array(WORDS), vectors=VECTORS)
    assert load(tmp_path / "yours.npz").fingerprint == load((WORDS, VECTORS)).fingerprint


# fastText


def test_words_of_fasttext_are_gensims(trained):
    expected = load_facebook_vectors(str(trained.folder / "ft.bin"))
    model = load(trained.folder / "ft.bin")
    assert (model.name, model.words()) == ("ft", list(expected.index_to_key))
    assert (model.vectors(model.words()) == expected.vectors).all()


@pytest.mark.parametrize("file", ["ft.bin", "ft.kv", "ft_large.kv", "ft.model", "ft_large.model", None])
def test_words_out_of_vocabulary_are_gensims(trained, file):
    source = trained.fasttext if file is None else trained.folder / file
    model = load(source, trust_pickle=True, subwords=True)
    words = ["doctor", "w1éé", "日本語", "naïve", "x", "🙂" * 30, "y" * 2000]
    expected = np.stack([trained.fasttext.wv[word] for word in words])
    assert (model.vectors(words) == expected).all()
    assert (pickle.loads(pickle.dumps(model)).vectors(words[::-1]) == expected[::-1]).all()
    assert "doctor" in model
    assert "" not in model  # "<>" has no n-gram of three characters
    assert (len(model), list(model)) == (len(trained.fasttext.wv), list(trained.fasttext.wv.index_to_key))
    without = load(source, trust_pickle=True)
    assert "doctor" not in without
    known = without.words()
    query = Query([words[:3], words[3:6]], [known[:4], known[4:8]])
    result = metrics.weat(query, model)
    assert (result.status, result.words_lost) == ("ok", 0)
    unit = {word: v / np.linalg.norm(v) for word, v in zip(known, without.vectors(known), strict=True)}
    a, b = (np.mean([unit[word] for word in part], axis=0) for part in (known[:4], known[4:8]))
    s = [v / np.linalg.norm(v) @ (a - b) for v in expected[:6].astype(float)]
    assert result.value == pytest.approx(sum(s[:3]) - sum(s[3:]), rel=1e-5)
    transform = debias.linear_projection(model, definitional_pairs=[["doctor", "nurse"], known[:2]])
    assert np.isfinite(model.under(transform)["doctor"]).all()


def test_the_hash_of_n_grams_is_fnv_1a_with_signed_bytes():
    # draft-eastlake-fnv: FNV-1a of 32 bits of "a" and "foobar"
    from biasgrid.models.subwords import ngram_rows

    buckets = 2**31 - 1
    ((row,), _) = ngram_rows([b"xay"], 1, 1, buckets)[0][1:2], None
    assert row == 0xE40C292C % buckets
    rows, counts = ngram_rows([b"foobar"], 6, 6, buckets)
    assert 0xBF9CF968 % buckets in rows.tolist()
    assert counts.tolist() == [3]  # <fooba, foobar, oobar>
    # the end of a sentence has none in fastText, and some in gensim
    assert ngram_rows([b"</s>", b"ab"], 3, 3, 7)[1].tolist() == [0, 2]
    assert ngram_rows([b"</s>"], 3, 3, 7, own_words=False)[1].tolist() == [4]


def facebook(
    rows=2, columns=3, buckets=0, *, words=(b"he", b"she"), entries=None, quantized=False, pruned=-1
) -> bytes:
    whole = struct.pack("<14id", 793712314, 12, columns, 5, 5, 5, 5, 1, 2, 2, buckets, 3, 6, 100, 1e-4)
    entries = len(words) if entries is None else entries
    whole += struct.pack("<3i2q", entries, entries, 0, 99, pruned)
    whole += b"".join(word + b"\0" + struct.pack("<qb", 7, 0) for word in words)
    return (
        whole
        + struct.pack("<?2q", quantized, rows, columns)
        + bytes(range(1, 25))
        + struct.pack("<?2q", False, 0, 3)
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (facebook(quantized=True), "is quantized"),
        (facebook(rows=2**40), "1099511627776 rows of 3 numbers, and"),
        (facebook(rows=2**62, columns=2**31 - 1), "dimensions"),
        (facebook(entries=2**31 - 1), "2147483647 entries"),
        (facebook(buckets=2**31 - 1), "2147483647 buckets"),
        (facebook(entries=-1), "-1 entries"),
        (facebook()[:-20], "not a whole fastText file"),
        (facebook()[:40], "not a whole fastText file"),
        (facebook(words=(b"x" * 300_000, b"y")), "no word ends after entry 0"),
    ],
)
def test_a_fasttext_file_that_lies_is_refused_without_taking_memory(tmp_path, content, says):
    path = tmp_path / "bad.bin"
    path.write_bytes(content)
    tracemalloc.start()
    with refused(says):
        load(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8 << 20
    good = tmp_path / "good.bin"
    good.write_bytes(facebook())
    assert load(good).words() == ["he", "she"]


def test_other_code_in_a_pickled_model_is_refused(tmp_path, trained):
    model = Word2Vec.load(str(trained.folder / "w2v.model"))
    model.callbacks = partial(print, "run")
    (tmp_path / "m.model").write_bytes(pickle.dumps(model))
    with refused("asks for functools.partial"):
        load(tmp_path / "m.model", trust_pickle=True)


# by name


@pytest.fixture
def server(tmp_path):
    """Serves the folder `served`."""
    folder = tmp_path / "served"
    folder.mkdir()
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with started(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as server:
        yield folder, f"http://127.0.0.1:{server.server_port}"


def test_a_model_by_name_is_fetched_once(tmp_path, server, monkeypatch, capsys):
    folder, address = server
    (folder / "v.txt").write_text("he 1 0\nshe 0 1\n")
    source = {"type": "url", "url": f"{address}/v.txt"}
    entry = {"label": "Tiny", "source": source, "download_mb": 5}
    monkeypatch.setattr(shipped, "shipped_models", lambda: {"tiny": entry})
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(tmp_path / "cache"))
    model = load("tiny")
    assert (model.name, model["she"].tolist()) == ("tiny", [0, 1])
    told = capsys.readouterr().err
    assert "tiny: downloading (url, 5 MB)" in told
    assert str(tmp_path / "cache") in told
    assert load("tiny", name="other").name == "other"
    assert "downloading" not in capsys.readouterr().err
    # trusted on first use
    assert (tmp_path / "cache" / "raw" / "tiny.first-seen.json").is_file()
    # an existing path comes first
    monkeypatch.chdir(tmp_path)
    Path("tiny").write_text("he 7 7\n")
    assert load("tiny")["he"].tolist() == [7, 7]
    # a store that is no shipped model's
    load({"a": [1.0]}).save(tmp_path / "cache" / "mine")
    assert load("mine")["a"].tolist() == [1]


def test_a_model_that_cannot_be_fetched(tmp_path, server, monkeypatch):
    _, address = server
    source = {"type": "url", "url": f"{address}/missing.txt"}
    monkeypatch.setattr(shipped, "shipped_models", lambda: {"tiny": {"source": source}})
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(tmp_path / "cache"))
    with refused("tiny: ", "404", kind=NetworkError):
        load("tiny")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(tmp_path / "file"))
    with pytest.raises(DiskError):
        load("tiny")


def test_shipped_models_are_whole():
    from biasgrid.core.validation import validate
    from biasgrid.study.config.models import Models

    models = shipped.shipped_models()
    validate(Models, models)
    assert {"glove-6b-50d", "word2vec-google-news-300", "glove-twitter-25"} <= set(models)
    assert all(model["download_mb"] for model in models.values())


def test_where_fetched_models_are_kept(tmp_path, monkeypatch):
    monkeypatch.delenv("BIASGRID_EMBEDDINGS", raising=False)
    assert resources.cache_folder() == ROOT / "data" / "embeddings"
    monkeypatch.setattr(resources, "resource", lambda path: tmp_path / path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.platform", "linux")
    assert resources.cache_folder() == tmp_path / "cache" / "biasgrid" / "embeddings"


def test_the_embedded_models_by_name(word2vec, monkeypatch):
    monkeypatch.delenv("BIASGRID_EMBEDDINGS", raising=False)
    assert load(word2vec.name).fingerprint == word2vec.fingerprint


# a store as a study's model


def test_a_store_is_a_studys_model(tmp_path):
    load((WORDS, VECTORS), name="mine").save(tmp_path / "mine")
    model = {"label": "Mine", "source": {"type": "file", "path": str(tmp_path / "mine")}}
    store = build_store("study", model, tmp_path / "embeddings")
    assert (store.name, store.words()) == ("study", WORDS)
    assert store.fingerprint == EmbeddingStore.open(tmp_path / "mine").fingerprint
    verify("study", tmp_path / "embeddings" / "raw")
    # another store in its place is another model
    load((WORDS, VECTORS * 2)).save(tmp_path / "mine")
    assert (build_store("study", model, tmp_path / "embeddings")["he"] == 2 * store["he"]).all()
    # its prefix is the store's own
    with pytest.raises(BiasgridError, match="is a store of vocab_prefix ''"):
        build_store("other", model | {"vocab_prefix": "h"}, tmp_path / "embeddings")


def test_words_that_share_a_row_do_so_in_a_copy(tmp_path):
    from biasgrid.models.store_writer import StoreWriter

    with StoreWriter(tmp_path / "shared", "test") as writer:
        writer.add(["a", "b", "c"], np.eye(4, dtype=np.float32), np.array([1, 1, 2]))
        writer.finish({"name": "shared", "vocab_prefix": ""})
    source = {"type": "file", "path": str(tmp_path / "shared")}
    store = build_store("copy", {"source": source}, tmp_path / "embeddings")
    assert store.rows(["a", "b", "c"]).tolist() == [1, 1, 2]
    assert (store.array == np.eye(4)).all()
