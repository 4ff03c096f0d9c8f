"""The figure of influence names the words that move a score farthest."""

import numpy as np
import pandas as pd
import pytest
from artists import PAIRED, marks_of, texts, unwrapped

from biasgrid.figures.influence import FARTHEST, influence

pytestmark = pytest.mark.slow

INFLUENCE = ["criterion", "query", "metric", "model", "debias", "set", "word", "influence"]


def influences(words=6, models="ab", seed=0):
    rng = np.random.default_rng(seed)
    rows = [
        ("Gender", query, metric, model, "none", "Career", f"w{i}", rng.normal())
        for query in PAIRED
        for metric in ("weat", "mac")
        for model in models
        for i in range(words)
    ]
    return pd.DataFrame(rows, columns=INFLUENCE)


def test_the_words_that_matter_most_in_standard_errors():
    table, keys = influences(), INFLUENCE[:5]
    errors = table[keys].drop_duplicates()
    errors = errors.assign(kind="jackknife", standard_error=[0.5, 1.0, 2.0, 0.25, 0.0, 1.0] * 2)
    (axes,) = influence(table, errors, {"weat": "WEAT"}, "Gender", "weat").axes
    units = table[table["metric"] == "weat"].merge(errors, on=keys).query("standard_error > 0")
    rows = units["word"] + " (Career) " + units["query"]
    farthest = (units["influence"] / units["standard_error"]).abs().groupby(rows).max().nlargest(10)
    # long queries are shortened in the middle
    named = [" ".join(label.get_text().split())[:40] for label in axes.get_yticklabels()]
    assert named == [name[:40] for name in farthest.index]


def test_a_word_that_moves_a_score_too_far_is_an_arrow_with_its_number():
    table = influences(words=2)
    errors = table[INFLUENCE[:5]].drop_duplicates().assign(kind="jackknife", standard_error=1.0)
    table.loc[table.index[0], "influence"] = -321.0
    figure = influence(table, errors, {}, "Gender", "weat")
    (axes,) = figure.axes
    assert "← −321" in texts(figure)
    others = table.loc[(table["metric"] == "weat") & (table["influence"].abs() < FARTHEST), "influence"]
    assert set(others) <= {x for _, (x, _) in marks_of(axes)}


def test_what_all_queries_begin_with_is_said_once():
    queries = {query: f"He and She wrt {i} and {i + 1}" for i, query in enumerate(PAIRED)}
    table = influences().replace({"query": queries})
    errors = table[INFLUENCE[:5]].drop_duplicates().assign(kind="jackknife", standard_error=1.0)
    figure = influence(table, errors, {}, "Gender", "weat")
    assert "All are of He and She." in " ".join(unwrapped(figure))
    (axes,) = figure.axes
    assert all("He" not in label.get_text() for label in axes.get_yticklabels())
    assert all(") wrt " in " ".join(label.get_text().split()) for label in axes.get_yticklabels())


@pytest.mark.parametrize("metric", ["rnd", "weat"])
def test_a_metric_without_influence_or_standard_errors_is_said(metric):
    table = influences()
    errors = table[INFLUENCE[:5]].drop_duplicates().assign(kind="jackknife", standard_error=0.0)
    figure = influence(table, errors, {}, "Gender", metric)
    assert any(text.startswith("Nothing to draw: no score") for text in texts(figure))
