"""`inference`: tests, intervals and sensitivity of every value."""

from __future__ import annotations

from typing import Literal

from ..options import (
    PARTS,
    Bootstrap,
    ControlWords,
    FrequencyBands,
    Interval,
    Permutation,
    RandomGroups,
    Sensitivity,
)
from ..validation import Strict, field


class Inference(Strict):
    """How certain every value is: docs/inference.md. A part that is left out is not computed; `{}` is a part with its
    defaults."""

    permutation: Permutation = field("permutation test of every metric that has one", None)
    random_groups: RandomGroups = field(
        "test of every metric against random groups of the model's words", None
    )
    frequency_bands: FrequencyBands = field(
        "permutation test within bands of frequency of every metric that has a permutation test", None
    )
    control_words: ControlWords = field(
        "test of every metric against control words: as frequent as the query's, without a topic", None
    )
    bootstrap: Bootstrap = field("bootstrap intervals of values, ranks and correlations", None)
    sensitivity: Sensitivity = field("influence of single words, and split halves", None)
    interval: Interval = field("which interval the tables have", "jackknife")
    adjust: Literal["holm", "benjamini-hochberg"] = field(
        "how p-values are adjusted for the number of tests of a criterion", "holm"
    )

    @property
    def parts(self) -> dict[str, Strict]:
        """The parts that are computed, by name: their options."""
        return {part: options for part in PARTS if (options := getattr(self, part)) is not None}

    @property
    def level(self) -> float:
        """The level of intervals, and that p-values are compared with."""
        return (self.bootstrap or Bootstrap()).level

    @property
    def resamples(self) -> int:
        """How often the words are drawn again."""
        return self.bootstrap.draws if self.bootstrap else 0
