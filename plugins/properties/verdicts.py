"""Results of an examination: verdicts, and the settings that refute properties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .questions import NOT_EXAMINED
from .settings import Setting


@dataclass(frozen=True)
class Example:
    """Settings that refute a property, with the values there: one setting, or two whose values contradict each
    other.

    A setting of "comparable" has the words of the smallest and of the largest value as its two sets of words.
    """

    settings: tuple[Setting, ...]
    values: tuple[tuple[float, ...], ...]
    statement: str


@dataclass(frozen=True)
class Verdict:
    """Answer whether a metric has a property. `tried` is the number of settings that were measured."""

    metric: str
    label: str
    level: str
    property: str
    condition: str
    holds: str
    paper: str
    tried: int
    note: str
    neutral: float
    example: Example | None = field(default=None, repr=False)

    # The property is Python's decorator, not the field.
    @property  # type: ignore[operator]
    def key(self) -> str:
        return ": ".join(filter(None, (self.label, self.level, self.property, self.condition and "ordered")))


def by_row(verdicts: Sequence[Verdict]) -> dict[tuple[str, str], dict[tuple[str, str], Verdict]]:
    """Return (label, level) -> (property, condition) -> verdict, for everything that was examined."""
    rows: dict[tuple[str, str], dict[tuple[str, str], Verdict]] = {}
    for v in verdicts:
        if v.holds != NOT_EXAMINED:
            rows.setdefault((v.label, v.level), {})[v.property, v.condition] = v
    return rows
