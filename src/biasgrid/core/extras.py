"""Optional packages, which are installed as extras of biasgrid."""

from __future__ import annotations

import shlex
from importlib.util import find_spec

from .errors import BiasgridError

# The extras of pyproject.toml that install each package.
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
    "snakemake": "workflow,figures",  # a study draws figures even if its config does not name any
    "torch": "debias",
    "transformers": "language",
    "wordfreq": "frequency",
}
# By a model's format or training software: a description, the extra and the packages that it needs.
OF_MODELS = {
    "transformers": ("a language model", "language", ("transformers", "torch")),
    "gguf": ("a language model in a .gguf file", "gguf", ("transformers", "torch", "gguf", "accelerate")),
    "sentence-transformers": ("encoded", "sentence-transformers", ("sentence_transformers", "torch")),
    "npy-parquet": ("a Parquet file", "arrow", ("pyarrow",)),
    "gensim": ("trained by gensim", "gensim", ("gensim",)),
}


def has(package: str) -> bool:
    """Return whether a package is installed, without importing it."""
    try:
        return find_spec(package) is not None
    except ValueError:  # imported by hand, or blocked
        return False


def install_command(extras: str) -> str:
    """Return the command that installs the packages of extras, such as "workflow,figures".

    It names the packages and the versions that biasgrid allows: biasgrid itself is not in a package index.
    """
    from importlib import metadata  # imported only when needed

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
        The subject of the message, which needs the package, such as "figures".
    extra
        The extra that installs it, if there are several.

    Raises
    ------
    BiasgridError
        The package is missing; the message is one sentence with the command that installs it.
    """
    if not has(package):
        raise BiasgridError(
            f"{purpose} needs {package}; install it: {install_command(extra or EXTRAS[package])}"
        )


def require_for(form: str, name: str = "", purpose: str = "") -> None:
    """Check for the packages that a model's format, or its training software, needs, if any."""
    what, extra, packages = OF_MODELS.get(form, ("", "", ()))
    for package in packages:
        require(package, purpose or f"{name}, {what},", extra)
