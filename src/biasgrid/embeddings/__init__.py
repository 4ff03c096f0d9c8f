"""Embeddings: the store, readers of foreign formats, and sources that archives come from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .readers import convert, open_model
from .store import EmbeddingStore

__all__ = ["EmbeddingStore", "build_store", "convert", "open_model"]


def build_store(name: str, model: Mapping[str, Any], folder: Path | str) -> EmbeddingStore:
    """The store `folder`/`name` of a model, from the archive in `folder`/raw/`name`, fetched if it is not there.

    `model` is the model's entry in a study's config. Raises BiasgridError for a source that cannot be had or is
    not what its checksum says, and for a file that is not a model.
    """
    # imported late: cells import this package and need no HTTP client
    from .sources import fetch

    return convert(
        fetch(name, model["source"], Path(folder) / "raw"),
        Path(folder) / name,
        name=name,
        format=model.get("format"),
        # a pickle is read only if what was fetched is what a checksum in the config says
        trust_pickle=not {"sha256", "md5"}.isdisjoint(model["source"]),
        vocab_prefix=model.get("vocab_prefix", ""),
        metadata={"source": model["source"], "licence": model.get("licence", "not stated")},
    )
