"""Analogy questions "a is to b as c is to ?" (Mikolov et al. 2013) by 3CosAdd, all of them at once."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, ValidationInfo

from ..core.errors import BiasgridError
from ..core.validation import Line
from ..models.store import DebiasedModel, EmbeddingStore
from .benchmarks import lines, look_up
from .evaluation import Evaluation, Outcome
from .facts import directions, fact
from .spec import FilePath, Spec

# Answers are among this number of first rows of a sorted model, as in compute-accuracy of the C word2vec.
CANDIDATES = 30_000
# Number of questions per block, whose words' similarities with all candidates are in memory at once.
QUESTIONS = 1000
# Reasons for a missing answer: a word is not among the candidates, or its vector is zero or not finite.
UNKNOWN, UNDIRECTED = -1, -2
Question = tuple[str, tuple[str, str, str, str]]


def _check_names(benchmarks: Mapping[str, str], info: ValidationInfo) -> Mapping[str, str]:
    for name in benchmarks:
        if name in (info.data.get("similarity") or {}):
            raise BiasgridError(f"{name}: a benchmark of similarity has this name; name one otherwise")
    return benchmarks


def questions(path: str) -> list[Question]:
    """Read the questions of a file: the section and the words a, b, c, d of "a is to b as c is to d".

    Raises BiasgridError for a line that is not four words, a line before the first section, and a file without
    questions.
    """
    questions, section = [], None
    for number, line in lines(path):
        if line.startswith(":"):
            section = line.lstrip(": ").strip()
            continue
        words = tuple(line.split())
        if section is None or len(words) != 4:
            what = "four words" if section is not None else "a section such as ': family'"
            raise BiasgridError(f"{path}: line {number}: {line!r} is not {what}")
        questions.append((section, words))
    if not questions:
        raise BiasgridError(f"{path}: has no questions")
    return questions


def measure(
    model: EmbeddingStore,
    state: EmbeddingStore | DebiasedModel,
    spec: Mapping[str, str],
    options: Spec,
    seed: int,
) -> Outcome:
    """Measure the accuracy on the benchmarks of a spec (`measures`)."""
    return Outcome(measures(state, {name: questions(path) for name, path in spec.items()}, options))


def measures(
    state: EmbeddingStore | DebiasedModel, benchmarks: Mapping[str, Sequence[Question]], options: Spec
) -> list[dict[str, Any]]:
    """Measure the accuracy on each benchmark, 0 to 1, with `n` questions of its `total`.

    The answer is the word among the model's first 30,000 words whose vector has the highest cosine with b - a + c
    (of unit vectors), except a, b and c in any case. It is right if it is d in any case. A question with a word
    outside these 30,000 is left out. If the model is not sorted by frequency (`options.sorted`), its first words
    are arbitrary, and all words are candidates. `options.look_up` "gensim" reproduces gensim's
    `evaluate_word_analogies` with restrict_vocab=30,000. Words that share a row count as one word.

    If a benchmark has sections whose names begin with "gram", their accuracy is also reported (<name>_syntactic),
    like the accuracy of the other sections (<name>_semantic) and of the section family. With `options.items` a
    whole benchmark also has `right`: 1 or 0 for each question, or None if it was left out.
    """
    if not benchmarks:
        return []
    words, rows = state.vocabulary(CANDIDATES if options.sorted else None)
    vectors, has_direction = directions(state.matrix(words, rows))
    forms = [word.removeprefix(state.vocab_prefix).upper() for word in words]
    question_words = [word for questions in benchmarks.values() for _, four in questions for word in four]
    locations = look_up(state, question_words, options)
    candidates = set(rows.tolist())
    locations = {word: entry for word, entry in locations.items() if entry[1] in candidates}
    facts = []
    for name, questions in benchmarks.items():
        answers = _answer_questions(state, questions, locations, vectors, has_direction, rows, forms)
        section_of = np.array([section for section, _ in questions])
        sections = list(dict.fromkeys(section for section, _ in questions))
        grammar = [section for section in sections if section.startswith("gram")]
        parts = {name: sections}
        if grammar:
            parts[f"{name}_semantic"] = [section for section in sections if section not in grammar]
            parts[f"{name}_syntactic"] = grammar
        if "family" in sections:
            parts[f"{name}_family"] = ["family"]
        for part, members in parts.items():
            part_answers = answers[np.isin(section_of, members)]
            valid_answers = part_answers[part_answers >= 0]
            accuracy = float(np.mean(valid_answers)) if len(valid_answers) else math.nan
            extras: dict[str, Any] = {"total": len(part_answers)}
            if options.items and part == name:
                extras["right"] = np.where(part_answers >= 0, part_answers, None).tolist()  # type: ignore[attr-defined]
            no_direction = int((part_answers == UNDIRECTED).sum())
            counts: dict[str, Any] = {"undirected": no_direction, "why": "too_few_questions", **extras}
            facts.append(fact("analogy", part, accuracy, len(valid_answers), **counts))
    return facts


def _answer_questions(state, questions, locations, vectors, has_direction, rows, forms):
    """Return 1 for each question that is answered correctly, otherwise 0, UNKNOWN, or UNDIRECTED."""
    place = {row: i for i, row in enumerate(rows.tolist())}
    number = {form: i for i, form in reversed(list(enumerate(forms)))}
    group = np.array([number[form] for form in forms], dtype=np.int64)
    places_of_form: dict[int, list[int]] = defaultdict(list)
    for i, first in enumerate(group.tolist()):
        places_of_form[first].append(i)

    answers = np.full(len(questions), UNKNOWN)
    question_places = [i for i, (_, four) in enumerate(questions) if all(word in locations for word in four)]
    words = list(dict.fromkeys(word for i in question_places for word in questions[i][1]))
    entries = [locations[word][0] for word in words]
    word_vectors, word_has_direction = directions(
        state.matrix(entries, np.array([locations[word][1] for word in words], dtype=np.int64))
    )
    index = {word: i for i, word in enumerate(words)}
    # Find the number of each word's form among the candidates.
    form = np.array([group[place[locations[word][1]]] for word in words], dtype=np.int64)
    four = np.array(
        [[index[word] for word in questions[i][1]] for i in question_places], dtype=np.int64
    ).reshape(-1, 4)
    answerable = word_has_direction[four].all(axis=1)

    question_places = np.array(question_places, dtype=np.int64)
    answers[question_places] = UNDIRECTED
    question_places, four = question_places[answerable], four[answerable]
    for start in range(0, len(four), QUESTIONS):
        part = four[start : start + QUESTIONS]
        unique_words, local = np.unique(part[:, :3], return_inverse=True)
        local = local.reshape(-1, 3)
        best = np.zeros(len(part), dtype=np.int64)
        highest = np.full(len(part), -np.inf, dtype=np.float32)
        # Process the model's words in blocks: all of them at once would take gigabytes.
        for first in range(0, len(vectors), CANDIDATES):
            block = slice(first, first + CANDIDATES)
            similar = word_vectors[unique_words] @ vectors[block].T
            similar[:, ~has_direction[block]] = -1.0
            places, score = _best(similar, local, form[part[:, :3]], places_of_form, first)
            better = score > highest
            best[better], highest[better] = places[better] + first, score[better]
        answers[question_places[start : start + QUESTIONS]] = group[best] == form[part[:, 3]]
    return answers


def _best(
    similar: np.ndarray,
    abc: np.ndarray,
    forms: np.ndarray,
    places_of_form: Mapping[int, Sequence[int]],
    first: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the candidate with the highest cosine with b - a + c, and that cosine times the length of b - a + c.

    Candidates with the form of a, b or c are left out.

    Parameters
    ----------
    similar
        Cosines of words and candidates (words, candidates). The rows' sum for b and c, minus the row of a, is the
        cosine with b - a + c times that vector's length.
    abc
        The three words of each question (questions, 3).
    forms
        Their forms.
    places_of_form
        Form -> the candidates with it, counted from the whole model's first one.
    first
        Number of the first candidate in `similar`.
    """
    best = np.empty(len(abc), dtype=np.int64)
    highest = np.empty(len(abc), dtype=similar.dtype)
    # Process one question at a time: its data stays in the cache.
    scores = np.empty(similar.shape[1], dtype=similar.dtype)
    for i, ((a, b, c), abc_forms) in enumerate(zip(abc.tolist(), forms.tolist(), strict=True)):
        np.subtract(similar[b], similar[a], out=scores)
        scores += similar[c]
        abc_places = [
            place - first
            for form in abc_forms
            for place in places_of_form[form]
            if 0 <= place - first < len(scores)
        ]
        scores[abc_places] = -np.inf
        best[i] = scores.argmax()
        highest[i] = scores[best[i]]
    return best, highest


EVALUATIONS = (
    Evaluation(
        "analogies",
        'Accuracy on analogy questions. By benchmark, a file of them (lines of four words, under lines ": '
        'section").',
        Annotated[Mapping[Line, FilePath], AfterValidator(_check_names)],
        measure,
        default={},
        order=6,
    ),
)
