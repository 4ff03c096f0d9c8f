"""The finished study: what its golden values say, by the rule of same.py, and what its tables say of each other."""

import json

import finished_study
import numpy as np
import pandas as pd
import pytest
from same import differences
from scipy.stats import false_discovery_control

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def results():
    return finished_study.finished().folder / "results" / "small"


def test_results_are_the_golden_values(results, tmp_path):
    assert differences(finished_study.GOLDEN, finished_study.copy_compared(results, tmp_path)) == []


def test_debiased_states_and_models_are_adjusted_apart(results):
    table = pd.read_csv(results / "aggregates.csv").dropna(subset="p_groups")
    assert set(table["debias"]) == {"none", "hard"}
    for _, family in table.groupby(["criterion", table["debias"] == "none"]):
        assert family["p_groups_adjusted"].to_numpy() == pytest.approx(
            false_discovery_control(family["p_groups"])
        )


def test_the_lowest_p_value_of_a_score_is_the_larger_of_its_tests(results):
    scores = pd.read_csv(results / "scores.csv").set_index(
        ["criterion", "query", "metric", "model", "debias"]
    )
    compared = 0
    for path in results.glob("inference/**/*.json"):
        for cell in json.loads(path.read_text())["cells"]:
            for result in cell["results"]:
                tests = [
                    result[name]
                    for name in ("permutation", "random_groups")
                    if "p_value" in result.get(name, {})
                ]
                if len(tests) == 2 and cell["metric"] in ("weat", "rnd"):
                    place = tuple(cell[name] for name in ("criterion", "metric", "model", "debias"))
                    score = scores.loc[(place[0], result["query"], *place[1:])]
                    assert score["p_lowest"] == max(test["p_lowest"] for test in tests)
                    compared += 1
    assert compared == np.sum(scores.reset_index()["metric"].isin(["weat", "rnd"]))


def test_of_one_score_the_test_of_the_aggregate_is_the_scores(results):
    """Of one query, the aggregate is how far the score is from neutral, and random groups are the same."""
    place = ["criterion", "metric", "model", "debias"]
    scores = pd.read_csv(results / "scores.csv")
    single = scores[scores.groupby(place)["query"].transform("size") == 1].dropna(subset="p_groups")
    aggregates = pd.read_csv(results / "aggregates.csv").dropna(subset="p_groups")
    both = single.merge(aggregates, on=place, suffixes=("", "_of_aggregate"))
    assert set(both["metric"]) == {"weat", "mac", "rnsb"}
    assert both["p_groups_of_aggregate"].tolist() == both["p_groups"].tolist()
