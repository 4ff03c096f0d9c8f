"""SemBias (Zhao, Zhou, Li, Wang, Chang, EMNLP 2018, section 4.1): which of four pairs is most like he - she?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.errors import BiasgridError
from ..models.store import DebiasedModel, EmbeddingStore
from ..models.words import entries_of
from .benchmarks import lines
from .evaluation import Evaluation, Outcome
from .facts import directions, fact
from .spec import FilePath, Spec

# Kinds of an instance's four pairs.
KINDS = np.array(["definition", "none", "none", "stereotype"])
# Number of definitional pairs, the last ones, with which gn-GloVe was not trained.
SUBSET = 2
# A shorter difference, relative to its words, is a rounding error of float32.
ROUNDING = 1e-6


def instances_in(path: str) -> list[list[tuple[str, str]]]:
    """Read the four pairs of each instance. Raises BiasgridError for a line that is not four pairs a:b between
    tabs."""
    instances = []
    for number, line in lines(path):
        pairs: list[Any] = [tuple(pair.split(":")) for pair in line.split("\t")]
        if len(pairs) != 4 or any(len(pair) != 2 or not all(pair) for pair in pairs):
            raise BiasgridError(f"{path}: line {number}: {line!r} is not four pairs a:b with tabs between")
        instances.append(pairs)
    if not instances:
        raise BiasgridError(f"{path}: has no instances")
    return instances


def measure(
    model: EmbeddingStore, state: EmbeddingStore | DebiasedModel, spec: str, options: Spec, seed: int
) -> Outcome:
    """Measure the shares of instances in which the answer is the definition, the stereotype, or an unrelated pair.

    The answer is the pair a:b with the highest cos(he - she, a - b). Each share is also measured with the prefix
    subset_, over the instances of the last two definitional pairs. `n` is the number of instances of which the
    model has all words.

    Vectors are not scaled, as in the paper's formula. 1, 0 and 0 are best. A pair whose words have the same vector,
    as in a model whose words share rows, does not differ and is not the answer; an instance with only such pairs is
    left out.
    """
    instances = instances_in(spec)
    words = [word for pairs in [[("he", "she")], *instances] for pair in pairs for word in pair]
    entries = entries_of(words, state, options.preprocessors)
    rows = np.array([row for _, row in entries.values()], dtype=np.int64)
    vectors = state.take([key for key, _ in entries.values()], rows)
    index = {word: i for i, word in enumerate(entries)}
    subset = set(list(dict.fromkeys(pairs[0] for pairs in instances))[-SUBSET:])

    whole_instances = [pairs for pairs in instances if all(word in index for pair in pairs for word in pair)]
    if not {"he", "she"} <= index.keys():
        whole_instances = []
    pairs = np.array(
        [[[index[word] for word in pair] for pair in pairs] for pairs in whole_instances], dtype=np.int64
    )
    differences, differ = _differences(vectors, pairs.reshape(-1, 2))
    best, has_answer = (
        np.zeros(len(whole_instances), dtype=np.int64),
        np.zeros(len(whole_instances), dtype=bool),
    )
    if whole_instances:
        he_she, he_she_differ = _differences(vectors, np.array([[index["he"], index["she"]]]))
        best = np.where(differ, differences @ he_she[0], -np.inf).reshape(-1, 4).argmax(axis=1)
        has_answer = differ.reshape(-1, 4).any(axis=1) & he_she_differ[0]

    facts = []
    in_subset = np.array([pairs[0] in subset for pairs in whole_instances], dtype=bool)
    for prefix, in_group in (("", np.ones(len(whole_instances), dtype=bool)), ("subset_", in_subset)):
        answers = KINDS[best[in_group & has_answer]]
        no_direction = int((in_group & ~has_answer).sum())
        why = "degenerate" if no_direction else "too_few_instances"
        for kind in ("definition", "stereotype", "none"):
            share = (answers == kind).mean() if len(answers) else math.nan
            key = ("sembias", prefix + kind)
            facts.append(fact(*key, share, len(answers), undirected=no_direction, why=why))
    return Outcome(facts)


def _differences(vectors: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the first minus the second vector of each pair, at unit length, and which of them differ."""
    first, second = vectors[pairs[:, 0]], vectors[pairs[:, 1]]
    unit, differ = directions(first - second)
    size = np.linalg.norm(first, axis=1) + np.linalg.norm(second, axis=1)
    return unit, differ & (np.linalg.norm(first - second, axis=1) > ROUNDING * size)


EVALUATIONS = (
    Evaluation(
        "sembias",
        "SemBias: definitional word pairs against stereotypical ones. A file of lines of four pairs a:b with "
        "tabs between, whose first is one by definition and whose last is a stereotype.",
        FilePath,
        measure,
        order=7,
    ),
)
