"""The list of all kinds of figures."""

from __future__ import annotations

import warnings

from ..callers import stacklevel
from ..errors import BiasgridError, is_among
from ..registry import Registry
from .figure import Figure

# a kind that is gone -> the one that shows what it showed
FORMER = {
    "bars-by-model": "scores",
    "bars-by-query": "scores",
    "order": "rank-intervals",
    "weat-table": "comparison",
}

# a kind that is gone, and that no other shows -> what answers its question
GONE = {
    "word-set-map": "distances on its map meant little; 'projections' shows which group each word is nearer to"
}

REGISTRY: Registry[Figure] = Registry(__package__, "FIGURES", "figure")


def current_name(name: str) -> str:
    """A kind's name; of one that is gone, that of the kind which shows the same, and a warning says so.

    Raises BiasgridError for one that is gone and that no other shows.
    """
    if is_among(name, GONE):
        raise BiasgridError(f"figure {name!r} is gone: {GONE[name]}")
    if is_among(name, FORMER):
        warnings.warn(f"figure {name!r} is gone: {FORMER[name]!r} shows the same", stacklevel=stacklevel())
    return FORMER[name] if is_among(name, FORMER) else name
