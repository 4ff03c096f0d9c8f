"""What a kind of model is: how a folder of it is made and opened, and what can be done with it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    formats
        What its files may be in: name -> meaning; None for the formats of vectors (`embeddings.readers`).
    keys
        Keys of a model's entry in a config that only this kind has.
    random_groups
        Whether groups of words can be drawn from it that are as coherent as a query's: it is a
        `Model`, or has an `array` of vectors.
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
    """

    name: str
    meaning: str
    open: Callable[..., Any]
    make: str
    formats: Mapping[str, str] | None = None
    keys: tuple[str, ...] = ()
    random_groups: bool = False
    counts: bool = False
    complete: bool = False
    scores: bool = False

    def build(self, archive: Path, folder: Path, **settings: Any) -> Any:
        """Make the folder from what a source fetched, and open it."""
        module, _, name = self.make.partition(":")
        getattr(importlib.import_module(module), name)(archive, folder, **settings)
        return self.open(folder)
