"""What a metric is, and the list of all of them.

A metric is one file in this package. It holds a function of arrays and a module-level `METRICS` tuple that says
what the function needs (template), where its values lie (range), what "no bias" is (neutral value) and where it was
published. Putting the file here is all it takes: the grid, the tables and the command line find it by itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ..errors import BiasgridError


@dataclass(frozen=True)
class Detail:
    """Values per word: one array for each set of that role, row i belonging to word i of the set.

    `columns` names the second axis of two-dimensional arrays.
    """

    role: Literal["target", "attribute"]
    values: list[np.ndarray]
    columns: list[str] | None = None


@dataclass(frozen=True)
class Score:
    """What a metric function returns. `value` is NaN where the metric is undefined for these vectors."""

    value: float
    scalars: dict[str, float] = field(default_factory=dict)
    detail: dict[str, Detail] = field(default_factory=dict)


@dataclass(frozen=True)
class Metric:
    """A metric as the grid sees it.

    function   (targets, attributes, **parameters) -> Score; each set is a float64 array (words, dimensions)
    template   how many target and attribute sets it takes; "n" is any number from one on
    range      the closed interval its values lie in
    neutral    the value that means no bias; rankings go by the distance from it
    paired     its target sets are lists of pairs: word i of one belongs to word i of the others
    seeded     it draws at random and takes a `seed` parameter
    resampled  how the value changes when words are exchanged, drawn again or left out, for many such samples at once:
               (words, attributes, **parameters) -> statistic. `words` are those of all target sets, one set after the
               other, (n, dimensions), `attributes` likewise (m, dimensions). `statistic(targets, attributes)` takes
               weights to values (samples,): one array (samples, n) a target set, one (samples, m) an attribute set,
               how often each word stands in the set; an array of one row is the same for all samples. Of a metric of
               pairs, a pair stands in the sample with one word in either set. None: `function` is called sample by
               sample, which is slow
    exchanged  what a permutation test exchanges between sets: "targets", words of the target sets; "pairs", the two
               words of a pair; "attributes", words of the attribute sets. Left out, "pairs" for a metric of pairs,
               else "targets"
    no_test    why no exchange of words makes a test of this metric, in a sentence; empty where one does
    check      called with all parameters before anything is measured; raises BiasgridError for a wrong value
    reference  the paper and equation it is written from
    """

    name: str
    label: str
    function: Callable[..., Score]
    template: tuple[int | Literal["n"], int | Literal["n"]]
    range: tuple[float, float]
    neutral: float
    reference: str
    paired: bool = False
    seeded: bool = False
    resampled: Callable[..., Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]] | None = None
    exchanged: Literal["targets", "pairs", "attributes", ""] = ""
    no_test: str = ""
    check: Callable[..., None] | None = None

    def __post_init__(self):
        if not self.exchanged:
            object.__setattr__(self, "exchanged", "pairs" if self.paired else "targets")

    @property
    def bias(self) -> Literal["greater", "less", "two-sided"]:
        """Which values are more biased, as an alternative of a test: where the neutral value is an end of the range,
        those towards the other end; else those on both sides."""
        low, high = self.range
        return {low: "greater", high: "less"}.get(self.neutral, "two-sided")

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameter -> default, without the seed."""
        signature = inspect.signature(self.function).parameters.values()
        return {p.name: p.default for p in signature if p.kind is p.KEYWORD_ONLY and p.name != "seed"}

    def check_parameters(self, given: Mapping[str, Any], others: Sequence[str] = ()) -> None:
        """Raises BiasgridError for a parameter that the metric does not have, or a value that it cannot take.

        `others` are the names that are allowed where these were given, but are none of the metric's.
        """
        for name in given:
            if name not in self.parameters:
                allowed = ", ".join([*self.parameters, *others]) or "none"
                raise BiasgridError(f"{self.name} has no parameter {name!r}; allowed are: {allowed}")
        if self.check:
            self.check(**{**self.parameters, **given})

    def __call__(
        self,
        query,
        model,
        *,
        seed: int = 0,
        permutation: Mapping[str, Any] | None = None,
        bootstrap: Mapping[str, Any] | None = None,
        sensitivity: Mapping[str, Any] | None = None,
        interval: str = "jackknife",
        **options,
    ):
        """Measure a query of this metric's template on a model; see `biasgrid.measure.measure`.

        `options` are the metric's parameters and those of the word look-up (biasgrid.words.WordOptions).
        `permutation`, `bootstrap` and `sensitivity`, each a mapping of options ({}: the defaults), ask for the
        result's `p_value`, `ci_low` and `ci_high` (`interval`: "jackknife", "percentile" or "bca") and `inference`;
        see `biasgrid.inference.infer_query`.
        """
        # imported late: measure.py and inference need this module
        from ..measure import measure, split_options

        parameters, words = split_options(self, options)
        if not query.exactly(self.template):
            raise BiasgridError(
                f"{self.name} has template {self.template} and query {query.name!r} {query.template}; "
                f"take its sub-queries: query.subqueries({self.template})"
            )
        results = measure(self, query, model, parameters, words, seed)
        asked = {"permutation": permutation, "bootstrap": bootstrap, "sensitivity": sensitivity}
        if any(part is not None for part in asked.values()):
            from ..inference.results import inferred

            results = inferred(results, self, query, model, parameters, words, seed, asked, interval)
        return results[0]


def one_by_one(
    metric: Metric, words: np.ndarray, attributes: np.ndarray, parameters: Mapping[str, Any], seed: int = 0
) -> Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]:
    """What `Metric.resampled` gives, for a metric that has none: its function on each sample's words."""
    options = {**parameters, **({"seed": seed} if metric.seeded else {})}
    pairs = max(len(words) // 2, 1)

    def rows(weights: np.ndarray, sample: int) -> np.ndarray:
        return np.repeat(np.arange(weights.shape[1]), weights[sample % len(weights)].astype(int))

    def target_rows(weights: np.ndarray, sample: int) -> np.ndarray:
        chosen = rows(weights, sample)
        # the pairs' order, whichever of its words a pair has in this set
        return chosen[np.argsort(chosen % pairs, kind="stable")] if metric.paired else chosen

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        return np.array(
            [
                metric.function(
                    [words[target_rows(weights, sample)] for weights in targets],
                    [attributes[rows(weights, sample)] for weights in attribute_weights],
                    **options,
                ).value
                for sample in range(max(map(len, targets + attribute_weights)))
            ]
        )

    return statistic
