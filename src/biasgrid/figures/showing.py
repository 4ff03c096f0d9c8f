"""Figures as Python hands them out: shown in a notebook or a window, and written to a file."""

from __future__ import annotations

import contextlib
import functools
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core import validation
from ..core.errors import BiasgridError, DiskError, not_allowed
from ..core.user_warnings import stacklevel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAVE = "plot(..., path='figure.png')"  # the call that writes a figure


def hand_out(figure: Figure, path: Path | str | None) -> Figure:
    """Return a figure as `plot` does, and write it to a file if a path is given."""
    figure = with_show(figure)
    if path is not None:
        write(figure, Path(path))
    return figure


def with_show(figure: Figure, save: str = SAVE) -> Figure:
    """Return the figure with a `show` that does not need pyplot; a notebook shows it once, below its cell.

    `save` is the call that writes it to a file, which a message names.
    """
    if _notebook() is not None:
        # Once pyplot's inline backend is imported, it shows figures, and the current backend remains.
        with contextlib.suppress(ImportError):
            import matplotlib_inline.backend_inline  # noqa: F401
    figure.show = functools.partial(show, figure, save)  # type: ignore[method-assign]
    return figure


def show(figure: Figure, save: str = SAVE) -> None:
    """Show a figure below a notebook's cell, or in a window of pyplot; a script continues when it is closed."""
    if _notebook() is not None:
        from IPython.display import display

        display(figure)  # type: ignore[no-untyped-call]
        return
    import matplotlib.pyplot as plt
    from matplotlib.backends.registry import BackendFilter, backend_registry

    windowless = backend_registry.list_builtin(BackendFilter.NON_INTERACTIVE)  # type: ignore[no-untyped-call]
    if plt.get_backend().lower() in windowless:
        warnings.warn(
            f"show: no window can be opened here; {save} writes the figure to a file",
            stacklevel=stacklevel(),
        )
        return
    canvas, window = figure.canvas, plt.figure(figsize=figure.get_size_inches())
    window.canvas.figure = figure
    figure.set_canvas(window.canvas)
    plt.show()
    if not plt.isinteractive():
        plt.close(window.number)
        figure.set_canvas(canvas)


def _notebook() -> Any:
    """Return the shell of the current notebook, or None."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell if hasattr(shell, "kernel") else None


def check_path(path: Path | str | None) -> None:
    """Raise BiasgridError if figures cannot be written to a path; None is allowed."""
    if path is not None and not isinstance(path, (str, Path)):
        raise BiasgridError(not_allowed("path", path, "a file's path, or None"))
    if path is not None and Path(validation.check_path(str(path))).suffix not in (".png", ".svg", ".pdf"):
        raise BiasgridError(not_allowed("path", str(path), "names that end in .png, .svg or .pdf"))


def write(figure: Figure, path: Path) -> None:
    """Write a figure in the format of the path's suffix."""
    from .frame import save

    try:
        save(figure, path.with_suffix(""), [path.suffix[1:]])
    except OSError as error:
        raise DiskError(f"{path}: cannot write it: {error.strerror or error}") from None
