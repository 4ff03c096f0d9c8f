"""Reliability of the order of words: would other items (seed pairs, words of the groups) order them alike?

The subjects are the words that a metric scores, the items are the words by which it scores them. Words are compared
within one set at a time: a difference between two sets is the quantity that a metric like WEAT measures, and would
count as reliability.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..metrics.registry import Detail
from ..models.kinds import REGISTRY as KINDS
from ..models.words import WordVectors
from .bootstrap import digest
from .candidate_words import Pool
from .group_draws import WITHIN
from .metric_input import MetricInput
from .significance.random_groups import batches_for, draws_for
from .statistics.internal_consistency import (
    UNCORRELATED,
    Split,
    all_splits,
    alpha,
    correlations,
    count_splits,
    random_split,
    split_half,
)

FEWEST_WORDS = 5
NO_WORDS = "no score per word"
NO_SUM = "not a sum over items"
FEW_ITEMS = "fewer than 2 items"
FEW_WORDS = f"fewer than {FEWEST_WORDS} words"
ALIKE = "words do not differ"
# Largest number of items for a metric that trains a classifier on them, one per half.
MOST_ITEMS = 200
MANY_ITEMS = f"a classifier of more than {MOST_ITEMS} items"
NO_HALF = "a half of the items has no score"
NO_GROUPS = "too few random groups are as coherent as the items"
ALPHA, HALVES = "alpha", "split-half"


def word_order(
    sample: MetricInput, seed: int, pool: Pool | None, *, splits: int, random_groups: int
) -> list[dict[str, Any]]:
    """Measure how reliably a metric orders the words of each set, by the items on the other side.

    Parameters
    ----------
    sample
        A sample with a value.
    seed
        Seed of the draws, together with the items' words. Splits are the same for all models with the words.
    pool
        Pool from which random groups are drawn.
    splits
        Largest number of splits of the items into halves: all splits, or this number of random ones if there are
        more.
    random_groups
        Number of draws of random groups, each as coherent as the list of items that it replaces (`match: within`),
        if a word's number is a sum over items.

    Returns
    -------
    list of dict
        Each has these entries:

        - "set": its name; "" for all sets together, each about its own mean.
        - "coefficient": "alpha" for a sum over one list of items, otherwise "split-half".
        - "value", with "low" and "high", a 95 % interval; NaN for the reason in "note".
        - "mc_error": for "split-half", the standard error of "value" from drawing splits; 0 for all splits.
        - "percentile": share of random groups whose coefficient is lower; NaN without random groups.
        - "words": number of subjects.
        - "items": number of items of all lists together; pairs count once.
        - "note": reason for a missing value, or a limitation of the value.
    """
    metric = sample.request.metric
    if not metric.scored_by[0]:
        return [_row(note=metric.item_note or NO_WORDS)]
    of_attributes = metric.groups == "targets"
    sets, lists = sample.targets, sample.attributes
    if of_attributes:
        sets, lists = lists, sets
    weights, scores = _by_item(sample, lists, [s.vectors for s in lists]) if metric.by_item else ([], [])
    if scores:
        sizes = [table.shape[1] for table in scores[0]]
        coefficient = ALPHA if len(sizes) == 1 else HALVES
    elif KINDS[metric.needs].random_groups and not metric.of_model:
        in_pairs = metric.paired and of_attributes
        sizes = [len(s.vectors) for s in (lists[:1] if in_pairs else lists)]
        coefficient = HALVES
    else:
        return [_row(note=metric.item_note or NO_SUM)]
    items = sum(sizes)
    if min(sizes) < 2:
        return [_row(coefficient=coefficient, items=items, note=FEW_ITEMS)]
    if not scores and metric.halved and items > MOST_ITEMS:
        return [_row(coefficient=coefficient, items=items, note=MANY_ITEMS)]
    drawn = None
    if pool and random_groups and scores:
        drawn = _scores_by_random_groups(sample, lists, pool, random_groups, seed)
    are_all = count_splits(sizes) <= splits
    if coefficient == HALVES:
        drawn_splits = all_splits(sizes) if are_all else _random_splits(lists, sizes, splits, seed)
        if scores:
            drawn = drawn and [_means_by_halves(draw, weights, drawn_splits) for draw in drawn]
            scores = _means_by_halves(scores, weights, drawn_splits)
        else:
            scores = _scores_by_halves(sample, sets, lists, drawn_splits)
    groups = [(s.name, [place]) for place, s in enumerate(sets)]
    if len(sets) > 1:
        groups.append(("", [*range(len(sets))]))
    notes = [metric.item_note, NO_GROUPS if drawn == [] else ""]
    rows = []
    for name, places in groups:
        row = {"set": name, "coefficient": coefficient, "items": items}
        row["words"] = sum(len(sets[place].vectors) for place in places)
        if row["words"] < FEWEST_WORDS:
            rows.append(_row(**row, note=FEW_WORDS))
            continue
        centred = _about_means(scores, places)
        if coefficient == HALVES:
            first, second = (table.T for table in centred)
            estimate: Any = split_half(first, second, items, are_all)
        else:
            estimate = alpha(centred[0])
        if drawn and np.isfinite(estimate.value):
            row["percentile"] = _percentile(centred, [_about_means(draw, places) for draw in drawn])
        numbers = {name: float(x) for name, x in estimate._asdict().items()}
        note = "; ".join(filter(None, notes))
        if numbers.pop("correlation", math.nan) <= 0:
            note = "; ".join(filter(None, (UNCORRELATED, note)))
        elif not np.isfinite(estimate.value):
            note = ALIKE if all(np.isfinite(table).all() for table in centred) else NO_HALF
        rows.append(_row(**row, **numbers, note=note))
    return rows


def _by_item(
    sample: MetricInput, lists: Sequence[WordVectors], vectors: list[np.ndarray]
) -> tuple[list[float], list[list[np.ndarray]]]:
    """Return the weight of each list of items, and for each set the tables of its words' numbers by each list's
    items.

    `vectors` replace the lists' vectors. Both results are empty if a number is not a sum over these items.
    """
    by_item = sample.request.metric.by_item
    assert by_item
    arguments = {**sample.request.parameters, **sample.model_arguments}
    sides = (sample.vectors[0], vectors) if lists is sample.attributes else (vectors, sample.vectors[1])
    tables = by_item(*sides, **arguments)
    weights = [weight for weight, _ in tables[0]] if tables else []
    return weights, [[table for _, table in of_set] for of_set in tables]


def _percentile(tables: Sequence[np.ndarray], drawn: Sequence[Sequence[np.ndarray]]) -> float:
    """Return the share of draws whose alpha, or mean correlation of halves, is lower."""

    def consistency(tables: Sequence[np.ndarray]) -> float:
        if len(tables) == 1:
            return float(alpha(tables[0]).value)
        return float(correlations(tables[0].T, tables[1].T).mean())

    return float((np.array([consistency(draw) for draw in drawn]) < consistency(tables)).mean())


def _about_means(scores: Sequence[Sequence[np.ndarray]], places: Sequence[int]) -> list[np.ndarray]:
    """Centre each set's items on their means over its words, and concatenate the words of several sets, by list of
    items."""
    return [
        np.concatenate([table - table.mean(axis=0) for table in tables])
        for tables in zip(*(scores[place] for place in places), strict=True)
    ]


def _scores_by_random_groups(
    sample: MetricInput, lists: Sequence[WordVectors], pool: Pool, draws: int, seed: int
) -> list[list[list[np.ndarray]]]:
    """Return the tables of `_by_item` for each draw of random groups in place of the lists; empty if most draws
    fail."""
    whole = sample.whole
    word_sets = whole.target_sets if lists is sample.attributes else whole.attribute_sets
    group_draws = draws_for(sample, lists, word_sets, pool, seed, WITHIN)
    if isinstance(group_draws, str):
        return []
    batch, is_kept = batches_for(sample, pool, group_draws)(0, draws)
    if is_kept.sum() < draws / 2:
        return []
    return [
        _by_item(sample, lists, [batch.words.vectors[places] for places in draw])[1]
        for draw in zip(*(group[is_kept] for group in batch.places), strict=True)
    ]


def _means_by_halves(
    scores: Sequence[Sequence[np.ndarray]], weights: Sequence[float], splits: Sequence[Split]
) -> list[list[np.ndarray]]:
    """Score the words of each set, from their numbers by item, by both halves of each list: (words, splits)."""

    def mean(tables: Sequence[np.ndarray], half: int) -> np.ndarray:
        parts = []
        for weight, table, places in zip(weights, tables, _places(splits, half), strict=True):
            share = np.zeros((len(splits), table.shape[1]))
            np.put_along_axis(share, places, weight / places.shape[1], axis=1)
            parts.append(table @ share.T)
        return np.sum(parts, axis=0)

    return [[mean(tables, half) for half in (0, 1)] for tables in scores]


def _places(splits: Sequence[Split], half: int) -> list[np.ndarray]:
    """Return the places of one half's items in each list: (splits, items of the half)."""
    return [np.stack([split[half] for split in of_list]) for of_list in zip(*splits, strict=True)]


def _random_splits(lists: Sequence[WordVectors], sizes: Sequence[int], splits: int, seed: int) -> list[Split]:
    """Draw splits of the lists of items; lists in pairs are one list (`sizes`)."""
    rngs = [np.random.default_rng([seed, digest(s.keys), 4]) for s in lists[: len(sizes)]]
    return [random_split(sizes, rngs) for _ in range(splits)]


def _scores_by_halves(
    sample: MetricInput, sets: Sequence[WordVectors], lists: Sequence[WordVectors], splits: Sequence[Split]
) -> list[list[np.ndarray]]:
    """Score the words of each set by one half of each list of items, and by the other: (words, splits)."""
    metric = sample.request.metric
    # Split lists in pairs alike.
    splits = [split * len(lists) if len(split) < len(lists) else split for split in splits]
    if metric.redrawn_words:
        items, words = ([s.vectors for s in of_side] for of_side in (lists, sets))
        starts = np.cumsum([0, *map(len, items[:-1])])
        by_half = [
            metric.redrawn_words(
                np.concatenate(items),
                [start + places for start, places in zip(starts, _places(splits, half), strict=True)],
                words,
                **sample.request.parameters,
            )
            for half in (0, 1)
        ]
        return [[table.T for table in tables] for tables in zip(*by_half, strict=True)]
    arguments = {**sample.request.arguments, **metric.halved}
    halves: list[list[list[np.ndarray]]] = [[], []]
    for split in splits:
        for number, half in enumerate(halves):
            parts = [s.vectors[places[number]] for s, places in zip(lists, split, strict=True)]
            sides = (sample.vectors[0], parts) if lists is sample.attributes else (parts, sample.vectors[1])
            details = metric.function(*sides, **arguments).detail
            half.append(_numbers(details.get(metric.scored_by[0]), metric.scored_by[1], sets))
    return [
        [np.stack([of_split[place] for of_split in half], axis=1) for half in halves]
        for place in range(len(halves[0][0]))
    ]


def _numbers(detail: Detail | None, selection: str, sets: Sequence[WordVectors]) -> list[np.ndarray]:
    """Return the number of each word of each set (`Metric.scored_by`); NaN if a half is not scored."""
    if detail is None:
        return [np.full(len(s.vectors), np.nan) for s in sets]
    return [_SELECTIONS[selection](np.asarray(values)) for values in detail.values]


_SELECTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "": lambda values: values,
    "first": lambda values: values[:, 0],
    "mean": lambda values: values.mean(axis=1),
    "difference": lambda values: values[:, 0] - values[:, 1],
}


def _row(**values: Any) -> dict[str, Any]:
    empty = {"set": "", "coefficient": "", "value": math.nan, "low": math.nan, "high": math.nan}
    empty |= {"mc_error": math.nan, "percentile": math.nan}
    return {**empty, "words": 0, "items": 0, "note": "", **values}
