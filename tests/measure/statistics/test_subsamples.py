"""Effect sizes and tests of random subsets of words."""

from itertools import combinations

import numpy as np
import pytest
from conftest import grid_config
from in_process import make_cells, make_inputs, make_tables

from biasgrid import tables
from biasgrid.measure.results import results
from biasgrid.measure.statistics.subsamples import subsample_effect_size
from biasgrid.study.study import Study


def exact(first, second):
    """Of all divisions of the words into halves, the share whose first half has as large a mean."""
    both, n = np.concatenate([first, second]), len(first)
    sums = [both[list(half)].sum() for half in combinations(range(2 * n), n)]
    return np.mean(np.array(sums) >= first.sum() - 1e-12)


def test_a_subset_of_all_words_is_all_words():
    rng = np.random.default_rng(0)
    first, second = rng.normal(0.8, 1, 6), rng.normal(0, 1, 6)
    drawn = subsample_effect_size(first, second, 6, draws=50, permutations=2000)
    both = np.concatenate([first, second])
    assert drawn.values == pytest.approx((first.mean() - second.mean()) / both.std())
    assert drawn.p_values == pytest.approx(exact(first, second), abs=4 * np.sqrt(0.25 / 2000))
    assert len(set(drawn.p_values)) > 1


def test_subsets_are_of_the_words_without_replacement_and_the_seeds():
    first, second = np.arange(5.0), 10 + np.arange(7.0)
    drawn = subsample_effect_size(first, second, 3, draws=400, permutations=99, ddof=1, seed=2)
    possible = {
        round((np.mean(a) - np.mean(b)) / np.std([*a, *b], ddof=1), 9)
        for a in combinations(first, 3)
        for b in combinations(second, 3)
    }
    assert set(drawn.values.round(9)) <= possible
    # the first set's words are all lower: no division is as low but itself
    assert (drawn.p_values == 1).all()
    again = subsample_effect_size(first, second, 3, draws=400, permutations=99, ddof=1, seed=2)
    assert np.array_equal(again.values, drawn.values)
    assert not np.array_equal(
        subsample_effect_size(first, second, 3, draws=400, permutations=99).values, drawn.values
    )


def test_words_that_are_all_alike_have_no_effect_size():
    drawn = subsample_effect_size(np.ones(4), np.ones(4), 2, draws=5, permutations=9)
    assert np.isnan(drawn.values).all()
    assert np.isnan(drawn.p_values).all()


def test_p_values_hold_their_level_where_the_sets_are_alike():
    rng = np.random.default_rng(3)
    rejected = [
        (
            subsample_effect_size(*rng.normal(size=(2, 12)), 12, draws=1, permutations=199, seed=i).p_values
            < 0.05
        ).item()
        for i in range(400)
    ]
    assert np.mean(rejected) < 0.09


def test_a_study_has_the_table_where_a_criterion_asks_for_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    words = [f"{letter}{i}" for letter in "abcdef" for i in range(8)]
    for name in ("one", "two"):
        rows = (f"{word} {' '.join(f'{x:.5f}' for x in rng.normal(size=5))}" for word in words)
        (tmp_path / f"{name}.txt").write_text(f"{len(words)} 5\n" + "\n".join(rows) + "\n")
    config = grid_config()
    config["criteria"] = {
        "First": config["criteria"]["First"] | {"ranked": False, "subsamples": {"words": 4, "draws": 40}}
    }
    del config["criteria"]["First"]["queries"]["q2"]
    config |= {"metrics": {"weat": {}, "weat_es": {}}}
    assert (
        "subsamples"
        not in Study.of(
            grid_config()
            | {
                "criteria": {
                    "First": {
                        "queries": {
                            "q": {"targets": {"A": ["a"], "B": ["b"]}, "attributes": {"C": ["c"], "D": ["d"]}}
                        }
                    }
                }
            }
        ).tables
    )
    study = Study.of(config)
    make_inputs(study)
    make_cells(study)
    make_tables(study, "subsamples")
    table = tables.read(study.paths.table_file("subsamples"))
    assert list(table["metric"]) == ["weat_es", "weat_es"]
    assert set(table["words"]) == {4}
    files = [study.paths.cell_file(cell) for cell in study.grid.cells.values() if cell.metric == "weat_es"]
    values = {key[3]: result["value"] for key, _, result in results(files)}
    assert dict(zip(table["model"], table["value"], strict=True)) == pytest.approx(values)
    assert (table["low"] <= table["mean"]).all()
    assert (table["mean"] <= table["high"]).all()
    assert table["rejects"].between(0, 1).all()
