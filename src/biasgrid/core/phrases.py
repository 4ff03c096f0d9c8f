"""Numbers, lists and labels in sentences."""

from __future__ import annotations

from collections.abc import Iterable

from .numbers import count

NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def count_name(number: int) -> str:
    """Return a small number in words."""
    return NUMBERS[number] if number < len(NUMBERS) else count(number)


def number_of(count: int, total: int) -> str:
    """Return a share of a total in words: "one of seven", "all seven", "both"."""
    if count < total:
        return f"{count_name(count)} of {count_name(total)}"
    return "both" if total == 2 else f"all {count_name(total)}"


def pluralize(n: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: "1 model", "2 models"."""
    return f"{count(n)} {noun if n == 1 else plural or noun + 's'}"


def join_names(names: Iterable[str], last: str = "and") -> str:
    """Join names in a sentence: "a, b and c". No names are an empty text."""
    *first_names, end = [*names] or [""]
    return f"{', '.join(first_names)} {last} {end}" if first_names else end


def with_note(label: str, note: str) -> str:
    """Add a note to a label, inside the label's brackets if it has some."""
    if not note:
        return label
    return f"{label[:-1]}; {note})" if label.endswith(")") else f"{label} ({note})"


AND = " and "
# Separator of the target sets and the attribute sets in a query's name.
WRT = " wrt "


def query_labels(names: Iterable[str]) -> tuple[str, dict[str, str]]:
    """Return the common start of the names of a topic's queries, and a label for the rest of each name.

    For example, "Male terms and Female terms wrt Math and Arts" has the label "Math and Arts". The start is then
    "Male terms and Female terms", if all queries are about these two. If all queries are about male terms, the label
    is "Female terms: Math and Arts", and the start is "Male terms and ...".
    """
    halves = {name: name.partition(WRT) for name in names}
    starts = {targets for targets, _, _ in halves.values()}
    has_all_halves = len(halves) > 1 and all(wrt for _, wrt, _ in halves.values())
    if has_all_halves and len(starts) == 1:
        return starts.pop(), {name: attributes for name, (_, _, attributes) in halves.items()}
    firsts = {targets.partition(AND)[:2] for targets in starts}
    if has_all_halves and len(firsts) == 1 and firsts.copy().pop()[1]:
        [(first, _)] = firsts
        labels = {
            name: f"{targets.removeprefix(first + AND)}: {attributes}"
            for name, (targets, _, attributes) in halves.items()
        }
        return f"{first}{AND}...", labels
    return "", {name: f"{a}: {b}" if wrt else name for name, (a, wrt, b) in halves.items()}


def capitalized(text: str) -> str:
    """Capitalise the first letter of a text; the rest is unchanged."""
    return f"{text[:1].upper()}{text[1:]}"
