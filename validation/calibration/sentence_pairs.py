"""Level and power of comparisons of language models on pairs of sentences, by their raw distance from no bias.

    python -m validation.calibration.sentence_pairs [--runs 2000]

Log-likelihood differences are real ones: those that BETO gives to 1,503 pairs of the Spanish CrowS-Pairs, by two
scores (`data/measured/maddalozzo_pll.csv`). The first two models are these two scores: they share all pairs, are
correlated, and one varies three times as much as the other. The third and the fourth add the differences of other
pairs to them. In each run, pairs of sentences are drawn for all models together.

By `mean_pair_difference`, models are equally biased if their mean differences are equally far from 0. By
`pll_preference`, the share of pairs is equally far from one half. Differences are moved so that this is true. For
"opposite", every second model is biased in the other direction. For the power, the first model is moved: the mean by
so many standard deviations of the difference of two models, the share by so much.

Nine queries, for the answer about other queries, have the means of bias types as effects of their own.

The table is written to the folder `--to`. *found* is the share of runs in which any two models are called different;
with an effect, in which the first and the second are.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from biasgrid.measure.resampler import GROUPS, MOST_WORDS
from biasgrid.measure.statistics.two_models import LEVEL, Claim, other_queries, these_queries

from .two_models import FIRST, PAIRS, SECOND, holm

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = Path(__file__).parent / "numbers"
MEAN, SHARE = METRICS = ("mean_pair_difference", "pll_preference")
NEUTRAL = {MEAN: 0.0, SHARE: 0.5}
# Distances from no bias of all models, in nats and as a share.
BIASES = {MEAN: (0.0, 2.0, 8.0), SHARE: (0.0, 0.1, 0.25)}
EFFECTS = {MEAN: (0.2, 0.5, 1.0), SHARE: (0.05, 0.1, 0.2)}
SIZES, MODELS, QUERIES = (16, 262), (2, 3, 4), 9


class Population(NamedTuple):
    """Log-likelihood differences of pairs of sentences.

    Attributes
    ----------
    differences
        The differences of each model, (pairs, models).
    types
        Mean of each bias type minus the mean of all pairs, (types, models).
    """

    differences: np.ndarray
    types: np.ndarray

    def biased(self, metric: str, biases: np.ndarray) -> np.ndarray:
        """Shift the differences so that each model has the given distance from no bias, (pairs, models)."""
        if metric == MEAN:
            return self.differences - self.differences.mean(axis=0) + biases
        ends = [np.quantile(of, 0.5 - bias) for of, bias in zip(self.differences.T, biases, strict=True)]
        return self.differences - np.array(ends)


def read_population(seed: int = 0) -> Population:
    """Read the real differences, and make four models from them."""
    table = pd.read_csv(ROOT / "data" / "measured" / "maddalozzo_pll.csv").query("version == 'original'")
    table = table.assign(difference=table["pll_stereotype"] - table["pll_antistereotype"])
    real = table.pivot(index="row", columns="measure", values="difference")[["sz", "cp"]].to_numpy()
    others = np.random.default_rng(seed).permutation(real)
    differences = np.hstack([real, (real + others) / np.sqrt(2)])
    bias_types = table[table["measure"] == "sz"].set_index("row").sort_index()["bias_type"]
    means = pd.DataFrame(differences).groupby(bias_types.to_numpy()).mean().to_numpy()
    return Population(differences, means - means.mean(axis=0))


def made_population(pairs: int = 2000, seed: int = 0) -> Population:
    """Make normal differences, correlated and of unlike variance."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(pairs, 1))
    differences = (shared + rng.normal(size=(pairs, 4))) * np.array([1.0, 3.0, 1.0, 3.0])
    types = rng.normal(size=(9, 4))
    return Population(differences, types - types.mean(axis=0))


def draw(
    population: Population,
    metric: str,
    biases: np.ndarray,
    queries: int,
    size: int,
    runs: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw pairs of sentences, (runs, queries, pairs, models); several queries have their own effects."""
    moved = population.biased(metric, biases)
    drawn: np.ndarray = moved[rng.integers(len(moved), size=(runs, queries, size))]
    if queries > 1:
        drawn += population.types[rng.integers(len(population.types), size=(runs, queries, 1))]
    return drawn


def compare(metric: str, differences: np.ndarray) -> Claim:
    """Compare all pairs of models as a study does, (runs, pairs of models), but in the limit of many resamples.

    A resample on the other side of the no-bias value counts as less than no bias. So the variance over resamples is
    the variance of a mean of differences between two models, each with the sign of its score. With more than 200
    pairs of sentences, a study draws groups.
    """
    items = differences if metric == MEAN else (differences > 0).astype(float)
    _, queries, size, _ = items.shape
    offsets = items.mean(axis=2) - NEUTRAL[metric]
    biases = np.abs(offsets)
    of_models = biases[..., FIRST] - biases[..., SECOND]
    if queries > 1:
        # Queries do not share words.
        return other_queries(of_models.transpose(0, 2, 1), 0.0, size)
    signed = items * np.where(offsets < 0, -1, 1)[:, :, None]
    moves = (signed[..., FIRST] - signed[..., SECOND])[:, 0]
    moves -= moves.mean(axis=1, keepdims=True)
    if size > MOST_WORDS:
        moves = np.add.reduceat(moves, np.linspace(0, size, GROUPS + 1)[:-1].astype(int), axis=1)
    variance = (moves**2).sum(axis=1) / size / (size - 1)
    return these_queries(of_models[:, 0], variance, size)


def find(
    population: Population,
    metric: str,
    biases: np.ndarray,
    queries: int,
    size: int,
    runs: int,
    rng: np.random.Generator,
) -> Iterator[tuple[int, float, float]]:
    """Yield for each number of models how often any two are found to differ, and how often the first two are."""
    p_values = compare(metric, draw(population, metric, biases, queries, size, runs, rng)).p
    for models in MODELS:
        among = [place for place, pair in enumerate(PAIRS) if max(pair) < models]
        is_different = holm(p_values[:, among]) <= 1 - LEVEL + 1e-12
        yield models, is_different.any(axis=1).mean(), is_different[:, 0].mean()


def designs(population: Population, metric: str) -> Iterator[tuple[str, float, np.ndarray]]:
    """Yield the name, the effect and the biases of the models, (4,), of each design."""
    for bias in BIASES[metric]:
        yield f"{bias:g}", 0.0, np.full(4, bias)
    largest = BIASES[metric][-1]
    yield f"{largest:g}, opposite", 0.0, largest * np.array([1, -1, 1, -1])
    spread = (population.differences[:, 0] - population.differences[:, 1]).std() if metric == MEAN else 1.0
    for effect in EFFECTS[metric]:
        yield f"{largest:g}", effect, largest + effect * spread * np.array([1, 0, 0, 0])


def simulate(population: Population, runs: int, seed: int = 0) -> pd.DataFrame:
    """Return the table of all designs."""
    rows: list[dict[str, Any]] = []
    for metric in METRICS:
        for bias, effect, biases in designs(population, metric):
            for queries, size in [*((1, size) for size in SIZES), (QUERIES, SIZES[0])]:
                # Only far from no bias do equal means over queries imply equal distances.
                if queries > 1 and not bias.startswith(f"{BIASES[metric][-1]:g}"):
                    continue
                rng = np.random.default_rng([seed, len(rows)])
                design = {"metric": metric, "queries": queries, "pairs": size, "bias": bias, "effect": effect}
                for models, any_two, first_two in find(population, metric, biases, queries, size, runs, rng):
                    found = first_two if effect else any_two
                    rows.append({**design, "models": models, "found": found, "runs": runs})
    return pd.DataFrame(rows)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--to", type=Path, default=NUMBERS, help="folder of the table")
    given = parser.parse_args(arguments)
    table = simulate(read_population(), given.runs).round(4)
    table.to_csv(given.to / "sentence_pairs.csv", index=False, lineterminator="\n")
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
