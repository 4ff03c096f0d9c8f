"""The tests of significance. Each is one file of this package, discovered automatically: `REGISTRY` has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...errors import InputError, not_allowed, unknown_name
from ...metrics.registry import Metric
from ...options import OTHER_PARTS
from ...registry import Registry
from ...validation import Strict, validate
from .test import Outcome, Test

__all__ = [
    "REGISTRY",
    "Outcome",
    "Test",
    "among",
    "columns",
    "complete",
    "complete_options",
    "needs_pool",
    "parts",
    "questions",
    "reason_without",
    "tests",
]

REGISTRY: Registry[Test] = Registry(__name__, "TESTS", "test of significance")

# of a metric that draws at random
SEEDED = " The statistic is the score without what the metric draws at random."


def tests() -> list[Test]:
    """All tests, in their order; those of plugins last."""
    return sorted(REGISTRY.values(), key=lambda test: test.order)


def among(names: Iterable[str]) -> list[Test]:
    """The tests among these names, in their order, also those that are known from results without their code."""
    found = (REGISTRY[name] for name in names if name in REGISTRY or REGISTRY.is_noted(name))
    return sorted(found, key=lambda test: test.order)


def columns() -> dict[str, str]:
    """The columns of p-values -> the test that each is of."""
    return {test.column: test.name for test in tests()}


def needs_pool(parts: Mapping[str, Any]) -> bool:
    """Whether a part of inference draws words from a model's pool, by their options."""
    reliability = parts.get("reliability")
    has_groups = isinstance(reliability, Mapping) and reliability.get("random_groups", 0) > 0
    return has_groups or any(test.pooled for test in tests() if test.name in parts)


def reason_without(metric: Metric, parts: Iterable[str]) -> str:
    """Why no test in these parts of inference is one that a metric can have; empty where one is."""
    asked = [test for test in tests() if test.name in parts]
    reasons = {test.applies(metric): test for test in asked}
    if "" in reasons:
        return ""
    for reason, test in reasons.items():
        return f"{metric.label} has no {test.noun} (but one of random_groups): {reason}"
    return "needs a test (inference: permutation or random_groups)"


def questions(metric: Metric, names: Iterable[str]) -> dict[str, str]:
    """What each of these tests asks of a metric, or why there is none."""
    asked = {}
    for test in among(names):
        reason = test.applies(metric)
        question = test.question(metric) + (SEEDED if metric.seeded else "")
        asked[test.name] = f"none: {reason}" if reason else question
    return asked


def parts() -> dict[str, type[Strict]]:
    """The parts of inference by name, the tests first, and their options."""
    return {test.name: test.options for test in tests()} | OTHER_PARTS


def complete(asked: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The parts of inference that are asked for.

    Parameters
    ----------
    asked
        Part -> its options; True: the defaults; None or False: it is left out.

    Returns
    -------
    dict
        Part -> its options, with the defaults of those that are left out.

    Raises
    ------
    BiasgridError
        For an unknown part or option, and a value that is not allowed.
    """
    asked = {part: options for part, options in asked.items() if options is not None and options is not False}
    for part, options in asked.items():
        if options is not True and not isinstance(options, Mapping):
            raise InputError(not_allowed(part, options, "True, False, and a mapping of options"))
    return {
        part: complete_options(part, {} if options is True else options) for part, options in asked.items()
    }


def complete_options(part: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a part of inference (one of `parts`), with the defaults of those that are left out; raises
    BiasgridError as `complete` does."""
    if part not in (by_name := parts()):
        raise InputError(REGISTRY.of_plugin(part) or unknown_name("part of inference", part, by_name))
    return validate(
        by_name[part], dict(options) if isinstance(options, Mapping) else options, part
    ).model_dump()
