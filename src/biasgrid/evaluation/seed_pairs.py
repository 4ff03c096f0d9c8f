"""Agreement of each pair of a list with the direction of all pairs, and of the other pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.errors import BiasgridError
from ..core.geometry import FLAT, unit
from ..core.validation import Strict
from ..debias.lookup import find_sets
from ..models.directions import PCA, axis
from ..models.store import DebiasedModel, EmbeddingStore
from .evaluation import Evaluation, Outcome
from .spec import Pairs, Spec


class SeedPair(Strict):
    """Pair in a record (`seed_pairs`)."""

    pair: str
    rank: int
    cosine: float | None
    cosine_others: float | None
    angle_others: float | None
    share_others: float | None
    angle_best: float | None
    share_best: float | None
    cosines_with_others: float | None


def measure(
    model: EmbeddingStore,
    state: EmbeddingStore | DebiasedModel,
    spec: Mapping[str, Pairs],
    options: Spec,
    seed: int,
) -> Outcome:
    """Measure how well each pair represents the direction of its list (`representative`), in the measured variant.

    Pairs with a missing word are left out, and so are repeated ones. Raises BiasgridError if the model has fewer
    than two pairs (`biasgrid.debias.lookup.find_sets`).
    """
    record = {}
    for name, pairs in spec.items():
        try:
            lookup = find_sets(model, pairs, "pairs", options.preprocessors)
        except BiasgridError as error:
            raise BiasgridError(f"{name}: {error}") from None
        # Count a repeated pair once, also in another form or in reverse.
        different = list({frozenset(pair): pair for pair in lookup.words[::-1]}.values())[::-1]
        keys = [word for pair in different for word in pair]
        vectors = state.take(keys, model.rows(keys)).astype(np.float64).reshape(len(different), 2, -1)
        names = [":".join(word.removeprefix(state.vocab_prefix) for word in pair) for pair in different]
        record[name] = representative(names, vectors[:, 0], vectors[:, 1])
    return Outcome(entries={"seed_pairs": record})


def representative(names: Sequence[str], first: np.ndarray, second: np.ndarray) -> list[dict[str, Any]]:
    """Compare each pair with the direction of all pairs, and with the direction of the other pairs.

    The direction is the first principal component of the pairs, each at unit length and centred on its own mean
    (Bolukbasi et al. 2016); it points to the first words. A pair's cosine with the direction of all pairs is biased
    upwards, as the pair helps to define it: for n pairs that have nothing in common it is about 1 / sqrt(n). Its
    cosine with the direction of the other pairs is not biased, and orders the pairs.

    Parameters
    ----------
    names
        Names of the pairs.
    first, second : (pairs, d)
        Vectors of the pairs' first words, and of their second words.

    Returns
    -------
    list of dict
        In descending order of the cosine with the direction of the others, which defines "rank", from 1; None if
        undefined.

        - "cosine", "cosine_others": of the pair's difference with the direction of all pairs, and of the others; -1
          to 1.
        - "cosines_with_others": the mean cosine of its difference with the other differences, without any
          component.
        - "angle_others": degrees between the direction of all pairs and the direction of the others, 0 to 180.
        - "share_others": the others' share of variance along their first component, 0 to 1. If it is above the
          share of all pairs, the pair blurs the direction.
        - "angle_best", "share_best": the same for the pairs up to this rank alone. As they are chosen for it, few
          pairs have a large share.
    """
    a, b = unit(first), unit(second)
    differences = unit(np.where(np.linalg.norm(a - b, axis=1, keepdims=True) > FLAT, a - b, np.nan))
    whole = axis(a, b, PCA)
    n = len(names)
    cosines = differences @ differences.T
    rows = []
    for i, name in enumerate(names):
        rest = np.delete(np.arange(n), i)
        direction = axis(a[rest], b[rest], PCA)
        row = {
            "pair": name,
            "cosine": differences[i] @ whole,
            "cosine_others": differences[i] @ direction,
            "cosines_with_others": cosines[i, rest].mean() if n > 1 else math.nan,
            "angle_others": _angle(whole, direction),
            "share_others": _share(a[rest], b[rest]),
        }
        rows.append(row)
    order = sorted(range(n), key=lambda i: (-np.nan_to_num(rows[i]["cosine_others"], nan=-2.0), i))
    for rank, i in enumerate(order, 1):
        best = order[:rank]
        rows[i] |= {
            "rank": rank,
            "angle_best": _angle(whole, axis(a[best], b[best], PCA)),
            "share_best": _share(a[best], b[best]),
        }
    return [
        {key: None if isinstance(x, float) and not math.isfinite(x) else x for key, x in _plain(rows[i])}
        for i in order
    ]


def _plain(row: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(key, float(x) if isinstance(x, np.floating) else x) for key, x in row.items()]


def _share(a: np.ndarray, b: np.ndarray) -> float:
    """Compute the share of the pairs' variance along their first component."""
    squares = (
        np.linalg.svd(a - b, compute_uv=False) ** 2 if np.isfinite(a - b).all() else np.array([math.nan])
    )
    return float(squares[0] / squares.sum()) if squares.sum() > FLAT**2 else math.nan


def _angle(first: np.ndarray, second: np.ndarray) -> float:
    return math.degrees(math.acos(np.clip(first @ second, -1.0, 1.0)))


EVALUATIONS = (
    Evaluation(
        "seed_pairs",
        "How well each pair of a list matches the direction of the list. Lists of pairs by name, such as "
        "debiaswe.definitional_pairs.",
        Mapping[str, Pairs],
        measure,
        default={},
        entries={"seed_pairs": Mapping[str, list[SeedPair]]},
        order=4,
    ),
)
