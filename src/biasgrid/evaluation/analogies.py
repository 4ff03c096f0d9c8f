"""Analogy questions "a is to b as c is to ?" (Mikolov et al. 2013) by 3CosAdd, all of them at once."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, ValidationInfo

from ..embeddings.store import DebiasedModel, EmbeddingStore
from ..errors import BiasgridError
from .benchmarks import lines, look_up
from .evaluation import Evaluation, Outcome
from .facts import directions, fact
from .spec import FilePath, Spec

CANDIDATES = (
    30_000  # answers are looked for among so many rows of a sorted model: the C word2vec's compute-accuracy
)
QUESTIONS = 1000  # whose words' similarities with all candidates are held at one time
UNKNOWN, UNDIRECTED = -1, -2  # no answer: a word is not among the candidates, or has no direction
Question = tuple[str, tuple[str, str, str, str]]


def _named_apart(benchmarks: Mapping[str, str], info: ValidationInfo) -> Mapping[str, str]:
    for name in benchmarks:
        if name in (info.data.get("similarity") or {}):
            raise BiasgridError(f"{name}: a benchmark of similarity has this name; name one otherwise")
    return benchmarks


def questions(path: str) -> list[Question]:
    """Section and the words a, b, c, d of "a is to b as c is to d".

    Raises BiasgridError for a line that is not four words, one before the first section, a file without questions.
    """
    found, section = [], None
    for number, line in lines(path):
        if line.startswith(":"):
            section = line.lstrip(": ").strip()
            continue
        words = tuple(line.split())
        if section is None or len(words) != 4:
            what = "four words" if section is not None else "a section such as ': family'"
            raise BiasgridError(f"{path}: line {number}: {line!r} is not {what}")
        found.append((section, words))
    if not found:
        raise BiasgridError(f"{path}: has no questions")
    return found


def measure(
    model: EmbeddingStore,
    state: EmbeddingStore | DebiasedModel,
    spec: Mapping[str, str],
    options: Spec,
    seed: int,
) -> Outcome:
    """The measures of `measures`."""
    return Outcome(measures(state, {name: questions(path) for name, path in spec.items()}, options))


def measures(
    state: EmbeddingStore | DebiasedModel, benchmarks: Mapping[str, Sequence[Question]], options: Spec
) -> list[dict[str, Any]]:
    """Accuracy by benchmark, 0 to 1; `n` questions of its `total`. If a benchmark has sections whose names begin with
    "gram", also that of these (<name>_syntactic) and of the others (<name>_semantic); and that of its section family.
    With `options.items` a whole benchmark also has `right`: by question 1, 0, or None where it was left out.

    The answer is the word among the model's first 30,000 whose vector has the highest cosine with b - a + c (of unit
    vectors), but for a, b and c in any case; it is right if it is d in any case. A question of which these 30,000
    lack a word is left out. In a model that is not sorted by frequency (`options.sorted`) the first words are any
    words: there all are candidates. With `options.look_up` "gensim" as gensim's `evaluate_word_analogies` with
    restrict_vocab=30,000. Words that share a row are one.
    """
    if not benchmarks:
        return []
    words, rows = state.vocabulary(CANDIDATES if options.sorted else None)
    vectors, there = directions(state.matrix(words, rows))
    forms = [word.removeprefix(state.vocab_prefix).upper() for word in words]
    asked = [word for questions in benchmarks.values() for _, four in questions for word in four]
    found = look_up(state, asked, options)
    candidates = set(rows.tolist())
    found = {word: entry for word, entry in found.items() if entry[1] in candidates}
    facts = []
    for name, questions in benchmarks.items():
        answers = _answered(state, questions, found, vectors, there, rows, forms)
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
            mine = answers[np.isin(section_of, members)]
            answered = mine[mine >= 0]
            accuracy = float(np.mean(answered)) if len(answered) else math.nan
            more = {"total": len(mine)}
            if options.items and part == name:
                more["right"] = np.where(mine >= 0, mine, None).tolist()
            lost = int((mine == UNDIRECTED).sum())
            counts = {"undirected": lost, "why": "too_few_questions", **more}
            facts.append(fact("analogy", part, accuracy, len(answered), **counts))
    return facts


def _answered(state, questions, found, vectors, there, rows, forms):
    """By question: 1 if it is answered rightly, else 0, UNKNOWN, or UNDIRECTED."""
    place = {row: i for i, row in enumerate(rows.tolist())}
    number = {form: i for i, form in reversed(list(enumerate(forms)))}
    group = np.array([number[form] for form in forms], dtype=np.int64)
    same: dict[int, list[int]] = defaultdict(list)
    for i, first in enumerate(group.tolist()):
        same[first].append(i)

    answers = np.full(len(questions), UNKNOWN)
    covered = [i for i, (_, four) in enumerate(questions) if all(word in found for word in four)]
    asked = list(dict.fromkeys(word for i in covered for word in questions[i][1]))
    entries = [found[word][0] for word in asked]
    own, own_there = directions(
        state.matrix(entries, np.array([found[word][1] for word in asked], dtype=np.int64))
    )
    index = {word: i for i, word in enumerate(asked)}
    # the number of a word's form among the candidates
    form = np.array([group[place[found[word][1]]] for word in asked], dtype=np.int64)
    four = np.array([[index[word] for word in questions[i][1]] for i in covered], dtype=np.int64).reshape(
        -1, 4
    )
    answerable = own_there[four].all(axis=1)

    covered = np.array(covered, dtype=np.int64)
    answers[covered] = UNDIRECTED
    covered, four = covered[answerable], four[answerable]
    for start in range(0, len(four), QUESTIONS):
        part = four[start : start + QUESTIONS]
        needed, local = np.unique(part[:, :3], return_inverse=True)
        local = local.reshape(-1, 3)
        best = np.zeros(len(part), dtype=np.int64)
        highest = np.full(len(part), -np.inf, dtype=np.float32)
        for first in range(
            0, len(vectors), CANDIDATES
        ):  # all of a model's words at a time would be gigabytes
            among = slice(first, first + CANDIDATES)
            similar = own[needed] @ vectors[among].T
            similar[:, ~there[among]] = -1.0
            at, score = _best(similar, local, form[part[:, :3]], same, first)
            better = score > highest
            best[better], highest[better] = at[better] + first, score[better]
        answers[covered[start : start + QUESTIONS]] = group[best] == form[part[:, 3]]
    return answers


def _best(
    similar: np.ndarray, abc: np.ndarray, forms: np.ndarray, same: Mapping[int, Sequence[int]], first: int
) -> tuple[np.ndarray, np.ndarray]:
    """The candidate with the highest cosine with b - a + c, of other forms than these, and that cosine times the
    length of b - a + c.

    similar  cosines of words and candidates (words, candidates); a row's sum for b, c less that for a is the
             cosine with b - a + c times that vector's length
    abc      the three words of each question (questions, 3), and their `forms`
    same     form -> the candidates that have it, counted from the whole model's first; `similar` is from `first` on
    """
    best = np.empty(len(abc), dtype=np.int64)
    highest = np.empty(len(abc), dtype=similar.dtype)
    # one question at a time: what it needs stays in the cache
    scores = np.empty(similar.shape[1], dtype=similar.dtype)
    for i, ((a, b, c), own) in enumerate(zip(abc.tolist(), forms.tolist(), strict=True)):
        np.subtract(similar[b], similar[a], out=scores)
        scores += similar[c]
        mine = [at - first for form in own for at in same[form] if 0 <= at - first < len(scores)]
        scores[mine] = -np.inf
        best[i] = scores.argmax()
        highest[i] = scores[best[i]]
    return best, highest


EVALUATIONS = (
    Evaluation(
        "analogies",
        'Analogy questions: by benchmark, a file of them (lines of four words, under lines ": section").',
        Annotated[Mapping[str, FilePath], AfterValidator(_named_apart)],
        measure,
        default={},
        order=6,
    ),
)
