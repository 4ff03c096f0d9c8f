"""Text returned by `Grid.summary`, which a prompt shows as if printed."""

from __future__ import annotations

from ...tables.conclusions.summary import Conclusion, lines

WIDTH = 80


class SummaryText(str):
    """Text that a prompt and a notebook show in its lines, without quotes."""

    @classmethod
    def of(cls, conclusion: Conclusion) -> SummaryText:
        """Return a study's conclusions, in lines."""
        return cls("\n".join(lines(conclusion, WIDTH)))

    def __repr__(self) -> str:
        return str(self)
