"""Benchmark files: how they are read, and how their words are looked up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..embeddings.store import DebiasedModel, EmbeddingStore
from ..errors import BiasgridError
from ..words import Preprocessor, WordOptions, find


def word_pairs(path: str) -> list[tuple[str, str, float]]:
    """Word, word and the rating that people gave. Lines that begin with # are comments.

    Raises BiasgridError for a line that is none of these and for a file without pairs.
    """
    pairs = []
    for number, line in _lines(path):
        if line.startswith("#"):
            continue
        try:
            a, b, rating = line.split("\t")
            if not math.isfinite(float(rating)):
                raise ValueError
        except ValueError:
            raise BiasgridError(
                f"{path}: line {number}: {line!r} is not word, word and rating with tabs between"
            ) from None
        pairs.append((a, b, float(rating)))
    if not pairs:
        raise BiasgridError(f"{path}: has no word pairs")
    return pairs


def questions(path: str) -> list[tuple[str, tuple[str, str, str, str]]]:
    """Section and the words a, b, c, d of "a is to b as c is to d".

    Raises BiasgridError for a line that is not four words, one before the first section, a file without questions.
    """
    found, section = [], None
    for number, line in _lines(path):
        if line.startswith(":"):
            section = line.lstrip(": ").strip()
            continue
        words = tuple(line.split())
        if section is None or len(words) != 4:
            what = "four words" if section is not None else "a section such as ': family'"
            raise BiasgridError(f"{path}: line {number}: {line!r} is not {what}")
        found.append((section, words))
    if not found:
        raise BiasgridError(f"{path}: has no questions")
    return found


def sembias(path: str) -> list[list[tuple[str, str]]]:
    """The four pairs of each instance. Raises BiasgridError for a line that is not four pairs a:b between tabs."""
    instances = []
    for number, line in _lines(path):
        pairs = [tuple(pair.split(":")) for pair in line.split("\t")]
        if len(pairs) != 4 or any(len(pair) != 2 or not all(pair) for pair in pairs):
            raise BiasgridError(f"{path}: line {number}: {line!r} is not four pairs a:b with tabs between")
        instances.append(pairs)
    if not instances:
        raise BiasgridError(f"{path}: has no instances")
    return instances


def look_up(
    model: EmbeddingStore | DebiasedModel,
    words: Iterable[str],
    preprocessors: Sequence[Preprocessor] = ({},),
    how: str = "preprocessors",
) -> dict[str, tuple[str, int]]:
    """Vocabulary entry and row of the words that the model has.

    how  "preprocessors": the first variant of a word that the model has, as metrics look words up; or "gensim":
         whichever word comes first in the model of those that differ in case only, as in gensim's evaluations. That
         is the most frequent one, "Bird" or "bird", where the model is ordered by frequency, and else an accident
    """
    words = list(dict.fromkeys(words))
    if how == "preprocessors":
        found = find("benchmark", words, model, WordOptions(preprocessors=tuple(preprocessors))).found
        entries = {word: entry for word, (entry, *_) in found.items()}
    else:
        forms: dict[str, str | None] = {word.upper(): None for word in words}
        for entry in model.words():
            form = entry.removeprefix(model.vocab_prefix).upper()
            if form in forms and forms[form] is None and entry.startswith(model.vocab_prefix):
                forms[form] = entry
        entries = {word: forms[word.upper()] for word in words if forms[word.upper()] is not None}
    rows = model.rows(list(entries.values())).tolist()
    return {word: (entry, row) for (word, entry), row in zip(entries.items(), rows, strict=True)}


def _lines(path: str) -> Iterable[tuple[int, str]]:
    """Lines that are not empty, with their numbers."""
    scheme, _, name = path.partition(":")
    if scheme == "gensim":
        from gensim.test.utils import datapath

        place = Path(datapath(name))
    else:
        place = Path(path)
    try:
        text = place.read_text(encoding="utf-8")
    except OSError as error:
        raise BiasgridError(f"{path}: cannot read it: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BiasgridError(f"{path}: not a text file in UTF-8: {error}") from None
    return [(number, line.rstrip()) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
