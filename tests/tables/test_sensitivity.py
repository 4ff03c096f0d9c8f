"""Halves of the word sets: Schröder et al., table 6, on real vectors. Against all halves, measured
one by one: measure/test_resampling.py."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, files_in, grid_config, printed
from in_process import make_some
from shipped_study import shipped

from biasgrid import BiasgridError
from biasgrid.core.configs import read_yaml
from biasgrid.models.building import store_of
from biasgrid.study.study import Study
from biasgrid.tables import published
from biasgrid.tables.comparison import published_as

MODEL = "bolukbasi-w2v-gnews-small"
MAC, WEAT = f"{MODEL}/none/mac/occupations", f"{MODEL}/none/weat_es/rated_occupations"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The shipped study with its two cells and what is inferred of them, in a folder of its own."""
    inference = {"sensitivity": read_yaml(ROOT / "config" / "same.yaml")["inference"]["sensitivity"]}
    changes = {"inference": inference, "null_distributions": [], "figures": []}
    study = shipped("same", tmp_path_factory.mktemp("same"), MODEL, **changes)
    make_some(study, MAC, WEAT)
    return study


def halves_of(study, name):
    record = json.loads(study.paths.inference_file(study.grid.inferences[name]).read_text())
    return record["cells"][0]["results"][0]["halves"]


def unit_vectors(study, words):
    model = store_of(study.embeddings, MODEL, study.models[MODEL]).open()
    found = model.array[model.rows(words)].astype(float)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.mark.network
def test_table_6_on_real_vectors(study):
    """MAC .00153 and effect size .0218, of 100 halves: four standard errors (30 %), and the paper's order."""
    mac = halves_of(study, MAC)["attributes"] / 2
    weat = halves_of(study, WEAT)["targets"] / 4
    assert mac == pytest.approx(0.00153, rel=0.3)
    assert weat == pytest.approx(0.0218, rel=0.3)
    assert weat > 5 * mac


@pytest.mark.network
def test_halves_drawn_and_measured_here(study):
    """Another 2,000 halves and another arithmetic; the means differ by 2.4 % (a standard deviation)."""
    groups = study.queries["rated_occupations"].attribute_sets
    male, female = (unit_vectors(study, s.words).mean(axis=0) for s in groups)
    (occupations,) = study.queries["occupations"].attribute_sets
    distance = 1 - unit_vectors(study, occupations.words) @ (male + female) / 2
    x, y = (
        unit_vectors(study, s.words) @ (male - female) for s in study.queries["rated_occupations"].target_sets
    )

    def effect_size(x, y):
        return (x.mean() - y.mean()) / np.concatenate([x, y]).std()

    rng = np.random.default_rng(11)
    of_mac = [abs(rng.choice(distance, 129, replace=False).mean() - distance.mean()) for _ in range(2000)]
    whole = effect_size(x, y)
    of_weat = [
        abs(effect_size(rng.choice(x, 94, replace=False), rng.choice(y, 26, replace=False)) - whole)
        for _ in range(2000)
    ]
    assert halves_of(study, MAC)["attributes"] == pytest.approx(np.mean(of_mac), rel=0.1)
    assert halves_of(study, WEAT)["targets"] == pytest.approx(np.mean(of_weat), rel=0.1)


@pytest.mark.network
def test_the_comparison_has_halves_as_a_share_of_the_range(study):
    nothing = pd.DataFrame(columns=["criterion", "metric", "model", "debias", "aggregation", "value", "rank"])
    correlations = pd.DataFrame(columns=["criterion", "method", "metric_a", "metric_b", "correlation"])
    compared = published.compare(
        published.read(study.config.published, study.config.computed),
        nothing,
        nothing,
        correlations,
        files_in(study.results / "cells"),
        published_as(study),
        inference=files_in(study.results / "inference"),
        beside=study.config.beside,
    )
    compared = compared[
        compared["quantity"].str.contains("robustness") & compared["metric"].isin(["mac", "weat_es"])
    ]
    compared = compared.set_index(["source", "metric"])
    assert sorted(compared["verdict"]) == ["other vectors", "other vectors", "reproduced", "reproduced"]
    for metric, name, side, length in (("mac", MAC, "attributes", 2), ("weat_es", WEAT, "targets", 4)):
        ours = halves_of(study, name)[side] / length
        assert compared.xs(metric, level="metric")["ours"].tolist() == pytest.approx([ours, ours])


def compared(
    study,
    tmp_path,
    quantity,
    metric="weat_es",
    query="rated_occupations",
    criterion="Occupations",
    model=MODEL,
):
    row = f"paper,table,{criterion},{query},{metric},{model},{quantity},0.02,4,,,,\n"
    path = tmp_path / "published.csv"
    path.write_text(",".join(published.PUBLISHED) + "\n" + row)
    nothing = pd.DataFrame(columns=["criterion", "metric", "model", "debias", "aggregation", "value", "rank"])
    correlations = pd.DataFrame(columns=["criterion", "method", "metric_a", "metric_b", "correlation"])
    (found,) = published.compare(
        published.read([path]), nothing, nothing, correlations,
        files_in(study.results / "cells"), published_as(study),
        inference=files_in(study.results / "inference"),
    ).to_dict("records")  # fmt: skip
    return found


@pytest.mark.network
def test_halves_that_the_study_does_not_have(study, tmp_path):
    found = compared(study, tmp_path, "robustness_targets", metric="rnd")
    assert (found["verdict"], found["note"]) == ("not asked", "the study has no such halves")
    assert math.isnan(found["ours"])
    with pytest.raises(BiasgridError, match=r"unknown quantity 'robustness'|robustness_targets"):
        compared(study, tmp_path, "robustness")


def test_a_change_is_compared_as_a_share_of_the_whole_range(study_files, tmp_path):
    """Of the effect size, whose range is -2 to 2."""
    changes = {"metrics": {"weat_es": {}}, "inference": {"sensitivity": {"halves": 4}}}
    (study_files / "study.json").write_text(json.dumps(grid_config() | changes))
    printed("step", "inference one/none/weat_es/q1", "--study", "study.json")
    study = Study.read("study.json")
    halves = halves_of(study, "one/none/weat_es/q1")
    for side in ("targets", "attributes"):
        found = compared(study, tmp_path, f"robustness_{side}", query="q1", criterion="First", model="one")
        assert found["ours"] == pytest.approx(halves[side] / 4, rel=1e-12)
