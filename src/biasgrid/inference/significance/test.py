"""What a test of inference is: its options, its p-value's column, how it is made, and how people call it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ...metrics.registry import Metric
from ...validation import Strict

if TYPE_CHECKING:
    import numpy as np

    from ..permutation import Permutation


class Outcome(NamedTuple):
    """What a test says of a score.

    test   its p-value and the values that it compares the score with; or why there is none, in a sentence
    facts  further numbers for the record, as JSON has them
    """

    test: Permutation | str
    facts: Mapping[str, Any] = {}


def _to_all(metric: Metric) -> str:
    return ""


def _bias_of(metric: Metric) -> str:
    return metric.bias


@dataclass(frozen=True)
class Test:
    """A test of significance of a metric's value: one file of this package, or of a plugin.

    Parameters
    ----------
    name
        As configs, `measure_grid` and the command line have it.
    label
        What pages and figures call it, such as "Random groups".
    drawn
        What it compares the score with, in two or three words, as a result in Python says it: "shuffled words".
        Empty: the label.
    noun
        What its p-value is of, after "p-value of the ": "test against random groups".
    column
        The p-value's column of scores.csv, and the attribute of a `Result`.
    options
        Its options, with their limits and defaults; a field says what each is. `alternative` "bias", where it has
        that, is what `bias` says.
    help
        What a call or a command asks for with it, after "whether to make ".
    run
        (sample, resampler, pool, seed, **options) -> its outcome. The pool is None where the model has no vectors.
    question
        Metric -> what the test asks of it, in a sentence.
    compared
        What the values are that a score is compared with, such as "random groups".
    applies
        Metric -> why it can have no such test, in a sentence; empty where it can.
    counts
        What `evidence` says of a score for which this test alone is significant; empty, as of every plugin's: it is
        not part of it.
    order
        Its place among the tests.
    permutes
        Whether words of the query change places. Then the test is about what `Metric.test_of` says, else about words.
    pooled
        Whether it draws words from a model's pool (`inference.pool`).
    by_frequency
        Whether it needs to know how frequent words are: its options are `options.Frequencies`.
    bias
        Metric -> the alternative that "bias" stands for.
    simulate
        What gives the test's values for random data, by which tests are found that are one
        (`families.signature`): (metric, parameters, template, normalize, alternative, trial) -> (draws,), or None;
        left out: no two metrics' tests are one.
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
        """The column of its adjusted p-values."""
        return "p_adjusted" if self.column == "p_value" else f"{self.column}_adjusted"

    @property
    def of_words(self) -> bool:
        """Whether it makes no sense of sentences."""
        return self.pooled or self.by_frequency

    def label_of(self, metric: Metric) -> str:
        """Its label of a metric."""
        return self.label if self.family(metric) == "words" else self.label.replace("Permutation", "Label")

    def noun_of(self, metric: Metric) -> str:
        """Its noun of a metric: a test that permutes the labels that a classifier learns from is a label test."""
        return self.noun if self.family(metric) == "words" else self.noun.replace("permutation", "label")

    def family(self, metric: Metric) -> str:
        """What it is about, "words" or "labels": p-values about different things are adjusted apart."""
        return metric.test_of if self.permutes else "words"
