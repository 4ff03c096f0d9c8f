"""What a study found, in sentences: what is decided, what it rests on, and what it does not say."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ..statistics.aggregation import OVERALL
from .answer import Agreement, Answer
from .drivers import Drivers
from .names import Names, join_names, number, p_value, pluralize

FEW_MODELS = 4  # of fewer, metrics cannot be said to agree


def of_criterion(criterion: str) -> str:
    """Where a sentence is about: a criterion, or all of them."""
    return "over all criteria" if criterion == OVERALL else f"on {criterion}"


def of_metric(answer: Answer, names: Names) -> str:
    """Which model is the least biased by a metric, and whether that is decided."""
    subject, scope = f"By {names.label(answer.metric)}", of_criterion(answer.criterion)
    first, ranked_models = answer.first, [state for state in answer.models if state.rank == state.rank]
    if not ranked_models:
        return f"{subject}, no model has a value {scope}."
    first_names = join_names(names.state(state.model) for state in first)
    if len(ranked_models) == 1:
        return f"{subject}, only {first_names} has a value {scope}: there is nothing to compare."
    if len(first) == len(ranked_models):
        return f"{subject}, all {len(ranked_models)} models have the same value {scope}."
    if not answer.has_test:
        return (
            f"{subject}, {first_names} has the lowest bias {scope}; whether that is decided was not tested."
        )
    if len(first) > 1:
        return f"{subject}, {first_names} have the lowest bias {scope}, and the same."
    different_names = (
        join_names(names.state(state.model) for state in answer.models_that_differ)
        if answer.models_that_differ
        else ""
    )
    similar_names = (
        join_names((names.state(state.model) for state in answer.models_on_a_par), "or")
        if answer.models_on_a_par
        else ""
    )
    if answer.is_decided:
        largest = max(state.p_first for state in answer.models_that_differ)
        sentence = (
            f"{subject}, {first_names} is the least biased model {scope}: it differs significantly from "
            f"{'all others' if len(ranked_models) > 2 else different_names} "
            f"(adjusted {p_value(largest).replace('=', '≤')})"
        )
    elif not different_names:
        smallest = min(
            (s.p_first for s in answer.models_on_a_par if s.p_first == s.p_first), default=float("nan")
        )
        note = f" (adjusted {p_value(smallest).replace('=', '≥')})" if smallest == smallest else ""
        sentence = (
            f"{subject}, no model can be called the least biased {scope}: {first_names} comes first, but does "
            f"not differ significantly from any other{note}"
        )
    else:
        sentence = (
            f"{subject}, {first_names} comes first {scope}; it differs significantly from {different_names}, but not "
            f"from {similar_names}"
        )
    return f"{sentence}."


def of_single(of_criterion: Sequence[Answer], names: Names) -> str:
    """That there is nothing to compare, where no metric has two untouched models; else empty."""
    ranked_models = {
        state.model for answer in of_criterion for state in answer.models if state.rank == state.rank
    }
    if any(sum(state.rank == state.rank for state in answer.models) > 1 for answer in of_criterion):
        return ""
    if not ranked_models:
        return "No model has a value."
    model = join_names(map(names.label, sorted(ranked_models)))
    return f"No metric has more than one model ({model}): there is nothing to compare."


def of_drivers(drives: Drivers | None, names: Names) -> str:
    """Which query models are furthest from no bias on, and without which the first model changes."""
    if drives is None or drives.queries < 2:
        return ""
    model, query = drives.first
    parts = [f"{names.state(model)} is furthest from no bias on “{query}”"]
    # a query that is the furthest one of few models drives nothing
    if drives.models > max(1, drives.models_with_value / 2):
        most = f"{drives.models} of {pluralize(drives.models_with_value, 'model')}"
        parts[0] += f", as are {most}" if query == drives.query else f", {most} on “{drives.query}”"
    by_model: dict[str, list[str]] = {}
    for query, model in drives.decisive_queries:
        by_model.setdefault(model, []).append(f"“{query}”")
    parts += [
        f"without {queries[0] if len(queries) == 1 else f'any of {len(queries)} queries ({queries[0]}, ...)'}, "
        f"{names.state(model)} comes first"
        for model, queries in by_model.items()
    ]
    if not drives.decisive_queries:
        parts.append("no single query decides which model comes first")
    return f"{'; '.join(parts)}."


def of_debias(answer: Answer, names: Names) -> list[str]:
    """Whether the debiased states of models are less biased by a metric than the models as they are."""
    sentences = []
    subject, scope = f"By {names.label(answer.metric)}", of_criterion(answer.criterion)
    for states in answer.states:
        untouched_state = next((state for state in states if state.debias == "none"), None)
        if untouched_state is None or not untouched_state.letters:
            continue
        different = [s for s in states if s.letters and not set(s.letters) & set(untouched_state.letters)]
        less_biased = [s for s in different if s.rank < untouched_state.rank]
        more_biased = [s for s in different if s.rank > untouched_state.rank]
        equal = [
            s
            for s in states
            if s.letters and s is not untouched_state and s not in less_biased and s not in more_biased
        ]
        name = names.state(untouched_state.model)
        for group, statement in (
            (less_biased, "is significantly less biased {on} than without"),
            (more_biased, "is significantly more biased {on} than without"),
            (equal, "does not differ significantly {on} from itself without"),
        ):
            if group:
                methods = join_names((names.label(state.debias) for state in group), "or")
                sentences.append(f"{subject}, {name} under {methods} {statement.format(on=scope)}.")
    return sentences


def of_agreement(agreement: Agreement, names: Names, metrics: int) -> str:
    """Whether there is one order of the models by all metrics."""
    if metrics < 2 or not agreement.pairs:
        return ""
    if agreement.order:
        order = ", ".join(names.state(model) for model in agreement.order)
        return (
            f"Overall order, the least biased first: {order}. Each pair of models is decided by at least one metric, "
            "and no two metrics contradict each other."
        )
    if agreement.against:
        statements = [
            f"{names.state(a)} is less biased than {names.state(b)} by {join_names(map(names.label, by_a))}, and "
            f"more biased by {join_names(map(names.label, by_b))}"
            for a, b, by_a, by_b in agreement.against
        ]
        return f"There is no overall order, since metrics contradict each other: {'; '.join(statements)}."
    if not agreement.n_decided:
        return "There is no overall order: no metric tells any two models apart."
    return (
        f"There is no overall order: metrics decide {agreement.n_decided} of "
        f"{pluralize(agreement.pairs, 'pair')} of models. No two metrics contradict each other in what they decide."
    )


def of_lengths(of_criterion: Sequence[Answer], names: Names, length_metrics: Collection[str]) -> str:
    """Which metrics' values grow with the length of a model's vectors."""
    labels = [names.label(answer.metric) for answer in of_criterion if answer.metric in length_metrics]
    if not labels:
        return ""
    depend, pronoun = ("depends", "it") if len(labels) == 1 else ("depend", "them")
    return (
        f"{join_names(labels)} {depend} on the length of a model's vectors: longer vectors give larger values, so "
        f"that by {pronoun} a model may come last for its length alone. To take length out, normalise the vectors "
        "(words: {normalize: true})."
    )


def of_lost(of_criterion: Sequence[Answer], names: Names) -> str:
    """Which models were ranked with fewer scores than others, and how many they lack."""
    missing_scores: dict[str, list[tuple[int, int]]] = {}
    for answer in of_criterion:
        ranked_models = [state for state in answer.models if state.rank == state.rank]
        fewest = min((state.missing for state in ranked_models), default=0)
        for state in ranked_models:
            if state.missing > fewest:
                missing_scores.setdefault(state.model, []).append((state.missing, state.cells))
    if not missing_scores:
        return ""
    statements = []
    for model, counts in missing_scores.items():
        (low, of_low), (high, of_high) = min(counts), max(counts)
        upper_end = "" if (low, of_low) == (high, of_high) else f" to {high} of {of_high}"
        statements.append(
            f"{names.state(model)} ({low} of {of_low}{upper_end} scores missing, depending on the metric)"
        )
    return (
        f"Ranked with fewer scores than other models, as too many words are lost: {join_names(statements)}."
    )


def of_coverage(queries: int, models: int, inference: dict[str, Any]) -> list[str]:
    """What the statements on a criterion cover, and what they do not."""
    basis = f"{pluralize(queries, 'query', 'queries')} and the words in {'it' if queries == 1 else 'them'}"
    if not (bootstrap := inference.get("bootstrap")):
        return [
            f"These statements are of {basis}; the study has no bootstrap, so nothing says how sure they are."
        ]
    level = number(100 * bootstrap["level"])
    sentences = [
        f"What is decided here covers other words and queries of this kind: it rests on {basis}, drawn anew "
        f"{bootstrap['draws']:,} times (bootstrap over words and queries, {level} % for all pairs of models at once)"
        ". It does not cover other training runs of a model, other corpora, other languages or other tasks."
    ]
    if queries < 5:
        sentences.append(
            f"With {pluralize(queries, 'query', 'queries')}, resamples of queries vary less than new queries "
            "would: take what is decided with care."
        )
    if models < FEW_MODELS:
        sentences.append(f"With {pluralize(models, 'model')}, it cannot be said whether metrics agree.")
    return sentences
