"""Tests of significance. Each is one file of this package and is discovered automatically into `REGISTRY`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...core.errors import InputError, not_allowed, unknown_name
from ...core.registry import Registry
from ...core.validation import Strict, validate
from ...metrics.registry import Metric
from ..options import OTHER_PARTS
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

REGISTRY: Registry[Test] = Registry(__name__, "TESTS", "test of significance", "significance")

# Added for a metric that draws at random.
SEEDED = " The statistic is the score without what the metric draws at random."


def tests() -> list[Test]:
    """Return all tests in their order, with plugins' tests last."""
    return sorted(REGISTRY.values(), key=lambda test: test.order)


def among(names: Iterable[str]) -> list[Test]:
    """Return the tests with these names in their order, including tests known only from results, without their
    code."""
    found = (REGISTRY[name] for name in names if name in REGISTRY or REGISTRY.is_noted(name))
    return sorted(found, key=lambda test: test.order)


def columns() -> dict[str, str]:
    """Return the test of each column of p-values."""
    return {test.column: test.name for test in tests()}


def needs_pool(parts: Mapping[str, Any]) -> bool:
    """Return whether a part of inference, with these options, draws words from a model's pool."""
    reliability = parts.get("reliability")
    has_groups = isinstance(reliability, Mapping) and reliability.get("random_groups", 0) > 0
    return has_groups or any(test.pooled for test in tests() if test.name in parts)


def reason_without(metric: Metric, parts: Iterable[str]) -> str:
    """Return the reason why a metric cannot have any test in these parts of inference; empty if it can have one."""
    asked = [test for test in tests() if test.name in parts]
    reasons = {test.applies(metric): test for test in asked}
    if "" in reasons:
        return ""
    for reason, test in reasons.items():
        return f"{metric.label} has no {test.noun} (but one of random_groups): {reason}"
    return "needs a test (inference: permutation or random_groups)"


def questions(metric: Metric, names: Iterable[str]) -> dict[str, str]:
    """Return the question that each of these tests answers about a metric, or the reason why the test is missing."""
    asked = {}
    for test in among(names):
        reason = test.applies(metric)
        question = test.question(metric) + (SEEDED if metric.seeded else "")
        asked[test.name] = f"none: {reason}" if reason else question
    return asked


def parts() -> dict[str, type[Strict]]:
    """Return the option classes of the parts of inference by name, the tests first."""
    return {test.name: test.options for test in tests()} | OTHER_PARTS


def complete(asked: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Complete the requested parts of inference with default options.

    Parameters
    ----------
    asked
        Part -> its options. True: the defaults. None or False: the part is left out.

    Returns
    -------
    dict
        Part -> its options, including defaults.

    Raises
    ------
    BiasgridError
        For an unknown part or option, or a value that is not allowed.
    """
    asked = {part: options for part, options in asked.items() if options is not None and options is not False}
    for part, options in asked.items():
        if options is not True and not isinstance(options, Mapping):
            raise InputError(not_allowed(part, options, "True, False, and a mapping of options"))
    return {
        part: complete_options(part, {} if options is True else options) for part, options in asked.items()
    }


def complete_options(part: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Complete the options of a part of inference (one of `parts`) with defaults.

    Raises BiasgridError in the same cases as `complete`.
    """
    if part not in (by_name := parts()):
        raise InputError(REGISTRY.of_plugin(part) or unknown_name("part of inference", part, by_name))
    return validate(
        by_name[part], dict(options) if isinstance(options, Mapping) else options, part
    ).model_dump()
