"""Notes on what is missing: models, scores and baselines; and on how many published numbers are reproduced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...core.phrases import join_names, pluralize
from ...debias import UNTOUCHED
from ...measure.aggregation import OVERALL
from ...measure.statistics.scale import TOO_FEW_TOPICS
from ..published.verdict import UNJUDGED, VERDICTS
from ..published.wholes import counted
from .card import MOST_NAMED, few_named
from .findings import Untestable
from .least_biased import Answer

if TYPE_CHECKING:
    import pandas as pd

# Reasons for missing scores.
REASONS = {
    "lost_words": "models lack too many of the words",
    "degenerate": "the metric is not defined for these vectors",
}
# Why a score has no baseline, in words that need no definition.
NO_BASELINES = {TOO_FEW_TOPICS: "too few comparable word groups"}
ONE_SCORE = (
    "A score is of one metric, query and model, debiased models included. A metric that takes fewer word sets than "
    "the query has gives it several scores."
)


def of_absent(labels: Sequence[str]) -> str:
    """Say which models are absent because they could not be downloaded."""
    if not labels:
        return ""
    verb, it = ("is", "it") if len(labels) == 1 else ("are", "they")
    return f"{join_names(labels)} {verb} not measured: {it} could not be downloaded."


def missing(scores: pd.DataFrame | None, answers: Iterable[Answer], labels: Mapping[str, str]) -> list[str]:
    """Say how many scores could not be computed and why, for which model most, and its topics without a rank."""
    if scores is None or scores.empty:
        return []
    missing = scores[scores["value"].isna()]
    if missing.empty:
        return [f"None: all {len(scores):,} scores could be computed."] * (len(scores) > 1)
    reasons = missing["status"].str.partition(":")[0].value_counts()
    why = [REASONS.get(str(name), str(name).replace("_", " ")) for name in reasons.index]
    if len(why) > 1:
        why = [f"for {n:,}, {reason}" for n, reason in zip(reasons, why, strict=True)]
    counts = missing["model"].value_counts()
    model, most = str(counts.index[0]), int(counts.iloc[0])
    of_model = ""
    if len(counts) > 1 and 2 * most > len(missing):
        of_model = f", {most:,} of them for {labels.get(model, model)},"
    included = " (debiased models included)" if (scores["debias"] != UNTOUCHED).any() else ""
    sentences = [
        f"{len(missing):,} of {len(scores):,} scores{included}{of_model} could not be computed: {join_names(why)}."
    ]
    unranked: dict[str, list[str]] = {}
    for answer in answers:
        # A single model is never ranked.
        has_rivals = len(answer.models) + len(answer.not_ranked) > 1
        for state in answer.not_ranked if has_rivals and answer.criterion != OVERALL else ():
            topics = unranked.setdefault(state.model, [])
            if state.has_lost_queries and answer.criterion not in topics:
                topics.append(answer.criterion)
    for key, topics in list(unranked.items())[:MOST_NAMED]:
        if topics:
            sentences.append(
                f"{labels.get(key, key)} is not ranked on {few_named(topics)}: too few queries have a value."
            )
    return [*sentences, ONE_SCORE]


def cannot_tell(untestable: Untestable) -> list[str]:
    """Say how many scores could not be significant, whatever their values, and why."""
    sentences = []
    if untestable.no_baseline:
        # Records of older code have a different sentence for each score.
        few = len(untestable.reasons) <= MOST_NAMED
        reasons = [NO_BASELINES.get(reason, reason) for reason in untestable.reasons]
        why = f": {join_names(reasons, 'or')}" if few and reasons else ""
        have = "has" if untestable.no_baseline == 1 else "have"
        sentences.append(
            f"{pluralize(untestable.no_baseline, 'score')} on {few_named(untestable.topics)} {have} no random-word "
            f"baseline{why}."
        )
    if untestable.few_words:
        have = "has" if untestable.few_words == 1 else "have"
        sentences.append(
            f"{pluralize(untestable.few_words, 'score')} {have} too few words to be significant in any test."
        )
    if untestable.few_draws:
        need = "needs" if untestable.few_draws == 1 else "need"
        sentences.append(
            f"{pluralize(untestable.few_draws, 'score')} {need} about {untestable.draws:,} random draws to be "
            "significant."
        )
    return sentences


def reproduced(comparison: pd.DataFrame | None) -> str:
    """Say how many published numbers, rankings and correlation matrices are reproduced, each counted separately.

    The text is empty without published results of these models.
    """
    if comparison is None or comparison.empty:
        return ""
    clauses = (_reproduced(verdicts, *nouns) for nouns, verdicts in counted(comparison).items())
    return "; ".join(
        f"{clause[0].lower() if i else clause[0]}{clause[1:]}" for i, clause in enumerate(clauses)
    )


def _reproduced(verdicts: pd.Series, noun: str, plural: str) -> str:
    """Say how many of the published numbers, rankings or matrices are reproduced."""
    counts = verdicts.value_counts()
    judged_rows = [
        (name, int(counts[name])) for name in VERDICTS if name in counts.index and name not in UNJUDGED
    ]
    unjudged = int(verdicts.isin(UNJUDGED).sum())
    total, same_count = sum(n for _, n in judged_rows), dict(judged_rows).get("reproduced", 0)
    other_rows = [f"{n:,} {name}" for name, n in judged_rows if name != "reproduced"]
    if not total:
        return f"No published {noun} could be compared"
    nouns = f"published {noun if total == 1 else plural}"
    if same_count == total:
        text = f"All {total:,} {nouns} are reproduced" if total > 1 else f"The one {nouns} is reproduced"
    else:
        verb = "is" if 1 in (total, same_count) else "are"
        text = f"{same_count:,} of {total:,} {nouns} {verb} reproduced ({join_names(other_rows)})"
    return f"{text}, and {unjudged:,} could not be compared" if unjudged else text
