"""Corpora of templates, with planted frequencies of pronouns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..configs import read_json
from ..errors import BiasgridError

TOKEN = re.compile(r"\w+")


@dataclass(frozen=True)
class Templates:
    """Sentences with a place for an occupation and one for a pronoun.

    tokens    each sentence's tokens
    pronouns  each sentence's (male, female) pronoun
    """

    tokens: tuple[tuple[str, ...], ...]
    pronouns: tuple[tuple[str, str], ...]

    OCCUPATION, PRONOUN = "occupation", "mask"

    @classmethod
    def read(cls, path: Path) -> Templates:
        """From a file of data/templates. Raises BiasgridError naming the file, and the sentence that is wrong."""
        record = read_json(path)
        try:
            listed = [(key.split("/"), text) for key, texts in record["templates"].items() for text in texts]
        except (TypeError, KeyError, AttributeError):
            raise BiasgridError(f"{path}: expected {{'templates': {{'he/she': [...]}}}}") from None
        tokens, pronouns = [], []
        for pair, text in listed:
            if len(pair) != 2:
                raise BiasgridError(f"{path}: {'/'.join(pair)!r}: expected two pronouns, such as he/she")
            # "one of the OCCUPATIONs" would be a word of its own
            sentence = tuple(TOKEN.findall(text.lower()))
            if sorted(t for t in sentence if t in (cls.OCCUPATION, cls.PRONOUN)) != [
                cls.PRONOUN,
                cls.OCCUPATION,
            ]:
                raise BiasgridError(f"{path}: {text!r}: expected [MASK] and OCCUPATION once each")
            tokens.append(sentence)
            pronouns.append(tuple(pair))
        return cls(tuple(tokens), tuple(pronouns))

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


def plan(mu: float, sigma: float, occupations: int, seed: int) -> np.ndarray:
    """How probable the male pronoun is beside each occupation: normally distributed, clipped to [0, 1]."""
    return np.random.default_rng(seed).normal(mu, sigma, occupations).clip(0, 1)


def corpus(
    templates: Templates, occupations: Sequence[str], probabilities: np.ndarray, seed: int
) -> tuple[list[list[str]], np.ndarray]:
    """A sentence for each template and occupation, in random order, and the truth: the share of an occupation's
    sentences that have the male pronoun, as it came out of the draws."""
    rng = np.random.default_rng(seed)
    male = rng.random((len(occupations), len(templates.tokens))) < probabilities[:, None]
    sentences = [s for word, row in zip(occupations, male, strict=True) for s in templates.fill(word, row)]
    return [sentences[i] for i in rng.permutation(len(sentences))], male.mean(axis=1)
