"""`figures`: which kinds of figures are drawn."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from ..errors import BiasgridError, unknown
from .common import Distinct

DEFAULT = [
    "rankings",
    "rankings-by-criterion",
    "rank-intervals",
    "correlations",
    "scores",
    "quality-ranks",
    "mitigation",
]
FIGURES = [
    "rankings", "rankings-by-criterion", "rank-intervals", "order", "correlations", "scores", "influence",
    "quality-ranks", "mitigation", "comparison", "professions", "directions", "projections", "ratings", "sentiment",
    "weat-table", "analogies", "word-set-map",
]  # fmt: skip


def _kind(name: str) -> str:
    if name not in FIGURES:
        raise BiasgridError(unknown("kind of figure", name, FIGURES))
    return name


Figures = Annotated[list[Annotated[str, AfterValidator(_kind)]], Distinct]
