"""Records of scores for the report, read from the files of a finished study: one for each row of scores.csv."""

from __future__ import annotations

import json
import shlex
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, zip_longest
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import metrics
from ..core.errors import BiasgridError, join_names, quote
from ..core.versions import count_versions
from ..measure import significance
from ..measure.caveats import ONE_WORD, UNDEFINED, is_fixed, shared_text, shared_words, why_undefined
from ..measure.evidence import COUNTING
from ..measure.evidence import tests_of as tests_of_words
from ..measure.reliability_in_words import of_scores, of_word_orders
from ..measure.results import KEYS, PLACE, cells, part_of
from ..metrics.registry import Metric
from ..models.kinds import REGISTRY as KINDS
from ..models.words import WordOptions
from ..queries.query import Query
from ..queries.word_set import WordSet
from ..tables.comparison import COMPARISON
from ..tables.inputs import files_of
from ..tables.published.study_values import unit
from ..tables.reliability import TABLE as RELIABILITY
from ..tables.scores import SCORES
from .cell_tests import KEPT, interval_of, interval_of_units, number, tests_of
from .score_records import MANY, Associations, Cells, Question, Record, WordVectors, anchor
from .sentences import of_stability

if TYPE_CHECKING:
    from ..study.study import Study


# The tables that records are read from, if they exist.
TABLES = {"scores", "comparison", "reliability"}
# Columns of reliability.csv that the report reads.
STABILITY = ["question", "coefficient", "set", "value", "low", "high", "words", "items", "verdict"]
# Number of words of a set that are shown with their associations.
SHOWN = 4


def inputs(study: Study) -> dict[str, Any]:
    """Return the files that `read` needs, by role."""
    queries = [
        study.paths.query_file(key) for key in dict.fromkeys(c.query for c in study.grid.cells.values())
    ]
    there = [name for name in ("comparison", "reliability") if name in study.tables]
    return files_of(study, ("cells", "inferences", "scores", *there)) | {"queries": queries}


def spec(study: Study) -> dict[str, Any]:
    """Return the other values that `read` needs: the kind of interval, and the file that commands name."""
    return {
        "interval": study.config.inference.interval,
        "study": (study.results / "study.json").as_posix(),
    }


def read(files: Mapping[str, Any], spec: Mapping[str, Any]) -> Cells:
    """Read the records of a finished study.

    Parameters
    ----------
    files
        As in `inputs`: "cells", "queries" and "inferences", lists of files; "scores"; "comparison" and "reliability"
        if the study has them.
    spec
        As in `spec`.

    Raises
    ------
    BiasgridError
        For a file that is missing or damaged.
    """
    scores = SCORES.read(files["scores"])
    rows = dict(zip(scores[KEYS].itertuples(index=False, name=None), scores.itertuples(), strict=True))
    queries = {Path(file).stem: Query.read(file) for file in files["queries"]}
    are_many = len(scores) > MANY
    study = _Study(
        spec,
        _read_published(files.get("comparison")),
        _read_card(files.get("reliability")),
        _Words(),
        # Leave histograms out of a large report.
        [name for name in KEPT if name != "histogram" or not are_many],
    )
    made = []
    inferences: dict[tuple, _Inferred] = {}
    for cell, results in cells(files["inferences"]):
        # Keep the versions only: the values may be many.
        made.append({"versions": cell.get("versions")})
        for result in results:
            if (key := _key(cell, result)) in rows:
                inferred = _inferred(rows[key], cell, result, _query(queries, cell), study)
                inferences[key, cell["query"]] = inferred
    records: dict[tuple, Record] = {}
    for cell, results in cells(files["cells"]):
        made.append({"versions": cell.get("versions")})
        for result in results:
            # As in scores.csv, a sub-query of several queries belongs to the first.
            if (key := _key(cell, result)) in rows and key not in records:
                inferred = inferences.pop((key, cell["query"]), NOTHING_INFERRED)
                records[key] = _record(rows[key], cell, result, inferred, _query(queries, cell), study)
    for key in rows:
        if key not in records:
            raise BiasgridError(
                f"{files['scores']}: no cell has {' / '.join(key)}; make it again: "
                'biasgrid step "table scores" --study CONFIG'
            )
    return Cells(
        study.words.sets,
        study.words.found_sets,
        list(study.questions.values()),
        [records[key] for key in rows],
        count_versions(made),
    )


@dataclass(frozen=True)
class _Study:
    """Data that all cells share while their records are built."""

    spec: Mapping[str, Any]
    published: Mapping[tuple, list[dict[str, Any]]]
    card: Mapping[tuple, tuple[str, list[str]]]
    words: _Words
    kept: Collection[str]
    questions: dict[tuple, Question] = field(default_factory=dict)
    numbers: dict[tuple, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Inferred:
    """Part of a record that comes from a file of inference.

    `options` are the names of its parts, None without such a file. The other fields are as in `Record`, but
    `influence` is by set.
    """

    options: tuple[str, ...] | None = None
    tests: dict[str, dict[str, Any]] = field(default_factory=dict)
    interval: dict[str, Any] | None = None
    influence: list[tuple[WordSet, np.ndarray]] = field(default_factory=list)


NOTHING_INFERRED = _Inferred()


def _inferred(
    row: Any, cell: Mapping[str, Any], result: Mapping[str, Any], query: Query, study: _Study
) -> _Inferred:
    metric, options = _metric(cell), cell["inference"]
    return _Inferred(
        tuple(options),
        tests_of(result, row, study.kept),
        interval_of(result, options, study.spec["interval"]),
        _influence(metric, part_of(query, metric.template, cell, result), result),
    )


def _query(queries: Mapping[str, Query], cell: Mapping[str, Any]) -> Query:
    """Return the query of a cell. Raises BiasgridError for a cell of another study."""
    if cell["query"] not in queries:
        place = "/".join(cell[part] for part in PLACE)
        raise BiasgridError(f"inference of {place}: the study has no such query; run the study again")
    return queries[cell["query"]]


def _record(
    row: Any,
    cell: Mapping[str, Any],
    result: Mapping[str, Any],
    inferred: _Inferred,
    query: Query,
    study: _Study,
) -> Record:
    place, state = (row.criterion, row.query, row.metric), (row.model, row.debias)
    metric, words = _metric(cell), study.words
    part = part_of(query, metric.template, cell, result)
    detail = next((name for name in metric.details if result["detail"].get(name)), "")
    if place not in study.questions or (detail and not study.questions[place].per_word):
        study.questions[place] = _question(place, cell["query"], metric, part, detail, inferred.options or ())
    published = row.criterion, row.metric, unit(*state)
    verdict, says = study.card.get((*place, *state), ("", []))
    return Record(
        row.Index,
        study.numbers.setdefault(place, len(study.numbers)),
        *state,
        value=result["value"],
        status=result["status"],
        reason=_reason(cell, result) or ONE_WORD * is_fixed(metric, part, result["found"]),
        targets=[words.place_of(s, result) for s in part.target_sets],
        attributes=[words.place_of(s, result) for s in part.attribute_sets],
        associations=_associations(part, detail, result, study),
        influence={words.set_of(s): changes for s, changes in inferred.influence},
        tests=inferred.tests,
        evidence=row.evidence,
        verdict=verdict,
        says=says,
        interval=inferred.interval,
        of_units=interval_of_units(result["scalars"]),
        published=study.published.get((*published, cell["query"]), []) if query is part else [],
        command=_command(study.spec["study"], cell, inferred.options is not None),
    )


def _question(
    place: tuple[str, str, str],
    query_id: str,
    metric: Metric,
    query: Query,
    detail: str,
    tests: Collection[str],
) -> Question:
    names = [[f"“{name}”" for name in side] for side in (query.target_sets_names, query.attribute_sets_names)]

    def write_sentence(text: str) -> str:
        return metric.sentence(text, *names)

    return Question(
        anchor(*place),
        *place[:2],
        query_id,
        place[2],
        asks=write_sentence(metric.asks),
        neutral=metric.neutral,
        above=write_sentence(metric.above),
        below=write_sentence(metric.below),
        per_word=write_sentence(metric.details[detail]) if detail else "",
        tests=significance.questions(metric, tests),
        of_words=tuple(COUNTING[name].name for name in tests_of_words(metric)),
        paired=metric.paired,
        poles=metric.poles(query.target_sets_names, query.attribute_sets_names),
        shared=shared_text(shared_words(query)),
    )


class _Words:
    """Sets of words and the models' matches of them, without duplicates."""

    def __init__(self) -> None:
        self.sets: list[tuple[str, list[str]]] = []
        self.found_sets: list[WordVectors] = []
        self._sets: dict[tuple[str, tuple[str, ...]], int] = {}
        self._found_numbers: dict[tuple, int] = {}

    def set_of(self, s: WordSet) -> int:
        """Return the number of a set."""
        key = s.name, s.words
        if key not in self._sets:
            self._sets[key] = len(self.sets)
            self.sets.append((s.name, list(s.words)))
        return self._sets[key]

    def place_of(self, s: WordSet, result: Mapping[str, Any]) -> int:
        """Return the number of a model's matches of a set."""
        entries_of_words, lost_words = result["found"][s.name], result["lost"][s.name]
        entries = []
        # Check first whether each word is found as itself, the usual case: there may be thousands of words.
        if [*chain.from_iterable(entries_of_words.values())] != [*entries_of_words]:
            entries = [
                [word, ", ".join(keys)]
                for word, keys in entries_of_words.items()
                if keys[0] != word or len(keys) != 1
            ]
        key = self.set_of(s), json.dumps([entries, lost_words])
        if key not in self._found_numbers:
            self._found_numbers[key] = len(self.found_sets)
            self.found_sets.append(
                WordVectors(
                    key[0],
                    len(entries_of_words) + len(lost_words),
                    len(entries_of_words),
                    entries,
                    lost_words,
                )
            )
        return self._found_numbers[key]


def _key(cell: Mapping[str, Any], result: Mapping[str, Any]) -> tuple[str, ...]:
    return cell["criterion"], result["query"], cell["metric"], cell["model"], cell["debias"]


def _metric(cell: Mapping[str, Any]) -> Metric:
    return _metric_with_params(cell["function"], json.dumps(cell["params"], sort_keys=True))


@lru_cache(maxsize=1024)
def _metric_with_params(name: str, params: str) -> Metric:
    return metrics.metric(name).under(json.loads(params))


def _reason(cell: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """Explain in a sentence why a score lacks a value."""
    status = result["status"]
    if status == "ok":
        return ""
    if not status.startswith("lost_words:"):
        return why_undefined(status) or UNDEFINED
    failed_sets = f";{status.removeprefix('lost_words:')};"
    # Such a model never lacks words, unless its scores were measured elsewhere.
    if KINDS[_metric(cell).needs].complete:
        lost_texts = {text: of_set for of_set, texts in result["lost"].items() for text in texts}
        whys = {text: result.get("why_lost", {}).get(name, {}).get(text) for text, name in lost_texts.items()}
        named = (quote(text) + (f" ({why})" if why else "") for text, why in whys.items())
        return f"there is no score of {join_names(named)}"
    shortages = [
        f"{name} lacks {len(lost_words):,} of {len(lost_words) + len(result['found'][name]):,} words"
        for name, lost_words in result["lost"].items()
        # A name may contain a semicolon.
        if lost_words and f";{name};" in failed_sets
    ]
    threshold = cell["words"].get("lost_vocabulary_threshold", WordOptions.lost_vocabulary_threshold)
    return f"too many words are missing: {', '.join(shortages)}; the study allows {100 * threshold:g} %"


def _associations(
    query: Query, detail: str, result: Mapping[str, Any], study: _Study
) -> dict[int, Associations]:
    sets, values = (*query.target_sets, *query.attribute_sets), {}
    names = {s.name for s in sets}
    for s in sets:
        if (by_entry := result["detail"].get(detail, {}).get(s.name)) is None:
            continue
        entries = {word: keys[0] for word, keys in result["found"][s.name].items()}
        # Entries are never None.
        of_words = [*map(by_entry.get, map(entries.get, s.words))]
        first = next((value for value in of_words if value is not None), nan)
        if isinstance(first, dict):
            # Use a number per set if there is one, otherwise the first number, such as the mean of a mean and its
            # deviation.
            width = len(first) if len(first) > 1 and names.issuperset(first) else 1
            of_words = [[nan] * width if v is None else [*v.values()][:width] for v in of_words]
        # NumPy converts None to NaN.
        numbers = np.array(of_words, dtype=float).reshape(len(s.words), -1)
        values[study.words.set_of(s)] = ends(numbers)
    return values


def ends(numbers: np.ndarray, shown: int = SHOWN) -> Associations:
    """Return the numbers of a set's words (words, numbers of each) that are shown: both ends if there are many."""
    # Order by the difference of two numbers, or by the mean of more.
    order = numbers[:, 0] - numbers[:, 1] if numbers.shape[1] == 2 else numbers.mean(axis=1)
    rows = np.argsort(-order, kind="stable")[: np.count_nonzero(~np.isnan(order))]
    left = len(rows) - shown if len(rows) > shown + 1 else 0
    rows = np.delete(rows, slice(shown // 2, shown // 2 + left))
    return Associations(rows.tolist(), numbers[rows], left)


def _influence(
    metric: Metric, query: Query, inference: Mapping[str, Any]
) -> list[tuple[WordSet, np.ndarray]]:
    changes = []
    for s in (*query.target_sets, *query.attribute_sets):
        if (by_word := inference.get("influence", {}).get(s.name)) is None:
            continue
        of_words = [*map(by_word.get, s.words)]
        if metric.paired and s is query.target_sets[0]:
            # Name a word of several pairs with its partners.
            pairs = map(", ".join, zip(*(t.words for t in query.target_sets), strict=False))
            of_words = [
                by_word.get(pair) if n is None else n
                for n, pair in zip_longest(of_words, pairs, fillvalue=None)
            ]
        # NumPy converts None to NaN.
        changes.append((s, np.array(of_words, dtype=float)))
    return changes


def _read_published(path: Path | None) -> dict[tuple, list[dict[str, Any]]]:
    """Return published numbers by criterion, metric, model and query id; the id is empty for a whole criterion."""
    numbers_by_key: dict[tuple, list[dict[str, Any]]] = defaultdict(list)
    if path is None:
        return numbers_by_key
    for row in COMPARISON.read(path).itertuples():
        # The table's query_id is also empty if the study lacks the query.
        query, separator, quantity = row.quantity.partition(": ")
        query, quantity = (query, quantity) if separator else ("", row.quantity)
        names = "source", "table", "published", "ours", "verdict", "note"
        numbers = {name: getattr(row, name) for name in names} | {
            "published": number(row.published),
            "ours": number(row.ours),
        }
        numbers_by_key[row.criterion, row.metric, row.model, query].append({"quantity": quantity, **numbers})
    return numbers_by_key


def _read_card(path: Path | None) -> dict[tuple, tuple[str, list[str]]]:
    """Return the stability of each score: its assessment, and phrases on it and on the order of its words."""
    if path is None:
        return {}
    table = RELIABILITY.read(path)[[*KEYS, *STABILITY]]
    scores = of_scores(table)
    verdicts = {row[:5]: row[5] for row in scores[[*KEYS, "verdict"]].itertuples(index=False, name=None)}
    says: dict[tuple, list[str]] = defaultdict(list)
    for rows in (scores, of_word_orders(table)):
        for row in rows.itertuples():
            says[tuple(getattr(row, name) for name in KEYS)].append(of_stability(row))
    return {key: (verdicts.get(key, ""), sentences) for key, sentences in says.items()}


def _command(study: str, cell: Mapping[str, Any], with_inference: bool) -> str:
    name = "/".join(cell[part] for part in PLACE)
    kind = "inference" if with_inference else "cell"
    return shlex.join(["biasgrid", "step", f"{kind} {name}", "--study", study])
