"""A finished study as a grid: its tables, and what follows from them."""

import re
import shutil
import warnings

import finished_study
import pandas as pd
import pytest
from matplotlib.text import Annotation
from refusals import refused

from biasgrid.study.results.open_study import open_study
from biasgrid.tables import read

pytestmark = [
    pytest.mark.slow,  # a study is run first
    # tests edit tables, as older code would have made them; tests/api/test_damaged_results.py asserts the warning
    pytest.mark.filterwarnings("ignore:.*the checksum differs"),
]


@pytest.fixture(scope="module")
def folder():
    """The results of the finished study, whose folder is not the working directory."""
    return finished_study.finished().folder / "results" / "small"


@pytest.fixture(scope="module")
def grid(folder):
    return open_study(folder)


def long(wide: pd.DataFrame) -> dict:
    """(criterion, metric, state) -> value; a metric has none on a model of another kind."""
    values = {(*column, state): wide.loc[state, column] for column in wide.columns for state in wide.index}
    return {place: value for place, value in values.items() if value == value}


def long_of_file(table: pd.DataFrame, column: str) -> dict:
    states = table["model"] + table["debias"].map({"none": "", "hard": " under hard"})
    places = zip(table["criterion"], table["metric"], states, strict=True)
    return {place: value for place, value in zip(places, table[column], strict=True) if value == value}


def test_scores_are_the_files(folder, grid):
    assert grid.scores.to_csv(index=False, lineterminator="\n") == (folder / "scores.csv").read_text()
    assert repr(grid) == "<Grid 7 metrics, 6 queries, 7 models: 132 scores (5 without a value)>"
    assert grid.models == ["one", "one under hard", "two", "two under hard", "three", "corpus", "table"]


@pytest.mark.parametrize("how", ["avg", "abs_avg", "sum", "abs_sum"])
def test_aggregates_are_the_files(folder, grid, how):
    table = read(folder / "aggregates.csv")
    expected = long_of_file(table[table["aggregation"] == how], "value")
    assert long(grid.aggregate(how)) == pytest.approx(expected, abs=0, rel=0)


def test_standardised_bias_of_aggregates_is_that_of_the_scores(folder, grid):
    """Of rows of the aggregation that ranks models alone; models on the same queries differ as pairs.csv says."""
    scores, table = read(folder / "scores.csv"), read(folder / "aggregates.csv")
    keys = ["criterion", "metric", "model", "debias"]
    assert set(table.loc[table["standardized"].notna(), "aggregation"]) == {"abs_avg"}
    ranked = table[table["aggregation"] == "abs_avg"].set_index(keys)
    means = scores.groupby(keys)["standardized"].mean().dropna()
    # a metric that takes queries as they are has no sub-queries to weigh
    whole = [key for key in means.index if key[1] in ("weat", "mac", "rnsb") and key[2] != "three"]
    assert len(whole) == 24
    assert ranked.loc[whole, "standardized"].to_dict() == pytest.approx(means.loc[whole].to_dict())
    counts = scores.groupby(keys)["p_groups"].count()
    of_criteria = ranked.dropna(subset="scores_in_test").drop("Overall")
    assert of_criteria["scores_in_test"].astype(int).to_dict() == counts.loc[of_criteria.index].to_dict()
    # also where there is no test
    assert of_criteria["p_groups"].isna().any()
    pairs = read(folder / "pairs.csv")
    pairs = pairs[pairs["answer"].ne("") & ~pairs[["model_a", "model_b"]].eq("three").any(axis=1)]
    assert len(pairs) > 10
    for row in pairs.itertuples():
        first, second = (
            ranked.loc[(row.criterion, row.metric, model, debias), "standardized"]
            for model, debias in ((row.model_a, row.debias_a), (row.model_b, row.debias_b))
        )
        assert first - second == pytest.approx(row.difference, abs=1e-12)
    lows, highs = ([f"standardized{part}_{end}" for part in ("", "_half")] for end in ("low", "high"))
    ends = ranked[[*lows, "standardized", *reversed(highs)]].dropna()
    assert ends.index.equals(ranked["standardized"].dropna().index)
    assert (ends.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)
    found = long(grid.aggregate("standardized"))
    assert found == long_of_file(table[table["aggregation"] == "abs_avg"], "standardized")


def test_aggregates_of_older_code_get_standardised_bias_in_memory(folder, grid, tmp_path):
    older = shutil.copytree(folder, tmp_path / "older")
    table = read(folder / "aggregates.csv")
    columns = ["standardized", "standardized_low", "standardized_high"]
    columns += ["standardized_half_low", "standardized_half_high"]
    table.drop(columns=columns).to_csv(older / "aggregates.csv", index=False)
    assert open_study(older).aggregate("standardized").equals(grid.aggregate("standardized"))
    with refused(f"has no column {', '.join(columns)}; make it again: biasgrid"):
        read(older / "aggregates.csv")


def test_ranks_are_the_files(folder, grid):
    assert long(grid.rank()) == long_of_file(read(folder / "rankings.csv"), "rank")


@pytest.mark.parametrize("method", ["spearman", "kendall", "pearson"])
def test_correlations_are_the_files(folder, grid, method):
    table = read(folder / "correlations.csv")
    found = grid.correlate(method)
    for row in table[table["method"] == method].itertuples():
        value = found.loc[(row.criterion, row.metric_a), row.metric_b]
        assert value == pytest.approx(row.correlation, abs=0, rel=0, nan_ok=True)


# others further below
@pytest.mark.filterwarnings("ignore:plot")
@pytest.mark.parametrize("kind", ["scores", "null", "sentiment"])
def test_figures_are_drawn_from_the_files(grid, kind):
    assert grid.plot(kind).axes


def test_the_least_biased_model_is_the_first_and_decided_as_the_pairs_say(folder, grid):
    found = grid.least_biased().set_index(["criterion", "metric"])
    rankings, pairs = (
        grid.frame(name).query(rows)
        for name, rows in (("rankings", "debias == 'none'"), ("pairs", "family == 'models'"))
    )
    assert set(found.index) == set(grid.rank().columns)
    for place, row in found.iterrows():
        part, tests = (
            table[(table["criterion"] == place[0]) & (table["metric"] == place[1])]
            for table in (rankings, pairs)
        )
        part = part.set_index("model")
        if not row["model"]:
            # nobody is ranked, or the metric compares no models
            assert part["rank_shared"].isna().all() or set(tests["reason"]) <= {"no common zero", "no value"}
            assert not row["decided"]
            continue
        # each pair from both sides, the model as "a"
        other = tests.rename(columns={"model_a": "model_b", "model_b": "model_a"})
        both = pd.concat([tests, other.assign(difference=-other["difference"])])
        rivals = both[(both["model_a"] == row["model"]) & (both["reason"] == "")]
        decided = (rivals["p_adjusted"] <= 0.05) & (rivals["difference"] < 0)
        assert row["decided"] == (len(rivals) > 0 and decided.all())
        # no other ranked model is below more others; ranks of raw values do not matter
        below = both[both["difference"] < 0].groupby("model_a").size().reindex(part.index, fill_value=0)
        assert row["decided"] or below[row["model"]] == below[part["rank_shared"].notna()].max()
        smallest = rivals.loc[~decided, "smallest_difference"].min()
        assert row["smallest_difference"] == pytest.approx(smallest, nan_ok=True)
        assert row["p_adjusted"] == pytest.approx(rivals["p_adjusted"].max(), nan_ok=True)
        undecided = {text.partition(":")[0] for text in row["undecided"].split("; ") if text}
        assert undecided == {f"Model <{name}>" for name in rivals.loc[~decided, "model_b"]}
        not_ranked = {text.partition(":")[0] for text in row["not_ranked"].split("; ") if text}
        assert not_ranked == {f"Model <{name}>" for name in part.index[part["rank_shared"].isna()]}
    assert list(grid.least_biased("Second")["criterion"].unique()) == ["Second"]
    columns = [
        "metric",
        "model_label",
        "decided",
        "p_adjusted",
        "undecided",
        "not_ranked",
        "queries",
        "queries_of",
    ]
    assert list(grid.least_biased().columns) == [*columns, "criterion", "model", "smallest_difference"]


def test_the_least_biased_models_are_printed_in_80_columns(grid):
    lines = str(grid.least_biased("First")).splitlines()
    head = ["metric", "lowest model", "clear winner", "adjusted p", "queries"]
    assert re.split(r"  +", lines[0]) == head
    # and one on MAC, and two on what else there is
    assert len(lines) == 4 + len(grid.rank(criterion="First").columns)
    assert max(map(len, lines)) <= 80


@pytest.mark.filterwarnings("ignore:figure .* is gone")
def test_a_figure_of_several_metrics_is_drawn_of_some(grid):
    panels = {axes.get_title(loc="left") for axes in grid.plot("order", metric=["weat", "cosine"]).axes}
    assert panels == {"WEAT", "RND (cosine)"}
    subtitle = grid.plot("influence", criterion="Second", metric="mac").texts[1].get_text()
    assert subtitle.startswith("Second, MAC: ")
    (legend,) = grid.plot("rankings", metric=["weat", "mac"]).legends
    assert [text.get_text() for text in legend.texts] == ["MAC", "WEAT"]
    *panels, _ = grid.plot("correlations", metric=["weat", "mac"]).axes
    rows = [[label.get_text() for label in axes.get_yticklabels()] for axes in panels]
    # over each column, along the triangle's edge
    columns = [[text.get_text() for text in axes.texts if isinstance(text, Annotation)] for axes in panels]
    assert (rows, columns) == ([["WEAT"]] * 3, [["MAC"]] * 3)


@pytest.mark.filterwarnings("ignore:figure .* is gone")
@pytest.mark.parametrize("kind", ["order", "rank-intervals"])
def test_ranks_of_one_criterion_are_drawn(grid, kind):
    assert grid.plot(kind, criterion="First").texts[1].get_text().startswith("First: ranks ")
    assert grid.plot(kind).texts[1].get_text().startswith("All topics: ranks ")


def test_the_lost_words_and_other_tables_are_there(grid):
    lost = grid.lost_words
    there = {"d3"} | {f"f{i}" for i in range(8)}
    of_models = {model: set(rows["word"]) & there for model, rows in lost.groupby("model")}
    assert of_models == {"one": set(), "two": {"d3"}, "three": there - {"d3"}}
    tested = grid.frame("tests")
    assert (tested["test"] == "permutation").sum() == len(grid.scores)


def test_a_study_is_found_by_its_config_too(folder, grid, tmp_path, monkeypatch):
    monkeypatch.chdir(folder.parents[1])
    assert open_study("config/config.yaml").scores.equals(grid.scores)
    assert open_study("results/small/study.json").scores.equals(grid.scores)
    shutil.copytree("results/small", tmp_path / "elsewhere")
    assert open_study(tmp_path / "elsewhere").rank().equals(grid.rank())


@pytest.fixture(scope="module")
def older(folder, tmp_path_factory):
    """Results that lack the tables of aggregates and ranks, and a column of the pairs."""
    older = tmp_path_factory.mktemp("older") / "small"
    shutil.copytree(folder, older)
    for name in ("aggregates.csv", "rankings.csv", "rank_samples.npy"):
        (older / name).unlink()
    read(folder / "pairs.csv").drop(columns="smallest_difference").to_csv(older / "pairs.csv", index=False)
    return older


def test_tables_that_older_code_did_not_make_are_made_in_memory(grid, older):
    before = {file: file.read_bytes() for file in older.rglob("*.*")}
    found = open_study(older)
    for name in ("rankings", "aggregates", "pairs", "scores"):
        pd.testing.assert_frame_equal(found.frame(name), grid.frame(name), rtol=1e-12)
    assert found.rank().equals(grid.rank())
    assert found.least_biased().equals(grid.least_biased())
    assert found.summary() == grid.summary()
    assert found.plot("rank-intervals").axes
    assert {file: file.read_bytes() for file in older.rglob("*.*")} == before


def test_a_table_that_is_there_is_read_and_nothing_that_it_was_made_of(older, tmp_path):
    copy = shutil.copytree(older, tmp_path / "copy")
    (copy / "aggregates").rename(copy / "gone")
    (copy / "scores.csv").write_text("nothing\n")
    assert len(open_study(copy).frame("correlations"))


def test_ids_and_labels_that_older_code_did_not_write_are_those_of_the_config(folder, grid, tmp_path):
    older = shutil.copytree(folder, tmp_path / "older")
    for name in ("scores", "intervals", "rankings"):
        table = read(folder / f"{name}.csv")
        columns = ["query_id", "parent_query_id", "model_label"]
        table.drop(columns=columns, errors="ignore").to_csv(older / f"{name}.csv", index=False)
    (older / "cells").rename(older / "gone")
    found = open_study(older)
    for name in ("scores", "intervals", "rankings"):
        pd.testing.assert_frame_equal(found.frame(name), grid.frame(name))
    assert "query_id" in found.scores


@pytest.fixture(scope="module")
def damaged(folder, tmp_path_factory):
    """A folder that is none of results, one that lacks a table and a cell, one whose table cannot be made of a cell
    that is damaged, and one of another kind."""
    made = tmp_path_factory.mktemp("damaged")
    for name in ("half", "spoilt", "other"):
        shutil.copytree(folder, made / name)
    for name in ("half", "spoilt"):
        (made / name / "scores.csv").unlink()
    (made / "half" / "cells" / "one" / "none" / "weat" / "q1.json").unlink()
    (made / "spoilt" / "cells" / "one" / "none" / "weat" / "q1.json").write_text("{")
    (made / "other" / "study.json").write_text('{"simulation": "s"}')
    return made


@pytest.mark.filterwarnings("ignore:figure .* is gone")
@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda _, at: open_study(at / "nowhere"), "not the results of a study: there is no such folder"),
        (lambda _, at: open_study(at), "not the results of a study: it has no study.json"),
        (lambda _, at: open_study(at / "half"), "not a finished study: it lacks 1 of …q1.json; run it again"),
        (
            lambda _, at: open_study(at / "spoilt").scores,
            "study small has no scores.csv, and it cannot be made: …/one/none/weat/q1.json: ",
        ),
        (lambda _, at: open_study(at / "other"), "study.json: …simulation"),
        (lambda grid, _: grid.frame("mitigation"), "study small has no table mitigation"),
        (lambda grid, _: grid.frame("score"), "unknown table 'score'; did you mean 'scores'"),
        (lambda grid, _: grid.plot("order", metric="weta"), "unknown metric 'weta'; did you mean 'weat'"),
        (
            lambda grid, _: grid.plot("order", criterion="Fear"),
            "has criterion='Fear'; there are criterion='Overall'",
        ),
        (
            lambda grid, _: grid.plot("rank-intervals", criterion="Fear"),
            "has criterion='Fear'; there are criterion='Overall'",
        ),
    ],
)
def test_what_there_is_not_is_said_in_a_sentence(grid, damaged, call, says):
    with refused(*says.split("…")):
        call(grid, damaged)


def test_opening_says_nothing(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_study(folder)


def test_a_study_of_the_checkout_is_found_from_its_other_folders(folder, tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "src" / "biasgrid").mkdir(parents=True)
    shutil.copytree(folder, tmp_path / "results" / "small")
    monkeypatch.setattr("biasgrid.core.resources.PACKAGE", tmp_path / "src" / "biasgrid")
    monkeypatch.chdir(tmp_path / "notebooks")
    found = open_study("results/small")
    assert found.scores.equals(open_study(folder).scores)
    assert found.study.results == tmp_path / "results" / "small"
