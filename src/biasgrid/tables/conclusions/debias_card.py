"""Card on debiasing: according to how many metrics a debias method lowers bias."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.phrases import capitalized, count_name, join_names
from .card import Card, show
from .debias_effect import Effect, metrics_by_length, pooled

# If there are more debias methods, their counts are added up.
FEW_METHODS = 2


def debias_card(of_methods: Sequence[Effect], spec: Mapping[str, Any]) -> Card | None:
    """Say according to how many metrics a debias method lowers bias on its own topic, and on others."""
    labels = spec["labels"]
    if not any(effect.counts for effect in of_methods):
        return None
    if len(of_methods) > FEW_METHODS:
        question, after = "Does debiasing help?", f"{count_name(len(of_methods))} debias methods"
    else:
        names = join_names([labels.get(effect.method, effect.method) for effect in of_methods])
        question, after = f"Does {names} help?", names
    own, others = pooled(of_methods, True), pooled(of_methods, False)
    topics = list(dict.fromkeys(effect.topic for effect in of_methods))
    on = topics[0] if len(topics) == 1 else "the topic that they are made for"
    models = {model for effect in of_methods for model in effect.models}
    noun = "metric" if len(models) == 1 and len(of_methods) == 1 else "comparison"
    metrics_show = f"{noun if own.total == 1 else noun + 's'} {show(own.total)}"
    sentences = []
    if own.more:
        sentences.append(f"{own.more} of {own.total} {show(own.total)} clearly more.")
    if others.total:
        count = f"{others.less} of {others.total} {show(others.total)}" if others.less else "None shows"
        sentences.append(f"{count} clearly less bias on other topics.")
        if others.more:
            count = f"{others.more} of {others.total} {show(others.total)}"
            sentences.append(f"{count} clearly more bias on other topics.")
    if by_length := metrics_by_length(of_methods):
        depend = "depends" if len(by_length) == 1 else "depend"
        names = join_names([labels.get(metric, metric) for metric in by_length])
        sentences.append(f"{names} {depend} on the length of vectors, which debiasing changes.")
    if not spec["recovery"]:
        sentences.append("This study does not measure whether the bias can be recovered.")
    left = of_methods[0].left if len(of_methods) == 1 else {}
    bars = tuple((labels.get(metric, metric), value) for metric, value in left.items())
    figure, unit = f"{own.less} of {own.total}", f"{metrics_show} clearly less bias on {on} after {after}"
    return Card("Debiasing", capitalized(question), figure, unit, tuple(sentences), bars, visible=1)
