"""What the page knows of a score: what the metric asks, of which words, the result, and its uncertainty.

Words are listed once for each set, and what a model has of a set once for all scores of it; a record has the
numbers of those words that are shown, and of all words how much the value changes without them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

MANY = 4000  # scores: a page of more says less of each, so that it opens at once
# a name that is an anchor's text without loss: words with single spaces between them
PLAIN = re.compile(r"[\w.]+(?: [\w.]+)*")


@dataclass(frozen=True)
class FoundSet:
    """What a model has of a set: `set` is its number in `Cells.sets`, `words` how many it has, `found` how many the
    model does, `entries` the words that it has as another entry, [word, entry, ...], and `lost` those that it lacks.
    """

    set: int
    words: int
    found: int
    entries: list[list[str]]
    lost: list[str]


class Associations(NamedTuple):
    """What the metric says of a set's words, the highest numbers first.

    Attributes
    ----------
    rows
        The places in the set of the words that are shown; lost words are not.
    numbers
        (rows, k): most often one of each word.
    left
        How many words are left out in the middle, as there may be thousands.
    """

    rows: list[int]
    numbers: np.ndarray
    left: int


@dataclass(frozen=True)
class Question:
    """What scores of one metric and (sub-)query have in common, whatever the model.

    Attributes
    ----------
    anchor
        What a link to it ends in; those of its scores begin with it.
    criterion, query, query_id, metric
        The keys of the scores' rows; `query_id` is the id of the query that the sub-query is of.
    asks
        What the metric asks of the query.
    neutral, above, below
        The value that means no bias; what one above and one below it mean, empty where there is none.
    per_word
        What the numbers of `Record.associations` are; empty where the metric gives none.
    tests
        A test -> what it asks, or why there is none.
    of_words
        The tests that count as evidence, which the metric can have.
    paired
        Words are left out with their pairs.
    poles
        As `Metric.poles` names them.
    shared
        Words that are in two of the query's sets, and the sets; empty where there are none.
    """

    anchor: str
    criterion: str
    query: str
    query_id: str
    metric: str
    asks: str
    neutral: float
    above: str
    below: str
    per_word: str
    tests: dict[str, str]
    of_words: tuple[str, ...]
    paired: bool
    poles: tuple[str, str, str] | None
    shared: str


@dataclass(frozen=True)
class Record:
    """A score.

    Attributes
    ----------
    number
        Its row in scores.csv, from 0.
    question
        The number of its question in `Cells.questions`.
    value
        None: no value, and `reason` says why. With a value, `reason` is what fixes its size, if anything does.
    targets, attributes
        Of each set what the model has of it: numbers in `Cells.found`.
    associations
        What the metric says of words, by the number of a set in `Cells.sets`.
    influence
        The number of a set -> how the value changes without each of its words (of a metric of pairs: the pair),
        (words,); NaN where that is not known.
    tests
        Test -> what it says: see `cell_tests.tests_of`.
    evidence
        Of scores.csv: what the score is evidence for.
    interval
        See `cell_tests.interval_of`; None where the study has none.
    of_units
        See `cell_tests.interval_of_units`; None of a metric of vectors.
    published
        Published numbers of this score.
    command
        Measures it again, and what is inferred of it.
    verdict, says
        Of reliability.csv: whether another list of words may turn the score, in a word, and phrases on that and on
        the order of its words; empty where the study has no such table.
    """

    number: int
    question: int
    model: str
    debias: str
    value: float | None
    status: str
    reason: str
    targets: list[int]
    attributes: list[int]
    associations: dict[int, Associations]
    influence: dict[int, np.ndarray]
    tests: dict[str, dict[str, Any]]
    evidence: str
    interval: dict[str, Any] | None
    of_units: dict[str, Any] | None
    published: list[dict[str, Any]]
    command: str
    verdict: str = ""
    says: Sequence[str] = ()

    @property
    def anchor(self) -> str:
        """What a link to it ends in."""
        return anchor_of(self.number)

    @property
    def state(self) -> str:
        """Its model and debias method, as commands name them."""
        return f"{self.model}/{self.debias}"


@dataclass(frozen=True)
class Cells:
    """The scores of a study in the order of scores.csv, what they answer, what models have of the sets of words, and
    the sets: name, words; and which versions computed the cells and their inference (`versions.count_versions`)."""

    sets: list[tuple[str, list[str]]]
    found: list[FoundSet]
    questions: list[Question]
    records: list[Record]
    versions: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def are_many(self) -> bool:
        """A page says less of each, and packs it."""
        return len(self.records) > MANY

    @cached_property
    def states(self) -> dict[str, int]:
        """The states of models that have scores, each with its number."""
        return {state: number for number, state in enumerate(dict.fromkeys(r.state for r in self.records))}

    @cached_property
    def lost_words(self) -> dict[tuple[str, int], list[str]]:
        """Model and number of a set that it was asked -> the words that one of its scores lacks, in alphabetical
        order."""
        lost: dict[tuple[str, int], set[str]] = {}
        for model, place in {(r.model, n) for r in self.records for n in r.targets + r.attributes}:
            lost.setdefault((model, self.found[place].set), set()).update(self.found[place].lost)
        return {key: sorted(words) for key, words in lost.items()}

    def of_questions(self) -> Iterator[tuple[Question, list[Record]]]:
        """The scores by question, in order."""
        for question, records in groupby(self.records, key=lambda record: record.question):
            yield self.questions[question], list(records)


def anchor(criterion: str, query: str, metric: str) -> str:
    """What a link to all scores of a metric and query ends in (#...); no others have it."""
    return "/".join(["cell", _slug(criterion), _slug(query), metric])


def anchor_of(number: int) -> str:
    """What a link to a score ends in, by its row in scores.csv: short, as a page has thousands."""
    return f"c{number}"


def _slug(name: str) -> str:
    """A name as a part of a link. If that leaves out something that tells it from another, a digest follows."""
    text = re.sub(r"[^\w.]+", "-", name).strip("-")
    return text if PLAIN.fullmatch(name) else f"{text}~{hashlib.sha256(name.encode()).hexdigest()[:6]}"
