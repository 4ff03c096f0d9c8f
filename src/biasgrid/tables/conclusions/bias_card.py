"""Card on bias: queries with evidence, and topics whose average has evidence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ...core.phrases import join_names, pluralize
from ...debias import UNTOUCHED
from ...measure.evidence import ALL, NO_PROOF, UNTESTED
from .card import MOST_NAMED, Card, few_named, show
from .direction import directions, of_directions
from .findings import Findings, TopicFindings

if TYPE_CHECKING:
    import pandas as pd

# More metrics are counted.
FEW_METRICS = 2


def bias_card(
    findings: Findings | None,
    averages: Iterable[Average],
    tables: Mapping[str, pd.DataFrame],
    spec: Mapping[str, Any],
) -> Card | None:
    """Say on how many queries there is clear evidence of bias, and on which."""
    if findings is None:
        return None
    noun = "query" if findings.queries == 1 else "queries"
    unit = f"{noun} {show(findings.queries)} {evidence_phrase(findings)} of bias"
    sentences = [_queries_of(topic, spec) for topic in findings.clear]
    none = _without_evidence(findings)
    if none and findings.clear:
        sentences.append(f"None on {few_named(none, 'or')}; this does not prove that there is none.")
    elif none:
        sentences.append(NO_PROOF)
    sentences += [_on_average(average, spec) for average in averages]
    if findings.weak:
        is_tested = findings.is_weak_beside_groups
        why = "unrelated word groups differ as much" if is_tested else "there is no random-word baseline"
        more = "more " if findings.clear else ""
        queries = pluralize(findings.weak, f"{more}query", f"{more}queries")
        sentences.append(f"On {queries}, the evidence is weak: {why}.")
    opposed = directions(tables.get("scores"), spec["sides"])
    if opposed["is_opposed"].any():
        sentences.append(of_directions(opposed))
    if len(findings.clear) == 1 and findings.found > 1 and findings.clear[0].models_of > 1:
        sentences.append(f"In {models_with(findings.clear[0])}, at least one of these queries shows it.")
    return Card("Bias", "Is there bias?", f"{findings.found} of {findings.queries}", unit, tuple(sentences))


def evidence_phrase(findings: Findings) -> str:
    """Return how strong a finding is: "clear evidence" needs two tests."""
    return "clear evidence" if findings.has_two_tests else "evidence"


def _without_evidence(findings: Findings) -> list[str]:
    """Return the topics without a query with evidence."""
    return [topic.name for topic in findings.topics if not topic.found]


class Average(NamedTuple):
    """Topic whose average over queries has evidence: labels of the models with evidence, their metrics, and how many
    models were tested."""

    topic: str
    models: tuple[str, ...]
    metrics: frozenset[str]
    tested: int


def find_averages(
    findings: Findings | None, aggregates: pd.DataFrame | None, spec: Mapping[str, Any]
) -> list[Average]:
    """Find topics on which no query has evidence, but the average over queries has."""
    if findings is None or aggregates is None or "evidence" not in aggregates:
        return []
    rows = aggregates[
        (aggregates["aggregation"] == spec["aggregation"]) & (aggregates["debias"] == UNTOUCHED)
    ]
    found = []
    for topic in _without_evidence(findings):
        tested = rows[(rows["criterion"] == topic) & (rows["evidence"] != UNTESTED)]
        clear = tested[tested["evidence"] == ALL]
        if not clear.empty:
            models = tuple(spec["labels"].get(model, model) for model in clear["model"].unique())
            found.append(Average(topic, models, frozenset(clear["metric"]), tested["model"].nunique()))
    return found


def _on_average(average: Average, spec: Mapping[str, Any]) -> str:
    """Say which models have more bias on a topic than unrelated words, on average over its queries."""
    models = of_models(len(average.models), average.tested)
    if len(average.models) == 1 < average.tested:
        (models,) = average.models
    verb = "has" if len(average.models) == 1 else "have"
    return (
        f"On average over queries, {models} {verb} more bias on {average.topic} than unrelated words, according to "
        f"{_metrics_of(average.metrics, spec)}."
    )


def _queries_of(topic: TopicFindings, spec: Mapping[str, Any]) -> str:
    """Name a topic's queries with evidence: "Gender: Man Roles and Woman Roles (all 4 models)."

    If the first metric, which the picture shows at first, does not find the evidence, the metrics that do are named.
    """
    named = []
    for query in topic.found[:MOST_NAMED]:
        by = ""
        if spec["metrics"][0] not in query.metrics:
            by = f" by {_metrics_of(query.metrics, spec)}"
        named.append(f"{query.label} ({of_models(query.models, query.models_of)}{by})")
    rest = len(topic.found) - len(named)
    return f"{topic.name}: {'; '.join([*named, f'{rest} more'] if rest else named)}."


def models_with(topic: TopicFindings) -> str:
    """Say in how many models a topic has evidence: "all 4 models", "2 of 4 models"."""
    return of_models(len(topic.models), topic.models_of)


def of_models(count: int, total: int) -> str:
    """Say how many of all models these are."""
    if count == total == 2:
        return "both models"
    return f"all {total} models" if count == total > 1 else f"{count} of {pluralize(total, 'model')}"


def _metrics_of(keys: Collection[str], spec: Mapping[str, Any]) -> str:
    """Join the labels of a few metrics, in the study's order; if there are many, return their number."""
    labels = [spec["labels"].get(metric, metric) for metric in spec["metrics"] if metric in keys]
    return join_names(labels) if len(labels) <= FEW_METRICS else f"{len(labels)} metrics"
