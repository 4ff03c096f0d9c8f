"""WEAT's effect size within grammatical genders, by hand."""

import numpy as np
import pytest
from conftest import GRID_WORDS, grid_config, write_text_model
from in_process import make_cells, make_inputs, make_tables
from scipy import stats

from biasgrid import load, tables
from biasgrid.study.study import Study

# of no gender: a7, b6, b7
GENDERS = {
    "m": ["a0", "a1", "a2", "b0", "b1"],
    "f": [*(f"a{i}" for i in range(3, 7)), "b2", "b3", "b4", "b5"],
}


def d(x, y):
    return (np.mean(x) - np.mean(y)) / np.std([*x, *y], ddof=1)


def within(x, y, of_x, of_y):
    both = [*zip(of_x, x, strict=True), *zip(of_y, y, strict=True)]
    mean = {gender: np.mean([s for of, s in both if of == gender]) for gender in "mf"}
    less = [s - mean[gender] for gender, s in both]
    return d(less[: len(x)], less[len(x) :])


def interval(value, without):
    """The jackknife's, with Satterthwaite's degrees of freedom."""
    variances = [(len(v) - 1) / len(v) * np.sum((v - np.mean(v)) ** 2) for v in without]
    freedom = sum(variances) ** 2 / sum(v**2 / (len(w) - 1) for v, w in zip(variances, without, strict=True))
    reach = stats.t.ppf(0.975, freedom) * np.sqrt(sum(variances))
    return [value - reach, value + reach]


def test_each_word_less_the_mean_of_its_gender(root, monkeypatch):
    monkeypatch.chdir(root)
    config = grid_config() | {"metrics": {"weat": {}, "weat_es": {"params": {"ddof": 1}}}}
    config["criteria"]["First"]["genders"] = GENDERS
    config["criteria"]["Second"]["genders"] = {"m": ["c0", "d0", "d1"], "f": ["d2"]}
    for seed, name in enumerate(("one", "two")):
        write_text_model(root / f"{name}.txt", GRID_WORDS, 5, seed)
    study = Study.of(config)
    make_inputs(study)
    make_cells(study)
    make_tables(study, "within_gender")
    table = tables.read(study.paths.table_file("within_gender")).set_index(["model", "query_id", "debias"])
    row = table.loc["one", "q1", "none"]

    model = load(study.embeddings / "one")
    unit = {word: v / np.linalg.norm(v) for word, v in zip(model, model.vectors(list(model)), strict=True)}
    c, e = (np.mean([unit[f"{k}{i}"] for i in range(8)], axis=0) for k in "cd")
    x, y = ([unit[f"{k}{i}"] @ (c - e) for i in range(n)] for k, n in (("a", 7), ("b", 6)))
    of_x, of_y = "mmmffff", "mmffff"
    without = (
        [([*x[:i], *x[i + 1 :]], y, of_x[:i] + of_x[i + 1 :], of_y) for i in range(7)],
        [(x, [*y[:i], *y[i + 1 :]], of_x, of_y[:i] + of_y[i + 1 :]) for i in range(6)],
    )
    plain = [np.array([d(*part[:2]) for part in of_set]) for of_set in without]
    inside = [np.array([within(*part) for part in of_set]) for of_set in without]
    values = row[["value", "ci_low", "ci_high", "within", "within_low", "within_high"]].astype(float).tolist()
    values_by_hand = d(x, y), within(x, y, of_x, of_y)
    expected = [
        [value, *interval(value, of_value)]
        for value, of_value in zip(values_by_hand, (plain, inside), strict=True)
    ]
    assert values == pytest.approx([number for part in expected for number in part], rel=1e-5)
    assert (row["words"], row["reason"]) == (13, "")
    # a set without a word of one gender
    none = table.loc["one", "q3", "none"]
    assert np.isnan(none["within"])
    assert (none["words"], none["reason"]) == (4, "C has no f word")
    assert set(table["metric"]) == {"weat_es"}
    assert "within_gender" not in Study.of(grid_config()).tables
