"""What the tests and the interval of a score say, in words and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..metrics.registry import Metric
from ..options import P_VALUES, Bootstrap
from ..tables.scores import ADJUSTED

# what the page takes of a test from a file of inference
KEPT = (
    "p_low",
    "p_high",
    "p_lowest",
    "alternative",
    "method",
    "draws",
    "partitions",
    "observed",
    "histogram",
    "middle",
)
# what a permutation test asks, by what it exchanges
PERMUTED = {
    "targets": "does it matter which target set a word is in?",
    "pairs": "does it matter which word of a pair is in which target set?",
    "attributes": "does it matter which attribute set a word is in?",
}
# the same of a test that permutes labels
LABELS = (
    "does it matter to the classifier which attribute set a training word is in? It says nothing about the words of "
    "the target sets."
)
GROUPS = (
    "is the score more biased than with random groups of words of this model, as coherent and as frequent, in place "
    "of the {} sets?"
)


BANDS = "the permutation test, but words change places only with words of similar frequency."
CONTROLS = (
    "is the score more biased than with control words, as frequent and without a topic, in place of the words of "
    "the {} sets?"
)
# of a metric that draws at random
SEEDED = " The statistic is the score without what the metric draws at random."


def test_questions(metric: Metric) -> dict[str, str]:
    """What each test of a metric asks."""
    permutation = LABELS if metric.test_of == "labels" else PERMUTED[metric.exchanged]
    of_groups = metric.regrouped.removesuffix("s")
    of_words = {"target": "attribute", "attribute": "target"}[of_groups]
    questions = {"permutation": permutation, "random_groups": GROUPS.format(of_groups)}
    questions |= {"frequency_bands": BANDS, "control_words": CONTROLS.format(of_words)}
    if metric.seeded:
        questions = {test: text + SEEDED for test, text in questions.items()}
    no_test = f"none: {metric.no_test}"
    return questions | ({"permutation": no_test, "frequency_bands": no_test} if metric.no_test else {})


def tests_of(inference: Mapping[str, Any], row: Any) -> dict[str, dict[str, Any]]:
    """What the tests of a score say.

    Parameters
    ----------
    inference
        The score's result in a file of inference.
    row
        Its row of scores.csv, with the adjusted p-values.

    Returns
    -------
    dict
        A test -> `reason`, why there is no p-value; or `p_value`, `p_adjusted`, and what the file of inference has:
        p_low, p_high, p_lowest, alternative, method, draws, partitions, observed, histogram, and of control words
        `middle`.
    """
    tests = {}
    for column, test in P_VALUES.items():
        p_adjusted = getattr(row, ADJUSTED[column])
        if (test_result := inference.get(test)) is None:
            continue
        if test_result.get("p_value") is None:
            tests[test] = {
                "reason": test_result.get("reason", "the metric has no value for some permutations")
            }
        else:
            tests[test] = {"p_value": test_result["p_value"], "p_adjusted": number(p_adjusted)}
            tests[test] |= {name: test_result.get(name) for name in KEPT}
    return tests


def interval_of(inference: Mapping[str, Any], options: Mapping[str, Any], kind: str) -> dict[str, Any] | None:
    """The interval of a score: `kind`, `level`, and `low` and `high`, or the `reason` why there is none; None where
    none was asked for. `options` are the parts of the inference."""
    bootstrap = inference.get("bootstrap")
    if bootstrap is None:
        return None
    record = {
        "kind": kind,
        "level": options["bootstrap"].get("level", Bootstrap.model_fields["level"].default),
    }
    low, high = bootstrap.get(kind) or (None, None)
    if low is None or high is None:
        return record | {"reason": bootstrap.get("reasons", {}).get(kind, "it has no number")}
    return record | {"low": low, "high": high}


def interval_of_units(scalars: Mapping[str, Any]) -> dict[str, Any] | None:
    """Of a metric of corpora: `low` and `high`, the 95 % interval over sentences (or windows), and of the "first"
    group and the "second" how many of them have it and the words, and how many it; None where there is none."""
    if scalars.get("ci_low") is None or "units_first" not in scalars:
        return None
    sides = {
        side: (int(scalars[f"units_{side}_words"]), int(scalars[f"units_{side}"]))
        for side in ("first", "second")
    }
    return {"low": scalars["ci_low"], "high": scalars["ci_high"], **sides}


def number(value: float) -> float | None:
    """A number of a table for JSON."""
    return None if value != value else float(value)
