"""What a language model scores: a text, or a part of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ...errors import BiasgridError, InputError, quote

NO_NEXT_SENTENCE_HEAD = (
    "the model has no next-sentence head, which predicts whether a sentence follows another"
)

Span = tuple[int, int]  # the characters of a text from the first number on, up to the second


@dataclass(frozen=True, order=True)
class Sentence:
    """A text whose log-likelihood is computed.

    Parameters
    ----------
    text
        The text as it is.
    part
        The characters that are scored, given the others; None for the whole text. What is scored are the model's
        pieces that have any of these characters. A masked model sees the pieces before and after, and none of the
        part: all its pieces are masked at once, and their log-probabilities added up. A causal model sees what comes
        before.
    hidden
        Characters that a masked model does not see while it scores the part: their pieces are masked, and not
        scored. A causal model cannot be asked so.
    beside
        Another text that differs in some words: only the pieces that both have are scored (the pseudo-log-likelihood
        of CrowS-Pairs). A causal model cannot be asked so.
    l2r
        Whether a masked model that scores a piece does not see the rest of its word, to the right of it, either
        (PLL-word-l2r, Kauf & Ivanova 2023). What a word is says its tokenizer. A causal model never sees it, and
        cannot be asked so.
    in_turn
        Whether a masked model predicts the tokens of the part one after the other: it sees those before a token, one
        mask in place of the token, and none of those after it. The score is the logarithm of the mean of the tokens'
        probabilities (StereoSet, Nadeem et al. 2021). A causal model cannot be asked so.
    after
        Another text: the score is the log-probability that `text` is the sentence after it, which the next-sentence
        head of a masked model predicts. A causal model cannot be asked so.
    """

    text: str
    part: Span | None = None
    hidden: Span | None = None
    beside: str = ""
    l2r: bool = False
    in_turn: bool = False
    after: str = ""

    @property
    def continuation(self) -> tuple[str, str]:
        """What comes before the part, and the part with the space before it, as a causal model is asked elsewhere:
        most models have the space in the piece of the word."""
        start, end = self.part or (0, len(self.text))
        prefix = self.text[:start].rstrip()
        return prefix, self.text[len(prefix) : end]

    def to_dict(self) -> dict[str, Any]:
        """The sentence as JSON has it; what is left out is not in it."""
        spans = {name: list(span) for name in ("part", "hidden") if (span := getattr(self, name))}
        others = {
            name: value for name in ("beside", "l2r", "in_turn", "after") if (value := getattr(self, name))
        }
        return {"text": self.text, **spans, **others}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Sentence:
        """The sentence of such a mapping."""
        spans: dict[str, Any] = {name: tuple(record[name]) for name in ("part", "hidden") if name in record}
        others: dict[str, Any] = {
            name: record[name] for name in ("beside", "l2r", "in_turn", "after") if name in record
        }
        return cls(record["text"], **spans, **others)


def check_text(text: Any, what: str = "") -> None:
    """Raises InputError of what is no text, or has half a surrogate pair, which is in no text; `what` goes before."""
    if not isinstance(text, str) or text.encode("utf-8", "replace").decode() != text:
        raise InputError(f"{what}{quote(text)} is no Unicode text")


def check_log_likelihood(
    value: float, where: str, *, finite: bool = False, error: type[BiasgridError] = BiasgridError
) -> float:
    """Return a log-likelihood. A table's score must be `finite`; a model may have none of a text, which is NaN.

    Raises
    ------
    BiasgridError
        Of the class `error`, in a line that begins with `where`: the number is above 0, as perplexities and losses
        are.
    """
    if finite and not math.isfinite(value):
        raise error(f"{where}: {value:g} is not a finite number")
    if value > 0:
        raise error(
            f"{where}: {value:g} is above 0, and a log-likelihood is not. Are these perplexities or losses? Give "
            "log-likelihoods: -n * log(perplexity), or -n * loss, for a text of n tokens"
        )
    return value
