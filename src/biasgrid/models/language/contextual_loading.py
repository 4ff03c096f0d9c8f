"""Vectors of words in contexts from a user's data: a folder, or vectors in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.errors import InputError, quote
from ..load_vectors import is_pair, read_pair
from .contextual import KIND, ContextualVectors


def load(source: Any, name: str | None = None) -> ContextualVectors:
    """Load a model of words in contexts.

    Parameters
    ----------
    source
        Its folder; a mapping word -> its vector in each context; or a pair (words, array), the array of shape
        (words, contexts, dimensions).
    name
        The name of the model; None for the folder's name, or "model".

    Raises
    ------
    BiasgridError
        The source is not such a model.
    """
    if isinstance(source, Path):
        return ContextualVectors.open(source, name)
    pair = (list(source), list(source.values())) if isinstance(source, Mapping) else source
    if not is_pair(pair):
        raise InputError(
            f"cannot load {type(source).__name__} {quote(source):.60} as {KIND}; allowed: a folder, a mapping "
            "word -> vectors, (words, array)"
        )
    words, vectors = read_pair(pair)
    return ContextualVectors.of(words, vectors, name=name or "model")
