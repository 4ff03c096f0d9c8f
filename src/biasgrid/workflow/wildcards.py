"""Constraints of wildcards."""

from __future__ import annotations

import re
from collections.abc import Iterable


def one_of(names: Iterable[str]) -> str:
    """Return a constraint of a wildcard that allows these names alone: a study has a file for no other."""
    return "|".join(map(re.escape, names)) or "(?!)"
