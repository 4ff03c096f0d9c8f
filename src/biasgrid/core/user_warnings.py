"""Warnings about the line of a script that called biasgrid, and on one line each in a command."""

from __future__ import annotations

import sys
import warnings

PACKAGE = __name__.partition(".")[0]


def stacklevel() -> int:
    """Return the `stacklevel` for `warnings.warn` that names the first line outside the package."""
    frame, level = sys._getframe(1), 1
    # The modules of a workflow's rules do not have a name, or it is None.
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == PACKAGE:
        frame, level = frame.f_back, level + 1
    # Python drops a warning about a line of a file that has no name
    return level if frame.f_globals.get("__name__") is not None else max(level - 1, 1)


def warn_in_a_line() -> None:
    """Print every later warning of this process as one line on standard error, without its place in the code."""
    warnings.showwarning = lambda message, *_: print(f"biasgrid: warning: {message}", file=sys.stderr)
