"""What a study says, in short texts by rule, on six topics: for the page, Python, the terminal and README."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..comparison.verdict import UNJUDGED, VERDICTS
from ..comparison.wholes import counted
from ..numbers import number, plain
from ..statistics.aggregation import OVERALL
from ..statistics.scale import NO_BASELINE, NO_COMMON_ZERO
from ..statistics.shared import FEW_SHARED
from ..statistics.two_models import ALIKE, CANNOT_TELL, DIFFERENT, MODELS, STANDARDIZED
from .debias_effect import of_debias_methods
from .direction import directions, of_directions
from .findings import of_findings
from .least_biased import Answer, RankedState, Rival
from .reliability import of_turning
from .text import count_name, join_names, model_name, number_of, pluralize, queries_of, with_note

if TYPE_CHECKING:
    import pandas as pd

# the tables that it reads, beside those of `least_biased.answers`
READ = ("scores", "pairs", "comparison", "reliability")
FEW_WINNERS = 3  # of more, single topics are only counted
# why a score is missing
REASONS = {"lost_words": "too many words lost", "degenerate": "not defined for these vectors"}
NO_BOOTSTRAP = "No model can be called least biased: without a bootstrap nothing is decided."
NOT_COMPARED = (
    "Models are not compared, because the study has no random-word baseline. To get one, add random_groups to its "
    "inference."
)
WHY_NOT_COMPARED = {
    NO_BASELINE: " without a random-word baseline (random_groups)",
    NO_COMMON_ZERO: ": models differ by it on random words, too",
}
FEW_IN_COMMON = "No two models can be compared: they have too few queries in common."


def summary(
    answers: Sequence[Answer], tables: Mapping[str, pd.DataFrame], spec: Mapping[str, Any]
) -> dict[str, str]:
    """Say which model is clearly the least biased and how many comparisons find models different or alike; on which
    queries there is evidence; how often another list gives the same sign; what was lost, from which model; what
    debiasing did; and what was reproduced.

    Before all, which models are not measured, as they could not be downloaded.

    What a text is about -> the text; one is left out where the study has nothing that it is about.

    Parameters
    ----------
    answers
        What each metric says of the models.
    tables
        Those of `READ` that the study has, by name.
    spec
        As `biasgrid.tables.answers.summary_spec` gives it: "absent", labels of models that could not be downloaded;
        "criteria", the ranked ones; "labels", short; "debias", the criterion of each method; "sides", as
        `direction.directions` takes it; "margin", within which two models are alike; "adjust" and "level": how
        p-values are adjusted, and the level that they are compared with; "draws": of the tests of words, the most.
    """
    labels = spec["labels"]
    sentences = {
        "Not measured": of_absent(spec.get("absent", ())),
        "Answer": _answer(answers, tables, spec),
        "Evidence": of_findings(tables, spec),
        "Other words": of_turning(tables.get("reliability"), labels),
        "Missing": _lost(tables.get("scores"), answers, labels),
        "Debiasing": of_debias_methods(answers, spec),
        "Published": f"{published}." if (published := reproduced(tables.get("comparison"))) else "",
    }
    return {topic: sentence for topic, sentence in sentences.items() if sentence}


def lines(sentences: Mapping[str, str], width: int) -> list[str]:
    """What a study says, topic -> sentence, in lines of at most so many characters: each topic begins one."""
    return [
        line
        for topic, sentence in sentences.items()
        for line in textwrap.wrap(
            f"{topic}: {sentence}",
            width,
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    ]


def of_absent(labels: Sequence[str]) -> str:
    """Which models are absent, which is no loss of words."""
    if not labels:
        return ""
    verb, it = ("is", "it") if len(labels) == 1 else ("are", "they")
    return f"{join_names(labels)} {verb} not measured: {it} could not be downloaded."


def _answer(answers: Iterable[Answer], tables: Mapping[str, pd.DataFrame], spec: Mapping[str, Any]) -> str:
    """Say which model is clearly the least biased, over all topics and on single ones, and what pairs of models
    differ; empty where no two models have values."""
    criteria, labels = spec["criteria"], spec["labels"]
    rivalries = [answer for answer in answers if len(answer.models_with_value) > 1]
    together = criteria[0] if len(criteria) == 1 else OVERALL
    of_all = [answer for answer in rivalries if answer.criterion == together]
    if not of_all:
        return ""
    compared = [answer for answer in of_all if not answer.not_compared]
    if not any(answer.has_test for answer in of_all):
        sentences = [NO_BOOTSTRAP]
    elif not compared:
        has_baseline = any(answer.not_compared == NO_COMMON_ZERO for answer in of_all)
        sentences = _incomparable_metrics(of_all, labels) if has_baseline else [NOT_COMPARED]
    elif not any(answer.comparable for answer in compared):
        sentences = [FEW_IN_COMMON]
    else:
        single = [
            answer
            for answer in rivalries
            if answer.criterion in criteria and answer.criterion != together and not answer.not_compared
        ]
        sentences = [
            *_over_all(compared, together == OVERALL, labels),
            *_on_single_topics(single, labels),
            *_incomparable_metrics(of_all, labels),
            *of_pairs(tables.get("pairs"), spec["margin"]),
        ]
    return " ".join(
        filter(None, [*sentences, of_directions(directions(tables.get("scores"), spec["sides"]))])
    )


def _over_all(compared: Sequence[Answer], is_of_all: bool, labels: Mapping[str, str]) -> list[str]:
    """Say which model is clearly the least biased over all topics, and according to how many metrics."""
    by_model: dict[str, list[Answer]] = {}
    for answer in compared:
        if answer.least_biased is not None:
            by_model.setdefault(answer.least_biased, []).append(answer)
    where = "over all topics, " if is_of_all else ""
    if not by_model:
        text = f"{where}no model is clearly the least biased according to {_any_of(len(compared))}"
        return [f"{text[0].upper()}{text[1:]}."]
    sentences = []
    for model, decisive in by_model.items():
        metrics = _names(decisive, labels)
        by = f"{number_of(len(decisive), len(compared))} metrics"
        if len(compared) == 1:
            by = f"{metrics}, the only metric"
        elif len(decisive) < len(compared):
            by += f", {metrics}"
        text = (
            f"{where}{model_name(model, decisive[0], labels)} is clearly the least biased according to {by}"
        )
        sentences += [f"{text[0].upper() if where else text[0]}{text[1:]}.", *_not_compared(decisive, labels)]
    return sentences


def _on_single_topics(answers: Sequence[Answer], labels: Mapping[str, str]) -> list[str]:
    """Say how often a model is clearly the least biased on one topic according to one metric, and which model."""
    if not answers:
        return []
    decided = [answer for answer in answers if answer.least_biased is not None]
    if not decided:
        return ["On single topics, no model is clearly the least biased according to any metric."]
    model_is = "a model is" if len(decided) > 1 else "one model is"
    text = f"On single topics, {model_is} clearly the least biased in {len(decided)} of {len(answers)} cases."
    if len(decided) > FEW_WINNERS:
        return [text]
    sentences = [text]
    winners: dict[tuple[str, str], list[Answer]] = {}
    for answer in decided:
        winners.setdefault((answer.criterion, str(answer.least_biased)), []).append(answer)
    for (criterion, model), of_winner in winners.items():
        name = model_name(model, of_winner[0], labels)
        sentences.append(f"On {criterion} it is {name}, according to {_names(of_winner, labels)}.")
        sentences += _not_compared(of_winner, labels)
    return sentences


def _incomparable_metrics(answers: Sequence[Answer], labels: Mapping[str, str]) -> list[str]:
    """Say by which metrics models are not compared, and why."""
    sentences = []
    for reason, why in WHY_NOT_COMPARED.items():
        if metrics := [answer for answer in answers if answer.not_compared == reason]:
            sentences.append(f"{_names(metrics, labels)} cannot compare models{why}.")
    return sentences


def _not_compared(decisive: Iterable[Answer], labels: Mapping[str, str]) -> list[str]:
    """Say which rivals a model was not compared with."""
    rivals = dict.fromkeys(rival for answer in decisive for rival in answer.incomparable)
    if not rivals:
        return []
    return [f"It was not compared with {join_names(dict.fromkeys(_rival(r, labels) for r in rivals))}."]


def _rival(rival: Rival, labels: Mapping[str, str]) -> str:
    """Name a rival, with the reason why it is not compared."""
    queries = f"{rival.queries} of {rival.queries_of} queries"
    note = queries if rival.reason == FEW_SHARED else rival.reason
    return with_note(labels.get(rival.model, rival.model), note)


def _names(answers: Iterable[Answer], labels: Mapping[str, str]) -> str:
    return join_names(labels.get(answer.metric, answer.metric) for answer in answers)


def _any_of(count: int) -> str:
    return {1: "the only metric", 2: "either metric"}.get(count, f"any of {count_name(count)} metrics")


def of_pairs(pairs: pd.DataFrame | None, margin: float) -> list[str]:
    """Say how many comparisons of two models find them different or alike, and what the others could have found."""
    if pairs is None or not {"answer", "scale"} <= {*pairs}:
        return []
    rows = pairs[(pairs["family"] == MODELS) & pairs["answer"].isin([DIFFERENT, ALIKE, CANNOT_TELL])]
    if rows.empty:
        return []
    different, alike = (int((rows["answer"] == answer).sum()) for answer in (DIFFERENT, ALIKE))
    is_scaled = rows["scale"] == STANDARDIZED
    text = f"{different:,} of {pluralize(len(rows), 'comparison')} of two models on these queries find them different"
    if is_scaled.any():
        text += f", and {alike:,} alike within {plain(margin)} standard deviations"
    is_unclear = rows["answer"] == CANNOT_TELL
    if not is_unclear.any():
        return [f"{text}."]
    unclear = f"The other {int(is_unclear.sum()):,} cannot tell"
    if (smallest := rows.loc[is_unclear & is_scaled, "smallest_difference"]).size:
        unclear += (
            f"; half of them would find a difference of {number(float(smallest.median()), 2)} standard deviations "
            "with 80 % power"
        )
    return [f"{text}.", f"{unclear}."]


def _lost(scores: pd.DataFrame | None, answers: Iterable[Answer], labels: Mapping[str, str]) -> str:
    """How many scores are missing, and why; of which model most are, and where it is not ranked."""
    if scores is None or scores.empty:
        return ""
    lost = scores[scores["value"].isna()]
    if lost.empty:
        return f"All {len(scores):,} scores have a value." if len(scores) > 1 else ""
    reasons = lost["status"].str.partition(":")[0].value_counts()
    why = [REASONS.get(name, str(name).replace("_", " ")) for name in reasons.index]
    if len(why) > 1:
        why = [f"{n:,} {reason}" for n, reason in zip(reasons, why, strict=True)]
    verb = "is" if len(lost) == 1 else "are"
    text = f"{len(lost):,} of {len(scores):,} scores {verb} missing ({', '.join(why)})"
    counts = lost["model"].value_counts()
    model, most = str(counts.index[0]), int(counts.iloc[0])
    if 2 * most <= len(lost):
        return f"{text}, of {len(counts):,} models."
    share = "all of them " if most == len(lost) else "most of them "
    out: dict[str, RankedState] = {}
    for answer in answers:
        # a single model is not ranked either, whatever it has
        has_rivals = len(answer.models) + len(answer.not_ranked) > 1
        for state in answer.not_ranked if has_rivals and answer.criterion != OVERALL else ():
            if state.model == model and state.has_lost_queries:
                out.setdefault(answer.criterion, state)
    places = [f"{criterion} ({queries_of(state)})" for criterion, state in out.items()]
    where = f", which is not ranked on {join_names(places)}" if places else ""
    return f"{text}, {share if len(lost) > 1 else ''}{_possessive(labels.get(model, model))}{where}."


def _possessive(label: str) -> str:
    """ "GloVe 840B's (filtered)"."""
    head, bracket, rest = label.partition(" (")
    return f"{head}'s{bracket}{rest}"


def reproduced(comparison: pd.DataFrame | None) -> str:
    """How many published numbers, rankings and correlation matrices are reproduced, each counted apart; empty where
    none is of these models."""
    if comparison is None or comparison.empty:
        return ""
    clauses = (_reproduced(verdicts, *nouns) for nouns, verdicts in counted(comparison).items())
    return "; ".join(
        f"{clause[0].lower() if i else clause[0]}{clause[1:]}" for i, clause in enumerate(clauses)
    )


def _reproduced(verdicts: pd.Series, noun: str, plural: str) -> str:
    """How many of the published numbers, or wholes, of a noun are reproduced."""
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
