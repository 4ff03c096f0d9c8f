"""The options of inference, with their limits and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, WrapValidator

from .errors import BiasgridError, unknown_name
from .validation import Strict, Whole, field, validate
from .wefe_names import ALTERNATIVES


def _keep_as_written(value: Any, check: Any) -> Any:
    """A whole number stays one where any number is allowed: steps depend on how it is written."""
    check(value)
    return value


def _not_of_wefe(value: Any) -> Any:
    """Raises BiasgridError that names ours for WEFE's names: by spelling, "two-sided" would be suggested."""
    our_name = ALTERNATIVES.get(value if isinstance(value, str) else "")
    if our_name:
        raise BiasgridError(f"WEFE's {value!r} is {our_name!r} here")
    return value


def _as_never(value: Any) -> Any:
    """`none`, as YAML writes it, is a text."""
    return None if value == "none" else value


Stop = Annotated[Whole | None, BeforeValidator(_as_never)]
Number = Annotated[float, WrapValidator(_keep_as_written)]
Alternative = Literal["bias", "greater", "less", "two-sided"]
AnAlternative = Annotated[Alternative, BeforeValidator(_not_of_wefe)]
Interval = Literal["jackknife", "percentile", "bca"]
INTERVALS = get_args(Interval)
ALTERNATIVE = (
    "which values are as extreme as the observed one, as in scipy.stats; `bias`: those that are as far from the "
    "metric's neutral value, in the directions that its range allows"
)
STOP = (
    "how many draws as extreme as the score end the test, as its p-value cannot be small then (Besag and Clifford "
    "1991); `none`: all are drawn"
)


class Permutation(Strict):
    """Permutation test of every metric that has one."""

    draws: Whole = field(
        "random permutations of the words at most, where there are too many to enumerate",
        19_999,
        ge=1,
        le=100_000_000,
    )
    exact: Whole = field(
        "all permutations are enumerated where there are at most this many", 20_000, ge=0, le=10_000_000
    )
    stop: Stop = field(STOP, 20, ge=1, le=1_000_000)
    alternative: AnAlternative = field(ALTERNATIVE, "bias")


class RandomGroups(Strict):
    """Test of every metric against random groups of the model's words."""

    draws: Whole = field("random groups that are drawn at most", 9_999, ge=19, le=1_000_000)
    stop: Stop = field(STOP, 20, ge=1, le=1_000_000)
    alternative: AnAlternative = field(
        "which values are as extreme as the score; `bias`: those at least as far from the metric's neutral value, in "
        "either direction",
        "bias",
    )
    match: Literal["between", "within"] = field(
        "what random groups have in common with the query's: `between`, how near the words of each group are to each "
        "other, and those of two groups; `within`, the first alone",
        "between",
    )


class Frequencies(Strict):
    """Where the frequencies of a model's words are from."""

    frequency: Literal["own", "wordfreq"] = field(
        "how frequent words are: `own`, by the model's counts, or its order where it is sorted; `wordfreq`, where it "
        "has no counts by that package (a study says it of all models: `frequencies`)",
        "own",
    )
    language: str = field("in which language `wordfreq` looks words up", "en")


class FrequencyBands(Frequencies, Permutation):
    """Permutation test within bands of frequency, of every metric that has a permutation test."""

    width: Number = field(
        "how many times as frequent as the least frequent word of a band its most frequent one may be",
        4,
        ge=1,
        le=1_000_000,
    )


class ControlWords(Frequencies):
    """Compares each score with scores for control words: words without a topic, as frequent as the query's."""

    draws: Whole = field("sets of control words that are drawn", 999, ge=19, le=1_000_000)
    nearest: Whole = field(
        "a word is replaced by one of so many words of the vocabulary, those nearest in frequency",
        50,
        ge=2,
        le=10_000,
    )
    alternative: AnAlternative = field(ALTERNATIVE, "bias")


class Bootstrap(Strict):
    """Bootstrap intervals of every value, and of ranks and correlations."""

    draws: Whole = field("bootstrap resamples of the words", 1000, ge=1, le=100_000_000)
    level: Number = field("how often an interval should hold the true value", 0.95, "share", gt=0, lt=1)


class Sensitivity(Strict):
    """Leave-one-out influence of single words, and robustness under halving the sets (split-half)."""

    halves: Whole = field("random halves of the sets that are measured", 100, ge=1, le=100_000_000)


# parts of inference -> their options. Those that a metric may have its own options of, the tests, come first
TESTS = ("permutation", "random_groups", "frequency_bands", "control_words")
POOLED = frozenset({"random_groups", "control_words"})  # those that draw words from a model's pool
BY_FREQUENCY = ("frequency_bands", "control_words")  # those that need to know how frequent words are
OF_WORDS = POOLED.union(BY_FREQUENCY)  # those that make no sense of sentences
# column of scores.csv -> the test whose p-value it is
P_VALUES = dict(zip(("p_value", "p_groups", "p_bands", "p_controls"), TESTS, strict=True))
PARTS = {
    "permutation": Permutation,
    "random_groups": RandomGroups,
    "frequency_bands": FrequencyBands,
    "control_words": ControlWords,
    "bootstrap": Bootstrap,
    "sensitivity": Sensitivity,
}


def complete_options(part: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a part of inference (one of `PARTS`).

    Returns
    -------
    dict
        The given options, and the defaults of those that are left out.

    Raises
    ------
    BiasgridError
        For an unknown option, and a value that is not allowed.
    """
    options = dict(options) if isinstance(options, Mapping) else options
    return validate(PARTS[part], options, part).model_dump()


def check_interval(interval: str) -> None:
    """Raises BiasgridError for an unknown interval."""
    if interval not in INTERVALS:
        raise BiasgridError(unknown_name("interval", interval, INTERVALS))
