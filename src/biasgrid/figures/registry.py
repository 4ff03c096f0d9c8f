"""Registry of all kinds of figures."""

from __future__ import annotations

import warnings

from ..core.errors import BiasgridError, is_among
from ..core.registry import Registry
from ..core.user_warnings import stacklevel
from .figure import Figure

# Removed kinds -> the kinds that replace them.
FORMER = {
    "bars-by-model": "scores",
    "bars-by-query": "scores",
    "order": "rank-intervals",
    "weat-table": "comparison",
}

# Removed kinds without a replacement -> advice.
GONE = {
    "word-set-map": "distances on its map meant little; 'projections' shows which group each word is nearer to"
}

REGISTRY: Registry[Figure] = Registry(__package__, "FIGURES", "figure")


def current_name(name: str) -> str:
    """Return the current name of a kind; a removed kind has the name of its replacement, with a warning.

    Raises BiasgridError for a removed kind without a replacement.
    """
    if is_among(name, GONE):
        raise BiasgridError(f"figure {name!r} is gone: {GONE[name]}")
    if is_among(name, FORMER):
        warnings.warn(f"figure {name!r} is gone: {FORMER[name]!r} shows the same", stacklevel=stacklevel())
    return FORMER[name] if is_among(name, FORMER) else name
