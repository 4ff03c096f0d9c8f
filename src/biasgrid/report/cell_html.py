"""Functions for templates/cells.html, which shows a score's record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from jinja2 import Environment
from markupsafe import Markup

from ..core.numbers import coefficient, count, interval, p_number, p_value, plain, typeset, typographic
from ..measure import significance
from ..measure.caveats import is_at_floor, lowest_p
from ..measure.evidence import phrase
from ..measure.reliability_in_words import HOLDS, MAY_TURN
from ..tables.published.quantities import name_of
from .marks import mark_of
from .score_records import Cells, Record

# Numbers of words that are shown: of all sets with their influences, and missing words.
INFLUENTIAL, LOST = 5, 5
# The same numbers for a large report.
INFLUENTIAL_OF_MANY, LOST_OF_MANY = 4, 3
# Number of bars of a histogram, and the height and width of a bar.
BARS, HEIGHT, WIDTH = 20, 16, 4
# Digits for heights.
DIGITS = "0123456789abcdefg"
FORMS: dict[str, Callable[..., str]] = {
    "plain": plain,
    "p": p_number,
    "p_value": p_value,
    "coefficient": coefficient,
}
# Stability of a score with other words.
STABILITY = {HOLDS: "stable", MAY_TURN: "unstable"}
COMPARED = {
    "exact": "all {} permutations",
    "binomial": "all permutations of the pairs",
    "monte_carlo": "{} permutations",
}


def install(environment: Environment) -> None:
    """Add the filters and functions of templates/cells.html to an environment."""
    environment.filters |= {"number": typeset, "count": count, "typographic": typographic, "bdi": bdi}
    environment.filters |= {name: partial(typeset, form=form) for name, form in FORMS.items()}
    environment.globals |= {"TESTS": significance.REGISTRY}
    environment.globals |= {"STABILITY": STABILITY}
    functions = (
        associations,
        influences,
        describe_comparison,
        evidence,
        observed,
        histogram,
        mark_of,
        interval,
        lowest_p,
        name_of,
        p_of,
        lost_shown,
    )
    for function in functions:
        environment.globals[function.__name__] = function


def evidence(record: Record, tests: Collection[str]) -> str:
    """Return the phrase for a score's evidence; `tests` are the tests of words that its metric can have."""
    made = sum(name in record.tests and "reason" not in record.tests[name] for name in tests)
    return phrase(record.evidence, len(tests), made)


def bdi(text: str, language: str | None = None) -> str:
    """Mark up words or a label with their direction, and their language if it is known; ASCII needs neither."""
    if text.isascii():
        return text
    lang = Markup(' lang="{}"').format(language) if language else ""
    return Markup("<bdi{}>{}</bdi>").format(lang, text)


def lost_shown(cells: Cells) -> int:
    """Return the largest number of missing words that are named."""
    return LOST_OF_MANY if cells.are_many else LOST


def associations(
    record: Record, cells: Cells, language: str | None = None
) -> Iterator[tuple[str, list[str], int, list[str]]]:
    """Yield each set's name, words with the metric's highest numbers, number of omitted words, and lowest words."""
    for place, (rows, numbers, left) in record.associations.items():
        name, words = cells.sets[place]
        texts = [_entry(bdi(words[i], language), _text(n)) for i, n in zip(rows, numbers, strict=True)]
        high = len(texts) // 2 if left else len(texts)
        yield name, texts[:high], left, texts[high:]


def _entry(word: str, text: str) -> str:
    # Keep word and number on one line, with the number outside of a word in a right-to-left script.
    return word + "\N{NO-BREAK SPACE}" + text


def _text(numbers: np.ndarray) -> str:
    return "/".join(typeset(number, 2) for number in numbers.tolist())


def influences(
    record: Record, cells: Cells, language: str | None = None
) -> tuple[list[tuple[str, list[str]]], int, float]:
    """Return the words without which a score changes most, by set, and a summary of the other words.

    The summary is the number of other words, and the largest change without one of them.
    """
    places = np.repeat([*record.influence], [len(values) for values in record.influence.values()])
    words = [word for place in record.influence for word in cells.sets[place][1]]
    changes = np.concatenate([*record.influence.values()])
    sizes = np.abs(changes)
    rows = np.argsort(-sizes, kind="stable")[: np.count_nonzero(~np.isnan(sizes))]
    shown = INFLUENTIAL_OF_MANY if cells.are_many else INFLUENTIAL
    largest, rest = rows[:shown], rows[shown:]
    by_set = [
        (name, texts)
        for place in record.influence
        for name, texts in [
            (
                cells.sets[place][0],
                [
                    _entry(bdi(words[i], language), typeset(changes[i], 2))
                    for i in largest
                    if places[i] == place
                ],
            )
        ]
        if texts
    ]
    return by_set, len(rest), float(sizes[rest[0]]) if len(rest) else 0.0


def describe_comparison(test: Mapping[str, Any]) -> str:
    """Describe the values with which a test compares the score."""
    if test.get("middle"):
        low, _, high = test["middle"]
        return f"{count(test['draws'])} sets: 95 % in {typographic(interval(low, high))}"
    compared = {"random groups": "groups"}.get(test["compared"], test["compared"])
    return COMPARED.get(test["method"], f"{{}} {compared}").format(count(test["draws"]))


def p_of(test: Mapping[str, Any]) -> str:
    """Return the p-value of a test: "p = .012", or "p ≤ .005" for the smallest that its draws can reach."""
    return typeset(test["p_value"], form=partial(p_value, at_most=is_at_floor(test)))


def observed(record: Record, test: Mapping[str, Any]) -> str:
    """Return the number that a test compares with its values: the score, or a statistic without random draws."""
    text = typeset(test["observed"])
    return f"{'score' if text == typeset(record.value) else 'statistic'} {text}"


def histogram(test: Mapping[str, Any], neutral: float = 0.0) -> dict[str, Any] | None:
    """Return a test's histogram, in a box of 80 by 16; None if all values are equal up to rounding.

    Returns
    -------
    dict
        `bars`, a digit of base 17 for the height of each; `tails`, the ranges of values that are as extreme as the
        score; `place` of the score; and the ends `low` and `high`. report.js draws it.
    """
    of_test = test.get("histogram")
    if of_test is None or len(of_test["counts"]) < BARS:
        return None
    counts, low, high = of_test["counts"], of_test["low"], of_test["high"]
    # Add up several bars of the file to one bar of the box.
    bars_per_step = len(counts) // BARS
    counts = [sum(counts[i : i + bars_per_step]) for i in range(0, len(counts), bars_per_step)]
    # Make a bar with at least one value at least one high.
    heights = [max(round(HEIGHT * n / max(counts)), min(n, 1)) for n in counts]
    width = WIDTH * len(counts)
    place, mirror = (
        (value - low) / (high - low) * width for value in (test["observed"], 2 * neutral - test["observed"])
    )
    above, below = (max(place, 0.0), width), (0.0, min(place, width))
    tails = {
        "greater": [above],
        "less": [below],
        "distance": [(0.0, min(place, mirror)), (max(place, mirror), width)],
    }.get(test["alternative"], [above if test["observed"] >= neutral else below])
    return {
        "bars": "".join(DIGITS[height] for height in heights),
        "tails": [(_short(start), _short(end)) for start, end in tails if start < end],
        "place": _short(place),
        "low": low,
        "high": high,
    }


def _short(number: float) -> str:
    return f"{number:.3g}"
