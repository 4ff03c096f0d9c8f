"""Data of a score in the report: the metric's question, the words, the result, and its uncertainty.

Words are listed once for each set, and a model's matches of a set once for all its scores. A record has the numbers
of the words that are shown, and the change of the value without each word.
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

# Scores: a larger report shows less of each, so that it opens at once.
MANY = 4000
# A name that an anchor can contain unchanged: words with single spaces between them.
PLAIN = re.compile(r"[\w.]+(?: [\w.]+)*")


@dataclass(frozen=True)
class WordVectors:
    """Matches of a set in a model.

    `set` is the number of the set in `Cells.sets`, `words` the number of its words, and `found` how many of them the
    model has. `entries` are the words found as another entry, [word, entry, ...], and `lost` the missing words.
    """

    set: int
    words: int
    found: int
    entries: list[list[str]]
    lost: list[str]


class Associations(NamedTuple):
    """Numbers that the metric computes for a set's words, the highest first.

    Attributes
    ----------
    rows
        The positions in the set of the words that are shown, without missing words.
    numbers
        (rows, k): usually one number of each word.
    left
        Number of words that are left out in the middle, because there may be thousands.
    """

    rows: list[int]
    numbers: np.ndarray
    left: int


@dataclass(frozen=True)
class Question:
    """Data that scores of one metric and (sub-)query share, for all models.

    Attributes
    ----------
    anchor
        The end of a link to it; the anchors of its scores begin with it.
    criterion, query, query_id, metric
        The keys of the scores' rows; `query_id` is the id of the sub-query's query.
    asks
        The metric's question about the query.
    neutral, above, below
        The no-bias value, and the meaning of values above and below it, which is empty if values lack such a meaning.
    per_word
        The meaning of the numbers of `Record.associations`; empty if the metric lacks such numbers.
    tests
        A test -> its question, or why it is missing.
    of_words
        The tests that count as evidence and that the metric can have.
    paired
        Whether words are left out with their pairs.
    poles
        As in `Metric.poles`.
    shared
        Words that are in two of the query's sets, and these sets; empty if the sets are disjoint.
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
    """Record of a score.

    Attributes
    ----------
    number
        Its row in scores.csv, from 0.
    question
        The number of its question in `Cells.questions`.
    value
        None if missing: `reason` then has the cause. With a value, `reason` names a cause that fixes its size, if
        any.
    targets, attributes
        The model's matches of each set: numbers in `Cells.found`.
    associations
        The metric's numbers of words, by the number of a set in `Cells.sets`.
    influence
        The number of a set -> the change of the value without each of its words (for a metric of pairs: each pair),
        (words,); NaN if unknown.
    tests
        Test -> its results: see `cell_tests.tests_of`.
    evidence
        The score's evidence in scores.csv.
    interval
        See `cell_tests.interval_of`; None if the study lacks intervals.
    of_units
        See `cell_tests.interval_of_units`; None for a metric of vectors.
    published
        Published numbers of this score.
    command
        The command that measures it again, with its inference.
    verdict, says
        From reliability.csv: whether another word list may reverse the score, in a word, and phrases on that and on
        the order of its words; empty if the study lacks this table.
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
        """Return the end of a link to it."""
        return anchor_of(self.number)

    @property
    def state(self) -> str:
        """Return its model and debias method, as in commands."""
        return f"{self.model}/{self.debias}"


@dataclass(frozen=True)
class Cells:
    """Scores of a study in the order of scores.csv, with their questions, the models' matches, and the sets of words.

    A set is a name and words. `versions` counts the versions that computed the cells and their inference
    (`versions.count_versions`).
    """

    sets: list[tuple[str, list[str]]]
    found: list[WordVectors]
    questions: list[Question]
    records: list[Record]
    versions: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def are_many(self) -> bool:
        """Return whether the scores are so many that the report shows less of each, and packs it."""
        return len(self.records) > MANY

    @cached_property
    def states(self) -> dict[str, int]:
        """Return the model variants that have scores, each with its number."""
        return {state: number for number, state in enumerate(dict.fromkeys(r.state for r in self.records))}

    @cached_property
    def lost_words(self) -> dict[tuple[str, int], list[str]]:
        """Return (model, number of a set) -> the words that one of its scores lacks, in alphabetical order."""
        lost: dict[tuple[str, int], set[str]] = {}
        for model, place in {(r.model, n) for r in self.records for n in r.targets + r.attributes}:
            lost.setdefault((model, self.found[place].set), set()).update(self.found[place].lost)
        return {key: sorted(words) for key, words in lost.items()}

    def of_questions(self) -> Iterator[tuple[Question, list[Record]]]:
        """Yield the scores by question, in order."""
        for question, records in groupby(self.records, key=lambda record: record.question):
            yield self.questions[question], list(records)


def anchor(criterion: str, query: str, metric: str) -> str:
    """Return the end of a link to all scores of a metric and query (#...), which is unique."""
    return "/".join(["cell", _slug(criterion), _slug(query), metric])


def anchor_of(number: int) -> str:
    """Return the end of a link to a score, from its row in scores.csv: short, because a report has thousands."""
    return f"c{number}"


def _slug(name: str) -> str:
    """Return a name as a part of a link, with a digest if the name would otherwise not be unique."""
    text = re.sub(r"[^\w.]+", "-", name).strip("-")
    return text if PLAIN.fullmatch(name) else f"{text}~{hashlib.sha256(name.encode()).hexdigest()[:6]}"
