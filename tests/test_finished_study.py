"""The finished study: what its golden values say, by the rule of same.py, and what its tables say of each other."""

import json
from pathlib import Path

import finished_study
import numpy as np
import pandas as pd
import pytest
from reruns import NEWER_TABLES
from same import differences
from scipy.stats import false_discovery_control

from biasgrid import BiasgridError, tables
from biasgrid.measure.aggregates import write_aggregates
from biasgrid.study.steps import aggregates_step
from biasgrid.study.study import Study

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def results():
    return finished_study.finished().folder / "results" / "small"


def test_results_are_the_golden_values(results, tmp_path):
    compared = finished_study.copy_compared(results, tmp_path)
    for name in NEWER_TABLES:
        if not (finished_study.GOLDEN / f"{name}.csv").is_file():
            (compared / f"{name}.csv").unlink(missing_ok=True)
    found = differences(finished_study.GOLDEN, compared)
    assert found == [], (
        ".venv/bin/python tests/finished_study.py writes golden values that are new on purpose"
    )


def test_debiased_states_and_models_are_adjusted_apart(results):
    table = pd.read_csv(results / "aggregates.csv").dropna(subset="p_groups")
    assert set(table["debias"]) == {"none", "hard"}
    for _, family in table.groupby(["criterion", table["debias"] == "none"]):
        assert family["p_groups_adjusted"].to_numpy() == pytest.approx(
            false_discovery_control(family["p_groups"])
        )


def test_scores_are_read_against_random_groups_of_the_original_model(results):
    """And in the last column against those of the debiased one. Intervals that hold no bias begin at distance 0."""
    scales = {}
    for path in results.glob("inference/**/*.json"):
        for cell in json.loads(path.read_text())["cells"]:
            for result in cell["results"]:
                if scale := result.get("random_groups", {}).get("scale"):
                    place = cell["criterion"], result["query"], cell["metric"], cell["model"], cell["debias"]
                    # a sub-query of two queries is the first one's, and the query's words are in no random group
                    scales.setdefault(place, []).append(scale)
    scores = pd.read_csv(results / "scores.csv")
    has_read = 0
    for row in scores.itertuples():
        own, original = (
            scales.get((row.criterion, row.query, row.metric, row.model, debias), [])
            for debias in (row.debias, "none")
        )
        for column, found in (("standardized", original), ("standardized_own", own)):
            number = getattr(row, column)
            if not found or np.isnan(row.value):
                assert np.isnan(number)
                continue
            read = [(abs(row.value - s["neutral"]) - s["mean"]) / s["sd"] for s in found]
            assert any(number == pytest.approx(one, rel=1e-9) for one in read)
        if original and np.isfinite(row.ci_low):
            has_read += row.debias != "none"
            assert row.standardized_low <= row.standardized <= row.standardized_high
            if row.ci_low <= original[0]["neutral"] <= row.ci_high:
                assert row.standardized_low <= max(-s["mean"] / s["sd"] for s in original) + 1e-9
    assert has_read > 5


def test_former_scores_name_what_has_taken_the_place_of_excess(results, tmp_path):
    former = pd.read_csv(results / "scores.csv").rename(columns={"standardized": "excess"})
    former.to_csv(tmp_path / "scores.csv", index=False)
    with pytest.raises(BiasgridError, match="excess is gone: standardized has taken its place"):
        tables.read(tmp_path / "scores.csv")


def test_the_lowest_p_value_of_a_score_is_the_larger_of_its_tests(results):
    scores = pd.read_csv(results / "scores.csv").set_index(
        ["criterion", "query", "metric", "model", "debias"]
    )
    compared = set()
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
                    compared.add((result["query"], *place))
    measured = scores.dropna(subset="value").reset_index()
    assert len(compared) == np.sum(measured["metric"].isin(["weat", "rnd"]))


def test_of_one_score_the_test_of_the_aggregate_is_the_scores(results):
    """Of one query, the aggregate is how far the score is from neutral, and random groups are the same."""
    place = ["criterion", "metric", "model", "debias"]
    scores = pd.read_csv(results / "scores.csv")
    single = scores[scores.groupby(place)["query"].transform("size") == 1].dropna(subset="p_groups")
    aggregates = pd.read_csv(results / "aggregates.csv").dropna(subset="p_groups")
    both = single.merge(aggregates, on=place, suffixes=("", "_of_aggregate"))
    assert set(both["metric"]) == {"weat", "mac", "rnsb"}
    assert both["p_groups_of_aggregate"].tolist() == both["p_groups"].tolist()


@pytest.fixture
def aggregates_of(results, tmp_path, monkeypatch):
    """criterion -> the test of the aggregates of WEAT on a model, of scores without some tests, aggregated so."""
    monkeypatch.chdir(results.parents[1])
    study = Study.read("config/config.yaml")

    def made(aggregation, without=(), model="one"):
        step = aggregates_step(study, study.grid.inference_groups[f"{model}/none/weat"])
        record = json.loads(Path(step.inputs["inference"]).read_text())
        for cell in record["cells"]:
            if cell["query"] in without:
                for result in cell["results"]:
                    result["random_groups"] = {"reason": "none"}
        inference = tmp_path / "weat.json"
        inference.write_text(json.dumps(record))
        output = tmp_path / "aggregates.json"
        write_aggregates(
            step.inputs | {"inference": inference}, step.spec | {"aggregation": aggregation}, output
        )
        return {entry["criterion"]: entry for entry in json.loads(output.read_text())["aggregates"]}

    return made


def test_of_one_score_it_does_not_matter_how_it_is_aggregated(aggregates_of):
    for model in ("one", "two"):
        tests = [aggregates_of(name, model=model)["Second"] for name in ("abs_avg", "avg", "sum")]
        assert [test["p_value"] for test in tests] == [tests[0]["p_value"]] * 3


def test_an_aggregate_is_tested_where_half_of_its_scores_are(aggregates_of):
    tested = aggregates_of("abs_avg", without=["q2"], model="two")
    assert [tested["Overall"][name] for name in ("scores", "scores_in_test")] == [4, 3]
    assert "p_value" in tested["First"]
    assert "fewer than half" not in tested["Overall"].get("reason", "")
    half = aggregates_of("abs_avg", without=["q1", "q2"], model="two")
    for name, scores, in_test in (("First", 3, 1), ("Second", 1, 1), ("Overall", 4, 2)):
        assert [half[name][key] for key in ("scores", "scores_in_test")] == [scores, in_test]
        assert ("p_value" in half[name]) == (2 * in_test >= scores)
    too_few = aggregates_of("abs_avg", without=["q1", "q2", "q3"], model="two")
    assert [too_few["Overall"][name] for name in ("scores", "scores_in_test")] == [4, 1]
    for name in ("First", "Second", "Overall"):
        assert too_few[name]["reason"] == "fewer than half of the scores have a test against random groups"
