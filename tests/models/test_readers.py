"""Foreign formats: gensim writes the files where it can, the formats' definitions say the rest."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import lzma
import operator
import os
import pickle
import re
import tarfile
import time
import warnings
import zipfile
from pathlib import Path

import msgpack
import numpy as np
import plain_formats
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from gensim.models import FastText, KeyedVectors
from gensim.models.fasttext import save_facebook_model
from gensim.models.keyedvectors import CompatVocab
from hypothesis import example, given, settings
from hypothesis import strategies as st
from plain_formats import murmurhash
from refusals import refused

from biasgrid import load
from biasgrid.core.validation import validate
from biasgrid.models import EmbeddingStore, build_store, convert
from biasgrid.models.readers import REGISTRY, detect, files, text
from biasgrid.study.config.models import model_of_kinds

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


def written(path: Path, content: str | bytes | dict[str, bytes]) -> Path:
    """A file, or a folder of files."""
    if isinstance(content, dict):
        path.mkdir()
        for name, one in content.items():
            written(path / name, one)
        return path
    content = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def binary(words=WORDS, vectors=VECTORS, **layout) -> bytes:
    return plain_formats.binary(words, vectors, **layout)


def wink(words=WORDS, vectors=VECTORS, **changes) -> str:
    rows = vectors.astype(float).tolist()
    return plain_formats.wink(words, rows, changes, separators=(",", ":"), ensure_ascii=False)


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
@pytest.mark.parametrize(
    "separated", [lines(separator="\t"), lines(separator="  "), re.sub("(?m)^([^ ]*) ", r"\1\t", lines())]
)
def test_other_separators_a_byte_order_mark_and_no_last_line_break(read, before, separated):
    assert_store(read(before + "16 5\n" + separated.rstrip("\n")), WORDS, VECTORS)


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


@pytest.mark.slow
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


@pytest.mark.slow
@settings(max_examples=35, deadline=None)
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


ROWS = [
    f"{word} {' '.join(f'{value:.4f}' for value in row)}"
    for word, row in zip(["he", "she", "man"], VECTORS, strict=False)
]
PLAIN = "\n".join(ROWS) + "\n"
ROUNDED = np.round(VECTORS[:3], 4)
SPREADSHEET = "".join('"' + row.replace(" ", '" ', 1) + "\n" for row in ROWS)


@pytest.mark.parametrize(
    ("content", "words", "told"),
    [
        # a file that is cut off within a character, as word2vec.c leaves it, and one of another encoding
        (
            PLAIN.replace("she", "\0").encode().replace(b"\0", b"\xd0\xb6\xd0"),
            ["he", "ж\ufffd", "man"],
            "broken_words 1",
        ),
        (
            PLAIN.replace("she", "\0").encode().replace(b"\0", b"caf\xe9s"),
            ["he", "caf\ufffds", "man"],
            "broken_words 1",
        ),
        (SPREADSHEET, ["he", "she", "man"], "quoted_words 3"),
        ('"V1" "V2" "V3" "V4" "V5"\n' + SPREADSHEET, ["he", "she", "man"], "quoted_words 3"),
        (SPREADSHEET.replace("she", 'a\\"b').replace("man", 'a""'), ["he", 'a"b', 'a"'], "quoted_words 3"),
        (
            SPREADSHEET.replace("she", "new york"),
            ["he", "new york", "man"],
            "quoted_words 3, words_with_spaces 1",
        ),
        (PLAIN.replace("she", "covid 19"), ["he", "covid 19", "man"], "words_with_spaces 1"),
        ("3 5\n" + PLAIN.replace("she", "31 12 2020"), ["he", "31 12 2020", "man"], "words_with_spaces 1"),
        (PLAIN.replace("she", " "), ["he", " ", "man"], "words_with_spaces 1"),
        (PLAIN.replace("she", "   "), ["he", "   ", "man"], "words_with_spaces 1"),
    ],
)
def test_unusual_words_of_a_text_file_are_read_and_counted(read, content, words, told):
    with pytest.warns(UserWarning, match=f": {told}$"):
        assert_store(read(content), words, ROUNDED)


@pytest.mark.parametrize("byte_order", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_text_in_utf_16_is_read_however_it_is_compressed(tmp_path, output, byte_order, compress):
    (tmp_path / "m").write_bytes(compress(f"\ufeff{lines()}".encode(byte_order)))
    assert_store(convert(tmp_path / "m", output, name="m"), WORDS, VECTORS)
    (tmp_path / "m").write_bytes(compress(f"\ufeff{lines()}".encode(byte_order)[:-1]))
    with refused("m: is not whole text in UTF-16"):
        convert(tmp_path / "m", output, name="m")


@pytest.mark.parametrize("suffix", ["bz2", "xz"])
@pytest.mark.parametrize(
    "content", [lines().encode(), binary(), plain_formats.fasttext([b"a"], VECTORS[:1], VECTORS[1:3], 3, 4)]
)
def test_bzip2_and_xz_are_read_in_several_streams_and_refused_when_damaged(tmp_path, output, suffix, content):
    compress = {"bz2": bz2.compress, "xz": lzma.compress}[suffix]
    whole, path = compress(content), tmp_path / f"m.{suffix}"
    (tmp_path / "plain").write_bytes(content)
    expected = convert(tmp_path / "plain", output, name="m").fingerprint
    parts = compress(content[:100]) + compress(content[100:])
    for same in (whole, parts, *([whole + bytes(8)] if suffix == "xz" else [])):
        path.write_bytes(same)
        assert convert(path, output, name="m").fingerprint == expected
    assert load(path).name == "m"
    for damaged in (whole[:-5], whole + b"more", parts[:-5], whole + whole[:20] + b"x" + whole[21:]):
        path.write_bytes(damaged)
        with refused(path.name, "damaged or cut off"):
            convert(path, output, name="m")


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 3600000000\n"


@pytest.mark.parametrize("format", [None, "text", "gensim-kv"])
def test_a_pointer_of_git_lfs_is_named_as_one(tmp_path, output, format):
    path = written(tmp_path / "m.bin", POINTER)
    with refused(f"{path}: this is a Git LFS pointer", "git lfs pull"):
        convert(path, output, name="m", trust_pickle=True, format=format)
    for folder in ({**APPLE, "key2row": POINTER}, parquet() | {"index.parquet": POINTER}):
        path = written(tmp_path / f"folder{len(list(tmp_path.iterdir()))}", folder)
        with refused(f"{path}/", "this is a Git LFS pointer"):
            convert(path, output, name="m")


# the options of a file


def of_each_format(folder: Path) -> dict[str, Path]:
    """The same words and vectors in each format of vectors, three times as many as `test_limit` reads."""
    np.savez(folder / "m.npz", words=WORDS, vectors=VECTORS)
    keyed_vectors().save(str(folder / "m.kv"))
    none = np.empty((0, 5), "<f4")
    return {
        "text": written(folder / "m.txt", "16 5\n" + lines()),
        "plain text": written(folder / "plain.txt", "\n" + lines().replace("\n", "\n\n", 3)),
        "word2vec-binary": written(folder / "m.bin", binary()),
        "few dimensions": written(folder / "few.bin", binary(vectors=VECTORS[:, :3])),
        "gensim-kv": folder / "m.kv",
        "npz": folder / "m.npz",
        "npy-parquet": written(folder / "parts", parquet()),
        "fasttext-bin": written(
            folder / "ft.bin", plain_formats.fasttext([w.encode() for w in WORDS], VECTORS, none, 0, 0)
        ),
        "wink-json": written(folder / "m.json", wink()),
        "store": convert(written(folder / "w.txt", lines()), folder / "other", name="m").path,
    }


@pytest.mark.slow
@pytest.mark.parametrize("block", [4 << 20, 800])
def test_limit_reads_the_first_rows_of_a_file_of_each_format(tmp_path, output, monkeypatch, block):
    monkeypatch.setattr("biasgrid.models.readers.text.BLOCK", block)
    monkeypatch.setattr(files, "BLOCK", block)
    for format, source in of_each_format(tmp_path).items():
        vectors = VECTORS[:, :3] if format == "few dimensions" else VECTORS
        for limit in (1, 5, 16, 100):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "blank_lines|.*: blank_lines")
                store = convert(source, output, name="m", trust_pickle=True, limit=limit)
            assert_store(store, WORDS[:limit], vectors[:limit])
            assert store.metadata["limit"] == limit


def test_what_follows_the_limit_is_not_looked_at(read):
    assert read("a 1 2\nb 3 4\nc broken\n", limit=2).words() == ["a", "b"]
    assert read("900 2\na 1 2\nb 3 4\nb \xff", limit=2).words() == ["a", "b"]
    assert read(binary(["a", b"caf\xe9s"], VECTORS[:2]) + b"more", limit=1).words() == ["a"]
    with pytest.warns(UserWarning, match="duplicate_words 1"):
        assert read("a 1 2\na 3 4\nb 5 6\nb 7 8\n", limit=3).words() == ["a", "b"]


def test_a_limit_of_rows_keeps_all_words_of_these_rows(tmp_path, output):
    folder = written(tmp_path / "vocab", spacy([*KNOWN], {KNOWN["apple"]: 1, KNOWN["coffee"]: 2}))
    store = convert(folder, output, name="m", limit=2)
    assert (store.words(), store.rows(["apple"]).tolist(), store.array.shape) == (["apple"], [1], (2, 5))


@pytest.mark.parametrize("door", ["convert", "load", "config"])
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"broken_words": "refused"}, ("broken_words", "refuse")),
        ({"broken_words": "refuse"}, ("m.txt: line 2: the word", "is not UTF-8")),
    ],
)
def test_options_of_a_file_that_cannot_be(tmp_path, output, door, options, says):
    path = written(tmp_path / "m.txt", b"a 1 2\nb\xff 3 4\n")
    entry = {"label": "m", "source": {"type": "file", "path": str(path)}, **options}
    with refused(*([says] if isinstance(says, str) else says)):
        if door == "convert":
            convert(path, output, name="m", **options)
        elif door == "load":
            load(path, **options)
        else:
            validate(model_of_kinds(), entry)
            build_store("m", entry, output)


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("m.bin", binary(["a", b"x\xc3"], VECTORS[:2]), None),
        ("m.bin", plain_formats.fasttext([b"a", b"\xc3x"], VECTORS[:2], VECTORS[:1], 3, 3), None),
        ("m.kv", pickle.dumps(keyed_vectors(["a", "b\ud800"], VECTORS[:2])), None),
    ],
)
def test_broken_words_are_refused_if_asked_in_each_format(tmp_path, output, name, content, format):
    path = written(tmp_path / name, content)
    with refused(f"{path}", "is not UTF-8", "broken_words: replace"):
        convert(path, output, name="m", trust_pickle=True, broken_words="refuse")
    with pytest.warns(UserWarning, match="broken_words 1"):
        convert(path, output, name="m", trust_pickle=True)


def test_a_store_is_made_anew_when_its_limit_changes(tmp_path):
    source = {"type": "file", "path": str(written(tmp_path / "m.txt", "a 1 2\nb 3 4\nc 5 6\n"))}
    for limit, expected in ((2, ["a", "b"]), (1, ["a"]), (None, ["a", "b", "c"])):
        store = build_store("m", {"source": source, "limit": limit}, tmp_path)
        assert store.words() == expected
        as_read = {"format": None, "limit": limit} if limit else None
        assert (store.metadata["converted_as"], store.metadata.get("limit")) == (as_read, limit)


# word2vec binary


@pytest.mark.parametrize("name", ["model.bin", "model.bin.gz"])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_binary_is_read(read, name, end):
    store = read(binary(end=end), name)
    assert_store(store, WORDS, VECTORS)
    assert store.metadata["format"] == "word2vec-binary"


@pytest.mark.parametrize(
    ("words", "kept", "told"),
    [
        ([b"a", b"x" + "é".encode()[:1], b"c"], ["a", "x\ufffd", "c"], "broken_words 1"),
        (["a", "b\x01", "c\x7f"], ["a", "b\x01", "c\x7f"], "words_with_control_characters 2"),
        (["a", "b", "a"], ["a", "b"], "duplicate_words 1"),
    ],
)
def test_broken_and_duplicate_words_of_a_binary_are_counted(read, words, kept, told):
    with pytest.warns(UserWarning, match=told):
        store = read(binary(words, VECTORS[:3]))
    assert_store(store, kept, VECTORS[: len(kept)])


# gensim writes words with spaces: the format does not say where they end
PHRASES = ["african american", "he", "united states", "new york", "of the 12", "she", " ", "a b"]


@pytest.mark.parametrize("dimensions", [5, 8, 300])
@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("first", range(len(PHRASES)))
def test_words_with_spaces_are_read_from_a_binary_as_gensim_writes_them(
    tmp_path, output, dimensions, end, first
):
    words = PHRASES[first:] + PHRASES[:first]
    vectors = np.random.default_rng(first).normal(size=(len(words), dimensions)).astype(np.float32)
    path = written(tmp_path / "m.bin", binary(words, vectors, end=end))
    if not end:
        keyed_vectors(words, vectors).save_word2vec_format(str(tmp_path / "gensim.bin"), binary=True)
        assert path.read_bytes() == (tmp_path / "gensim.bin").read_bytes()
    with pytest.warns(UserWarning, match="words_with_spaces 6"):
        assert_store(convert(path, output, name="m"), words, vectors)


def test_many_words_with_spaces_are_read_from_a_long_binary(read, monkeypatch):
    monkeypatch.setattr("biasgrid.models.readers.word2vec_binary.BLOCK", 5000)
    monkeypatch.setattr("biasgrid.models.readers.word2vec_binary.LONGEST_WORD", 64)
    words = [f"w{i}" if i % 3 else f"a phrase {i}" for i in range(500)]
    vectors = np.random.default_rng(5).normal(size=(500, 20)).astype(np.float32)
    with pytest.warns(UserWarning, match="words_with_spaces 167"):
        assert_store(read(binary(words, vectors)), words, vectors)


def test_a_long_binary_is_read_in_blocks(read, monkeypatch):
    monkeypatch.setattr("biasgrid.models.readers.word2vec_binary.BLOCK", 100)
    monkeypatch.setattr("biasgrid.models.readers.word2vec_binary.LONGEST_WORD", 64)
    words = [f"w{i}" * (i % 9 + 1) for i in range(300)]
    vectors = np.random.default_rng(5).normal(size=(300, 9)).astype(np.float32)
    assert_store(read(binary(words, vectors)), words, vectors)


@pytest.mark.slow
@settings(max_examples=35, deadline=None)
@given(
    words=st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=" "), max_size=8),
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
    # other numbers are of no vector
    size = st.floats(np.float32(1e-12), np.float32(1e12), width=32) | st.just(0.0)
    signed = st.builds(operator.mul, size, st.sampled_from([-1.0, 1.0]))
    rows = st.lists(st.tuples(*[signed] * 9), min_size=len(words), max_size=len(words))
    vectors = np.array(data.draw(rows), np.float32)
    path = written(folder / ("m.bin.gz" if zipped else "m.bin"), binary(words, vectors, end=end))
    assert_store(convert(path, folder / "store", name="m", format="word2vec-binary"), words, vectors)


# NumPy's archives


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("names", [("words", "vectors"), ("vocab", "matrix"), ("b", "a")])
def test_the_only_pair_of_an_npz_is_read_in_any_order(tmp_path, output, monkeypatch, save, order, names):
    monkeypatch.setattr("biasgrid.models.readers.npz.BLOCK", 100)
    arrays = dict(zip(names, (np.array(WORDS), np.asarray(VECTORS, order=order)), strict=True))
    save(tmp_path / "m.npz", **dict(sorted(arrays.items())), ids=np.arange(16), mean=VECTORS.mean(axis=0))
    assert_store(convert(tmp_path / "m.npz", output, name="m"), WORDS, VECTORS)
    assert convert(tmp_path / "m.npz", output, name="m", limit=2).words() == WORDS[:2]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("block", [160, 200])
def test_bytes_behind_the_vectors_of_an_npz_are_refused(tmp_path, output, monkeypatch, order, block):
    """Also where the last block is full: 16 vectors of 20 bytes are two blocks of 160."""
    monkeypatch.setattr("biasgrid.models.readers.npz.BLOCK", block)
    arrays = {"words": np.array(WORDS), "vectors": np.asarray(VECTORS, order=order)}
    with zipfile.ZipFile(tmp_path / "m.npz", "w") as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.save(content, array)
            archive.writestr(f"{name}.npy", content.getvalue() + b"more" * (name == "vectors"))
    with refused("more bytes follow the vectors of 16 words"):
        convert(tmp_path / "m.npz", output, name="m")


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        (
            {"vocab": np.array(WORDS), "a": VECTORS, "b": VECTORS},
            "a float32 (16, 5), b float32 (16, 5)",
        ),
        ({"vocab": np.array(WORDS), "a": VECTORS[1:]}, "found vocab <U5 (16,), a float32 (15, 5)"),
        (
            {"vocab": np.array(WORDS, object), "a": VECTORS},
            "found vocab (of Python objects), a float32 (16, 5)",
        ),
        ({"ids": np.arange(16), "a": VECTORS}, "found ids int64 (16,), a float32 (16, 5)"),
    ],
)
def test_an_npz_without_one_pair_of_words_and_vectors_is_refused_with_its_arrays(
    tmp_path, output, arrays, says
):
    np.savez(tmp_path / "m.npz", **arrays)
    with refused("m.npz: needed are the arrays words (texts, dtype str) and vectors", says):
        convert(tmp_path / "m.npz", output, name="m")


@pytest.mark.parametrize("change", [lambda content: content[:-4], lambda content: content + b"more"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_npz_whose_vectors_are_cut_off_or_followed_by_more_is_refused(tmp_path, output, change, order):
    with zipfile.ZipFile(tmp_path / "m.npz", "w") as archive:
        archive.writestr("words.npy", array(np.array(WORDS)))
        archive.writestr("vectors.npy", change(array(np.asarray(VECTORS, order=order))))
    with refused("m.npz", "vectors"):
        convert(tmp_path / "m.npz", output, name="m")


# GloVe's own binary format


CONTEXTS = np.random.default_rng(1).normal(size=VECTORS.shape)


def glove(words=WORDS, content: bytes | None = None, **files: bytes) -> dict[str, bytes]:
    """Of words without spaces, as GloVe's are."""
    whole = plain_formats.glove(VECTORS, CONTEXTS) if content is None else content
    vocabulary = plain_formats.glove_vocabulary([word.encode() for word in words])
    return {"vectors.bin": whole, "vocab.txt": vocabulary} | files


@pytest.mark.parametrize("block", [4 << 20, 100])
@pytest.mark.parametrize("format", [None, "glove-binary"])
def test_gloves_parameters_are_read_as_sums_of_vector_and_context(
    tmp_path, output, monkeypatch, format, block
):
    monkeypatch.setattr(files, "BLOCK", block)
    path = written(tmp_path / "glove", glove()) / "vectors.bin"
    store = convert(path, output, name="m", format=format)
    assert store.metadata["format"] == "glove-binary"
    assert_store(store, WORDS, (VECTORS.astype(np.float64) + CONTEXTS).astype(np.float32))
    assert store.counts.tolist() == [1000 // (i + 1) for i in range(16)]
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert convert(path, output, name="m", limit=3).words() == WORDS[:3]


def test_the_checksum_of_gloves_parameters_covers_the_vocabulary(tmp_path, output):
    path = written(tmp_path / "glove", glove()) / "vectors.bin"
    alone = hashlib.sha256(path.read_bytes()).hexdigest()
    with refused("vectors.bin", "covers vectors.bin alone, and vocab.txt is read with it"):
        convert(path, output, name="m", sha256=alone)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (glove(WORDS[:-1]), ("1536 bytes", "15 words")),
        (glove(content=plain_formats.glove(VECTORS, CONTEXTS)[:-8]), ("1528 bytes", "16 words")),
        (glove(content=plain_formats.glove(VECTORS, CONTEXTS)[:-3]), ("1533 bytes", "16 words")),
        (glove(content=np.arange(1.0, 193.0).tobytes()), ("squared gradients",)),
        (glove(content=plain_formats.glove(VECTORS * np.nan, CONTEXTS)), ("vector 1", "'the'", "nan")),
        (glove(**{"vocab.txt": b"the 9\nof\n"}), ("vocab.txt: line 2", "'of'")),
        (glove(**{"vocab.txt": b""}), ("0 words",)),
        ({"vectors.bin": plain_formats.glove(VECTORS, CONTEXTS)}, ("vocab.txt: no such file",)),
    ],
)
def test_gloves_parameters_that_do_not_go_with_the_vocabulary_are_refused(tmp_path, output, content, says):
    path = written(tmp_path / "glove", content) / "vectors.bin"
    with refused(*says):
        convert(path, output, name="m", format="glove-binary")
    assert not output.exists()


# gensim's own format


@pytest.mark.parametrize("separately", [[], ["vectors"]])
def test_gensims_keyed_vectors(tmp_path, output, separately):
    path = tmp_path / "model.kv"
    keyed_vectors().save(str(path), separately=separately)
    assert (tmp_path / "model.kv.vectors.npy").exists() == bool(separately)
    store = convert(path, output, name="m", trust_pickle=True)
    assert_store(store, WORDS, VECTORS)
    assert store.metadata["format"] == "gensim-kv"


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


def test_a_long_word_is_the_mean_of_all_its_ngrams_one_after_the_other(tmp_path, output):
    rng = np.random.default_rng(3)
    own, ngrams = (rng.normal(size=(rows, 3)).astype("<f4") for rows in (2, 7))
    words = [b"ab" * 1500, b"short"]
    path = written(tmp_path / "m.bin", plain_formats.fasttext(words, own, ngrams, 3, 3))
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "letters", "dimensions"), [(300, 3000, 2), (20, 60_000, 2), (1, 65_000, 300)]
)
def test_words_of_far_more_ngrams_than_bytes_are_refused_at_once(
    tmp_path, output, words, letters, dimensions
):
    texts = [b"%d" % number + b"a" * letters for number in range(words)]
    own, ngrams = np.ones((words, dimensions), "<f4"), np.ones((3, dimensions), "<f4")
    path = written(tmp_path / "m.bin", plain_formats.fasttext(texts, own, ngrams, 1, 30))
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


def test_arrays_beside_the_pickle_are_looked_at_too(tmp_path, output):
    path, beside = tmp_path / "model.kv", tmp_path / "model.kv.vectors.npy"
    keyed_vectors().save(str(path), separately=["vectors"])
    np.save(beside, np.array([[Evil(eval, "1")]], dtype=object))
    with refused("model.kv.vectors.npy", "NumPy"):
        convert(path, output, name="m", trust_pickle=True)
    beside.unlink()
    with refused("model.kv.vectors.npy", "no such file"):
        convert(path, output, name="m", trust_pickle=True)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
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


# spaCy's documentation and tests print these
KNOWN = {"apple": 8566208034543834098, "coffee": 3197928453018144401}


def array(vectors) -> bytes:
    file = io.BytesIO()
    np.save(file, vectors)
    return file.getvalue()


def spacy(strings, key2row, vectors=VECTORS) -> dict[str, bytes]:
    return {
        "vectors": array(vectors),
        "key2row": msgpack.packb(key2row),
        "strings.json": json.dumps(strings).encode(),
    }


def test_spacys_own_hashes_lead_to_the_rows(tmp_path, output):
    strings = ["", "unknown", "apple", "coffee"]
    folder = written(tmp_path / "vocab", spacy(strings, {KNOWN["apple"]: 3, KNOWN["coffee"]: 0}))
    store = convert(folder, output, name="m")
    assert store.metadata["format"] == "spacy"
    assert store.rows(["apple", "coffee", "unknown", ""]).tolist() == [3, 0, -1, -1]
    assert store.array.tobytes() == VECTORS.tobytes()


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(words=st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30), min_size=1))
def test_words_of_any_length_are_hashed_and_may_share_rows(tmp_path_factory, words):
    folder = tmp_path_factory.mktemp("spacy")
    key2row = {murmurhash(word.encode()): i % 3 for i, word in enumerate(words)}
    written(folder / "vocab", spacy(words, key2row))
    store = convert(folder / "vocab", folder / "store", name="m")
    assert len(store) == len(set(words))
    assert store.rows(words).tolist() == [key2row[murmurhash(word.encode())] for word in words]


def test_the_hash_in_this_file_is_spacys():
    assert {word: murmurhash(word.encode()) for word in KNOWN} == KNOWN


# a table of floret's, and settings that spaCy writes
FLORET = np.array([[row, row * row % 7] for row in range(50)], dtype=np.float32)
SETTINGS = {"mode": "floret", "minn": 2, "maxn": 4, "hash_count": 2, "hash_seed": 2166136261}
SETTINGS |= {"bow": "<", "eow": ">", "attr": 65}
LONG = "Lebensversicherungsgesellschaft"
# the vectors that spaCy 3.8.18 gives with this table: Vocab.get_vector. With the first settings the rows that floret
# 0.10.5 names (get_subwords) have the same means
OF_SPACY = [
    ({}, {"a": (19, 2.125), "dog": (31.8, 1.7), "püni": (26.807692, 1.769231), "日本語": (27.35, 1.95)}),
    ({}, {LONG: (22.882978, 1.952129)}),
    (
        {"minn": 1, "maxn": 3, "hash_count": 1, "hash_seed": 0},
        {"a": (32.57143, 2.571429), "dog": (26.307693, 2.153846)},
    ),
    (
        {"minn": 1, "maxn": 3, "hash_count": 1, "hash_seed": 0},
        {"日本語": (26, 2.230769), LONG: (26.567009, 2.154639)},
    ),
    (
        {"minn": 4, "maxn": 20, "hash_count": 4, "hash_seed": 4294967295, "bow": "[[", "eow": "ß"},
        {
            "a": (29.5, 2.5),
            "püni": (27.363638, 1.909091),
            "日本語": (20.821426, 1.5),
            LONG: (24.941996, 1.973242),
        },
    ),
]


def floret(strings=("", "dog", "cat", "a"), **settings) -> dict[str, bytes]:
    return spacy(strings, {}, FLORET) | {"vectors.cfg": json.dumps(SETTINGS | settings).encode()}


@pytest.mark.parametrize(("settings", "vectors"), OF_SPACY)
@pytest.mark.parametrize("is_listed", [True, False])
def test_florets_vectors_are_spacys(tmp_path, output, settings, vectors, is_listed):
    folder = written(tmp_path / "vocab", floret(list(vectors) if is_listed else ["cat"], **settings))
    store = convert(folder, output, name="m", subwords=not is_listed)
    assert [word in store for word in vectors] == [is_listed] * len(vectors)
    model = load(output)
    for copy in (model, pickle.loads(pickle.dumps(model))):
        # spaCy adds float32 that it has divided: of 1,568 rows that is right to 1.4e-5
        np.testing.assert_allclose(copy.vectors(list(vectors)), list(vectors.values()), rtol=2e-5)


def test_florets_words_are_in_no_order_of_the_alphabet(tmp_path, output):
    words = [f"word{i:03}" for i in range(100)]
    folder = written(tmp_path / "vocab", floret(["", *words]))
    assert load(folder).words() == sorted(words, key=lambda word: murmurhash(word.encode()))
    model = load(folder, limit=10, subwords=True)
    assert len(model) == 10
    assert "" not in model
    assert {word in model for word in words} == {True}
    np.testing.assert_array_equal(model.vectors(words), load(folder).vectors(words))
    with refused("spacy has no n-grams", "spaCy's floret"):
        convert(
            written(tmp_path / "plain", spacy(["apple"], {KNOWN["apple"]: 0})),
            output,
            name="m",
            subwords=True,
        )


def test_keys_that_no_word_has_are_counted(tmp_path, output):
    # spaCy numbers its symbols instead of hashing them
    folder = written(tmp_path / "vocab", spacy(["apple", "NOUN"], {KNOWN["apple"]: 0, 92: 1}))
    with pytest.warns(UserWarning, match="keys_without_word 1"):
        store = convert(folder, output, name="m")
    assert store.words() == ["apple"]


# npy and parquet


def parquet(words=WORDS, vectors=VECTORS, **columns) -> dict[str, bytes]:
    file = io.BytesIO()
    pq.write_table(pa.table({"index": pa.array(words, pa.string()), **columns}), file)
    return {"vectors.npy": array(vectors), "index.parquet": file.getvalue()}


@pytest.mark.parametrize("vectors", [VECTORS, np.asfortranarray(VECTORS), VECTORS.astype("f2")])
def test_an_array_and_its_index(tmp_path, output, vectors, monkeypatch):
    monkeypatch.setattr(files, "BLOCK", 50)  # bytes: two or three rows
    folder = written(tmp_path / "parts", parquet(vectors=vectors, number=pa.array(range(16))))
    store = convert(folder, output, name="m")
    assert store.metadata["format"] == "npy-parquet"
    assert_store(store, WORDS, vectors)


# wink


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


def of_two(vectors: str = '"a":[1,2,3,0],"b":[4,5,6,1]', end: str = ',"unkVector":[0,0]}', **changes) -> str:
    """The same of two words, to be spoilt by hand."""
    head = {"size": 2, "dimensions": 2, "l2NormIndex": 2, "wordIndex": 3, "words": ["a", "b"]} | changes
    return json.dumps(head)[:-1] + ', "vectors":{' + vectors + "}" + end


@pytest.mark.parametrize("number", ["-0.5", "1e5", "1E+05", "1e-007", "0", "-0", "10.010", "0.00", "20E0"])
def test_every_json_number_is_one(tmp_path, number):
    (tmp_path / "m.json").write_text(of_two(f'"a" : [ {number} ,\n2,\t3,0 ]\r\n ,"b":[4,5,6,1]'))
    store = convert(tmp_path / "m.json", tmp_path / "store", name="m")
    assert store.array.tolist() == [[np.float32(float(number)), 2], [4, 5]]


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


def with_key(key) -> bytes:
    """A pickle of vectors one of whose words is none."""
    model = keyed_vectors()
    model.index_to_key = [WORDS[0], key, *WORDS[2:]]
    return pickle.dumps(model, 4)


def nested(levels: int) -> tuple:
    """A tuple of two to the power of `levels` in a few bytes of a pickle."""
    return () if not levels else (nested_below := nested(levels - 1), nested_below)


# Python would go through all of a billion parts to find the key's place in the mapping
BILLION = b"".join(b"h%ch%c\x86\x940" % (level, level) for level in range(30))
BILLION = b"\x80\x04)\x940" + BILLION + b"}h\x1eK\x01s."
APPLE = spacy(["apple"], {KNOWN["apple"]: 0})

# what `convert` is asked to read, in which format (None: it finds out), and what its line says
TEXT = [
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
    (b"".join(b"w%d\xe4 1 2\n" % i for i in range(50)), ("50 of 50 words", "not UTF-8")),
    ("a 1.5 2.5\nb 1.5 2.5 3.5\n", ("line 2", "found 3")),
    ('"a" 1 2\n"b" 1 2\n' * 200 + "c 1 2\n", ("line 401", "'c' is not in quotes", "quote = FALSE")),
    ("2 3\nhe 1:0.31 3:0.22\nshe 2:0.5\n", "has sparse vectors (index:value)"),
    ("he [0.1, 0.2]\nshe [0.3, 0.4]\n", "numbers in brackets"),
    ("3 2 3 4 2 2166136261 < >\n0 0.1 0.2\n1 0.3 0.4\n2 0.5 0.6\n", "floret's vectors are of parts of words"),
    ("he [0.1 0.2]\nshe (0.3,0.4)\n", "numbers in brackets"),
    ("400000 300\n", ("cut off", "400000 rows")),
    ("just some prose\nand no numbers\n", ("no known format",)),
    ("", ("is empty",)),
]
BINARY = [
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
    (binary(["a", b"caf\xe9s", "b"], VECTORS[:3]), ("row 2", "'caf\\\\xe9s'", "not UTF-8")),
    (binary(["a", "b\nc", "b"], VECTORS[:3]), ("row 2", "line break")),
    (binary(["a", "b", "c"], VECTORS[:3] * np.float32(1e30)), ("row 1", "'a'", "has a value", "e+2")),
    # read as "a" or as "a b": both times sound numbers and a sound next word
    (
        binary(["a", "c=f"], np.frombuffer(b"b \x00\x3f\x00\x3f\x80\x3f" + bytes(8), "<f4").reshape(2, 2)),
        ("row 1", "'a' or 'a b'"),
    ),
]
PICKLES = [
    (with_key(10**6000), "m.kv: key this int is not a word"),
    (with_key(nested(3)), "m.kv: key of type tuple is not a word"),
    (with_key(nested(30)), "m.kv: refused: the pickle has a tuple of more than 100 parts"),
    (with_key(None), "m.kv: key None is not a word"),
    (with_key(b"he"), "m.kv: key b'he' is not a word"),
    (BILLION, "m.kv: refused: the pickle has a tuple of more than 100 parts"),
    (pickle.dumps(keyed_vectors())[:-100], "not a whole pickle"),
    (pickle.dumps({"index_to_key": ["a"]}), "no KeyedVectors"),
    (pickle.dumps(old_keyed_vectors(names=("words", "vectors"))), "no KeyedVectors"),
    (pickle.dumps(old_keyed_vectors(WORDS[:-1])), "15 words, but 16 vectors"),
    (pickle.dumps(old_keyed_vectors([5, *WORDS[1:]])), "key 5"),
    (pickle.dumps(old_keyed_vectors(vectors=VECTORS * np.nan)), "vector 1, word 'the'"),
    (pickle.dumps(old_keyed_vectors(vectors=VECTORS.astype(int))), "floats"),
    (pickle.dumps(old_keyed_vectors(vectors=VECTORS.astype(object))), "floats"),
    (b"no pickle at all", "not a whole pickle"),
    (
        pickle.dumps(keyed_vectors(WORDS[:3], VECTORS[:3]), 4).replace(b"K\x03K\x05\x86", b"K\x03K\x63\x86"),
        "not a whole array of floats",
    ),
    # flags of numbers that are objects
    (
        pickle.dumps(keyed_vectors(), 4).replace(
            b"J\xff\xff\xff\xffJ\xff\xff\xff\xffK\0", b"J\xff\xff\xff\xffJ\xff\xff\xff\xffK\x02"
        ),
        "not a whole array of floats",
    ),
    (b"\x80\x04\x8c\x06os\nsys\x8c\x06sy\x1bste\x93.", r"os\nsys.sy\x1bste"),
]
SPACY = [
    *(
        (floret(**settings), ("vectors.cfg", says))
        for settings, says in (
            ({"minn": None}, "expected whole numbers minn, maxn, hash_count, hash_seed"),
            ({"hash_count": 2.0}, "expected whole numbers"),
            ({"bow": 3}, "short texts bow, eow"),
            ({"eow": ">" * 1000}, "short texts bow, eow"),
            ({"minn": 0}, "n-grams of 0 to 4 characters"),
            ({"maxn": 10**9}, "read are n-grams of 1 to 100"),
            ({"hash_count": 5}, "hash_count 1 to 4"),
            ({"hash_seed": -1}, "hash_seed -1"),
            ({"attr": 66}, "another attribute than the text of a word (attr 66, not 65)"),
        )
    ),
    (floret() | {"vectors": array(np.ones((0, 2)))}, "holds no vectors"),
    (floret() | {"vectors": array(np.full((3, 2), 1e300))}, "inf"),
    (floret(["é" * 2000], maxn=100), "far more n-grams (2 to 100 characters) than a model of its size"),
    (floret() | {"strings.json": b'[""]'}, "holds no vectors"),
    (floret() | {"vectors": array(FLORET * np.nan)}, "nan"),
    (APPLE | {"key2row": b"\xc1"}, "key2row"),
    (APPLE | {"key2row": msgpack.packb([1, 2])}, "key2row"),
    (APPLE | {"key2row": msgpack.packb({KNOWN["apple"]: 0})[:-1]}, "key2row"),
    (spacy(["apple"], {KNOWN["apple"]: 16}), "16 rows"),
    (spacy(["apple"], {KNOWN["apple"]: -1}), "16 rows"),
    (spacy(["apple"], {}), ("holds no vectors: key2row is empty", "vectors.cfg")),
    (APPLE | {"strings.json": b"["}, "strings.json"),
    (APPLE | {"strings.json": b'{"apple": 1}'}, "strings.json"),
    (APPLE | {"vectors": b""}, "vectors"),
    *(
        (
            spacy([*KNOWN], {KNOWN["apple"]: row, KNOWN["coffee"]: 0}),
            ("key2row", "not a map from hash to row"),
        )
        for row in (1.9, 1.0, True, None, "1", [1], {1: 1}, b"1")
    ),
]
INDEX = parquet()["index.parquet"]
PARTS = [
    (parquet(WORDS[:-1]), ("16 rows", "15 in index.parquet")),
    (parquet([None, *WORDS[1:]]), ("index.parquet", "1 missing")),
    (parquet(vectors=VECTORS[:, 0]), ("two-dimensional", "(16,)")),
    (parquet(vectors=VECTORS.astype(int)), ("floats", "int64")),
    (parquet(vectors=VECTORS * np.nan), ("vector 1", "'the'")),
    (parquet(other=pa.array(WORDS)), ("one column of text", "found 2", "other")),
    (parquet() | {"index.parquet": b"PAR1"}, ("index.parquet", "Parquet")),
    *(
        (parquet() | {"index.parquet": INDEX[: at.start()] + b"\x91" + INDEX[at.end() :]}, "index.parquet")
        for at in re.finditer(b"(?<=inde)x", INDEX)  # the schema's, the column's, ...
    ),
    *(
        (parquet(WORDS[: shape[0] if shape else 1], np.ones(shape, "f4")), "vectors")
        for shape in ((), (2,), (0, 2), (2, 0), (2, 2, 1))
    ),
]
WINK = [
    (wink(size=17), ("17 words", "has 16")),
    (wink(size=15), ("15 words", "has 16")),
    (wink()[:-900], ("cut off", "16 words")),
    (wink(l2NormIndex=4), ("norm and index",)),
    (wink().replace('"size"', '"length"'), ('"size"',)),
    (wink().replace("[", "[null,", 2), "after 0 words"),
    ('{"error": "not found"}', ('without "vectors"',)),
    (wink(vectors=VECTORS * np.nan).replace("NaN", "nan"), ("'nan'", "JSON number")),
    (of_two('"a":[0882,2,3,0],"b":[4,5,6,1]'), "'0882' is no JSON number"),
    (of_two('"a":[1,-02,3,0],"b":[4,5,6,1]'), "'-02' is no JSON number"),
    (of_two('"a":[1,+2,3,0],"b":[4,5,6,1]'), "'+2' is no JSON number"),
    (of_two('"a":[1,.5,3,0],"b":[4,5,6,1]'), "'.5' is no JSON number"),
    (of_two('"a":[1,5.,3,0],"b":[4,5,6,1]'), "'5.' is no JSON number"),
    (of_two('"a":[1,2,3,0],"b":[4,5,Infinity,1]'), "'Infinity' is no JSON number"),
    (of_two('"a":[1,2,3,0] "b":[4,5,6,1]'), "cut off or damaged after 1 of 2"),
    (of_two('"a":[1,2,3,0],"b":[4,5,6,1],'), "cut off or damaged after 2 of 2"),
    (of_two('"a":[1 2,3,0,0],"b":[4,5,6,1]'), "after 0 words"),
    (of_two('"a":[1,2,3,0],"b":[4,5,6,1.5]'), "does not count from 0 to 1"),
    (of_two('"a":[1,2,3,0],"b":[4,5,6,7]'), "does not count from 0 to 1"),
    (of_two('"a":[1,2,3,0],"c":[4,5,6,1]'), 'the words of its "vectors" differ from its "words"'),
    (of_two('"a":[],"b":[4,5,6,1]'), "1 numbers"),
    (of_two(end="} junk"), "is not JSON"),
    (of_two(end="}}"), "is not JSON"),
    (of_two(end=""), "is not JSON"),
    (of_two(end=',"x":NaN}'), "NaN is no JSON number"),
    (of_two(dimensions=2.0), '"dimensions", a whole number'),
    (of_two(size=True), '"size", a whole number'),
    ("{x," + of_two()[1:], "is not JSON"),
]
OTHERS = [
    ("m.txt", "<!DOCTYPE html>\n<html><body>404</body></html>", "web page"),
    ("m.bin.gz", "\n <html lang=en>\n1 2 3\n", "web page"),
    ("m.xml", '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "web page"),
    ("m.txt", zipped("glove.txt", b"a 1 2\n"), "zip archive"),
    ("m.tgz.gz", tarred(b"a 1 2\n"), "tar archive"),
    ("m.npy", b"\x93NUMPY\x01\x00", "npy-parquet"),
    ("m.parquet", b"PAR1", "npy-parquet"),
    ("m.txt", "", "empty"),
    ("m.txt.gz", "", "empty"),
]
UNKNOWN = [
    (b"the 42\nof 17\nand 12\n", "of no known format"),  # a list of frequencies
    (b"16x 5\nthe \x01\x02 1.5", "of no known format"),
    (b"x 5\n" + bytes(range(256)), "of no known format"),
    (b"a 1\nb 2 3\nc 4 5 6\nd 1 2 3 4\ne f g\n", "of no known format"),
    (b"a\x00b 1 2\nc 1 2\n", "of no known format"),
    (
        binary([f"w{i}é".encode("latin1") for i in range(100)], np.ones((100, 5))),
        ("100 of 100 words", "UTF-8", "another encoding"),
    ),
]
REFUSED = [
    *(("model.txt", None, *row) for row in TEXT),
    *(("model.txt.gz", None, *row) for row in TEXT[:3]),
    ("rows.txt", "text", "\n\n\n", ("line 1", "a word and numbers")),
    ("rows.txt", "text", "400000 300\n", ("line 2", "a word and numbers")),
    ("rows.txt", "text", "2 0\na\nb\n", ("line 1", "no dimensions")),
    *(("model.bin", "word2vec-binary", *row) for row in BINARY),
    *(("m.kv", "gensim-kv", *row) for row in PICKLES),
    *(("vocab", None, *row) for row in SPACY),
    *(("parts", None, *row) for row in PARTS),
    ("parts", "npy-parquet", parquet() | {"more.npy": b""}, "one .npy file, found 2"),
    *(("m.json", "wink-json", *row) for row in WINK),
    *(("m", None, *row) for row in UNKNOWN),
    *((name, format, *row) for format in (None, "text") for name, *row in OTHERS),
]


@pytest.mark.parametrize(
    ("name", "format", "content", "says"), REFUSED, ids=[f"{row[0]}-{row[3]}" for row in REFUSED]
)
def test_what_is_no_model_is_refused_and_leaves_nothing(tmp_path, output, name, format, content, says):
    path = written(tmp_path / name, content)
    with warnings.catch_warnings(), refused(name, *([says] if isinstance(says, str) else says)) as told:
        warnings.simplefilter("ignore")
        convert(path, output, name="m", trust_pickle=True, format=format)
    assert str(told.value).isprintable()
    assert not output.exists()


def test_words_that_look_like_another_format_are_words(read):
    for first in ("<s>", "{", "[", "</s>", "html", "PK", "<h"):
        assert read(f"{first} 1 2\nb 3 4\n").words() == [first, "b"]


@pytest.mark.parametrize("keep", [0.1, 0.99])
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


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("absent.txt", {}, "no such file"),
        ("folder", {}, ("neither a store", "no files")),
        ("m.txt", {"format": "glove"}, ("unknown format 'glove'", ", ".join(sorted(REGISTRY)))),
        ("m.txt", {"format": "spacy"}, "spacy is a folder"),
        ("folder", {"format": "text"}, "text is a file"),
        ("parts", {"output": "parts"}, "made from"),
        ("parts", {"sha256": "0" * 64}, ("sha256", "folder")),
        *(("m.txt", {key: 3}, (key, "must be a text, not 3")) for key in ("name", "vocab_prefix", "sha256")),
    ],
)
def test_sources_that_are_not_there_or_of_the_wrong_kind(tmp_path, name, options, says):
    for path, content in (("m.txt", "a 1 2\n"), ("parts", parquet()), ("folder", {})):
        written(tmp_path / path, content)
    options = {"name": "m"} | options
    with refused(*([says] if isinstance(says, str) else says)):
        convert(tmp_path / name, tmp_path / options.pop("output", "store"), **options)


@pytest.mark.parametrize("content", [lines().encode(), pickle.dumps(keyed_vectors())], ids=["text", "pickle"])
@pytest.mark.parametrize("door", ["convert", "load", "config"])
def test_a_file_is_held_to_its_checksum_and_a_pickle_needs_one(tmp_path, output, door, content):
    path = written(tmp_path / "m.kv", content)
    right = hashlib.sha256(content).hexdigest()

    def opened(**pins):
        source = {"type": "file", "path": str(path), **pins}
        doors = {
            "convert": lambda: convert(path, output, name="m", **pins),
            "load": lambda: load(path, **pins),
            "config": lambda: build_store("m", {"source": source}, output),
        }
        return doors[door]()

    if content.startswith(b"\x80"):
        with refused("m.kv", "is a pickle", "sha256"):
            opened()
    with refused("m.kv", "0" * 64, right):
        opened(sha256="0" * 64)
    assert not (output / "vectors.npy").exists()
    assert_store(opened(sha256=right), WORDS, VECTORS)


def test_what_is_asked_of_load_and_convert_about_checksums(tmp_path, output):
    path = written(tmp_path / "m.kv", pickle.dumps(keyed_vectors()))
    right = hashlib.sha256(path.read_bytes()).hexdigest()
    with refused("m.kv", "--trust-pickle"):
        convert(path, output, name="m")
    with refused("m.kv", "0" * 64, right):
        convert(path, output, name="m", sha256="0" * 64, trust_pickle=True)
    assert convert(path, output, name="m", sha256=right).metadata["source"]["sha256"] == right
    assert_store(load(path, sha256=right.upper()), WORDS, VECTORS)
    with refused("store", "sha256"):
        load(output, sha256="0" * 64)
    with refused("absent", "no such file"):
        load(tmp_path / "absent")


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
        "word2vec-binary": written(tmp_path / "m.bin", binary()),
        "gensim-kv": written(tmp_path / "m.kv", pickle.dumps(keyed_vectors())),
        "spacy": written(
            tmp_path / "vocab", spacy(["coffee", "apple"], {k: i for i, k in enumerate(KNOWN.values())})
        ),
        "npy-parquet": written(tmp_path / "parts", parquet()),
        "wink-json": written(tmp_path / "m.json", wink()),
        "glove-binary": written(tmp_path / "glove", glove()) / "vectors.bin",
        "npz": tmp_path / "m.npz",
        "fasttext-bin": tmp_path / "fasttext.bin",
        "store": convert(written(tmp_path / "w.txt", lines()), tmp_path / "other", name="m").path,
    }
    np.savez(sources["npz"], words=WORDS, vectors=VECTORS)
    sentences = [WORDS[i:] for i in range(len(WORDS))]
    trained = FastText(sentences, vector_size=5, min_count=1, epochs=1, bucket=20, workers=1)
    save_facebook_model(trained, str(sources["fasttext-bin"]))
    for reader in REGISTRY.values():
        if reader.example:
            sources[reader.name] = plain_formats.write_example(reader, tmp_path / f"{reader.name}-example")
    lacking = [name for name in REGISTRY if name not in sources]
    assert not lacking, f"{', '.join(lacking)}: Reader.example has a small file of the format"
    assert set(sources) <= set(REGISTRY)
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
    assert load(written(tmp_path / "en-3.7.1", parquet())).name == "en-3.7.1"
