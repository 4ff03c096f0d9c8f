"""`encode`: vectors of words or sentences, made by an encoder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from ..core.configs import read_yaml
from ..core.errors import InputError, not_allowed, quote, unknown_name
from ..core.keywords import checked_keywords
from ..core.resources import resource
from ..queries.query import Query
from .fetch_by_name import fetch_archive
from .language.contextual import ContextualVectors
from .language.encoder import POOLS, SENTENCE, WORD, Encoder, Encodes
from .language.encoding import encode as encode_texts
from .language.encoding import open_encoder
from .language.functions import FunctionEncoder
from .language.opening import DEVICES, DTYPES, choice, in_memory, refuse_options
from .language.templates import Templates
from .load import is_hub_name
from .memory import MemoryModel
from .model import Model

Pool = Literal["word", "sentence", "first", "last"]


@overload
def encode(
    words: Iterable[str] | Query | Sequence[Query],
    encoder: Any = ...,
    *,
    templates: Sequence[str] | str | None = ...,
    pool: Pool | None = ...,
    layer: int = ...,
    contexts: Literal[False] = ...,
    name: str | None = ...,
    revision: str | None = ...,
    device: Literal["auto", "cpu", "cuda"] = ...,
    dtype: Literal["float32", "bfloat16", "float16"] = ...,
    fast: bool = ...,
) -> Model: ...
@overload
def encode(
    words: Iterable[str] | Query | Sequence[Query],
    encoder: Any = ...,
    *,
    templates: Sequence[str] | str | None = ...,
    pool: Pool | None = ...,
    layer: int = ...,
    contexts: Literal[True],
    name: str | None = ...,
    revision: str | None = ...,
    device: Literal["auto", "cpu", "cuda"] = ...,
    dtype: Literal["float32", "bfloat16", "float16"] = ...,
    fast: bool = ...,
) -> ContextualVectors: ...
@checked_keywords()
def encode(
    words: Iterable[str] | Query | Sequence[Query],
    encoder: Any = "all-minilm-l6-v2",
    *,
    templates: Sequence[str] | str | None = None,
    pool: Pool | None = None,
    layer: int = -1,
    contexts: bool = False,
    name: str | None = None,
    revision: str | None = None,
    device: Literal["auto", "cpu", "cuda"] = "auto",
    dtype: Literal["float32", "bfloat16", "float16"] = "float32",
    fast: bool = False,
) -> Model | ContextualVectors:
    """Encode words in sentences, or sentences, as a model of vectors.

    All metrics, debias methods and tests for word vectors accept the model. The extra `language` is needed.

    Parameters
    ----------
    words
        Words or sentences; or one or more queries, or a study (`open_study`), for the words of its queries.
    encoder
        - a folder in the format of transformers (config.json, model.safetensors, a tokenizer's files) with an
          encoder, a masked or a causal model; a name on Hugging Face's hub, "owner/name", or of a shipped
          encoder, which is fetched with a notice if it is missing; a pair (model, tokenizer) of transformers
          in memory;
        - an object with `encode(list of texts) -> array`, such as a sentence-transformers model, or with MTEB's
          protocol (its `encode` has a parameter `task_metadata`);
        - a function: list of texts -> array (texts, dimensions).
    templates
        The sentences in which a word is encoded: texts with `{}` in its place, or the name of a file in
        data/templates, such as "bleached". None encodes the words alone, for example if they are sentences.
    pool
        How a word's vector is computed, as a mean over the templates: "word", the mean state of its tokens;
        "sentence", the mean state of all tokens; "first", the state of the first token, as SEAT does for BERT;
        "last", the state of the last token, as SEAT does for GPT. None is "word", or "sentence" for objects
        and functions, which allow only this.
    layer
        The layer whose states are used: 0 for the token embeddings, 1 for the first layer; negative numbers
        count from the end.
    contexts
        Whether to keep a vector per word and template, for `metrics.ceat`, instead of their mean.
    name
        The model's name; None for the encoder's name.
    revision
        For a name on the hub: a commit, a branch or a tag; None for the branch "main", whose commit is recorded.
    device, dtype, fast
        As in `language_model`: where and in which precision a network computes, and whether a vector's last
        digits may depend on the other texts in its batch.

    Returns
    -------
    Model or ContextualVectors
        Vectors in memory, float32 (words, dimensions), or with `contexts` (words, templates, dimensions). It
        does not contain words without a token in the encoder.

    Raises
    ------
    InputError
        No words, or an option that is not allowed.
    NetworkError
        The encoder cannot be fetched.
    BiasgridError
        A package of the extra is missing, or the folder does not contain an encoder.

    Examples
    --------
    >>> import biasgrid
    >>> model = biasgrid.encode(["nurse", "engineer", "he", "she"], templates="bleached")  # doctest: +SKIP
    >>> model.vectors(["he", "she"]).shape  # doctest: +SKIP
    (2, 384)
    """
    texts = _texts(words)
    if pool is not None:
        choice("pool", pool, POOLS)
    choice("device", device, DEVICES)
    choice("dtype", dtype, DTYPES)
    if isinstance(layer, bool) or not isinstance(layer, int):
        raise InputError(not_allowed("layer", layer, "whole numbers"))
    in_templates = Templates.of(templates)
    number = in_templates.contexts if contexts else 1
    label, encodes = _open(encoder, revision, {"device": device, "dtype": dtype, "fast": fast})
    pooled = pool or (WORD if isinstance(encodes, Encoder) else SENTENCE)
    vectors_by_text = encode_texts(encodes, texts, in_templates, pooled, layer, contexts)
    if not vectors_by_text:
        raise InputError(f"{label}: has no piece of any of these words")
    label, vectors = name or label, np.array(list(vectors_by_text.values()))
    if contexts:
        return ContextualVectors.of(
            list(vectors_by_text), vectors.reshape(len(vectors_by_text), number, -1), name=label
        )
    return MemoryModel.of(list(vectors_by_text), vectors, name=label)


def _texts(words: Any) -> list[str]:
    if (study := getattr(words, "study", None)) is not None:  # a grid, or a finished study
        words = list(study.queries.values())
    if isinstance(words, str) or not isinstance(words, (Query, Iterable)):
        raise InputError(f"{quote(words)}: expected a list of words, or queries")
    entries = [words] if isinstance(words, Query) else list(words)
    queries = [query for query in entries if isinstance(query, Query)]
    of_queries = (s for query in queries for s in (*query.target_sets, *query.attribute_sets))
    texts: list[Any] = [word for s in of_queries for word in s.words] if queries else entries
    if not texts or (queries and len(queries) < len(entries)):
        raise InputError("expected at least one word; or queries alone")
    for text in texts:
        if not isinstance(text, str) or not text:
            raise InputError(f"{quote(text)} is no word; expected a list of words, or queries")
    return texts


def _open(encoder: Any, revision: str | None, options: Mapping[str, Any]) -> tuple[str, Encodes]:
    """Return the name of an encoder, and the object that encodes."""
    if revision is not None and not is_hub_name(encoder):
        raise InputError("revision: is for a name on a hub, owner/name")
    if isinstance(encoder, tuple) and len(encoder) == 2:
        refuse_options(options, "a model in memory", allowed={"fast"})
        label = type(encoder[0]).__name__
        return label, Encoder(in_memory(*encoder, where=label), fast=options["fast"])
    if isinstance(encoder, (str, os.PathLike)):
        label, folder = _find_folder(encoder, revision)
        return label, open_encoder(folder, options)
    if hasattr(encoder, "encode") or callable(encoder):
        refuse_options(options, "an object" if hasattr(encoder, "encode") else "a function")
        label = getattr(encoder, "__name__", type(encoder).__name__)
        return label, FunctionEncoder(encoder, label)
    raise InputError(
        "encoder: expected a folder, a name, a pair (model, tokenizer), an object with encode(texts), or a function, "
        f"not {quote(encoder)}"
    )


def _find_folder(encoder: str | os.PathLike[str], revision: str | None) -> tuple[str, Path]:
    """Return the name of an encoder, and its folder."""
    if not os.fspath(encoder):
        raise InputError("encoder: is an empty text; expected a folder or a name")
    if is_hub_name(encoder):
        from .hub import fetch_hub_model

        return str(encoder), fetch_hub_model(str(encoder), revision)
    path = Path(os.fspath(encoder)).expanduser()
    if path.is_dir():
        return path.resolve().name, path
    encoders = read_yaml(resource("config/encoders.yaml"))
    if str(encoder) not in encoders:
        raise InputError(f"{path}: no such folder, and {unknown_name('encoder', str(encoder), encoders)}")
    return str(encoder), fetch_archive(str(encoder), encoders[str(encoder)], str(encoder))
