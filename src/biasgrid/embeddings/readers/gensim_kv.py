"""gensim's KeyedVectors.save: a pickle, taken apart without calling gensim, NumPy or anything else that it names.

Every global that a KeyedVectors needs is replaced by a stand-in which only collects what the pickle hands it; any
other global is refused by name.
"""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np

from ...errors import BiasgridError
from ..store import StoreWriter
from .files import blocks, check_array, load_array, opened

# gensim 4, 3, 2 and 1 in turn
WORDS = ("index_to_key", "index2word", "index2entity")
VECTORS = ("vectors", "syn0")


def read(path: Path, writer: StoreWriter) -> None:
    with opened(path) as file:
        try:
            model = _Unpickler(file, path).load()
        except BiasgridError:
            raise
        except Exception as error:  # a damaged pickle can fail in any way
            raise BiasgridError(f"{path}: is not a whole pickle: {error!r}") from None
    state = vars(model) if isinstance(model, _Collected) else {}
    words = next((state[key] for key in WORDS if isinstance(state.get(key), list)), None)
    # gensim puts large arrays beside the pickle
    beside = [key for key in VECTORS if key in state.get("__numpys", ())]
    attribute = next((key for key in VECTORS if key in state), None)
    if words is None or not (beside or attribute):
        raise BiasgridError(f"{path}: holds no KeyedVectors")
    for word in words:
        if not isinstance(word, str):
            raise BiasgridError(f"{path}: key {word!r} is not a word")
    if beside:
        vectors = load_array(path.with_name(f"{path.name}.{beside[0]}.npy"))
    else:
        vectors = state[attribute]
        try:
            vectors = vectors.array() if isinstance(vectors, _Array) else vectors
        except (AttributeError, TypeError, ValueError) as error:
            raise BiasgridError(f"{path}: its vectors are not a whole array of floats: {error}") from None
        check_array(vectors, path)
    if len(vectors) != len(words):
        raise BiasgridError(f"{path}: {len(words)} words, but {len(vectors)} vectors")
    for part in blocks(vectors):
        writer.add(words[part], vectors[part])


class _Collected:
    """A KeyedVectors: its attributes."""

    def __setstate__(self, state):
        self.__dict__.update(state)


class _Entry:
    """A vocabulary entry of gensim 3 (counts, which are not used)."""

    def __setstate__(self, state):
        pass


class _Type:
    """A NumPy dtype."""

    def __init__(self, code, *_):
        self.code, self.order = code, "<"

    def __setstate__(self, state):
        self.order = state[1]

    def dtype(self) -> np.dtype:
        if self.code not in ("f2", "f4", "f8") or self.order not in ("<", ">", "="):
            raise ValueError(f"array of {self.order}{self.code}")
        return np.dtype(self.order + self.code)


class _Array:
    """A NumPy array: the arguments of ndarray.__setstate__."""

    def __init__(self, *_):
        pass

    def __setstate__(self, state):
        _, self.shape, self.type, self.fortran, self.data = state

    def array(self) -> np.ndarray:
        order = "F" if self.fortran else "C"
        return np.frombuffer(_bytes(self.data), self.type.dtype()).reshape(self.shape, order=order)


def _scalar(type: _Type, data: bytes | None = None) -> str | None:
    """A NumPy scalar, which can be a word (numpy.str_); numbers are not needed."""
    if not type.code.startswith("U") or data is None:
        return None
    return _bytes(data).decode("utf-32-be" if type.order == ">" else "utf-32-le").rstrip("\0")


def _bytes(data: bytes | str) -> bytes:
    """Python 2 had one type for both."""
    return data.encode("latin1") if isinstance(data, str) else data


def _encode(text: str, encoding: str) -> bytes:
    """codecs.encode, which old pickles of bytes call."""
    return text.encode("latin1")


def _from_buffer(data, type, shape, order) -> _Array:
    """numpy._frombuffer of pickle protocol 5."""
    array = _Array()
    array.__setstate__((1, shape, type, order == "F", data))
    return array


KEYED_VECTORS = ("KeyedVectors", "Word2VecKeyedVectors", "EuclideanKeyedVectors")
ADMITTED = {
    **{("gensim.models.keyedvectors", name): _Collected for name in KEYED_VECTORS},
    ("gensim.models.keyedvectors", "Vocab"): _Entry,
    ("gensim.models.keyedvectors", "CompatVocab"): _Entry,
    ("gensim.models.word2vec", "Vocab"): _Entry,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Type,
    ("_codecs", "encode"): _encode,
}
for core in ("numpy.core", "numpy._core"):  # before and after NumPy 2
    ADMITTED[f"{core}.multiarray", "_reconstruct"] = _Array
    ADMITTED[f"{core}.multiarray", "scalar"] = _scalar
    ADMITTED[f"{core}.numeric", "_frombuffer"] = _from_buffer


class _Unpickler(pickle.Unpickler):
    def __init__(self, file, path: Path):
        super().__init__(file, encoding="latin1")
        self.path = path

    def find_class(self, module: str, name: str):
        if (module, name) not in ADMITTED:
            raise BiasgridError(
                f"{self.path}: refused: the pickle asks for {module}.{name}, and only gensim's KeyedVectors and "
                "plain NumPy arrays are taken from one"
            )
        return ADMITTED[module, name]
