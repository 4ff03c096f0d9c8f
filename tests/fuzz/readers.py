"""Models in the formats of other tools, damaged, through `biasgrid.embeddings.convert`."""

from __future__ import annotations

import random
import warnings
from pathlib import Path

import numpy as np
from damage import damaged

from biasgrid.embeddings import convert
from biasgrid.errors import BiasgridError

WORDS = ["the", "naïve", "中文", "1.5", ".", "a", "🙂"]


def vectors(chance: random.Random, rows: int = len(WORDS), dimensions: int = 4) -> np.ndarray:
    return np.random.default_rng(chance.randrange(1 << 30)).normal(size=(rows, dimensions)).astype("<f4")


def binary(seed: int, folder: Path) -> str:
    chance = random.Random(seed)
    table = vectors(chance)
    rows = (word.encode() + b" " + row.tobytes() for word, row in zip(WORDS, table, strict=True))
    content = damaged(b"%d %d\n" % table.shape + b"".join(rows), chance)
    path = folder / "model.bin"
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            convert(path, folder / "store", name="m")
    except BiasgridError:
        return "refused"
    return "accepted"


TARGETS = {"binary": binary}
