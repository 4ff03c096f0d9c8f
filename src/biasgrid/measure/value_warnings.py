"""Warnings of missing words and other limits of a value, once per query and model."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ..core.errors import join_names, quote
from ..core.user_warnings import stacklevel
from ..models.words import UNKNOWN
from .caveats import (
    ONE_WORD,
    UNDEFINED,
    lookalike_text,
    lowest_p,
    other_reasons,
    shared_text,
    shared_words,
    why_undefined,
)

if TYPE_CHECKING:
    from ..queries.query import Query
    from .result import Result

# The warnings that this process has given. A text names the query, the model and the words, so each combination warns
# once. The set is cleared when it is full, so that long-running scripts do not need more and more memory.
WARNED: set[str] = set()
MOST = 10_000


class LostWordsWarning(UserWarning):
    """A model lacks words of a query; the message says so if too many are missing for a value."""


class NoValueWarning(UserWarning):
    """A metric is undefined for a query and a model although enough words were found."""


def warn_shared(query: Query) -> None:
    """Warn of words in two target sets, or in a target and an attribute set, at the caller's line."""
    if shared := shared_words(query):
        _warn_once(f"query {quote(query.name)} has a word in two sets: {shared_text(shared)}", UserWarning)


def warn_lost(query: Query, model: Any, result: Result) -> None:
    """Warn of limits of a value, at the caller's line.

    These are words that the model lacks, a value that is NaN or has a fixed size, and p-values that cannot be
    small. Words are counted once per set. Each process gives the same warning once, however often a query is
    measured; `warnings.simplefilter("ignore", LostWordsWarning)` turns these warnings off.

    Parameters
    ----------
    query
        The measured query.
    model
        The model, original or debiased; its `name` is part of the message.
    result
        The metric's result; its `lost`, `found` and `status` are read.
    """
    of_model = getattr(model, "name", type(model).__name__)  # a model may lack a name
    where = f"query {quote(query.name)} on {quote(of_model)}"
    lost = dict.fromkeys(word for words in result.lost.values() for word in words)
    if lost:
        word_count = sum(map(len, result.found.values())) + sum(map(len, result.lost.values()))
        message = (
            f"{where}: {result.words_lost} of {word_count} words are lost: {join_names(map(quote, lost))}"
        )
        # A form that looks the same is named at the end of the message.
        if reasons := other_reasons(result.why_lost):
            message += f"; reasons: {join_names(reasons)}"
        if failed_sets := _failed_sets(result):
            message += f"; the value is NaN: too many words are lost of {join_names(failed_sets)}"
        if alike := lookalike_text(result.why_lost):
            message += f". {alike}"
        _warn_once(message, LostWordsWarning)
    forms = ((word, form) for of_set in result.forms.values() for word, form in of_set.items())
    if unknown := dict.fromkeys(word for word, form in forms if form.startswith(UNKNOWN)):
        _warn_once(
            f"{where}: {len(unknown)} sentences are scored {UNKNOWN}: {join_names(map(quote, unknown))}",
            UserWarning,
        )
    metric_note = f" of {metric}" if (metric := getattr(result, "metric", "")) else ""
    if reason := why_undefined(result.status).replace(UNDEFINED, "it is undefined for these vectors"):
        _warn_once(f"{where}: the value{metric_note} is NaN: {reason}", NoValueWarning)
    if result.is_fixed:
        _warn_once(f"{where}: the value{metric_note} is kept: {ONE_WORD}", UserWarning)
    for name in result.tests:
        if lowest := lowest_p(result.p_lowest(name)):
            _warn_once(f"{where}: {name}{metric_note} cannot be small: {lowest}", UserWarning)


def _failed_sets(result: Result) -> list[str]:
    """Return the sets in which too many words are missing, with the numbers of words."""
    sets = f";{result.status.removeprefix('lost_words:')};"
    return [
        f"{quote(name)} ({len(lost)} of {len(lost) + len(result.found[name])})"
        for name, lost in result.lost.items()
        if f";{name};" in sets and result.status != "ok"
    ]


def _warn_once(message: str, kind: type[Warning]) -> None:
    if message in WARNED:
        return
    # If a filter turns the warning into an error, it is raised every time.
    warnings.warn(message, kind, stacklevel=stacklevel())
    if len(WARNED) >= MOST:
        WARNED.clear()
    WARNED.add(message)
