"""Do the numbers of words go with measures from outside: files, units, exact words, correction."""

import csv
import json

import numpy as np
import pytest
from biasgrid_plugin_psychometrics.measures import read
from conftest import ROOT, grid_config
from refusals import refused

from biasgrid.core.errors import BiasgridError
from biasgrid.measure.statistics.correlation import over_units
from biasgrid.study.study import Study
from biasgrid.tables import REGISTRY

VALIDITY = REGISTRY["validity"]
RNG = np.random.default_rng(4)
WORDS = [f"word{i}" for i in range(12)]
SHARE = RNG.normal(size=12)
SCORE = SHARE + RNG.normal(size=12)
TITLES = [f"title{i // 2}" for i in range(12)]


@pytest.fixture
def measure(tmp_path):
    """Twelve words of six titles, six of them exact, and one that no model has."""
    file = tmp_path / "shares.csv"
    rows = [["word", "share", "title", "match"]]
    rows += [
        [w, s, t, "exact" if i % 2 else "compound"]
        for i, (w, s, t) in enumerate(zip(WORDS, SHARE, TITLES, strict=True))
    ]
    with open(file, "w", newline="") as lines:
        csv.writer(lines).writerows(
            [*rows, ["nobody", "3", "title0", "exact"], ["empty", "", "title0", "exact"]]
        )
    return {"file": str(file), "word": "word", "value": "share", "unit": "title", "exact": "match"}


def cell(folder, scores, reliability=None):
    """A file of a cell, and of its inference, of a metric whose numbers are lower nearer to the first group."""
    place = {"schema": 1, "criterion": "G", "query": "q", "metric": "rnd", "model": "m", "debias": "none"}
    place |= {"function": "rnd", "params": {}, "words": {}}
    result = {"query": "Q", "value": 0.5, "status": "ok", "words_used": 12, "words_lost": 0, "scalars": {}}
    detail = {"distance_by_word": {"Jobs": {f"p:{word}": 0.5 - score for word, score in scores.items()}}}
    files = {}
    for name, more in {
        "cells": {"detail": detail, "found": {}, "lost": {}},
        "inferences": {"reliability": [{"set": "Jobs", "value": reliability}]},
    }.items():
        files[name] = [folder / f"{name}.json"]
        files[name][0].write_text(json.dumps({**place, "results": [result | more]}))
    return files


def table(files, *measures):
    entry = {"detail": "distance_by_word", "taken": "", "sign": -1, "neutral": 0.5}
    spec = {
        "measures": {"G": {f"measure {i}": m for i, m in enumerate(measures)}},
        "words": [["G", "rnd", entry]],
    }
    return VALIDITY.make(files, {**spec, "prefixes": {"m": "p:"}, "seed": 1})


def test_words_that_share_a_title_are_one_observation(tmp_path, measure):
    files = cell(tmp_path, dict(zip(WORDS, SCORE, strict=True)), reliability=0.64)
    found = table(files, measure).set_index(["words", "method"])
    row = found.loc[("all", "pearson")]
    assert row["correlation"] == pytest.approx(np.corrcoef(SHARE, SCORE)[0, 1])
    assert (row["n"], row["units"]) == (12, 6)
    alone = over_units([SCORE, SHARE], range(12), "pearson")
    assert row["ci_high"] - row["ci_low"] != pytest.approx(alone[2] - alone[1])
    assert row["corrected"] == pytest.approx(row["correlation"] / 0.8)
    assert np.isnan(found.loc[("all", "spearman"), "corrected"])
    exact = found.loc[("exact", "pearson")]
    assert (exact["n"], exact["units"]) == (6, 6)
    assert exact["correlation"] == pytest.approx(np.corrcoef(SHARE[1::2], SCORE[1::2])[0, 1])


def test_no_correction_of_what_is_hardly_reliable(tmp_path, measure):
    for reliability in (0.4, None):
        found = table(cell(tmp_path, dict(zip(WORDS, SCORE, strict=True)), reliability), measure)
        assert found["corrected"].isna().all()


def test_why_there_is_no_correlation(tmp_path, measure):
    few = table(cell(tmp_path, dict(zip(WORDS[:6], SCORE[:6], strict=True))), measure)
    assert set(few["note"]) == {"fewer than 5 units"}
    alike = table(cell(tmp_path, dict.fromkeys(WORDS, 1.0)), measure)
    assert set(alike["note"]) == {"numbers are all alike"}
    # where a file says nothing of exact words, all are
    whole = table(cell(tmp_path, dict(zip(WORDS, SCORE, strict=True))), measure | {"exact": None})
    assert set(whole["words"]) == {"all"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": "share2"}, "has no column 'share2'"),
        ({"value": "title"}, "line 2: title: 'title0' is not a number"),
    ],
)
def test_a_file_that_is_none(measure, change, message):
    with pytest.raises(BiasgridError, match=message):
        read(measure | change)


def test_what_ships_is_read():
    columns = {"value": "percent_women_2022", "unit": "title", "exact": "match", "word": "word"}
    shares = read({"file": str(ROOT / "data/measures/bls_women_by_word.csv"), **columns})
    assert shares["carpenter"] == (3.5, "Carpenters", True)
    assert shares["nurse"][0] == 87.9
    assert len({unit for _, unit, _ in shares.values()}) == 74
    assert sum(is_exact for *_, is_exact in shares.values()) == 31
    columns = {"word": "occupation", "value": "bls_pct_female"}
    assert len(read({"file": str(ROOT / "data/measures/winogender_occupations.csv"), **columns})) == 60


def test_a_study_with_measures_has_the_table(measure):
    config = grid_config()
    del config["criteria"]["Second"], config["criteria"]["First"]["queries"]["q2"]  # of another word set
    assert "validity" not in Study.of(config).tables
    options = {"measures": {"Shares": {k: measure[k] for k in ("file", "value", "unit")}}}
    config["criteria"]["First"]["plugin_options"] = {"psychometrics": options}
    with refused("config: criteria: First: plugin_options: plugin 'psychometrics' is not listed in plugins:"):
        Study.of(config)
    config["plugins"] = ["psychometrics"]
    study = Study.of(config)
    assert study.tables["validity"]["measures"] == [measure["file"]]
    assert VALIDITY.spec_of(study)["measures"]["First"]["Shares"]["word"] == "word"
    del options["measures"]["Shares"]["value"]
    with refused("criteria: First: plugin_options: psychometrics: measures: Shares: key 'value' is missing"):
        Study.of(config).tables  # noqa: B018
