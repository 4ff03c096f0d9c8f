"""What a study found, in sentences: what is decided, what it rests on, and what it does not say."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import isnan
from typing import Any

from ..statistics.aggregation import OVERALL
from ..statistics.shared import FEW_SHARED, FEW_UNITS, FEWEST_QUERIES
from ..verdicts.agreement import Agreement
from ..verdicts.least_biased import Answer, RankedState
from .drivers import Drivers
from .names import Names, join_names, number, p_value, pluralize

FEW_MODELS = 4  # of fewer, metrics cannot be said to agree
# why nobody is ranked
REASONS = {
    FEW_UNITS: "fewer than two models have values on enough queries",
    FEW_SHARED: "the models share fewer than half of the queries",
    "": "no two models have values",
}


def of_criterion(criterion: str) -> str:
    """Where a sentence is about: a criterion, or all of them."""
    return "over all criteria" if criterion == OVERALL else f"on {criterion}"


def of_metric(answer: Answer, names: Names) -> str:
    """Which model is the least biased by a metric, and whether that is decided."""
    subject, scope = f"By {names.label(answer.metric)}", of_criterion(answer.criterion)
    first, models = answer.first, answer.models_with_value
    if not models:
        return f"{subject}, no model has a value {scope}."
    if len(models) == 1:
        return f"{subject}, only {names.state(models[0])} has a value {scope}: there is nothing to compare."
    if not first:
        return f"{subject}, no model is ranked {scope}: {REASONS[answer.reason]}."
    first_names = join_names(lost_queries(state, names) for state in first)
    if len(first) == len(models):
        sentence = f"{subject}, all {len(models)} models have the same value {scope}"
    elif not answer.has_test:
        sentence = (
            f"{subject}, {first_names} has the lowest bias {scope}; whether that is decided was not tested"
        )
    elif len(first) > 1:
        sentence = f"{subject}, {first_names} have the lowest bias {scope}, and the same"
    elif answer.is_decided:
        sentence = (
            f"{subject}, {first_names} is the least biased model {scope}: it differs significantly from "
            f"{_all_others(answer, names)} (adjusted {p_value(answer.p_adjusted).replace('=', '≤')})"
        )
    elif not answer.comparable:
        sentence = f"{subject}, {first_names} comes first {scope}, but can be compared with no other model"
    elif len(answer.undecided) == len(answer.comparable):
        smallest = min((s.p_first for s in answer.rivals if s.p_first == s.p_first), default=float("nan"))
        note = f" (adjusted {p_value(smallest).replace('=', '≥')})" if smallest == smallest else ""
        sentence = (
            f"{subject}, no model can be called the least biased {scope}: {first_names} comes first, but does "
            f"not differ significantly from any other{note}"
        )
    else:
        different_names = join_names(names.state(m) for m in answer.comparable if m not in answer.undecided)
        similar_names = join_names(map(names.state, answer.undecided), "or")
        sentence = (
            f"{subject}, {first_names} comes first {scope}; it differs significantly from {different_names}, but not "
            f"from {similar_names}"
        )
    notes = [
        of_borderline(answer),
        of_incomparable(answer, names),
        of_reach(answer),
        of_these_queries(answer),
    ]
    return f"{'; '.join([sentence, *filter(None, notes)])}."


def _all_others(answer: Answer, names: Names) -> str:
    """What the least biased model differs from."""
    if len(answer.comparable) == 1:
        return names.state(answer.comparable[0])
    return "all others" if not answer.incomparable else "all that it can be compared with"


def lost_queries(state: RankedState, names: Names) -> str:
    """A model, with the number of its queries where it lost some."""
    note = f" ({state.queries} of {state.queries_of} queries)" if state.has_lost_queries else ""
    return names.state(state.model, state.debias) + note


def of_borderline(answer: Answer) -> str:
    """That another seed may decide otherwise; else empty."""
    return "borderline: another seed may say otherwise" if answer.is_borderline else ""


def of_incomparable(answer: Answer, names: Names) -> str:
    """Which rivals the first model was not compared with; else empty."""
    rivals = [f"{names.state(r.model)}: {r.queries} of {r.queries_of} queries" for r in answer.incomparable]
    return f"not compared with {join_names(rivals)}" if rivals else ""


def of_reach(answer: Answer) -> str:
    """What an undecided answer could have seen; empty of a decided one."""
    if isnan(answer.reach):
        return ""
    queries = pluralize(answer.queries, "query", "queries")
    return f"a difference had to exceed {number(answer.reach, 2)} to be decided ({queries})"


def of_these_queries(answer: Answer) -> str:
    """That words alone were resampled; else empty."""
    return "for these queries: words alone were resampled" if answer.is_of_these_queries else ""


def of_single(of_criterion: Sequence[Answer], names: Names) -> str:
    """That there is nothing to compare, where no metric has two untouched models; else empty."""
    models = {model for answer in of_criterion for model in answer.models_with_value}
    if any(len(answer.models_with_value) > 1 for answer in of_criterion):
        return ""
    if not models:
        return "No model has a value."
    model = join_names(map(names.label, sorted(models)))
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


def of_decisive_queries(
    queries: Mapping[str, Sequence[tuple[str, str]]], ids: Mapping[str, str], names: Names
) -> str:
    """Queries without which another model would come first, by metric; empty where there is none.

    Parameters
    ----------
    queries
        Metric -> such (sub-)queries by name, each with the model that would come first.
    ids
        (Sub-)query by name -> the key of its query, as `biasgrid report --without` takes it.
    """
    statements = [
        f"{', '.join(dict.fromkeys(ids.get(name, name) for name, _ in decisive))} ({names.label(metric)})"
        for metric, decisive in queries.items()
        if decisive
    ]
    if not statements:
        return "No single query decides which model comes first." if queries else ""
    return f"Without one of these queries another model comes first: {'; '.join(statements)}."


def of_debias(answer: Answer, names: Names) -> list[str]:
    """Whether the debiased states of models are less biased by a metric than the models as they are."""
    sentences = []
    subject, scope = f"By {names.label(answer.metric)}", of_criterion(answer.criterion)
    for model in dict.fromkeys(state.model for state in answer.debiased):
        for direction, statement in (
            ("less", f"is significantly less biased {scope} than without"),
            ("more", f"is significantly more biased {scope} than without"),
            ("", f"does not differ significantly {scope} from itself without"),
        ):
            methods = [s.debias for s in answer.debiased if s.model == model and s.direction == direction]
            if methods:
                under = join_names(map(names.label, methods), "or")
                sentences.append(f"{subject}, {names.state(model)} under {under} {statement}.")
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
    """Which models are not ranked, or lost queries, by how many metrics; empty where none did."""
    counts: dict[tuple[str, bool], list[RankedState]] = {}
    for answer in of_criterion:
        for state in (*answer.models, *answer.not_ranked):
            if state.has_lost_queries or state.reason:
                counts.setdefault((state.model, bool(state.reason)), []).append(state)
    statements = []
    for (model, is_out), states in counts.items():
        least, most = min(s.queries for s in states), max(s.queries for s in states)
        queries = (
            f"{least} of {states[0].queries_of}"
            if least == most
            else f"{least} to {most} of {states[0].queries_of}"
        )
        statements.append(f"{names.state(model)} ({'not ranked: ' if is_out else ''}{queries} queries)")
    if not statements:
        return ""
    return f"Models that lost queries, as too many words are lost: {join_names(statements)}."


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
    if queries < FEWEST_QUERIES:
        sentences.append(
            f"With {pluralize(queries, 'query', 'queries')}, words alone were resampled: what is decided holds for "
            "these queries."
        )
    if models < FEW_MODELS:
        sentences.append(f"With {pluralize(models, 'model')}, it cannot be said whether metrics agree.")
    return sentences
