"""Permutation tests: how often would target words, dealt out to the sets at random, score as they do?

The null hypothesis is that it does not matter which target set a word is in. A partition deals all target words out
to sets of the sizes that the sets have; no word is drawn twice. A word that stands in both sets stays in both: a set
has no word twice.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import chain, combinations
from typing import Any

import numpy as np
from scipy.stats import binomtest, norm

from . import metrics
from .cell import head, model_of
from .errors import BiasgridError
from .files import write_text
from .measure import dumps, look_up, subquery
from .metrics.registry import Metric
from .query import Query
from .study import Inference, Study
from .words import WordOptions

ALTERNATIVES = ("greater", "less", "two-sided")
# labels of partitions that are in memory at a time: 1 MB, of which a metric's function makes 8 MB of float64
BLOCK = 2**20


@dataclass(frozen=True)
class Permutation:
    """The outcome of a permutation test.

    p_value      share of partitions that are at least as extreme as the observed one, which counts as one of them:
                 never 0. NaN where the observed value is
    p_low        ends of the 95 % interval (Clopper & Pearson 1934) of the p-value that all partitions would give,
    p_high       from those that were drawn; of an exact test both are p_value
    p_normal     the tail beyond the observed value of a normal distribution that has the mean and the standard
                 deviation of the partitions' values; NaN where all partitions have one value
    p_lowest     the smallest p_value that this test can give
    method       "exact": of all partitions, each once; "monte_carlo": of partitions drawn at random, independently
    partitions   how many there are
    draws        how many values were computed
    """

    p_value: float
    p_low: float
    p_high: float
    p_normal: float
    p_lowest: float
    alternative: str
    method: str
    partitions: int
    draws: int


def permutation_test(
    statistic: Callable[[np.ndarray], np.ndarray],
    sizes: tuple[int, int],
    shared: Sequence[tuple[int, int]] = (),
    *,
    draws: int = 100_000,
    exact: int = 20_000,
    alternative: str = "greater",
    seed: int | Sequence[int] = 0,
) -> Permutation:
    """Test a statistic of words in two sets, as scipy.stats.permutation_test (permutation_type "independent") does.

    statistic    labels, int8 (partitions, words), 0 or 1 for the set that a word is in -> values (partitions,). The
                 words are those of the first set, then those of the second, `sizes` of them
    shared       pairs of places of a word that stands in both sets; they keep their labels
    exact        all partitions are enumerated where there are at most so many; else `draws` are drawn, and
                 p_value is (k + 1) / (draws + 1)
    alternative  "greater": partitions whose value is at least the observed one are as extreme, "less": at most;
                 "two-sided": twice the smaller of both, at most 1

    Values that agree within rounding (100 units in the last place of the largest, or of 1) count as equal, so that
    the observed partition is as extreme as itself. Raises BiasgridError for an argument that is not allowed.
    """
    _check(draws, exact, alternative)
    first, second = sizes
    labels = np.repeat(np.array([0, 1], dtype=np.int8), sizes)
    free = np.setdiff1d(np.arange(first + second), np.array(shared, dtype=int).ravel())
    members = int(np.count_nonzero(labels[free] == 0))
    partitions = math.comb(len(free), members)
    enumerated = partitions <= exact
    count = partitions if enumerated else draws
    observed = float(statistic(labels[None])[0])
    # values of all, labels of a block: a million partitions of 50 words are 8 MB of values
    values = np.empty(count)
    rng = np.random.default_rng(seed)
    rows = max(1, BLOCK // len(labels))
    for start in range(0, count, rows):
        stop = min(start + rows, count)
        if enumerated:
            dealt = _all_partitions(len(free), members)[start:stop]
        else:
            dealt = rng.permuted(np.tile(labels[free], (stop - start, 1)), axis=1)
        if len(free) < len(labels):
            block = np.tile(labels, (stop - start, 1))
            block[:, free] = dealt
            dealt = block
        values[start:stop] = statistic(dealt)
    p_value = p_low = p_high = p_normal = math.nan
    if math.isfinite(observed) and np.isfinite(values).all():
        p_value, p_low, p_high = _share(values, observed, alternative, not enumerated)
        p_normal = _tail(values, observed, alternative)
    lowest = 1 / (count if enumerated else count + 1)
    return Permutation(
        p_value,
        p_low,
        p_high,
        p_normal,
        min(lowest * (1 + (alternative == "two-sided")), 1.0),
        alternative,
        "exact" if enumerated else "monte_carlo",
        partitions,
        count,
    )


def infer_cell(study: Study, inference: Inference) -> None:
    """Test a cell's metric and write the file of its p-values: like the cell, a pure function of what it is of."""
    cell, spec = inference.cell, json.loads(inference.spec)
    results = infer_query(
        metrics.metric(spec["metric"]),
        Query.read(study.query_file(cell.query)),
        model_of(study, cell),
        spec["params"],
        WordOptions(**spec["words"]),
        spec["seed"],
        **spec["permutation"],
    )
    record = head(cell, spec) | {"permutation": spec["permutation"], "results": results}
    write_text(study.inference_file(inference), dumps(record, separators=(",", ":")) + "\n")


def infer_query(
    metric: Metric,
    query: Query,
    model: Any,
    parameters: Mapping[str, Any],
    words: WordOptions,
    seed: int,
    **permutation: Any,
) -> list[dict[str, Any]]:
    """The permutation test of each sub-query of the metric's template: its name, status ("ok" or as `measure` has it)
    and the fields of `Permutation`, None where they are NaN.

    Raises BiasgridError for a metric that has no test, and for words of strategy "all", whose forms would be dealt
    out as if they were independent words.
    """
    if metric.permuted is None:
        raise BiasgridError(f"{metric.name}: there is no permutation test of this metric")
    if words.strategy == "all":
        raise BiasgridError(
            f"{metric.name}: a permutation test deals out words, not their forms: it needs strategy 'first', "
            "not 'all'"
        )
    found = look_up(metric, query, model, words)
    results = []
    for place, part in enumerate(query.subqueries(metric.template)):
        targets, attributes, status = subquery(metric, part, found, words)
        record = {"query": part.name, "status": status}
        if status == "ok":
            first, second = targets
            entries = {key: row for row, key in enumerate(first.keys)}
            shared = [
                (entries[key], len(first.keys) + row) for row, key in enumerate(second.keys) if key in entries
            ]
            with np.errstate(all="ignore"):
                statistic = metric.permuted(
                    np.concatenate([first.vectors, second.vectors]),
                    [s.vectors for s in attributes],
                    **parameters,
                )
                tested = permutation_test(
                    statistic,
                    (len(first.keys), len(second.keys)),
                    shared,
                    seed=[seed, place],
                    **permutation,
                )
            record |= {
                name: None if isinstance(value, float) and math.isnan(value) else value
                for name, value in asdict(tested).items()
            }
        results.append(record)
    return results


@lru_cache(maxsize=4)
def _all_partitions(words: int, members: int) -> np.ndarray:
    """Labels (partitions, words) of every choice of `members` words for the first set; many cells share it."""
    count = math.comb(words, members)
    chosen = np.fromiter(
        chain.from_iterable(combinations(range(words), members)), np.intp, count * members
    ).reshape(count, members)
    labels = np.ones((count, words), dtype=np.int8)
    np.put_along_axis(labels, chosen, 0, axis=1)
    labels.setflags(write=False)
    return labels


def _share(values: np.ndarray, observed: float, alternative: str, drawn: bool) -> tuple[float, float, float]:
    """The p-value and the ends of its interval."""
    tolerance = _rounding(values, observed)
    greater = int(np.count_nonzero(values >= observed - tolerance))
    less = int(np.count_nonzero(values <= observed + tolerance))
    reached = {"greater": greater, "less": less, "two-sided": min(greater, less)}[alternative]
    n, sides = len(values), 2 if alternative == "two-sided" else 1
    p = low = high = reached / n
    if drawn:
        p = (reached + 1) / (n + 1)
        low, high = binomtest(reached, n).proportion_ci(0.95, "exact")
    return tuple(min(sides * float(share), 1.0) for share in (p, low, high))


def _tail(values: np.ndarray, observed: float, alternative: str) -> float:
    spread = values.std()
    if not spread > _rounding(values, observed):
        return math.nan
    z = (observed - values.mean()) / spread
    tails = {"greater": norm.sf(z), "less": norm.cdf(z), "two-sided": 2 * norm.sf(abs(z))}
    return float(tails[alternative])


def _rounding(values: np.ndarray, observed: float) -> float:
    # not of the observed value, as scipy has it: sums of numbers around 1 may cancel to one near 0
    return 100 * np.finfo(float).eps * max(np.abs(values).max(), abs(observed), 1.0)


def _check(draws: int, exact: int, alternative: str) -> None:
    for name, value, least in (("draws", draws, 1), ("exact", exact, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise BiasgridError(
                f"{name}: {value!r} is not allowed; allowed are whole numbers from {least} on"
            )
    if alternative not in ALTERNATIVES:
        raise BiasgridError(
            f"alternative: {alternative!r} is not known; allowed are {', '.join(ALTERNATIVES)}"
        )
