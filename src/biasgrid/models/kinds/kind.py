"""Kinds of models: how a model's folder is made and opened, and the capabilities of the kind."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...core.errors import InputError, quote
from ...core.validation import Strict

VECTORS = "vectors"  # the default kind


@dataclass(frozen=True)
class Kind:
    """A kind of model, named in a metric's `needs`.

    An open model of any kind has `name`, `vocab_prefix` and `metadata` (its folder's model.json), and two
    methods for looking words up. `rows(words)` returns the row of each word as int64 (n,), -1 for words that
    the model lacks. `take(words, rows)` returns a float64 array (n, ...) with the kind's data on each word:
    vectors, counts or scores. A metric's function takes such arrays, one for each set. A model may have
    `fold(word)`, which is applied to each word before it is looked up, such as lower-casing.

    Parameters
    ----------
    name
        Its name in configs and metrics.
    meaning
        A sentence that describes such a model.
    open
        A function (folder) -> model, or (folder, name) -> model with this name. It raises BiasgridError for a
        folder that is not of this kind.
    make
        The function that makes the folder, as "module:function", so that it is not imported to open a model:
        (archive, folder, *, name, model, metadata). `model` is the model's entry in a config, `metadata`
        entries of model.json. A model that is trained here is made by its algorithm instead.
    load
        The function that `biasgrid.load` calls for a source that is not yet a model's folder, as
        "module:function". It takes (source, name) and, as keywords, the applicable ones of `format`, `sha256`,
        `trust_pickle`, `vocab_prefix`, `subwords`, `limit` and `broken_words`; others are refused.
        `source` is the `Path` of a file or folder that exists, or an object; `name` is None if none was
        given. Files are made in an `models.temporary.working_folder`. It raises BiasgridError if the
        source is not such a model. Empty: only a folder of a model, and its name, can be opened.
    examine
        A function that checks a file or folder before a model is made from it, as "module:function": (path,
        format) -> the name of its format, where `format` is None unless a config names it. It reads little.
        It raises BiasgridError, like `make`, for a path that is missing or not such a model. Empty: files are
        not checked.
    formats
        The allowed formats of its files: name -> meaning; None for the formats of vectors
        (`models.readers`).
    former_formats
        Former names of formats, which are still accepted.
    section
        The keys of a model's entry in a config that only this kind has; all of them are optional (None). A
        change of a key makes a different model.
    fetched
        Whether it is made from an archive that is fetched, or from a file.
    encoded
        Whether an encoder makes it from a study's words (`type: encoded`).
    text
        Whether it is a text: models are trained on it, it can be shuffled, and vectors are compared with
        counts in it.
    is_model
        Whether it is a `Model`: debias methods are fitted on it, evaluations use it, and each word has one
        vector.
    random_groups
        Whether groups of words as coherent as a query's can be drawn from it: it is a `Model`, or has an
        `array` of vectors.
    counts
        Whether every such model has `counts`: how often each row's word occurs in a corpus, int64 (rows,). In
        other kinds, `counts` is optional or None.
    complete
        Whether a missing word has a known value: a word that is not in a text occurs zero times, but a word
        without a vector could have any vector. If so, no set with at least one word exceeds the limit of
        missing words (`WordOptions.lost_vocabulary_threshold`).
    scores
        Whether such a model scores texts (`score`). A study does so in a separate step, once for all scores
        of a query.
    called
        Its name in messages, such as "language model"; `name` by default.
    first_metrics
        The metrics in the config that `biasgrid init` writes, in the form of a config.
    """

    name: str
    meaning: str
    open: Callable[..., Any]
    make: str
    load: str = ""
    examine: str = ""
    formats: Mapping[str, str] | None = None
    former_formats: tuple[str, ...] = ()
    section: type[Strict] = Strict
    fetched: bool = True
    encoded: bool = False
    text: bool = False
    is_model: bool = False
    random_groups: bool = False
    counts: bool = False
    complete: bool = False
    scores: bool = False
    called: str = ""
    first_metrics: Mapping[str, Any] = field(default_factory=dict)

    def build(self, archive: Path, folder: Path, **settings: Any) -> Any:
        """Make the folder from the fetched archive, and open it."""
        _function(self.make)(archive, folder, **settings)
        return self.open(folder)

    @property
    def has_vectors(self) -> bool:
        """Return whether metrics of such a model measure distances of vectors."""
        return self.random_groups or self.encoded

    @property
    def loader(self) -> Callable[..., Any]:
        """Return the function that `load` names."""
        return _function(self.load) if self.load else self._no_loader

    def check_file(self, path: Path, format: str | None = None) -> str | None:
        """Return the format of a file or folder of such a model; None if the kind does not check files."""
        return _function(self.examine)(path, format) if self.examine else None

    def _no_loader(self, source: Any, name: str | None = None) -> Any:
        raise InputError(f"{quote(source)} is no {self.noun}; allowed: the folder of one, or its name")

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the keys of its section."""
        return tuple(self.section.model_fields)

    @property
    def noun(self) -> str:
        """Return the kind's name in messages."""
        return self.called or self.name


def _function(place: str) -> Callable[..., Any]:
    """Import the function named by "module:name"."""
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function
