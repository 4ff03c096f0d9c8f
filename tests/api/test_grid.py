"""`measure_grid` gives what the workflow gives of the same models, queries, metrics and seed, to the last bit."""

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import small_study
from small_study import CONFIG, NULL

from biasgrid import BiasgridError, EmbeddingStore
from biasgrid.api.grid import Grid, measure_grid
from biasgrid.inference.null import Null
from biasgrid.tables import REGISTRY

TABLES = [
    "scores",
    "aggregates",
    "rankings",
    "correlations",
    "rank_intervals",
    "order",
    "inference",
    "influence",
]
TABLES += ["scalars", "contrasts"]
METRICS = {
    "weat": {},
    "weat_es": {"ddof": 1},
    "rnd": {"permutation": {"draws": 99, "exact": 50}},
    "rnsb": {"n_iterations": 3, "holdout": True, "normalize": True},
    "cosine": {"metric": "rnd", "distance": "cos", "label": "RND (cosine)"},
    "ect": {},
}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The small study, run by the workflow's steps."""
    folder, before = tmp_path_factory.mktemp("study"), Path.cwd()
    os.chdir(folder)
    try:
        yield small_study.finished(folder)
    finally:
        os.chdir(before)


def measured(study, **options) -> Grid:
    """The same grid, measured in memory."""
    queries = {
        criterion: {key: study.queries[key] for key in entry["queries"]}
        for criterion, entry in CONFIG["criteria"].items()
    }
    inference = {part: options for part, options in CONFIG["inference"].items()}
    models = [EmbeddingStore.open(Path("stores") / name) for name in CONFIG["models"]]
    given = {"seed": 3, "progress": False, **CONFIG["words"], **inference, **options}
    return measure_grid(METRICS, queries, models, **given)


@pytest.fixture(scope="module")
def grid(study):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return measured(study, null_distributions=True)


@pytest.mark.parametrize("table", TABLES)
def test_tables_are_the_workflows_to_the_last_bit(study, grid, table):
    if table not in study.tables:
        with pytest.raises(BiasgridError, match=f"no table {table}"):
            grid.frame(table)
        return
    text = study.table_file(table).read_text()
    pd.testing.assert_frame_equal(
        grid.frame(table), REGISTRY[table].read(study.table_file(table)), check_exact=True
    )
    if table == "scores":
        assert grid.scores.to_csv(index=False, lineterminator="\n") == text
        assert {"p_value", "p_adjusted", "p_groups_adjusted", "ci_low"} <= set(
            grid.scores.dropna(axis=1, how="all")
        )
        assert grid.scores["value"].isna().any()


def test_null_distributions_are_the_workflows(study, grid):
    ours, theirs = (
        Null.load(grid.study.null_file(grid.study.cells[NULL])),
        Null.load(study.null_file(study.cells[NULL])),
    )
    assert ours.results == theirs.results
    assert np.array_equal(ours.samples, theirs.samples)
    for part in ("values", "extreme"):
        for query, tests in getattr(theirs, part).items():
            assert all(
                np.array_equal(getattr(ours, part)[query][test], values) for test, values in tests.items()
            )


def test_processes_change_nothing(study, grid):
    parallel = measured(study, n_jobs=2)
    pd.testing.assert_frame_equal(parallel.scores, grid.scores, check_exact=True)
    pd.testing.assert_frame_equal(parallel.frame("rankings"), grid.frame("rankings"), check_exact=True)
    assert list(parallel.study.outcomes) == list(grid.study.outcomes)
