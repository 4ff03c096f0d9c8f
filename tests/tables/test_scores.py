"""The table of scores: shared sub-queries, which p-value, interval and adjustment."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from biasgrid import BiasgridError, Query
from biasgrid.core.in_memory import InMemory
from biasgrid.models.not_downloaded import STATUS
from biasgrid.tables import REGISTRY, read
from biasgrid.tables.scores import adjust


def at(table, value="value", **where):
    for column, wanted in where.items():
        table = table[table[column] == wanted]
    assert len(table) == 1, table
    return table[value].item()


def cell_file(folder, name, results, query="q"):
    """A cell's file, or that of its inference."""
    path = folder / name
    record = {"criterion": "G", "query": query, "metric": "rnd", "model": "m", "debias": "none"}
    record |= {"function": "rnd", "params": {}, "words": {}, "inference": {}}
    path.write_text(json.dumps(record | {"results": results}))
    return path


def scores(cells, inferences=(), interval="jackknife", adjust="holm"):
    """The table of these files."""
    queries = []
    for inference in inferences:
        queries.append(inference.parent / "queries" / f"{json.loads(inference.read_text())['query']}.json")
        queries[-1].parent.mkdir(exist_ok=True)
        queries[-1].write_text(Query([["a"], ["b"]], [["c"]]).to_json())
    inputs = {"cells": cells, "inferences": list(inferences), "queries": queries}
    spec = {"interval": interval, "adjust": adjust, "level": 0.95, "tests": [["G", "rnd", 2]]}
    return REGISTRY["scores"].make(inputs, spec)


def test_scores_join_shared_subqueries(tmp_path):
    def result(query, value):
        status = "ok" if value is not None else "lost_words:A"
        return {"query": query, "value": value, "status": status, "words_used": 9, "words_lost": 0}

    one = cell_file(tmp_path, "1.json", [result("A wrt X", 0.1), result("A wrt Y", None)])
    two = cell_file(tmp_path, "2.json", [result("A wrt X", 0.1), result("A wrt Z", 0.3)])
    table = scores([two, one])
    assert list(table["query"]) == ["A wrt X", "A wrt Y", "A wrt Z"]
    assert math.isnan(at(table, query="A wrt Y"))
    assert list(table.columns) == REGISTRY["scores"].names


def test_a_contrast_names_its_groups_and_words(tmp_path):
    """A second group or a set of words that is null stands for all of them."""
    contrasts = [
        {"first": "A", "second": "B", "words": "D", "values": {"skew": 0.1}},
        {"first": "A", "second": None, "words": "D", "values": {"skew": 0.2}},
        {"first": "B", "second": "A", "words": None, "values": {"skew": 0.3}},
    ]
    result = {"query": "q", "value": 0.1, "status": "ok", "words_used": 9, "words_lost": 0}
    file = cell_file(tmp_path, "1.json", [result | {"contrasts": contrasts}])
    table = REGISTRY["contrasts"].make({"cells": [file]}, {})
    assert sorted(table[["first", "second", "words", "value"]].itertuples(index=False, name=None)) == [
        ("A", "(others)", "D", 0.2),
        ("A", "B", "D", 0.1),
        ("B", "A", "(all)", 0.3),
    ]


def test_a_shared_subquerys_value_and_p_value_are_of_one_cell(tmp_path):
    """Two queries share it; each draws with its own seed."""
    files = {}
    for query, value, p in (("q1", 0.1, 0.01), ("q2", 0.2, 0.02)):
        cell = {"query": "A wrt X", "value": value, "status": "ok", "words_used": 9, "words_lost": 0}
        test = {"query": "A wrt X", "status": "ok", "permutation": {"p_value": p}}
        files[query] = [
            cell_file(tmp_path, f"{query}{part}.json", [result], query=query)
            for part, result in (("cell", cell), ("test", test))
        ]
    (one, one_test), (two, two_test) = files.values()
    for cells, tests, value, p in (
        ([one, two], [one_test, two_test], 0.1, 0.01),
        ([two, one], [one_test, two_test], 0.2, 0.02),
    ):
        (row,) = scores(cells, tests).itertuples()
        assert (row.value, row.p_value) == (value, p)


def p_values_of(*p_values, criterion="G"):
    keys = {"criterion": criterion, "query": list(map(str, range(len(p_values)))), "metric": "weat"}
    return pd.DataFrame({**keys, "model": "m", "debias": "none", "p_value": p_values})


def test_adjusted_p_values_by_hand():
    table = p_values_of(0.01, 0.04, 0.03, math.nan, 0.005)
    # times 3, 1, 2, 4 of those that are left, never below a smaller one's
    assert list(adjust(table, "holm")) == pytest.approx([0.03, 0.06, 0.06, math.nan, 0.02], nan_ok=True)
    # times 4/2, 4/4, 4/3, 4/1, never above a larger one's
    benjamini = adjust(table, "benjamini-hochberg")
    assert list(benjamini) == pytest.approx([0.02, 0.04, 0.04, math.nan, 0.02], nan_ok=True)
    assert list(adjust(p_values_of(0.6, 0.9), "holm")) == [1.0, 1.0]
    assert adjust(p_values_of(math.nan), "holm").isna().all()
    # each criterion has its own tests; the order of the rows does not matter
    both = pd.concat([table, p_values_of(0.02, criterion="H")], ignore_index=True).iloc[::-1]
    assert at(both.assign(p=adjust(both, "holm")), "p", criterion="H") == 0.02
    assert adjust(both, "holm")[0] == pytest.approx(0.03)


@pytest.mark.parametrize("level", [0.01, 0.05, 0.2])
def test_holm_rejects_what_its_steps_reject(level):
    """Holm 1979: from the smallest on, p(i) is held against level / (m - i + 1) until one is above."""
    p_values = np.random.default_rng(3).beta(0.3, 2, size=40)
    rejected = set()
    for left, place in zip(range(40, 0, -1), np.argsort(p_values), strict=True):
        if p_values[place] > level / left:
            break
        rejected.add(place)
    ours = adjust(p_values_of(*p_values), "holm")
    assert set(np.flatnonzero(ours <= level)) == rejected
    assert 0 < len(rejected) < 40


def test_benjamini_hochberg_rejects_up_to_the_last_below_its_line():
    p_values = np.random.default_rng(3).beta(0.3, 2, size=40)
    below = np.flatnonzero(np.sort(p_values) <= 0.1 * np.arange(1, 41) / 40)
    ours = adjust(p_values_of(*p_values), "benjamini-hochberg")
    assert 0 < np.count_nonzero(ours <= 0.1) == below.max() + 1 < 40


def test_scores_have_the_interval_and_the_adjustment_that_are_asked_for(tmp_path):
    cells, tests = [], []
    for query, p in (("q1", 0.01), ("q2", 0.03), ("q3", 0.04)):
        cell = {"query": query, "value": 0.5, "status": "ok", "words_used": 9, "words_lost": 0}
        bootstrap = {"percentile": [0.1, 0.2], "bca": [0.3, 0.4], "jackknife": [0.4, 0.6]}
        test = {"query": query, "status": "ok", "bootstrap": bootstrap}
        test["permutation"] = {"p_value": p, "p_lowest": 0.001}
        cells.append(cell_file(tmp_path, f"{query}.json", [cell], query=query))
        tests.append(cell_file(tmp_path, f"{query}test.json", [test], query=query))
    table = scores(cells, tests)
    assert list(table["p_adjusted"]) == pytest.approx([0.03, 0.06, 0.06])
    assert (table[["ci_low", "ci_high"]] == [0.4, 0.6]).all(axis=None)
    bca = scores(cells, tests, "bca")
    assert (bca[["ci_low", "ci_high"]] == [0.3, 0.4]).all(axis=None)
    table = scores(cells, tests, "percentile", "benjamini-hochberg")
    assert list(table["p_adjusted"]) == pytest.approx([0.03, 0.04, 0.04])
    assert (table[["ci_low", "ci_high"]] == [0.1, 0.2]).all(axis=None)
    without = scores(cells)
    assert without[["p_value", "p_adjusted", "ci_low", "ci_high"]].isna().all(axis=None)


@pytest.mark.parametrize("text", ["{", "{}", "[]", "null", '{"cells": 3}', '{"cells": [{"results": [{}]}]}'])
def test_a_broken_cell_is_named(tmp_path, text):
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(BiasgridError, match=r"broken\.json: not a cell file"):
        scores([path])


@pytest.mark.parametrize("part", ["forms", "why_lost"])
@pytest.mark.parametrize("content", [[], {"A": "n-grams"}, {"A": {"word": 1}}])
def test_what_is_said_of_words_is_text(tmp_path, part, content):
    result = {"query": "q", "value": 0.5, "status": "ok", part: content}
    path = cell_file(tmp_path, "cell.json", [result])
    with pytest.raises(
        BiasgridError, match=rf"cell\.json: not a cell file: results: 0: {part}: .* is not (a mapping|text)"
    ):
        scores([path])


@pytest.mark.parametrize("is_file", [True, False])
def test_what_could_not_be_downloaded_is_no_row_of_a_file_or_of_a_table_in_memory(tmp_path, is_file):
    table = pd.DataFrame(columns=REGISTRY["lost_words"].names)
    table["model"], table["status"] = ["one", "two", "three"], ["ok", STATUS, "ok"]
    table = table.fillna({c.name: 0 if c.dtype == "count" else "" for c in REGISTRY["lost_words"].columns})
    file = InMemory(("lost_words",), table)
    if is_file:
        file = tmp_path / "lost_words.csv"
        table.to_csv(file, index=False)
    for absent, models in ((False, ["one", "three"]), (True, ["one", "two", "three"])):
        assert read(file, absent)["model"].tolist() == models
