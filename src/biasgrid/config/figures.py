"""`figures`: which kinds of figures are drawn."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from ..errors import BiasgridError, unknown_name
from ..figures import REGISTRY
from ..registry import is_pending
from .common import Distinct

DEFAULT = [
    "rankings",
    "rankings-by-criterion",
    "rank-intervals",
    "correlations",
    "covariates",
    "scores",
    "quality-ranks",
    "mitigation",
]


def kinds() -> list[str]:
    """What may be listed."""
    return sorted({kind.config_name for kind in REGISTRY.values() if kind.config_name})


def _kind(name: str) -> str:
    if name not in kinds() and not is_pending():
        problem = REGISTRY.of_plugin(name) or unknown_name(
            "kind of figure", name, kinds(), "biasgrid list figures"
        )
        raise BiasgridError(problem)
    return name


Figures = Annotated[list[Annotated[str, AfterValidator(_kind)]], Distinct]
