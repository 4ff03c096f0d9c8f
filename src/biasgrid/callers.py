"""Whose line a warning is about: that of the script that called biasgrid, not one inside it."""

from __future__ import annotations

import sys

PACKAGE = __name__.partition(".")[0]


def stacklevel() -> int:
    """The `stacklevel` with which `warnings.warn`, called beside this, names the first line outside the package."""
    frame, level = sys._getframe(1), 1
    # a workflow's rules have no name, or None
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == PACKAGE:
        frame, level = frame.f_back, level + 1
    return level
