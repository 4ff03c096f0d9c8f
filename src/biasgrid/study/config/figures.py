"""The section `figures`: the kinds of figures to draw."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from ...core.errors import BiasgridError, unknown_name
from ...core.registry import is_pending
from ...figures import REGISTRY, current_name
from .common import Distinct

DEFAULT = [
    "bias",
    "models",
    "rank-intervals",
    "correlations",
    "covariates",
    "scores",
    "quality-ranks",
    "mitigation",
]


def kinds() -> list[str]:
    """Return the kinds of figures that a config may list."""
    return sorted({kind.config_name for kind in REGISTRY.values() if kind.config_name})


def _kind(name: str) -> str:
    if name not in kinds() and not is_pending():
        problem = REGISTRY.of_plugin(name) or unknown_name(
            "kind of figure", name, kinds(), "biasgrid list figures"
        )
        raise BiasgridError(problem)
    return name


def _current(names: Any) -> Any:
    """Replace former kinds of figures with their successors, without duplicates.

    Invalid values are kept and refused later.
    """
    if not isinstance(names, list):
        return names
    current: list[Any] = []
    for name in names:
        new = current_name(name) if isinstance(name, str) else name
        if new == name or new not in [*names, *current]:
            current.append(new)
    return current


Figures = Annotated[list[Annotated[str, AfterValidator(_kind)]], Distinct, BeforeValidator(_current)]
