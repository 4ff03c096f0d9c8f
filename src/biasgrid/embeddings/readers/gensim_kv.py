"""gensim's save of KeyedVectors, and of the models that have them (Word2Vec, FastText): a pickle, taken apart without
calling gensim, NumPy or anything else that it names.

Every global that such a pickle needs is replaced by a stand-in which only collects what the pickle hands it; any
other global is refused by name. Before that the pickle's instructions are gone through without being carried out: one
that declares more bytes than there are, or asks for more objects than gensim's models have, could take all memory.
"""

from __future__ import annotations

import io
import mmap
import pickle
import pickletools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import BiasgridError, quote
from ...untrusted import parser_errors, read_all
from ..store_writer import LONGEST_WORD, StoreWriter
from ..subwords import LONGEST_NGRAM, vectors_of_words
from .files import blocks, check_array, load_array, open_content, whole_counts
from .reader import Reader

# gensim 4, 3, 2 and 1 in turn
WORDS = ("index_to_key", "index2word", "index2entity")
VECTORS = ("vectors", "syn0")


def read(path: Path, writer: StoreWriter) -> None:
    with _open_checked(path) as file:
        model = _Unpickler(file, path).load()
    state, name = vars(model) if isinstance(model, _Attributes) else {}, path.name
    tokens = state.get("corpus_total_words")
    if isinstance(state.get("wv"), _Attributes):
        # a whole model: its vectors, and what gensim calls their files
        state, name = vars(state["wv"]), f"{path.name}.wv"
    names = {*state, *_beside(state)}
    words = next((state[key] for key in WORDS if isinstance(state.get(key), list)), None)
    attribute = next((key for key in VECTORS if key in names), None)
    if words is None or (attribute is None and "vectors_vocab" not in names):
        raise BiasgridError(f"{path}: holds no KeyedVectors")
    for word in words:
        if not isinstance(word, str):
            # Python's text of tuples that hold each other twice never ends
            key = (
                quote(word)
                if isinstance(word, int | float | bytes | None)
                else f"of type {type(word).__name__}"
            )
            raise BiasgridError(f"{path}: key {key} is not a word")
    # fastText's of gensim 4 are made of those of words and n-grams, and not saved
    vectors = _array(path, state, attribute or "vectors_vocab", name)
    if len(vectors) != len(words):
        raise BiasgridError(f"{path}: {len(words)} words, but {len(vectors)} vectors")
    counts = _counts(state, words)
    if counts is not None and type(tokens) is int and tokens > 0:
        writer.tokens = tokens
    ngrams: Any = None
    if attribute is None or (writer.wants_subwords and "vectors_ngrams" in names):
        ngrams = _ngrams(path, state, name, vectors.shape[1])
        sizes = state["min_n"], state["max_n"]
    if attribute is not None:
        for part in blocks(vectors):
            writer.add(words[part], vectors[part], counts=None if counts is None else counts[part])
    else:
        encoded_words = [word.encode("utf-8", "surrogatepass") for word in words]
        for part, block in vectors_of_words(encoded_words, vectors, ngrams, *sizes, path, own_words=False):
            writer.add(words[part], block, counts=None if counts is None else counts[part])
    if ngrams is not None and len(ngrams):
        writer.add_subwords(ngrams, *sizes)


def _beside(state: dict[str, Any]) -> list[str]:
    """The names of the arrays that gensim has put beside the pickle."""
    names = state.get("__numpys")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _counts(state: dict[str, Any], words: list[str]) -> np.ndarray | None:
    """How often each word occurs in the corpus: gensim 4's array, or the entries of gensim 3's vocabulary; None where
    the pickle does not say so."""
    expandos, entries = state.get("expandos"), state.get("vocab")
    counts: Any = None
    try:
        if isinstance(expandos, dict) and isinstance(expandos.get("count"), _Array):
            counts = expandos["count"].array(INTEGERS)
        elif isinstance(entries, dict) and len(entries) == len(words):
            counts = np.array([entries[word].count for word in words], dtype=np.int64)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None
    return whole_counts(counts, len(words))


def _array(path: Path, state: dict[str, Any], key: str, name: str) -> np.ndarray:
    """An array of floats, which gensim puts beside the pickle if it is large."""
    if key in _beside(state):
        return load_array(path.with_name(f"{name}.{key}.npy"))
    array = state.get(key)
    with parser_errors(path, f"its {key} are not a whole array of floats"):
        array = array.array() if isinstance(array, _Array) else array
    return check_array(array, path)


def _ngrams(path: Path, state: dict[str, Any], name: str, dimensions: int) -> np.ndarray:
    """The vectors of a fastText model's n-grams, one per bucket."""
    ngrams = _array(path, state, "vectors_ngrams", name)
    numbers: list[Any] = [state.get(key) for key in ("min_n", "max_n", "bucket")]
    min_n, max_n, buckets = numbers
    whole = all(type(number) is int for number in numbers)
    if not whole or ngrams.shape != (buckets, dimensions) or min_n < 1 or max_n > LONGEST_NGRAM:
        raise BiasgridError(
            f"{path}: its n-grams are {ngrams.shape}, and it says {buckets!r:.20} buckets of {dimensions} "
            f"dimensions, {min_n!r:.20} to {max_n!r:.20} characters: damaged, or saved by gensim 3: load it in "
            "gensim 4, and save it there"
        )
    return ngrams


@contextmanager
def _open_checked(path: Path) -> Iterator[io.BufferedReader]:
    """The pickle, gone through. Its file can be peeked into: else it would be unpickled byte by byte."""
    with open_content(path) as file, parser_errors(path, "is not a whole pickle"):
        if isinstance(file.raw, io.FileIO):
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content, memoryview(content) as data:
                _check(data)
        else:
            unzipped = read_all(file)
            with memoryview(unzipped) as data:
                _check(data)
            file = io.BufferedReader(io.BytesIO(unzipped))
        yield file


# what follows an instruction, in pickletools' words: a number of bytes, or one of its negative codes
OPCODES = {op.code.encode("latin1"): op.arg.n if op.arg else 0 for op in pickletools.opcodes}
WIDTHS = [OPCODES.get(bytes([code])) for code in range(256)]
LENGTH_BYTES = {
    pickletools.TAKEN_FROM_ARGUMENT1: 1,
    pickletools.TAKEN_FROM_ARGUMENT4: 4,
    pickletools.TAKEN_FROM_ARGUMENT4U: 4,
    pickletools.TAKEN_FROM_ARGUMENT8U: 8,
}
# one byte of these makes an object of up to 200; a KeyedVectors has one for each ten bytes or more
OBJECT_CODES = frozenset(b"]}\x8f\x91tldo\x81\x92Ri\x85\x86\x87")
SPARE = 100_000  # bytes for which nothing is counted
STOP, PUT, LONG_BINPUT, FRAME = b".pr\x95"
TWO_LINES = b"ci"
NEWLINE = re.compile(rb"\n")
# What most of a KeyedVectors is, in one step: short words, whole numbers, references, what puts them into place;
# objects that are numbered at once (six bytes or more each), and the entries of gensim 3's vocabulary.
SHORT = b"|".join(b"\\x%02x.{%d}" % (length, length) for length in range(32))
SHORT_4 = b"|".join(b"\\x%02x\0\0\0.{%d}" % (length, length) for length in range(32))
GET, NUMBER = rb"(?:h.|j.{4})", rb"(?:K.|M..|J.{4})"
RUN = re.compile(
    rb"(?s:[(NQabesu)\x88\x89\x94]|[hKq].|M..|[Jj].{4}|[C\x8c](?:%b)|X(?:%b)|[]}tR\x81\x85-\x87]?r.{3}\0"
    rb"|\x81\x94\}\x94\(%b{3}|\x86\x94R\x94%b%b)*+" % (SHORT, SHORT_4, GET, GET, NUMBER)
)


def _check(data: memoryview) -> None:
    """Raises ValueError for a pickle that would take far more memory than it has bytes.

    A declared length is read into memory that is allocated before; so is the table of remembered objects, up to the
    number that an instruction names.
    """
    place, end, objects = 0, len(data), 0
    while run := RUN.match(data, place):
        place = run.end()
        if place >= end:
            raise ValueError("it is cut off")
        code, place = data[place], place + 1
        width = WIDTHS[code]
        if width is None:
            raise ValueError(f"it holds byte {code}, which is no instruction")
        if code == STOP:
            return
        if code in OBJECT_CODES:
            objects += 1
            if 8 * objects > place + SPARE:
                raise ValueError("it makes far more objects than a model has")
        if width == pickletools.UP_TO_NEWLINE:
            for _ in range(2 if code in TWO_LINES else 1):
                line = NEWLINE.search(data, place)
                if not line:
                    raise ValueError("it is cut off")
                text, place = bytes(data[place : min(line.start(), place + 20)]), line.end()
            if code == PUT and int(text) > place // 3 + SPARE:
                raise ValueError(f"it numbers an object {int(text)}")
            continue
        if width < 0:
            size = LENGTH_BYTES[width]
            length = int.from_bytes(data[place : place + size], "little")
            place, width = place + size, length
        elif code == LONG_BINPUT and int.from_bytes(data[place : place + 4], "little") > place // 3 + SPARE:
            raise ValueError("it numbers more objects than it can have")
        elif code == FRAME and int.from_bytes(data[place : place + 8], "little") > end - place - 8:
            raise ValueError("it is cut off")
        if width > end - place:
            raise ValueError(f"it declares {width} bytes, and {max(0, end - place)} follow")
        place += width


class _Attributes:
    """A KeyedVectors, or a model: its attributes."""

    def __setstate__(self, state):
        self.__dict__.update(state)


class _Entry:
    """A vocabulary entry of gensim 3."""

    __slots__ = ("count",)

    def __setstate__(self, state):
        self.count = state.get("count") if isinstance(state, dict) else None


class _Placeholder:
    """What a model needs for training: counts of words, a random generator, functions."""

    def __init__(self, *_):
        pass

    def __setstate__(self, state):
        pass

    def __setitem__(self, key, value):
        pass


FLOATS, INTEGERS = ("f2", "f4", "f8"), ("i4", "i8", "u4", "u8")


class _Type:
    """A NumPy dtype."""

    def __init__(self, code, *_):
        self.code, self.order = code, "<"

    def __setstate__(self, state):
        if state[0] not in (1, 2, 3, 4):
            raise ValueError(f"a dtype of version {state[0]!r:.20}")
        self.order = state[1]

    def dtype(self, codes: tuple[str, ...]) -> np.dtype:
        if self.code not in codes or self.order not in ("<", ">", "="):
            raise ValueError(f"array of {self.order}{self.code}")
        return np.dtype(self.order + self.code)


class _Array:
    """A NumPy array: the arguments of ndarray.__setstate__."""

    def __init__(self, *_):
        pass

    def __setstate__(self, state):
        _, self.shape, self.type, self.fortran, self.data = state

    def array(self, codes: tuple[str, ...] = FLOATS) -> np.ndarray:
        numbers = np.frombuffer(_bytes(self.data), self.type.dtype(codes))
        return numbers.reshape(self.shape, order="F" if self.fortran else "C")


def _scalar(type: _Type, data: bytes | _Latin | None = None) -> str | int | None:
    """A NumPy scalar: a word (numpy.str_), or a count; other numbers are not needed."""
    if type.code in INTEGERS and data is not None:
        is_signed = type.code.startswith("i")
        return int.from_bytes(_bytes(data)[:8], "big" if type.order == ">" else "little", signed=is_signed)
    if not type.code.startswith("U") or data is None:
        return None
    content = _bytes(data)
    if len(content) > 4 * LONGEST_WORD:
        raise ValueError(f"it has a word of {len(content) // 4} characters")
    return content.decode("utf-32-be" if type.order == ">" else "utf-32-le").rstrip("\0")


def _bytes(data: bytes | str | _Latin) -> bytes:
    """Python 2 had one type for both."""
    data = data.text if isinstance(data, _Latin) else data
    return data.encode("latin1") if isinstance(data, str) else data


class _Latin:
    """codecs.encode(text, "latin1"), which old pickles of bytes call; encoded when it is needed, and not each time
    that a pickle asks for it."""

    def __init__(self, text: str, encoding: str):
        if encoding != "latin1":
            raise ValueError(f"bytes in the encoding {encoding!r:.40}")
        self.text = text


def _from_buffer(data, type, shape, order) -> _Array:
    """numpy._frombuffer of pickle protocol 5."""
    if order not in ("C", "F"):
        raise ValueError(f"an array of order {order!r:.20}")
    array = _Array()
    array.__setstate__((1, shape, type, order == "F", data))
    return array


KEYED_VECTORS = ("KeyedVectors", "Word2VecKeyedVectors", "EuclideanKeyedVectors", "FastTextKeyedVectors")
CLASSES: dict[tuple[str, str], Callable[..., Any]] = {
    **{("gensim.models.keyedvectors", name): _Attributes for name in KEYED_VECTORS},
    ("gensim.models.fasttext", "FastTextKeyedVectors"): _Attributes,
    ("gensim.models.word2vec", "Word2Vec"): _Attributes,
    ("gensim.models.fasttext", "FastText"): _Attributes,
    # of gensim 3's models
    ("gensim.models.word2vec", "Word2VecVocab"): _Placeholder,
    ("gensim.models.word2vec", "Word2VecTrainables"): _Placeholder,
    ("gensim.models.fasttext", "FastTextVocab"): _Placeholder,
    ("gensim.models.fasttext", "FastTextTrainables"): _Placeholder,
    ("gensim.utils", "call_on_class_only"): _Placeholder,
    ("collections", "defaultdict"): _Placeholder,
    ("numpy.random", "__RandomState_ctor"): _Placeholder,
    ("numpy.random._pickle", "__randomstate_ctor"): _Placeholder,
    ("numpy.random._pickle", "__bit_generator_ctor"): _Placeholder,
    ("numpy.random._mt19937", "MT19937"): _Placeholder,
    ("gensim.models.keyedvectors", "Vocab"): _Entry,
    ("gensim.models.keyedvectors", "CompatVocab"): _Entry,
    ("gensim.models.word2vec", "Vocab"): _Entry,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Type,
    ("_codecs", "encode"): _Latin,
}
for builtins in ("builtins", "__builtin__"):  # Python 3 and 2
    CLASSES[builtins, "hash"] = CLASSES[builtins, "int"] = _Placeholder
for core in ("numpy.core", "numpy._core"):  # before and after NumPy 2
    CLASSES[f"{core}.multiarray", "_reconstruct"] = _Array
    CLASSES[f"{core}.multiarray", "scalar"] = _scalar
    CLASSES[f"{core}.numeric", "_frombuffer"] = _from_buffer


LARGEST_TUPLE = 100  # parts, and parts of parts; what an array is made of has a dozen


def _is_small(part: tuple) -> bool:
    count, parts = 0, [part]
    while parts and count <= LARGEST_TUPLE:
        members = parts.pop()
        count += len(members)
        parts += [member for member in members if type(member) is tuple]
    return count <= LARGEST_TUPLE


class _Unpickler(pickle._Unpickler):  # of Python: that in C takes no instruction of ours
    """Refuses what no model has: a tuple that holds others twice each, thirty levels deep, has a billion parts in as
    many bytes, and as a key of a mapping all of them are gone through."""

    dispatch = pickle._Unpickler.dispatch.copy()

    def __init__(self, file, path: Path):
        super().__init__(file, encoding="latin1")
        self.path = path

    def find_class(self, module: str, name: str):
        if (module, name) not in CLASSES:
            raise BiasgridError(
                f"{self.path}: refused: the pickle asks for {module:.60}.{name:.60}, and only gensim's KeyedVectors, "
                "its Word2Vec and FastText models and plain NumPy arrays are taken from one"
            )
        return CLASSES[module, name]


def _bounded(load: Callable[[Any], None]) -> Callable[[Any], None]:
    """An instruction that makes a tuple."""

    def load_small(unpickler: _Unpickler) -> None:
        load(unpickler)
        if not _is_small(unpickler.stack[-1]):  # type: ignore[attr-defined]
            raise BiasgridError(
                f"{unpickler.path}: refused: the pickle has a tuple of more than {LARGEST_TUPLE} parts, and no model "
                "of gensim's has one"
            )

    return load_small


for instruction in (pickle.TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3):
    _Unpickler.dispatch[instruction[0]] = _bounded(_Unpickler.dispatch[instruction[0]])


def detect(sample: bytes) -> bool:
    """Whether a pickle of protocol 2 or later begins so."""
    return re.match(rb"\x80[\x02-\x05]", sample) is not None


READERS = (
    Reader(
        name="gensim-kv",
        meaning="save of gensim's KeyedVectors, Word2Vec and FastText, with the arrays that it left beside the file",
        detect=detect,
        read=read,
        pickled=True,
        beside="{}.*.npy",
    ),
)
