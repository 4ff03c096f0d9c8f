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
from biasgrid.inference import infer_cell
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
    for inference in made.inferences.values():
        infer_cell(made, inference)
    for name in ("scores", "aggregates", "rankings", "correlations", "comparison"):
        tables.make(made, name)
    return made


def result(study, folder, test):
    path = study.results / folder / SUBSET / "none" / "weat_es" / f"weat_{test}.json"
    (only,) = json.loads(path.read_text())["results"]
    return only


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


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        # as low as 999 draws can go: it may be 1e-7
        ({"p_value": 0.001, "p_lowest": 0.001, "status": "ok"}, "explained"),
        ({"p_value": 0.002, "p_lowest": 0.001, "status": "ok"}, "differs"),
        ({"p_value": 1e-7, "p_lowest": 1e-8, "status": "ok"}, "reproduced"),
        ({"status": "lost_words:A"}, "differs"),
        (None, "differs"),
    ],
)
def test_printed_p_values_below_what_the_draws_can_give(tmp_path, result, expected):
    empty = pd.DataFrame(
        columns=["criterion", "metric", "model", "debias", "aggregation", "value", "rank", "method"]
    )
    if result:
        write_text(tmp_path / "a/none/weat/q.json", json.dumps({"results": [result]}))
    published = read(tmp_path / "published.csv", published="1e-7")
    table = comparison.compare(
        published, empty, empty, empty, tmp_path, {("a", "none"): "a"}, inference=tmp_path
    )
    assert table["verdict"].tolist() == [expected]
    if expected == "explained":
        assert table["note"][0].startswith("no smaller p-value than 0.001")
