"""The rest of WEFE's user guide, on `measure_grid`.

Several queries, aggregation, ranking and correlation, on the stand-ins of test_wefe_documentation.py, with what WEFE
1.0.1 gives on them. Lines are counted as there: WEFE's without imports and models.
"""

import json

import numpy as np
import pytest
import wefe_documentation as guide
from conftest import DATA
from wefe_documentation import EXAMPLES, example

from biasgrid import Query
from biasgrid.study.in_memory.measure_grid import measure_grid
from biasgrid.study.word_sets import word_sets

WEFE = json.loads((DATA / "wefe_1.0.1_documentation.json").read_text())
KEYS = ["weat", "weat_es", "rnsb"]
NAMES = ["dim=25", "dim=50", "dim=100"]


@example(20)
def gender_queries():
    """Load the word sets and create the queries."""
    sets = word_sets("weat")
    terms = {"Male terms": sets["male_terms"], "Female terms": sets["female_terms"]}
    return [
        Query(terms, {"Career": sets["career"], "Family": sets["family"]}),
        Query(terms, {"Science": sets["science"], "Arts": sets["arts"]}),
        Query(terms, {"Math": sets["math"], "Arts": sets["arts_2"]}),
    ]


@example(13)
def ethnicity_queries(sets):
    def names(number):
        return [sets[f"european_american_names_{number}"], sets[f"african_american_names_{number}"]]

    groups = ["European Names", "African Names"]
    return [
        Query(names(5), [sets["pleasant_5"], sets["unpleasant_5a"]], groups, ["Pleasant", "Unpleasant"]),
        Query(names(7), [sets["pleasant_9"], sets["unpleasant_9"]], groups, ["Pleasant 2", "Unpleasant 2"]),
    ]


@example(4)
def several_queries(queries, models):
    return measure_grid(["weat"], {"Gender": queries}, models, preprocessors=[{}]).table("weat")


@example(8)
def metric_parameters(queries, models):
    grid = measure_grid(["weat"], {"Gender": queries}, models, preprocessors=[{"lowercase": True}])
    return grid.table("weat")


@example(11)
def aggregated(queries, models, how="abs_avg"):
    grid = measure_grid(["weat"], {"Gender": queries}, models, preprocessors=[{"lowercase": True}])
    return grid.aggregate(how)


@example(31)
def ranked(queries, models):
    """Three metrics; WEFE ranks by value in ascending order."""
    metrics = ["weat", "weat_es", ("rnsb", {"holdout": False})]
    return measure_grid(metrics, queries, models, preprocessors=[{"lowercase": True}])


@example(3)
def correlations(grid):
    return grid.correlate()


@example(1)
def correlations_by_kendall(grid):
    return grid.correlate("kendall")


@example(2)
def plots(grid):
    return grid.plot("rankings"), grid.plot("correlations")


@example(1)
def plot_of_scores(grid):
    return grid.plot("scores")


@pytest.fixture(scope="module")
def models(word2vec, tmp_path_factory):
    return dict(zip(NAMES, guide.twitter_models(word2vec, tmp_path_factory.mktemp("twitter")), strict=True))


@pytest.mark.parametrize(
    "function", [f for f in EXAMPLES if f.__module__ == __name__], ids=lambda f: f.__name__
)
def test_no_example_takes_more_lines_than_in_wefe(function):
    assert guide.lines_of(function) <= EXAMPLES[function]


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
@pytest.mark.parametrize(
    ("function", "expected"), [(several_queries, "as written"), (metric_parameters, "lower case")]
)
def test_tables(models, function, expected):
    table = function(gender_queries(), models)
    assert list(table.index) == NAMES
    assert [str(name) for name in table.columns] == [query.name for query in gender_queries()]
    np.testing.assert_allclose(table.to_numpy(), np.array(WEFE["tables"][expected], float), 1e-6, 1e-6)


@pytest.mark.parametrize("how", ["avg", "abs_avg", "sum", "abs_sum"])
def test_aggregates(models, how):
    numbers = aggregated(gender_queries(), models, how)
    np.testing.assert_allclose(numbers.to_numpy(), np.array(WEFE["aggregates"][how]), 1e-6, 1e-6)


def test_aggregation_by_a_function(models):
    highest = aggregated(gender_queries(), models, lambda values: np.abs(values).max())
    expected = np.abs(np.array(WEFE["tables"]["lower case"])).max(axis=1)
    np.testing.assert_allclose(highest.to_numpy()[:, 0], expected, 1e-6, 1e-6)


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
def test_rankings_and_correlations(models):
    for name, queries in (("Gender", gender_queries()), ("Ethnicity", ethnicity_queries(word_sets("weat")))):
        grid = ranked({name: queries}, models)
        ranks = grid.rank(criterion=name).loc[NAMES, KEYS]
        assert ranks.to_dict() == WEFE["rankings"][name]
        if name == "Gender":
            for how, function in (("spearman", correlations), ("kendall", correlations_by_kendall)):
                table = function(grid)
                expected = [[WEFE["correlations"][how][a][b] for b in KEYS] for a in KEYS]
                np.testing.assert_allclose(table.to_numpy(), expected, atol=1e-12)
            for drawing in plots(grid):
                # three models have ranks: too few for a figure of their correlations
                few = any("fewer than 4 models" in text.get_text() for text in drawing.texts)
                assert any(axes.has_data() for axes in drawing.axes) or few
            # a figure of each metric, where WEFE has one of all: the first, and which others there are
            with pytest.warns(UserWarning, match="others: .*weat_es.*rnsb"):
                first = plot_of_scores(grid)
            of_metrics = [grid.plot("scores", metric=metric) for metric in KEYS]
            subtitles = [figure.texts[1].get_text() for figure in (first, *of_metrics)]
            assert subtitles == ["Gender, WEAT", "Gender, WEAT", "Gender, WEAT-ES", "Gender, RNSB"]
