"""Conclusions of a study, by rule: a headline, answers to four questions, and notes on missing results.

The report, `Grid.summary`, the end of a run and README show the same `Conclusion`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .bias_card import bias_card, find_averages
from .card import Card
from .debias_card import debias_card
from .debias_effect import effects
from .findings import find_evidence, find_untestable
from .headline import headline_of, models_headline, subtitle
from .least_biased import Answer
from .missing import cannot_tell, missing, of_absent, reproduced
from .models_card import models_card, not_compared
from .overview import models_picture
from .words_card import words_card

if TYPE_CHECKING:
    import pandas as pd

# The tables that this module reads, in addition to the tables of `least_biased.answers`.
READ = ("scores", "aggregates", "pairs", "comparison", "reliability")


@dataclass(frozen=True)
class Conclusion:
    """Conclusions of a study.

    Parameters
    ----------
    title
        The study's title.
    headline
        The finding in at most ten words.
    subtitle
        What was measured, and the result about the models.
    cards
        Answers to: is there bias, which model has least, would other words change that, does debiasing help? A card
        is left out if the study does not ask its question.
    notes
        Topic -> sentences on missing scores, on limits of the tests, and on reproduced numbers.
    """

    title: str
    headline: str
    subtitle: str
    cards: tuple[Card, ...]
    notes: Mapping[str, tuple[str, ...]]

    @property
    def topics(self) -> dict[str, str]:
        """Return topic -> the text that is visible at first, in order; for a note, its first sentence."""
        notes = {topic: sentences[0] for topic, sentences in self.notes.items()}
        return {card.topic: card.text for card in self.cards} | notes


def conclude(
    answers: Sequence[Answer], tables: Mapping[str, pd.DataFrame], spec: Mapping[str, Any]
) -> Conclusion:
    """Draw the conclusions of a study.

    Parameters
    ----------
    answers
        Each metric's comparison of the models.
    tables
        The tables of `READ` that the study has, by name.
    spec
        From `tables.read_conclusions.summary_spec`. "title"; "topics", all criteria, and "criteria", the ranked ones;
        "metrics", in their order; "labels"; "queries", names by id; "models", their number; "absent", labels of
        models that could not be downloaded; "debias", the topic of each method; "recovery", whether the study
        measures how much bias can be recovered; "sides", the argument of `direction.directions`; "aggregation", by
        which models are ranked; "margin", within which two models are alike; "adjust" and "level", the adjustment and
        the level of the p-values; "random_groups", whether a random-word baseline is requested; "draws" of the tests
        of words.
    """
    scores, labels = tables.get("scores"), spec["labels"]
    findings = find_evidence(scores, spec["queries"])
    averages = find_averages(findings, tables.get("aggregates"), spec)
    untestable = find_untestable(scores, spec)
    cells = models_picture(answers, tables.get("aggregates"), spec["aggregation"], labels, spec["margin"])
    models = models_card(answers, cells, tables.get("pairs"), spec)
    cards = (
        bias_card(findings, averages, tables, spec),
        models,
        words_card(tables.get("reliability"), scores, labels),
        debias_card(effects(answers, spec["debias"], spec["criteria"]), spec),
    )
    absent, published = of_absent(spec.get("absent", ())), reproduced(tables.get("comparison"))
    notes = {
        "Not measured": [absent] * bool(absent),
        "Missing": missing(scores, answers, labels),
        "Cannot tell": cannot_tell(untestable),
        "Not compared": not_compared(answers, spec),
        "Published": [f"{published}."] * bool(published),
    }
    return Conclusion(
        spec["title"],
        headline_of(findings, models_headline(answers, spec["criteria"], labels), scores, averages),
        subtitle(scores, models, spec),
        tuple(card for card in cards if card),
        {topic: tuple(sentences) for topic, sentences in notes.items() if sentences},
    )


def lines(conclusion: Conclusion, width: int) -> list[str]:
    """Return the conclusions in lines of at most `width` characters: the headline, then a list of topics."""
    topics = conclusion.topics
    room = max(map(len, topics), default=0) + 2

    def wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
        return textwrap.wrap(
            text,
            width,
            initial_indent=first,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        )

    said = [
        *wrapped(conclusion.title),
        *wrapped(f"{conclusion.headline}."),
        *wrapped(conclusion.subtitle),
        *[""] * bool(topics),
    ]
    for topic, text in topics.items():
        said += wrapped(text, f"  {topic:<{room}}", " " * (room + 2))
    return said
