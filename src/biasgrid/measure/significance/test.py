"""Declaration of a test of significance: its options, its column of p-values, how it runs, and its names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ...core.validation import Strict
from ...metrics.registry import Metric

if TYPE_CHECKING:
    import numpy as np

    from ..permutation import Permutation


class Outcome(NamedTuple):
    """Result of a test for a score.

    Attributes
    ----------
    test
        Its p-value and the values with which it compares the score; or the reason for a missing test, in a
        sentence.
    facts
        Further numbers for the record, JSON-able.
    """

    test: Permutation | str
    facts: Mapping[str, Any] = {}


def _to_all(metric: Metric) -> str:
    return ""


def _bias_of(metric: Metric) -> str:
    return metric.bias


@dataclass(frozen=True)
class Test:
    """Test of significance of a metric's value: one file of this package, or of a plugin.

    Parameters
    ----------
    name
        Name in configs, `measure_grid` and the command line.
    label
        Label on pages and in figures, such as "Random groups".
    drawn
        Values with which it compares the score, in two or three words, for results in Python: "shuffled words".
        Empty: the label.
    noun
        Name of the test after "p-value of the ": "test against random groups".
    column
        Column of its p-value in scores.csv, and attribute of a `Result`.
    options
        Its options, with their limits and defaults; each field describes itself. An `alternative` "bias", if there
        is one, means the alternative that `bias` returns.
    help
        Description of the requested test in calls and commands, after "whether to make ".
    run
        (sample, resampler, pool, seed, **options) -> its result. The pool is None if the model does not have
        vectors.
    question
        Metric -> the question that the test answers about it, in a sentence.
    compared
        Name of the values with which a score is compared, such as "random groups".
    applies
        Metric -> the reason why it cannot have this test, in a sentence; empty if it can.
    counts
        Value of `evidence` for a score for which only this test is significant; empty, as for every plugin's test,
        if the test is not part of `evidence`.
    order
        Position among the tests.
    permutes
        Whether words of the query are exchanged. The test then has the subject of `Metric.test_of`, otherwise
        words.
    pooled
        Whether it draws words from a model's pool (`measure.candidate_words`).
    by_frequency
        Whether it needs the frequencies of words: its options are `options.Frequencies`.
    bias
        Metric -> the alternative that "bias" means.
    simulate
        Function that computes the test's values for random data, by which equal tests are found
        (`families.signature`): (metric, parameters, template, normalize, alternative, trial) -> (draws,), or None.
        Without it, no two metrics' tests are equal.
    """

    name: str
    label: str
    noun: str
    column: str
    options: type[Strict]
    help: str
    run: Callable[..., Outcome]
    question: Callable[[Metric], str]
    compared: str
    applies: Callable[[Metric], str] = _to_all
    drawn: str = ""
    counts: Literal["", "permutation", "groups"] = ""
    order: int = 100
    permutes: bool = False
    pooled: bool = False
    by_frequency: bool = False
    bias: Callable[[Metric], str] = _bias_of
    simulate: Callable[..., np.ndarray | None] | None = None

    @property
    def adjusted(self) -> str:
        """Return the column of its adjusted p-values."""
        return "p_adjusted" if self.column == "p_value" else f"{self.column}_adjusted"

    @property
    def of_words(self) -> bool:
        """Return whether it cannot be applied to sentences."""
        return self.pooled or self.by_frequency

    def label_of(self, metric: Metric) -> str:
        """Return its label for a metric."""
        return self.label if self.family(metric) == "words" else self.label.replace("Permutation", "Label")

    def noun_of(self, metric: Metric) -> str:
        """Return its noun for a metric: a test that permutes a classifier's training labels is a label test."""
        return self.noun if self.family(metric) == "words" else self.noun.replace("permutation", "label")

    def family(self, metric: Metric) -> str:
        """Return its subject, "words" or "labels": p-values with different subjects are adjusted separately."""
        return metric.test_of if self.permutes else "words"
