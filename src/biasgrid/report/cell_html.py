"""How a score's record is shown: what templates/cells.html needs besides the record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
from jinja2 import Environment
from markupsafe import Markup

from ..caveats import is_at_floor, lowest_p
from ..inference import significance
from ..numbers import coefficient, count, interval, p_number, p_value, plain, typeset, typographic
from ..verdicts.evidence import MEANINGS
from .marks import mark_of
from .score_records import Cells, Record

# how many words are shown: of all sets with their influences, and lost ones
INFLUENTIAL, LOST = 8, 8
INFLUENTIAL_OF_MANY, LOST_OF_MANY = 4, 3  # of a large page
BARS, HEIGHT, WIDTH = 20, 16, 4  # of a histogram: how many, and how high and wide one is
FORMS: dict[str, Callable[..., str]] = {
    "plain": plain,
    "p": p_number,
    "p_value": p_value,
    "coefficient": coefficient,
}
COMPARED = {
    "exact": "all {} permutations",
    "binomial": "all permutations of the pairs (binomial distribution)",
    "monte_carlo": "{} random permutations",
}
# which values are as extreme as the score
EXTREME = {
    "distance": "as far from no bias",
    "greater": "one-sided, large values",
    "less": "one-sided, small values",
    "two-sided": "two-sided",
}


def install(environment: Environment) -> None:
    """Give an environment what templates/cells.html needs."""
    environment.filters |= {"number": typeset, "count": count, "typographic": typographic, "bdi": bdi}
    environment.filters |= {name: partial(typeset, form=form) for name, form in FORMS.items()}
    environment.globals |= {"TESTS": significance.REGISTRY}
    environment.globals |= {"EXTREME": EXTREME, "MEANINGS": MEANINGS}
    functions = (
        associations,
        influences,
        describe_comparison,
        observed,
        histogram,
        mark_of,
        interval,
        lowest_p,
        p_of,
        lost_shown,
    )
    for function in functions:
        environment.globals[function.__name__] = function


def bdi(text: str, language: str | None = None) -> str:
    """Words or a label in their own direction, and with their language where it is known; ASCII needs neither."""
    if text.isascii():
        return text
    lang = Markup(' lang="{}"').format(language) if language else ""
    return Markup("<bdi{}>{}</bdi>").format(lang, text)


def lost_shown(cells: Cells) -> int:
    """How many lost words are named."""
    return LOST_OF_MANY if cells.are_many else LOST


def associations(
    record: Record, cells: Cells, language: str | None = None
) -> Iterator[tuple[str, list[str], int, list[str]]]:
    """What the metric says of words, a set at a time: its name, its words with the highest numbers, how many are left
    out, and those with the lowest."""
    for place, (rows, numbers, left) in record.associations.items():
        name, words = cells.sets[place]
        texts = [_entry(bdi(words[i], language), _text(n)) for i, n in zip(rows, numbers, strict=True)]
        high = len(texts) // 2 if left else len(texts)
        yield name, texts[:high], left, texts[high:]


def _entry(word: str, text: str) -> str:
    # on one line; the number stays outside of a word that is written from right to left
    return word + "\N{NO-BREAK SPACE}" + text


def _text(numbers: np.ndarray) -> str:
    return "/".join(typeset(number, 2) for number in numbers.tolist())


def influences(
    record: Record, cells: Cells, language: str | None = None
) -> tuple[list[tuple[str, list[str]]], int, float]:
    """The words without which a score changes most, by set; how many others there are, and by how much it changes at
    most without one of them."""
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
    """What a test compares the score with."""
    if test.get("middle"):
        low, median, high = test["middle"]
        middle = typographic(interval(low, high))
        return f"{count(test['draws'])} draws: median {typeset(median)}, the middle 95 % {middle}"
    text = COMPARED.get(test["method"], f"{{}} {test['compared']}").format(count(test["draws"]))
    of_all = test["method"] == "monte_carlo" and test["partitions"]
    return f"{text} of {count(test['partitions'])}" if of_all else text


def p_of(test: Mapping[str, Any]) -> str:
    """The p-value of a test: "p = .012"; "p ≤ .005" of the smallest that its draws can give."""
    return typeset(test["p_value"], form=partial(p_value, at_most=is_at_floor(test)))


def observed(record: Record, test: Mapping[str, Any]) -> str:
    """What a test compares with its values: the score, or one that leaves out what the metric draws at random."""
    text = typeset(test["observed"])
    return f"{'score' if text == typeset(record.value) else 'statistic'} {text}"


def histogram(test: Mapping[str, Any]) -> dict[str, Any] | None:
    """A test's histogram as a path in a box of 80 by 16, and where the score is in it; None where all values
    are equal up to rounding."""
    of_test = test.get("histogram")
    if of_test is None or len(of_test["counts"]) < BARS:
        return None
    counts, low, high = of_test["counts"], of_test["low"], of_test["high"]
    # several bars of the file make one bar here
    bars_per_step = len(counts) // BARS
    counts = [sum(counts[i : i + bars_per_step]) for i in range(0, len(counts), bars_per_step)]
    # a bar of one value or more is at least one high
    tops = [HEIGHT - max(round(HEIGHT * n / max(counts)), min(n, 1)) for n in counts]
    steps = "".join(f"V{top}h{WIDTH * len(list(bars))}" for top, bars in groupby(tops))
    place = (test["observed"] - low) / (high - low) * WIDTH * len(counts)
    return {"path": f"M0 {HEIGHT}{steps}V{HEIGHT}", "place": f"{place:.3g}", "low": low, "high": high}
