"""Safe reading of gensim's pickles, without calling gensim, NumPy or any other code that a pickle names.

Every global that such a pickle needs is replaced by a stand-in that only collects its arguments; any other
global is refused by name. Before that, the pickle's instructions are scanned without being executed. A pickle
that declares more bytes than it has, or creates more objects than gensim's models have, could take all
memory.
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

from ...core.errors import BiasgridError
from ...core.untrusted import parser_errors, read_all
from ..store_writer import LONGEST_WORD
from .files import open_content


def unpickle(path: Path) -> Any:
    """Read a pickle with stand-ins for its objects. Raise BiasgridError for objects that gensim does not
    save."""
    with _open_checked(path) as file:
        return _Unpickler(file, path).load()


@contextmanager
def _open_checked(path: Path) -> Iterator[io.BufferedReader]:
    """Open and scan a pickle. The file is buffered; otherwise it would be unpickled byte by byte."""
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


# The length of each instruction's argument, as in pickletools: a number of bytes, or one of its negative codes.
OPCODES = {op.code.encode("latin1"): op.arg.n if op.arg else 0 for op in pickletools.opcodes}
WIDTHS = [OPCODES.get(bytes([code])) for code in range(256)]
LENGTH_BYTES = {
    pickletools.TAKEN_FROM_ARGUMENT1: 1,
    pickletools.TAKEN_FROM_ARGUMENT4: 4,
    pickletools.TAKEN_FROM_ARGUMENT4U: 4,
    pickletools.TAKEN_FROM_ARGUMENT8U: 8,
}
# Each of these one-byte instructions creates an object of up to 200 bytes. A KeyedVectors has one per ten bytes or
# more.
OBJECT_CODES = frozenset(b"]}\x8f\x91tldo\x81\x92Ri\x85\x86\x87")
SPARE = 100_000  # bytes within which objects are not limited
STOP, PUT, LONG_BINPUT, FRAME = b".pr\x95"
TWO_LINES = b"ci"
NEWLINE = re.compile(rb"\n")
# This pattern skips most of a KeyedVectors in one step: short words, whole numbers, references and the instructions
# that store them, objects that are memoised at once (six bytes or more each), and entries of gensim 3's vocabulary.
SHORT = b"|".join(b"\\x%02x.{%d}" % (length, length) for length in range(32))
SHORT_4 = b"|".join(b"\\x%02x\0\0\0.{%d}" % (length, length) for length in range(32))
GET, NUMBER = rb"(?:h.|j.{4})", rb"(?:K.|M..|J.{4})"
RUN = re.compile(
    rb"(?s:[(NQabesu)\x88\x89\x94]|[hKq].|M..|[Jj].{4}|[C\x8c](?:%b)|X(?:%b)|[]}tR\x81\x85-\x87]?r.{3}\0"
    rb"|\x81\x94\}\x94\(%b{3}|\x86\x94R\x94%b%b)*+" % (SHORT, SHORT_4, GET, GET, NUMBER)
)


def _check(data: memoryview) -> None:
    """Raise ValueError for a pickle that would take far more memory than it has bytes.

    Unpickling allocates memory for a declared length before it reads the bytes. It also allocates the table
    of memoised objects up to the number that an instruction names.
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


class Attributes:
    """The attributes of a KeyedVectors or a model."""

    def __setstate__(self, state):
        self.__dict__.update(state)


class _Entry:
    """A vocabulary entry of gensim 3."""

    __slots__ = ("count",)

    def __setstate__(self, state):
        self.count = state.get("count") if isinstance(state, dict) else None


class _Placeholder:
    """A stand-in for objects that a model needs only for training: counts of words, a random generator, functions."""

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
        self.code, self.order, self.flags = code, "<", 0

    def __setstate__(self, state):
        if state[0] not in (1, 2, 3, 4):
            raise ValueError(f"a dtype of version {state[0]!r:.20}")
        self.order = state[1]
        self.flags = state[7] if len(state) > 7 else 0

    def dtype(self, codes: tuple[str, ...]) -> np.dtype:
        # Numeric types do not have flags. A type flagged as objects must not be read from bytes.
        if self.code not in codes or self.order not in ("<", ">", "=") or self.flags:
            raise ValueError(f"array of {self.order}{self.code}, flags {self.flags!r:.20}")
        return np.dtype(self.order + self.code)


class Array:
    """A NumPy array: the arguments of ndarray.__setstate__."""

    def __init__(self, *_):
        pass

    def __setstate__(self, state):
        _, self.shape, self.type, self.fortran, self.data = state

    def array(self, codes: tuple[str, ...] = FLOATS) -> np.ndarray:
        numbers = np.frombuffer(_bytes(self.data), self.type.dtype(codes))
        return numbers.reshape(self.shape, order="F" if self.fortran else "C")


def _scalar(type: _Type, data: bytes | _Latin | None = None) -> str | int | None:
    """Read a NumPy scalar: a word (numpy.str_) or a count; other numbers are not needed."""
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
    """Return data as bytes, as Python 2 did not distinguish text and bytes."""
    data = data.text if isinstance(data, _Latin) else data
    return data.encode("latin1") if isinstance(data, str) else data


class _Latin:
    """A call of codecs.encode(text, "latin1"), which old pickles use for bytes; encoded only when it is needed."""

    def __init__(self, text: str, encoding: str):
        if encoding != "latin1":
            raise ValueError(f"bytes in the encoding {encoding!r:.40}")
        self.text = text


def _from_buffer(data, type, shape, order) -> Array:
    """Replace numpy._frombuffer of pickle protocol 5."""
    if order not in ("C", "F"):
        raise ValueError(f"an array of order {order!r:.20}")
    array = Array()
    array.__setstate__((1, shape, type, order == "F", data))
    return array


KEYED_VECTORS = ("KeyedVectors", "Word2VecKeyedVectors", "EuclideanKeyedVectors", "FastTextKeyedVectors")
CLASSES: dict[tuple[str, str], Callable[..., Any]] = {
    **{("gensim.models.keyedvectors", name): Attributes for name in KEYED_VECTORS},
    ("gensim.models.fasttext", "FastTextKeyedVectors"): Attributes,
    ("gensim.models.word2vec", "Word2Vec"): Attributes,
    ("gensim.models.fasttext", "FastText"): Attributes,
    # Classes of gensim 3's models.
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
    ("numpy", "ndarray"): Array,
    ("numpy", "dtype"): _Type,
    ("_codecs", "encode"): _Latin,
}
for builtins in ("builtins", "__builtin__"):  # Python 3 and 2
    CLASSES[builtins, "hash"] = CLASSES[builtins, "int"] = _Placeholder
for core in ("numpy.core", "numpy._core"):  # before and after NumPy 2
    CLASSES[f"{core}.multiarray", "_reconstruct"] = Array
    CLASSES[f"{core}.multiarray", "scalar"] = _scalar
    CLASSES[f"{core}.numeric", "_frombuffer"] = _from_buffer


LARGEST_TUPLE = 100  # parts, including nested ones; the tuple of an array has a dozen


def _is_small(part: tuple) -> bool:
    count, parts = 0, [part]
    while parts and count <= LARGEST_TUPLE:
        members = parts.pop()
        count += len(members)
        parts += [member for member in members if type(member) is tuple]
    return count <= LARGEST_TUPLE


class _Unpickler(pickle._Unpickler):  # Python's version, as the one in C cannot be extended with instructions
    """An unpickler that refuses objects that models do not have, such as deeply nested tuples.

    A tuple that contains another one twice, thirty levels deep, has a billion parts; as a key of a mapping, all of
    them would be hashed.
    """

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
    """Wrap an instruction that makes a tuple, so that a large tuple is refused."""

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
