"""Corpora of templates, with planted frequencies of pronouns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from biasgrid.configs import read_json
from biasgrid.errors import BiasgridError

TEMPLATES = "data/templates"
TOKEN = re.compile(r"\w+")
MASK, PLACE = "[MASK]", "OCCUPATION"


@dataclass(frozen=True)
class Templates:
    """Sentences with a place for an occupation and one for a pronoun.

    texts     each sentence as it is written, with OCCUPATION and [MASK]
    tokens    each sentence's tokens; none where an occupation is a part of a word
    pronouns  each sentence's (male, female) pronoun
    """

    texts: tuple[str, ...]
    tokens: tuple[tuple[str, ...], ...]
    pronouns: tuple[tuple[str, str], ...]

    OCCUPATION, PRONOUN = "occupation", "mask"

    @classmethod
    def read(cls, path: Path, inflections: bool = False) -> Templates:
        """From a file of data/templates. `inflections`: an occupation may be a part of a word, as in "OCCUPATIONs".

        Raises BiasgridError naming the file, and the sentence that is wrong.
        """
        texts, pronouns = read_sentences(path, "templates")
        tokens = []
        for text in texts:
            check(path, text)
            # "one of the OCCUPATIONs" would be a word of its own
            sentence = tuple(TOKEN.findall(text.lower()))
            whole = sorted(t for t in sentence if t in (cls.OCCUPATION, cls.PRONOUN))
            if not inflections and whole != [cls.PRONOUN, cls.OCCUPATION]:
                raise BiasgridError(f"{path}: {text!r}: expected {MASK} and {PLACE} once each")
            tokens.append(sentence)
        return cls(tuple(texts), () if inflections else tuple(tokens), tuple(pronouns))

    @property
    def groups(self) -> list[list[str]]:
        """Male and female pronouns, in the order that they come in; word i of both is a pair."""
        return [list(side) for side in zip(*dict.fromkeys(self.pronouns), strict=True)]

    def fill(self, occupation: str, male: Sequence[bool]) -> list[list[str]]:
        """Each sentence with the occupation, and with the male pronoun or the female one."""
        return [
            [{self.OCCUPATION: occupation, self.PRONOUN: pair[not is_male]}.get(t, t) for t in sentence]
            for sentence, pair, is_male in zip(self.tokens, self.pronouns, male, strict=True)
        ]


def spell(occupation: str) -> str:
    """An occupation as a text has it: a word set has `fashion_designer`."""
    return occupation.replace("_", " ")


def insert_occupation(texts: Iterable[str], occupation: str) -> list[str]:
    """Each text with the occupation, and with [MASK]."""
    return [text.replace(PLACE, spell(occupation)) for text in texts]


def plan(mu: float, sigma: float, occupations: int, seed: int) -> np.ndarray:
    """How probable the male pronoun is beside each occupation: normally distributed, clipped to [0, 1]."""
    return np.random.default_rng(seed).normal(mu, sigma, occupations).clip(0, 1)


@dataclass(frozen=True)
class Draws:
    """A corpus: a sentence for each occupation and template.

    male         bool (occupations, templates): which sentences have the male pronoun
    in_training  bool (occupations, templates): which ones models are trained on; the rest is held out
    order        the random order of all, as occupation * templates + template
    """

    male: np.ndarray
    in_training: np.ndarray
    order: np.ndarray

    @property
    def truth(self) -> np.ndarray:
        """The share of an occupation's sentences trained on that have the male pronoun, as it came out of the draws;
        (occupations,)."""
        return (self.male & self.in_training).sum(axis=1) / self.in_training.sum(axis=1)

    def places(self, in_training: bool = True) -> np.ndarray:
        """The occupation and the template of each sentence that is trained on, or held out, in random order, int64
        (sentences, 2)."""
        flat_places = self.order[self.in_training.ravel()[self.order] == in_training]
        return np.stack(np.divmod(flat_places, self.male.shape[1]), axis=1)


def draw(templates: Templates, probabilities: np.ndarray, seed: int, training_share: float = 1.0) -> Draws:
    """Draw the pronouns of a corpus. `training_share`: the share of its sentences that models are trained on.

    Raises BiasgridError where an occupation has no sentence left to train on.
    """
    rng = np.random.default_rng(seed)
    male = rng.random((len(probabilities), len(templates.pronouns))) < probabilities[:, None]
    order = rng.permutation(male.size)
    in_training = np.zeros(male.size, dtype=bool)
    in_training[order[: round(training_share * male.size)]] = True
    draws = Draws(male, in_training.reshape(male.shape), order)
    if not draws.in_training.any(axis=1).all():
        raise BiasgridError(
            f"trained: {training_share:g} leaves an occupation without a sentence to train on"
        )
    return draws


def corpus(templates: Templates, occupations: Sequence[str], draws: Draws) -> list[list[str]]:
    """The tokens of the sentences that models are trained on, in random order."""
    sentences = [
        s for word, row in zip(occupations, draws.male, strict=True) for s in templates.fill(word, row)
    ]
    size = len(templates.pronouns)
    return [sentences[word * size + template] for word, template in draws.places()]


def read_sentences(path: Path, key: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The sentences of a file, and the (male, female) pronoun of each."""
    record: Any = read_json(path)
    try:
        pairs = [(tuple(pair.split("/")), text) for pair, texts in record[key].items() for text in texts]
    except (TypeError, KeyError, AttributeError):
        raise BiasgridError(f"{path}: expected {{'{key}': {{'he/she': [...]}}}}") from None
    for pair, _ in pairs:
        if len(pair) != 2:
            raise BiasgridError(f"{path}: {'/'.join(pair)!r}: expected two pronouns, such as he/she")
    return [text for _, text in pairs], [pair for pair, _ in pairs]


def check(path: Path, text: Any) -> None:
    """Raises BiasgridError for what is no sentence with a place for an occupation and one for a pronoun."""
    if not isinstance(text, str) or text.count(MASK) != 1 or text.count(PLACE) != 1:
        raise BiasgridError(f"{path}: {text!r}: expected {MASK} and {PLACE} once each")
