"""Check that names in a config exist."""

from __future__ import annotations

from collections.abc import Iterable

from ...core.errors import BiasgridError, unknown_name


def check_names(what: str, names: Iterable[str], choices: Iterable[str], where: str) -> None:
    """Raise BiasgridError for a name that is not allowed; the message begins with `where`."""
    for name in names:
        if name not in choices:
            raise BiasgridError(f"{where}: {unknown_name(what, name, choices)}")
