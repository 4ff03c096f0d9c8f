"""The tables of inference: tests, intervals and sensitivity in full, of toy files and of a small study."""

import json
import math
import shutil

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from conftest import Project, checksums_of, grid_config, inputs_record, refusal
from in_process import make, make_tables
from reruns import stale
from test_rank_samples import UNIT, one_by_one

from biasgrid import BiasgridError, Query, tables
from biasgrid.cli import main
from biasgrid.measure.results import KEYS
from biasgrid.study import steps
from biasgrid.study.study import Study
from biasgrid.tables import REGISTRY
from biasgrid.tables.rank_samples import value_samples
from biasgrid.tables.scales import ranking


def inference_file(path, results, metric="weat"):
    """A file of inference, and that of its query."""
    record = {"criterion": "G", "query": path.stem, "metric": metric, "model": "m", "debias": "none"}
    record |= {"function": metric, "params": {}, "words": {}}
    record["inference"] = {"permutation": {}, "bootstrap": {"level": 0.9}, "sensitivity": {}}
    path.write_text(json.dumps(record | {"results": results}))
    (path.parent / "queries").mkdir(exist_ok=True)
    (path.parent / "queries" / path.name).write_text(Query([["a"], ["b"]], [["c"], ["d"]]).to_json())
    return path


TESTED = {
    "query": "one",
    "status": "ok",
    "value": 0.5,
    "permutation": {
        "test_of": "words", "p_value": 0.01, "p_low": 0.008, "p_high": 0.02, "p_normal": 0.015, "p_lowest": 0.001,
        "alternative": "greater", "method": "monte_carlo", "partitions": 10**40, "draws": 999, "observed": 0.5,
    },
    "bootstrap": {
        "draws": 50, "undefined": 2, "mean": 0.4, "standard_error": 0.1,
        "percentile": [0.2, 0.6], "bca": [None, None], "jackknife": [0.1, 0.9],
        "reasons": {"bca": "all resamples lie on one side of the value"},
    },
    "influence": {"A": {"x": 0.1, "NA": -0.3}, "B": {"x": None, "z": 0.3000000000001}},  # z: as far, but for rounding
    "halves": {"targets": 0.2, "attributes": 0.5},
}  # fmt: skip


def test_inference_in_full(tmp_path):
    """A test with everything, two without a test, and one of a sub-query that another query has already."""
    files = [
        inference_file(
            tmp_path / "q1.json",
            [TESTED, {"query": "two", "status": "lost_words:A"}, {"query": "three", "status": "ok", "value": 1.0,
             "permutation": {"reason": "why not"}, "influence": {}}],
        ),
        inference_file(tmp_path / "q2.json", [TESTED | {"value": 9.0}, TESTED | {"query": "four"}]),
    ]  # fmt: skip
    inputs = {"inferences": files, "queries": [tmp_path / "queries" / file.name for file in files]}

    def of(name, spec=None):
        path = tmp_path / f"{name}.csv"
        rows = REGISTRY[name].write(inputs, spec or {}, path)
        assert ",10000000000000000000000000000000000000000," not in path.read_text()
        table = tables.read(path)
        assert len(table) == rows
        return table

    tested = of("tests").set_index("query")
    assert [*tested.index] == ["four", "one", "three", "two"]
    assert set(tested["test"]) == {"permutation"}
    one = tested.loc["one"]
    assert (one["alternative"], one["method"], one["draws"], one["partitions"]) == (
        "greater",
        "monte_carlo",
        999,
        1e40,
    )
    assert one["test_of"] == "words"
    # two tests in the family
    assert (one["p_value"], one["p_holm"], one["p_benjamini_hochberg"]) == (0.01, 0.02, 0.01)
    assert (one["p_low"], one["p_high"], one["p_lowest"], one["p_normal"]) == (0.008, 0.02, 0.001, 0.015)
    assert [*tested.loc[["three", "two"], "reason"]] == ["why not", "the score has no value"]
    for query in ("two", "three"):
        empty = tested.loc[query].drop(["criterion", "metric", "model", "debias", "test", "reason"])
        assert all(value == "" or math.isnan(value) for value in empty)

    intervals = of("intervals").set_index(["query", "kind"])
    assert [*intervals.loc["one"].index] == ["bca", "jackknife", "percentile"]
    assert [*intervals.loc["one", "low"]][1:] == [0.1, 0.2]
    assert [*intervals.loc["one", "high"]][1:] == [0.9, 0.6]
    assert (intervals.loc["one", ["level", "standard_error", "undefined"]] == [0.9, 0.1, 2]).all(axis=None)
    bca = intervals.loc[("one", "bca")]
    assert math.isnan(bca["low"])
    assert bca["reason"] == "all resamples lie on one side of the value"
    assert set(intervals.loc["two", "reason"]) == {"the score has no value"}

    moved = of("sensitivity", {"ranges": [["G", "weat", -2.0, 2.0]]}).set_index("query")
    one = moved.loc["one"]
    assert (one["set"], one["word"], one["influence"]) == ("A", "NA", -0.3)
    assert (one["halves_targets"], one["robustness_targets"], one["robustness_attributes"]) == (
        0.2,
        0.05,
        0.125,
    )
    assert (moved.loc["two", "word"], math.isnan(moved.loc["three", "halves_targets"])) == ("", True)
    # infinite ranges are no unit
    infinite = REGISTRY["sensitivity"].make(inputs, {"ranges": [["G", "weat", -math.inf, math.inf]]})
    assert infinite["robustness_targets"].isna().all()
    words = REGISTRY["influence"].make(inputs, {})
    assert words[words["query"] == "one"][["set", "word"]].values.tolist() == [
        ["A", "x"], ["A", "NA"], ["B", "x"], ["B", "z"],
    ]  # fmt: skip
    # sorted by the texts that lead a row, whatever the order of the files
    assert words["query"].tolist() == ["four"] * 4 + ["one"] * 4


def test_who_asks_for_the_former_table_is_told_its_names(study, capsys):
    assert main(["step", "table inference", "--study", "config/config.yaml"]) == 2
    assert capsys.readouterr().err == (
        "biasgrid: config/config.yaml: table 'inference' is several now: tests (p-values), intervals, and "
        "sensitivity\n"
    )


def inferred_config():
    """The small study with everything inferred; two queries of one criterion share sub-queries."""
    config = grid_config()
    config["criteria"]["First"]["queries"]["q4"] = {
        "targets": {"A": [f"a{i}" for i in range(8)], "B": [f"b{i}" for i in range(8)]},
        "attributes": {"C": [f"c{i}" for i in range(8)], "E": "toy.e"},
    }
    config["inference"] = {
        "permutation": {"draws": 30, "exact": 10},
        "bootstrap": {"draws": 25},
        "sensitivity": {"halves": 5},
    }
    return config


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The study, made step by step."""
    made = Project(tmp_path_factory.mktemp("inferred"))
    made.configure(inferred_config())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made.folder)
        make(Study.read("config/config.yaml"))
    return made


@pytest.fixture
def study(project, tmp_path, monkeypatch):
    """The study in a folder of its own."""
    monkeypatch.chdir(project.copy(tmp_path / "project").folder)
    return Study.read("config/config.yaml")


def test_the_tables_of_a_study_say_what_its_files_of_inference_do(study):
    found = {name: tables.read(study.paths.table_file(name)) for name in study.tables}
    assert {"tests", "intervals", "sensitivity", "influence", "rank_intervals", "order"} <= set(found)
    scores, tests, rankings = found["scores"], found["tests"], found["rankings"]
    assert set(tests["test"]) == {"permutation"}
    pd.testing.assert_frame_equal(scores[[*KEYS, "p_value"]], tests[[*KEYS, "p_value"]])
    assert scores["p_value"].notna().all()
    pd.testing.assert_series_equal(scores["p_adjusted"], tests["p_holm"], check_names=False)
    # WEAT and its effect size are one test, and RNSB's is none of words
    assert set(scores["metric"]) == {"weat", "weat_es", "rnd", "rnsb"}
    one = tests.query("metric != 'weat_es'")
    for _, family in one.groupby([one["criterion"], one["metric"] == "rnsb"]):
        expected = scipy.stats.false_discovery_control(family["p_value"])
        assert family["p_benjamini_hochberg"].tolist() == pytest.approx(expected.tolist())
    adjusted = {metric: part["p_benjamini_hochberg"].tolist() for metric, part in tests.groupby("metric")}
    assert adjusted["weat"] == adjusted["weat_es"]
    assert min(adjusted["weat"]) < 1
    jackknife = found["intervals"].query("kind == 'jackknife'").reset_index(drop=True)
    for end in ("low", "high"):
        pd.testing.assert_series_equal(scores[f"ci_{end}"], jackknife[end], check_names=False)
    most = found["influence"].groupby(KEYS)["influence"].agg(lambda values: values.abs().max())
    assert most.tolist() == found["sensitivity"]["influence"].abs().tolist()

    # the ranks are those of scores with the samples in place of their values, a sub-query being its first query's
    ranks = np.load(study.paths.ranks_file)
    assert ranks.shape == (2, 3, len(rankings), 25)
    step = steps.rank_samples_step(study)
    samples, counts = value_samples(scores, step.inputs, step.spec)
    values, first = {}, {}
    for group in study.grid.inference_groups.values():
        cells = json.loads(study.paths.inference_file(group[0]).read_text())["cells"]
        names = [(cell, result["query"]) for cell in cells for result in cell["results"]]
        for (cell, name), sample in zip(names, np.load(study.paths.samples_file(group[0])), strict=True):
            key = cell["criterion"], name, cell["metric"], cell["model"], cell["debias"]
            values.setdefault(key, sample)
            first.setdefault(key, cell["query"])
    of_rows = [tuple(row) for row in scores[KEYS].to_numpy()]
    np.testing.assert_array_equal(samples, [values[key] for key in of_rows])
    # one draw for all rows of a query, another for each query
    drawn = {}
    for key, count in zip(of_rows, counts, strict=True):
        assert (drawn.setdefault((key[0], first[key]), count) == count).all()
    assert set(drawn) == {("First", "q1"), ("First", "q2"), ("First", "q4"), ("Second", "q3")}
    assert (drawn["First", "q1"] + drawn["First", "q2"] + drawn["First", "q4"] == 3).all()
    options = {name: value for name, value in ranking(study).items() if name not in ("coverage", "parts")}
    naive = one_by_one(scores, samples, counts, **options)
    for kind, expected in enumerate(naive.values()):
        of_kind = expected.loc[rankings.set_index(UNIT).index].to_numpy(dtype=np.float32)
        np.testing.assert_array_equal(ranks[0, kind], of_kind)
    # of fewer than five queries, words alone are resampled
    assert set(found["rank_intervals"]["resampled"]) == set(found["order"]["resampled"]) == {"words"}
    for ends in (("rank_shared_low", "low"), ("rank_shared_high", "high")):
        assert rankings[ends[0]].tolist() == found["rank_intervals"][ends[1]].tolist()
    assert len(found["order"]) == len(rankings) / 2  # of two models
    assert found["correlations"]["ci_low"].notna().any()
    assert (found["correlations"]["ci_low"] <= found["correlations"]["ci_high"]).sum() > 0


@pytest.mark.slow
def test_through_snakemake_the_files_are_the_same(project, tmp_path):
    by_snakemake = project.copy(tmp_path / "by_snakemake")
    shutil.rmtree(by_snakemake.folder / "results")
    by_snakemake.run()
    # only a run records which files the results are of, their archives and their checksums
    made = project.results()
    by_run = by_snakemake.results()
    records = {name: content for name, content in by_run.items() if name.startswith("small/sources/")}
    records |= {"small/config_file.txt": b"../../config/config.yaml\n", **checksums_of(by_run)}
    records |= inputs_record(by_snakemake.folder, "data/word_sets/toy.json", "one.txt", "two.txt")
    assert by_run == made | records


def test_damaged_samples_are_one_line(study):
    command = ["step", "--study", "config/config.yaml"]
    ranks, good = study.paths.ranks_file, study.paths.ranks_file.read_bytes()
    # empty, an archive, other rankings' - not a traceback
    np.save("others.npy", np.zeros((3, 1, 25)))
    with open("others.npy", "rb") as file:
        others = file.read()
    for broken, says in ((b"", "no boot"), (b"PK\3\4", "no boot"), (others, "has the shape (3, 1, 25)")):
        ranks.write_bytes(broken)
        refusal(*command, "table order", parts=[f"rank_samples.npy: {says}"])
    ranks.unlink()
    refusal(*command, "table order", parts=["rank_samples.npy: no bootstrap samples"])
    # they are a step of their own
    assert main([*command, "rank_samples"]) == 0
    assert ranks.read_bytes() == good
    scores, step = tables.read(study.paths.table_file("scores")), steps.rank_samples_step(study)
    samples = study.paths.samples_file(next(iter(study.grid.inferences.values())))
    np.save(samples, np.zeros((1, 3)))
    with pytest.raises(BiasgridError, match=r"has the shape \(1, 3\), not \(4, 25\)"):
        value_samples(scores, step.inputs, step.spec)
    samples.unlink()
    with pytest.raises(
        BiasgridError, match='biasgrid step "inference one/none/weat" --study CONFIG makes it'
    ):
        value_samples(scores, step.inputs, step.spec)


def test_tables_made_again_one_by_one_are_the_same(project, study):
    before = project.results()
    for name in study.tables:
        study.paths.table_file(name).unlink()
    for name in study.tables:
        if not study.paths.table_file(name).is_file():
            make_tables(study, name)
    assert all(
        before[f"small/{name}.csv"] == study.paths.table_file(name).read_bytes() for name in study.tables
    )


RANKED = {"rankings", "correlations", "rank_intervals", "order", "pairs"}


def test_a_study_without_ranked_criteria_has_empty_rankings(study):
    config = inferred_config()
    for criterion in config["criteria"].values():
        criterion["ranked"] = False
    unranked = Study.of(config)
    make_tables(unranked)
    for name in unranked.tables:
        # the models lack no word
        empty = name in {*RANKED, "lost_words"}
        assert tables.read(unranked.paths.table_file(name)).empty == empty, name


IN_FULL = {"tests.csv", "intervals.csv", "sensitivity.csv", "influence.csv"}
OF_INFERENCE = {f"{name}.csv" for name in ("scores", "aggregates", *RANKED)} | IN_FULL
OF_INFERENCE |= {"rank_samples.npy", "report.html"}


@pytest.mark.parametrize(
    ("parts", "again"),
    [
        ({"interval": "percentile"}, OF_INFERENCE - IN_FULL),
        ({"adjust": "benjamini-hochberg"}, OF_INFERENCE - IN_FULL),
        ({"bootstrap": {"draws": 20}}, {"inference", *OF_INFERENCE}),
        ({"bootstrap": {"draws": 25, "level": 0.9}}, {"inference", *OF_INFERENCE}),
        ({"permutation": {"draws": 20, "exact": 10}}, {"inference", *OF_INFERENCE}),
        ({"sensitivity": {"halves": 6}}, {"inference", *OF_INFERENCE}),
    ],
)
def test_what_an_edit_of_inference_makes_again(study, parts, again):
    config = inferred_config()
    config["inference"] |= parts
    files = stale(study, Study.of(config))
    assert {file.split("/")[0] for file in files} - {"study.json"} == again
    groups = {f"inference/{group}.json" for group in study.grid.inference_groups}
    assert {file for file in files if "/" in file} == (groups if "inference" in again else set())


def test_one_metrics_draws_are_its_own(study):
    config = inferred_config()
    config["metrics"]["rnd"]["inference"] = {"permutation": {"draws": 40}}
    files = stale(study, Study.of(config))
    assert {file for file in files if "/" in file} == {f"inference/{m}/none/rnd.json" for m in ("one", "two")}
