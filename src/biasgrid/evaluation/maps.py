"""Maps of words: t-SNE in two dimensions (van der Maaten & Hinton 2008)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, ValidationInfo, model_validator

from ..core.errors import BiasgridError
from ..core.validation import Strict, field
from ..debias.lookup import find_words
from ..models.store import DebiasedModel, EmbeddingStore
from .evaluation import Evaluation, Outcome
from .facts import directions
from .spec import List, SomeWords, Spec

PERPLEXITY = 30.0
# Beginning of the side of a word that is on a map because of its rank.
RANKS = "vocabulary, ranks"


def is_ranks(side: str) -> bool:
    """Return whether the side of a word means that it is on a map because of its rank."""
    return side.startswith(f"{RANKS} ")


def _check_ranks(ranks: tuple[int, ...]) -> tuple[int, ...]:
    if len(ranks) != 2 or not 1 <= ranks[0] <= ranks[1]:
        raise BiasgridError(f"{list(ranks)!r:.80} is not a first and a last rank, such as [200, 600]")
    return ranks


class WordMap(Strict):
    """Map of sets of words."""

    sets: Mapping[str, SomeWords] = field(
        "set's name -> words; a word in several sets is on the map as one of the first", {}
    )
    ranks: Annotated[tuple[int, ...], List, AfterValidator(_check_ranks)] | None = field(
        "[first, last]: also the words of these ranks in the model, counted from 1, in the order of its vectors, "
        "which is that of frequency in most models",
        None,
        "rank",
    )

    @model_validator(mode="after")
    def _has_words(self) -> WordMap:
        if not self.sets and not self.ranks:
            raise BiasgridError("names no sets and no ranks: there is nothing to place")
        return self


def _check_sorted(spec: WordMap, info: ValidationInfo) -> WordMap:
    if spec.ranks and info.data.get("sorted") is False:
        raise BiasgridError("ranks: the model's words are not sorted by frequency, they have no ranks")
    return spec


class Places(Strict):
    """Map in a record: words, the side or set of each, and its position."""

    words: list[str]
    side: list[str]
    xy: list[Annotated[tuple[float, float], List]]

    @model_validator(mode="after")
    def _are_of_words(self) -> Places:
        if not len(self.words) == len(self.side) == len(self.xy):
            raise BiasgridError("has not as many sides and places as words")
        return self


def measure(
    model: EmbeddingStore, state: EmbeddingStore | DebiasedModel, spec: WordMap, options: Spec, seed: int
) -> Outcome:
    """Map the words of sets, and words of some ranks of the model (see `word_map`).

    Missing words are left out, and a word, or one that shares its vector, is on the map once.
    """
    sides: dict[int, tuple[str, str]] = {}
    for side, words in spec.sets.items():
        lookup = find_words(model, words, f"sets: {side}", options.preprocessors)
        for entry, row in zip(lookup.words, lookup.rows.tolist(), strict=True):
            sides.setdefault(row, (entry, side))
    if spec.ranks:
        first, last = spec.ranks
        entries, rows = state.vocabulary(last)
        for entry, row in zip(entries[first - 1 :], rows[first - 1 :].tolist(), strict=True):
            sides.setdefault(row, (entry, f"{RANKS} {first} to {last}"))
    entries = [entry for entry, _ in sides.values()]
    names = [entry.removeprefix(state.vocab_prefix) for entry in entries]
    rows = np.array(list(sides), dtype=np.int64)
    points = word_map(state, names, entries, rows, [side for _, side in sides.values()], seed)
    return Outcome(entries={"set_map": points})


def word_map(
    state: EmbeddingStore | DebiasedModel,
    names: Sequence[str],
    entries: Sequence[str],
    rows: np.ndarray,
    sides: Sequence[str],
    seed: int,
) -> dict[str, list]:
    """Compute t-SNE in two dimensions of words at unit length: the `names` of vocabulary entries and their rows
    (n,).

    Return "words", the "side" of each, and its "xy". Distances are meaningful, directions and units are not. Words
    whose vectors are zero or not finite are left out; with fewer than eight words, the map is empty.
    """
    vectors, has_direction = directions(state.take(entries, rows))
    places = np.flatnonzero(has_direction)
    if len(places) < 8:
        return {"words": [], "side": [], "xy": []}
    # Import scikit-learn late: the config's checks import this file and do not draw anything.
    from sklearn.manifold import TSNE

    perplexity = min(PERPLEXITY, (len(places) - 1) / 3)
    tsne = TSNE(2, perplexity=perplexity, init="pca", random_state=seed)
    xy = tsne.fit_transform(vectors[places]).astype(np.float64).round(3)
    chosen = places.tolist()
    return {"words": [names[i] for i in chosen], "side": [sides[i] for i in chosen], "xy": xy.tolist()}


EVALUATIONS = (
    Evaluation(
        "map",
        "Map of word sets in two dimensions (t-SNE).",
        Annotated[WordMap, AfterValidator(_check_sorted)],
        measure,
        entries={"set_map": Places},
        imports=("sklearn.manifold",),
        order=2,
    ),
)
