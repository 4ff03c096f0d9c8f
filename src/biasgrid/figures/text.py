"""Text in figures: sizes, widths, line breaks, and spelling of names."""

from __future__ import annotations

import re
import textwrap
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from string import ascii_uppercase
from unicodedata import category, combining

from ..core.labels import sic
from ..core.numbers import share
from ..measure.aggregation import OVERALL

# Font sizes in points: if a page of 7 inches is 900 pixels wide, 7 points are 12.5 pixels, or 9 points of a screen.
SMALL, NORMAL, LARGE = 7.0, 8.0, 10.0
# Largest ratio to the width of normal text.
BOLD = 1.15
# An invisible character.
LEFT_TO_RIGHT = "\N{LEFT-TO-RIGHT MARK}"
# VIRAMA is a combining class.
JOINER, VIRAMA = "\N{ZERO WIDTH JOINER}", 9
# Unicode does not class these as marks, but they never stand apart from the letter before.
SIGNS = (JOINER, "\N{ZERO WIDTH NON-JOINER}", "\N{THAI CHARACTER SARA AM}", "\N{LAO VOWEL SIGN AM}")
DAGGER = "\N{DAGGER}"
# Largest numbers of characters: of a label, of either half of a query's name, of a row's name, and of a panel's head.
LONGEST, LONGEST_HALF, LONGEST_ROW, LONGEST_HEAD = 85, 120, 70, 32


def letters(count: int) -> list[str]:
    """Return letters that stand for names: A to Z, then AA, BB and so on."""
    return [ascii_uppercase[i % 26] * (i // 26 + 1) for i in range(count)]


def shorten(text: str, most: int = LONGEST) -> str:
    """Shorten a text to at most `most` characters.

    The middle of a longer text is left out, because names mostly differ at an end.
    """
    tail = most // 3
    return text if len(text) <= most else f"{text[: most - tail - 3].rstrip()} … {text[-tail:].lstrip()}"


def shorten_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Shorten labels for figures, and number labels that would become equal."""
    short: dict[str, str] = {}
    for key, label in labels.items():
        name = shorten(label)
        alike = sum(name == shorten(labels[other]) != labels[other] for other in short)
        short[key] = f"{name} ({alike + 1})" if alike else name
    return short


def metric_head(label: str) -> str:
    """Return a metric's label above a narrow panel, in two lines."""
    return wrap_text(shorten(label, LONGEST_HEAD), 20)


def topic(criterion: str) -> str:
    """Return the printed name of a criterion."""
    return "All topics" if criterion == OVERALL else shorten(criterion, LONGEST_HEAD)


def count_noun(count: int, noun: str) -> str:
    """Return a count with its noun: "1 query", "2 metrics"."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def sentences(text: str) -> list[str]:
    """Split a text into sentences."""
    return re.split(r"(?<=[.:]) (?=[A-Z0-9])", text)


def share_range(values: Iterable[float]) -> str:
    """Return shares as text, the smallest to the largest: "60 to 97 %"."""
    low, high = share(min(values := list(values))), share(max(values))
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def method_name(label: str) -> str:
    """Return a debias method's label in a sentence: "Hard debias" is "hard debiasing"."""
    name = re.sub(r"\bdebias\b", "debiasing", label)
    # Keep a name in capitals.
    return name if name[:2].isupper() else name[:1].lower() + name[1:]


def percent(level: float) -> str:
    """Write the level of an interval: "95 %", "99.9 %"."""
    return f"{level * 100:g} %"


def row_label(name: str, width: int = 26) -> str:
    """Return the name of a row, in lines of at most `width` characters."""
    return wrap_text(shorten(name, LONGEST_ROW), width)


def part_label(label: str, part: str | None) -> str:
    """Return a metric's label, with the distinguishing name of a sub-query if there are several."""
    return f"{label}: {part}" if part else label


def wrap_text(text: str, width: int) -> str:
    """Wrap text into as few lines of at most `width` characters as possible, of even length."""
    if text.isascii():
        return _wrap(text, width)
    # Replace what readers see as one character by one character while lines are broken.
    parts = _graphemes(text)
    marks = {part: chr(0xF0000 + i) for i, part in enumerate(dict.fromkeys(parts)) if len(part) > 1}
    lines = _wrap("".join(marks.get(part, part) for part in parts), width)
    return lines.translate({ord(mark): part for part, mark in marks.items()})


def _graphemes(text: str) -> list[str]:
    """Split text into letters with their signs: accents, vowel signs, and consonants that a virama joins."""
    parts: list[str] = []
    for character in text:
        if parts and (
            category(character)[0] == "M"
            or character in SIGNS
            or combining(parts[-1][-1]) == VIRAMA
            or parts[-1][-1] == JOINER
        ):
            parts[-1] += character
        else:
            parts.append(character)
    return parts


def _wrap(text: str, width: int) -> str:
    # Break at hyphens, or anywhere, only if a word is longer than a line.
    breaks = any(len(word) > width for word in text.split())
    lines = textwrap.wrap(text, width, break_on_hyphens=breaks)
    for narrower in range(max(len(text) // max(len(lines), 1), 1), width):
        even = textwrap.wrap(text, narrower, break_on_hyphens=breaks, break_long_words=False)
        if len(even) == len(lines) and max(map(len, even), default=0) <= narrower:
            return "\n".join(even)
    return "\n".join(lines)


def left_to_right(text: str) -> str:
    """Mark a sentence as left to right, even if it begins with a label in a right-to-left script."""
    return text if text.isascii() else "\n".join(f"{LEFT_TO_RIGHT}{line}" for line in text.split("\n"))


def query_label(query: str) -> str:
    """Return a query's name in lines: "A and B wrt C and D" breaks before "wrt"."""
    halves = sic(query).replace(" wrt ", "\nwrt ", 1).split("\n")
    return "\n".join(wrap_text(shorten(half, LONGEST_HALF), 42) for half in halves)


def shared_half(queries: Sequence[str]) -> tuple[str, list[str]]:
    """Return the common text of all queries before "wrt", and the rest of each; "" and the queries if it differs."""
    names = [sic(query) for query in queries]
    halves = {name.partition(" wrt ")[0] for name in names}
    half = halves.pop() if len(halves) == 1 and all(" wrt " in name for name in names) else ""
    return half, [name.removeprefix(f"{half} ") for name in names]


def text_width(text: str, size: float) -> float:
    """Return the width in inches of the widest line of a text with this size in points."""
    from matplotlib import rcParams

    fonts = (*rcParams["font.family"], *rcParams["font.sans-serif"])
    return max(_line_width(line, size, fonts) for line in text.split("\n")) / 72


# Cache widths, because figures with many labels measure the same words again and again.
@lru_cache(maxsize=8192)
def _line_width(line: str, size: float, fonts: tuple[str, ...]) -> float:
    """Return the width of a line in points; `fonts` are the current fonts, on which the width depends."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    return float(text_to_path.get_text_width_height_descent(line, FontProperties(size=size), ismath=False)[0])


def line_count(text: str) -> int:
    """Return the number of lines of a text; 0 if it is empty."""
    return text.count("\n") + bool(text)


def fit_text(text: str, inches: float, size: float) -> str:
    """Wrap text with this size in points into lines of at most this width in inches."""
    characters = max(len(text), 1)
    while True:
        lines = wrap_text(text, characters)
        # Measure line by line, and stop at the first line that is too wide.
        if characters == 1 or all(text_width(line, size) <= inches for line in lines.split("\n")):
            return lines
        characters = int(characters * 0.97)


def shorten_to_fit(text: str, inches: float, size: float) -> str:
    """Shorten text with this size in points to one line of at most this width in inches: `shorten`."""
    lengths = range(6, len(text) + 1)
    if not lengths or text_width(text, size) <= inches:
        return text
    fit = bisect_right(lengths, inches, key=lambda most: text_width(shorten(text, most), size))
    return shorten(text, lengths[max(fit - 1, 0)])


def unit_label(unit: tuple[str, str], labels: Mapping[str, str]) -> str:
    """Return the label of a model's and a debias method's keys; the method "none" is the original model."""
    model, debias = (labels.get(key, key) for key in unit)
    return model if unit[1] == "none" else shorten(f"{model} + {debias}", LONGEST_HALF)


def published_label(model: str, labels: Mapping[str, str]) -> str:
    """Return the label of a model's key in comparison.csv, which may be "<model> under <debias method>"."""
    model, _, debias = model.partition(" under ")
    return unit_label((model, debias or "none"), labels)
