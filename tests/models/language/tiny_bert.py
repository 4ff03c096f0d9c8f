"""A tiny random BERT with its head for masked words, and what it says by arithmetic of its own in NumPy."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

SIZE, INNER, LAYERS, HEADS, POSITIONS = 8, 12, 2, 2, 24
EPSILON = 1e-5
LETTERS = "abcdefgh"
# a word is its first letter, and ## before each further one
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *LETTERS, *(f"##{letter}" for letter in LETTERS)]
CLS, SEP, MASK = 2, 3, 4

TOKENIZER = {
    "version": "1.0",
    # as many files have it: a text would be cut, and filled up
    "truncation": {"direction": "Right", "max_length": 6, "strategy": "LongestFirst", "stride": 0},
    "padding": {
        "strategy": {"Fixed": 6},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "[PAD]",
    },
    "added_tokens": [
        {
            "id": place,
            "content": name,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for place, name in enumerate(PIECES[:5])
    ],
    "normalizer": {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": None,
    "decoder": None,
    "model": {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {piece: place for place, piece in enumerate(PIECES)},
    },
}


def weights_of(
    seed: int = 0, *, head: bool = True, decoder: bool = False, next_sentence: bool = False
) -> dict[str, np.ndarray]:
    """Random weights by the names that newer files have."""
    rng = np.random.default_rng(seed)
    shapes = {
        "embeddings.word_embeddings.weight": (len(PIECES), SIZE),
        "embeddings.position_embeddings.weight": (POSITIONS, SIZE),
        "embeddings.token_type_embeddings.weight": (2, SIZE),
        **both("embeddings.LayerNorm", (SIZE,)),
    }
    for layer in range(LAYERS):
        place = f"encoder.layer.{layer}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            shapes |= both(f"{place}.attention.{part}", (SIZE, SIZE))
        shapes |= both(f"{place}.attention.output.LayerNorm", (SIZE,))
        shapes |= both(f"{place}.intermediate.dense", (INNER, SIZE))
        shapes |= both(f"{place}.output.dense", (SIZE, INNER)) | both(f"{place}.output.LayerNorm", (SIZE,))
    if head:
        shapes |= both("cls.predictions.transform.dense", (SIZE, SIZE))
        shapes |= both("cls.predictions.transform.LayerNorm", (SIZE,))
        shapes["cls.predictions.bias"] = (len(PIECES),)
    if decoder:
        shapes["cls.predictions.decoder.weight"] = (len(PIECES), SIZE)
    if next_sentence:
        shapes |= both("pooler.dense", (SIZE, SIZE)) | both("cls.seq_relationship", (2, SIZE))
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def both(name: str, shape: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": shape, f"{name}.bias": shape[:1]}


def older(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The weights by the names that older files have."""
    names = {name: name if name.startswith("cls.") else f"bert.{name}" for name in weights}
    norm = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    for name in names:
        for new, old in norm.items():
            names[name] = names[name].replace(new, old)
    return {names[name]: weight for name, weight in weights.items()}


def write_bert(folder: Path, weights: dict[str, np.ndarray] | None = None, **config: object) -> Path:
    """Write a BERT's files into a folder, and return it; `config` changes entries of config.json."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file(weights_of() if weights is None else weights, folder / "model.safetensors")
    said = {
        "architectures": ["BertForMaskedLM"],
        "model_type": "bert",
        "vocab_size": len(PIECES),
        "hidden_size": SIZE,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "max_position_embeddings": POSITIONS,
        "type_vocab_size": 2,
        "hidden_act": "gelu",
        "layer_norm_eps": EPSILON,
    }
    (folder / "config.json").write_text(json.dumps(said | config))
    (folder / "tokenizer.json").write_text(json.dumps(TOKENIZER))
    return folder


class Reference:
    """The network by arithmetic of its own, in float64."""

    def __init__(self, weights: dict[str, np.ndarray], activation: str = "gelu") -> None:
        self.weights = {name: weight.astype(np.float64) for name, weight in weights.items()}
        self.activation = activation

    @classmethod
    def of(cls, folder: Path) -> Reference:
        """That of a folder whose weights have the names of newer files, with or without the prefix."""
        weights = load_file(folder / "model.safetensors")
        return cls({name.removeprefix("bert."): weight for name, weight in weights.items()})

    def states(self, ids: list[int], segments: list[int] | None = None) -> list[np.ndarray]:
        """The pieces' states (pieces, SIZE): of the embeddings, and after each layer; `segments` says which of two
        texts each piece is of."""
        w = self.weights
        segments = segments or [0] * len(ids)
        x = np.array(
            [
                w["embeddings.word_embeddings.weight"][piece]
                + w["embeddings.position_embeddings.weight"][place]
                + w["embeddings.token_type_embeddings.weight"][segments[place]]
                for place, piece in enumerate(ids)
            ]
        )
        found = [self.norm("embeddings.", x)]
        for layer in range(LAYERS):
            place = f"encoder.layer.{layer}."
            x = found[-1]
            q, k, v = (self.dense(f"{place}attention.self.{name}", x) for name in ("query", "key", "value"))
            width = SIZE // HEADS
            heads = []
            for head in range(HEADS):
                own = slice(head * width, (head + 1) * width)
                weight = np.exp(q[:, own] @ k[:, own].T / math.sqrt(width))
                heads.append(weight / weight.sum(axis=1, keepdims=True) @ v[:, own])
            mixed = self.dense(f"{place}attention.output.dense", np.concatenate(heads, axis=1))
            x = self.norm(f"{place}attention.output.", x + mixed)
            inner = self.act(self.dense(f"{place}intermediate.dense", x))
            found.append(self.norm(f"{place}output.", x + self.dense(f"{place}output.dense", inner)))
        return found

    def log_probabilities(self, ids: list[int]) -> np.ndarray:
        """What is said of the piece at each place: the logarithms of a distribution, (pieces, words)."""
        name = "cls.predictions.transform"
        x = self.norm(f"{name}.", self.act(self.dense(f"{name}.dense", self.states(ids)[-1])))
        decoder = self.weights.get(
            "cls.predictions.decoder.weight", self.weights["embeddings.word_embeddings.weight"]
        )
        logits = x @ decoder.T + self.weights["cls.predictions.bias"]
        return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

    def log_probability_of_next(self, ids: list[int], segments: list[int]) -> float:
        """That the second of two texts follows the first, by the head for the next sentence."""
        pooled = np.tanh(self.dense("pooler.dense", self.states(ids, segments)[-1][0]))
        follows, does_not = self.dense("cls.seq_relationship", pooled)
        return float(follows - np.log(np.exp(follows) + np.exp(does_not)))

    def score(self, ids: list[int], groups: list[list[int]], hidden: list[int] = ()) -> float:
        """The sum over groups of places that are masked together."""
        total = 0.0
        for group in groups:
            seen = [MASK if place in (*group, *hidden) else piece for place, piece in enumerate(ids)]
            found = self.log_probabilities(seen)
            total += sum(found[place, ids[place]] for place in group)
        return total

    def act(self, x: np.ndarray) -> np.ndarray:
        if self.activation == "relu":
            return np.maximum(x, 0)
        if self.activation == "gelu_new":
            return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
        return x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))

    def dense(self, name: str, x: np.ndarray) -> np.ndarray:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, before: str, x: np.ndarray) -> np.ndarray:
        mean, variance = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
        scaled = (x - mean) / np.sqrt(variance + EPSILON)
        return scaled * self.weights[f"{before}LayerNorm.weight"] + self.weights[f"{before}LayerNorm.bias"]


def ids_of(text: str) -> list[int]:
    """The pieces of a text of small words, by the rule above."""
    found = [CLS]
    for word in text.replace(".", " . ").split():
        if word in PIECES:
            found.append(PIECES.index(word))
        else:
            pieces = [word[0], *(f"##{letter}" for letter in word[1:])]
            found += [PIECES.index(piece) for piece in pieces] if set(pieces) <= set(PIECES) else [1]
    return [*found, SEP]
