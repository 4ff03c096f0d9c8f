"""Packages that biasgrid does without until something needs them: its extras."""

from __future__ import annotations

import shlex
from importlib.util import find_spec

from .errors import BiasgridError

# package -> the extras of pyproject.toml that install it
EXTRAS = {
    "accelerate": "gguf",
    "gensim": "gensim",
    "gguf": "gguf",
    "ipykernel": "notebooks",
    "matplotlib": "figures",
    "nbconvert": "notebooks",
    "papermill": "notebooks",
    "plotly": "plotly",
    "pyarrow": "arrow",
    "sentence_transformers": "sentence-transformers",
    "snakemake": "workflow,figures",  # a config without `figures` draws some
    "torch": "debias",
    "transformers": "language",
    "wordfreq": "frequency",
}
# a model's format, or what trains it -> what it is, the extra that it needs, and the packages
OF_MODELS = {
    "transformers": ("a language model", "language", ("transformers", "torch")),
    "gguf": ("a language model in a .gguf file", "gguf", ("transformers", "torch", "gguf", "accelerate")),
    "sentence-transformers": ("encoded", "sentence-transformers", ("sentence_transformers", "torch")),
    "npy-parquet": ("a Parquet file", "arrow", ("pyarrow",)),
    "gensim": ("trained by gensim", "gensim", ("gensim",)),
}


def has(package: str) -> bool:
    """Whether a package is installed; it is not imported."""
    try:
        return find_spec(package) is not None
    except ValueError:  # imported by hand, or blocked
        return False


def install_command(extras: str) -> str:
    """Return the command that installs the packages of extras, such as "workflow,figures".

    It names the packages and the versions that biasgrid allows: biasgrid itself is not in a package index.
    """
    from importlib import metadata  # imported late: hardly any run needs it

    try:
        lines = metadata.requires("biasgrid") or []
    except metadata.PackageNotFoundError:  # a checkout that is not installed
        return f"pip install '.[{extras}]'"
    markers = {f"extra == '{extra}'" for extra in extras.split(",")}
    parts = (line.partition(";") for line in lines)
    packages = {package.strip() for package, _, marker in parts if marker.strip() in markers}
    return shlex.join(["pip", "install", *sorted(packages)])


def require(package: str, purpose: str, extra: str = "") -> None:
    """Check for an optional package before it is imported.

    Parameters
    ----------
    package
        One of `EXTRAS`.
    purpose
        What needs it, as the message's first words, such as "figures".
    extra
        The extra that installs it, where there are several.

    Raises
    ------
    BiasgridError
        One sentence that says how to install it.
    """
    if not has(package):
        raise BiasgridError(
            f"{purpose} needs {package}; install it: {install_command(extra or EXTRAS[package])}"
        )


def require_for(form: str, name: str = "", purpose: str = "") -> None:
    """Check for the packages that a model of this name needs, where its format, or what trains it, needs any."""
    what, extra, packages = OF_MODELS.get(form, ("", "", ()))
    for package in packages:
        require(package, purpose or f"{name}, {what},", extra)
