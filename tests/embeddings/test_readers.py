"""Foreign formats: gensim writes the files where it can, the formats' definitions say the rest."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import pickle
import re
import struct
import tarfile
import time
import warnings
import zipfile
from pathlib import Path

import msgpack
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from gensim.models import FastText, KeyedVectors
from gensim.models.fasttext import save_facebook_model
from gensim.models.keyedvectors import CompatVocab
from hypothesis import example, given, settings
from hypothesis import strategies as st

from biasgrid import load
from biasgrid.embeddings import EmbeddingStore, build_store, convert
from biasgrid.embeddings.readers import REGISTRY, detect, files, text
from biasgrid.errors import BiasgridError

WORDS = [
    "the",
    "naïve",
    "中文",
    "nan",
    "NA",
    "null",
    "inf",
    "1.5",
    "#",
    '"',
    "'",
    ".",
    "1",
    "a\u00a0b",
    "🙂",
    "\\",
]
VECTORS = np.random.default_rng(0).normal(size=(len(WORDS), 5)).astype(np.float32)

values = st.floats(width=32, allow_nan=False, allow_infinity=False)
# a word of the text format: no space, nothing that ends a line; of the binary format: no space
characters = st.characters(exclude_categories=["Cs"], exclude_characters=" \n\r\t\ufeff")
words_of_text = st.lists(st.text(characters, min_size=1, max_size=8), min_size=1, max_size=20, unique=True)


@pytest.fixture(autouse=True)
def warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        yield


def refused(*says: str):
    """One line that says all this."""
    pattern = "".join(rf"(?=.*{re.escape(part)})" for part in says)
    return pytest.raises(BiasgridError, match=rf"\A{pattern}[^\n]*\Z")


def keyed_vectors(words=WORDS, vectors=VECTORS) -> KeyedVectors:
    made = KeyedVectors(vectors.shape[1])
    made.add_vectors(list(words), vectors)
    return made


def assert_store(store: EmbeddingStore, words, vectors) -> None:
    """The same words in the same order, the same bits."""
    assert store.words() == list(words)
    assert store.rows(list(words)).tolist() == list(range(len(words)))
    assert store.array.shape == vectors.shape
    assert store.array.tobytes() == np.ascontiguousarray(vectors, np.float32).tobytes()


def lines(words=WORDS, vectors=VECTORS, end: str = "\n", separator: str = " ") -> str:
    """repr of a float64 gives every float32 back."""
    rows = zip(words, vectors.astype(float).tolist(), strict=True)
    return "".join(f"{separator.join([word, *map(repr, row)])}{end}" for word, row in rows)


def written(path: Path, content: str | bytes) -> Path:
    content = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.fixture
def output(tmp_path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def read(tmp_path, output):
    """Convert this content."""

    def read(content: str | bytes, name: str = "model.txt", **options) -> EmbeddingStore:
        return convert(written(tmp_path / name, content), output, name="model", **options)

    return read


# word2vec text and its relatives


@pytest.mark.parametrize("name", ["model.txt", "model.vec.gz"])
@pytest.mark.parametrize("header", ["", "16 5\n", "16 5 \r\n"])
@pytest.mark.parametrize("end", ["\n", " \n", "\r\n", " \r\n", "  \n", "\t\n"])
def test_text_is_read_whatever_ends_its_lines(read, name, header, end):
    store = read(header + lines(end=end), name)
    assert_store(store, WORDS, VECTORS)
    assert store.metadata["format"] == "text"
    assert store.metadata["warnings"] == {}


@pytest.mark.parametrize("before", ["", "\ufeff"])
@pytest.mark.parametrize("separator", ["\t", "  "])
def test_other_separators_a_byte_order_mark_and_no_last_line_break(read, before, separator):
    assert_store(read(before + "16 5\n" + lines(separator=separator).rstrip("\n")), WORDS, VECTORS)


def test_a_tab_between_word_and_numbers_only(read):
    content = "".join(line.replace(" ", "\t", 1) for line in lines().splitlines(keepends=True))
    assert_store(read(content), WORDS, VECTORS)


def test_gensims_own_text(tmp_path, read):
    # gensim prints float32 with repr, which numpy 2 writes as np.float32(...): its values are printed here
    content = f"{len(WORDS)} 5\n{lines()}"
    theirs = KeyedVectors.load_word2vec_format(str(written(tmp_path / "theirs.txt", content)))
    assert_store(read(content), theirs.index_to_key, theirs.vectors)


def test_words_may_have_spaces_tabs_and_numbers_in_them(read):
    # the first three are in GloVe 840B
    words = [". . .", "at name@domain.com", ". .", "a\tb", "12 months", "the", "1.5"]
    with pytest.warns(UserWarning, match="words_with_spaces 4"):
        store = read(lines(["first", *words], VECTORS[:8]))
    assert_store(store, ["first", *words], VECTORS[:8])


NUMBERS = [
    "0.27204",
    "-3",
    "+4.5",
    "1e-05",
    "1E5",
    ".5",
    "5.",
    "-0",
    "00.5",
    "1e-400",
    "3.4028235e38",
    "1e-45",
]
# halfway between two float32, and a little more than that: rounding twice differs from rounding once
NUMBERS += ["1.00000005960464477539", "1.000000059604644775390625", "1.00000017881393432617187499"]


def test_numbers_are_rounded_as_numpy_rounds_them(read):
    store = read("".join(f"w{i} {number} 1\n" for i, number in enumerate(NUMBERS)))
    expected = np.array([np.float32(float(number)) for number in NUMBERS])
    assert store.array[:, 0].tobytes() == expected.tobytes()


def test_long_files_are_read_in_blocks(read, tmp_path, monkeypatch):
    """Words and odd lines at every place relative to a block's borders."""
    monkeypatch.setattr(text, "BLOCK", 1000)
    words = [f"w{i}" for i in range(2000)]
    words[700:703] = [". .", "a\tb", "\ufeffx"]
    vectors = np.random.default_rng(3).normal(size=(2000, 4)).astype(np.float32)
    with pytest.warns(
        UserWarning, match="words_with_spaces 1, blank_lines 1|blank_lines 1, words_with_spaces 1"
    ):
        store = read(f"2000 4\n{lines(words, vectors)}\n")
    assert_store(store, words, vectors)
    content = lines(words, vectors).splitlines(keepends=True)
    content[1500] = "w1500 1 2 3\n"
    with refused("line 1501", "4 numbers", "found 3"):
        read("".join(content))


def test_a_long_plain_file_is_read_fast_path_and_slow_path_alike(read, monkeypatch):
    words = [f"w{i}" for i in range(500)]
    vectors = np.random.default_rng(4).normal(size=(500, 6)).astype(np.float32)
    expected = read(lines(words, vectors)).array.tobytes()

    def refuse(*_, **__):
        raise pa.ArrowInvalid("no")

    monkeypatch.setattr(text, "parse_csv", refuse)
    assert read(lines(words, vectors)).array.tobytes() == expected == vectors.tobytes()


def test_plain_blocks_do_not_take_the_slow_path(read, monkeypatch):
    monkeypatch.setattr(text, "_parse_lines", None)
    assert_store(read("16 5\n" + lines(end=" \n")), WORDS, VECTORS)


def test_duplicate_words_and_blank_lines_are_counted_once_told_and_put_up_with(read):
    with pytest.warns(UserWarning, match=r"model.txt: ") as caught:
        store = read("a 1 2\nb 3 4\n\na 5 6\n \nc 7 8\n\n")
    assert len(caught) == 1
    assert store.metadata["warnings"] == {"blank_lines": 3, "duplicate_words": 1}
    assert_store(store, ["a", "b", "c"], np.array([[1, 2], [3, 4], [7, 8]]))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("3 2\na 1 2\nb 1\nc 1 2\n", ("line 3", "2 numbers", "line 1 says", "found 1")),
        ("3 2\na 1 2\nb 1 2 3\nc 1 2\n", ("line 3", "2 numbers", "found 3")),
        ("a 1 2\nb 1 2\nc 1 2 3\n", ("line 3", "2 numbers", "found 3")),
        ("a 1 2\nb 1 2\nc\n", ("line 3", "2 numbers", "found 0")),
        ("a 1 2\nb 1 2\nc 1 x\n", ("line 3", "found 1", "'x'")),
        ("a 1 2\nb 1 2\nc 1 1_0\n", ("line 3", "found 1", "'1_0'")),
        ("a 1 2\nb 1 2\nc 1 0x1\n", ("line 3", "'0x1'")),
        ("a 1 2\nb 1 2\nc 1 2 d 1 2\n", ("line 3", "found 4", "'d'")),  # two lines in one
        ("2 3\na 1 2\nb 1 2\n", ("line 2", "3 numbers", "line 1 says", "found 2")),
        ("2 1\na 1 2\nb 1 2\n", ("line 2", "1 numbers", "line 1 says", "found 2")),
        ("3 2\na 1 2\nb 1 2\n", ("line 1 says 3 rows", "there are 2", "line 3")),
        ("1 2\na 1 2\nb 1 2\n", ("line 1 says 1 rows", "there are 2", "line 3")),
        ("2 0\na\nb\n", ("line 1", "0 dimensions")),
        ("a 1 2\nb nan 2\n", ("line 2", "'b'", "'nan'", "finite")),
        ("a 1 2\nb 1 -inf\n", ("line 2", "'b'", "'-inf'", "finite")),
        ("a 1 2\nb 1 Infinity\n", ("line 2", "'b'", "'Infinity'")),
        ("a 1 2\nb 1 1e39\n", ("line 2", "'b'", "'1e39'", "float32")),
        ("a 1 2\nb 1 1e999\n", ("line 2", "'b'", "'1e999'", "float32")),
        (b"a 1 2\nb\xff\xe4 1 2\n", ("line 2", "UTF-8")),
        ("400000 300\n", ("cut off", "400000 rows")),
        ("just some prose\nand no numbers\n", ("no known format",)),
        ("", ("is empty",)),
    ],
)
@pytest.mark.parametrize("name", ["model.txt", "model.txt.gz"])
def test_bad_text_is_refused_by_line(read, output, content, says, name):
    with refused(name, *says):
        read(content, name)
    assert not output.exists()


def test_a_file_without_rows_is_refused(read):
    with refused("line 1", "a word and numbers"):
        read("\n\n\n", format="text")
    with refused("line 2", "a word and numbers"):
        read("400000 300\n", format="text")
    with refused("line 1", "no dimensions"):
        read("2 0\na\nb\n", format="text")


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(words=words_of_text, data=st.data(), header=st.booleans(), end=st.sampled_from(["\n", " \n", "\r\n"]))
@example(words=["\x00", "\x85", "\u2028", "\x0b"], data=None, header=True, end=" \n")
def test_any_words_and_values_come_back_from_text(tmp_path_factory, words, data, header, end):
    folder = tmp_path_factory.mktemp("text")
    vectors = drawn(data, len(words))
    content = f"{len(words)} 3\n" * header + lines(words, vectors, end)
    store = convert(written(folder / "m.txt", content), folder / "store", name="m", format="text")
    assert_store(store, words, vectors)


def drawn(data, rows: int) -> np.ndarray:
    if data is None:
        return np.ones((rows, 3), dtype=np.float32)
    return np.array(
        data.draw(st.lists(st.tuples(values, values, values), min_size=rows, max_size=rows)), np.float32
    )


# word2vec binary


def binary(words=WORDS, vectors=VECTORS, end: bytes = b"", header: str | None = None) -> bytes:
    """word2vec.c ends a row with a line break (`end`), gensim does not."""
    header = f"{len(words)} {vectors.shape[1]}\n" if header is None else header
    rows = (
        (word if isinstance(word, bytes) else word.encode()) + b" " + row.astype("<f4").tobytes() + end
        for word, row in zip(words, vectors, strict=True)
    )
    return header.encode() + b"".join(rows)


@pytest.mark.parametrize("name", ["model.bin", "model.bin.gz"])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_binary_is_read(read, name, end):
    store = read(binary(end=end), name)
    assert_store(store, WORDS, VECTORS)
    assert store.metadata["format"] == "word2vec-binary"


@pytest.mark.parametrize("suffix", ["bin", "bin.gz"])
def test_gensims_own_binary(tmp_path, output, suffix):
    path = tmp_path / f"model.{suffix}"
    keyed_vectors().save_word2vec_format(str(path), binary=True)
    theirs = KeyedVectors.load_word2vec_format(str(path), binary=True)
    assert_store(convert(path, output, name="m"), theirs.index_to_key, theirs.vectors)


def test_a_long_binary_is_read_in_blocks(read, monkeypatch):
    monkeypatch.setattr("biasgrid.embeddings.readers.word2vec_binary.BLOCK", 100)
    monkeypatch.setattr("biasgrid.embeddings.readers.word2vec_binary.LONGEST_WORD", 64)
    words = [f"w{i}" * (i % 9 + 1) for i in range(300)]
    vectors = np.random.default_rng(5).normal(size=(300, 9)).astype(np.float32)
    assert_store(read(binary(words, vectors)), words, vectors)


def test_broken_words_of_a_binary_are_replaced_and_counted(read):
    with pytest.warns(UserWarning, match="broken_words 1"):
        store = read(binary([b"a", "é".encode()[:1] + b"x", b"c"], VECTORS[:3]))
    assert store.words() == ["a", "\ufffdx", "c"]


def test_a_binary_in_another_encoding_is_refused(read):
    words = [f"w{i}é".encode("latin1") for i in range(100)]
    with refused("100 of 100 words", "UTF-8", "5 dimensions"):
        read(binary(words, np.ones((100, 5))))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (binary()[:-1], ("cut off", "16 rows", "after 15 rows")),
        (binary()[:-30], ("cut off", "16 rows", "after 14 rows")),
        (binary(header="17 5\n"), ("cut off", "17 rows", "after 16 rows")),
        (binary(header="15 5\n"), ("15 rows", "5 dimensions", "bytes follow")),
        (binary(header="16 4\n"), ("16 rows of 4 dimensions",)),
        (binary(header="16 6\n"), ("16 rows of 6 dimensions",)),
        (binary(header="0 5\n"), ("line 1", "0 rows")),
        (binary(["a", "b", "a"], VECTORS[:3] * np.nan), ("vector 1", "'a'", "nan")),
        (binary(["a", "b"], np.array([[1.0, 2], [3, np.inf]])), ("vector 2", "'b'", "inf")),
        (binary(header=""), ("line 1", "400000 300")),
    ],
)
def test_bad_binary_is_refused(read, output, content, says):
    with warnings.catch_warnings(), refused("model.bin", *says):
        warnings.simplefilter("ignore")
        read(content, "model.bin", format="word2vec-binary")
    assert not output.exists()


def test_duplicate_words_of_a_binary(read):
    with pytest.warns(UserWarning, match="duplicate_words 1"):
        store = read(binary(["a", "b", "a"], VECTORS[:3]))
    assert_store(store, ["a", "b"], VECTORS[:2])


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    words=st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \n"), max_size=8),
        min_size=1,
        max_size=20,
        unique=True,
    ),
    data=st.data(),
    end=st.sampled_from([b"", b"\n"]),
    zipped=st.booleans(),
)
def test_any_words_and_values_come_back_from_binary(tmp_path_factory, words, data, end, zipped):
    folder = tmp_path_factory.mktemp("binary")
    vectors = drawn(data, len(words))
    path = written(folder / ("m.bin.gz" if zipped else "m.bin"), binary(words, vectors, end))
    assert_store(convert(path, folder / "store", name="m", format="word2vec-binary"), words, vectors)


# gensim's own format


@pytest.mark.parametrize("separately", [[], ["vectors"]])
def test_gensims_keyed_vectors(tmp_path, output, separately):
    path = tmp_path / "model.kv"
    keyed_vectors().save(str(path), separately=separately)
    assert (tmp_path / "model.kv.vectors.npy").exists() == bool(separately)
    store = convert(path, output, name="m", trust_pickle=True)
    assert_store(store, WORDS, VECTORS)
    assert store.metadata["format"] == "gensim-kv"


def nested(levels: int) -> tuple:
    """A tuple of two to the power of `levels` in a few bytes of a pickle."""
    return () if not levels else (nested_below := nested(levels - 1), nested_below)


@pytest.mark.parametrize(
    ("key", "says"),
    [
        (lambda: 10**6000, "key this int is not a word"),
        (lambda: nested(3), "key of type tuple is not a word"),
        (lambda: nested(30), "refused: the pickle has a tuple of more than 100 parts"),
        (lambda: None, "key None is not a word"),
        (lambda: b"he", "key b'he' is not a word"),
    ],
)
def test_a_key_that_is_no_word_is_named_in_a_line(tmp_path, output, key, says):
    model = keyed_vectors()
    model.index_to_key = [WORDS[0], key(), *WORDS[2:]]
    path = written(tmp_path / "m.kv", pickle.dumps(model, 4))
    with refused(f"{path}: {says}"):
        convert(path, output, name="m", trust_pickle=True)


def test_a_key_of_a_billion_parts_is_refused_before_it_is_one(tmp_path, output):
    """Python would go through all of them to find the key's place in the mapping."""
    twice = b"".join(b"h%ch%c\x86\x940" % (level, level) for level in range(30))
    path = written(tmp_path / "m.kv", b"\x80\x04)\x940" + twice + b"}h\x1eK\x01s.")
    with refused(f"{path}: refused: the pickle has a tuple of more than 100 parts"):
        convert(path, output, name="m", trust_pickle=True)


@pytest.mark.parametrize("names", [7, None, "vectors", {"vectors": 1}, [[], 3]])
def test_names_of_arrays_beside_a_pickle_are_a_list_of_texts(tmp_path, output, names):
    model = keyed_vectors()
    model.__dict__["__numpys"] = names
    path = written(tmp_path / "m.kv", pickle.dumps(model, 4))
    assert_store(convert(path, output, name="m", trust_pickle=True), WORDS, VECTORS)
    del model.vectors
    path = written(tmp_path / "m.kv", pickle.dumps(model, 4))
    with refused(f"{path}: holds no KeyedVectors"):
        convert(path, output, name="m", trust_pickle=True)


def fasttext_bin(words: list[bytes], own: np.ndarray, ngrams: np.ndarray, min_n: int, max_n: int) -> bytes:
    """As fastText's `saveModel` writes it."""
    d = own.shape[1]
    head = struct.pack("<14id", 793712314, 12, d, 5, 5, 5, 5, 1, 2, 1, len(ngrams), min_n, max_n, 100, 1e-4)
    head += struct.pack("<3i2q", len(words), len(words), 0, 99, -1)
    entries = b"".join(word + b"\0" + struct.pack("<qb", 7, 0) for word in words)
    matrix = struct.pack("<?2q", False, len(own) + len(ngrams), d) + own.tobytes() + ngrams.tobytes()
    return head + entries + matrix + struct.pack("<?2q", False, 2, d) + bytes(8 * d)


def test_a_long_word_is_the_mean_of_all_its_ngrams_one_after_the_other(tmp_path, output):
    rng = np.random.default_rng(3)
    own, ngrams = (rng.normal(size=(rows, 3)).astype("<f4") for rows in (2, 7))
    words = [b"ab" * 1500, b"short"]
    path = written(tmp_path / "m.bin", fasttext_bin(words, own, ngrams, 3, 3))
    store = convert(path, output, name="m")
    for row, word in enumerate(words):
        marked, total = b"<" + word + b">", own[row].copy()
        for start in range(len(marked) - 2):
            value = 2166136261
            for byte in marked[start : start + 3]:
                value = (value ^ byte) * 16777619 % 2**32
            total += ngrams[value % 7]
        expected = total / np.float32(len(marked) - 1)
        assert store.array[store.rows([word.decode()])[0]].tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("words", "letters", "dimensions"), [(300, 3000, 2), (20, 60_000, 2), (1, 65_000, 300)]
)
def test_words_of_far_more_ngrams_than_bytes_are_refused_at_once(
    tmp_path, output, words, letters, dimensions
):
    texts = [b"%d" % number + b"a" * letters for number in range(words)]
    own, ngrams = np.ones((words, dimensions), "<f4"), np.ones((3, dimensions), "<f4")
    path = written(tmp_path / "m.bin", fasttext_bin(texts, own, ngrams, 1, 30))
    began = time.process_time()
    with refused(f"{path}: its words have far more n-grams (1 to 30 characters) than a model of its size"):
        convert(path, output, name="m")
    assert time.process_time() - began < 8  # seconds; 22 to 50 before


def old_keyed_vectors(words=WORDS, vectors=VECTORS, names=("index2word", "vectors")) -> KeyedVectors:
    """What gensim 3, or with other names gensim 2, left behind."""
    made = KeyedVectors.__new__(KeyedVectors)
    vocab = {word: CompatVocab(count=np.int64(9 - i), index=i) for i, word in enumerate(words)}
    made.__dict__ = {
        names[0]: list(words),
        names[1]: vectors,
        "vocab": vocab,
        "vector_size": vectors.shape[1],
    }
    return made


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("names", [("index2word", "vectors"), ("index2word", "syn0")])
@pytest.mark.parametrize(
    "vectors", [VECTORS, np.asfortranarray(VECTORS), VECTORS.astype(">f8"), VECTORS.astype("f2")]
)
def test_keyed_vectors_of_older_gensim_and_numpy(tmp_path, output, protocol, names, vectors):
    path = tmp_path / "model.kv"
    path.write_bytes(pickle.dumps(old_keyed_vectors(vectors=vectors, names=names), protocol))
    assert_store(convert(path, output, name="m", trust_pickle=True), WORDS, vectors)


def test_words_may_be_numpy_scalars(tmp_path, output):
    path = tmp_path / "model.kv"
    path.write_bytes(pickle.dumps(old_keyed_vectors([np.str_(word) for word in WORDS])))
    assert_store(convert(path, output, name="m", trust_pickle=True), WORDS, VECTORS)


def test_a_pickle_is_read_only_when_it_is_pinned_or_trusted(tmp_path, output):
    path = tmp_path / "model.kv"
    keyed_vectors().save(str(path))
    right = hashlib.sha256(path.read_bytes()).hexdigest()
    with refused("model.kv", "pickle", "sha256", "--trust-pickle"):
        convert(path, output, name="m")
    with refused("model.kv", "0" * 64, right):
        convert(path, output, name="m", sha256="0" * 64, trust_pickle=True)
    assert not output.exists()
    assert convert(path, output, name="m", sha256=right).metadata["source"]["sha256"] == right


class Evil:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize(
    ("function", "arguments", "name"),
    [
        (os.system, ("touch {}",), f"{os.system.__module__}.system"),
        (eval, ("open({!r}, 'w')",), "builtins.eval"),
        (np.load, ("{}",), "numpy.load"),
        (KeyedVectors.load, ("{}",), "builtins.getattr"),
    ],
)
@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_nothing_but_keyed_vectors_leaves_a_pickle(tmp_path, output, function, arguments, name, protocol):
    marker = str(tmp_path / "marker")
    evil = Evil(function, *(argument.format(marker) for argument in arguments))
    made = old_keyed_vectors()
    made.__dict__["vocab"] = evil
    path = tmp_path / "model.kv"
    path.write_bytes(pickle.dumps(made, protocol))
    # protocol 2 calls the module __builtin__
    with refused(
        "model.kv", "refused", name.replace("builtins", "__builtin__" if protocol == 2 else "builtins")
    ):
        convert(path, output, name="m", trust_pickle=True)
    assert not Path(marker).exists()
    assert not output.exists()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: pickle.dumps(keyed_vectors())[:-100], "not a whole pickle"),
        (lambda: pickle.dumps({"index_to_key": ["a"]}), "no KeyedVectors"),
        (lambda: pickle.dumps(old_keyed_vectors(names=("words", "vectors"))), "no KeyedVectors"),
        (lambda: pickle.dumps(old_keyed_vectors(WORDS[:-1])), "15 words, but 16 vectors"),
        (lambda: pickle.dumps(old_keyed_vectors([5, *WORDS[1:]])), "key 5"),
        (lambda: pickle.dumps(old_keyed_vectors(vectors=VECTORS * np.nan)), "vector 1, word 'the'"),
        (lambda: pickle.dumps(old_keyed_vectors(vectors=VECTORS.astype(int))), "floats"),
        (lambda: pickle.dumps(old_keyed_vectors(vectors=VECTORS.astype(object))), "floats"),
        (lambda: b"no pickle at all", "not a whole pickle"),
    ],
)
def test_a_bad_pickle_is_refused(tmp_path, output, make, says):
    path = tmp_path / "model.kv"
    path.write_bytes(make())
    with refused("model.kv", says):
        convert(path, output, name="m", trust_pickle=True, format="gensim-kv")


def test_arrays_beside_the_pickle_are_looked_at_too(tmp_path, output):
    path, beside = tmp_path / "model.kv", tmp_path / "model.kv.vectors.npy"
    keyed_vectors().save(str(path), separately=["vectors"])
    np.save(beside, np.array([[Evil(eval, "1")]], dtype=object))
    with refused("model.kv.vectors.npy", "NumPy"):
        convert(path, output, name="m", trust_pickle=True)
    beside.unlink()
    with refused("model.kv.vectors.npy", "no such file"):
        convert(path, output, name="m", trust_pickle=True)


@settings(max_examples=40, deadline=None)
@given(
    words=st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=8), min_size=1, max_size=20, unique=True
    ),
    data=st.data(),
)
def test_any_words_and_values_come_back_from_keyed_vectors(tmp_path_factory, words, data):
    folder = tmp_path_factory.mktemp("kv")
    vectors = drawn(data, len(words))
    keyed_vectors(words, vectors).save(str(folder / "m.kv"))
    assert_store(convert(folder / "m.kv", folder / "store", name="m", trust_pickle=True), words, vectors)


def test_half_a_surrogate_pair_in_a_word_is_replaced_and_counted(tmp_path, output):
    keyed_vectors(["a", "b\ud800"], VECTORS[:2]).save(str(tmp_path / "m.kv"))
    with pytest.warns(UserWarning, match="broken_words 1"):
        store = convert(tmp_path / "m.kv", output, name="m", trust_pickle=True)
    assert store.words() == ["a", "b\ufffd"]


# spaCy


def murmurhash64a(data: bytes, seed: int = 1) -> int:
    """Word by word from Austin Appleby's description, with Python's integers."""
    m, mask = 0xC6A4A7935BD1E995, (1 << 64) - 1
    h = seed ^ (len(data) * m & mask)
    whole = len(data) - len(data) % 8
    for start in range(0, whole, 8):
        k = int.from_bytes(data[start : start + 8], "little") * m & mask
        k = (k ^ (k >> 47)) * m & mask
        h = (h ^ k) * m & mask
    if len(data) % 8:
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & mask
    h = (h ^ (h >> 47)) * m & mask
    return h ^ (h >> 47)


# spaCy's documentation and tests print these
KNOWN = {"apple": 8566208034543834098, "coffee": 3197928453018144401}


def spacy_folder(folder: Path, strings, key2row, vectors=VECTORS) -> Path:
    folder.mkdir()
    with (folder / "vectors").open("wb") as file:
        np.save(file, vectors)
    (folder / "key2row").write_bytes(msgpack.packb(key2row))
    (folder / "strings.json").write_text(json.dumps(strings))
    return folder


def test_spacys_own_hashes_lead_to_the_rows(tmp_path, output):
    strings = ["", "unknown", "apple", "coffee"]
    folder = spacy_folder(tmp_path / "vocab", strings, {KNOWN["apple"]: 3, KNOWN["coffee"]: 0})
    store = convert(folder, output, name="m")
    assert store.metadata["format"] == "spacy"
    assert store.rows(["apple", "coffee", "unknown", ""]).tolist() == [3, 0, -1, -1]
    assert store.array.tobytes() == VECTORS.tobytes()


@settings(max_examples=40, deadline=None)
@given(words=st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30), min_size=1))
def test_words_of_any_length_are_hashed_and_may_share_rows(tmp_path_factory, words):
    folder = tmp_path_factory.mktemp("spacy")
    key2row = {murmurhash64a(word.encode()): i % 3 for i, word in enumerate(words)}
    spacy_folder(folder / "vocab", words, key2row)
    store = convert(folder / "vocab", folder / "store", name="m")
    assert len(store) == len(set(words))
    assert store.rows(words).tolist() == [key2row[murmurhash64a(word.encode())] for word in words]


def test_the_hash_in_this_file_is_spacys():
    assert {word: murmurhash64a(word.encode()) for word in KNOWN} == KNOWN


def test_keys_that_no_word_has_are_counted(tmp_path, output):
    # spaCy numbers its symbols instead of hashing them
    folder = spacy_folder(tmp_path / "vocab", ["apple", "NOUN"], {KNOWN["apple"]: 0, 92: 1})
    with pytest.warns(UserWarning, match="keys_without_word 1"):
        store = convert(folder, output, name="m")
    assert store.words() == ["apple"]


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("key2row", b"\xc1", "key2row"),
        ("key2row", msgpack.packb([1, 2]), "key2row"),
        ("key2row", msgpack.packb({KNOWN["apple"]: 0})[:-1], "key2row"),
        ("key2row", msgpack.packb({KNOWN["apple"]: 16}), "16 rows"),
        ("key2row", msgpack.packb({KNOWN["apple"]: -1}), "16 rows"),
        ("key2row", msgpack.packb({}), "no vectors"),
        ("strings.json", b"[", "strings.json"),
        ("strings.json", b'{"apple": 1}', "strings.json"),
        ("vectors", b"", "vectors"),
    ],
)
def test_bad_spacy_files_are_refused(tmp_path, output, file, content, says):
    folder = spacy_folder(tmp_path / "vocab", ["apple"], {KNOWN["apple"]: 0})
    (folder / file).write_bytes(content)
    with warnings.catch_warnings(), refused(str(folder), says):
        warnings.simplefilter("ignore")
        convert(folder, output, name="m")


# npy and parquet


def parquet_folder(folder: Path, words, vectors, column: str = "index", **columns) -> Path:
    folder.mkdir()
    np.save(folder / "vectors.npy", vectors)
    pq.write_table(pa.table({column: pa.array(words, pa.string()), **columns}), folder / "index.parquet")
    return folder


@pytest.mark.parametrize("vectors", [VECTORS, np.asfortranarray(VECTORS), VECTORS.astype("f2")])
def test_an_array_and_its_index(tmp_path, output, vectors, monkeypatch):
    monkeypatch.setattr(files, "BLOCK", 50)  # bytes: two or three rows
    folder = parquet_folder(tmp_path / "parts", WORDS, vectors, number=pa.array(range(16)))
    store = convert(folder, output, name="m")
    assert store.metadata["format"] == "npy-parquet"
    assert_store(store, WORDS, vectors)


def test_bad_arrays_and_indexes_are_refused(tmp_path, output):
    for name, arguments, says in (
        ("short", (WORDS[:-1], VECTORS), ("16 rows", "15 in index.parquet")),
        ("missing", ([None, *WORDS[1:]], VECTORS), ("index.parquet", "1 missing")),
        ("flat", (WORDS, VECTORS[:, 0]), ("two-dimensional", "(16,)")),
        ("numbers", (WORDS, VECTORS.astype(int)), ("floats", "int64")),
        ("nan", (WORDS, VECTORS * np.nan), ("vector 1", "'the'")),
    ):
        with refused(name, *says):
            convert(parquet_folder(tmp_path / name, *arguments), output, name="m")
    folder = parquet_folder(tmp_path / "two", WORDS, VECTORS, other=pa.array(WORDS))
    with refused("one column of text", "found 2", "other"):
        convert(folder, output, name="m")
    (folder / "index.parquet").write_bytes(b"PAR1")
    with refused("index.parquet", "Parquet"):
        convert(folder, output, name="m")
    (folder / "more.npy").write_bytes(b"")
    with refused("one .npy file, found 2"):
        convert(folder, output, name="m", format="npy-parquet")


# wink


def wink(words=WORDS, vectors=VECTORS, **changes) -> str:
    """As JavaScript writes it: whole numbers come first among the keys of a mapping."""
    d = vectors.shape[1]
    table = {
        word: [*row, float(np.linalg.norm(row)), i]
        for i, (word, row) in enumerate(zip(words, vectors.astype(float).tolist(), strict=True))
    }
    first = {word: table[word] for word in sorted((w for w in words if w.isascii() and w.isdigit()), key=int)}
    content = {"precision": 8, "l2NormIndex": d, "wordIndex": d + 1, "size": len(words), "dimensions": d}
    content |= {"words": list(words), "vectors": first | table, "unkVector": [0] * d}
    return json.dumps(content | changes, separators=(",", ":"), ensure_ascii=False)


def test_the_json_of_wink(read, monkeypatch):
    monkeypatch.setattr("biasgrid_plugin_npm.readers.wink_json.BLOCK", 300)
    words = [
        "the",
        '"',
        "]",
        '],"vectors":{"x',
        "\\",
        "7",
        "3",
        "vectors",
        "中",
        "a\tb",
        '0],"',
        "{",
        "size",
        "é",
        "}",
        "[",
    ]
    store = read(wink(words))
    assert store.metadata["format"] == "wink-json"
    assert_store(store, words, VECTORS)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (wink(size=17), ("17 words", "has 16")),
        (wink(size=15), ("15 words", "has 16")),
        (wink()[:-900], ("cut off", "16 words")),
        (wink(l2NormIndex=4), ("norm and index",)),
        (wink().replace('"size"', '"length"'), ('"size"',)),
        (wink().replace("[", "[null,", 2), ("model.txt",)),
        ('{"error": "not found"}', ('without "vectors"',)),
        (wink(vectors=VECTORS * np.nan).replace("NaN", "nan"), ("'nan'", "JSON number")),
    ],
)
def test_bad_wink_files_are_refused(read, content, says):
    with refused("model.txt", *says):
        read(content)


# what is no model, and what is asked of convert


def zipped(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


def tarred(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo("package/model.txt")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


@pytest.mark.parametrize("format", [None, "text", "word2vec-binary"])
@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("m.txt", "<!DOCTYPE html>\n<html><body>404</body></html>", "web page"),
        ("m.bin.gz", "\n <html lang=en>\n1 2 3\n", "web page"),
        ("m.xml", '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "web page"),
        ("m.txt", zipped("glove.txt", b"a 1 2\n"), "zip archive"),
        ("m.tgz.gz", tarred(b"a 1 2\n"), "tar archive"),
        ("m.npy", b"\x93NUMPY\x01\x00", "npy-parquet"),
        ("m.parquet", b"PAR1", "npy-parquet"),
        ("m.txt", "", "empty"),
        ("m.txt.gz", "", "empty"),
    ],
)
def test_what_is_often_taken_for_a_model_is_named(read, output, name, content, says, format):
    with refused(name, says):
        read(content, name, format=format)
    assert not output.exists()


def test_words_that_look_like_another_format_are_words(read):
    for first in ("<s>", "{", "[", "</s>", "html", "PK", "<h"):
        assert read(f"{first} 1 2\nb 3 4\n").words() == [first, "b"]


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.99])
@pytest.mark.parametrize("content", [lines().encode() * 50, binary()])
def test_a_gzip_that_is_cut_off_or_damaged_is_refused(tmp_path, output, keep, content):
    whole = gzip.compress(content)
    path = tmp_path / "m.gz"
    path.write_bytes(whole[: int(keep * len(whole))])
    with refused("m.gz", "gzip"):
        convert(path, output, name="m")
    path.write_bytes(whole[:-8] + b"\0\0\0\0" + whole[-4:])
    with refused("m.gz", "gzip", "CRC"):
        convert(path, output, name="m")
    assert not output.exists()


def test_sources_that_are_not_there_or_of_the_wrong_kind(tmp_path, output):
    with refused("absent.txt", "no such file"):
        convert(tmp_path / "absent.txt", output, name="m")
    with refused(str(tmp_path), "neither a store", "no files"):
        convert(tmp_path, output, name="m")
    path = written(tmp_path / "m.txt", "a 1 2\n")
    with refused("unknown format 'glove'", ", ".join(sorted(REGISTRY))):
        convert(path, output, name="m", format="glove")
    with refused("m.txt", "spacy is a folder"):
        convert(path, output, name="m", format="spacy")
    with refused(str(tmp_path), "text is a file"):
        convert(tmp_path, output, name="m", format="text")
    folder = parquet_folder(tmp_path / "parts", WORDS, VECTORS)
    with refused("parts", "made from"):
        convert(folder, folder, name="m")
    with refused("parts", "sha256", "folder"):
        convert(folder, output, name="m", sha256="0" * 64)


def test_a_checksum_that_differs_is_refused(read, tmp_path):
    content = lines()
    right = hashlib.sha256(content.encode()).hexdigest()
    with refused("model.txt", "0" * 64, right):
        read(content, sha256="0" * 64)
    assert_store(read(content, sha256=right.upper()), WORDS, VECTORS)


def test_model_json_says_where_the_vectors_come_from(read):
    store = read(
        "/c/en/a 1 2\n", vocab_prefix="/c/en/", metadata={"licence": "PDDL", "source": {"type": "url"}}
    )
    assert store.vocab_prefix == "/c/en/"
    expected = {"name": "model", "label": "model", "licence": "PDDL", "source": {"type": "url"}, "note": ""}
    assert expected.items() <= store.metadata.items()
    store = read("a 1 2\n")
    assert (store.metadata["licence"], store.metadata["source"]) == ("not stated", {"file": "model.txt"})


def test_conversions_of_every_format_are_reproducible(tmp_path):
    sources = {
        "text": written(tmp_path / "m.txt", lines()),
        "word2vec-binary": written(tmp_path / "m.bin", binary()),
        "gensim-kv": written(tmp_path / "m.kv", pickle.dumps(keyed_vectors())),
        "spacy": spacy_folder(
            tmp_path / "vocab", ["coffee", "apple"], {k: i for i, k in enumerate(KNOWN.values())}
        ),
        "npy-parquet": parquet_folder(tmp_path / "parts", WORDS, VECTORS),
        "wink-json": written(tmp_path / "m.json", wink()),
        "npz": tmp_path / "m.npz",
        "fasttext-bin": tmp_path / "fasttext.bin",
        "store": convert(written(tmp_path / "w.txt", lines()), tmp_path / "other", name="m").path,
    }
    np.savez(sources["npz"], words=WORDS, vectors=VECTORS)
    sentences = [WORDS[i:] for i in range(len(WORDS))]
    trained = FastText(sentences, vector_size=5, min_count=1, epochs=1, bucket=20, workers=1)
    save_facebook_model(trained, str(sources["fasttext-bin"]))
    assert set(sources) == set(REGISTRY), "this test needs a file of each format"
    for format, source in sources.items():
        assert detect(source).name == format
        stores = [
            convert(source, tmp_path / f"{format}{i}", name="m", trust_pickle=True).path for i in (1, 2)
        ]
        for file in ("vectors.npy", "vocabulary.sqlite", "model.json"):
            assert (stores[0] / file).read_bytes() == (stores[1] / file).read_bytes(), (format, file)


# load


def test_a_store_and_anything_else_is_loaded(tmp_path, output):
    path = written(tmp_path / "glove.6B.50d.txt.gz", lines())
    store = convert(path, output, name="named")
    assert load(output).name == "named"
    assert store.rows(["the"]).tolist() == [0]
    model = load(path)
    assert model.name == "glove.6B.50d"
    assert_store(model, WORDS, VECTORS)
    temporary = model.path
    del model
    assert not temporary.parent.exists()
    assert load(parquet_folder(tmp_path / "en-3.7.1", WORDS, VECTORS)).name == "en-3.7.1"


def test_a_pickle_is_loaded_by_its_checksum(tmp_path, output):
    path = tmp_path / "m.kv"
    keyed_vectors().save(str(path))
    with refused("m.kv", "--trust-pickle"):
        load(path)
    assert_store(load(path, sha256=hashlib.sha256(path.read_bytes()).hexdigest()), WORDS, VECTORS)
    convert(path, output, name="m", trust_pickle=True)
    with refused("store", "sha256"):
        load(output, sha256="0" * 64)
    with refused("absent", "no such file"):
        load(tmp_path / "absent")


def test_a_pickle_needs_a_checksum_in_the_config(tmp_path):
    model = KeyedVectors(2)
    model.add_vectors(["a", "b"], np.eye(2, dtype=np.float32))
    model.save(str(tmp_path / "m.kv"))
    source = {"type": "file", "path": str(tmp_path / "m.kv")}
    with pytest.raises(BiasgridError, match="is a pickle"):
        build_store("m", {"source": source}, tmp_path / "data")
    digest = hashlib.sha256((tmp_path / "m.kv").read_bytes()).hexdigest()
    assert len(build_store("m", {"source": source | {"sha256": digest}}, tmp_path / "data")) == 2
