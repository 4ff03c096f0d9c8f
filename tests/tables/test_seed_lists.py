"""How scores spread over lists of words for one concept: the table by arithmetic, the figure, what is refused."""

from contextlib import chdir

import numpy as np
import pandas as pd
import pytest
from artists import intervals_of, marks_of, texts
from conftest import ROOT, Project, grid_config
from in_process import make_all
from refusals import refused

from biasgrid import tables
from biasgrid.core.configs import read_yaml
from biasgrid.figures import draw
from biasgrid.figures.seed_lists import seed_lists
from biasgrid.study.study import Study
from biasgrid.tables.seed_lists import SEED_LISTS

pytestmark = pytest.mark.slow  # a study is run first
LISTS = {"first": "one", "second": "two", "third": "three"}


def config():
    config = grid_config()
    queries = {
        "one": {"targets": {"A": ["a0", "a1", "a2"], "B": ["b0", "b1", "b2"]}},
        "two": {"targets": {"A2": ["a2", "a3", "a4"], "B2": ["b2", "b3", "b4"]}},
        "three": {"targets": {"A3": ["b0", "a4", "b1"], "B3": ["a0", "b4", "a1"]}},
    }
    attributes = {"C": [f"c{i}" for i in range(5)], "D": [f"d{i}" for i in range(5)]}
    queries = {key: query | {"attributes": attributes} for key, query in queries.items()}
    config["criteria"] = {"First": {"ranked": False, "seed_lists": {"groups": LISTS}, "queries": queries}}
    config["metrics"] = {"weat": {}, "rnd": {}, "mac": {}}
    config["inference"] = {"bootstrap": {"draws": 50}}
    config["figures"] = ["seed-lists"]
    return config


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    with chdir(Project(tmp_path_factory.mktemp("lists")).folder):
        yield make_all(Study.of(config()))


def test_the_table_by_arithmetic(study):
    table = tables.read(study.paths.table_file("seed_lists"))
    scores = tables.read(study.paths.table_file("scores"))
    intervals = tables.read(study.paths.table_file("intervals")).query("kind == 'bca'")
    errors = intervals.set_index(["metric", "query", "model"])["standard_error"]
    # of two models: WEAT and MAC take a query as it is, RND has one sub-query per attribute set
    assert len(table) == 2 * (1 + 1 + 2)
    names = {"": "A and B wrt C and D", "2": "A2 and B2 wrt C and D", "3": "A3 and B3 wrt C and D"}
    for row in table.itertuples():
        parts = {"C, D": "C and D"}.get(row.part, row.part)
        queries = [name.replace("C and D", parts) for name in names.values()]
        mine = scores[(scores["metric"] == row.metric) & (scores["model"] == row.model)].set_index("query")
        values = mine.loc[queries, "value"].to_numpy()
        assert (row.lists, row.lists_lost) == (3, 0)
        assert [row.mean, row.sd] == pytest.approx([values.mean(), np.std(values, ddof=1)])
        assert [row.min, row.max] == [values.min(), values.max()]
        assert [row.lowest, row.highest] == [list(LISTS)[values.argmin()], list(LISTS)[values.argmax()]]
        neutral = study.metric("First", row.metric).neutral
        other = np.sign(values - neutral) == -np.sign(values.mean() - neutral)
        assert row.other_side == other.sum()
        squares = [errors[row.metric, query, row.model] ** 2 for query in queries]
        assert row.standard_error == pytest.approx(np.sqrt(np.mean(squares)))
        assert row.ratio == pytest.approx(row.sd / row.standard_error)


def test_lists_that_are_lost_and_studies_without_a_bootstrap(study, tmp_path):
    path = tmp_path / "scores.csv"
    scores = pd.read_csv(study.paths.table_file("scores"), keep_default_na=False, dtype="str")
    scores.loc[scores["query"].str.startswith("A2 "), "value"] = ""
    scores.loc[scores["query"].str.startswith("A3 "), "value"] = ""
    scores.to_csv(path, index=False, lineterminator="\n")
    made = SEED_LISTS.frame({"scores": path}, SEED_LISTS.spec_of(study))
    assert set(made["lists"]) == {1}
    assert set(made["lists_lost"]) == {2}
    assert made[["sd", "standard_error", "ratio"]].isna().all(axis=None)
    assert (made["mean"] == made["min"]).all()
    without = config()
    del without["inference"]
    assert set(Study.of(without).tables["seed_lists"]) == {"scores"}


def test_the_figure_has_every_list(study):
    (name,) = study.figures
    assert name == "seed-lists-first-groups"
    figure = draw(study.figures[name])
    said = texts(figure)
    assert {*LISTS, "no bias"} <= set(said)
    assert {"WEAT: C, D", "MAC: C, D", "RND: C", "RND: D"} <= set(said)
    # each with its interval, and beside them how far they are apart
    scores = tables.read(study.paths.table_file("scores")).query("metric == 'weat'").dropna(subset="value")
    axes = next(axes for axes in figure.axes if axes.get_title(loc="left") == "WEAT: C, D")
    assert sorted(x for _, (x, _) in marks_of(axes)) == sorted(scores["value"])
    assert intervals_of(axes) == sorted(zip(scores["ci_low"], scores["ci_high"], strict=True))
    summary = tables.read(study.paths.table_file("seed_lists")).query("metric == 'weat'")
    beside = [text.get_text().split()[1] for text in axes.texts if text.get_text().startswith(" sd")]
    assert [float(sd) for sd in beside] == pytest.approx([*summary["sd"]], rel=0.05)


def test_a_list_without_a_value_is_counted(study):
    (drawing,) = study.figures.values()
    table, scores = (tables.read(file) for file in drawing.inputs.values())
    lost = scores["query"].str.startswith("A2 ") & (scores["metric"] == "weat")
    scores.loc[lost, ["value", "ci_low", "ci_high"]] = np.nan
    is_weat = table["metric"] == "weat"
    table.loc[is_weat, ["lists", "lists_lost"]] = (2, 1)
    spec = drawing.spec | {"neutral": {"weat": 0.0, "rnd": 0.0, "mac": 1.0}}
    figure = seed_lists(table, scores, **spec)
    axes = next(axes for axes in figure.axes if axes.get_title(loc="left") == "WEAT: C, D")
    assert len(marks_of(axes)) == 2 * 2
    assert sum("2 of 3 lists" in text for text in texts(axes)) == 2
    # of a model without any value that is said
    scores.loc[(scores["metric"] == "weat") & (scores["model"] == "one"), "value"] = np.nan
    figure = seed_lists(table, scores, **spec)
    axes = next(axes for axes in figure.axes if axes.get_title(loc="left") == "WEAT: C, D")
    assert texts(axes).count("no value") == 1


def test_a_study_without_lists_has_neither(root):
    assert "seed_lists" not in Study.of(grid_config(), root=root).tables


@pytest.mark.parametrize(
    ("lists", "says"),
    [
        ({"first": "one", "second": "none"}, "seed_lists: groups: unknown query 'none'"),
        ({"first": "one", "second": "one"}, "seed_lists: groups: 'one' occurs twice"),
        ({"first": "one"}, "seed_lists: groups"),
        ({"first": "one", "second": "single"}, "'single' has template (2, 1), 'one' (2, 2)"),
    ],
)
def test_what_is_wrong_is_one_line(lists, says):
    wrong = config()
    criterion = wrong["criteria"]["First"]
    criterion["queries"]["single"] = {"targets": {"E": ["a0"], "F": ["b0"]}, "attributes": {"C": ["c0"]}}
    criterion["seed_lists"] = {"groups": lists}
    with refused(says):
        Study.of(wrong)


@pytest.mark.filterwarnings("ignore:.*repeats")
def test_the_shipped_lists_are_a_criterion():
    thesis = read_yaml(ROOT / "config" / "thesis.yaml")
    criteria = [thesis["criteria"], "config/thesis_seed_lists.yaml"]
    study = Study.of(thesis | {"criteria": criteria, "figures": ["seed-lists"]}, root=ROOT)
    assert "seed_lists" in study.tables
    lists = study.config.criteria["Seed lists"].seed_lists
    assert [len(queries) for queries in lists.values()] == [7, 7]
