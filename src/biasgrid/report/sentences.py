"""Notes of the report on a study's conclusions: their basis, and their limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.numbers import NO_VALUE, coefficient, count, interval, plain, share
from ..core.phrases import count_name, join_names, pluralize
from ..measure import significance
from ..measure.aggregation import OVERALL
from ..measure.evidence import ALL, TESTS
from ..measure.reliability_in_words import LEVEL_NAMES, ORDER, SCORE, SIGN
from ..measure.statistics.shared import FEW_SHARED, FEW_UNITS
from ..tables.conclusions.agreement import Agreement, of_few_models
from ..tables.conclusions.least_biased import Answer, DebiasedState, RankedState
from .names import Names

if TYPE_CHECKING:
    import pandas as pd

# With fewer models, the agreement of metrics cannot be judged.
FEW_MODELS = 4
# Reasons why no model is ranked.
REASONS = {
    FEW_UNITS: "fewer than two models have values on enough queries",
    FEW_SHARED: "the models share fewer than half of the queries",
    "": "no two models have values",
}


def of_single(of_criterion: Sequence[Answer], names: Names) -> str:
    """Say that there is nothing to compare, if no metric has two original models; otherwise return ""."""
    models = {model for answer in of_criterion for model in answer.models_with_value}
    if any(len(answer.models_with_value) > 1 for answer in of_criterion):
        return ""
    if not models:
        return "No model has a value."
    model = join_names(map(names.label, sorted(models)))
    return f"No metric has more than one model ({model}): there is nothing to compare."


def of_directions(table: pd.DataFrame, metrics: Iterable[str], names: Names) -> str:
    """Say on which queries models differ in direction, by metric; empty if no metric can show it.

    Parameters
    ----------
    table
        Rows of `tables.conclusions.direction.directions`.
    metrics
        Keys, in their order.
    """
    by_metric = {
        metric: table[table["metric"] == metric].groupby("query_id")["is_opposed"].any()
        for metric in metrics
        if metric in set(table["metric"])
    }
    statements = [
        f"{', '.join(queries.index[queries])} ({names.label(metric)}, {queries.sum()} of {len(queries)})"
        for metric, queries in by_metric.items()
        if queries.any()
    ]
    if not statements:
        return "No metric finds models biased in opposite directions." if by_metric else ""
    return f"On these queries models are biased in opposite directions: {'; '.join(statements)}."


def of_agreement(agreement: Agreement, names: Names, metrics: int) -> str:
    """Say whether all metrics give the models one order."""
    if metrics < 2 or not agreement.pairs:
        return ""
    if agreement.order:
        order = ", ".join(names.state(model) for model in agreement.order)
        return (
            f"Overall order, the least biased first: {order}. At least one metric finds each pair of models "
            "different, and no two metrics contradict each other."
        )
    if agreement.against:
        statements = [
            f"{names.state(a)} is less biased than {names.state(b)} by {join_names(map(names.label, by_a))}, and "
            f"more biased by {join_names(map(names.label, by_b))}"
            for a, b, by_a, by_b in agreement.against
        ]
        return f"There is no overall order, since metrics contradict each other: {'; '.join(statements)}."
    if not agreement.n_decided:
        return (
            f"There is no overall order: of {count_name(metrics)} metrics, none finds two models different."
        )
    return (
        f"There is no overall order: metrics find a clear difference in {agreement.n_decided} of "
        f"{pluralize(agreement.pairs, 'pair')} of models. No two metrics contradict each other."
    )


def of_correlations(criterion: Mapping[str, Any], limit: int) -> str:
    """Say how many pairs of metrics agree, or that the models are too few to tell.

    Parameters
    ----------
    criterion
        `name`; `n`, the number of models of each pair of metrics; `pairs`, rows of correlations.csv.
    limit
        Smallest number of models for which a correlation is a finding.
    """
    models = max(criterion["n"].values())
    if models < limit:
        return f"{of_few_models(models)}."
    pairs = [criterion["pairs"][place] for place, n in criterion["n"].items() if n >= limit]
    counts = [sum(pair.ci_low > 0 for pair in pairs), sum(pair.ci_high < 0 for pair in pairs)]
    agree = f"{criterion['name']}: {counts[0]} of {pluralize(len(pairs), 'pair')} of metrics clearly agree"
    return f"{agree}, {counts[1]} clearly disagree."


def of_debiasing(effects: Mapping[tuple[str, str], DebiasedState]) -> str:
    """Say according to how many comparable metrics a debias method changed the bias on each topic."""
    counts: dict[str, list[int]] = {}
    for (criterion, _), state in effects.items():
        if not state.reason:
            of_criterion = counts.setdefault(criterion, [0, 0, 0])
            of_criterion[0] += state.direction == "less"
            of_criterion[1] += state.direction == "more"
            of_criterion[2] += 1
    if len(counts) > 1:
        counts.pop(OVERALL, None)
    statements = []
    for name, (less, more, total) in counts.items():
        statement = f"{name}, {less} of {pluralize(total, 'metric')}"
        statements.append(statement + (f" (significantly more: {more})" if more else ""))
    return f"Significantly less bias: {'; '.join(statements)}." if statements else ""


def of_stability(row: Any) -> str:
    """Return a row of reliability.csv as a phrase: "same sign in 54 % of lists of 60 words"."""
    if row.question == SCORE:
        what = {SIGN: "same sign", ORDER: "same order of two models"}[row.coefficient]
        return f"{what} in {share(row.value)} of lists of {count(int(row.words))} words"
    ends = interval(row.low, row.high, form=coefficient)
    number = f"{row.coefficient} {coefficient(row.value)} {ends}" if ends != NO_VALUE else row.coefficient
    return f"order of words: {LEVEL_NAMES.get(row.verdict, row.verdict)} ({number}, {count(int(row.items))} items)"


def of_lost_queries(states: Iterable[RankedState]) -> str:
    """Say how many queries a model has under all metrics; empty if it has all of them and is ranked."""
    by_kind: dict[bool, list[RankedState]] = {}
    for state in states:
        if state.has_lost_queries or state.reason:
            by_kind.setdefault(bool(state.reason), []).append(state)
    statements = []
    for is_out, of_kind in by_kind.items():
        least, most = min(s.queries for s in of_kind), max(s.queries for s in of_kind)
        counts = f"{least} of" if least == most else f"{least} to {most} of"
        statements.append(f"{'not ranked: ' * is_out}{counts} {of_kind[0].queries_of} queries")
    return "; ".join(statements)


def of_coverage(queries: int, models: int, inference: dict[str, Any], verdicts: int) -> list[str]:
    """Return sentences on the scope of the conclusions on a criterion, and on how many of them may be wrong."""
    basis = f"{pluralize(queries, 'query', 'queries')} and the words in {'it' if queries == 1 else 'them'}"
    if not (bootstrap := inference.get("bootstrap")):
        return [
            f"These statements rest on {basis}. The study has no bootstrap, so nothing says how sure they are."
        ]
    level = plain(100 * bootstrap["level"])
    sentences = [
        f"These results hold for these queries, with similar words ({level} % for all pairs of models at once). "
        f"They rest on {basis}. They do not cover other training runs of a model, other corpora, other languages or "
        "other tasks. pairs.csv has the answers about other queries."
    ]
    if (wrong := round((1 - bootstrap["level"]) * verdicts)) > 0:
        sentences.append(
            f"About {count_name(wrong)} of {pluralize(verdicts, 'conclusion')} may be wrong by chance."
        )
    if models < FEW_MODELS:
        sentences.append(f"With {pluralize(models, 'model')}, nobody can say whether metrics agree.")
    return sentences


def of_frequency(scores: pd.DataFrame, limit: float) -> str:
    """Say how many significant scores are not so once word frequency is controlled for; empty if untested."""
    if "evidence" not in scores:
        return ""
    marked = scores[scores["evidence"].isin([ALL, *TESTS])]
    statements = []
    for test in significance.tests():
        if test.by_frequency and len(p_values := marked[test.adjusted].dropna()):
            share = f"{int((p_values > limit).sum()):,} of {len(p_values):,}"
            statements.append(f"{share} {test.noun.partition('test ')[2]}")
    if not statements:
        return ""
    scores_of = pluralize(len(marked), "significant score")
    return (
        f"Of {scores_of}, some are not significant once word frequency is controlled for: {join_names(statements)} "
        f"(adjusted p > {plain(limit)}; of the scores with such a test)."
    )
