"""Files as the author of Maddalozzo's thesis (2023) has them, in Spanish, with made words, vectors and sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from conftest import ROOT

RECORD = json.loads((ROOT / "data" / "word_sets" / "maddalozzo.json").read_text(encoding="utf-8"))
# words that config/thesis_es.yaml has itself
PRINTED = ["hombre", "mujer", "él", "ella", "señor", "señora", "chico", "chica", "abuelo", "abuela"]
PRINTED += ["iglesia", "cristiano", "islam", "musulmán", "mesías", "bautismo", "sultan", "allah"]
DIMENSIONS = 30


def seeds() -> dict[str, list[str]]:
    """Return made seeds under the author's names: with repeated, shared and nested words, and a leading blank."""
    lists = {
        name: [f"{name.replace(' ', '')}ñ{i}" for i in range(4 + place % 3)]
        for place, name in enumerate(RECORD["names"].values())
    }
    lists["espacio_m"] += ["hombre", "él"]
    lists["espacio_f"] += ["mujer", "ella"]
    lists["christianity"] = list(lists["christianity words"])
    lists["arts 2"] = lists["arts 1"][:-1]
    lists["math 1"].append(lists["math 1"][0])
    lists["terrorism"].append(" cohete")
    return lists


def write_seeds(folder: Path) -> Path:
    """Write the file of seeds, and a folder of word sets that has it in place of the author's; return that folder."""
    word_sets = folder / "sets"
    word_sets.mkdir(parents=True)
    # as the author's, all characters above 127 are escaped
    (folder / "dict_PMI_WE.json").write_text(json.dumps(seeds()))
    source = {"type": "file", "path": str(folder / "dict_PMI_WE.json")}
    (word_sets / "maddalozzo.json").write_text(json.dumps({"source": source, "names": RECORD["names"]}))
    return word_sets


def words() -> list[str]:
    """Return the words that vectors and sentences have, the most frequent ones first."""
    stripped = (word for of_list in seeds().values() for word in of_list if word == word.strip())
    return [*(f"palabra{i}" for i in range(620)), *dict.fromkeys([*PRINTED, *stripped])]


def write_vectors(path: Path, seed: int = 1) -> np.ndarray:
    """Write vectors as word2vec's text; return them."""
    vectors = np.random.default_rng(seed).normal(size=(len(words()), DIMENSIONS)).astype(np.float32)
    lines = [f"{len(vectors)} {DIMENSIONS}"]
    lines += [
        f"{word} {' '.join(f'{x:.6f}' for x in row)}" for word, row in zip(words(), vectors, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return vectors


def write_tokens(path: Path, seed: int = 2) -> list[set[str]]:
    """Write sentences as the author's: each word of a sentence once, with commas between; return them."""
    rng = np.random.default_rng(seed)
    vocabulary = np.array(words())
    sentences = [set(rng.choice(vocabulary, size=60, replace=False).tolist()) for _ in range(1500)]
    path.write_text("".join(",".join(sorted(s)) + "\n" for s in sentences), encoding="utf-8")
    return sentences


def config(folder: Path, **changes: Any) -> dict[str, Any]:
    """Return config/thesis_es.yaml with the files of a folder in place of what would be fetched."""
    study = yaml.safe_load((ROOT / "config" / "thesis_es.yaml").read_text(encoding="utf-8"))
    models = yaml.safe_load((ROOT / study["models"]).read_text(encoding="utf-8"))
    models["maddalozzo-30d"]["source"] = {"type": "file", "path": str(folder / "emb_pr_es_30.vec")}
    models["europarl-es"]["source"] = {"type": "file", "path": str(folder / "sentences_tokens.txt")}
    return study | {"models": models, "word_sets": str(folder / "sets")} | changes
