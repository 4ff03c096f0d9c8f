"""From cells to tables: scores, aggregates, rankings, rank correlations."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from .errors import BiasgridError
from .files import write_text
from .study import UNTOUCHED, Study

SCORES = ["criterion", "query", "metric", "model", "debias"]
SCORES += ["value", "p_value", "p_adjusted", "ci_low", "ci_high", "words_used", "words_lost", "status"]
SCORES += ["p_groups", "p_groups_adjusted"]
SCALARS = [*SCORES[:5], "quantity", "value"]
CONTRASTS = [*SCORES[:5], "first", "second", "words", "quantity", "value"]
WORDS = [*SCORES[:5], "set", "word", "detail", "column", "value"]
DIRECTIONS = ["criterion", "query", "model", "debias", "direction_a", "direction_b", "angle"]
ANGLE = "angle_"  # how the names of cells' scalars begin that are angles between two directions
OTHERS, ALL = "(others)", "(all)"
AGGREGATIONS = {
    "avg": np.mean,
    "abs_avg": lambda values: np.mean(np.abs(values)),
    "sum": np.sum,
    "abs_sum": lambda values: np.sum(np.abs(values)),
}
OVERALL = "Overall"
CORRELATIONS = ("spearman", "kendall", "pearson")


def scores(
    cells: Iterable[Path],
    inferences: Iterable[Path] = (),
    interval: str = "jackknife",
    adjust: str = "holm",
    tests: Mapping[str, Mapping[tuple, tuple[str, str]]] | None = None,
) -> pd.DataFrame:
    """One row a criterion, (sub-)query, metric, model and debias.

    Queries of one criterion may share a sub-query (WEFE: "removed by name"); it is one row, of the first cell that
    has it, and `Study` has seen to it that one name means the same words. The columns p_value, ci_low and ci_high
    (`interval`: "jackknife", "percentile" or "bca") are those of the cell's file among `inferences`, empty where
    there is none; so is p_groups, of the test against random groups. p_adjusted and p_groups_adjusted: the p-value
    beside all others of its criterion and its kind, by the method `adjust`, see `adjusted`. Raises BiasgridError for
    a file that is no cell.
    """
    inferred = {(key, query): result for key, query, result in results(inferences)}
    rows: dict[tuple, dict] = {}
    for key, query, result in results(cells):
        row = dict(zip(SCORES[:5], key, strict=True))
        row |= {name: result.get(name) for name in SCORES[5:]}
        # of the same cell as the value: another draws with another seed
        found = inferred.get((key, query), {})
        row["p_value"] = found.get("permutation", {}).get("p_value")
        row["p_groups"] = found.get("random_groups", {}).get("p_value")
        row["ci_low"], row["ci_high"] = found.get("bootstrap", {}).get(interval, (None, None))
        rows.setdefault(key, row)
    table = pd.DataFrame(rows.values(), columns=SCORES).sort_values(SCORES[:5], ignore_index=True)
    table = table.astype(dict.fromkeys(["value", "p_value", "p_groups", "ci_low", "ci_high"], "float64"))
    table["p_adjusted"] = adjusted(table, adjust, tests=tests)
    table["p_groups_adjusted"] = adjusted(table, adjust, "p_groups", tests)
    return table


def contrasts(cells: Iterable[Path]) -> pd.DataFrame:
    """What metrics say of one group against another, or against all others together: a row a number.

    `second` is "(others)" for all other groups together, `words` "(all)" for all sets of words together. Raises
    BiasgridError for a file that is no cell.
    """
    rows = [
        (*key, contrast["first"], contrast["second"] or OTHERS, contrast["words"] or ALL, quantity, value)
        for key, _, result in results(cells)
        for contrast in result.get("contrasts", [])
        for quantity, value in contrast["values"].items()
    ]
    table = pd.DataFrame(rows, columns=CONTRASTS).drop_duplicates(CONTRASTS[:-1])
    return table.sort_values(CONTRASTS[:-1], ignore_index=True).astype({"value": "float64"})


def scalars(cells: Iterable[Path]) -> pd.DataFrame:
    """What metrics say besides their value (Direct Bias: what random directions score, and the ratio to it): a row a
    number. Raises BiasgridError for a file that is no cell."""
    rows = [
        (*key, quantity, value)
        for key, _, result in results(cells)
        for quantity, value in result["scalars"].items()
    ]
    table = pd.DataFrame(rows, columns=SCALARS).drop_duplicates(SCALARS[:-1])
    return table.sort_values(SCALARS[:-1], ignore_index=True).astype({"value": "float64"})


def words(cells: Iterable[Path]) -> pd.DataFrame:
    """What metrics say of each word: a row a number.

    `word` is as the model has it, `detail` the name of the number (or numbers, then told apart by `column`), as in
    the cell's file. Raises BiasgridError for a file that is no cell.
    """
    rows = [
        (*key, of_set, word, detail, column, value)
        for key, _, result in results(cells)
        for detail, sets in result["detail"].items()
        for of_set, by_word in sets.items()
        for word, found in by_word.items()
        for column, value in (found if isinstance(found, dict) else {"": found}).items()
    ]
    table = pd.DataFrame(rows, columns=WORDS).drop_duplicates(WORDS[:-1])
    return table.sort_values(WORDS[:-1], ignore_index=True).astype({"value": "float64"})


def directions(cells: Iterable[Path]) -> pd.DataFrame:
    """Angles in degrees between directions in which two groups can be said to differ: a row two directions.

    Cells of Direct Bias have them, the same whatever direction is their own. Raises BiasgridError for a file that is
    no cell.
    """
    rows = [
        (criterion, query, model, debias, *name.removeprefix(ANGLE).split("_"), angle)
        for (criterion, query, _, model, debias), _, result in results(cells)
        for name, angle in result["scalars"].items()
        if name.startswith(ANGLE)
    ]
    table = pd.DataFrame(rows, columns=DIRECTIONS).drop_duplicates(DIRECTIONS[:-1])
    return table.sort_values(DIRECTIONS[:-1], ignore_index=True).astype({"angle": "float64"})


def adjusted(
    table: pd.DataFrame,
    method: str,
    column: str = "p_value",
    tests: Mapping[str, Mapping[tuple, tuple[str, str]]] | None = None,
) -> pd.Series:
    """p-values, each adjusted for the number of tests of its family.

    Parameters
    ----------
    table
        A row per p-value, with the criterion, query, metric, model and debias method that it is of.
    method
        "holm": the chance of any false discovery among a family's tests, whatever they share, is at most the level
        that they are held against (Holm 1979). "benjamini-hochberg": the expected share of false ones among the
        discoveries is (Benjamini & Hochberg 1995), of tests that are independent or positively dependent.
    column
        The p-values' column; NaN is no test.
    tests
        Column -> (criterion, query, metric, model) -> (family, test), from `families.of_study`. A criterion's tests
        of one family are adjusted together, and those of one name on the same query, model and debias method count
        once: the largest of their p-values, which differ only where their draws do, is that of all. A key that is
        missing stands for a test of words that is like no other metric's.

    Returns
    -------
    pandas.Series
        As long as the table, from 0 to 1. NaN where there is no test.
    """
    made = pd.Series(math.nan, index=table.index)
    known = table[table[column].notna()]
    if known.empty:
        return made
    keys = known[["criterion", "query", "metric", "model"]].itertuples(index=False, name=None)
    known_tests = (tests or {}).get(column, {})
    families, names = zip(*(known_tests.get(key, ("words", key[2])) for key in keys), strict=True)
    tested = known.assign(family=families, test=names).groupby(
        ["criterion", "family", "query", "model", "debias", "test"]
    )
    once = tested[column].max()
    for _, p_values in once.groupby(level=["criterion", "family"]):
        once[p_values.index] = ADJUSTMENTS[method](p_values.to_numpy())
    made[known.index] = once.to_numpy()[tested.ngroup()]
    return made


def _holm(p_values: np.ndarray) -> np.ndarray:
    order = np.argsort(p_values)
    left = np.arange(len(p_values), 0, -1)
    made = np.empty(len(p_values))
    made[order] = np.maximum.accumulate(left * p_values[order]).clip(max=1)
    return made


def _benjamini_hochberg(p_values: np.ndarray) -> np.ndarray:
    # imported late: it takes half a second, which a study without tests need not wait
    from scipy.stats import false_discovery_control

    return false_discovery_control(p_values)


ADJUSTMENTS = {"holm": _holm, "benjamini-hochberg": _benjamini_hochberg}


def results(files: Iterable[Path]) -> Iterable[tuple[tuple, str, dict]]:
    """The results in files of a cell or of what is inferred of several, each led by its row's first columns in
    scores.csv and the cell's query."""
    for path in files:
        try:
            record = json.loads(Path(path).read_text(encoding="utf-8"))
            found = [
                (_place(cell, result), cell["query"], result)
                for cell in record.get("cells", [record])
                for result in cell["results"]
            ]
        except (OSError, ValueError) as error:
            raise BiasgridError(f"{path}: not a cell file: {error}") from None
        except (KeyError, TypeError, AttributeError) as error:
            raise BiasgridError(f"{path}: not a cell file: {error!r}") from None
        yield from found


def _place(cell: Mapping, result: Mapping) -> tuple:
    return cell["criterion"], result["query"], cell["metric"], cell["model"], cell["debias"]


def aggregates(scores: pd.DataFrame, ranked: Sequence[str]) -> pd.DataFrame:
    """Every aggregation of every criterion's scores, and of the `ranked` criteria together as "Overall".

    The overall value is taken over all cells of the criteria, not over the criteria's values (as the case study
    does); a model under a debias method that is not measured on all of them has none. NaN cells are left out and
    counted; an aggregate of nothing but NaN is NaN.
    """
    rows = []
    all_values = scores["value"].to_numpy()
    for (criterion, metric, model, debias), places in groups(scores, ranked):
        values = all_values[places]
        known = values[~np.isnan(values)]
        for name, aggregate in AGGREGATIONS.items():
            value = float(aggregate(known)) if len(known) else math.nan
            rows.append(
                (criterion, metric, model, debias, name, value, len(values), len(values) - len(known))
            )
    columns = ["criterion", "metric", "model", "debias", "aggregation", "value", "cells", "cells_nan"]
    return pd.DataFrame(rows, columns=columns).sort_values(columns[:5], ignore_index=True)


def rankings(
    scores: pd.DataFrame,
    ranked: Sequence[str],
    neutral: Mapping[str, float],
    aggregation: str = "abs_avg",
    by: str = "distance",
    ties: str = "average",
) -> pd.DataFrame:
    """Models ranked by a metric, 1 the least biased, for each of the `ranked` criteria and "Overall".

    by "distance": scores are measured from the metric's neutral value before they are aggregated, and a model
    is ranked by the absolute aggregate: 0 is unbiased under every metric. by "value": WEFE's plain ascending
    rank of the aggregated scores, which takes the least similar ECT (the most biased model) for the best.
    Where the neutral value is 0 and the aggregation absolute, both are the same. `ties`: "average" (the case
    study's) or "first" (WEFE's create_ranking, by order of the models' keys). A model under a transform ranks
    beside the models. A NaN aggregate has no rank. NaN cells are left out, as in the case study; where
    `cells_nan` is not 0, a model was ranked by fewer queries than the others. rank_low and rank_high, the ends of the
    rank's interval, are `uncertainty.rank_intervals`' to fill in.
    """
    rows = []
    all_values = scores["value"].to_numpy()
    for (criterion, metric, model, debias), places in groups(scores, ranked):
        values = all_values[places]
        if criterion != OVERALL and criterion not in ranked:
            continue
        known = values[~np.isnan(values)] - (neutral[metric] if by == "distance" else 0.0)
        value = float(AGGREGATIONS[aggregation](known)) if len(known) else math.nan
        value = abs(value) if by == "distance" else value
        rows.append((criterion, metric, model, debias, value, len(values), len(values) - len(known)))
    columns = ["criterion", "metric", "model", "debias", "value", "cells", "cells_nan"]
    table = pd.DataFrame(rows, columns=columns).sort_values(columns[:4], ignore_index=True)
    by_metric = [table["criterion"], table["metric"]]
    table.insert(5, "rank", rounded(table["value"]).groupby(by_metric).rank(method=ties))
    table.insert(6, "rank_low", math.nan)
    table.insert(7, "rank_high", math.nan)
    return table


def rounded(values: pd.Series) -> pd.Series:
    """Values to rank: those that agree to twelve digits are a tie, not an order made by rounding."""
    return values.map(lambda value: float(f"{value:.12g}"))


def correlations(rankings: pd.DataFrame, methods: Sequence[str] = CORRELATIONS) -> pd.DataFrame:
    """Correlation between metrics of the ranks that they give the models, per criterion.

    Every ordered pair of metrics has a row. NaN where fewer than two models are ranked by both metrics or where
    one metric ranks all alike. ci_low and ci_high are `uncertainty.correlation_intervals`' to fill in.
    """
    rows = []
    for criterion, part in rankings.groupby("criterion", sort=True):
        ranks = part.pivot(index=["model", "debias"], columns="metric", values="rank")
        for method in sorted(methods):
            matrix = ranks.corr(method=method)
            rows += [(criterion, method, a, b, matrix.loc[a, b]) for a in matrix for b in matrix]
    columns = ["criterion", "method", "metric_a", "metric_b", "correlation"]
    return pd.DataFrame(rows, columns=columns).assign(ci_low=math.nan, ci_high=math.nan)


def make(study: Study, name: str) -> int:
    """Write one of the study's tables from the cells or tables that it is made of; returns its number of rows.

    "rankings" writes the ranks of the bootstrap's samples, too, where there are any: other tables are made of them.
    """
    # imported late: they read tables with this module
    from . import analogy, comparison, families, mitigation, quality, ratings, uncertainty

    def table(of: str):
        return read(study.results / f"{of}.csv")

    def inferences():
        files = []
        for group in study.inference_groups.values():
            files.append(study.inference_file(group[0]))
            found = {(key[0], query) for key, query, _ in results(files[-1:])}
            for cell in (inference.cell for inference in group):
                if (cell.criterion, cell.query) not in found:
                    raise BiasgridError(
                        f"{files[-1]}: nothing of {cell.query!r} is in it; make it again: biasgrid infer --cell "
                        f"{cell.name}"
                    )
        return files

    def of_ranks():
        rankings = table("rankings")
        return rankings, uncertainty.read_ranks(study, rankings)

    options = study.config["inference"]
    recipes = {
        "scores": lambda: scores(
            map(study.cell_file, study.cells.values()),
            inferences(),
            options["interval"],
            options["adjust"],
            families.of_study(study),
        ),
        "aggregates": lambda: aggregates(table("scores"), study.ranked),
        "rankings": lambda: uncertainty.ranked(study, table("scores")),
        "correlations": lambda: uncertainty.correlated(study, table("rankings")),
        "inference": lambda: uncertainty.inference(inferences(), study.ranges, families.of_study(study)),
        "influence": lambda: uncertainty.influence(inferences()),
        "rank_intervals": lambda: uncertainty.rank_intervals(*of_ranks(), options["bootstrap"]["level"]),
        "order": lambda: uncertainty.order(*of_ranks()),
        "scalars": lambda: scalars(map(study.cell_file, study.cells.values())),
        "contrasts": lambda: contrasts(map(study.cell_file, study.contrasting)),
        "analogies": lambda: analogy.table(map(study.evaluation_file, study.questioned)),
        "analogy_summary": lambda: analogy.summary(map(study.evaluation_file, study.questioned)),
        "directions": lambda: directions(map(study.cell_file, study.directed)),
        "words": lambda: words(map(study.cell_file, study.worded)),
        "ratings": lambda: ratings.of_study(study, table("words")),
        "comparison": lambda: comparison.of_study(study),
        "mitigation": lambda: mitigation.table(
            table("scores"), map(study.evaluation_file, study.evaluations.values()), study.neutrals
        ),
        "quality": lambda: quality.table(map(study.evaluation_file, study.quality.values())),
    }
    made = recipes[name]()
    write(made, study.results / f"{name}.csv")
    return len(made)


def write(table: pd.DataFrame, path: Path | str) -> None:
    """A table as CSV: UTF-8, floats in the shortest form that reads back the same, NaN empty."""
    write_text(path, table.to_csv(index=False, lineterminator="\n"))


def read(path: Path | str) -> pd.DataFrame:
    """A table that `write` wrote: text columns stay text, an empty number is NaN."""
    table = pd.read_csv(path, keep_default_na=False, dtype="str")
    numbers = [
        "value",
        "rank",
        "correlation",
        "published",
        "ours",
        "difference",
        "runs",
        "sd",
        "before",
        "after",
        "coverage",
    ]
    numbers += [
        "common_value",
        "common_rank",
        "p_value",
        "p_adjusted",
        "p_groups",
        "p_groups_adjusted",
        "ci_low",
        "ci_high",
        "rank_low",
        "rank_high",
    ]
    # of a cell's inference: counts, too, are empty where there was no test
    numbers += ["partitions", "draws", "p_low", "p_high", "p_normal", "p_holm", "p_benjamini_hochberg"]
    numbers += ["standard_error", "undefined", "percentile_low", "percentile_high", "bca_low", "bca_high"]
    numbers += ["jackknife_low", "jackknife_high", "groups_draws", "p_groups_low", "p_groups_high"]
    numbers += ["p_groups_holm", "p_groups_benjamini_hochberg", "p_isotropic_directions"]
    numbers += [
        "influence",
        "halves_targets",
        "halves_attributes",
        "robustness_targets",
        "robustness_attributes",
    ]
    # of directions, and of ranks
    numbers += ["angle"]
    numbers += ["mean", "low", "high", "first", "share_of_resamples"]
    # of answers
    numbers += ["score"]
    counts = ["words_used", "words_lost", "cells", "cells_nan", "n", "total", "common_n"]
    if "second" in table:  # the group that a contrast is of
        numbers.remove("first")
    for name in table.columns.intersection(numbers):
        table[name] = pd.to_numeric(table[name].replace("", None))
    return table.astype(dict.fromkeys(table.columns.intersection(counts), "int64"))


def groups(scores: pd.DataFrame, ranked: Sequence[str]) -> Iterable[tuple[tuple[str, ...], np.ndarray]]:
    """What is aggregated together: (criterion, metric, model, debias) -> places of its rows in the scores."""
    keys = ["metric", "model", "debias"]
    scores = scores.reset_index(drop=True)
    for (criterion, *rest), part in scores.groupby(["criterion", *keys], sort=True):
        yield (criterion, *rest), part.index.to_numpy()
    of_ranked = scores[scores["criterion"].isin(ranked)]
    criteria = of_ranked.groupby("metric")["criterion"].nunique()
    for (metric, model, debias), part in of_ranked.groupby(keys, sort=True):
        # what is measured on some of the criteria only has no place in a ranking over all
        if debias == UNTOUCHED or part["criterion"].nunique() == criteria[metric]:
            yield (OVERALL, metric, model, debias), part.index.to_numpy()
