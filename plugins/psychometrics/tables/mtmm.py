"""Table of the multitrait-multimethod matrix (Campbell, Fiske 1959).

The matrix shows whether metrics and models agree on each trait of words, and distinguish the traits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgrid.measure.results import results
from biasgrid.measure.word_order import HALVES
from biasgrid.tables.inputs import sample_files
from biasgrid.tables.table import Column, Files, Table
from biasgrid.tables.word_scores import spec_of, word_scores

from ..correlation import correlation_matrix

if TYPE_CHECKING:
    import pandas as pd

    from biasgrid.queries.query import WordSet
    from biasgrid.tables.planned import Cell, Planned

# A correlation needs at least this number of words.
FEWEST = 10
RELIABILITY, VALIDITY, SAME_METHOD, NEITHER = BLOCKS = (
    "reliability",
    "same trait",
    "same method",
    "neither",
)
# A metric and a model.
Method = tuple[str, str]
# Trait -> method -> word -> number.
Numbers = dict[str, dict[Method, dict[str, float]]]


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Make one row per set of words and pair of variables. A variable is a trait and a method.

    Parameters
    ----------
    inputs
        "cells" and "inferences": the files of the cells and of their inferences.
    spec
        "traits": a list of [set, trait, [[criterion, (sub-)query], ...]], the first trait of a set first. "words":
        see `word_scores.spec_of`.
    """
    of_words = {(criterion, metric): entry for criterion, metric, entry in spec["words"]}
    places = {
        (*query, name): trait for name, trait, queries in spec["traits"] for query in map(tuple, queries)
    }
    numbers: dict[str, Numbers] = {name: {} for name, *_ in spec["traits"]}
    for name, trait, _ in spec["traits"]:
        numbers[name][trait] = {}
    for (criterion, query, metric, model, debias), _, result in results(inputs["cells"]):
        if debias != "none" or not (entry := of_words[criterion, metric]):
            continue
        for name, scores in word_scores(result, entry).items():
            if trait := places.get((criterion, query, name)):
                listed = {
                    word: scores.get(entries[0], math.nan) for word, entries in result["found"][name].items()
                }
                known = {word: score for word, score in listed.items() if math.isfinite(score)}
                numbers[name][trait][metric, model] = known
    reliabilities = {
        (places[criterion, query, part["set"]], metric, model, part["set"]): part["value"]
        for (criterion, query, metric, model, debias), _, result in results(inputs["inferences"])
        if debias == "none"
        for part in result.get("reliability", ())
        if (criterion, query, part["set"]) in places
        and part["value"] is not None
        # Leave out split halves, because they are not a sum over items and may be missing.
        and part["coefficient"] != HALVES
    }
    rows: list[dict[str, Any]] = []
    for name, of_set in numbers.items():
        rows += [{"set": name} | row for row in _rows(of_set, reliabilities, name)]
    return TABLE.finish(rows)


def _rows(numbers: Numbers, reliabilities: Mapping[tuple, float], name: str) -> Iterator[dict[str, Any]]:
    methods = sorted(set.intersection(*(set(of_trait) for of_trait in numbers.values())))
    by_method = [[numbers[trait][method] for trait in numbers] for method in methods]
    words = (
        sorted(set.intersection(*(set(scores) for parts in by_method for scores in parts))) if methods else []
    )
    if len(words) < FEWEST:
        return
    values = np.array([[[scores[word] for word in words] for scores in parts] for parts in by_method])
    kept: list[int] = []
    for i, (_, model) in enumerate(methods):
        # Leave out metrics that score words like an earlier one, as effect sizes and their unscaled scores do.
        others = [values[j] for j in kept if methods[j][1] == model]
        if np.ptp(values[i], axis=1).all() and not any(_same(values[i], other) for other in others):
            kept.append(i)
    if len(kept) < 2:
        return
    variables = [(trait, *methods[i]) for i in kept for trait in numbers]
    matrix, low, high = correlation_matrix(values[kept].reshape(len(variables), -1))
    traits = len(numbers)
    for i, j in np.argwhere(np.tri(len(variables))).tolist():
        first, second = variables[j], variables[i]
        row = {"words": len(words), **_names(first, ""), **_names(second, "other_")}
        if i == j:
            yield row | {"block": RELIABILITY, "correlation": reliabilities.get((*first, name), math.nan)}
            continue
        row |= {"correlation": matrix[i, j], "ci_low": low[i, j], "ci_high": high[i, j]}
        same_trait, same_method = first[0] == second[0], first[1:] == second[1:]
        if not same_trait:
            yield row | {"block": SAME_METHOD if same_method else NEITHER}
            continue
        others = [k for k in range(traits) if k != i % traits]
        a, b = j - j % traits, i - i % traits
        # Compare with absolute values of the others, because the direction of a trait is arbitrary.
        across = [abs(matrix[x]) for k in others for x in ((i, a + k), (b + k, j))]
        within = [abs(matrix[x]) for k in others for x in ((i, b + k), (j, a + k))]
        above = {
            "above_other_methods": float(np.mean(matrix[i, j] > np.array(across))),
            "above_same_method": float(np.mean(matrix[i, j] > np.array(within))),
        }
        yield row | {"block": VALIDITY} | above


def _names(variable: tuple[str, str, str], prefix: str) -> dict[str, str]:
    return {
        f"{prefix}{name}": value for name, value in zip(("trait", "metric", "model"), variable, strict=True)
    }


def _same(first: np.ndarray, second: np.ndarray) -> bool:
    return all(np.corrcoef(a, b)[0, 1] > 1 - 1e-9 for a, b in zip(first, second, strict=True))


def traits_of(study: Planned) -> list[list[Any]]:
    """Return each set of words with two traits or more: its name, the trait, and the (sub-)queries of the trait.

    A (sub-)query is [criterion, name]. A trait is a pair of groups. No two traits of a set share a word, because
    shared words would correlate them. If traits share a word, only the first in the config is used.
    """
    taken: dict[str, tuple[WordSet, dict[str, tuple[frozenset, dict[tuple[str, str], None]]]]] = {}
    for cell in _questions(study).values():
        for query, groups, words in _sides(study, cell):
            trait = " – ".join(group.name for group in groups)
            of_trait = frozenset(word for group in groups for word in group.words)
            for of_set in words:
                first, traits = taken.setdefault(of_set.name, (of_set, {}))
                others = [of_other for name, (of_other, _) in traits.items() if name != trait]
                if of_set.words == first.words and not any(of_trait & of_other for of_other in others):
                    traits.setdefault(trait, (of_trait, {}))[1][cell.criterion, query] = None
    return [
        [name, trait, [list(query) for query in queries]]
        for name, (_, traits) in taken.items()
        if len(traits) > 1
        for trait, (_, queries) in traits.items()
    ]


def _questions(study: Planned) -> dict[tuple[str, str, str], Cell]:
    """Return a cell for each criterion, query and metric that scores words; the model does not matter."""
    entries = {(criterion, metric) for criterion, metric, entry in spec_of(study) if entry}
    return {
        (cell.criterion, cell.query, cell.metric): cell
        for cell in study.grid.cells.values()
        if cell.debias == "none" and (cell.criterion, cell.metric) in entries
    }


def _sides(study: Planned, cell: Cell) -> Iterator[tuple[str, Sequence[WordSet], Sequence[WordSet]]]:
    """Yield the (sub-)queries of a cell with two groups: name, groups, and the sets whose words are scored."""
    metric = study.metric(cell.criterion, cell.metric)
    for query in study.queries[cell.query].subqueries(metric.template):
        sides = query.target_sets, query.attribute_sets
        groups, words = sides if metric.groups == "targets" and metric.template != (2, 2) else sides[::-1]
        if len(groups) == 2:
            yield query.name, groups, words


def cells_with_traits(study: Planned) -> list[Cell]:
    """Return the cells whose queries ask for one of the traits."""
    asked = {(criterion, query) for *_, queries in traits_of(study) for criterion, query in queries}
    places = {
        place
        for place, cell in _questions(study).items()
        if any((cell.criterion, q) in asked for q, *_ in _sides(study, cell))
    }
    return [
        cell
        for cell in study.grid.cells.values()
        if cell.debias == "none" and (cell.criterion, cell.query, cell.metric) in places
    ]


def _inputs(study: Planned) -> dict[str, Any]:
    cells = set(cells_with_traits(study))
    return {"inferences": sample_files(study, lambda cell: cell in cells)["inferences"]} if cells else {}


TABLE = Table(
    "mtmm",
    "Rows per set of words and two numbers of them, each of a trait (a pair of groups) and a method (a metric on a "
    "model): the multitrait-multimethod matrix.",
    (
        Column("set", "whose words, of sets with 10 or more that all numbers have"),
        Column("trait", "the pair of groups; no two of a set share a word"),
        Column("metric", "the metric's key in the config; of metrics that score words alike, the first"),
        Column("model", "the model's key in the config"),
        Column("other_trait", "of the other number"),
        Column("other_metric", "of the other number"),
        Column("other_model", "of the other number"),
        Column(
            "block",
            "what the two share: `same trait`, by another method (validity); `same method`, of another trait; "
            "`neither`; of a number with itself, its `reliability` (alpha)",
            values=BLOCKS,
        ),
        Column.count("words", "words that all numbers of the set have"),
        Column(
            "correlation",
            "Pearson's; positive: words nearer to the first group of one are nearer to that of the other; of "
            "`reliability`, alpha of the order of the words (reliability.csv), empty where there is none",
            "number",
            range=(-math.inf, 1),
        ),
        Column.correlation(
            "ci_low", "lower end of its 95 % interval over words (Fisher's, longer for heavy tails)"
        ),
        Column.correlation("ci_high", "its upper end"),
        Column.share(
            "above_other_methods",
            "of `same trait`: the share of the `neither` coefficients of its trait and methods that it is above; "
            "these count by size, as which way a trait points is a choice",
        ),
        Column.share("above_same_method", "the same of the `same method` coefficients"),
    ),
    reads=("cells",),
    when="reliability and bootstrap",
    inputs=_inputs,
    spec=lambda study: {"words": spec_of(study), "traits": traits_of(study)},
    make=make,
    cells=cells_with_traits,
)
TABLES = (TABLE,)
