"""Limitations of a score's numbers, with the same wording in Python, notebooks, terminal, report and warnings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.errors import join_names, quote
from ..core.numbers import p_number
from ..models.words import THE_MODEL_HAS
from ..queries.query import Query

if TYPE_CHECKING:
    from ..metrics.registry import Metric

LARGE_P = 0.05  # a test whose p-value cannot be this small can never be significant
DEGENERATE = "degenerate"
UNDEFINED = "the metric is undefined for these vectors"
WHY_ONE_WORD = "one word"  # part of a status: "degenerate:one word"
ONE_WORD = "two sets of one word each fix its size by construction"


def degenerate(why: str = "") -> str:
    """Return the status of a score that its metric leaves undefined; `why` is a short name of the reason, if any."""
    return f"{DEGENERATE}:{why}" if why else DEGENERATE


def why_undefined(status: str) -> str:
    """Return the reason why a score with this status is undefined, as a clause; "" for a status of another kind."""
    kind, _, why = status.partition(":")
    if kind != DEGENERATE:
        return ""
    return ONE_WORD if why == WHY_ONE_WORD else f"{UNDEFINED} ({why.replace('_', ' ')})" if why else UNDEFINED


def lowest_p(p_lowest: float | None) -> str:
    """Return "lowest possible p .33" if a test has too few words or draws for a p of .05, otherwise ""."""
    cannot_be_small = p_lowest is not None and p_lowest > LARGE_P + 1e-12
    return f"lowest possible p {p_number(p_lowest)}" if cannot_be_small else ""


def is_at_floor(test: Mapping[str, Any]) -> bool:
    """Return whether a p-value is the smallest that the test's draws can give, so that more draws may lower it."""
    p_value, p_lowest = (test.get(name) or 1.0 for name in ("p_value", "p_lowest"))
    is_drawn = test.get("method") in ("monte_carlo", "drawn")
    return is_drawn and bool(p_value <= p_lowest * (1 + 1e-9)) and p_lowest < 1


def p_with_lowest(
    p: float | None, p_lowest: float | None, form: Callable[[float | None], str] = p_number
) -> str:
    """Return a p-value, followed by the lowest possible one if that is not small: ".33 (lowest possible p .33)"."""
    note = lowest_p(p_lowest)
    return form(p) + (f" ({note})" if note else "")


def lookalike_text(why_lost: Mapping[str, Mapping[str, str]]) -> str:
    """Return the first missing word that the model has in a form that looks the same, with this form, or "".

    `why_lost` comes from a result: "'mère ' has a space at its end; the model has 'mère' (2 more words are
    alike)".
    """
    alike = {
        word: reason
        for by_word in why_lost.values()
        for word, reason in by_word.items()
        if THE_MODEL_HAS in reason
    }
    if not alike:
        return ""
    word, reason = next(iter(alike.items()))
    others = len(alike) - 1
    more = f" ({others} more word{'s are' if others > 1 else ' is'} alike)" if others else ""
    return f"{quote(word)} {reason}{more}"


def other_reasons(why_lost: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return the distinct reasons why words and sentences are missing, except forms that look the same."""
    reasons = dict.fromkeys(reason for by_word in why_lost.values() for reason in by_word.values())
    return [reason for reason in reasons if THE_MODEL_HAS not in reason]


def is_fixed(metric: Metric, query: Query, entries: Mapping[str, Mapping[str, Sequence[str]]]) -> bool:
    """Return whether sets of one word each fix the size of a (sub-)query's score.

    `entries` is "found" of its result.
    """
    sides = query.target_sets, query.attribute_sets
    return metric.is_fixed(*([sum(map(len, entries[s.name].values())) for s in side] for side in sides))


def shared_words(query: Query) -> list[tuple[str, str, list[str]]]:
    """Return words in two target sets, or in a target and an attribute set: both sets' names, and the words.

    The list is empty for a query of sentences, because one sentence may occur in several pairs.
    """
    if not query.attribute_sets:
        return []
    shared = []
    for place, first in enumerate(query.target_sets):
        for second in (*query.target_sets[place + 1 :], *query.attribute_sets):
            members = set(second.words)
            if words := list(dict.fromkeys(word for word in first.words if word in members)):
                shared.append((first.name, second.name, words))
    return shared


def shared_text(shared: list[tuple[str, str, list[str]]]) -> str:
    """Return the result of `shared_words` as a sentence: "'he' in Male and Female"."""
    return "; ".join(
        f"{join_names(map(quote, words))} in {quote(first)} and {quote(second)}"
        for first, second, words in shared
    )
