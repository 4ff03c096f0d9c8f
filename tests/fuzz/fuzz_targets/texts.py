"""Answers of a model that is elsewhere, damaged: refused in a line, or taken as an independent reader takes them."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path

import numpy as np

from biasgrid.models.language import answers
from biasgrid.models.language.sentence import Sentence
from biasgrid.models.language.templates import PlacedWord

from .damage import Refused, accepted, damaged


@cache
def asked() -> dict[str, answers.MeasurementSpec]:
    texts = [f"He is word{number}." for number in range(4)]
    requests = [answers.of_sentence(Sentence(text), masked=False) for text in texts]
    requests += [answers.of_sentence(Sentence(text, part=(6, 11)), masked=False) for text in texts]
    requests += [answers.of_word(PlacedWord(text, 6, 11), "sentence", -1) for text in texts]
    return {request["key"]: request for request in requests}


def imported(seed: int, folder: Path) -> None:
    chance, path, place = random.Random(seed), folder / "a.jsonl", folder / "far.jsonl"
    records = [
        {
            "key": key,
            "value": [-0.5, 1, 2e-3] if request["kind"] == "vector" else -1.25 - number,
            "model": "m",
        }
        | (request if chance.random() < 0.2 else {})
        for number, (key, request) in enumerate(asked().items())
    ]
    if chance.random() < 0.5:
        records.insert(0, answers.header("s", asked(), len(records)))
    path.write_bytes(
        damaged("\n".join(map(json.dumps, records)).encode(), chance, chance.choice([0, 1, 1, 2]))
    )
    if former := chance.random() < 0.3:
        place.write_bytes(b"")
    try:
        accepted(answers.put_in_place, path, place, asked(), naming=f"{path}: ")
    except Refused:
        assert sorted(file.name for file in folder.iterdir()) == ["a.jsonl", *["far.jsonl"] * former]
        assert not former or place.read_bytes() == b""
        raise
    values = {}
    for line in path.read_bytes().decode("utf-8-sig").split("\n"):
        record = json.loads(line) if line.strip() else {"biasgrid_texts": 1}
        if "biasgrid_texts" not in record:
            values[record["key"] if "key" in record else record["id"]] = record["value"]
    kept = {key: value for key, (value, _) in answers.read(place).items()}
    assert values.keys() == kept.keys() == asked().keys()
    for key, request in asked().items():
        value = np.asarray(values[key], dtype=np.float64)
        assert np.isfinite(value).all()
        assert value.ndim == (request["kind"] == "vector")
        assert request["kind"] == "vector" or value <= 0
        assert value.tolist() == np.asarray(kept[key]).tolist()


TARGETS = {"imported": imported}
