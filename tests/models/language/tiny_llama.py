"""A tiny causal model of Llama's shape in a .gguf file, with random weights, and what it says by plain NumPy."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

gguf = __import__("pytest").importorskip("gguf")

LAYERS, WIDTH, HIDDEN, HEADS, GROUPS, HEAD = 2, 32, 64, 4, 2, 8
BASE, EPSILON, LONGEST = 1000.0, 1e-3, 64
MERGES = ["h e", "t he", "Ġ the", "Ġ n", "Ġn u", "r s", "Ġnu rs"]
BOS = "<s>"


def byte_characters() -> dict[int, str]:
    """GPT-2's names of the 256 bytes: those that print are themselves, the others characters from 256 on."""
    plain = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = (byte for byte in range(256) if byte not in plain)
    return {byte: chr(byte) for byte in plain} | {byte: chr(256 + n) for n, byte in enumerate(others)}


TOKENS = [BOS, *byte_characters().values(), *(merge.replace(" ", "") for merge in MERGES)]


def weights(seed: int = 0, biases: bool = False, untied: bool = False) -> dict[str, np.ndarray]:
    """Random tensors of GGUF's names. All are multiples of 1/128 up to 127/128, and each 32 values have this largest
    one: 8 bits with a scale (Q8_0) hold them exactly."""
    rng = np.random.default_rng(seed)

    def draw(*shape: int) -> np.ndarray:
        values = rng.integers(-40, 41, (math.prod(shape) // 32, 32))
        values[:, rng.integers(32)] = 127
        return values.reshape(shape).astype(np.float32) / 128

    tensors = {"token_embd.weight": draw(len(TOKENS), WIDTH), "output_norm.weight": draw(WIDTH)}
    if untied:
        tensors["output.weight"] = draw(len(TOKENS), WIDTH)
    for layer in range(LAYERS):
        for name, shape in {
            "attn_norm": (WIDTH,),
            "attn_q": (HEADS * HEAD, WIDTH),
            "attn_k": (GROUPS * HEAD, WIDTH),
            "attn_v": (GROUPS * HEAD, WIDTH),
            "attn_output": (WIDTH, HEADS * HEAD),
            "ffn_norm": (WIDTH,),
            "ffn_gate": (HIDDEN, WIDTH),
            "ffn_up": (HIDDEN, WIDTH),
            "ffn_down": (WIDTH, HIDDEN),
        }.items():
            tensors[f"blk.{layer}.{name}.weight"] = draw(*shape)
            if biases and len(shape) == 2:
                tensors[f"blk.{layer}.{name}.bias"] = rng.normal(size=shape[0]).astype(np.float32)
    return tensors


def write(
    path: Path,
    tensors: dict[str, np.ndarray],
    said: dict[str, Any] | None = None,
    *,
    architecture: str = "llama",
    quantised: bool = True,
) -> Path:
    """A .gguf file of tensors. `said` are further entries, or others (None: left out)."""
    writer = gguf.GGUFWriter(path, architecture)
    entries = {
        "llama.block_count": LAYERS,
        "llama.context_length": LONGEST,
        "llama.embedding_length": WIDTH,
        "llama.feed_forward_length": HIDDEN,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": GROUPS,
        "llama.attention.layer_norm_rms_epsilon": EPSILON,
        "llama.rope.dimension_count": HEAD,
        "llama.rope.freq_base": BASE,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": TOKENS,
        "tokenizer.ggml.token_type": [3, *[1] * (len(TOKENS) - 1)],
        "tokenizer.ggml.merges": MERGES,
        "tokenizer.ggml.bos_token_id": 0,
    } | (said or {})
    for key, value in entries.items():
        match value:
            case None:
                continue
            case str():
                writer.add_string(key, value)
            case list():
                writer.add_array(key, value)
            case float():
                writer.add_float32(key, value)
            case _:
                writer.add_uint32(key, value)
    for name, tensor in tensors.items():
        if quantised and tensor.ndim == 2:
            type = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(name, gguf.quants.quantize(tensor, type), raw_dtype=type)
        else:
            writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def pieces(text: str) -> list[str]:
    """A text's tokens: each digit alone, a space with the letters after it, then pairs merged in their order."""
    words: list[str] = []
    for character in text:
        word = words[-1] if words else ""
        if words and character.isalpha() and (word[-1].isalpha() or word == " "):
            words[-1] += character
        else:
            words.append(character)
    names, found = byte_characters(), []
    for word in words:
        parts = [names[byte] for byte in word.encode()]
        for merge in MERGES:
            left, right = merge.split()
            place = 0
            while place < len(parts) - 1:
                if (parts[place], parts[place + 1]) == (left, right):
                    parts[place : place + 2] = [left + right]
                place += 1
        found += parts
    return found


def log_probabilities(
    tensors: dict[str, np.ndarray], tokens: list[str], base: float = BASE, factors=None
) -> list[float]:
    """Of each token, given BOS and those before it: one head, one position, one pair of values after the other."""
    at = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    ids = [0, *map(TOKENS.index, tokens)]

    def norm(x, name):
        return x / math.sqrt(sum(x * x) / len(x) + EPSILON) * at[f"{name}.weight"]

    def apply(name, x):
        return at[f"{name}.weight"] @ x + at.get(f"{name}.bias", 0)

    def turned(x, position):
        x = x.copy()
        for pair in range(HEAD // 2):
            frequency = base ** (-2 * pair / HEAD) / (1 if factors is None else factors[pair])
            number = complex(x[2 * pair], x[2 * pair + 1]) * np.exp(1j * position * frequency)
            x[2 * pair], x[2 * pair + 1] = number.real, number.imag
        return x

    states = [at["token_embd.weight"][number] for number in ids]
    for layer in range(LAYERS):
        name = f"blk.{layer}."
        normed = [norm(x, f"{name}attn_norm") for x in states]
        q, k, v = ([apply(f"{name}attn_{of}", x).reshape(-1, HEAD) for x in normed] for of in "qkv")
        for position in range(len(states)):
            heads = []
            for head in range(HEADS):
                group = head // (HEADS // GROUPS)
                asked = turned(q[position][head], position)
                keys = [turned(k[before][group], before) for before in range(position + 1)]
                attention = np.exp([asked @ key / math.sqrt(HEAD) for key in keys])
                attention /= attention.sum()
                heads.append(sum(share * v[before][group] for before, share in enumerate(attention)))
            x = states[position] + apply(f"{name}attn_output", np.concatenate(heads))
            y = norm(x, f"{name}ffn_norm")
            gate = apply(f"{name}ffn_gate", y)
            y = gate / (1 + np.exp(-gate)) * apply(f"{name}ffn_up", y)
            states[position] = x + apply(f"{name}ffn_down", y)
    output = at.get("output.weight", at["token_embd.weight"])
    found = []
    for x, number in zip(states, ids[1:], strict=False):
        logits = output @ norm(x, "output_norm")
        found.append(logits[number] - math.log(np.exp(logits).sum()))
    return found
