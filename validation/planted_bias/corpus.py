"""Corpora of templates with chosen frequencies of pronouns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from biasgrid.core.configs import read_json
from biasgrid.core.errors import BiasgridError

TEMPLATES = "data/templates"
TOKEN = re.compile(r"\w+")
MASK, PLACE = "[MASK]", "OCCUPATION"


@dataclass(frozen=True)
class Templates:
    """Sentences with a placeholder for an occupation and one for a pronoun.

    Parameters
    ----------
    texts
        The text of each sentence, with OCCUPATION and [MASK].
    tokens
        The tokens of each sentence; empty if the occupation is part of a word.
    pronouns
        The (male, female) pronoun of each sentence.
    """

    texts: tuple[str, ...]
    tokens: tuple[tuple[str, ...], ...]
    pronouns: tuple[tuple[str, str], ...]

    OCCUPATION, PRONOUN = "occupation", "mask"

    @classmethod
    def read(cls, path: Path, inflections: bool = False) -> Templates:
        """Read a file of data/templates. With `inflections`, an occupation may be part of a word ("OCCUPATIONs").

        Raises BiasgridError, which names the file and the wrong sentence.
        """
        texts, pronouns = read_sentences(path, "templates")
        tokens = []
        for text in texts:
            check(path, text)
            # Find the placeholders as whole tokens; "OCCUPATIONs" would be another word.
            sentence = tuple(TOKEN.findall(text.lower()))
            whole = sorted(t for t in sentence if t in (cls.OCCUPATION, cls.PRONOUN))
            if not inflections and whole != [cls.PRONOUN, cls.OCCUPATION]:
                raise BiasgridError(f"{path}: {text!r}: expected {MASK} and {PLACE} once each")
            tokens.append(sentence)
        return cls(tuple(texts), () if inflections else tuple(tokens), tuple(pronouns))

    @property
    def groups(self) -> list[list[str]]:
        """Return male and female pronouns in their order in the sentences; word i of both is a pair."""
        return [list(side) for side in zip(*dict.fromkeys(self.pronouns), strict=True)]

    def fill(self, occupation: str, male: Sequence[bool]) -> list[list[str]]:
        """Return each sentence with the occupation, and with the male or the female pronoun."""
        return [
            [{self.OCCUPATION: occupation, self.PRONOUN: pair[not is_male]}.get(t, t) for t in sentence]
            for sentence, pair, is_male in zip(self.tokens, self.pronouns, male, strict=True)
        ]


def spell(occupation: str) -> str:
    """Return the spelling of an occupation in texts; word sets have `fashion_designer`."""
    return occupation.replace("_", " ")


def insert_occupation(texts: Iterable[str], occupation: str) -> list[str]:
    """Return each text with the occupation, and with [MASK]."""
    return [text.replace(PLACE, spell(occupation)) for text in texts]


def plan(mu: float, sigma: float, occupations: int, seed: int) -> np.ndarray:
    """Draw the probability of the male pronoun for each occupation: normally distributed, clipped to [0, 1]."""
    return np.random.default_rng(seed).normal(mu, sigma, occupations).clip(0, 1)


@dataclass(frozen=True)
class Draws:
    """A corpus with a sentence for each occupation and template.

    Parameters
    ----------
    male
        bool (occupations, templates): True for sentences with the male pronoun.
    in_training
        bool (occupations, templates): True for training sentences; the others are held out.
    order
        The random order of all sentences, as occupation * templates + template.
    """

    male: np.ndarray
    in_training: np.ndarray
    order: np.ndarray

    @property
    def truth(self) -> np.ndarray:
        """Return the share of each occupation's training sentences that have the male pronoun, (occupations,)."""
        return (self.male & self.in_training).sum(axis=1) / self.in_training.sum(axis=1)

    def places(self, in_training: bool = True) -> np.ndarray:
        """Return the occupation and the template of each training sentence, or of each held-out sentence.

        They are in random order, int64 (sentences, 2).
        """
        flat_places = self.order[self.in_training.ravel()[self.order] == in_training]
        return np.stack(np.divmod(flat_places, self.male.shape[1]), axis=1)


def draw(templates: Templates, probabilities: np.ndarray, seed: int, training_share: float = 1.0) -> Draws:
    """Draw the pronouns of a corpus. `training_share` is the share of training sentences.

    Raises BiasgridError if an occupation has no training sentence left.
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
    """Return the tokens of the training sentences, in random order."""
    sentences = [
        s for word, row in zip(occupations, draws.male, strict=True) for s in templates.fill(word, row)
    ]
    size = len(templates.pronouns)
    return [sentences[word * size + template] for word, template in draws.places()]


def read_sentences(path: Path, key: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Read the sentences of a file, and the (male, female) pronoun of each."""
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
    """Raise BiasgridError unless a text has one placeholder for an occupation and one for a pronoun."""
    if not isinstance(text, str) or text.count(MASK) != 1 or text.count(PLACE) != 1:
        raise BiasgridError(f"{path}: {text!r}: expected {MASK} and {PLACE} once each")
