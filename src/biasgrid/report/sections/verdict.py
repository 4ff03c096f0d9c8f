"""The first section: which model is the least biased, whether that is decided, and on which evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...numbers import p_number, typeset
from ...statistics.aggregation import OVERALL
from ...verdicts.agreement import agreement
from ...verdicts.comparability import Incomparable, incomparable
from ...verdicts.direction import directions
from ...verdicts.least_biased import Answer, DebiasedState, answers
from ...verdicts.summary import summary
from .. import sentences
from ..decisive_queries import decisive_queries
from ..names import Names
from .section import Material, Section

if TYPE_CHECKING:
    import pandas as pd

DEBIASED = {"less": "less", "more": "more", "": "undecided"}


def make(material: Material) -> dict[str, Any]:
    """The summary, and per criterion a row for each metric; "Overall" first."""
    tables, spec, names = material.tables, material.spec, material.names
    if "rankings" not in tables or tables["rankings"].empty:
        return {"sentences": summary([], tables, spec["summary"]), "criteria": []}
    all_answers = answers_of(material)
    lengths = {
        (entry.criterion, entry.metric): entry
        for entry in incomparable(tables.get("scalars"), spec["scaled"])
    }
    decisive = decisive_queries(tables["scores"], **spec["ranking"])
    signed = directions(tables["scores"], spec["summary"]["sides"])
    ids = dict(zip(tables["scores"]["query"], tables["scores"]["query_id"], strict=True))
    criteria = [
        name for name in (OVERALL, *spec["criteria"]) if any(a.criterion == name for a in all_answers)
    ]
    # with one criterion, "Overall" would repeat it
    criteria = criteria[1:] if len(criteria) == 2 else criteria
    return {
        "sentences": summary(all_answers, tables, spec["summary"]),
        "criteria": [
            _criterion(
                name,
                [answer for answer in all_answers if answer.criterion == name],
                names,
                lengths,
                decisive,
                ids,
                signed if name == OVERALL else signed[signed["criterion"] == name],
            )
            for name in criteria
        ],
        "covers": [
            *_coverage(criteria, all_answers, spec),
            *filter(None, [sentences.of_frequency(tables["scores"], 1 - spec["level"])]),
        ],
    }


def answers_of(material: Material) -> list[Answer]:
    """What each metric says of the models of a study with rankings."""
    tables, spec = material.tables, material.spec
    draws = (spec["inference"].get("bootstrap") or {}).get("draws", 0)
    return answers(tables["rankings"], tables.get("pairs"), spec["metrics"], spec["level"], draws)


def _criterion(
    name: str,
    of_criterion: Sequence[Answer],
    names: Names,
    lengths: Mapping[tuple[str, str], Incomparable],
    decisive: Mapping[tuple[str, str], Any],
    ids: Mapping[str, str],
    signed: pd.DataFrame,
) -> dict[str, Any]:
    by_length = [answer for answer in of_criterion if _entry(lengths, answer).models]
    # what does not compare is not added up
    comparable = [answer for answer in of_criterion if answer not in by_length]
    states = dict.fromkeys((s.model, s.debias) for answer in of_criterion for s in answer.debiased)
    models = {model for answer in of_criterion for model in answer.models_with_value}
    notes = [
        sentences.of_agreement(agreement(comparable), names, len(comparable)) if len(models) > 1 else "",
        sentences.of_lost(of_criterion, names),
        sentences.of_decisive_queries(
            {
                answer.metric: decisive[name, answer.metric]
                for answer in of_criterion
                if (name, answer.metric) in decisive
            },
            ids,
            names,
        ),
        sentences.of_directions(signed, [answer.metric for answer in of_criterion], names),
    ]
    return {
        "name": name,
        "single": sentences.of_single(of_criterion, names),
        "queries": max((answer.queries for answer in of_criterion), default=0),
        "queries_of": max((answer.queries_of for answer in of_criterion), default=0),
        "groups": [
            {"by_length": is_by_length, "rows": [_row(answer, names) for answer in group]}
            for is_by_length, group in (
                (False, comparable),
                (True, by_length),
            )
            if group
        ],
        "notes": [note for note in notes if note],
        "metrics": [names.label(answer.metric) for answer in of_criterion],
        "debiased": [
            {
                "label": names.state(*state),
                "cells": [_debiased_cell(answer, state, _entry(lengths, answer)) for answer in of_criterion],
            }
            for state in states
        ],
    }


def _coverage(criteria: Sequence[str], all_answers: Sequence[Answer], spec: Mapping[str, Any]) -> list[str]:
    models = {
        m for answer in all_answers if answer.criterion == criteria[0] for m in answer.models_with_value
    }
    verdicts = sum(answer.has_test and answer.criterion in criteria for answer in all_answers)
    of_these = [
        name for name in criteria if any(a.is_of_these_queries for a in all_answers if a.criterion == name)
    ]
    return sentences.of_coverage(
        spec["queries"][criteria[0]], len(models), spec["inference"], verdicts, of_these
    )


def _entry(lengths: Mapping[tuple[str, str], Incomparable], answer: Answer) -> Incomparable:
    place = answer.criterion, answer.metric
    return lengths.get(place, Incomparable(*place, False, (), {}))


def _row(answer: Answer, names: Names) -> dict[str, Any]:
    kind, text = _verdict(answer)
    # what is decided names in the same place the rivals that it is not about
    notes = [
        "for these queries" * (answer.is_decided and answer.is_of_these_queries),
        sentences.of_borderline(answer),
        sentences.of_incomparable(answer, names) * answer.is_decided,
    ]
    return {
        "label": names.label(answer.metric),
        "kind": kind,
        "verdict": text,
        "note": "; ".join(filter(None, notes)),
        "p": typeset(answer.p_adjusted, form=p_number),
        "reach": typeset(answer.reach, 2),
        "models": [
            {
                "label": names.state(state.model),
                "letters": state.letters,
                "has_lost_queries": state.has_lost_queries,
                "first": state in answer.first,
            }
            for state in answer.models
        ],
    }


def _verdict(answer: Answer) -> tuple[str, str]:
    """The kind of a verdict, which its colour is of, and the verdict."""
    if not answer.models_with_value:
        return "unknown", "no value"
    if not answer.models:
        return "unknown", sentences.REASONS[answer.reason]
    if len(answer.models_with_value) > 1 and len(answer.first) == len(answer.models_with_value):
        return "no", "all the same"
    if not answer.has_test:
        return "unknown", "not tested"
    return ("yes", "decided") if answer.is_decided else ("no", "not decided")


def _debiased_cell(answer: Answer, state: tuple[str, str], entry: Incomparable) -> dict[str, Any] | None:
    verdict: DebiasedState | None = next(
        (part for part in answer.debiased if (part.model, part.debias) == state), None
    )
    return {"text": DEBIASED[verdict.direction], "by_length": state in entry.states} if verdict else None


READ = ("rankings", "pairs", "scores", "scalars", "aggregates", "comparison")
SECTIONS = (Section("verdict", "The verdict", READ, make, "verdict.html", place=10),)
