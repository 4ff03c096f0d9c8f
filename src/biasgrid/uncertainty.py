"""How sure a study's numbers are, as tables: tests and sensitivity of its cells; ranks and correlations, had the
words or the queries been others.

A bootstrap sample of the study is a draw of the words of every set, the same in all cells that have the set (see
`inference.bootstrap`), so that each sample gives every model a rank of its own. Ranks are taken over three kinds of
samples (RESAMPLED): of the words; of the queries of each criterion, drawn again with replacement, as many as it has,
a sub-query with the first query that has it, the same draw for all models and metrics; and of both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from . import tables
from .bounded import read_npy
from .errors import BiasgridError
from .files import write_bytes
from .study import Study, cell_seed

RESAMPLED = ("words", "queries", "both")
CELL = tables.SCORES[:5]
TESTED = ["alternative", "method", "partitions", "draws", "p_value", "p_low", "p_high", "p_normal", "reason"]
INTERVALS = ("percentile", "bca", "jackknife")
INFERENCE = [*CELL, "value", *TESTED[:-1], "p_holm", "p_benjamini_hochberg", "reason", "standard_error"]
INFERENCE += ["undefined", *(f"{name}_{end}" for name in INTERVALS for end in ("low", "high"))]
INFERENCE += ["set", "word", "influence"]
INFERENCE += ["halves_targets", "halves_attributes", "robustness_targets", "robustness_attributes", "test_of"]
# of the test against random groups
GROUPS = {"draws": "groups_draws", "p_value": "p_groups", "p_low": "p_groups_low", "p_high": "p_groups_high"}
GROUPS["reason"] = "groups_reason"
INFERENCE += [*list(GROUPS.values())[:-1], "p_groups_holm", "p_groups_benjamini_hochberg", "groups_reason"]
INFERENCE += ["p_isotropic_directions", "interval_reason"]
TEXT = [
    *CELL,
    "alternative",
    "method",
    "reason",
    "set",
    "word",
    "test_of",
    "groups_reason",
    "interval_reason",
]
COUNTS = ["partitions", "draws", "undefined", "groups_draws"]


def inference(
    inferences: Iterable[Path],
    ranges: Mapping[tuple[str, str], tuple[float, float]],
    tests: Mapping[str, Mapping[tuple, tuple[str, str]]] | None = None,
) -> pd.DataFrame:
    """A row of scores.csv in full: its permutation test and its test against random groups, each with both
    adjustments for the number of tests of its criterion; its bootstrap, and why an interval is missing; the word
    whose leaving out changes it most; and how far half the words move it.

    `tests` are those of `tables.adjusted`, `ranges` the intervals of values, by criterion and metric.
    robustness_targets and robustness_attributes are halves_targets and halves_attributes in units of the range's
    length, which makes metrics comparable (Schroeder et al., table 6); empty where it is infinite. Empty is whatever
    was not asked for or does not exist.
    """
    rows: dict[tuple, dict] = {}
    for key, _, result in tables.results(inferences):
        if key in rows:  # as in the scores: a sub-query of several queries is the first one's
            continue
        test, bootstrap = result.get("permutation", {}), result.get("bootstrap", {})
        row = dict(zip(CELL, key, strict=True)) | {"value": result.get("value")}
        row |= {name: test.get(name) for name in (*TESTED, "test_of")}
        groups = result.get("random_groups", {})
        row |= {column: groups.get(name) for name, column in GROUPS.items()}
        row["p_isotropic_directions"] = result.get("isotropic_directions", {}).get("p_value")
        row |= {name: bootstrap.get(name) for name in ("standard_error", "undefined")}
        for name in INTERVALS:
            row[f"{name}_low"], row[f"{name}_high"] = bootstrap.get(name, (None, None))
        row["interval_reason"] = _reasons(bootstrap.get("reasons", {}))
        known = [(*names, change) for *names, change in _influences(result) if change is not None]
        most = max(known, key=lambda found: abs(found[2]), default=(None, None, None))
        row["set"], row["word"], row["influence"] = most
        low, high = ranges[key[0], key[2]]
        for side in ("targets", "attributes"):
            moved = result.get("halves", {}).get(side)
            row[f"halves_{side}"] = moved
            comparable = moved is not None and math.isfinite(high - low)
            row[f"robustness_{side}"] = moved / (high - low) if comparable else None
        rows[key] = row
    made = pd.DataFrame(rows.values(), columns=INFERENCE).sort_values(CELL, ignore_index=True)
    numbers = [name for name in INFERENCE if name not in TEXT and name not in COUNTS]
    made = made.astype(dict.fromkeys(numbers, "float64"))
    for name in COUNTS:
        made[name] = pd.Series([_count(value) for value in made[name]], dtype=object)
    for method, name in (("holm", "holm"), ("benjamini-hochberg", "benjamini_hochberg")):
        made[f"p_{name}"] = tables.adjusted(made, method, tests=tests)
        made[f"p_groups_{name}"] = tables.adjusted(made, method, "p_groups", tests)
    return made


def influence(inferences: Iterable[Path]) -> pd.DataFrame:
    """How each row of scores.csv changes without each of its words in turn, sorted as these; words as the sets have
    them. Of sets of more than 200 words there are none (`Sampled.influence`)."""
    rows: dict[tuple, list] = {}
    for key, _, result in tables.results(inferences):
        rows.setdefault(key, [(*key, *found) for found in _influences(result)])
    made = pd.DataFrame(
        [row for key in sorted(rows) for row in rows[key]], columns=[*CELL, "set", "word", "influence"]
    )
    return made.astype({"influence": "float64"})


def _influences(result: Mapping) -> Iterable[tuple[str, str, float | None]]:
    for name, words in result.get("influence", {}).items():
        for word, change in words.items():
            yield name, word, change


def _reasons(reasons: Mapping[str, str]) -> str | None:
    """Why intervals are missing, in one text: those that lack for one reason stand before it."""
    kinds: dict[str, list[str]] = {}
    for name in INTERVALS:
        if name in reasons:
            kinds.setdefault(reasons[name], []).append(name)
    return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in kinds.items()) or None


def _count(value: float | None) -> int | float | None:
    """A count in digits; one of more digits than a float has (partitions of many words), as a float."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    value = int(value)
    try:
        return value if value <= 2**53 else float(value)
    except OverflowError:
        return math.inf


def ranked(study: Study, scores: pd.DataFrame) -> pd.DataFrame:
    """The study's rankings, with intervals of the ranks over samples of words where it has a bootstrap, whose ranks
    are then written to `Study.ranks_file`."""
    made = tables.rankings(scores, **study.ranking)
    if bootstrap := study.config["inference"].get("bootstrap"):
        ranks = rank_samples(scores, *study_samples(study, scores), **study.ranking)
        file = BytesIO()
        np.save(file, ranks)
        write_bytes(study.ranks_file, file.getvalue())
        ends = [_rank_interval(sample, bootstrap["level"]) for sample in ranks[0]]
        # where no criterion is ranked there are none
        made[["rank_low", "rank_high"]] = np.reshape(ends, (-1, 2))
    return made


def correlated(study: Study, rankings: pd.DataFrame) -> pd.DataFrame:
    """The study's correlations of ranks, with intervals over samples of words where it has a bootstrap."""
    made = tables.correlations(rankings, study.config["correlations"])
    if bootstrap := study.config["inference"].get("bootstrap"):
        found = correlation_intervals(
            rankings, read_ranks(study, rankings)[0], study.config["correlations"], bootstrap["level"]
        )
        keys = made[["criterion", "method", "metric_a", "metric_b"]].itertuples(index=False, name=None)
        made[["ci_low", "ci_high"]] = np.reshape([found[key] for key in keys], (-1, 2))
    return made


def read_ranks(study: Study, rankings: pd.DataFrame) -> np.ndarray:
    """What `rank_samples` gave for the study's rankings. Raises BiasgridError where it is not there, or is that of
    other rankings."""
    draws = study.config["inference"]["bootstrap"]["draws"]
    shape = len(RESAMPLED), len(rankings), draws
    return _loaded(study.ranks_file, shape, "biasgrid table --table rankings")


def _loaded(path: Path, shape: tuple[int, ...], made_by: str) -> np.ndarray:
    try:
        values = read_npy(path)
    except (OSError, BiasgridError) as error:
        raise BiasgridError(f"{path}: no bootstrap samples ({error}); {made_by} makes it") from None
    if values.dtype.kind != "f":
        raise BiasgridError(f"{path}: no bootstrap samples; make it again: {made_by}")
    if values.shape != shape:
        raise BiasgridError(f"{path}: has the shape {values.shape}, not {shape}; make it again: {made_by}")
    return values


def study_samples(study: Study, scores: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """For each row of the scores, of ranked criteria, its value in every sample of words, NaN where undefined, and
    how often its query is in every sample of queries: both (rows, draws).

    Raises BiasgridError for a file of samples that is missing or of another study.
    """
    draws, of_ranked = study.config["inference"]["bootstrap"]["draws"], set(study.ranked)
    places = {key: place for place, key in enumerate(scores[CELL].itertuples(index=False, name=None))}
    samples = np.full((len(scores), draws), math.nan)
    counts = np.zeros((len(scores), draws), dtype=np.int32)
    drawn = {criterion: drawn_queries(study, criterion, draws) for criterion in of_ranked}
    for group in study.inference_groups.values():
        named = [
            (inference.cell, part.name)
            for inference in group
            for part in study.queries[inference.cell.query].subqueries(
                study.metric(inference.cell.criterion, inference.cell.metric).template
            )
        ]
        if not any(cell.criterion in of_ranked for cell, _ in named):
            continue
        made_by = f"biasgrid infer --cell {group[0].cell.name}"
        values = _loaded(study.samples_file(group[0]), (len(named), draws), made_by)
        for (cell, name), row in zip(named, values, strict=True):
            # the first cell's, as in the scores
            place = places.pop((cell.criterion, name, cell.metric, cell.model, cell.debias), None)
            if place is not None and cell.criterion in of_ranked:
                samples[place] = np.where(np.isfinite(row), row, math.nan)
                counts[place] = drawn[cell.criterion][cell.query]
    return samples, counts


def drawn_queries(study: Study, criterion: str, draws: int) -> dict[str, np.ndarray]:
    """How often each query of a criterion is in each of its samples: query id -> (draws,)."""
    queries = sorted(study.config["criteria"][criterion]["queries"])
    rng = np.random.default_rng(cell_seed(study.config["seed"], f"queries/{criterion}"))
    drawn = rng.integers(len(queries), size=(draws, len(queries)))
    return {query: np.count_nonzero(drawn == i, axis=1) for i, query in enumerate(queries)}


def rank_samples(
    scores: pd.DataFrame,
    samples: np.ndarray,
    counts: np.ndarray,
    ranked: Sequence[str],
    neutral: Mapping[str, float],
    aggregation: str = "abs_avg",
    by: str = "distance",
    ties: str = "average",
) -> np.ndarray:
    """The ranks of `tables.rankings` in each sample: float32 (RESAMPLED, rows of the rankings, draws), NaN where a
    model has none.

    No absolute value of a sample is taken. Where a score is near the neutral value, its samples lie on both sides of
    it, and their distances from it are larger than the score's: most so for the least biased models, which would lose
    ranks. A sample on the other side of neutral than the score counts as less than no bias instead, by so much. What
    samples still differ by on average from what they are samples of (ECT is lower where words repeat) is taken off a
    model's aggregates, so that their mean is the aggregate of its scores (bootstrap bias correction, Efron &
    Tibshirani 1993, section 10.6). benchmarks/ranks.py measures what that does to intervals and shares.

    samples  the value of each row of the scores with each draw of words (rows, draws)
    counts   how often the row's query is in each draw of queries (rows, draws)
    """
    units = sorted(
        (unit for unit in tables.groups(scores, ranked) if unit[0][0] in (*ranked, tables.OVERALL)),
        key=lambda unit: unit[0],
    )
    observed, once = scores["value"].to_numpy()[:, None], np.ones((len(scores), 1), dtype=np.int32)
    kinds = [(samples, once), (observed, counts), (samples, counts)]
    values = np.empty((len(kinds), len(units), samples.shape[1]))
    aggregates = np.empty((len(units), 1))
    averaged, absolute = aggregation.endswith("avg"), aggregation.startswith("abs_")
    by_metric: dict[tuple[str, str], list[int]] = {}
    for row, ((criterion, metric, *_), places) in enumerate(units):
        by_metric.setdefault((criterion, metric), []).append(row)
        zero = neutral[metric] if by == "distance" else 0.0
        sides = _sides(observed[places] - zero, samples[places] - zero) if absolute else 1.0
        for kind, (cells, times) in enumerate(kinds):
            values[kind, row] = _aggregated((cells[places] - zero) * sides, times[places], averaged)
        aggregates[row] = _aggregated((observed[places] - zero) * sides, once[places], averaged)
    if by == "distance" and not absolute:
        sides = _sides(aggregates, values[0])
        values, aggregates = values * sides, aggregates * sides
    with np.errstate(invalid="ignore"):  # of a model without a value in any sample
        means = np.nansum(values, axis=2) / np.count_nonzero(~np.isnan(values), axis=2)
    # each rounded by itself: of their difference, as many digits may be noise
    values = _rounded(values) + (_rounded(aggregates) - _rounded(means)[..., None])
    ranks = np.empty(values.shape, dtype=np.float32)
    for rows in by_metric.values():
        # what has no value comes last, and leaves the others' ranks alone
        last = np.where(np.isnan(values[:, rows]), math.inf, values[:, rows])
        ranks[:, rows] = rankdata(last, "average" if ties == "average" else "ordinal", axis=1)
    ranks[np.isnan(values)] = math.nan
    return ranks


def _sides(observed: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Which side of 0 each row's observed value (rows, 1) lies on, 1 or -1; of 0 itself, where its samples do."""
    return np.sign(np.where(observed == 0, np.nansum(samples, axis=1, keepdims=True), observed))


def _aggregated(cells: np.ndarray, times: np.ndarray, averaged: bool) -> np.ndarray:
    """Mean or sum over the first axis, each cell so many times and without NaN; NaN where none is left."""
    known = ~np.isnan(cells)
    number = (known * times).sum(axis=0)
    total = (np.where(known, cells, 0.0) * times).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return total / number if averaged else np.where(number, total, math.nan)


def _rounded(values: np.ndarray) -> np.ndarray:
    """As `tables.rounded`, for millions of values."""
    with np.errstate(divide="ignore", invalid="ignore"):
        digits = 11 - np.floor(np.log10(np.abs(values)))
    # of 0, and of what is as good as 0
    scale = 10.0 ** np.clip(np.nan_to_num(digits), -250, 250)
    return np.round(values * scale) / scale


def rank_intervals(rankings: pd.DataFrame, ranks: np.ndarray, level: float) -> pd.DataFrame:
    """The rank of each row of the rankings over the samples in which it has one, for each kind of samples.

    mean         its mean
    low, high    its percentile interval: ranks that it has in samples; in at most (1 - level) / 2 of them it is below
                 `low`, and in as many above `high`
    first        the share of samples in which no other ranks better
    """
    rows = []
    for _, part in rankings.groupby(["criterion", "metric"]):
        best = np.fmin.reduce(ranks[:, part.index], axis=1)
        for unit in part.itertuples():
            for kind, resampled in enumerate(RESAMPLED):
                sample = ranks[kind, unit.Index].astype(np.float64)
                known = np.count_nonzero(~np.isnan(sample))
                key = unit.criterion, unit.metric, unit.model, unit.debias, resampled, unit.rank
                mean = np.nansum(sample) / known if known else math.nan
                first = np.count_nonzero(sample == best[kind]) / known if known else math.nan
                rows.append((*key, mean, *_rank_interval(sample, level), first))
    columns = ["criterion", "metric", "model", "debias", "resampled", "rank", "mean", "low", "high", "first"]
    return pd.DataFrame(rows, columns=columns)


def _rank_interval(sample: np.ndarray, level: float) -> tuple[float, float]:
    sample = np.sort(sample[~np.isnan(sample)])
    if not len(sample):
        return math.nan, math.nan
    # whole samples that may be cut off at an end; the rounding of 1 - .95 cuts off none
    cut = math.floor(round(len(sample) * (1 - level) / 2, 9))
    return float(sample[cut]), float(sample[-1 - cut])


def order(rankings: pd.DataFrame, ranks: np.ndarray) -> pd.DataFrame:
    """For each two models (under their debias methods) that a metric ranks, the share of samples in which the first
    ranks as less biased than the second, a tie counting half; of the samples in which both have a rank."""
    columns = [
        "criterion",
        "metric",
        "resampled",
        "model_a",
        "debias_a",
        "model_b",
        "debias_b",
        "share_of_resamples",
    ]
    rows = []
    for (criterion, metric), part in rankings.groupby(["criterion", "metric"]):
        units = list(part[["model", "debias"]].itertuples(index=False, name=None))
        for resampled, found in zip(RESAMPLED, ranks[:, part.index], strict=True):
            for i, unit in enumerate(units):
                apart = found[i] - found[i + 1 :]
                wins = np.count_nonzero(apart < 0, axis=1) + np.count_nonzero(apart == 0, axis=1) / 2
                with np.errstate(invalid="ignore"):
                    shares = wins / np.count_nonzero(~np.isnan(apart), axis=1)
                key = criterion, metric, resampled, *unit
                rows += [(*key, *other, s) for other, s in zip(units[i + 1 :], shares.tolist(), strict=True)]
    return pd.DataFrame(rows, columns=columns)


def correlation_intervals(
    rankings: pd.DataFrame, ranks: np.ndarray, methods: Sequence[str], level: float
) -> dict[tuple[str, str, str, str], tuple[float, float]]:
    """Percentile intervals of `tables.correlations`: criterion, method and two metrics -> low, high.

    `ranks` are those of each row of the rankings in each sample (rows, draws). Samples without a correlation are left
    out; where these are more than half, the interval is NaN.
    """
    found = {}
    for criterion, part in rankings.groupby("criterion"):
        states = part.groupby(["model", "debias"]).ngroup().to_numpy()
        by_metric = {}
        for metric, places in part.reset_index(drop=True).groupby("metric").groups.items():
            by_metric[metric] = np.full((states.max() + 1, ranks.shape[1]), math.nan)
            by_metric[metric][states[places]] = ranks[part.index[places]]
        for method in methods:
            for a, b in combinations_with_replacement(by_metric, 2):
                sample = correlation(by_metric[a], by_metric[b], method)
                interval = _interval(sample, level)
                found[criterion, method, a, b] = found[criterion, method, b, a] = interval
    return found


def _interval(sample: np.ndarray, level: float) -> tuple[float, float]:
    known = sample[~np.isnan(sample)]
    if 2 * len(known) < len(sample):
        return math.nan, math.nan
    tail = (1 - level) / 2
    low, high = np.quantile(known, [tail, 1 - tail])
    return float(low), float(high)


def correlation(a: np.ndarray, b: np.ndarray, method: str) -> np.ndarray:
    """Correlation over the first axis of what both have, column by column: (models, draws), twice -> (draws,).

    "spearman", "kendall" (tau-b) or "pearson", as pandas.DataFrame.corr; NaN where one has fewer than two values.
    """
    lacking = np.isnan(a) | np.isnan(b)
    number = np.count_nonzero(~lacking, axis=0)
    first, second = np.triu_indices(len(a), 1)

    def scored(x: np.ndarray) -> np.ndarray:
        if method == "kendall":
            x = np.where(lacking, math.nan, x)
            return np.nan_to_num(np.sign(x[first] - x[second]))
        if method == "spearman":
            x = rankdata(np.where(lacking, math.inf, x), axis=0)
        return np.where(lacking, 0.0, x - np.where(lacking, 0.0, x).sum(axis=0) / number)

    with np.errstate(invalid="ignore", divide="ignore"):
        a, b = scored(a), scored(b)
        return ((a * b).sum(axis=0) / np.sqrt((a * a).sum(axis=0) * (b * b).sum(axis=0))).clip(-1, 1)
