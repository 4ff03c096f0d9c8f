"""Rankings and matrices of correlations are judged as a whole: on the case study's own ranks, and on random ones."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from scipy.stats import spearmanr

from biasgrid.tables import published as comparison
from biasgrid.tables.conclusions.missing import reproduced

NUMBERS = comparison.read(sorted((ROOT / "data" / "published").glob("case_study*.csv")))
RANKS = NUMBERS[NUMBERS["quantity"] == "rank"].pivot(
    index="model", columns=["criterion", "metric"], values="published"
)
SCORES = NUMBERS[NUMBERS["quantity"] == "abs_avg"]


def compared(ranks, scores=SCORES):
    """The comparison of a study with these ranks and scores; correlations are SciPy's, of the ranks."""
    aggregates = scores[["criterion", "metric", "model"]].assign(
        debias="none", aggregation="abs_avg", value=scores["published"].astype(float)
    )
    rankings = ranks.T.stack(future_stack=True).rename("rank").reset_index().assign(debias="none")
    criteria = ranks.columns.unique("criterion")
    correlations = [
        (criterion, "spearman", a, b, spearmanr(ranks[criterion, a], ranks[criterion, b]).statistic)
        for criterion in criteria
        for pair in combinations(ranks.columns.unique("metric"), 2)
        for a, b in (pair, pair[::-1])
    ]
    correlations = pd.DataFrame(
        correlations, columns=["criterion", "method", "metric_a", "metric_b", "correlation"]
    )
    models = {(model, "none"): model for model in ranks.index}
    return comparison.compare(NUMBERS, aggregates, rankings, correlations, {}, models)


def verdicts(table):
    return {q: part["verdict"].value_counts().to_dict() for q, part in table.groupby("quantity")}


def test_what_was_printed_reproduces_itself():
    table = compared(RANKS)
    assert verdicts(table) == {
        "abs_avg": {"reproduced": 112},
        "rank": {"reproduced": 112},
        "correlation": {"reproduced": 24},
    }
    assert reproduced(table) == (
        "All 112 published numbers of these models are reproduced; all 16 published rankings are reproduced; all 4 "
        "published correlation matrices are reproduced"
    )


def test_two_models_that_change_places_take_their_ranking_and_its_matrix_with_them():
    ranks = RANKS.copy()
    place = ("Gender", "weat")
    ranks.loc[ranks[place].isin([1, 2]), place] = 3 - ranks[place]
    table = compared(ranks)
    assert verdicts(table) == {
        "abs_avg": {"reproduced": 112},
        "rank": {"reproduced": 105, "differs": 7},
        "correlation": {"reproduced": 18, "differs": 6},
    }
    differing = table[table["verdict"] == "differs"]
    assert set(differing["criterion"]) == {"Gender"}
    notes = differing.groupby("quantity")["note"].unique()
    assert "judged as a whole: 5 of 7 numbers of this ranking agree" in notes["rank"][0]
    assert "judged as a whole: 3 of 6 numbers of this correlation matrix agree" in notes["correlation"][0]
    assert "15 of 16 published rankings are reproduced (1 differs)" in reproduced(table)


@pytest.mark.slow
def test_random_ranks_reproduce_nothing_though_many_agree():
    """As on random vectors, of which 18 of 136 printed ranks and correlations agreed."""
    draw, agreeing = np.random.default_rng(0), 0
    for _ in range(6):
        ranks = RANKS.apply(lambda column: draw.permutation(column.to_numpy()))
        table = compared(ranks)
        assert verdicts(table)["rank"] == {"differs": 112}
        assert verdicts(table)["correlation"] == {"differs": 24}
        agreeing += int((ranks == RANKS).to_numpy().sum())
    # 1 in 7 of 6 x 112, which four standard errors are on each side of
    assert 60 < agreeing < 132


def test_a_ranking_that_lacks_a_model_is_not_judged():
    model = "lexvec-commoncrawl-300"
    ranks = RANKS.copy()
    ranks.loc[model] = np.nan
    ranks = ranks.rank()
    table = compared(ranks, SCORES[SCORES["model"] != model])
    of_ranks = table[table["quantity"] == "rank"]
    assert set(of_ranks["verdict"]) == {"no value"}
    assert of_ranks["ours"].isna().all()
    others = of_ranks[of_ranks["model"] != model]
    assert (
        others["note"].str.contains("a ranking is judged as a whole, and ours lacks 1 of its 7 numbers").all()
    )
    assert "no published ranking could be compared" in reproduced(table)


FIVE = ["conceptnet", "fasttext", "glove-twitter", "glove-wiki", "word2vec-google"]


def at_hand(ranks):
    """The ranks of the five models that have an address of their own, ranked again."""
    return ranks[[model.startswith(tuple(FIVE)) for model in ranks.index]].rank()


@pytest.mark.slow
def test_fewer_models_are_compared_by_the_printed_ranks_among_them():
    ranks = at_hand(RANKS)
    assert len(ranks) == 5
    table = compared(ranks)
    of_ranks = table[table["quantity"] == "rank among models at hand"]
    # ranks from 1 to 5, and none of the printed 6 and 7
    assert sorted(set(of_ranks["published"])) == [1, 2, 3, 4, 5]
    assert (of_ranks["published"] == of_ranks["ours"]).all()
    assert len(of_ranks) == 16 * 5
    assert of_ranks["note"].str.contains("among 5 of 7 printed models: conceptnet-numberbatch").all()
    of_pairs = table[table["quantity"] == "correlation among models at hand"].set_index(
        ["criterion", "metric"]
    )
    assert len(of_pairs) == 24
    # by SciPy, of the printed ranks
    for (criterion, pair), row in of_pairs.iterrows():
        a, b = (RANKS[criterion, metric][ranks.index] for metric in pair.split("~"))
        assert row["published"] == pytest.approx(spearmanr(a, b).statistic)
    assert "all 16 published rankings among the models at hand are reproduced" in reproduced(table)


@pytest.mark.slow
def test_models_at_hand_that_change_places_differ():
    ranks = at_hand(RANKS)
    place = ("Gender", "weat")
    ranks.loc[ranks[place].isin([1, 2]), place] = 3 - ranks[place]
    table = compared(ranks)
    assert verdicts(table)["rank among models at hand"] == {"reproduced": 75, "differs": 5}
    assert verdicts(table)["correlation among models at hand"] == {"reproduced": 18, "differs": 6}


@pytest.mark.slow
def test_a_model_that_is_not_printed_takes_no_place_among_the_printed():
    ranks = RANKS.copy()
    ranks.loc["mine"] = 0.5  # before all others
    table = compared(ranks.rank(), SCORES)
    assert verdicts(table)["rank"] == {"reproduced": 112}
    assert verdicts(table)["correlation"] == {"reproduced": 24}
    assert table.loc[table["quantity"] == "rank", "note"].str.contains("without mine, which the source").all()


def test_two_models_are_too_few_to_compare_ranks():
    assert set(compared(RANKS.iloc[:2].rank())["quantity"]) == {"abs_avg"}
