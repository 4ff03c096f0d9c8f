"""What figures cannot be drawn of is one line."""

import pandas as pd
import pytest
from artists import METRICS, PAIRED, quality_table, ranking_table
from refusals import refused
from test_figures import correlation_table
from test_mitigation_figures import lose, maps, mitigation
from test_scores_figure import score_table

from biasgrid.figures.before_after import before_after
from biasgrid.figures.comparison import comparison
from biasgrid.figures.correlations import correlations
from biasgrid.figures.hidden_bias import hidden_bias
from biasgrid.figures.quality_ranks import quality_ranks
from biasgrid.figures.rankings import rankings, rankings_by_criterion
from biasgrid.figures.scores import scores
from biasgrid.figures.trade_off import trade_off
from biasgrid.figures.word_map import word_map
from biasgrid.tables.published import COMPARISON

pytestmark = pytest.mark.slow

TABLE = mitigation(["glove-6b-50d"])
TWO = maps(["gender-hard", "gender-ran"], 6)


def changed(model=TWO[0][0], method="gender-hard", **entries):
    """Maps of which the first is of another model or method, or has other entries."""
    _, _, drawn, accuracy = TWO[0]
    return [(model, method, drawn | entries, accuracy), *TWO[1:]]


@pytest.mark.parametrize(
    ("draw", "says"),
    [
        (
            lambda: rankings(ranking_table(), {}, "Gender"),
            "no rows of criterion 'Gender'; the table has Overall",
        ),
        (lambda: rankings(ranking_table({}), {}), "the table is empty"),
        (lambda: rankings_by_criterion(ranking_table({}), {}), "the table is empty"),
        (
            lambda: correlations(correlation_table(METRICS, ["Overall"]), {}, "pearson"),
            "no rows of method 'pearson'; the table has spearman",
        ),
        (lambda: correlations(correlation_table([], ["Overall"]), {}), "the table is empty"),
        (
            lambda: scores(score_table({"weat": PAIRED}, ["a"]), {}, "Overall", "weat", {"weat": 0.0}),
            "no rows of criterion 'Overall'; the table has Gender",
        ),
        (
            lambda: scores(score_table({"weat": PAIRED}, ["a"]), {}, "Gender", "weat", {"ect": 1.0}),
            "scores: no no-bias value: unknown metric 'weat'; ",
        ),
        (
            lambda: before_after(TABLE[:0], {}, "Gender"),
            "before_after: nothing to draw, the table is",
        ),
        (lambda: hidden_bias(TABLE[:0], {}, "Gender"), "hidden_bias: nothing to draw, the table is"),
        (
            lambda: trade_off(TABLE[:0], {}, "Gender"),
            "trade_off: nothing to draw, the table is empty",
        ),
        (
            lambda: before_after(TABLE, {}, "Age"),
            "no rows of criterion 'Age'; the table has Ethnicity, Gender, Religion",
        ),
        (
            lambda: hidden_bias(TABLE, {}, "Religion"),
            "hidden_bias, Religion: no rows of group 'hidden'; the table has displacement, metric, similarity",
        ),
        (
            lambda: hidden_bias(TABLE.replace("svm_accuracy", "mlp_accuracy"), {}, "Gender"),
            "unknown measure 'mlp_accuracy'; did you mean 'svm_accuracy'? allowed: cluster_accuracy, svm_accuracy",
        ),
        (
            lambda: trade_off(TABLE[TABLE["group"] == "metric"], {}, "Gender"),
            "trade_off, Gender: no rows of group 'similarity'; the table has metric",
        ),
        (
            lambda: trade_off(lose(TABLE.copy(), group="similarity"), {}, "Gender"),
            "no method has a value of a metric and of a similarity",
        ),
        (lambda: word_map([], {}, "Gender"), "word_map: nothing to draw, there are no maps"),
        (
            lambda: word_map(changed(model="glove-6b-50d"), {}, "Gender"),
            "maps of 2 models (glove-6b-50d, spacy-en-core-web-md-3.7.1); a figure has one",
        ),
        (
            lambda: word_map(changed(method="none"), {}, "Gender"),
            "two maps of one method; there are none, gender-ran, none",
        ),
        (
            lambda: word_map(changed(side=["other"] * 6), {}, "Gender"),
            "word_map: 3 sides; words have one of two",
        ),
        (
            lambda: word_map(changed(words=["w"]), {}, "Gender"),
            "'gender-hard' has words, side and xy of different lengths",
        ),
        (lambda: comparison(pd.DataFrame(columns=COMPARISON), {}, []), "the table is empty"),
        (
            lambda: quality_ranks(ranking_table(), quality_table([]), {}),
            "quality: nothing to draw, the table is empty",
        ),
    ],
)
def test_what_cannot_be_drawn_is_one_line(draw, says):
    with refused(says):
        draw()
