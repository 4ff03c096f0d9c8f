"""Loading of models from files, names and objects: `load`.

This module recognises the source (a path, a name, a model, another object) for all types of models. The model
type reads it (`Kind.load`).
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from ..core.errors import InputError, quote, unknown_name
from ..core.keywords import checked_keywords
from ..core.resources import did_you_mean_file
from .kinds import REGISTRY, VECTORS, Kind, kind_of
from .load_vectors import with_words
from .memory import check_in_memory
from .readers import check_options
from .shipped import by_name, shipped
from .store_of import MODEL, open_folder

if TYPE_CHECKING:
    from .corpus.corpus import Corpus
    from .language.contextual import ContextualVectors
    from .language.model import LanguageModel
    from .model import Model

OF_FILES = "format", "sha256", "limit", "broken_words"  # options that apply only to files
# Suffixes of files; a name that ends in one is not a name on a hub.
FILE_SUFFIXES = (".bin", ".csv", ".gguf", ".gz", ".json", ".safetensors", ".txt", ".vec", ".zip")


@overload
def load(
    source: Any,
    *,
    kind: Literal["corpus"],
    name: str | None = None,
    format: str | None = None,
    sha256: str | None = None,
) -> Corpus: ...
@overload
def load(
    source: Any,
    *,
    kind: Literal["language_model"],
    name: str | None = None,
    format: str | None = None,
    sha256: str | None = None,
) -> LanguageModel: ...
@overload
def load(
    source: Any, *, kind: Literal["contextual_vectors"], name: str | None = None
) -> ContextualVectors: ...
@overload
def load(
    source: Any,
    *,
    kind: Literal["vectors"] | None = None,
    name: str | None = None,
    format: str | None = None,
    sha256: str | None = None,
    trust_pickle: bool = False,
    vocab_prefix: str = "",
    subwords: bool = False,
    limit: int | None = None,
    broken_words: Literal["replace", "refuse"] = "replace",
    words: Iterable[str] | None = None,
) -> Model: ...
@checked_keywords()
def load(
    source: Any,
    *,
    kind: Literal["vectors", "corpus", "language_model", "contextual_vectors"] | None = None,
    name: str | None = None,
    format: str | None = None,
    sha256: str | None = None,
    trust_pickle: bool = False,
    vocab_prefix: str = "",
    subwords: bool = False,
    limit: int | None = None,
    broken_words: Literal["replace", "refuse"] = "replace",
    words: Iterable[str] | None = None,
) -> Model | Corpus | LanguageModel | ContextualVectors:
    """Load a model of word vectors from a file, an object in memory, or by name; or a corpus or language model.

    Parameters
    ----------
    source
        - a path: a store's folder, or a file or folder of any format (`biasgrid list formats`): word2vec, GloVe and
          fastText as text or binary, Facebook's fastText .bin, gensim's files (.kv, .model), .npz, spaCy;
        - a model's name, such as "glove-6b-50d", or a name in gensim-data, such as "glove-twitter-25", which is
          fetched with a notice if it is missing. An existing path of that name comes first;
        - gensim's KeyedVectors, FastTextKeyedVectors, Word2Vec and FastText; WEFE's WordEmbeddingModel; Flair's
          WordEmbeddings;
        - a pandas DataFrame (index: words), a mapping word -> vector, or a pair (words, array);
        - a torch.nn.Embedding, or an array (words, dimensions), with `words`;
        - a biasgrid model of any type, which is returned unchanged;
        - for a corpus: its folder, its name, such as "brown", a file of text with a sentence on each line (also
          compressed), or a list of sentences;
        - for a language model: its folder, its name, such as "smollm2-135m", a name on a hub, "owner/name", a
          .gguf file, a folder in the format of transformers (config.json, model.safetensors, a tokenizer's
          files), or a mapping sentence -> score, measured elsewhere (docs/language_models.md); `language_model`
          accepts more;
        - for words in contexts: a mapping word -> its vector in each context, or a pair (words, array of the shape
          (words, contexts, dimensions)).
    kind
        The model type of a file or a list: "vectors"; "corpus", for counts of words (docs/corpora.md);
        "language_model", for scores of sentences; "contextual_vectors", for several vectors per word; or a
        plugin's type. None for vectors. The type of a model's folder or name is known.
    name
        The model's name; None for the object's or the file's name.
    format
        For a file: its format; None to detect it from the content. For a corpus: "text" (None), "tokens",
        "commas" or "tagged". For a language model: "transformers", "gguf", or "scores"; None to detect it from
        the files.
    sha256
        The checksum of a file and the files that are read with it (docs/data.md), which must match.
    trust_pickle
        Read a pickle (.kv, .model) without `sha256`. No code in it is run either way.
    vocab_prefix
        The text that precedes every word in the vocabulary, such as "/c/en/".
    subwords
        Whether words outside the vocabulary get a vector from their n-grams, as in fastText; words of queries
        only if the vocabulary lacks all their forms. For fastText .bin files, gensim's FastText files and
        objects, and spaCy's floret vectors.
    limit
        For a file: read only its first `limit` rows. These are the most frequent words if the file is sorted by
        frequency, like files of word2vec, GloVe and fastText. The rest of the file is not read.
    broken_words
        For a file: "replace" puts U+FFFD in place of bytes that are not UTF-8, and a warning counts such words;
        "refuse" raises an error.
    words
        For a torch.nn.Embedding or an array: the word of each row, in order.

    Returns
    -------
    Model, Corpus, LanguageModel or ContextualVectors
        Look words up with `model["he"]`, measure with `metrics.weat(query, model)`. Vectors are float32. Objects in
        memory are copied. A file is converted into a temporary store, which is removed together with the model: a
        model takes disk space instead of memory. All models can be pickled; the pickle of a model from a file is
        valid while the model exists.

    Raises
    ------
    InputError
        The source is of no known type, or an option does not fit it.
    NetworkError
        A model cannot be fetched.
    BiasgridError
        A file is missing, damaged, or of no known format.

    Examples
    --------
    >>> import biasgrid
    >>> model = biasgrid.load({"he": [1.0, 0.0], "she": [0.0, 1.0]}, name="tiny")
    >>> model.vectors(["he", "she"])
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    options: dict[str, Any] = {"format": format, "sha256": sha256, "vocab_prefix": vocab_prefix}
    for option, value in {"name": name, **options}.items():
        if value is not None and not isinstance(value, str):
            raise InputError(f"{option}: expected a text, not {quote(value)}")
    if kind not in (None, *REGISTRY):
        raise InputError(f"kind: {unknown_name('value', kind, REGISTRY)}")
    if words is not None:
        source = with_words(source, words, name)
    wanted = REGISTRY[kind or VECTORS]
    options |= {"subwords": subwords, "trust_pickle": trust_pickle}
    options |= {"limit": limit, "broken_words": broken_words}
    check_options(limit, broken_words)
    defaults = inspect.signature(load).parameters
    given = {option: value for option, value in options.items() if value != defaults[option].default}
    # `trust_pickle` is allowed even if the source does not contain a pickle.
    of_a_file = given.keys() - {"trust_pickle"}
    model: Model
    if isinstance(source, (str, os.PathLike)):
        if not os.fspath(source):  # as a path it would be the working directory
            raise InputError("the source is an empty text; expected a file, a folder, or a model's name")
        path = Path(os.fspath(source)).expanduser()
        if not _exists(path) and is_hub_name(source) and wanted.scores:
            from .hub import fetch_hub_model

            _refuse_options(of_a_file - {"format"}, "a model of a hub")
            model = _read(fetch_hub_model(str(source)), name or str(source), wanted, given)
        elif not _exists(path):
            if not isinstance(source, str) or path.name != source:
                raise InputError(
                    f"{path}: no such file or folder{did_you_mean_file(path)}{_hub_hint(source)}"
                )
            entry = shipped(source, kind)
            _refuse_options(of_a_file, "a model that is loaded by its name")
            if entry is not None:  # check the type before the download
                _check_kind(kind_of(entry).name, wanted, source)
            model = by_name(source, name)
        elif (path / MODEL).exists():
            _refuse_options(of_a_file, "a store")
            model = open_folder(path, name, wanted.name)
        else:
            model = _read(path, name, wanted, given)
    elif _is_model(source):
        check_in_memory(**{option: given[option] for option in given.keys() & OF_FILES})
        if name is not None or vocab_prefix or subwords:
            raise InputError(
                f"{source.name}: is a biasgrid model already: name, vocab_prefix and subwords are for others"
            )
        model = source
    else:
        model = _read(source, name, wanted, given)
    _check_kind(getattr(model, "kind", wanted.name), wanted, source)
    return model


def _read(source: Any, name: str | None, kind: Kind, options: Mapping[str, Any]) -> Any:
    _refuse_options(options.keys() - inspect.signature(kind.loader).parameters.keys(), f"a {kind.noun}")
    return kind.loader(source, name, **options)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:  # too long for a name
        raise InputError(f"{quote(str(path))}: no such file or folder: {error.strerror}") from None


def _is_model(source: Any) -> bool:
    """Return whether an object is an open model of any type."""
    kind = getattr(source, "kind", None)
    return isinstance(kind, str) and kind in REGISTRY and hasattr(source, "rows") and hasattr(source, "take")


def _refuse_options(options: Iterable[str], what: str) -> None:
    for option in sorted(options):
        raise InputError(f"{option}: is not for {what}; leave it out")


def _check_kind(kind: str, wanted: Kind, source: object) -> None:
    """Raise InputError if a source is not of the requested type; a request for vectors accepts every type."""
    if wanted.name not in (VECTORS, kind):
        raise InputError(f"{source}: is no {wanted.noun}; it is of kind {kind}")


def _hub_hint(source: Any) -> str:
    """Return a hint for a message if the source may be a name on a hub."""
    if not is_hub_name(source):
        return ""
    return (
        "; a name on a hub is for metrics of language models (biasgrid list metrics), and for encoders, which make "
        "vectors of words (biasgrid.encode, or type: encoded in a config)"
    )


def is_hub_name(source: Any) -> bool:
    """Return whether a source has the form owner/name of a hub and does not exist on this disk."""
    if not isinstance(source, str) or source.startswith((".", "/", "~")):
        return False
    owner, slash, rest = source.partition("/")
    is_name = bool(slash and owner and rest) and "/" not in rest and not rest.endswith(FILE_SUFFIXES)
    return is_name and not Path(source).exists()
