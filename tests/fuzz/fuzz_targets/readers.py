"""Models in the formats of other tools, damaged, through `biasgrid.models.convert`.

A store that is made is held against what a plain parser of its format reads, whatever the format was meant to be.
"""

from __future__ import annotations

import bz2
import contextlib
import csv
import functools
import gzip
import io
import itertools
import json
import lzma
import pickle
import random
import re
import struct
import warnings
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import plain_formats
import pyarrow as pa
import pyarrow.parquet as pq
from gensim.models import FastText, KeyedVectors, Word2Vec
from gensim.models.keyedvectors import CompatVocab

from biasgrid.core.errors import BiasgridError
from biasgrid.core.registry import load_plugins, shipped_plugins
from biasgrid.models import EmbeddingStore, convert
from biasgrid.models.corpus.text import Sentences
from biasgrid.tables import published as comparison
from biasgrid.tables.published.published import PUBLISHED

from .damage import Refused, accepted, damaged

load_plugins(shipped_plugins())
WORDS = [
    "the",
    "naïve",
    "中文",
    "1.5",
    ".",
    "a",
    "🙂",
    "0",
    "12",
    "nan",
    "vectors",
    "x" * 300,
    "]",
    '"',
    "\\",
    "of",
]
Model = tuple[list[str], np.ndarray]


def drawn(chance: random.Random, words: list[str] = WORDS) -> Model:
    words = chance.sample(words, chance.randint(2, len(words)))
    generator = np.random.default_rng(chance.randrange(1 << 30))
    return words, generator.normal(size=(len(words), chance.randint(2, 6))).astype("<f4")


def tried(source: Path, folder: Path, format: str | None = None) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            store = accepted(convert, source, folder / "store", name="m", trust_pickle=True, format=format)
    except Refused:
        assert not (folder / "store").exists(), "a store in spite of an error"
        raise
    form = store.metadata["format"]
    if form == "word2vec-binary" and "words_with_spaces" in store.metadata["warnings"]:
        return  # where such words end is a guess, which tests/models/test_readers.py holds against the truth
    compare(store, PARSERS[form](source))


def compare(store: EmbeddingStore, rows: Iterable[tuple[str, np.ndarray]]) -> None:
    expected: dict[str, bytes] = {}
    for word, vector in rows:
        word = word.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        with np.errstate(over="ignore"):
            expected.setdefault(word, np.asarray(vector).astype(np.float32).tobytes())
    words = store.words()
    assert sorted(words) == sorted(expected), f"words {words} and not {list(expected)}"
    vectors = store.array[store.rows(words)]
    for word, vector in zip(words, vectors, strict=True):
        assert vector.tobytes() == expected[word], f"{word!r} has another vector"
    assert np.isfinite(vectors).all(), "not finite"


# the formats, as plainly as they can be read


COMPRESSED: dict[bytes, Any] = {b"\x1f\x8b": gzip, b"BZh": bz2, b"\xfd7zXZ": lzma}


def content(path: Path) -> bytes:
    whole = path.read_bytes()
    for start, module in COMPRESSED.items():
        if whole.startswith(start):
            return module.decompress(whole)
    return whole


def parse_text(path: Path) -> Iterable[tuple[str, np.ndarray]]:
    lines = content(path).removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if re.fullmatch(rb"[ \t]*\d+[ \t]+\d+[ \t\r]*", lines[0]):
        rows, dimensions = map(int, lines.pop(0).split())
        assert rows == sum(bool(line.strip(b" \t\r")) for line in lines), "another number of rows"
    else:
        # the most common number of numbers at the ends of the first hundred lines
        # (counted from the end: one pattern for all of them takes minutes for a line of a million spaces)
        counts = []
        for line in lines[:100]:
            ends = reversed(re.split(rb"[ \t]+", line.rstrip(b" \t\r"))[1:])
            if number := len(list(itertools.takewhile(re.compile(rb"[-+.\deE]+").fullmatch, ends))):
                counts.append(number)
        dimensions = max(counts, key=counts.count)
    # the first line of a word counts
    for line in dict.fromkeys(lines):
        fields = re.split(rb"[ \t]+", line.strip(b"\r").rstrip(b" \t\r"))
        if fields != [b""]:
            word = b" ".join(fields[:-dimensions]).strip(b" ")
            if not word:  # a space, before the one that ends it
                word = b" " * (len(line) - len(line.lstrip(b" \t")) - 1)
            yield word.decode(errors="replace"), np.array([float(field) for field in fields[-dimensions:]])


def parse_binary(path: Path) -> Iterable[tuple[str, np.ndarray]]:
    header, rest = content(path).split(b"\n", 1)
    rows, dimensions = map(int, header.split())
    for _ in range(rows):
        word, rest = rest.split(b" ", 1)
        vector, rest = rest[: 4 * dimensions], rest[4 * dimensions :]
        yield word.lstrip(b"\n").decode(errors="replace"), np.frombuffer(vector, "<f4")
    assert not rest.strip(b"\r\n"), "more than the rows"


def parse_wink(path: Path) -> Iterable[tuple[str, np.ndarray]]:
    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    found = json.loads(content(path).decode(), parse_constant=refuse, object_pairs_hook=list)
    vectors = dict(found)["vectors"]
    assert len(vectors) == dict(found)["size"]
    for word, numbers in vectors:
        yield word, np.array([float(number) for number in numbers[:-2]])


def parse_spacy(folder: Path) -> Iterable[tuple[str, np.ndarray]]:
    key2row = msgpack.unpackb((folder / "key2row").read_bytes(), strict_map_key=False)
    vectors = np.load(folder / "vectors", allow_pickle=False)
    for word in json.loads((folder / "strings.json").read_text(encoding="utf-8")):
        row = key2row.get(plain_formats.murmurhash(word.encode("utf-8", "surrogatepass")))
        if word and row is not None:
            assert type(row) is int, "a row that is no whole number"
            yield word, vectors[row]


def parse_parquet(folder: Path) -> Iterable[tuple[str, np.ndarray]]:
    path = next(folder.glob("*.parquet"))
    (name,) = (f.name for f in pq.read_schema(path) if f.type in (pa.string(), pa.large_string()))
    column = pq.read_table(path, columns=[name])[name]  # others may be damaged
    return zip(column.to_pylist(), np.load(next(folder.glob("*.npy")), allow_pickle=False), strict=True)


class Array(np.ndarray):
    """An array of which nothing is left where it is damaged: of a whole model most are of no use here."""

    __hash__ = object.__hash__

    def __setstate__(self, state):
        with contextlib.suppress(ValueError, TypeError):
            super().__setstate__(state)


def latin(text: str, encoding: str) -> bytes:
    return text.encode(encoding, "replace")


class Unused:
    """A random generator."""

    def __init__(self, *_):
        pass

    def __setstate__(self, state):
        pass


class Plain(pickle.Unpickler):
    """Real objects, of the modules that a KeyedVectors needs."""

    def find_class(self, module, name):
        allowed = module.startswith(("numpy", "gensim.models")) or (module, name) in (
            ("_codecs", "encode"),
            ("gensim.utils", "call_on_class_only"),
            ("collections", "defaultdict"),
            *((module, name) for module in ("builtins", "__builtin__") for name in ("hash", "int")),
        )
        assert allowed, f"{module}.{name} in a pickle that was read"
        if module.startswith("numpy.random"):
            return Unused
        if module == "_codecs":
            return latin
        return Array if (module, name) == ("numpy", "ndarray") else super().find_class(module, name)


def parse_pickle(path: Path) -> Iterable[tuple[str, np.ndarray]]:
    try:
        state = vars(Plain(io.BytesIO(content(path)), encoding="latin1").load())
    except ValueError as error:
        # NumPy refuses a damaged dtype also in a part that the reader leaves alone
        if "numpy.dtype pickle" in str(error):
            raise Refused(str(error)) from None
        raise
    state = vars(state["wv"]) if "wv" in state else state
    beside = state.get("__numpys")
    beside = {name for name in beside if isinstance(name, str)} if isinstance(beside, list) else set()
    if not {"vectors", "syn0"} & {*state, *beside}:
        yield from full_words(
            [str(word).encode("utf-8", "surrogatepass") for word in state["index_to_key"]],
            state["vectors_vocab"],
            state["vectors_ngrams"],
            state["min_n"],
            state["max_n"],
            end_of_sentence=False,
        )
        return
    if {"vectors", "syn0"} & beside:
        vectors = np.load(next(path.parent.glob("*.npy")), allow_pickle=False)
    else:
        vectors = state.get("vectors", state.get("syn0"))
    words = next(
        state[k] for k in ("index_to_key", "index2word", "index2entity") if isinstance(state.get(k), list)
    )
    yield from zip(map(str, words), vectors, strict=True)


def full_words(
    words: list[bytes],
    own: np.ndarray,
    ngrams: np.ndarray,
    least: int,
    most: int,
    end_of_sentence: bool = True,
) -> Iterable[tuple[str, np.ndarray]]:
    """What fastText says of words, n-gram by n-gram (Bojanowski et al. 2017; its dictionary.cc)."""
    assert len(own) >= len(words)
    for word, vector in zip(words, own, strict=False):
        marked = b"<" + word + b">"
        # where characters begin, and the end
        places = [i for i, byte in enumerate(marked) if byte & 0xC0 != 0x80] + [len(marked)]
        total, count = vector.astype(np.float32), 1
        if len(ngrams) and not (end_of_sentence and word == b"</s>"):
            for start in range(len(places) - 1):
                for end in range(start + 1, min(start + most, len(places) - 1) + 1):
                    edge = end == start + 1 and (start == 0 or end == len(places) - 1)
                    if end - start >= least and not edge:
                        value = 2166136261
                        for byte in marked[places[start] : places[end]]:
                            value = (
                                (value ^ (byte | (0xFFFFFF00 if byte > 127 else 0))) * 16777619 % (1 << 32)
                            )
                        total, count = total + ngrams[value % len(ngrams)], count + 1
        yield word.decode(errors="replace"), total / np.float32(count)


def parse_fasttext(path: Path) -> Iterable[tuple[str, np.ndarray]]:
    whole = content(path)
    _, version, d, *_, model, buckets, least, most, _, _ = struct.unpack_from("<14id", whole)
    place = struct.calcsize("<14id")
    size, number, _, _, pruned = struct.unpack_from("<3i2q", whole, place)
    place += struct.calcsize("<3i2q")
    words = []
    for entry in range(size):
        word, _ = whole[place:].split(b"\0", 1)
        words += [word] if entry < number else []
        place += len(word) + 10
    quantized, rows, columns = struct.unpack_from("<?2q", whole, place)
    assert not quantized, "approximations"
    assert columns == d, "other dimensions"
    place += struct.calcsize("<?2q")
    matrix = np.frombuffer(whole, "<f4", rows * d, place).reshape(rows, d)
    if most < 1 or pruned == 0 or (version == 11 and model == 3):
        buckets = 0
    return full_words(words, matrix, matrix[number : number + buckets], least, most)


def parse_npz(path: Path) -> Iterable[tuple[str, np.ndarray]]:
    with np.load(path, allow_pickle=False) as arrays:
        return zip(arrays["words"].tolist(), arrays["vectors"], strict=True)


def parse_glove(path: Path) -> Iterable[tuple[str, np.ndarray]]:
    lines = content(path.with_name("vocab.txt")).splitlines()
    words = [line.rsplit(b" ", 1)[0].decode(errors="replace") for line in lines]
    rows = np.frombuffer(content(path), "<f8").reshape(2, len(words), -1)[:, :, :-1]
    return zip(words, rows[0] + rows[1], strict=True)


PARSERS = {
    "text": parse_text,
    "word2vec-binary": parse_binary,
    "wink-json": parse_wink,
    "spacy": parse_spacy,
    "npy-parquet": parse_parquet,
    "gensim-kv": parse_pickle,
    "fasttext-bin": parse_fasttext,
    "npz": parse_npz,
    "glove-binary": parse_glove,
}


# valid files


def as_text(chance: random.Random) -> bytes:
    words, vectors = drawn(chance)
    separator, end = chance.choice([" ", " ", "\t", "  "]), chance.choice(["\n", "\n", " \n", "\r\n"])
    rows = zip(words, vectors.astype(float).tolist(), strict=True)
    lines = [separator.join([word, *map(repr, row)]) + end for word, row in rows]
    header = f"{len(words)} {vectors.shape[1]}\n" * chance.randint(0, 1)
    return ("\ufeff" * (chance.random() < 0.1) + header + "".join(lines)).encode()


def as_binary(chance: random.Random) -> bytes:
    return plain_formats.binary(*drawn(chance), chance.choice([b"", b"\n"]))


def as_wink(chance: random.Random) -> bytes:
    words, vectors = drawn(chance)
    separators, indent = chance.choice([(",", ":"), (", ", ": ")]), chance.choice([None, None, 1])
    rows = vectors.astype(float).round(6).tolist()
    layout = {"separators": separators, "indent": indent, "ensure_ascii": chance.random() < 0.3}
    return plain_formats.wink(words, rows, **layout).encode()


def as_pickle(chance: random.Random) -> bytes:
    words, vectors = drawn(chance)
    made = KeyedVectors(vectors.shape[1])
    if chance.random() < 0.5:
        made.add_vectors(words, vectors)
    else:  # of gensim 3
        vocab = {word: CompatVocab(count=9, index=i) for i, word in enumerate(words)}
        words = [np.str_(word) for word in words] if chance.random() < 0.3 else words
        made.__dict__ = {
            "index2word": words,
            "vectors": vectors,
            "vocab": vocab,
            "vector_size": vectors.shape[1],
        }
    return pickle.dumps(made, chance.choice([0, 1, 2, 3, 4, 5]))


def as_gensim_model(chance: random.Random) -> bytes:
    """Word2Vec and FastText, and fastText's vectors as gensim saves them: without those that can be made anew."""
    words, vectors = drawn(chance)
    if chance.random() < 0.4:
        model = Word2Vec(vector_size=vectors.shape[1])
        model.wv.add_vectors(words, vectors)
        return pickle.dumps(model, chance.choice([2, 3, 4, 5]))
    model = FastText(vector_size=vectors.shape[1], bucket=chance.randint(1, 20), max_n=chance.randint(3, 5))
    model.wv.__dict__ |= {"index_to_key": words, "vectors_vocab": vectors, "buckets_word": None}
    ngrams = np.random.default_rng(1).normal(size=(model.wv.bucket, vectors.shape[1]))
    model.wv.vectors_ngrams = ngrams.astype("<f4")
    del model.wv.vectors
    return pickle.dumps(model if chance.random() < 0.5 else model.wv, chance.choice([2, 3, 4, 5]))


def as_fasttext(chance: random.Random) -> bytes:
    words, vectors = drawn(chance, [*WORDS, "</s>"])
    least, most, buckets = chance.randint(1, 4), chance.choice([0, 3, 6]), chance.choice([0, 1, 7, 30])
    model, version = (3, 11) if chance.random() < 0.1 else (chance.choice([1, 2, 3]), 12)
    ngrams = np.random.default_rng(1).normal(size=(buckets, vectors.shape[1])).astype("<f4")
    words = [word.encode() for word in words]
    labels = chance.choice([0, 0, 2])
    return plain_formats.fasttext(words, vectors, ngrams, least, most, labels, model, version)


def as_npz(chance: random.Random) -> bytes:
    words, vectors = drawn(chance)
    file = io.BytesIO()
    chance.choice([np.savez, np.savez_compressed])(
        file, words=words, vectors=vectors.astype(chance.choice(["<f4", "<f8", ">f4"]))
    )
    return file.getvalue()


def as_npy(vectors: np.ndarray, chance: random.Random) -> bytes:
    file = io.BytesIO()
    vectors = vectors.astype(chance.choice(["<f4", "<f4", "<f8", ">f4", "<f2"]))
    np.lib.format.write_array(
        file, np.asarray(vectors, order=chance.choice("CF")), chance.choice([(1, 0), (2, 0)])
    )
    return file.getvalue()


def as_parquet(words: list[str], chance: random.Random) -> bytes:
    file = io.BytesIO()
    columns = {"index": pa.array(words, chance.choice([pa.string(), pa.string(), pa.large_string()]))}
    if chance.random() < 0.3:
        columns["number"] = pa.array(range(len(words)))
    pq.write_table(
        pa.table(columns),
        file,
        compression=chance.choice(["snappy", "zstd", "gzip", "brotli", "none"]),
        use_dictionary=chance.random() < 0.5,
        data_page_version=chance.choice(["1.0", "2.0"]),
        row_group_size=chance.choice([3, 100]),
    )
    return file.getvalue()


# the targets


def a_file(make: Callable[[random.Random], bytes], seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    path, whole = folder / "model", make(chance)
    if chance.random() < 0.75:
        whole = damaged(whole, chance)
    if chance.random() < 0.3:
        whole = chance.choice([gzip, bz2, lzma]).compress(whole)
        if chance.random() < 0.5:
            whole = damaged(whole, chance)
    path.write_bytes(whole)
    tried(path, folder)


def a_folder(files: dict[str, bytes], chance: random.Random, folder: Path) -> None:
    (folder / "model").mkdir()
    hit = chance.choice([None, *files])
    for name, whole in files.items():
        damage = name == hit or (hit and chance.random() < 0.1)
        (folder / "model" / name).write_bytes(damaged(whole, chance) if damage else whole)
    tried(folder / "model", folder)


def spacy(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    words, vectors = drawn(chance)
    keys = {plain_formats.murmurhash(word.encode()): chance.randrange(len(words)) for word in words}
    files = {
        "vectors": as_npy(vectors, chance),
        "key2row": msgpack.packb(keys),
        "strings.json": json.dumps(["", *words]).encode(),
    }
    a_folder(files, chance, folder)


def npy_parquet(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    words, vectors = drawn(chance)
    a_folder({"v.npy": as_npy(vectors, chance), "w.parquet": as_parquet(words, chance)}, chance, folder)


def pickle_beside(seed: int, folder: Path) -> None:
    """A pickle whose vectors lie beside it, as gensim has large ones."""
    chance = random.Random(seed)
    words, vectors = drawn(chance)
    made = KeyedVectors(vectors.shape[1])
    made.add_vectors(words, vectors)
    path = folder / "model.kv"
    made.save(str(path), separately=["vectors"])
    hit = chance.choice([path, folder / "model.kv.vectors.npy"])
    hit.write_bytes(damaged(hit.read_bytes(), chance))
    tried(path, folder)


def glove(seed: int, folder: Path) -> None:
    """GloVe's parameters and the vocabulary beside them."""
    chance = random.Random(seed)
    words, vectors = drawn(chance)
    files = {
        "vectors.bin": plain_formats.glove(vectors, vectors[::-1]),
        "vocab.txt": plain_formats.glove_vocabulary([word.encode() for word in words]),
    }
    hit = chance.choice([None, *files])
    for name, whole in files.items():
        (folder / name).write_bytes(damaged(whole, chance) if name == hit else whole)
    tried(folder / "vectors.bin", folder, chance.choice([None, "glove-binary"]))


def noise(seed: int, folder: Path) -> None:
    """Whatever the formats begin with, and then anything."""
    chance = random.Random(seed)
    starts = [
        b"",
        b"2 3\n",
        b"\x80\x04",
        b"\x80\x02",
        b'{"',
        b'{"vectors":{',
        b"\x93NUMPY\x01\0",
        b"PAR1",
        b"a 1 2\n",
    ]
    pieces = [chance.choice(starts)]
    for _ in range(chance.randint(1, 30)):
        pieces.append(
            damaged(chance.choice(starts) + chance.randbytes(chance.randint(0, 20)), chance, times=1)
        )
    path = folder / "model"
    path.write_bytes(b"".join(pieces))
    tried(
        path,
        folder,
        chance.choice([None, None, "text", "word2vec-binary", "gensim-kv", "wink-json", "fasttext-bin"]),
    )


def odd_keys(seed: int, folder: Path) -> None:
    """A KeyedVectors in which a word, or the list of arrays beside the file, is none."""
    chance = random.Random(seed)
    words, vectors = drawn(chance)
    made = KeyedVectors(vectors.shape[1])
    made.add_vectors(words, vectors)
    nested: tuple = ()
    for _ in range(chance.choice([1, 30, 60])):
        nested = (nested, nested)
    odd = chance.choice([nested, 10 ** chance.choice([1, 6000]), None, 1.5, b"he", [[]], {}, vectors, made])
    if chance.random() < 0.5:
        made.index_to_key[chance.randrange(len(words))] = odd
    else:
        made.__dict__["__numpys"] = chance.choice([odd, [odd], ["vectors", odd]])
    (folder / "model.kv").write_bytes(pickle.dumps(made, chance.choice([2, 3, 4, 5])))
    tried(folder / "model.kv", folder)


def long_words(seed: int, folder: Path) -> None:
    """A fastText model whose words have far more n-grams than it has bytes."""
    chance = random.Random(seed)
    number, d, most = chance.randint(1, 300), chance.choice([1, 2, 300]), chance.choice([30, 100])
    words = [b"%d" % i + b"a" * chance.choice([3000, 60_000 // number]) for i in range(number)]
    own, ngrams = np.zeros((number, d), "<f4"), np.zeros((3, d), "<f4")
    (folder / "model.bin").write_bytes(plain_formats.fasttext(words, own, ngrams, 1, most))
    accepted(convert, folder / "model.bin", folder / "store", name="m")


def corpus_zip(seed: int, folder: Path) -> None:
    """A zip archive as a corpus: of no text, one or two, a folder, a link; or damaged."""
    chance = random.Random(seed)
    path, texts = folder / "corpus.zip", []
    with zipfile.ZipFile(path, "w", chance.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for number in range(chance.choice([0, 1, 1, 2])):
            info = zipfile.ZipInfo(f"{number}{chance.choice(['', '', '/'])}")
            mode = chance.choice([0o100644, 0o100644, 0o120777])
            info.external_attr = mode << 16
            text = b"" if info.is_dir() else b"one sentence\nanother one\n"
            archive.writestr(info, text)
            texts += [] if info.is_dir() else [mode]
    whole = damaged(path.read_bytes(), chance) if (hit := chance.random() < 0.5) else path.read_bytes()
    path.write_bytes(whole)
    sentences = accepted(lambda: list(Sentences(path)))
    if not hit:
        assert texts == [0o100644], "read what is no text"
        assert sentences == [["one", "sentence"], ["another", "one"]]


def published(seed: int, folder: Path) -> None:
    """A file of published numbers with an odd entry; a message is a line, and not a page."""
    chance = random.Random(seed)
    row = dict.fromkeys(PUBLISHED, "") | {"metric": "weat", "query": "q", "quantity": "value"}
    row |= {"published": "0.5", "digits": "2"}
    piece = chance.choice(["x", "9", "-", "/", "é", "direct/", "\n", "1e", "\u202e"])
    row[chance.choice(PUBLISHED)] = piece * chance.choice([1, 400, 5000])
    with (folder / "numbers.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([PUBLISHED, list(row.values())])
    try:
        comparison.read([folder / "numbers.csv"])
    except BiasgridError as error:  # its file may hold line breaks
        length = len(str(error))
        assert length < 1000, "a page of a message"
        raise Refused from None


TARGETS = {
    "text": functools.partial(a_file, as_text),
    "binary": functools.partial(a_file, as_binary),
    "wink": functools.partial(a_file, as_wink),
    "pickle": functools.partial(a_file, as_pickle),
    "pickle_beside": pickle_beside,
    "gensim_model": functools.partial(a_file, as_gensim_model),
    "fasttext": functools.partial(a_file, as_fasttext),
    "npz": functools.partial(a_file, as_npz),
    "spacy": spacy,
    "npy_parquet": npy_parquet,
    "glove": glove,
    "noise": noise,
    "odd_keys": odd_keys,
    "long_words": long_words,
    "corpus_zip": corpus_zip,
    "published": published,
}
