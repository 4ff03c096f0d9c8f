"""The last lines of a run: results, scores without a value, published numbers reproduced, and where to read more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import BiasgridError
from ..labels import short_labels
from ..study import Study

if TYPE_CHECKING:
    from ..verdicts.least_biased import Answer

LONGEST = 400  # characters of the answer
DECIDED, FEWER = "*", "†"
REASONS = {"lost_words": "too many words lost", "degenerate": "not defined for these vectors"}


def conclusions(study: Study) -> list[str]:
    """The answer per criterion, scores without a value, and verdicts on published numbers: a line each.

    They are read from the study's tables. A table that cannot be read costs its line, and not the run.
    """
    lines = []
    for line in (answer, missing, verdicts):
        try:
            lines.append(line(study))
        except Exception as error:  # the run has succeeded, whatever has become of a table since
            kind = "" if isinstance(error, BiasgridError) else f"{line.__name__}: {type(error).__name__}: "
            lines.append(kind + " ".join(str(error).split()))
    return [line for line in lines if line]


def answer(study: Study) -> str:
    """Which untouched model each metric calls the least biased, by criterion, in a line; "" where there is nothing to
    compare."""
    answers = _answers(study)
    if not answers:
        return ""
    labels = {**study.labels, **short_labels({model: study.labels[model] for model in study.models})}
    if not any(answer.has_test for answer in answers):
        certainty = "how sure is unknown: no bootstrap"
    else:
        certainty = (
            f"{DECIDED}: decided" if any(answer.is_decided for answer in answers) else "none is decided"
        )
    note = f"; {FEWER}: has lost queries" if any(map(_has_lost_queries, answers)) else ""
    by_criterion: dict[str, list[Answer]] = {}
    for answer in answers:
        by_criterion.setdefault(answer.criterion, []).append(answer)
    line = ""
    for describe, unit in ((_metrics, ""), (_count, " by number of metrics")):
        parts = (f"{name}: {_models(by_criterion[name], labels, describe)}" for name in by_criterion)
        line = f"least biased models{unit} ({certainty}{note}): {'; '.join(parts)}"
        if len(line) <= LONGEST:
            return line
    return f"{line[: LONGEST - 5].rpartition('; ')[0]}; ..."


def _answers(study: Study) -> list[Answer]:
    """What each metric says on each criterion, where there are models to compare; over all criteria is left out."""
    from ..tables.answers import answers_of

    comparable = [answer for answer in answers_of(study) if len(answer.models_with_value) > 1]
    return [
        answer
        for criterion in study.ranked_criteria
        for answer in comparable
        if answer.criterion == criterion
    ]


def _models(
    of_criterion: list[Answer],
    labels: Mapping[str, str],
    describe: Callable[[list[Answer], Mapping[str, str]], str],
) -> str:
    """The models that metrics of a criterion call the least biased, those that most metrics name first."""
    groups: dict[tuple[str, ...], list[Answer]] = {}
    for answer in of_criterion:
        groups.setdefault(tuple(state.model for state in answer.first), []).append(answer)
    return ", ".join(
        f"{' and '.join(labels[model] for model in models) or 'no model is ranked'} by {describe(part, labels)}"
        for models, part in sorted(groups.items(), key=lambda group: -len(group[1]))
    )


def _metrics(part: list[Answer], labels: Mapping[str, str]) -> str:
    return " ".join(
        labels.get(answer.metric, answer.metric)
        + DECIDED * answer.is_decided
        + FEWER * _has_lost_queries(answer)
        + _without([answer], labels)
        for answer in part
    )


def _count(part: list[Answer], labels: Mapping[str, str]) -> str:
    decided_count = sum(answer.is_decided for answer in part)
    marks = (f" ({decided_count}{DECIDED})" if decided_count else "") + FEWER * any(
        map(_has_lost_queries, part)
    )
    return f"{len(part)}{marks}{_without(part, labels)}"


def _without(part: list[Answer], labels: Mapping[str, str]) -> str:
    """Which rivals a decided model was not compared with."""
    rivals = dict.fromkeys(
        f"{labels[rival.model]}: {rival.queries} of {rival.queries_of} queries"
        for answer in part
        if answer.is_decided
        for rival in answer.incomparable
    )
    return f" (not {', '.join(rivals)})" if rivals else ""


def _has_lost_queries(answer: Answer) -> bool:
    """Whether what comes first has no value for some queries."""
    return any(state.has_lost_queries for state in answer.first)


def missing(study: Study) -> str:
    """How many scores have no value, and why."""
    from ..tables.scores import SCORES

    path = study.table_file("scores")
    status = SCORES.read(path)["status"]
    reasons = [text.partition(":")[0] for text in status if text != "ok"]
    if not reasons:
        return f"scores: all {len(status):,} have a value"
    share = f"{len(reasons):,} of {len(status):,} scores have no value"
    counts = ", ".join(f"{REASONS.get(name, name)} ({n:,})" for name, n in Counter(reasons).most_common())
    return f"{share}: {counts}; column status of {path}"


def verdicts(study: Study) -> str:
    """What became of published numbers; "" for a study that compares with none."""
    if "comparison" not in study.tables:
        return ""
    from ..comparison.verdict import VERDICTS
    from ..tables.comparison import COMPARISON

    path = study.table_file("comparison")
    counts = COMPARISON.read(path)["verdict"].value_counts()
    texts = ", ".join(
        f"{counts[verdict]:,} {verdict}" for verdict in reversed(VERDICTS) if verdict in counts.index
    )
    return f"{counts.sum():,} published numbers: {texts or 'none is of a model of the study'}; {path}"


def where(study: Study) -> str:
    """The path of the report, or of tables and figures where there is none."""
    report = study.results / "report.html"
    return f"report: {report}" if report.is_file() else tables_and_figures(study.results)


def tables_and_figures(results: Path) -> str:
    """Where the results of a run are."""
    figures = results / "figures"
    return f"tables: {results}/*.csv" + (f", figures: {figures}" if figures.is_dir() else "")
