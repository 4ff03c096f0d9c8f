"""A check that names in a config exist."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import BiasgridError, unknown_name


def check_names(what: str, names: Iterable[str], choices: Iterable[str], where: str) -> None:
    """Raises BiasgridError, which begins with `where`, for a name that is none of those allowed."""
    for name in names:
        if name not in choices:
            raise BiasgridError(f"{where}: {unknown_name(what, name, choices)}")
