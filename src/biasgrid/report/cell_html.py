"""How a score's record is shown: what templates/cells.html needs besides the record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import Any

from jinja2 import Environment

from ..caveats import lowest_p
from ..inference import significance
from ..numbers import coefficient, count, interval, p_number, p_value, plain, typeset, typographic
from ..verdicts.evidence import MEANINGS
from .cells import Cells, Record
from .marks import mark_of

# how many words are shown: of a set with its associations, of all sets with their influences, and lost ones
SHOWN, INFLUENTIAL, LOST = 10, 8, 8
BARS, HEIGHT, WIDTH = 20, 16, 4  # of a histogram: how many, and how high and wide one is
FORMS: dict[str, Callable[..., str]] = {
    "plain": plain,
    "p": p_number,
    "p_value": p_value,
    "coefficient": coefficient,
}
COMPARED = {
    "exact": "all {} permutations",
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
    environment.filters |= {"number": typeset, "count": count, "typographic": typographic}
    environment.filters |= {name: partial(typeset, form=form) for name, form in FORMS.items()}
    environment.globals |= {"TESTS": significance.REGISTRY}
    environment.globals |= {"EXTREME": EXTREME, "LOST": LOST, "MEANINGS": MEANINGS}
    functions = (
        associations,
        influences,
        describe_comparison,
        observed,
        histogram,
        mark_of,
        interval,
        lowest_p,
    )
    for function in functions:
        environment.globals[function.__name__] = function


def associations(record: Record, cells: Cells) -> Iterator[tuple[str, list[str], int, list[str]]]:
    """What the metric says of words, a set at a time: its name, its words with the highest numbers, how many are left
    out, and those with the lowest."""
    for place, values in record.associations.items():
        name, words = cells.sets[place]
        numbers = {word: (_sort_value(value), value) for word, value in zip(words, values, strict=True)}
        word_scores = [(score, word, value) for word, (score, value) in numbers.items() if score is not None]
        word_scores.sort(key=lambda entry: -entry[0])
        is_short = len(word_scores) <= SHOWN + 1
        # only the words that are shown are formatted, as there may be thousands
        parts = (word_scores, []) if is_short else (word_scores[: SHOWN // 2], word_scores[-SHOWN // 2 :])
        high, low = ([_entry(word, _text(value)) for _, word, value in part] for part in parts)
        yield name, high, 0 if is_short else len(word_scores) - SHOWN, low


def _entry(word: str, text: str) -> str:
    # on one line
    return f"{word}\N{NO-BREAK SPACE}{text}"


def _sort_value(value: Any) -> float | None:
    """The number that words are ordered by: of two the difference, of more the mean."""
    if not isinstance(value, list):
        return value
    if None in value:
        return None
    return value[0] - value[1] if len(value) == 2 else sum(value) / len(value)


def _text(value: Any) -> str:
    return "/".join(typeset(v, 2) for v in value) if isinstance(value, list) else typeset(value, 2)


def influences(record: Record, cells: Cells) -> tuple[list[tuple[str, list[str]]], int, float]:
    """The words without which a score changes most, by set; how many others there are, and by how much it changes at
    most without one of them."""
    changes_by_size = [
        (abs(change), order, place, word, change)
        for order, (place, changes) in enumerate(record.influence.items())
        for word, change in zip(cells.sets[place][1], changes, strict=True)
        if change is not None
    ]
    changes_by_size.sort(key=lambda entry: -entry[0])
    largest = sorted(changes_by_size[:INFLUENTIAL], key=lambda entry: entry[1])
    by_set = [
        (cells.sets[place][0], [_entry(word, typeset(change, 2)) for *_, word, change in of_set])
        for place, of_set in groupby(largest, key=lambda entry: entry[2])
    ]
    rest = changes_by_size[INFLUENTIAL:]
    return by_set, len(rest), rest[0][0] if rest else 0.0


def describe_comparison(test: Mapping[str, Any]) -> str:
    """What a test compares the score with."""
    if test.get("middle"):
        low, median, high = test["middle"]
        middle = typographic(interval(low, high))
        return f"{count(test['draws'])} draws: median {typeset(median)}, the middle 95 % {middle}"
    text = COMPARED.get(test["method"], f"{{}} {test['compared']}").format(count(test["draws"]))
    of_all = test["method"] == "monte_carlo" and test["partitions"]
    return f"{text} of {count(test['partitions'])}" if of_all else text


def observed(record: Record, test: Mapping[str, Any]) -> str:
    """What a test compares with its values: the score, or one that leaves out what the metric draws at random."""
    text = typeset(test["observed"])
    return f"{'score' if text == typeset(record.value) else 'statistic'} {text}"


def histogram(test: Mapping[str, Any]) -> dict[str, Any] | None:
    """A test's histogram as a path in a box of 80 by 16, and where the score is in it; None where all values
    are equal up to rounding."""
    of_test = test["histogram"]
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
