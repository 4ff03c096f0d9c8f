"""`load`: a model from whatever a user has it in."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast, overload

import numpy as np
from numpy.typing import NDArray

from ..config.shipped import shipped_models
from ..embeddings.corpus.corpus import Corpus
from ..embeddings.language.contextual import KIND as CONTEXTUAL
from ..embeddings.language.contextual import ContextualVectors
from ..embeddings.language.model import KIND as LANGUAGE_MODEL
from ..embeddings.language.model import LanguageModel
from ..embeddings.memory import MemoryModel
from ..embeddings.model import Model
from ..embeddings.readers import convert, suffixless
from ..embeddings.store import MODEL, EmbeddingStore
from ..embeddings.store_of import open_folder
from ..embeddings.subwords import SubwordModel, Subwords
from ..errors import InputError, quote, unknown_name
from .corpora import corpus_of
from .language_models import language_model_of, model_of_scores
from .shipped import by_name
from .temporary import working_folder

KINDS = ("vectors", "corpus", LANGUAGE_MODEL, CONTEXTUAL)
LISTED = "a path, a model's name, gensim's or Flair's vectors, a DataFrame, a mapping word -> vector, (words, array)"


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
) -> Model: ...
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
) -> Model | Corpus | LanguageModel | ContextualVectors:
    """A model of word vectors, from a file, an object in memory, or by name; or a corpus, or a language model.

    Parameters
    ----------
    source
        - a path: a store's folder, or a file or folder of any format (`biasgrid list formats`): word2vec, GloVe and
          fastText as text or binary, Facebook's fastText .bin, what gensim saves (.kv, .model), .npz, spaCy;
        - a model's name, such as "glove-6b-50d", or one of gensim-data, such as "glove-twitter-25": fetched when it
          is missing, after saying so. An existing path of that name comes first;
        - gensim's KeyedVectors, FastTextKeyedVectors, Word2Vec and FastText; WEFE's WordEmbeddingModel; Flair's
          WordEmbeddings;
        - a pandas DataFrame (index: words), a mapping word -> vector, or a pair (words, array);
        - a biasgrid model, which is returned as it is;
        - of a corpus: its folder, its name, such as "brown", a file of text with a sentence on each line (.gz and
          .zip, too), or a list of sentences;
        - of a language model: its folder, its name, such as "smollm2-135m", a .gguf file, a folder with the
          model.safetensors, config.json and tokenizer.json of a BERT, or a mapping sentence -> score, measured
          elsewhere (docs/language_models.md);
        - of words in contexts: a mapping word -> its vector in each context, or a pair (words, array of the shape
          (words, contexts, dimensions)).
    kind
        What a file or a list is read as: "vectors"; "corpus", in which words are counted (docs/corpora.md);
        "language_model", which scores sentences; or "contextual_vectors", several of each word. None for vectors; a
        model's folder and name are of the kind that they are.
    name
        What to call the model; None for the object's or the file's name.
    format
        Of a file: None to tell it from the content. Of a corpus: "text" (None), "tokens", or "tagged". Of a language
        model: "llama-gguf", "bert", or "scores"; None to tell it from the files.
    sha256
        Of a file and what is read with it (docs/data.md), which must match.
    trust_pickle
        Read a pickle (.kv, .model) without `sha256`. No code of it is run either way.
    vocab_prefix
        What stands before every word in the vocabulary, such as "/c/en/".
    subwords
        Give words that are not in the vocabulary a vector made of their n-grams, as fastText does. For fastText .bin
        files, gensim's FastText files and objects.

    Returns
    -------
    Model, Corpus, LanguageModel or ContextualVectors
        Look words up with `model["he"]`, measure with `metrics.weat(query, model)`. Vectors are float32. What is in
        memory is copied. A file is converted into a temporary store, which is removed when the model is gone: a model
        takes disk in place of memory. All models can be pickled; a file's pickle, as long as the model lives.

    Raises
    ------
    InputError
        The source is of no known kind, or an option does not fit it.
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
    for option, value in {
        "name": name,
        "format": format,
        "sha256": sha256,
        "vocab_prefix": vocab_prefix,
    }.items():
        if value is not None and not isinstance(value, str):
            raise InputError(f"{option}: expected a text, not {quote(value)}")
    if kind not in (None, *KINDS):
        raise InputError(f"kind: {unknown_name('value', kind, KINDS)}")
    if kind == "corpus":
        return _corpus(source, name, format, sha256, trust_pickle or vocab_prefix or subwords)
    if kind == LANGUAGE_MODEL:
        return _language_model(source, name, format, sha256, trust_pickle or vocab_prefix or subwords)
    if kind == CONTEXTUAL:
        _refuse("vectors in contexts", format, sha256, vocab_prefix, subwords)
        return _contextual(source, name)
    if isinstance(source, (str, os.PathLike)):
        path = Path(os.fspath(source)).expanduser()
        if not os.fspath(source):  # a path would take it for the working directory
            raise InputError("the source is an empty text; expected a file, a folder, or a model's name")
        if _exists(path):
            return _from_path(
                path,
                name,
                subwords,
                {
                    "format": format,
                    "sha256": sha256,
                    "trust_pickle": trust_pickle,
                    "vocab_prefix": vocab_prefix,
                },
            )
        _refuse("a model that is loaded by its name", format, sha256, vocab_prefix, subwords)
        if not isinstance(source, str) or path.name != source:
            raise InputError(f"{path}: no such file or folder")
        return by_name(source, name)
    if format is not None or sha256 is not None:
        raise InputError("format and sha256 are for files, and this model is in memory: leave them out")
    if isinstance(source, Model):
        if name is not None or vocab_prefix or subwords:
            raise InputError(
                f"{source.name}: is a biasgrid model already: name, vocab_prefix and subwords are for others"
            )
        return source
    return _from_object(source, name, vocab_prefix, subwords)


def _corpus(
    source: Any, name: str | None, format: str | None, sha256: str | None, vector_options: Any
) -> Corpus:
    if vector_options:
        raise InputError("trust_pickle, vocab_prefix and subwords are for vectors, and this is a corpus")
    if isinstance(source, Corpus):
        return source
    if isinstance(source, (list, tuple)):
        return corpus_of(source, name, format)
    if not isinstance(source, (str, os.PathLike)):
        raise InputError(
            f"{quote(source)} is no corpus; allowed: a path, a corpus' name, a list of sentences"
        )
    path = Path(os.fspath(source)).expanduser()
    if not os.fspath(source):
        raise InputError("the source is an empty text; expected a file of text, or a corpus' name")
    if isinstance(source, str) and path.name == source and not _exists(path):
        model: Any = by_name(source, name)
        if not isinstance(model, Corpus):
            raise InputError(f"{source}: is a model of vectors, and no corpus")
        return model
    return corpus_of(path, name, format, sha256)


def _language_model(
    source: Any, name: str | None, format: str | None, sha256: str | None, vector_options: Any
) -> LanguageModel:
    if vector_options:
        raise InputError(
            "trust_pickle, vocab_prefix and subwords are for vectors, and this is a language model"
        )
    if isinstance(source, LanguageModel):
        return source
    if isinstance(source, Mapping):
        _refuse("scores that are in memory", format, sha256, "", False)
        return model_of_scores(source, name or "measured")
    if not isinstance(source, (str, os.PathLike)) or not os.fspath(source):
        raise InputError(
            f"{quote(source)} is no language model; allowed: a path, a language model's name, a mapping sentence -> "
            "score"
        )
    path = Path(os.fspath(source)).expanduser()
    if isinstance(source, str) and path.name == source and not _exists(path):
        if (
            source in shipped_models() and shipped_models()[source].get("kind") != LANGUAGE_MODEL
        ):  # before it is fetched
            raise InputError(f"{source}: is no language model")
        model: Any = by_name(source, name)
        if not isinstance(model, LanguageModel):
            raise InputError(f"{source}: is no language model")
        return model
    return language_model_of(path, name, format, sha256)


def _contextual(source: Any, name: str | None) -> ContextualVectors:
    if isinstance(source, ContextualVectors):
        return source
    if isinstance(source, (str, os.PathLike)):
        return ContextualVectors.open(Path(os.fspath(source)).expanduser(), name)
    if isinstance(source, Mapping):
        source = list(source), list(source.values())
    if not _is_pair(source):
        raise InputError(
            f"cannot load {type(source).__name__} {quote(source):.60} as {CONTEXTUAL}; allowed: a folder, a mapping "
            "word -> vectors, (words, array)"
        )
    words, vectors = _read_pair(source)
    return ContextualVectors.of(words, vectors, name=name or "model")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:  # too long for a name
        raise InputError(f"{quote(str(path))}: no such file or folder: {error.strerror}") from None


def _refuse(what: str, format: str | None, sha256: str | None, vocab_prefix: str, subwords: bool) -> None:
    options = {"format": format, "sha256": sha256, "vocab_prefix": vocab_prefix, "subwords": subwords}
    if wrong := [option for option, value in options.items() if value]:
        raise InputError(f"{wrong[0]}: is not for {what}; leave it out")


def _from_path(path: Path, name: str | None, subwords: bool, options: dict[str, Any]) -> Model:
    if (path / MODEL).exists():
        _refuse("a store", options["format"], options["sha256"], options["vocab_prefix"], subwords)
        return cast(Model, open_folder(path, name))
    with working_folder(" (set TMPDIR to use a different folder)") as folder:
        convert(path, folder.path / "store", name=name or suffixless(path), subwords=subwords, **options)
        store = EmbeddingStore.open(folder.path / "store", keeper=folder)
        return SubwordModel(store, Subwords.open(store.path)) if subwords else store


def _from_object(source: Any, name: str | None, prefix: str, subwords: bool) -> Model:
    if hasattr(source, "check_model"):
        raise InputError("a transform is no model: put it over one with model.under(transform)")
    # WEFE's model has a gensim one in wv, as gensim's own whole models do
    name = name or _text(getattr(source, "name", None))
    prefix = prefix or _text(getattr(source, "vocab_prefix", None)) or ""
    vectors = getattr(source, "wv", None)
    if vectors is None:  # Flair's, of fastText or before 0.12
        vectors = getattr(source, "precomputed_word_embeddings", source)
    name = name or type(source).__name__
    words = next(
        (getattr(vectors, key) for key in ("index_to_key", "index2word") if hasattr(vectors, key)), None
    )
    ngrams = getattr(vectors, "vectors_ngrams", None)
    if subwords and ngrams is None:
        raise InputError(f"{name}: has no n-grams: subwords=True is for fastText models")
    if words is not None and hasattr(vectors, "vectors"):
        model = MemoryModel.of(words, np.asarray(vectors.vectors), name=name, vocab_prefix=prefix)
        if not subwords:
            return model
        return SubwordModel(model, Subwords(np.array(ngrams, dtype=np.float32), vectors.min_n, vectors.max_n))
    for kind, read in READ.items():
        if kind(source):
            words, array = read(source)
            name = (
                "model"
                if isinstance(source, (Mapping, tuple, list)) and name == type(source).__name__
                else name
            )
            return MemoryModel.of(words, array, name=name, vocab_prefix=prefix)
    if isinstance(source, np.ndarray):
        raise InputError("an array has no words: give load((words, array))")
    raise InputError(f"cannot load {type(source).__name__} {quote(source):.60}; allowed: {LISTED}")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _is_frame(source: Any) -> bool:
    return all(hasattr(source, attribute) for attribute in ("index", "columns", "to_numpy"))


def _is_flair(source: Any) -> bool:
    return isinstance(getattr(source, "vocab", None), Mapping) and hasattr(
        getattr(source, "embedding", None), "weight"
    )


def _is_pair(source: Any) -> bool:
    return isinstance(source, (tuple, list)) and len(source) == 2 and not isinstance(source[0], str)


def _read_frame(frame: Any) -> tuple[Sequence[str], NDArray[Any]]:
    try:
        # of pandas' own types and of objects, too
        plain = len(set(map(str, frame.dtypes))) == 1 and isinstance(frame.dtypes.iloc[0], np.dtype)
        return list(frame.index), _array(frame.to_numpy(dtype=None if plain else np.float64))
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"the DataFrame has a column that is not of numbers: {error!s:.100}") from None


def _read_flair(embeddings: Any) -> tuple[Sequence[str], NDArray[Any]]:
    # behind the words' rows is one for unknown words
    rows = embeddings.embedding.weight.detach().cpu().numpy()
    return list(embeddings.vocab), rows[list(embeddings.vocab.values())]


def _read_mapping(vectors: Mapping[str, Any]) -> tuple[Sequence[str], NDArray[Any]]:
    if not vectors:
        raise InputError("the mapping is empty: expected word -> vector")
    first = np.asarray(next(iter(vectors.values())))
    for word, vector in vectors.items():
        shape = np.shape(vector)
        if len(shape) != 1 or shape != first.shape:
            raise InputError(
                f"the vector of {quote(word)} has shape {shape}: expected numbers, as many as the first word's "
                f"{first.shape}"
            )
    return list(vectors), _array(list(vectors.values()))


def _read_pair(pair: Sequence[Any]) -> tuple[Sequence[str], NDArray[Any]]:
    try:
        words = list(pair[0])
    except TypeError:
        raise InputError(f"a pair is (words, array), and {quote(pair[0])} is no list of words") from None
    return words, _array(pair[1])


def _array(vectors: Any) -> NDArray[Any]:
    try:
        array = np.asarray(vectors)
        if array.dtype.kind == "c":
            raise TypeError("complex numbers")
        return array if array.dtype.kind in "fiu" else array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"vectors: expected numbers, (words, dimensions): {error!s:.100}") from None


READ: dict[Callable[[Any], bool], Callable[[Any], tuple[Sequence[str], NDArray[Any]]]] = {
    _is_frame: _read_frame,
    _is_flair: _read_flair,
    lambda source: isinstance(source, Mapping): _read_mapping,
    _is_pair: _read_pair,
}
