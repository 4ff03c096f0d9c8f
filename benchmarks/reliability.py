"""How often 95 % intervals of reliability hold the true value: `python benchmarks/reliability.py`. Made tables alone.

Words are normal, heavy-tailed (t with 4 degrees of freedom) or in six clusters of like words; items have twice the
words' variance as noise. The bootstrap over words is what is not used: see docs/reliability.md.
"""

import math

import numpy as np

from biasgrid.statistics.internal_consistency import alpha, split_half
from biasgrid.statistics.intraclass import icc_consistency
from biasgrid.statistics.mean_squares import Estimate

DRAWS = 2000
SPLITS = 10
RESAMPLES = 200


def words_of(kind: str, size: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    if kind == "heavy tails":
        return rng.standard_t(4, size=size) / math.sqrt(2)
    if kind == "clusters":
        clusters = rng.normal(size=(size[0], 6)) * math.sqrt(0.8)
        return clusters[:, np.arange(size[1]) % 6] + rng.normal(size=size) * math.sqrt(0.2)
    return rng.normal(size=size)


def by_halves(table: np.ndarray, rng: np.random.Generator) -> Estimate:
    items = table.shape[1]
    orders = np.array([rng.permutation(items) for _ in range(SPLITS)])
    first, second = (table[:, half].mean(axis=2).T for half in np.split(orders, 2, axis=1))
    return split_half(first, second, items)


def over_words(table: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    places = rng.integers(len(table), size=(RESAMPLES, len(table)))
    low, high = np.nanquantile(alpha(table[places]).value, [0.025, 0.975])
    return low, high


def main() -> None:
    print("| words | n | items | alpha, Feldt | ICC(C,1) | split-half | bootstrap over words |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    rng = np.random.default_rng(7)
    for kind, n, items in (
        *(("normal", n, items) for n, items in ((8, 8), (30, 8), (76, 20))),
        ("heavy tails", 30, 8),
        ("clusters", 30, 8),
    ):
        noise = rng.normal(size=(DRAWS, n, items)) * math.sqrt(2)
        tables = words_of(kind, (DRAWS, n), rng)[:, :, None] + noise
        truth = items / (items + 2)
        estimates = alpha(tables), icc_consistency(tables)
        shares = [
            ((estimate.low <= true) & (estimate.high >= true)).mean()
            for estimate, true in zip(estimates, (truth, 1 / 3), strict=True)
        ]
        halves = [by_halves(table, rng) for table in tables]
        shares.append(np.mean([half.low <= truth <= half.high for half in halves]))
        ends = [over_words(table, rng) for table in tables]
        shares.append(np.mean([low <= truth <= high for low, high in ends]))
        print(f"| {kind} | {n} | {items} | " + " | ".join(f"{share:.2f}" for share in shares) + " |")


if __name__ == "__main__":
    main()
