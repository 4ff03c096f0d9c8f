"""What `Grid.summary` returns: text that a prompt shows as it is printed."""

from __future__ import annotations

from collections.abc import Mapping

from ..verdicts.summary import lines

WIDTH = 80


class SummaryText(str):
    """Text that a prompt and a notebook show in its lines, without quotes."""

    @classmethod
    def of(cls, sentences: Mapping[str, str]) -> SummaryText:
        """What a study says, topic -> sentence, in lines."""
        return cls("\n".join(lines(sentences, WIDTH)))

    def __repr__(self) -> str:
        return str(self)
