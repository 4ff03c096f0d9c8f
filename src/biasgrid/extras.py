"""Packages that biasgrid does without until something needs them: its extras."""

from __future__ import annotations

from importlib.util import find_spec

from .errors import BiasgridError

# package -> the extras of pyproject.toml that install it
EXTRAS = {
    "gensim": "gensim",
    "gguf": "language",
    "ipykernel": "notebooks",
    "matplotlib": "figures",
    "nbconvert": "notebooks",
    "papermill": "notebooks",
    "pyarrow": "arrow",
    "safetensors": "language",
    "snakemake": "workflow,figures",  # a config without `figures` draws some
    "tokenizers": "language",
    "torch": "debias",
    "wordfreq": "frequency",
}


def has(package: str) -> bool:
    """Whether a package is installed; it is not imported."""
    try:
        return find_spec(package) is not None
    except ValueError:  # imported by hand, or blocked
        return False


def require(package: str, purpose: str) -> None:
    """Check for an optional package before it is imported.

    Parameters
    ----------
    package
        One of `EXTRAS`.
    purpose
        What needs it, as the message's first words, such as "figures".

    Raises
    ------
    BiasgridError
        One sentence that says how to install it.
    """
    if not has(package):
        raise BiasgridError(
            f"{purpose} needs {package}; install it: pip install 'biasgrid[{EXTRAS[package]}]'"
        )
