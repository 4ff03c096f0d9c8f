"""Are numbers of reliability right, and what do they miss?

    python -m validation.reliability [--stores data/embeddings] [--output validation/reliability.csv]

The table has a row per number; `low` and `high` are the ends of a range, of which `what` says
what it is over. Checks:

coverage  how often 95 % intervals hold the true value, in made tables: words are normal, heavy-tailed (t with 4
          degrees of freedom) or in six clusters of like words; items have twice the words' variance as noise. The
          bootstrap over words is what is not used: see docs/intervals.md. ICC(A,1) of 3 and 10 raters, the exact
          interval of models' variance, and the parts of variance of made grids of 6 models and 25 queries
shuffled  alpha on the Brown corpus, and on its words in random order (word2vec of 50 dimensions, `SHUFFLES`
          trainings, each of a shuffle of its own): the items are the 23 pairs, the subjects words; and the reverse
equal     8 words with the same bias: made ones; and on GloVe 6B the 8 occupations that are nearest to each other in
          RIPA, far from 0
shorter   alpha of fewer than 23 pairs, on GloVe 6B: by Spearman and Brown from all pairs, by the mean covariances of
          random subsets of the pairs, and the mean and the median of their own alphas
du        what Du, Fang, Nguyen (2021) asked, on GloVe 6B in 50 dimensions. Their models, and so their numbers, cannot
          be made again: their trainings share one seed and differ by the race of threads. Compare directions

The pairs are those of Du et al.: 20 of Garg et al., and those of Bolukbasi et al. that are none of these. Words are
the occupations of Garg et al.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata, zscore

from biasgrid import EmbeddingStore
from biasgrid.core.geometry import unit
from biasgrid.core.registry import load_plugins
from biasgrid.measure.statistics.internal_consistency import (
    SplitHalf,
    alpha,
    spearman_brown,
    split_half,
)
from biasgrid.measure.statistics.intraclass import icc_agreement, icc_consistency
from biasgrid.measure.statistics.mean_squares import Estimate
from biasgrid.models.corpus.text import Sentences

DRAWS, SPLITS, RESAMPLES = 2000, 200, 200
SHUFFLES = 5
TRAINING = {"vector_size": 50, "sg": 1, "epochs": 3, "min_count": 20, "window": 5, "workers": 1}
NEIGHBOURS, VOCABULARY = 100, 50_000
CONCEPTS = ("career", "family", "math", "arts", "science")
PARTS = {"model": 0.5, "query": 1.0, "model x query": 0.4}
Row = dict[str, object]


def row(check: str, case: str, what: str, value: float, low: float = math.nan, high: float = math.nan) -> Row:
    return {"check": check, "case": case, "what": what, "value": value, "low": low, "high": high}


def spread(check: str, case: str, what: str, values: np.ndarray) -> Row:
    """Return a row with the median and the range."""
    return row(check, case, what, float(np.median(values)), values.min(), values.max())


def words_of(kind: str, size: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    if kind == "heavy tails":
        return rng.standard_t(4, size=size) / math.sqrt(2)
    if kind == "clusters":
        clusters = rng.normal(size=(size[0], 6)) * math.sqrt(0.8)
        return clusters[:, np.arange(size[1]) % 6] + rng.normal(size=size) * math.sqrt(0.2)
    return rng.normal(size=size)


def by_halves(table: np.ndarray, rng: np.random.Generator) -> SplitHalf:
    items = table.shape[1]
    orders = np.array([rng.permutation(items) for _ in range(SPLITS)])
    first, second = (table[:, half].mean(axis=2).T for half in np.split(orders, 2, axis=1))
    return split_half(first, second, items, False)


def over_words(table: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    places = rng.integers(len(table), size=(RESAMPLES, len(table)))
    low, high = np.nanquantile(alpha(table[places]).value, [0.025, 0.975])
    return low, high


def share_inside(estimate: Estimate, truth: float) -> float:
    return float(((estimate.low <= truth) & (estimate.high >= truth)).mean())


def coverage() -> Iterator[Row]:
    load_plugins(["psychometrics"])
    from biasgrid_plugin_psychometrics.generalisability import rows_share, variance_parts

    rng = np.random.default_rng(7)
    for kind, n, items in (
        *(("normal", n, items) for n, items in ((8, 8), (30, 8), (76, 20))),
        ("heavy tails", 30, 8),
        ("clusters", 30, 8),
    ):
        case = f"{kind}, {n} words, {items} items"
        noise = rng.normal(size=(DRAWS, n, items)) * math.sqrt(2)
        tables = words_of(kind, (DRAWS, n), rng)[:, :, None] + noise
        truth = items / (items + 2)
        yield row("coverage", case, "alpha, Feldt", share_inside(alpha(tables), truth))
        yield row("coverage", case, "ICC(C,1)", share_inside(icc_consistency(tables), 1 / 3))
        halves = [by_halves(table, rng) for table in tables]
        inside = np.mean([half.low <= truth <= half.high for half in halves])
        yield row("coverage", case, "split-half", float(inside))
        ends = [over_words(table, rng) for table in tables]
        inside = np.mean([low <= truth <= high for low, high in ends])
        yield row("coverage", case, "alpha, bootstrap over words", float(inside))
    for raters in (3, 10):
        # Draw tables with the variance parts 2 for words, .5 for raters and 1 for the rest.
        tables = rng.normal(size=(DRAWS, 30, 1)) * math.sqrt(2) + rng.normal(size=(DRAWS, 30, raters))
        tables += rng.normal(size=(DRAWS, 1, raters)) * math.sqrt(0.5)
        yield row(
            "coverage", f"30 words, {raters} raters", "ICC(A,1)", share_inside(icc_agreement(tables), 2 / 3.5)
        )
    for models in (4, 6, 20):
        model, query, rest = map(math.sqrt, PARTS.values())
        grids = model * rng.normal(size=(DRAWS, models, 1)) + query * rng.normal(size=(DRAWS, 1, 25))
        grids += rest * rng.normal(size=(DRAWS, models, 25))
        case = f"{models} models, 25 queries"
        yield row("coverage", case, "variance of models", share_inside(rows_share(grids), 0.5 / 0.4))
        for (name, truth), part in zip(PARTS.items(), variance_parts(grids)[:3], strict=True):
            yield row(
                "coverage",
                case,
                f"{name}, mean and sd (true: {truth})",
                part.mean(),
                part.mean() - part.std(),
                part.mean() + part.std(),
            )


def sets_of(file: str) -> dict[str, list]:
    """Read the sets of a file of data/word_sets."""
    path = Path(__file__).resolve().parents[1] / "data" / "word_sets" / f"{file}.json"
    return json.loads(path.read_text(encoding="utf-8"))["sets"]


def pairs() -> list[tuple[str, str]]:
    """Return the 23 pairs, each with the male word first."""
    garg, bolukbasi = sets_of("eds"), sets_of("debiaswe")["definitional_pairs"]
    both = [*zip(garg["male_terms"], garg["female_terms"], strict=True)]
    both += [(man.lower(), woman.lower()) for woman, man in bolukbasi]
    return list(dict.fromkeys(both))


def occupations() -> list[str]:
    garg = sets_of("eds")
    return garg["male_occupations"] + garg["female_occupations"]


class Scores:
    """Scores of words by pairs as in Du et al., at unit length, (words, pairs).

    Only RIPA's relation vectors are computed from the vectors without scaling.
    """

    def __init__(self, vectors: dict[str, np.ndarray]):
        self.vectors = vectors
        known = [pair for pair in pairs() if all(word in vectors for word in pair)]
        men, women = (np.array([vectors[word] for word in side]) for side in zip(*known, strict=True))
        self.sides, self.relations = unit(men) - unit(women), unit(men - women)

    def of(self, words: list[str]) -> dict[str, np.ndarray]:
        scored = unit(np.array([self.vectors[word] for word in words if word in self.vectors]))
        return {"DB/WA": scored @ self.sides.T, "RIPA": scored @ self.relations.T}


def shuffled(stores: Path) -> Iterator[Row]:
    from gensim.models import Word2Vec

    sentences = [list(map(str.lower, s)) for s in Sentences(stores / "raw" / "brown", "tagged")]
    tokens = np.array([token for sentence in sentences for token in sentence], dtype=object)
    ends = np.cumsum([len(sentence) for sentence in sentences])[:-1]
    found: dict[tuple[str, str], list[float]] = {}
    for number in range(SHUFFLES + 1):
        is_real = not number
        text = (
            sentences
            if is_real
            else map(list, np.split(np.random.default_rng(number).permutation(tokens), ends))
        )
        vectors = Word2Vec(list(text), **TRAINING, seed=number + 1).wv
        scores = Scores({word: vectors[word] for word in vectors.index_to_key})
        case = "real text" if is_real else "shuffled text"
        for rule, table in scores.of(occupations()).items():
            what = f"{rule}, items {table.shape[1]} pairs, subjects {len(table)} words"
            found.setdefault((case, what), []).append(float(alpha(table).value))
        for concept in ("career", "family"):
            for rule, table in scores.of(sets_of("weat")[concept]).items():
                what = f"{rule}, items {len(table)} words ({concept}), subjects {table.shape[1]} pairs"
                found.setdefault((case, what), []).append(float(alpha(table.T).value))
    for (case, what), values in found.items():
        yield spread("shuffled", case, what, np.array(values))


def equal(scores: Scores) -> Iterator[Row]:
    rng = np.random.default_rng(3)
    tables = 0.5 + rng.normal(size=(DRAWS, 8, 8))
    alphas = alpha(tables).value
    yield row(
        "equal",
        "made: 8 words, 8 pairs",
        "alpha, median and 90 % of draws",
        *np.quantile(alphas, [0.5, 0.05, 0.95]),
    )
    yield row("equal", "made: 8 words, 8 pairs", "share of alphas below 0", float((alphas < 0).mean()))
    yield row(
        "equal",
        "made: 8 words, 8 pairs",
        "share of lists whose mean has the bias's sign",
        float((tables.mean(axis=(1, 2)) > 0).mean()),
    )
    table = scores.of(occupations())["RIPA"]
    order = np.argsort(table.mean(axis=1))
    means = table.mean(axis=1)[order]
    starts = [i for i in range(len(order) - 7) if abs(means[i : i + 8].mean()) > 0.1]
    start = min(starts, key=lambda i: means[i + 7] - means[i])
    eight = table[order[start : start + 8]]
    value, low, high = alpha(eight)
    yield row("equal", "GloVe 6B: 8 occupations", "alpha and its interval", value, low, high)
    places = rng.integers(8, size=(DRAWS, 8))
    again = eight.mean(axis=1)[places].mean(axis=1)
    yield row(
        "equal",
        "GloVe 6B: 8 occupations",
        "mean of RIPA and its range over resamples of the words",
        eight.mean(),
        again.min(),
        again.max(),
    )


def shorter(scores: Scores) -> Iterator[Row]:
    rng = np.random.default_rng(4)
    for rule, table in scores.of(occupations()).items():
        items = table.shape[1]
        whole = float(alpha(table).value)
        yield row("shorter", f"{rule}, {len(table)} words, all {items} pairs", "alpha", whole)
        for k in (2, 5, 10):
            case = f"{rule}, {len(table)} words, {k} of {items} pairs"
            subsets = np.array([rng.permutation(items)[:k] for _ in range(DRAWS)])
            covariances = np.array([np.cov(table[:, subset].T) for subset in subsets])
            variances = np.trace(covariances, axis1=1, axis2=2)
            totals = covariances.sum(axis=(1, 2))
            yield row("shorter", case, "Spearman and Brown", float(spearman_brown(whole, k / items)))
            yield row(
                "shorter", case, "mean covariances", k / (k - 1) * (1 - variances.mean() / totals.mean())
            )
            alphas = k / (k - 1) * (1 - variances / totals)
            yield row("shorter", case, "mean of alphas", alphas.mean())
            yield row("shorter", case, "median of alphas", float(np.median(alphas)))


def du(scores: Scores) -> Iterator[Row]:
    """Yield alpha of both designs, and the agreement of three rules, raw and each in its own units."""
    vocabulary = unit(np.array(list(scores.vectors.values())))
    all_scores = vocabulary @ scores.sides.T

    def rules(words: list[str]) -> dict[str, np.ndarray]:
        tables = scores.of(words)
        scored = unit(np.array([scores.vectors[word] for word in words if word in scores.vectors]))
        closeness = scored @ vocabulary.T
        # Leave out the nearest word, which is the word itself.
        nearest = np.argpartition(-closeness, NEIGHBOURS + 1)[:, : NEIGHBOURS + 1]
        places = [near[np.argsort(-line[near])][1:] for near, line in zip(nearest, closeness, strict=True)]
        tables["NBM"] = np.array([np.where(all_scores[near] >= 0, 1, -1).mean(axis=0) for near in places])
        return tables

    tables = rules(occupations())
    for rule, table in tables.items():
        yield row(
            "du",
            f"items {table.shape[1]} pairs, subjects {len(table)} words",
            f"alpha, {rule}",
            *alpha(table),
        )
    for concept in CONCEPTS:
        for rule, table in rules(sets_of("weat")[concept]).items():
            yield row(
                "du",
                f"items 8 words ({concept}), subjects {table.shape[1]} pairs",
                f"alpha, {rule}",
                *alpha(table.T),
            )
    by_pair = np.stack(list(tables.values()), axis=-1).transpose(1, 0, 2)
    for what, rated in (
        ("raw", by_pair),
        ("root mean square 1", by_pair / np.sqrt((by_pair**2).mean(axis=1, keepdims=True))),
        ("z-scored", zscore(by_pair, axis=1)),
        ("ranks", rankdata(by_pair, axis=1)),
    ):
        agreement = icc_consistency(rated).value
        yield row(
            "du",
            "three rules, per pair",
            f"ICC(C,1), {what}: median and range",
            float(np.median(agreement)),
            agreement.min(),
            agreement.max(),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stores", type=Path, default=Path("data/embeddings"))
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".csv"))
    given = parser.parse_args()
    glove = EmbeddingStore.open(given.stores / "glove-6b-50d")
    words, rows = glove.vocabulary(VOCABULARY)
    scores = Scores(dict(zip(words, np.asarray(glove.matrix(words, rows), dtype=float), strict=True)))
    found = [*coverage(), *shuffled(given.stores), *equal(scores), *shorter(scores), *du(scores)]
    pd.DataFrame(found).to_csv(given.output, index=False, lineterminator="\n", float_format="%.3f")


if __name__ == "__main__":
    main()
