"""The table of refuted claims, in a small form: each number is computed, and is what its definition gives."""

import json
import re

import finished_study
import made_models
import numpy as np
import pytest
from scipy import stats

import biasgrid as bg
from validation.calibration import few_topics, random_criteria, then_and_now

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    with finished_study.copied(tmp_path_factory.mktemp("study")) as study:
        yield bg.open_study(study.results)


@pytest.fixture(scope="module")
def nulls():
    """Random groups of one metric and query, around few topics in the first draws and more later."""
    rng = np.random.default_rng(0)
    topics = np.concatenate([rng.integers(90, size=300), rng.integers(140, size=1700)])
    return [few_topics.Null("weat", rng.normal(size=2000), np.arange(2000), topics[:, None])]


@pytest.fixture(scope="module")
def table(grid, nulls):
    answers = random_criteria.answers([made_models.random_study()], random_criteria.INDEPENDENT)
    return then_and_now.claims(grid, nulls, answers, "two")


def numbers(text):
    return [float(number) for number in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text.replace(",", ""))]


def test_there_are_ten_claims_with_a_command_each(table):
    assert table.index.tolist() == list(range(1, 11))
    assert (table[["claim", "then", "now", "command"]] != "").all(axis=None)
    assert not table["now"].str.contains("nan").any()


def test_null_p_values_are_small_as_often_as_they_should_be(table):
    scores, means = table["now"][1].split("; ")
    for text in (scores, means):
        share, number, error = numbers(text)
        assert number == 2000
        assert abs(share - 5) < 4 * error


def test_the_test_of_an_aggregate_says_how_many_scores_it_covers(table, grid):
    aggregates = grid.frame("aggregates").dropna(subset="p_groups")
    lacking = sum(
        row.scores_in_test < row.cells - row.cells_nan for row in aggregates.itertuples(index=False)
    )
    assert numbers(table["now"][2]) == [lacking, len(aggregates), 0]


def test_random_criteria_are_counted_for_mac(table):
    assert numbers(table["now"][3])[:2] == [0, 4]


def test_one_pair_of_models_has_no_third(table):
    assert numbers(table["now"][4])[0] == 0


def test_a_model_with_neutral_scores_is_at_the_floor(grid):
    """A score of the no-bias value lies the mean distance of its random groups below 0, in their deviations."""
    record = json.loads((grid.study.paths.results / "inference" / "two" / "none" / "weat.json").read_text())
    scales = [
        result["random_groups"]["scale"]
        for cell in record["cells"]
        for result in cell["results"]
        if cell["criterion"] == "First"
    ]
    scores = grid.frame("scores").set_index(["criterion", "metric", "model", "debias"])["standardized"]
    of_rival = scores["First", "weat", "one", "none"].mean()
    floor = np.mean([-scale["mean"] / scale["sd"] for scale in scales])
    pairs = then_and_now.pairs_with_neutral(grid.study, "two").set_index(
        ["criterion", "metric", "model_a", "model_b"]
    )
    assert len(scales) == 3
    assert pairs["difference"]["First", "weat", "one", "two"] == pytest.approx(of_rival - floor)


def test_another_list_has_the_same_sign_as_often_as_simulated(table):
    claimed, simulated = numbers(table["now"][6])
    # twice the error has sqrt 2 times its standard deviation
    assert claimed == pytest.approx(100 * stats.norm.cdf(stats.norm.ppf(0.973) / np.sqrt(2)), abs=0.05)
    assert simulated == pytest.approx(claimed, abs=0.2)


def test_queries_are_counted_and_not_scores(table, grid):
    scores = grid.frame("scores")
    found = scores[(scores["evidence"] == "all") & (scores["tests"] == 2) & (scores["debias"] == "none")]
    queries = {(row.criterion, row.query) for row in found.itertuples()}
    assert numbers(table["now"][8]) == [len(queries), len(found)]


def test_no_split_half_is_negative(table):
    assert numbers(table["now"][9])[2] == 0


def test_pairs_of_sentences_have_the_binomials_p_value(table):
    p_value, won, pairs, draws, exact = numbers(table["now"][10])
    assert p_value == exact == pytest.approx(stats.binomtest(int(won), int(pairs)).pvalue, rel=0.05)
    assert p_value < 1 / (draws + 1)


def test_means_of_which_most_scores_have_no_test_have_none(nulls):
    words = np.argsort(np.random.default_rng(2).random((2000, 16)), axis=1)[:, :8]
    alike = nulls[0]._replace(words=words)
    now = then_and_now.reported_tests([*nulls, alike, alike], runs=300).now
    assert now.startswith("scores: ")
    assert " of 100 " in now
    assert now.endswith("; means over queries: no test")
