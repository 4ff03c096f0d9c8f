"""A tiny random BERT in the files that Hugging Face's library writes: 2 layers x 8, a piece for each letter."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

SIZE, INNER, LAYERS, POSITIONS = 8, 16, 2, 48
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
# a word is its first letter, and ## before each further one
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *LETTERS, *(f"##{letter}" for letter in LETTERS)]


def write_encoder(folder: Path, seed: int = 0) -> Path:
    """Write the encoder's files into a folder, and return it."""
    rng = np.random.default_rng(seed)
    shapes = {
        "embeddings.word_embeddings.weight": (len(PIECES), SIZE),
        "embeddings.position_embeddings.weight": (POSITIONS, SIZE),
        "embeddings.token_type_embeddings.weight": (2, SIZE),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        place = f"encoder.layer.{layer}"
        inner = {f"{place}.intermediate.dense": (INNER, SIZE), f"{place}.output.dense": (SIZE, INNER)}
        own = [f"attention.self.{part}" for part in ("query", "key", "value")]
        square = {f"{place}.{part}": (SIZE, SIZE) for part in (*own, "attention.output.dense")}
        for name, shape in (square | inner).items():
            shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
        norms += [f"{place}.attention.output.LayerNorm", f"{place}.output.LayerNorm"]
    weights = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    for name in norms:
        weights |= {f"{name}.weight": np.ones(SIZE, np.float32), f"{name}.bias": np.zeros(SIZE, np.float32)}
    folder.mkdir(parents=True, exist_ok=True)
    save_file(weights, folder / "model.safetensors")
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "vocab_size": len(PIECES),
        "hidden_size": SIZE,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 2,
        "max_position_embeddings": POSITIONS,
        "type_vocab_size": 2,
        "hidden_act": "gelu",
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n")
    return folder
