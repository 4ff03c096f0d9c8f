"""Ten claims of an earlier version that independent checks refuted, and what is computed in their place.

    python -m validation.calibration.then_and_now [--results results/embedded] [--criteria 8] [--to FOLDER]

"Then" are the numbers that the checks found, with code that is gone. "Now" is computed here, from a finished study
and from the models of `make study`. Simulations have a small form; `command` names the whole one. The table is
then_and_now.csv.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from threadpoolctl import threadpool_limits

import biasgrid as bg
from biasgrid.core.in_memory import InMemory
from biasgrid.debias import UNTOUCHED
from biasgrid.measure.aggregation import OVERALL
from biasgrid.measure.evidence import ALL
from biasgrid.measure.reliability_in_words import of_another_list
from biasgrid.measure.results import KEYS, cells, results
from biasgrid.measure.statistics.scale import Scale
from biasgrid.measure.statistics.two_models import CANNOT_TELL, DIFFERENT
from biasgrid.measure.statistics.two_models import MODELS as FAMILY
from biasgrid.study.views.frames import frame_of
from biasgrid.tables.conclusions.direction import directions
from biasgrid.tables.pairs import ANSWERS, PAIRS
from biasgrid.tables.read_conclusions import sides_of

from . import few_topics, left_out, random_criteria
from .random_criteria import RAW, THESE

NUMBERS = Path(__file__).parent / "numbers"
MODULE = "python -m validation.calibration"
# Number of random groups of the test with few topics.
DRAWS = 1999
# The model whose scores are set to the no-bias value.
WITHOUT_BIAS = "word2vec-google-news-300-subset"


class Claim(NamedTuple):
    """A refuted claim: its subject, the result of the checks, the result today, and the command that computes it."""

    claim: str
    then: str
    now: str
    command: str


def reported_tests(nulls: Sequence[few_topics.Null], runs: int = 2000) -> Claim:
    """Count how many of the reported p-values are small under the null hypothesis."""
    found = {"scores": list(nulls), "means over queries": list(few_topics.aggregates(nulls))}
    parts = []
    for name, of_name in found.items():
        number, share, error = (
            few_topics.table(of_name, runs, seed=0)[few_topics.NOW] if of_name else (0, 0, 0)
        )
        parts.append(
            f"{name}: {100 * share:.1f} % of {number:,} (± {100 * error:.1f})"
            if number
            else f"{name}: no test"
        )
    return Claim(
        "Of reported null p-values, few topics: at most .05",
        "53 %",
        "; ".join(parts),
        f"{MODULE}.few_topics",
    )


def scores_in_tests(aggregates: pd.DataFrame) -> Claim:
    """Count tests that cover fewer scores than their aggregate, and tests for which the table does not show it."""
    tested = aggregates[aggregates["p_groups"].notna()]
    lacking = tested["scores_in_test"] < tested["cells"] - tested["cells_nan"]
    silent = int(tested["scores_in_test"].isna().sum())
    return Claim(
        "Tests of aggregates cover fewer scores than the aggregate",
        "9 cells, of which the test has 6; no column says so",
        f"{int(lacking.sum())} of {len(tested)} tests do; {silent} do not say how many they cover",
        "scores_in_test of aggregates.csv",
    )


def random_least_biased(found: pd.DataFrame) -> Claim:
    """Count how often a model is clearly the least biased according to MAC on criteria of random words."""
    table = random_criteria.summarise(found)
    table = table[(table["metric"] == "mac") & (table["place"] == "criterion")].set_index("claim")
    now, raw = table.loc[THESE], table.loc[RAW]
    return Claim(
        "MAC calls a model clearly the least biased on random criteria",
        "60 of 60",
        f"{now['least_biased']} of {now['criteria']}; raw values: {raw['least_biased']} of {raw['criteria']}",
        f"{MODULE}.random_criteria",
    )


def third_models(study: Any) -> Claim:
    """Count the answers about two models that change if another model is left out."""
    changes = left_out.find_changes(study)
    pairs = left_out.pairs_without(study)
    number = sum(int(pairs[f"{prefix}answer"].isin(ANSWERS).sum()) for prefix in left_out.PREFIXES.values())
    lost = int((changes["answer"] == DIFFERENT).sum())
    return Claim(
        "A third model turns decisions about two",
        "8 of 56 decided with spaCy, 15 without",
        f"{len(changes)} of {number} answers change, by the adjustment alone; of these {lost} were different",
        f"{MODULE}.left_out",
    )


def model_without_bias(study: Any, model: str) -> Claim:
    """Count the places in which a model whose scores are all the no-bias value is clearly the least biased."""
    pairs = pairs_with_neutral(study, model)
    of_model = pairs[
        ((pairs["model_a"] == model) | (pairs["model_b"] == model)) & pairs["answer"].isin(ANSWERS)
    ]
    places = list(dict.fromkeys(zip(of_model["criterion"], of_model["metric"], strict=True)))
    found = [
        random_criteria.least_biased(pairs[(pairs["criterion"] == a) & (pairs["metric"] == b)]) == model
        for a, b in places
    ]
    together = [
        is_found for (criterion, _), is_found in zip(places, found, strict=True) if criterion == OVERALL
    ]
    compared = frame_of(study, "pairs")
    unclear = compared[(compared["family"] == FAMILY) & (compared["answer"] == CANNOT_TELL)]
    smallest = unclear["smallest_difference"].median()
    return Claim(
        "A model with exactly neutral scores is not called the least biased",
        "in 9 of 16 places",
        f"in {found.count(False)} of {len(found)}, over all criteria in {together.count(False)} of {len(together)}; "
        f"the summary names what would be found: {smallest:.1f} SD",
        f"{MODULE}.then_and_now",
    )


def pairs_with_neutral(study: Any, model: str) -> pd.DataFrame:
    """Compare the pairs of the original models as if one of them had the no-bias value in all scores."""
    inputs, spec = dict(PAIRS.inputs_of(study)), PAIRS.spec_of(study)
    neutral = spec["ranking"]["neutral"]
    scales = {key: Scale.of_record(r.get("random_groups")) for key, _, r in results(inputs["inferences"])}
    scores = frame_of(study, "scores").copy()
    for row, key in enumerate(scores[KEYS].itertuples(index=False, name=None)):
        if (key[3], key[4]) == (model, UNTOUCHED) and np.isfinite(scores["value"].iat[row]):
            value = neutral[key[2]]
            scores.loc[row, "value"] = value
            if (scale := scales.get(key)) is not None:
                scores.loc[row, "standardized"] = scale.read(value).value
    samples = []
    for record, values in zip(inputs["inferences"], inputs["samples"], strict=True):
        of_cells = [(cell, len(of_cell)) for cell, of_cell in cells([record])]
        first = of_cells[0][0]
        if (first["model"], first["debias"]) == (model, UNTOUCHED):
            rows = sum(number for _, number in of_cells)
            values = InMemory((), np.full((rows, spec["draws"]), neutral[first["metric"]]))
        samples.append(values)
    inputs |= {"scores": InMemory(("scores",), scores), "samples": samples}
    pairs = PAIRS.frame(inputs, spec)
    return pairs[pairs["family"] == FAMILY]


def signs_of_other_lists(draws: int = 400_000, seed: int = 0) -> Claim:
    """Return how often another list has the same sign, according to the library and in simulated lists.

    A list's estimate is its true value plus a normal error; all true values are equally likely. At the chosen z,
    97.3 % was claimed, because this share of resamples is on one side of 0.
    """
    rng = np.random.default_rng(seed)
    z = float(stats.norm.ppf(0.973))
    # The true value differs from the estimate by one error, and another list's estimate by one more.
    others = z + rng.normal(size=draws) + rng.normal(size=draws)
    return Claim(
        "Another list of words gives the same sign",
        "claimed 97.3 %, really 85 to 91 %",
        f"claimed {100 * of_another_list(z):.1f} %, simulated {100 * np.mean(others > 0):.1f} %",
        "of_another_list of measure/reliability_in_words.py",
    )


def opposite_directions(scores: pd.DataFrame, sides: Iterable[tuple[str, str, float]]) -> Claim:
    """Count the queries for which the summary reports that models are biased in opposite directions."""
    table = directions(scores, sides)
    opposed = table.groupby(["criterion", "query_id"])["is_opposed"].any()
    return Claim(
        "Two models are biased in opposite directions",
        "on 6 queries; on none with full marks on each side",
        f"on {int(opposed.sum())} of {len(opposed)} queries, with evidence by both tests on each side",
        "Grid.summary()",
    )


def findings(scores: pd.DataFrame) -> Claim:
    """Return how many queries have evidence by both tests in original models, and how many scores that are."""
    found = scores[(scores["evidence"] == ALL) & (scores["tests"] > 1) & (scores["debias"] == UNTOUCHED)]
    queries = found.groupby(["criterion", "query"])["model"].nunique()
    return Claim(
        "Marks are counted as findings",
        "17 marks, which are 4 queries",
        f"queries are named with their models: {len(queries)} queries ({len(found)} scores)",
        "Grid.summary()",
    )


def split_halves(reliability: pd.DataFrame) -> Claim:
    """Return the range of split-half reliabilities."""
    values = reliability.loc[reliability["coefficient"] == "split-half", "value"].dropna()
    return Claim(
        "Split-half reliabilities",
        "down to -34.5; 85 of 789 below -1",
        f"from {values.min():.2f} to {values.max():.2f}; {int((values < 0).sum())} of {len(values)} below 0",
        "reliability.csv",
    )


def pairs_of_sentences(won: int = 180, pairs: int = 262) -> Claim:
    """Return the p-value of a share of pairs of sentences, and that of the binomial test."""
    texts = {f"{side} {i}": -1.0 - ((side == "b") == (i < won)) for side in "ab" for i in range(pairs)}
    query = bg.Query([[f"{side} {i}" for i in range(pairs)] for side in "ab"])
    result = bg.metrics.pll_preference(
        query, bg.language_model(texts, name="made"), permutation={"draws": 499}
    )
    exact = stats.binomtest(won, pairs).pvalue
    return Claim(
        "Pairs of sentences",
        "p = .004, the floor of the draws; exact: 1e-5 to 1e-13",
        f"p = {result.p_value:.1e} for {won} of {pairs} pairs with 499 draws; exact: {exact:.1e}",
        "metrics.pll_preference(..., permutation=True)",
    )


def claims(
    grid: bg.Grid, nulls: Sequence[few_topics.Null], random_answers: pd.DataFrame, without_bias: str
) -> pd.DataFrame:
    """Return the table, in the order of the checks.

    Parameters
    ----------
    grid
        A finished study with permutations, random groups, a bootstrap and reliability.
    nulls
        As `few_topics.nulls` yields them.
    random_answers
        As `random_criteria.answers` returns them, with MAC among the metrics.
    without_bias
        The model that gets neutral scores.
    """
    scores = grid.frame("scores")
    rows = [
        reported_tests(nulls),
        scores_in_tests(grid.frame("aggregates")),
        random_least_biased(random_answers),
        third_models(grid.study),
        model_without_bias(grid.study, without_bias),
        signs_of_other_lists(),
        opposite_directions(scores, sides_of(grid.study)),
        findings(scores),
        split_halves(grid.frame("reliability")),
        pairs_of_sentences(),
    ]
    table = pd.DataFrame(rows)
    table.index += 1
    return table


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=Path("results/embedded"))
    parser.add_argument("--criteria", type=int, default=8, help="random criteria")
    parser.add_argument("--to", type=Path, default=NUMBERS, help="folder of the table")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    models = random_criteria.read_models()
    words = random_criteria.common_words(models, "glove-6b-50d")
    with threadpool_limits(1):
        nulls = list(few_topics.nulls("glove-6b-50d", few_topics.METRICS, DRAWS, "Ethnicity"))
        criteria = random_criteria.draw_criteria(
            random_criteria.INDEPENDENT, words, models, given.criteria, pairs=5
        )
        studies = random_criteria.measure(criteria, models, {"mac": {}})
        answers = random_criteria.answers(studies, random_criteria.INDEPENDENT)
        table = claims(bg.open_study(given.results), nulls, answers, WITHOUT_BIAS)
    table.to_csv(given.to / "then_and_now.csv", index_label="number")
    print(table.to_string())


if __name__ == "__main__":
    main()
