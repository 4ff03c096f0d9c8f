"""Functions that make a model's folder, one per kind (`Kind.make`), importing only layers below the kinds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .corpus.shuffled import Shuffled
from .corpus.text import Sentences
from .readers.conversion import convert, reading_options


def make_vectors(
    archive: Path, folder: Path, *, name: str, model: Mapping[str, Any], metadata: Mapping[str, Any]
) -> None:
    """Make the store of a model of word vectors: converted, trained or encoded."""
    source = model["source"]
    if source["type"] == "encoded":
        from .language import encoding

        encoding.write(archive, folder, name=name, model=model, metadata=metadata)
        return
    if source["type"] == "trained":
        from . import training

        options = {"algorithm": source["algorithm"], "params": source["params"]}
        corpus = source["corpus"]
        format = corpus.get("format")
        text = Sentences(archive, format, training.SENTENCE) if format else training.Sentences(archive)
        sentences = Shuffled(text, corpus["shuffle"]) if "shuffle" in corpus else text
        training.train(sentences, folder, where=archive, name=name, **options, metadata=metadata)
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


def make_language_model(archive: Path, folder: Path, *, start: Path | None = None, **settings: Any) -> None:
    """Make the folder of a language model, from its files or by training from the weights `start` on a
    corpus."""
    if start is None:
        from .language.building import make_language_model

        make_language_model(archive, folder, **settings)
    else:
        from .language.bert_training import train

        train(archive, start, folder, **settings)
