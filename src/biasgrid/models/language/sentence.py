"""The texts, or parts of texts, that a language model scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ...core.errors import BiasgridError, InputError, quote

NO_NEXT_SENTENCE_HEAD = (
    "the model has no next-sentence head, which predicts whether a sentence follows another"
)

Span = tuple[int, int]  # the first and the last (exclusive) character of a part of a text


@dataclass(frozen=True, order=True)
class Sentence:
    """A text whose log-likelihood is computed.

    Parameters
    ----------
    text
        The text.
    part
        The characters that are scored, given the others; None for the whole text. The scored tokens are those
        that contain any of these characters. A masked model sees the tokens before and after, but not the
        part: all its tokens are masked at once, and their log-probabilities are added. A causal model sees
        the text before it.
    hidden
        Characters that a masked model does not see while it scores the part; their tokens are masked, but not
        scored. Not possible for a causal model.
    beside
        Another text that differs in some words; only the tokens that both texts have are scored (the
        pseudo-log-likelihood of CrowS-Pairs). Not possible for a causal model.
    l2r
        Whether a masked model that scores a token also does not see the rest of its word to the right
        (PLL-word-l2r, Kauf & Ivanova 2023). The tokenizer defines words. A causal model never sees it; the
        option is not possible there.
    in_turn
        Whether a masked model predicts the tokens of the part one after the other. It sees the tokens before
        a token, one mask in place of the token, and no later tokens of the part. The score is the logarithm
        of the mean of the tokens' probabilities (StereoSet, Nadeem et al. 2021). Not possible for a causal
        model.
    after
        Another text: the score is the log-probability that `text` is the sentence after it, predicted by the
        next-sentence head of a masked model. Not possible for a causal model.
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
        """Return the text before the part, and the part with the space before it, for a request to a causal
        model.

        In most models the space belongs to the word's token.
        """
        start, end = self.part or (0, len(self.text))
        prefix = self.text[:start].rstrip()
        return prefix, self.text[len(prefix) : end]

    def to_dict(self) -> dict[str, Any]:
        """Return the sentence as a JSON object, without default values."""
        spans = {name: list(span) for name in ("part", "hidden") if (span := getattr(self, name))}
        others = {
            name: value for name in ("beside", "l2r", "in_turn", "after") if (value := getattr(self, name))
        }
        return {"text": self.text, **spans, **others}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Sentence:
        """Return the sentence described by such an object."""
        spans: dict[str, Any] = {name: tuple(record[name]) for name in ("part", "hidden") if name in record}
        others: dict[str, Any] = {
            name: record[name] for name in ("beside", "l2r", "in_turn", "after") if name in record
        }
        return cls(record["text"], **spans, **others)


def check_text(text: Any, what: str = "") -> None:
    """Raise InputError for a value that is not a text, or has a lone surrogate. The message begins with `what`."""
    if not isinstance(text, str) or text.encode("utf-8", "replace").decode() != text:
        raise InputError(f"{what}{quote(text)} is no Unicode text")


def check_log_likelihood(
    value: float, where: str, *, finite: bool = False, error: type[BiasgridError] = BiasgridError
) -> float:
    """Return a log-likelihood after a check.

    A table's score must be `finite`; a model may return NaN for a text without a score.

    Raises
    ------
    BiasgridError
        An error of the class `error`, in a line that begins with `where`: the number is above 0, like a
        perplexity or loss.
    """
    if finite and not math.isfinite(value):
        raise error(f"{where}: {value:g} is not a finite number")
    if value > 0:
        raise error(
            f"{where}: {value:g} is above 0, and a log-likelihood is not. Are these perplexities or losses? Give "
            "log-likelihoods: -n * log(perplexity), or -n * loss, for a text of n tokens"
        )
    return value
