"""What `Grid.summary` returns: text that a prompt shows as it is printed."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

WIDTH = 80


class SummaryText(str):
    """Text that a prompt and a notebook show in its lines, without quotes."""

    @classmethod
    def of(cls, sentences: Iterable[str]) -> SummaryText:
        """Sentences, wrapped."""
        return cls(wrap(sentences))

    def __repr__(self) -> str:
        return str(self)


def wrap(sentences: Iterable[str], width: int = WIDTH) -> str:
    """Sentences in lines of at most so many characters."""
    return textwrap.fill(" ".join(sentences), width, break_long_words=False, break_on_hyphens=False)
