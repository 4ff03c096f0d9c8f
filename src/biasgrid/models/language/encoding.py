"""Vectors of words from an encoder, as a mean over templates.

A word's vector depends only on the word, the templates and the encoder. On one machine's CPU it is the same
to the last bit, whatever other words are encoded with it. (On a GPU, this was observed only for scores.)
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BiasgridError
from ..frequencies import ENGLISH, most_frequent
from ..store import EmbeddingStore
from ..store_writer import StoreWriter
from .answers import Answers
from .average import AverageEncoder, is_vectors
from .blocks import computed_beside, in_blocks, in_saved_blocks
from .contextual import CONTEXTS, KIND
from .encoder import WORD, Encoder, Encodes
from .files import CONFIG
from .formats import ANSWERS, SENTENCE_TRANSFORMERS
from .functions import open_sentence_transformer
from .opening import DEFAULTS, open_pretrained, refuse_options
from .templates import Templates
from .universal import is_universal, open_universal

# Raise this number if a change of this module or of the encoder changes vectors. Every model is then encoded again.
VERSION = 3
COMPUTED = "computed"  # entry of model.json: how the encoder computed


def encode(
    encoder: Encodes,
    words: Iterable[str],
    templates: Templates,
    pool: str = WORD,
    layer: int = -1,
    contexts: bool = False,
) -> dict[str, NDArray[np.float32]]:
    """Encode words; return the mean over the templates of each word's vectors (dimensions,).

    With `contexts`, return all vectors of a word, concatenated (templates x dimensions,). A word without
    tokens is left out.

    Raises
    ------
    BiasgridError
        The encoder does not have the layer, or a sentence is too long for it.
    """
    word_vectors = {}
    for block in in_blocks(list(dict.fromkeys(words))):
        sentences_of_words = {word: templates.placed(word) for word in block}
        rows = encoder.encode(
            [sentence for sentences in sentences_of_words.values() for sentence in sentences], pool, layer
        )
        ends = np.cumsum([len(sentences) for sentences in sentences_of_words.values()])
        for word, vectors in zip(sentences_of_words, np.split(rows, ends[:-1]), strict=True):
            if np.isfinite(vectors).all():
                word_vectors[word] = (vectors.ravel() if contexts else vectors.mean(axis=0)).astype(
                    np.float32
                )
    return word_vectors


def _open_encoder(source_type: str, archive: Path, **options: Any) -> Encodes:
    """Open the encoder from the fetched files of a source of this type."""
    if source_type == ANSWERS:
        return Answers(archive, {})
    folder = archive.parent if archive.is_file() else archive
    if source_type == SENTENCE_TRANSFORMERS:
        return open_sentence_transformer(folder, **options)
    if not (folder / CONFIG).is_file() and not is_universal(folder) and is_vectors(archive):
        refuse_options(options, "a mean of static vectors")
        return AverageEncoder(archive)
    return open_encoder(folder, options)


def open_encoder(folder: Path, options: Mapping[str, Any]) -> Encodes:
    """Open the encoder in a folder, of transformers or of `universal`, with options for its computation.

    Raises
    ------
    BiasgridError
        The folder does not contain an encoder, or an option does not apply to it.
    """
    if is_universal(folder):
        refuse_options(options, "an encoder that NumPy computes")
        return open_universal(folder)
    of_network = {name: options[name] for name in ("device", "dtype", "random_weights") if name in options}
    return Encoder(open_pretrained(folder, **of_network), fast=options.get("fast", False))


def write(
    archive: Path, folder: Path, *, name: str, model: Mapping[str, Any], metadata: Mapping[str, Any]
) -> None:
    """Write the store of an encoded model, an entry of `Study.models`, from its encoder's files.

    Vectors of a former store in `folder` that were made in the same way are kept, so a study with more words
    encodes only the new ones. Vectors of an interrupted run are also kept.
    """
    source = model["source"]
    templates = Templates.of(source["templates"])
    contexts = model.get("kind") == KIND
    extra: dict[str, Any] = {CONTEXTS: templates.contexts} if contexts else {}
    words = list(dict.fromkeys(words_of(model)))
    # The store of vectors that an interrupted run had encoded.
    partial_store = folder.with_name(f".{folder.name}.unfinished")
    vectors: dict[str, NDArray[np.float32]] = {}
    for former in (folder, partial_store):
        if store := _open_former(former, metadata):
            vectors |= _vectors_of(store, words)
            if computed := store.metadata.get(COMPUTED):
                extra[COMPUTED] = computed_beside(extra.get(COMPUTED, {}), computed)

    def save(store: Path) -> None:
        encoded_words = [word for word in words if word in vectors]
        if not encoded_words:
            raise BiasgridError(f"{name}: the study asks about no word that {source['encoder']['name']} has")
        with StoreWriter(store, archive) as writer:
            writer.add(encoded_words, np.array([vectors[word] for word in encoded_words]))
            record = {"name": name, "label": name, "note": "", "format": "encoded", "vocab_prefix": ""}
            writer.finish(record | dict(metadata) | {"name": name, "sorted": False} | extra)

    def save_partial() -> None:
        if vectors:  # the encoder may lack tokens for all words so far
            save(partial_store)

    if new_words := [word for word in words if word not in vectors]:
        options = {option: source[option] for option in DEFAULTS if option in source}
        encoder = _open_encoder(source["encoder"]["source"]["type"], archive, **options)
        if isinstance(encoder, Encoder):
            extra[COMPUTED] = computed_beside(extra.get(COMPUTED, {}) if vectors else {}, encoder.computed)
        for block in in_saved_blocks(new_words, name, save_partial):
            vectors.update(encode(encoder, block, templates, source["pool"], source["layer"], contexts))
    save(folder)
    shutil.rmtree(partial_store, ignore_errors=True)


def words_of(model: Mapping[str, Any]) -> list[str]:
    """Return the words of an encoded model, an entry of `Study.models`: the study's words, and frequent words."""
    frequent = most_frequent(model["source"]["frequent"], model.get("language", ENGLISH))
    return [*model["encodes"], *frequent]


def _open_former(folder: Path, metadata: Mapping[str, Any]) -> EmbeddingStore | None:
    """Open the store in the folder, if it was made in the same way."""

    def recipe(record: Mapping[str, Any]) -> Any:
        source = {key: value for key, value in record["source"].items() if key not in ("words", "frequent")}
        return (
            source,
            *(record[key] for key in ("archive", "encoded_by", "store_version")),
            record.get("kind"),
        )

    try:
        store = EmbeddingStore.open(folder)
        return store if recipe(store.metadata) == recipe(metadata) else None
    except (BiasgridError, LookupError, AttributeError, TypeError):
        return None


def _vectors_of(store: EmbeddingStore, words: Sequence[str]) -> dict[str, NDArray[np.float32]]:
    """Return a store's vectors of the words that it has."""
    rows = store.rows(words)
    stored_words = [word for word, row in zip(words, rows, strict=True) if row >= 0]
    vectors = store.take(stored_words, rows[rows >= 0]).astype(np.float32)
    return dict(zip(stored_words, vectors, strict=True))
