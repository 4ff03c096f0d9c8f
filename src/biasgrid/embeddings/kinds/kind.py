"""What a kind of model is: how a folder of it is made and opened, and what can be done with it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import InputError, quote
from ...validation import Strict

VECTORS = "vectors"  # the kind of a model whose config names none


@dataclass(frozen=True)
class Kind:
    """A kind of model: what a metric's `needs` names.

    An open model of any kind has `name`, `vocab_prefix` and `metadata` (its folder's model.json), and the two methods
    that words are looked up with: `rows(words)`, the row of each word as int64 (n,), -1 where the model lacks it; and
    `take(words, rows)`, an array (n, ...) of float64 with whatever the kind knows of each word: vectors, counts,
    scores. A metric's function takes such arrays, one for each set. It may have `fold(word)`: what a word is looked
    up as, such as itself in lower case.

    Parameters
    ----------
    name
        What configs and metrics call it.
    meaning
        What such a model is, in a sentence.
    open
        The folder -> the model; with a second argument, named so. Raises BiasgridError for a folder that is none of
        the kind.
    make
        What makes the folder, as "module:function", so that to open a model needs none of it: (archive, folder, *,
        name, model, metadata), `model` being the model's entry in a config and `metadata` entries of model.json. For
        a model that is trained from given weights on, `start` is where these are.
    load
        What `biasgrid.load` calls for what is no folder of a model yet, as "module:function": (source, name), and as
        keywords those of its options `format`, `sha256`, `trust_pickle`, `vocab_prefix`, `subwords`, `limit` and
        `broken_words` that it has; others are refused. `source` is the `Path` of a file or folder that exists, or an
        object; `name` is None where none was given. Files are made in a `embeddings.temporary.working_folder`. Raises
        BiasgridError for what is no such model. Empty: only the folder and the name of one are opened.
    examine
        What looks into a file or folder before a model is made of it, as "module:function": (path, format) -> the
        name of its format, where `format` is None unless a config names it. Little is read. Raises BiasgridError,
        as `make` would, for a path that is missing, or of no such model. Empty: nothing is looked into.
    formats
        What its files may be in: name -> meaning; None for the formats of vectors (`embeddings.readers`).
    former_formats
        Names that formats had before, which are still read.
    section
        The keys of a model's entry in a config that only this kind has, all of which may be left out (None). Whoever
        changes one has another model.
    fetched
        Whether it is made of an archive that is fetched, or of a file.
    algorithms
        What trains such a model here (`type: trained`).
    encoded
        Whether an encoder makes it of a study's words (`type: encoded`).
    text
        Whether it is a text: models are trained on it, it can be shuffled, and counts in it are what vectors are
        compared with.
    is_model
        Whether it is a `Model`: debias methods are fitted on it, evaluations ask it, and its words have one vector
        each.
    random_groups
        Whether groups of words can be drawn from it that are as coherent as a query's: it is a `Model`, or has an
        `array` of vectors.
    counts
        Whether every such model has `counts`: how often the word of each row occurs in a corpus, int64 (rows,). A
        model of another kind may have them, too, or None.
    complete
        Whether a word that such a model lacks has a known value: a word that is not in a text occurs zero times,
        where one without a vector may have any. Then no set with at least one word has lost too many
        (`WordOptions.lost_vocabulary_threshold`).
    scores
        Whether such a model scores texts (`score`): a study does so in a step of its own, once for all cells of a
        query.
    called
        What a message calls one, such as "language model"; left out: the name.
    first_metrics
        The metrics of the config that `biasgrid init` writes, as configs have them.
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
    algorithms: tuple[str, ...] = ()
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
        """Make the folder from what a source fetched, and open it."""
        _function(self.make)(archive, folder, **settings)
        return self.open(folder)

    @property
    def has_vectors(self) -> bool:
        """Return whether metrics of such a model measure distances of vectors."""
        return self.random_groups or self.encoded

    @property
    def loader(self) -> Callable[..., Any]:
        """The function that `load` names."""
        return _function(self.load) if self.load else self._no_loader

    def check_file(self, path: Path, format: str | None = None) -> str | None:
        """Return the format of a file or folder of such a model; None if the kind looks into none (`examine`)."""
        return _function(self.examine)(path, format) if self.examine else None

    def _no_loader(self, source: Any, name: str | None = None) -> Any:
        raise InputError(f"{quote(source)} is no {self.noun}; allowed: the folder of one, or its name")

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of its section."""
        return tuple(self.section.model_fields)

    @property
    def noun(self) -> str:
        """What one is called."""
        return self.called or self.name


def _function(place: str) -> Callable[..., Any]:
    """The function that "module:name" stands for."""
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function
