"""Options of inference that do not belong to a single test, with their limits and defaults."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, WrapValidator

from ..core.errors import BiasgridError, unknown_name
from ..core.validation import Strict, Whole, field
from ..core.wefe_names import ALTERNATIVES


def _keep_as_written(value: Any, check: Any) -> Any:
    """Return a number unchanged after its check: steps depend on whether it is written as a whole number."""
    check(value)
    return value


def _refuse_wefe_name(value: Any) -> Any:
    """Raise BiasgridError for a value of WEFE's, with its replacement; the nearest spelling would be "two-sided"."""
    our_name = ALTERNATIVES.get(value if isinstance(value, str) else "")
    if our_name:
        raise BiasgridError(f"WEFE's {value!r} is {our_name!r} here")
    return value


def _none_as_null(value: Any) -> Any:
    """Convert the text `none`, as written in YAML, to None."""
    return None if value == "none" else value


Stop = Annotated[Whole | None, BeforeValidator(_none_as_null)]
Number = Annotated[float, WrapValidator(_keep_as_written)]
Alternative = Literal["bias", "greater", "less", "two-sided"]
AnAlternative = Annotated[Alternative, BeforeValidator(_refuse_wefe_name)]
Interval = Literal["jackknife", "percentile", "bca"]
INTERVALS = get_args(Interval)
BIAS = "bias"  # the alternative that depends on each metric's no-bias value and range
ALTERNATIVE = (
    "which values are as extreme as the observed one, as in scipy.stats; `bias`: those that are as far from the "
    "metric's no-bias value, in the directions that its range allows"
)
STOP = (
    "how many draws as extreme as the score end the test, as its p-value cannot be small then (Besag and Clifford "
    "1991); `none`: all are drawn"
)


class Frequencies(Strict):
    """Sources of the frequencies of a model's words."""

    frequency: Literal["own", "wordfreq"] = field(
        "how frequent words are: `own`, by the model's counts, or its order where it is sorted; `wordfreq`, where it "
        "has no counts by that package (a study says it of all models: `frequencies`)",
        "own",
    )
    language: str = field("in which language `wordfreq` looks words up", "en")


class Bootstrap(Strict):
    """Bootstrap intervals of every value, and of ranks and correlations."""

    draws: Whole = field("bootstrap resamples of the words", 1000, ge=1, le=100_000_000)
    level: Number = field("how often an interval should hold the true value", 0.95, "share", gt=0, lt=1)


class Sensitivity(Strict):
    """Leave-one-out influence of single words, and robustness under halving the sets (split-half)."""

    halves: Whole = field("random halves of the sets that are measured", 100, ge=1, le=100_000_000)


class Reliability(Strict):
    """Reliability of the order of words: alpha over the items that score them, or split halves."""

    splits: Whole = field(
        "largest number of splits of the items into halves: all splits, or this many random ones if there are more",
        200,
        ge=2,
        le=10_000,
    )
    random_groups: Whole = field(
        "random groups as coherent as the query's, whose coefficients are compared with it (`percentile`); 0: none",
        0,
        ge=0,
        le=9_999,
    )


# Options of the parts of inference that are not tests (`measure.significance`).
OTHER_PARTS: dict[str, type[Strict]] = {
    "bootstrap": Bootstrap,
    "sensitivity": Sensitivity,
    "reliability": Reliability,
}


def check_interval(interval: str) -> None:
    """Raise BiasgridError for an unknown interval."""
    if interval not in INTERVALS:
        raise BiasgridError(unknown_name("interval", interval, INTERVALS))
