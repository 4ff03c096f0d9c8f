"""Are two models called different that are not? All pairs of models at once, on real vectors whose truth is known.

    python benchmarks/pairs.py [--stores data/embeddings] [--words 8] [--worlds 100] [--seed 7]

The worlds are those of benchmarks/ranks.py: three models, two of them also without the gender direction, and a twin
of each with the same truth; six queries; words drawn from populations of 150. In each world all 45 pairs of these
ten units are compared as a study compares them (`tables.pairs`): by resamples of words and queries, with p-values
that are adjusted over all pairs. The truth is over all queries of the population.

false     worlds in which some unit is called different from its twin (at most .05 is promised)
reversed  worlds in which some pair is decided against the truth, twins included
power     pairs that differ and are decided, and in brackets those that one test per pair decides
covers    worlds in which all 45 simultaneous intervals hold the true difference (at least .95 is promised)
"""

from __future__ import annotations

import numpy as np
from ranks import LEVEL, arguments, drawn, truths, world
from threadpoolctl import threadpool_limits

from biasgrid import metrics
from biasgrid.statistics.aggregation import groups
from biasgrid.statistics.pairs import compare_pairs
from biasgrid.statistics.ranks import RESAMPLED, aggregates_of_resamples


def compared(name, of_units, true, words, rng):
    """Of a world: p-values, simultaneous and single, the true differences, the observed ones, and interval ends."""
    scores, samples, times = world(name, of_units, words, name, rng)
    neutral = metrics.metric(name).neutral
    parts = [(key, places) for key, places in groups(scores, ["G"]) if key[0] == "G"]
    resampled = aggregates_of_resamples(
        scores["value"].to_numpy()[:, None], samples, times, [(places, neutral) for _, places in parts]
    )[RESAMPLED.index("both")]
    values = np.array(
        [np.nanmean(np.abs(scores["value"].to_numpy()[places] - neutral)) for _, places in parts]
    )
    expected = np.array([true[key[2]].mean() for key, _ in parts])
    first, second = np.triu_indices(len(parts), 1)
    pairs = compare_pairs(values, resampled, LEVEL)
    single = [
        compare_pairs(values[[i, j]], resampled[[i, j]], LEVEL).p_adjusted[0]
        for i, j in zip(first, second, strict=True)
    ]
    return pairs, np.array(single), expected[first] - expected[second]


def main() -> None:
    given = arguments(__doc__)
    of_units, weights = drawn(given, np.random.default_rng(given.seed))
    print("metric    false  reversed  power        covers")
    for name in given.metrics:
        true = truths(name, of_units, weights)
        rng = np.random.default_rng(given.seed)
        false, reverse, covers, power, alone = [], [], [], [], []
        for _ in range(given.worlds):
            pairs, single, difference = compared(name, of_units, true, given.words, rng)
            decided, equal = pairs.p_adjusted <= 1 - LEVEL, np.abs(difference) < 1e-9
            false.append((decided & equal).any())
            reverse.append((decided & (equal | (np.sign(pairs.difference) != np.sign(difference)))).any())
            covers.append(((pairs.low <= difference) & (difference <= pairs.high)).all())
            power.append(decided[~equal].mean())
            alone.append((single <= 1 - LEVEL)[~equal].mean())
        both = f"{np.mean(power):.2f} ({np.mean(alone):.2f})"
        print(
            f"{name:8}  {np.mean(false):.3f}  {np.mean(reverse):.3f}     {both}  {np.mean(covers):.3f}",
            flush=True,
        )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
