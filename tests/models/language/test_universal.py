"""The multilingual Universal Sentence Encoder: its pieces and its vectors, on a model made here.

On the package's own files its pieces are those of the package on 11,356 entries of WEATHub's, and its vectors differ
by less than 1e-6.
"""

import struct

import numpy as np
import pytest

import biasgrid as bg
from biasgrid import BiasgridError
from biasgrid.models.language.universal import CHUNKS, ORDERS, Network, Tokenizer, open_universal

SPACE = "\u2581"
PIECES = {
    "<unk>": 0.0,
    "<s>": 0.0,
    "</s>": 0.0,
    SPACE: -2.0,
    "a": -3.0,
    "b": -3.0,
    "ab": -4.0,
    f"{SPACE}a": -3.5,
}


def message(*fields):
    return b"".join(bytes([number << 3 | 2]) + varint(len(part)) + part for number, part in fields)


def varint(number):
    return bytes([number & 0x7F | 0x80, number >> 7]) if number > 127 else bytes([number])


def model():
    """A SentencePiece model whose normalization makes ① a 1 and leaves all else as it is."""
    trie = [0] * 1024
    # a double array with one key, the bytes of ①: offsets 256, 512 and 768 of its three nodes, then the value
    trie[0] = 256 << 10
    for offset, byte, target in ((256, 0xE2, 512), (512, 0x91, 640), (640, 0xA0, 768)):
        trie[offset ^ byte] = (target ^ offset ^ byte) << 10 | byte | (0x100 if byte == 0xA0 else 0)
    trie[768] = 0
    charsmap = struct.pack("<I", 4 * len(trie)) + struct.pack(f"<{len(trie)}I", *trie) + b"1\0"
    pieces = [
        (1, message((1, piece.encode())) + b"\x15" + struct.pack("<f", score))
        for piece, score in PIECES.items()
    ]
    return message(*pieces, (3, message((2, charsmap))))


def weights(seed=0):
    rng = np.random.default_rng(seed)
    d, inner = 6, 4
    shapes = {"cnn_W": (d + 3 * inner, d), "cnn_b": (d,), "ln_g": (d + 3 * inner,), "ln_b": (d + 3 * inner,)}
    shapes |= {"d0": (d, 5), "d1": (5, 5), "p1": (d, 5), "d2": (5, d), "p3": (5, d), "d3": (d, d)}
    for n in ORDERS:
        shapes |= {f"proj{n}": (d, inner), f"proj_b{n}": (inner,), f"ln_g{n}": (inner,), f"ln_b{n}": (inner,)}
        shapes |= {
            f"{part}{layer}_{n}": shape
            for layer in "12"
            for part, shape in (("w", (n * inner, inner)), ("b", (inner,)))
        }
    made = {name: rng.normal(0, 0.2, size=shape).astype(np.float32) for name, shape in shapes.items()}
    made |= {f"q{i + 1}": rng.integers(0, 64, size=(2, d)).astype(np.uint8) for i in range(CHUNKS)}
    return made | {
        "scale": np.full(CHUNKS, 0.1, dtype=np.float32),
        "lo": np.full(CHUNKS, -3.0, dtype=np.float32),
        "eps": np.float64(1e-6),
    }


def test_a_text_is_cut_into_its_most_probable_pieces():
    ids = Tokenizer(model()).ids
    place = [*PIECES].index
    assert ids("a") == [1, place(f"{SPACE}a"), 2]
    assert ids("ab") == [1, place(SPACE), place("ab"), 2]  # -6 against -6.5
    assert ids("  a   b ") == [1, place(f"{SPACE}a"), place(SPACE), place("b"), 2]
    assert ids("x①") == [1, place(SPACE), 0, 0, 2]
    assert ids("") == [1, 0, 2]
    assert Tokenizer(model())._normalize("①é") == f"{SPACE}1é"


def test_a_vector_has_unit_length_and_is_of_its_text_alone(tmp_path):
    (tmp_path / "sp.model").write_bytes(model())
    np.savez(tmp_path / "weights.npz", **weights())
    texts = ["a", "ab", "b a ab", "b x"]
    encoded = bg.encode([*texts, "x", "ax"], tmp_path)
    assert encoded.words() == texts  # of the two others it knows a token, or none
    assert encoded.dimensions == 6
    np.testing.assert_allclose(np.linalg.norm(encoded.vectors(texts), axis=1), 1, rtol=1e-6)
    np.testing.assert_array_equal(bg.encode(["ab"], tmp_path)["ab"], encoded["ab"])
    assert not np.allclose(encoded["a"], encoded["ab"])
    with pytest.raises(BiasgridError, match="dtype: is not for an encoder that NumPy computes"):
        bg.encode(["a"], tmp_path, dtype="float16")
    with pytest.raises(BiasgridError, match="makes one vector of a text: pool is 'sentence'"):
        bg.encode(["a"], tmp_path, pool="word")


def test_neighbours_beyond_the_ends_are_zeros():
    states = np.arange(1.0, 5.0)[:, None]
    windows = Network._windows(states, 3, 1)
    np.testing.assert_array_equal(windows, [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 0]])


def test_files_of_another_model_are_one_line(tmp_path):
    (tmp_path / "sp.model").write_bytes(b"none")
    (tmp_path / "weights.npz").write_bytes(b"none")
    with pytest.raises(BiasgridError, match="multilingual Universal Sentence Encoder"):
        open_universal(tmp_path)
