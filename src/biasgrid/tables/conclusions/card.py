"""Card: the answer to one of a study's questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...core.phrases import join_names

# Largest number of named queries of a topic, and of named topics.
MOST_NAMED = 3
# Number of a card's sentences that are visible at first.
MOST_SENTENCES = 2


@dataclass(frozen=True)
class Card:
    """Answer to one of a study's questions.

    Parameters
    ----------
    topic
        Heading in the summary, a word or two.
    question
        The question.
    figure, unit
        The answer's number or name, and its unit; together they are a sentence.
    sentences
        Further sentences, most important first.
    bars
        Labels and shares of 1 that show the answer, if there are any.
    visible
        Number of sentences that are visible at first.
    """

    topic: str
    question: str
    figure: str
    unit: str
    sentences: tuple[str, ...] = ()
    bars: tuple[tuple[str, float], ...] = ()
    visible: int = MOST_SENTENCES

    @property
    def first(self) -> tuple[str, ...]:
        """Return the sentences that are visible at first; the report folds the others."""
        return self.sentences[: self.visible]

    @property
    def text(self) -> str:
        """Return the answer and the sentences that are visible at first."""
        return " ".join([f"{self.figure} {self.unit}".strip() + ".", *self.first])


def show(number: int) -> str:
    """Return the verb for a number of things: "shows" for one, otherwise "show"."""
    return "shows" if number == 1 else "show"


def few_named(names: Sequence[str], last: str = "and") -> str:
    """Join a few names; if there are many, return their number."""
    return join_names(names, last) if len(names) <= MOST_NAMED else f"{len(names)} other topics"
