"""Causal models of Llama's shape, read from a .gguf file: the log-likelihood of texts, in plain torch and float32.

The network is that of Touvron et al. 2023 (LLaMA: Open and Efficient Foundation Language Models, section 2.2), with
keys and values in groups (Ainslie et al. 2023). In GGUF order, rotary positions turn neighbouring values: 0 with 1, 2
with 3, and so on. The file's BOS token comes first in each text, and no token ends it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ...errors import BiasgridError, InputError, shown, unknown
from .building import GGUF
from .byte_pairs import BytePairs
from .gguf_file import GgufFile
from .sentence import Sentence

ARCHITECTURE = "general.architecture"
BLOCK = (
    256  # positions whose next tokens are predicted at a time: a row of logits is as long as the vocabulary
)
# How a sum is rounded may depend on the shape of a batch. So the processor gets one text at a time, each in one
# thread, and a GPU always as many rows, whose length is filled up to a multiple.
ROWS, LENGTHS = 32, 16
# what a file may say besides a network's sizes; None: whatever it says
PLAIN = {
    "vocab_size": None,
    "tensor_data_layout": None,
    "rope.scaling.type": "none",
    "expert_count": 0,
    "expert_used_count": 0,
}


@dataclass(frozen=True)
class Sizes:
    """The sizes of a network.

    Parameters
    ----------
    layers, width, hidden
        How many layers it has, and how wide their input, and their gated layer, is.
    heads, groups, head
        Heads of attention, groups of them that share keys and values, and the width of a head.
    turned
        How many values of a head rotary positions turn.
    longest
        Tokens that it takes.
    base, epsilon
        Of rotary positions, and of the norms.
    """

    layers: int
    width: int
    hidden: int
    heads: int
    groups: int
    head: int
    turned: int
    longest: int
    base: float
    epsilon: float

    @classmethod
    def of(cls, file: GgufFile) -> Sizes:
        """The sizes that a file says. Raises BiasgridError for a network of another shape."""
        if (kind := file.fields.get(ARCHITECTURE)) != "llama":
            raise BiasgridError(f"{file.path}: {ARCHITECTURE}: {unknown('architecture', kind, ['llama'])}")
        said = {key[6:]: value for key, value in file.fields.items() if key.startswith("llama.")}

        def number(key: str, default: Any = None, type: type = int) -> Any:
            value = said.pop(key, default)
            if not isinstance(value, type) or not 0 < value < 1e9:
                raise BiasgridError(f"{file.path}: llama.{key}: expected a number, not {shown(value)}")
            return value

        width, heads = number("embedding_length"), number("attention.head_count")
        head = number("attention.key_length", width // heads)
        sizes = cls(
            layers=number("block_count"),
            width=width,
            hidden=number("feed_forward_length"),
            heads=heads,
            groups=number("attention.head_count_kv", heads),
            head=head,
            turned=number("rope.dimension_count", head),
            longest=number("context_length"),
            base=number("rope.freq_base", 10_000.0, float),
            epsilon=number("attention.layer_norm_rms_epsilon", type=float),
        )
        if number("attention.value_length", head) != head or heads % sizes.groups:
            raise BiasgridError(
                f"{file.path}: its heads, and those of its keys and values, do not fit together"
            )
        if sizes.turned % 2 or sizes.turned > head:
            raise BiasgridError(f"{file.path}: llama.rope.dimension_count: {sizes.turned} of {head} values")
        for key, value in said.items():
            if key not in PLAIN or PLAIN[key] not in (None, value):
                raise BiasgridError(f"{file.path}: llama.{key}: {shown(value)} is not known here")
        return sizes


class Llama:
    """A causal model. It is loaded at once, which takes seconds.

    Parameters
    ----------
    folder
        The model's, with its .gguf file.
    metadata
        Its model.json, of which nothing is needed.

    Raises
    ------
    BiasgridError
        The file is damaged, or of an architecture, with a tokenizer or with a detail that is not known.

    Attributes
    ----------
    workers
        How many texts are scored at the same time: None for the threads that torch may use. No score depends on it.
    """

    workers: int | None = None

    def __init__(self, folder: Path, metadata: dict[str, Any]):
        file = GgufFile.open(folder / GGUF)
        self.sizes, self.pieces = Sizes.of(file), BytePairs(file.path, file.fields)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.network = _weights(file, self.sizes, len(self.pieces.tokens), self.device)

    def score(self, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
        """The log-likelihood of each sentence, or of its part given what comes before (sentences,): see `Network`. NaN
        for a text, or a part, without pieces."""
        pieces = {sentence.text: self.pieces(sentence.text) for sentence in sentences}
        for text, of_text in pieces.items():
            if len(of_text.ids) > self.sizes.longest:
                raise InputError(
                    f"{shown(text)}: has {len(of_text.ids)} pieces, and the model takes {self.sizes.longest}"
                )
        texts = [text for text, of_text in pieces.items() if of_text.ids]
        found = dict(zip(texts, self._log_probabilities([pieces[text].ids for text in texts]), strict=True))

        def of(sentence: Sentence) -> float:
            scores = found.get(sentence.text, np.empty(0))
            if sentence.part is not None:
                scores = scores[pieces[sentence.text].within(sentence.part)]
            return scores.sum() if len(scores) else np.nan

        return np.array([of(sentence) for sentence in sentences], dtype=np.float64)

    def following(self, text: str, best: int = 10) -> dict[str, float]:
        """The pieces that are the most probable to follow a text, with their probabilities, falling."""
        ids = [self.pieces.bos, *self.pieces(text).ids]
        with _one_thread(), torch.inference_mode():
            states = self._states(torch.tensor([ids], device=self.device))[0, -1:]
            top = self._logits(states)[0].softmax(-1).topk(best)
        values = zip(top.indices.tolist(), top.values.tolist(), strict=True)
        return {self.pieces.text(number): value for number, value in values}

    def _log_probabilities(self, texts: Sequence[list[int]]) -> list[NDArray[np.float64]]:
        """Of each piece of each text, given BOS and those before it."""
        workers = self.workers or torch.get_num_threads()
        with _one_thread(), torch.inference_mode():
            if self.device.type != "cpu":
                return self._batched(texts)
            # each thread has torch's setting, and its grad mode, of its own
            with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
                return list(pool.map(lambda ids: self._of_batch([ids], len(ids))[0], texts))

    def _batched(self, texts: Sequence[list[int]]) -> list[NDArray[np.float64]]:
        """On a GPU: texts of about one length together."""
        found: list[NDArray[np.float64]] = [np.empty(0)] * len(texts)
        by_length: dict[int, list[int]] = {}
        for number, ids in enumerate(texts):
            by_length.setdefault(-(-len(ids) // LENGTHS) * LENGTHS, []).append(number)
        for length, numbers in by_length.items():
            for start in range(0, len(numbers), ROWS):
                batch = numbers[start : start + ROWS]
                rows = [texts[number] for number in batch]
                rows += [[]] * (ROWS - len(rows))
                for number, scores in zip(batch, self._of_batch(rows, length), strict=False):
                    found[number] = scores
        return found

    @torch.inference_mode()
    def _of_batch(self, texts: Sequence[list[int]], length: int) -> list[NDArray[np.float64]]:
        """The log-probability of each piece of texts of at most this length. What fills up a row comes after its text,
        where a causal model does not look."""
        bos = self.pieces.bos
        ids = torch.tensor(
            [[bos, *text] + [bos] * (length - len(text)) for text in texts], device=self.device
        )
        states, following = self._states(ids[:, :-1]), ids[:, 1:, None]
        found = []
        for start in range(0, length, BLOCK):
            block = slice(start, start + BLOCK)
            logits = self._logits(states[:, block])
            found.append(logits.gather(-1, following[:, block])[..., 0] - logits.logsumexp(-1))
        scores = torch.cat(found, dim=1).double().cpu().numpy()
        return [row[: len(text)] for row, text in zip(scores, texts, strict=True)]

    def _states(self, ids: Tensor) -> Tensor:
        """The states of the last layer (rows, length, width) of tokens (rows, length)."""
        sizes, network = self.sizes, self.network
        rows, length = ids.shape
        turns = _turns(length, sizes, network.get("rope_freqs.weight"), self.device)
        x = network["token_embd.weight"][ids]
        for layer in range(sizes.layers):

            def apply(name: str, x: Tensor, layer: int = layer) -> Tensor:
                name = f"blk.{layer}.{name}"
                return F.linear(x, network[f"{name}.weight"], network.get(f"{name}.bias"))

            y = self._norm(x, f"blk.{layer}.attn_norm.weight")
            q, k, v = (
                apply(f"attn_{name}", y).unflatten(-1, (-1, sizes.head)).transpose(1, 2) for name in "qkv"
            )
            k, v = (t.repeat_interleave(sizes.heads // sizes.groups, dim=1) for t in (_turned(k, turns), v))
            y = F.scaled_dot_product_attention(_turned(q, turns), k, v, is_causal=True)
            x = x + apply("attn_output", y.transpose(1, 2).flatten(2))
            y = self._norm(x, f"blk.{layer}.ffn_norm.weight")
            x = x + apply("ffn_down", F.silu(apply("ffn_gate", y)) * apply("ffn_up", y))
        return self._norm(x, "output_norm.weight")

    def _norm(self, x: Tensor, name: str) -> Tensor:
        return F.rms_norm(x, (self.sizes.width,), self.network[name], self.sizes.epsilon)

    def _logits(self, states: Tensor) -> Tensor:
        """(..., tokens)"""
        network = self.network
        return F.linear(states, network.get("output.weight", network["token_embd.weight"]))


def _turns(length: int, sizes: Sizes, factors: Tensor | None, device: torch.device) -> tuple[Tensor, Tensor]:
    """Cosine and sine of the angle of each pair of values at each position (length, turned / 2)."""
    powers = torch.arange(0, sizes.turned, 2, dtype=torch.float64) / sizes.turned
    frequencies = sizes.base**-powers / (1 if factors is None else factors.cpu().double())
    angles = torch.outer(torch.arange(length, dtype=torch.float64), frequencies)
    return angles.cos().float().to(device), angles.sin().float().to(device)


def _turned(x: Tensor, turns: tuple[Tensor, Tensor]) -> Tensor:
    """Queries or keys (rows, heads, length, head) with their positions."""
    cos, sin = turns
    turned, rest = x.split((2 * cos.shape[1], x.shape[-1] - 2 * cos.shape[1]), dim=-1)
    a, b = turned.unflatten(-1, (-1, 2)).unbind(-1)
    turned = torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)
    return torch.cat((turned, rest), dim=-1)


def _weights(file: GgufFile, sizes: Sizes, tokens: int, device: torch.device) -> dict[str, Tensor]:
    """All tensors of a file, each of the shape that its place in the network asks for."""
    needed, may = _shapes(sizes, tokens)
    for name in file.tensors.keys() - needed.keys() - may.keys():
        raise BiasgridError(f"{file.path}: has a tensor {name:.100}, which is not known here")
    network = {}
    for name, shape in (needed | may).items():
        if name not in file.tensors and name in may:
            continue
        array = file.array(name)
        if array.shape != shape:
            raise BiasgridError(f"{file.path}: tensor {name} is {array.shape}, and should be {shape}")
        # a copy in torch's own memory: how a sum is rounded may depend on where in a cache line an array begins
        network[name] = torch.tensor(array, device=device)
    return network


def _shapes(sizes: Sizes, tokens: int) -> tuple[dict[str, tuple[int, ...]], dict[str, tuple[int, ...]]]:
    """The shapes of the tensors that a network has, and of those that it may have."""
    width, hidden, values = sizes.width, sizes.hidden, sizes.heads * sizes.head
    shared = sizes.groups * sizes.head
    layers: dict[str, tuple[int, ...]] = {
        "attn_norm": (width,),
        "attn_q": (values, width),
        "attn_k": (shared, width),
        "attn_v": (shared, width),
        "attn_output": (width, values),
        "ffn_norm": (width,),
        "ffn_gate": (hidden, width),
        "ffn_up": (hidden, width),
        "ffn_down": (width, hidden),
    }
    needed: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (tokens, width),
        "output_norm.weight": (width,),
    }
    may: dict[str, tuple[int, ...]] = {
        "output.weight": (tokens, width),
        "rope_freqs.weight": (sizes.turned // 2,),
    }
    for layer in range(sizes.layers):
        for name, shape in layers.items():
            needed[f"blk.{layer}.{name}.weight"] = shape
            if len(shape) == 2:
                may[f"blk.{layer}.{name}.bias"] = shape[:1]
    return needed, may


@contextmanager
def _one_thread() -> Iterator[None]:
    """Sums in one thread, and torch's setting afterwards as before."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
