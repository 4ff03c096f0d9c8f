"""The list of all kinds of figures."""

from __future__ import annotations

import warnings

from ..callers import stacklevel
from ..registry import Registry
from .figure import Figure

# a kind that is gone -> the one that shows what it showed
FORMER = {
    "bars-by-model": "scores",
    "bars-by-query": "scores",
    "order": "rank-intervals",
    "weat-table": "comparison",
}

REGISTRY: Registry[Figure] = Registry(__package__, "FIGURES", "figure")


def current_name(name: str) -> str:
    """A kind's name; of one that is gone, that of the kind which shows the same, and a warning says so."""
    if name in FORMER:
        warnings.warn(f"figure {name!r} is gone: {FORMER[name]!r} shows the same", stacklevel=stacklevel())
    return FORMER.get(name, name)
