"""Queries whose sets have equal names and different words: each has rows of its own, and its id in its name."""

import pandas as pd
import pytest
from conftest import grid_config

import biasgrid as bg

pytestmark = pytest.mark.slow
NAMES = {"q1": "A and B wrt C and D [q1]", "q2": "A and B wrt C and D [q2]"}
IDS = ("criterion", "query", "metric", "model", "debias")


def config(*, own_names: bool) -> dict:
    """A study with two queries of equal set names; with their own, q2 has another name for its set A."""
    config = grid_config()
    first = config["criteria"]["First"]["queries"]
    name = "Other" if own_names else "A"
    first["q2"] = first["q1"] | {
        "targets": {name: first["q1"]["targets"]["A"][2:], "B": first["q1"]["targets"]["B"]}
    }
    return config | {
        "query_ranks": True,
        "figures": ["scores", "rankings", "query-ranks"],
        "inference": {"permutation": {"draws": 99}, "bootstrap": {"draws": 20}, "sensitivity": {"halves": 4}},
    }


def tables(project, **options) -> dict[str, pd.DataFrame]:
    project.configure(config(**options))
    project.run()
    folder = project.folder / "results" / "small"
    return {path.stem: pd.read_csv(path) for path in sorted(folder.glob("*.csv"))}


def test_both_queries_have_rows_in_every_table_and_figure(project, tmp_path):
    found = tables(project, own_names=False)
    folder = project.folder / "results" / "small"
    scores = found["scores"]
    whole = scores[(scores["criterion"] == "First") & (scores["metric"] == "weat")]
    assert {(row.query_id, row.query) for row in whole.itertuples()} == set(NAMES.items())
    for name, table in found.items():
        if {"query", "query_id"} <= set(table) and len(table):
            assert {"q1", "q2"} <= set(table["query_id"]), name
            first = table[table["query_id"].isin(NAMES)]
            assert (first["query"].str[-5:] == " [" + first["query_id"] + "]").all(), name
    assert not scores.duplicated(list(IDS)).any()
    page = (folder / "report.html").read_text()
    figures = "".join(path.read_text() for path in (folder / "figures").glob("*.svg"))
    for name in NAMES.values():
        assert name in page
        assert name.rpartition(" ")[2] in figures
    opened = bg.open_study(folder)
    assert set(NAMES.values()) <= set(opened.scores["query"])
    # the numbers are those of the same words under other names
    numbers = tables(type(project)(tmp_path / "named"), own_names=True)["scores"]
    columns = ["query_id", "metric", "model", "value", "p_value", "ci_low", "ci_high"]
    of_weat = [
        t[t["metric"].str.startswith("weat")].sort_values(columns[:3])[columns] for t in (scores, numbers)
    ]
    pd.testing.assert_frame_equal(*(t.reset_index(drop=True) for t in of_weat))
