"""Caliskan, Bryson & Narayanan 2017, table 1, on the word2vec subset, and its comparison and figure."""

import json

import pandas as pd
import pytest
import yaml
from conftest import ROOT, SUBSET

from biasgrid import comparison, metrics, tables
from biasgrid.cell import compute_cell
from biasgrid.errors import BiasgridError
from biasgrid.figures import draw
from biasgrid.files import write_text
from biasgrid.inference import infer_cells
from biasgrid.study import Study

CRITERION = "Caliskan et al. 2017"
# table 1 of the paper for word2vec; test 10 has a name that the subset lacks
PRINTED_D = {1: 1.54, 2: 1.63, 3: 0.58, 4: 1.24, 5: 0.72, 6: 1.89, 7: 0.97, 8: 1.24, 9: 1.30}
NOTEBOOK = [1.41, 1.75, 0.45, 0.45, 0.34, 1.25, 0.23, 0.29, 0.34, -0.05]


@pytest.fixture(scope="module")
def study(word2vec, tmp_path_factory):
    """The paper's table on word2vec alone, computed: cells, p-values, scores, comparison."""
    config = yaml.safe_load((ROOT / "config" / "caliskan.yaml").read_text())
    models = yaml.safe_load((ROOT / config["models"]).read_text())
    entry = yaml.safe_load((ROOT / config["criteria"]).read_text())[CRITERION]
    config |= {
        "models": {SUBSET: models[SUBSET]},
        "criteria": {CRITERION: entry | {"models": [SUBSET]}},
        "published": [str(ROOT / "data" / "published" / "caliskan.csv")],
        "results": str(tmp_path_factory.mktemp("results")),
        "embeddings": str(ROOT / "data" / "embeddings"),
    }
    made = Study.of(config, root=ROOT)
    for key, query in made.queries.items():
        write_text(made.query_file(key), query.to_json())
    for cell in made.cells.values():
        compute_cell(made, cell)
    for group in made.inference_groups.values():
        infer_cells(made, group)
    for name in ("scores", "aggregates", "rankings", "correlations", "comparison"):
        tables.make(made, name)
    return made


def result(study, folder, test):
    of_metric = study.results / folder / SUBSET / "none" / "weat_es"
    if folder == "cells":
        (only,) = json.loads((of_metric / f"weat_{test}.json").read_text())["results"]
        return only
    inferred = json.loads(of_metric.with_suffix(".json").read_text())["cells"]
    (only,) = next(cell for cell in inferred if cell["query"] == f"weat_{test}")["results"]
    return only["permutation"]


@pytest.mark.parametrize("test", PRINTED_D)
def test_effect_sizes_are_the_printed_ones(study, word2vec, test):
    value = metrics.weat_es(study.queries[f"weat_{test}"], word2vec, ddof=1).value
    assert round(value, 2) == PRINTED_D[test]
    assert result(study, "cells", test)["value"] == value


def test_p_values(study):
    """Tests 7 and 9 are printed with .027 and .012, which the normal curve gives; test 6 with 1e-4."""
    assert round(result(study, "inference", 7)["p_normal"], 3) == 0.027
    assert round(result(study, "inference", 9)["p_normal"], 3) == 0.012
    assert result(study, "inference", 6)["p_value"] == pytest.approx(1 / 12_870)
    assert result(study, "inference", 9)["p_value"] == pytest.approx(7 / 924)
    # no draw of a million reaches flowers and insects
    first = result(study, "inference", 1)
    assert (first["method"], first["draws"]) == ("monte_carlo", 1_000_000)
    assert first["p_value"] == first["p_lowest"] == 1 / 1_000_001
    scores = tables.read(study.results / "scores.csv")
    names = {study.queries[f"weat_{test}"].name: test for test in range(1, 11)}
    of_table = scores[scores["metric"] == "weat_es"]
    assert {names[q]: p for q, p in zip(of_table["query"], of_table["p_value"], strict=True)} == {
        test: result(study, "inference", test)["p_value"] for test in range(1, 11)
    }


def test_the_notebooks_statistics(word2vec):
    queries = Study.read(ROOT / "config" / "caliskan.yaml", ROOT).queries
    for number, printed in enumerate(NOTEBOOK, 1):
        assert round(metrics.weat(queries[f"notebook_{number}"], word2vec).value, 2) == printed


def test_no_row_of_the_comparison_differs(study):
    table = tables.read(study.results / "comparison.csv")
    assert len(table) == 30
    assert set(table["verdict"]) == {"reproduced", "explained"}
    assert table.loc[table["verdict"] == "explained", "note"].str.len().min() > 40
    values = table[table["quantity"].str.endswith(": value")]
    assert values.loc[values["verdict"] != "reproduced", "quantity"].tolist() == ["weat_10: value"]


def test_the_figure_says_each_verdict_in_words_and_marks(study):
    assert set(study.figures) == {"weat-table-caliskan-et-al-2017"}
    figure = draw(study, "weat-table-caliskan-et-al-2017")
    figure.canvas.draw()
    texts = [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
    table = tables.read(study.results / "comparison.csv")
    for mark, verdict in (("✓", "reproduced"), ("○", "explained")):
        assert sum(text.endswith(f" {mark}") for text in texts) == (table["verdict"] == verdict).sum()
    assert "≤ 10⁻⁶ ○" in texts
    assert "0.027 ✓" in texts
    assert texts.count("Flowers vs Insects\nPleasant vs Unpleasant") == 1
    # nothing is outside of the picture
    whole = figure.bbox
    for text in figure.axes[0].texts:
        box = text.get_window_extent(figure.canvas.get_renderer())
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1
        assert whole.y0 <= box.y0 < box.y1 <= whole.y1


ROW = {
    "source": "paper",
    "table": "1",
    "criterion": "C",
    "query": "q",
    "metric": "weat",
    "model": "a",
    "quantity": "p_value",
    "digits": "log10",
}


def read(path, **row):
    record = dict.fromkeys(comparison.PUBLISHED, "") | ROW | row
    pd.DataFrame([record], columns=comparison.PUBLISHED).to_csv(path, index=False)
    return comparison.read([path])


@pytest.mark.parametrize(
    ("published", "ours", "known", "expected"),
    [
        (1e-4, 7.77e-5, None, "reproduced"),
        # the powers' middle on the logarithmic scale
        (1e-4, 3.17e-4, None, "differs"),
        (1e-4, 3.16e-4, None, "reproduced"),
        (1e-4, 3.17e-5, None, "reproduced"),
        (1e-4, 3.15e-5, None, "differs"),
        (1e-2, 1.5e-5, 1.6e-5, "explained"),
        (1e-2, 1.5e-5, 2e-5, "differs"),
        (1e-2, float("nan"), None, "differs"),
        (1e-2, float("nan"), float("nan"), "explained"),
        (1e-2, 1e-5, float("nan"), "differs"),
        (1e-2, 0.0, None, "differs"),
    ],
)
def test_a_power_of_ten(published, ours, known, expected):
    assert comparison.verdict(published, ours, "log10", 0.0, known) == expected


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"published": "0.02"}, "0.02 is no power of ten"),
        ({"published": "0"}, "0 is no power of ten"),
        ({"published": "-0.1"}, "no power of ten"),
        ({"published": "inf"}, "no power of ten"),
        ({"published": "1e-3", "relative_tolerance": "0.1", "note": "why"}, "there is no tolerance"),
        ({"published": "1e-3", "known": "0", "note": "why"}, "a known value is above 0"),
        ({"published": "1e-3", "known": "1e-5"}, "needs a note"),
        ({"published": "1e-3", "query": ""}, "'p_value' needs a query"),
        ({"published": "1e-3", "digits": "log2"}, "invalid literal"),
    ],
)
def test_a_wrong_row_of_a_power_of_ten(tmp_path, row, message):
    with pytest.raises(BiasgridError, match=f"line 2: .*{message}"):
        read(tmp_path / "published.csv", **row)


def compared(folder, tested, words_lost=0, **row):
    """The row of the comparison of a p-value, of a cell that lost so many words."""
    empty = pd.DataFrame(
        columns=["criterion", "metric", "model", "debias", "aggregation", "value", "rank", "method"]
    )
    if tested:
        result = tested if "status" in tested else {"status": "ok", "permutation": tested}
        write_text(
            folder / "tests/a/none/weat.json", json.dumps({"cells": [{"query": "q", "results": [result]}]})
        )
    cell = {"value": 1.0, "status": "ok", "words_lost": words_lost}
    write_text(folder / "cells/a/none/weat/q.json", json.dumps({"results": [cell]}))
    published = read(folder / "published.csv", **row)
    (row,) = comparison.compare(
        published, empty, empty, empty, folder / "cells", {("a", "none"): "a"}, inference=folder / "tests"
    ).itertuples()
    return row


def drawn(p, low=0.0, high=1.0, draws=100_000, method="monte_carlo"):
    return {
        "p_value": p,
        "p_normal": p,
        "p_low": low,
        "p_high": high,
        "p_lowest": 1 / (draws + (method == "monte_carlo")),
        "method": method,
        "draws": draws,
        "partitions": draws,
    }


@pytest.mark.parametrize(
    ("tested", "lost", "expected"),
    [
        # as low as 100,000 draws can go: it may be 1e-7
        (drawn(1 / 100_001), 0, "no smaller p-value than 1e-05 can come out of 100,000 draws"),
        (drawn(1 / 100_001), 2, "no smaller p-value than 1e-05 can come out of 100,000 draws"),
        (drawn(2 / 100_001), 0, "differs"),
        # with few draws it says nothing
        (drawn(1 / 10, draws=9), 0, "differs"),
        (drawn(1 / 100_000, draws=99_999), 0, "differs"),
        (drawn(1e-7, draws=100_000_000), 0, "reproduced"),
        # no exact test of these sets gives 1e-7, if the sets are whole
        (
            drawn(1 / 924, draws=924, method="exact"),
            0,
            "no smaller p-value than 0.0011 can come out of 924 part",
        ),
        (drawn(1 / 924, draws=924, method="exact"), 1, "differs"),
        (drawn(2 / 924, draws=924, method="exact"), 0, "differs"),
        ({"status": "lost_words:A"}, 0, "differs"),
        (None, 0, "differs"),
    ],
)
def test_printed_p_values_below_what_the_test_can_give(tmp_path, tested, lost, expected):
    row = compared(tmp_path, tested, lost, published="1e-7")
    if expected.startswith("no smaller"):
        assert row.verdict == "explained"
        assert row.note.startswith(expected)
    else:
        assert row.verdict == expected


@pytest.mark.parametrize(
    ("tested", "verdict"),
    [
        (drawn(1.7e-5, 9.1e-6, 2.6e-5, draws=1_000_000), "explained"),
        (drawn(8e-6, 2.8e-6, 1.5e-5, draws=1_000_000), "explained"),
        (drawn(3e-5, 2.0e-5, 4.3e-5, draws=1_000_000), "differs"),
        (drawn(0.1, 0.0, 0.4, draws=9), "differs"),
    ],
)
def test_a_known_p_value_is_in_the_interval_of_the_draws(tmp_path, tested, verdict):
    row = compared(tmp_path, tested, published="1e-3", known="1.13e-5", note="of 12 million draws")
    assert row.verdict == verdict
    if verdict == "explained":
        assert row.note.startswith("95 % interval of 1,000,000 draws: ")
        assert row.note.endswith("; of 12 million draws")
    # of the normal curve's there is no interval
    of_curve = {"quantity": "p_normal", "known": "1.13e-5", "note": "of 12 million draws"}
    assert compared(tmp_path, tested | {"p_normal": 2e-5}, published="1e-3", **of_curve).verdict == "differs"


def test_a_curve_of_one_value_says_why_it_has_none(tmp_path):
    tested = drawn(1.0, method="exact") | {"p_normal": None}
    row = compared(tmp_path, tested, published="1e-2", quantity="p_normal")
    assert (row.verdict, row.note) == (
        "differs",
        "ours is NaN: all partitions have one value, of which there is no normal curve",
    )
    row = compared(tmp_path, tested | {"p_value": None}, published="1e-2")
    assert row.note == "ours is NaN: a partition has no value"
    row = compared(tmp_path, {"reason": "there is one target set"}, published="1e-2")
    assert row.note == "ours is NaN: there is one target set"
