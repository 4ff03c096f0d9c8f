"""Language models that are a table of probabilities: what they answer is known without a network."""

from __future__ import annotations

import json
import math
import zlib
from pathlib import Path

import numpy as np

from biasgrid.models.language.model import LanguageModel


class Table:
    """A network that knows the probability of two words standing together, whatever the template.

    Parameters
    ----------
    joint
        (target word, attribute word) -> probability.
    """

    def __init__(self, joint: dict[tuple[str, str], float], masked: bool) -> None:
        self.joint, self.masked = joint, masked
        self.asked = []

    def score(self, sentences):
        self.asked += sentences
        return np.array([math.log(self._probability(s)) for s in sentences])

    def _probability(self, sentence):
        words = sentence.text.lower().strip(".").split()
        target, attribute = words[0], words[-1]
        part = sentence.text[slice(*sentence.part)].lower()
        of_target = sum(p for (t, _), p in self.joint.items() if t == target)
        of_attribute = sum(p for (_, a), p in self.joint.items() if a == attribute)
        together = self.joint[target, attribute]
        if not self.masked:
            # the space belongs to what is predicted
            assert (part, sentence.hidden) == (f" {attribute}", None)
            return together / of_target
        if sentence.hidden:
            assert {part, sentence.text[slice(*sentence.hidden)].lower()} == {target, attribute}
            return of_target if part == target else of_attribute
        return together / (of_attribute if part == target else of_target)


class AnyScores:
    """A network that has some score of everything, the same of the same."""

    def score(self, sentences):
        return np.array([-1.0 - zlib.crc32(repr(sentence).encode()) / 2**32 for sentence in sentences])


def model_of(network, masked=True) -> LanguageModel:
    """An opened language model with this network."""
    model = LanguageModel(Path("nowhere"), "table", {"name": "table", "format": "bert", "masked": masked})
    model.__dict__["network"] = network
    return model


def measured(folder: Path, scores: dict[str, float]) -> LanguageModel:
    """A model whose scores were measured."""
    folder.mkdir(parents=True)
    record = {"name": "measured", "format": "scores", "masked": True, "measured": True}
    (folder / "model.json").write_text(json.dumps(record))
    lines = ["text,score", *(f"{text},{score!r}" for text, score in scores.items())]
    (folder / "scores.csv").write_text("\n".join(lines))
    return LanguageModel.open(folder)
