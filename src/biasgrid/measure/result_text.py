"""Text of a single result: printed in Python, and shown as a card in notebooks."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ..core import numbers
from ..core.numbers import NO_VALUE, p_value, share
from ..core.phrases import join_names, pluralize
from . import significance
from .caveats import ONE_WORD, is_at_floor, lowest_p
from .evidence import ALL, COUNTING, LEVEL, TESTS, phrase
from .result import UNTESTED, Result
from .statistics.scale import NO_BASELINE

WIDTH = 80
NO_P = "no p-value"
# Up to this number, sets are named; more are counted.
FEW_SETS = 3
VERY_UNLIKELY = 0.01
MOST_DIGITS = 6
SIDES = {"targets": "target", "attributes": "attribute"}


class TestRow(NamedTuple):
    """Test of a result: its short and long name, the p-value, a comment on it, and its limitation, if any."""

    name: str
    long_name: str
    p: str
    comment: str
    limit: str = ""


@dataclass(frozen=True)
class Reading:
    """Texts about a result for readers.

    Attributes
    ----------
    label, value, interval
        The metric, its value, and "95 % interval 0.14 to 0.96", or why it is missing; empty unless it was requested.
    finding
        Sentence on the meaning of the value, or on why it is missing.
    tests
        The tests that were made, or that lack a p-value.
    evidence
        The phrase of `evidence.PHRASES`; empty for a result without a value.
    standardized
        Standardised bias, and its interval with the meaning of 0; None without it.
    notes
        Sentences on what limits the numbers.
    digits
        Number of significant digits that are needed to tell the value from no bias.
    """

    label: str
    value: str
    interval: str
    finding: str
    tests: Sequence[TestRow]
    evidence: str
    standardized: tuple[str, str] | None
    notes: Sequence[str]
    digits: int


def read(result: Result) -> Reading:
    """Return the texts about a result."""
    digits = _digits(result)
    return Reading(
        label=result.wording.label or result.metric,
        value=numbers.number(result.value, digits),
        interval=_interval(result, digits),
        finding=_finding(result),
        tests=[*_tests(result)],
        evidence="" if math.isnan(result.value) else evidence_phrase(result),
        standardized=_standardized(result),
        notes=[*_notes(result)],
        digits=digits,
    )


def text(result: Result) -> str:
    """Return the text that `print` shows: the value, its meaning, a line per test, and the evidence."""
    reading = read(result)
    head = f"{reading.label} {reading.value}" if reading.value != NO_VALUE else f"{reading.label}: {NO_VALUE}"
    lines = [*_wrapped(reading.interval, f"{head}   ", hanging=True), *_wrapped(reading.finding)]
    widths = [max(len(row[column]) for row in reading.tests) for column in (0, 2)] if reading.tests else []
    for row in reading.tests:
        start = "  ".join(cell.ljust(n) for cell, n in zip((row.name, row.p), widths, strict=True))
        lines += _wrapped(row.comment, f"  {start}  ", hanging=True)
    lines += [line for note in reading.notes for line in _wrapped(note, "  ")]
    if reading.evidence:
        lines += _wrapped(f"{reading.evidence[0].upper()}{reading.evidence[1:]}.")
    return "\n".join(lines)


def one_line(result: Result) -> str:
    """Return the line that a prompt shows for a result, also in a list of results."""
    reading = read(result)
    facts = [ONE_WORD if result.is_fixed else "", reading.interval]
    for row in reading.tests:
        if row.p == NO_P and row.limit:
            facts.append(f"{row.name}: {row.limit}")
        else:
            facts.append(f"{row.name} {row.p}{row.limit and f' ({row.limit})'}")
    if result.evidence != UNTESTED:
        facts.append(reading.evidence)
    if math.isnan(result.value):
        facts.append(result.reason or NO_VALUE)
    if result.words_lost:
        facts.append(f"{pluralize(result.words_lost, 'word')} missing")
    place = f" on {result.model}" if result.model else ""
    about = ", ".join(filter(None, facts))
    return f"<{reading.label} {reading.value} of {result.query!r}{place}{': ' if about else ''}{about}>"


def _wrapped(sentence: str, indent: str = "", hanging: bool = False) -> list[str]:
    """Wrap a sentence into lines; a hanging indent begins the first line and is blank before the others."""
    after = " " * len(indent) if hanging else indent
    lines = textwrap.wrap(
        sentence, WIDTH, initial_indent=indent, subsequent_indent=after, break_on_hyphens=False
    )
    return lines or [indent.rstrip()]


def _digits(result: Result) -> int:
    value, neutral = result.value, result.wording.neutral
    for digits in range(2, MOST_DIGITS):
        if numbers.number(value, digits) != numbers.number(neutral, digits):
            return digits
    return 2


def level_of(result: Result) -> float:
    """Return the confidence level of a result's interval, or of its tests."""
    level: float = (result.inference or {}).get("bootstrap", {}).get("level", LEVEL)
    return level


def _interval(result: Result, digits: int) -> str:
    if math.isnan(result.ci_low):
        reason = result.reasons.get(f"{result.interval} interval")
        return f"no interval: {reason}" if reason else ""
    low, high = (numbers.number(end, digits) for end in (result.ci_low, result.ci_high))
    return f"{share(level_of(result))} interval {low} to {high}"


def _finding(result: Result) -> str:
    wording, value = result.wording, result.value
    if math.isnan(value):
        sentence = result.reason or NO_VALUE
    elif value == wording.neutral:
        sentence = "the value is the one that means no bias"
    else:
        side = "above" if value > wording.neutral else "below"
        sentence = getattr(wording, side) or f"the value is {side} the one that means no bias"
    return f"{sentence[0].upper()}{sentence[1:]}."


def evidence_phrase(result: Result) -> str:
    """Return what the tests of a single result find, such as "clear evidence of bias (p-values unadjusted)"."""
    made = sum(COUNTING[name].name in _made(result) for name in result.wording.tests)
    said = phrase(result.evidence, len(result.wording.tests), made)
    return f"{said} (p-values unadjusted)" if result.evidence in (ALL, *TESTS) else said


def _made(result: Result) -> dict[str, Any]:
    """Return the records of the tests that have a p-value, by name."""
    tests = {test.name for test in significance.tests()}
    return {
        name: part
        for name, part in (result.inference or {}).items()
        if name in tests and part.get("p_value") is not None
    }


def _tests(result: Result) -> Iterator[TestRow]:
    for test in significance.tests():
        if not (record := (result.inference or {}).get(test.name)):
            continue
        name = test.drawn or test.label.lower()
        is_of_labels = record.get("test_of") == "labels"
        if is_of_labels:
            name = name.replace("words", "labels")
        long_name = _long_name(result, test, is_of_labels)
        if record.get("p_value") is None:
            is_groups = test.name == "random_groups" and result.no_baseline
            why = f"{NO_BASELINE} ({result.no_baseline})" if is_groups else record.get("reason", "")
            yield TestRow(name, long_name, NO_P, why, why if is_groups else "")
            continue
        limit = lowest_p(record.get("p_lowest"))
        comment = (
            f"cannot be significant: {limit}" if limit else _comment(result, record["p_value"], test.permutes)
        )
        p = p_value(record["p_value"], at_most=is_at_floor(record))
        yield TestRow(name, long_name, p, comment, limit)


def _comment(result: Result, p: float, permutes: bool) -> str:
    """Return a comment on a p-value."""
    if permutes and p <= 1 - level_of(result) + 1e-12:
        return "very unlikely by chance" if p <= VERY_UNLIKELY else "unlikely by chance"
    differ = "differ this much" if result.wording.ends else "are as extreme"
    if p < 0.001:
        return f"fewer than 1 in 1,000 {differ}"
    return f"1 in {numbers.count(round(1 / p))} {differ}" if p <= 0.4 else f"{share(p)} {differ}"


def _long_name(result: Result, test: significance.Test, is_of_labels: bool) -> str:
    """Describe what a test shuffles or draws, with the sets' names."""
    wording = result.wording
    if is_of_labels:
        return "Labels of the classifier's words shuffled"
    if test.name == "random_groups":
        return f"Random word groups instead of {_sets(wording, wording.regrouped)}"
    if test.name == "control_words":
        other = "targets" if wording.regrouped == "attributes" else "attributes"
        return f"Words of the same frequency instead of {_sets(wording, other)}"
    if not test.permutes:
        return test.label
    names = _sets(wording, "attributes" if wording.exchanged == "attributes" else "targets")
    what = {
        "pairs": f"Partners swapped in pairs of {names}",
        "constituents": f"Words shuffled within the two halves of {names}",
    }.get(wording.exchanged, f"Words shuffled between {names}")
    return f"{what}, among words of the same frequency" if test.by_frequency else what


def _sets(wording: Any, role: str) -> str:
    names = wording.targets if role == "targets" else wording.attributes
    if not names:
        return f"the {SIDES[role]} sets"
    return join_names(names) if len(names) <= FEW_SETS else f"the {len(names)} {SIDES[role]} sets"


def _standardized(result: Result) -> tuple[str, str] | None:
    if math.isnan(result.standardized):
        return None
    form = partial(numbers.number, digits=2)
    low, high = result.standardized_low, result.standardized_high
    interval = "" if math.isnan(low) else f"{form(low)} to {form(high)}; "
    return form(result.standardized), f"{interval}0: as random groups"


def _notes(result: Result) -> Iterator[str]:
    """Yield sentences on what limits a result's numbers."""
    if result.is_fixed:
        yield f"{ONE_WORD[0].upper()}{ONE_WORD[1:]}."
    low, high = (result.scalars.get(end, math.nan) for end in ("ci_low", "ci_high"))
    if not math.isnan(low):
        form = partial(numbers.number, digits=2)
        yield f"{share(level_of(result))} interval over sentences: {form(low)} to {form(high)}."
    if result.words_lost and not math.isnan(result.value):
        words = [word for lost in result.lost.values() for word in lost]
        verb = "is" if len(words) == 1 else "are"
        more = f" and {len(words) - FEW_SETS} more" if len(words) > FEW_SETS else ""
        yield f"{', '.join(words[:FEW_SETS])}{more} {verb} missing from the model."
    if "reliability" in (result.inference or {}):
        yield from (row["says"] for row in result.reliability if row["says"])
