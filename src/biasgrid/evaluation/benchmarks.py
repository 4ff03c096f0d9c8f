"""Files of benchmarks, and the look-up of their words."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..core.errors import BiasgridError
from ..core.extras import require
from ..models.store import DebiasedModel, EmbeddingStore
from ..models.words import entries_of
from .spec import Spec


def look_up(
    model: EmbeddingStore | DebiasedModel, words: Iterable[str], options: Spec
) -> dict[str, tuple[str, int]]:
    """Look words up and return the vocabulary entry and row of each word that the model has.

    With `options.look_up` "preprocessors", it is the first form of a word that the model has, as in metrics. With
    "gensim", it is the first of the model's words that differ only in case, as in gensim's evaluations. In a model
    ordered by frequency, this is the most frequent of them, such as "Bird" or "bird"; in other models it is
    arbitrary.
    """
    words = list(dict.fromkeys(words))
    if options.look_up == "preprocessors":
        return entries_of(words, model, options.preprocessors)
    forms: dict[str, str | None] = {word.upper(): None for word in words}
    for entry in model.words():
        form = entry.removeprefix(model.vocab_prefix).upper()
        if form in forms and forms[form] is None and entry.startswith(model.vocab_prefix):
            forms[form] = entry
    entries = {word: found for word in words if (found := forms[word.upper()]) is not None}
    rows = model.rows(list(entries.values())).tolist()
    return {word: (entry, row) for (word, entry), row in zip(entries.items(), rows, strict=True)}


def lines(path: str) -> list[tuple[int, str]]:
    """Read the non-empty lines of a file, with their numbers; "gensim:NAME" is a file that gensim ships.

    Raises BiasgridError for a file that cannot be read or is not text in UTF-8.
    """
    scheme, _, name = path.partition(":")
    if scheme == "gensim":
        require("gensim", f"the benchmark {path}")
        from gensim.test.utils import datapath

        place = Path(datapath(name))
    else:
        place = Path(path)
    try:
        text = place.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BiasgridError(f"{path}: cannot read it: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BiasgridError(f"{path}: not a text file in UTF-8: {error}") from None
    return [(number, line.rstrip()) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
