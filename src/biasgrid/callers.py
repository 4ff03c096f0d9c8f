"""Warnings: in a script, about the line that called biasgrid and not one inside it; of a command, a line each."""

from __future__ import annotations

import sys
import warnings

PACKAGE = __name__.partition(".")[0]


def stacklevel() -> int:
    """The `stacklevel` with which `warnings.warn`, called beside this, names the first line outside the package."""
    frame, level = sys._getframe(1), 1
    # a workflow's rules have no name, or None
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == PACKAGE:
        frame, level = frame.f_back, level + 1
    # Python drops a warning about a line of a file that has no name
    return level if frame.f_globals.get("__name__") is not None else max(level - 1, 1)


def warn_in_a_line() -> None:
    """From now on a warning of this process is a line on standard error, without a place in the code."""
    warnings.showwarning = lambda message, *_: print(f"biasgrid: warning: {message}", file=sys.stderr)
