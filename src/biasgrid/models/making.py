"""Making of a store of word vectors (`Kind.make`), importing only layers below the kinds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .readers.conversion import convert, reading_options


def make_vectors(
    archive: Path, folder: Path, *, name: str, model: Mapping[str, Any], metadata: Mapping[str, Any]
) -> None:
    """Make the store of a model of word vectors: converted or encoded."""
    source = model["source"]
    if source["type"] == "encoded":
        from .language import encoding

        encoding.write(archive, folder, name=name, model=model, metadata=metadata)
        return
    convert(
        archive,
        folder,
        name=name,
        format=model.get("format"),
        # A pickle is read only if the config has a checksum, which the fetched file was compared with.
        trust_pickle=not {"sha256", "md5"}.isdisjoint(source),
        vocab_prefix=metadata["vocab_prefix"],
        metadata=metadata,
        **reading_options(model),
    )
