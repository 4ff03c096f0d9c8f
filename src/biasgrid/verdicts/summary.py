"""What a study says, in at most six sentences by rule: the text of page, Python, terminal and README."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..comparison.verdict import UNJUDGED, VERDICTS
from ..comparison.wholes import counted
from ..numbers import number
from ..statistics.aggregation import OVERALL
from ..statistics.two_models import ALIKE, CANNOT_TELL, DIFFERENT
from .comparability import Incomparable, incomparable
from .debias_effect import of_debias_methods
from .direction import directions, of_directions
from .findings import of_findings
from .least_biased import MODELS, Answer, RankedState
from .reliability import of_turning
from .text import count_name, join_names, model_name, pluralize, queries_of, with_note

if TYPE_CHECKING:
    import pandas as pd

# the tables that it reads, beside those of `least_biased.answers`
READ = ("scores", "pairs", "scalars", "comparison", "reliability")
FEW_VERDICTS = 3
# why a score is missing
REASONS = {"lost_words": "too many words lost", "degenerate": "not defined for these vectors"}

Lengths = Mapping[tuple[str, str], Incomparable]


def summary(
    answers: Sequence[Answer], tables: Mapping[str, pd.DataFrame], spec: Mapping[str, Any]
) -> dict[str, str]:
    """Say which model is the least biased, and whether that is decided, by how many metrics that compare, which
    answers the comparisons of two models give, and on how many queries models differ in direction; on which queries
    there is evidence; how often another list gives the same sign; what was lost, from which model; what debiasing
    did; what was reproduced, and what does not compare.

    Before all, which models are not measured, as they could not be downloaded.

    What a sentence is about -> the sentence; one is left out where the study has nothing that it is about.

    Parameters
    ----------
    answers
        What each metric says of the models.
    tables
        Those of `READ` that the study has, by name.
    spec
        As `biasgrid.tables.answers.summary_spec` gives it: "absent", labels of models that could not be downloaded;
        "criteria", the ranked ones; "labels", short; "debias",
        the criterion of each method; "scaled", as `comparability.incomparable` takes it; "sides", as
        `direction.directions` does; "adjust" and "level": how
        p-values are adjusted, and the level that they are compared with; "draws": of the tests of words, the most.
    """
    labels = spec["labels"]
    lengths = {
        (part.criterion, part.metric): part for part in incomparable(tables.get("scalars"), spec["scaled"])
    }
    clauses = [
        _least_biased(answers, spec["criteria"], lengths, labels),
        of_pairs(tables.get("pairs")),
        of_directions(directions(tables.get("scores"), spec["sides"])),
    ]
    published = reproduced(tables.get("comparison"))
    last = "; ".join(filter(None, [published, _lengthy(answers, spec["criteria"], lengths, labels)]))
    sentences = {
        "Not measured": of_absent(spec.get("absent", ())),
        "Answer": f"{'; '.join(filter(None, clauses))}." if clauses[0] else "",
        "Evidence": of_findings(tables, spec),
        "Other words": of_turning(tables.get("reliability"), labels),
        "Missing": _lost(tables.get("scores"), answers, labels),
        "Debiasing": of_debias_methods(answers, lengths, spec),
        # without published numbers, the clause on lengths is alone
        "Published" if published else "Lengths": f"{last}." if last else "",
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


def _least_biased(
    answers: Iterable[Answer], criteria: Sequence[str], lengths: Lengths, labels: Mapping[str, str]
) -> str:
    """Which model is the least biased over all criteria by metrics that compare, and what single criteria decide."""
    rivalries = [answer for answer in answers if len(answer.models_with_value) > 1]
    together = criteria[0] if len(criteria) == 1 else OVERALL
    of_all = [answer for answer in rivalries if answer.criterion == together]
    if not of_all:
        return ""
    if not any(answer.has_test for answer in of_all):
        return "No model can be called least biased: without a bootstrap nothing is decided"
    comparable = [answer for answer in of_all if not _by_length(answer, lengths)]
    if not comparable:
        return "No model can be called least biased: no metric compares the models"
    if all(answer.models and not answer.comparable for answer in comparable):
        return (
            "No model can be called least biased: the first one has too few queries in common with any other"
        )
    metrics = (
        "one metric that compares"
        if len(comparable) == 1
        else f"{count_name(len(comparable))} metrics that compare"
    )
    by_model: dict[str, list[Answer]] = {}
    for answer in comparable:
        if answer.least_biased is not None:
            by_model.setdefault(answer.least_biased, []).append(answer)
    if len(by_model) == 1 and sum(map(len, by_model.values())) == len(comparable):
        ((model, decisive),) = by_model.items()
        is_every = {1: "the only metric", 2: "both metrics"}.get(
            len(comparable), f"all {count_name(len(comparable))} metrics"
        )
        compares = "compares" if len(comparable) == 1 else "compare"
        name = model_name(model, decisive[0], labels)
        return (
            f"{name} is the least biased model by {is_every} that {compares}{_for_these(decisive)}"
            f"{_without(decisive, labels)}"
        )
    verdicts = [
        f"{count_name(len(decisive))} {'separates' if len(decisive) == 1 else 'separate'} "
        f"{model_name(model, decisive[0], labels)} from all others{_for_these(decisive)}"
        f"{_without(decisive, labels)}"
        for model, decisive in by_model.items()
    ]
    text = ", ".join(verdicts) or f"none separates one model from all others{_for_these(comparable)}"
    single = [
        answer
        for answer in rivalries
        if answer.criterion in criteria and answer.criterion != together and not _by_length(answer, lengths)
    ]
    return f"No model can be called least biased: of {metrics}, {text}{_by_criterion(single, labels)}"


def of_pairs(pairs: pd.DataFrame | None) -> str:
    """Say of how many comparisons of two models the answer is which, and what the others could have found: a clause;
    empty where no models are compared on the standardised scale."""
    if pairs is None or "answer" not in pairs:
        return ""
    rows = pairs[(pairs["family"] == MODELS) & pairs["answer"].isin([DIFFERENT, ALIKE, CANNOT_TELL])]
    if rows.empty:
        return ""
    different, alike = (int((rows["answer"] == answer).sum()) for answer in (DIFFERENT, ALIKE))
    unclear = rows[rows["answer"] == CANNOT_TELL]
    text = f"{different:,} of {pluralize(len(rows), 'comparison')} of two models find them different, {alike:,} alike"
    if unclear.empty:
        return text
    smallest = number(float(unclear["smallest_difference"].median()), 2)
    return (
        f"{text}; the others cannot tell, and would find a difference of about {smallest} standard deviations"
    )


def _by_criterion(answers: Sequence[Answer], labels: Mapping[str, str]) -> str:
    """What is decided on single criteria."""
    decided_answers = [answer for answer in answers if answer.least_biased is not None]
    if not decided_answers:
        return ""
    of_these = sum(answer.is_of_these_queries for answer in decided_answers)
    is_of_all = of_these == len(decided_answers)
    note = _for_these(decided_answers)
    if not is_of_all:
        note = f", {count_name(of_these)} of them for these queries" * bool(of_these)
    verdicts = [
        f"{model_name(str(answer.least_biased), answer, labels)} on {answer.criterion}, by "
        f"{labels.get(answer.metric, answer.metric)}{_for_these([answer] * (not is_of_all))}"
        f"{_without([answer], labels)}"
        for answer in decided_answers
    ]
    names = ""
    if len(decided_answers) <= FEW_VERDICTS:
        names, note = f" ({'; '.join(verdicts)})", note * is_of_all
    verb = "is" if len(decided_answers) == 1 else "are"
    counts = f"{count_name(len(decided_answers))} of {count_name(len(answers))} verdicts"
    return f"; on single criteria, {counts} {verb} decided{note}{names}"


def _for_these(answers: Iterable[Answer]) -> str:
    """That what is said holds for these queries alone, if it does by one of the metrics."""
    return ", for these queries" if any(answer.is_of_these_queries for answer in answers) else ""


def _without(decisive: Iterable[Answer], labels: Mapping[str, str]) -> str:
    """Which rivals a model was not compared with."""
    rivals = dict.fromkeys(
        with_note(labels.get(rival.model, rival.model), f"{rival.queries} of {rival.queries_of} queries")
        for answer in decisive
        for rival in answer.incomparable
    )
    return f", but was not compared with {join_names(rivals)}" if rivals else ""


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


def _lengthy(
    answers: Iterable[Answer], criteria: Sequence[str], lengths: Lengths, labels: Mapping[str, str]
) -> str:
    """Which metrics do not compare, and what they would decide nonetheless."""
    together = criteria[0] if len(criteria) == 1 else OVERALL
    of_all = [
        answer
        for answer in answers
        if answer.criterion == together and len(answer.models_with_value) > 1 and _by_length(answer, lengths)
    ]
    if not of_all:
        return ""
    by_model: dict[str, list[Answer]] = {}
    for answer in of_all:
        if answer.least_biased is not None:
            by_model.setdefault(answer.least_biased, []).append(answer)
    claims = "; ".join(
        f"{join_names(labels.get(answer.metric, answer.metric) for answer in decisive)} would call "
        f"{model_name(model, decisive[0], labels)} least biased"
        for model, decisive in by_model.items()
    )
    is_one = len(of_all) == 1
    return (
        f"{join_names(labels.get(answer.metric, answer.metric) for answer in of_all)} "
        f"{'does' if is_one else 'do'} not compare, as the models' vectors differ in length"
        f"{f' ({claims})' if claims else ''}"
    )


def _by_length(answer: Answer, lengths: Lengths) -> bool:
    entry = lengths.get((answer.criterion, answer.metric))
    return entry is not None and entry.models
