"""The two figures of WEFE's case study, drawn from the numbers that were printed: each number is where it belongs."""

import numpy as np
import pandas as pd
import pytest
from artists import assert_readable, not_laid_out, texts
from conftest import ROOT
from matplotlib.text import Annotation
from refusals import refused

import biasgrid as bg
from biasgrid.figures.text import topic

pytestmark = pytest.mark.slow
LABELS = {"weat": "WEAT", "weat_es": "WEAT-ES", "rnd": "RND", "rnsb": "RNSB"}
CRITERIA = {"Gender", "Ethnicity", "Religion", "Overall"}


def printed(name):
    """(criterion, metric, model) -> the number, read without the library."""
    table = pd.read_csv(ROOT / "data" / "published" / f"{name}.csv", keep_default_na=False)
    return {(row.criterion, row.metric, row.model): row.published for row in table.itertuples()}


def segments(figure):
    """(criterion, metric, model) -> how long its segment is; and what is written in the segments."""
    lengths, written = {}, {}
    for axes in figure.axes:
        criterion = axes.get_title(loc="left")
        models = ["".join(label.get_text().split()) for label in axes.figure.axes[0].get_yticklabels()]
        for container in axes.containers:
            for bar in container:
                row = round(bar.get_y() + bar.get_height() / 2)
                key = criterion, container.get_label(), models[row]
                lengths[key] = bar.get_width()
                middle = bar.get_x() + bar.get_width() / 2
                (written[key],) = (
                    text.get_text()
                    for text in axes.texts
                    if text.get_position() == pytest.approx((middle, row)) and text.get_ha() == "center"
                )
    return lengths, written


def test_the_stacked_ranks_are_those_that_were_printed():
    figure = bg.published("case_study").plot("rankings-by-criterion")
    expected = {
        (topic(c), LABELS[metric], model): rank
        for (c, metric, model), rank in printed("case_study_ranks").items()
    }
    lengths, written = segments(figure)
    assert len(expected) == 112
    assert lengths == expected
    assert {key: float(text) for key, text in written.items()} == expected
    assert any("WEFE case study" in text for text in texts(figure))
    assert_readable(figure)
    # the sums are at the ends, the least on top
    overall = bg.published("case_study").plot("rankings").axes
    assert [axes.get_title(loc="left") for axes in overall] == ["All topics"]
    sums = [int(text.get_text()) for text in overall[0].texts if text.get_weight() == "bold"]
    by_model = {}
    for (criterion, _, model), rank in expected.items():
        by_model[model] = by_model.get(model, 0) + rank * (criterion == "All topics")
    assert sums == sorted(by_model.values())


def test_the_correlations_are_those_that_were_printed():
    figure = bg.published("case_study").plot("correlations")
    expected = {}
    for (criterion, pair, _), value in printed("case_study_correlations").items():
        expected[topic(criterion), frozenset(LABELS[key] for key in pair.split("~"))] = value
    assert len(expected) == 24
    shades, written = {}, {}
    for axes in figure.axes:
        criterion = axes.get_title(loc="left").removesuffix(", n = 7 models")
        if criterion not in map(topic, CRITERIA):
            continue
        rows = [label.get_text() for label in axes.yaxis.get_ticklabels()]
        # above the first cell of each column
        columns = [text.get_text() for text in axes.texts if isinstance(text, Annotation)]
        cells = np.ma.filled(axes.collections[0].get_array().reshape(3, 3), np.nan)
        for text in axes.texts[: -len(columns)]:
            column, row = (int(x) for x in text.get_position())
            key = criterion, frozenset((rows[row], columns[column]))
            shades[key] = cells[row, column]
            written[key] = text.get_text()
    assert shades == pytest.approx(expected)
    # two decimals, as statistics write what is at most 1
    assert {
        key: float(text.replace("\N{MINUS SIGN}", "-")) for key, text in written.items()
    } == pytest.approx(expected, abs=0.005)
    assert_readable(figure)


@not_laid_out()
def test_a_study_of_the_papers_models_stands_beside_it():
    paper = bg.published("case_study")
    ranked = paper.frame[paper.frame["quantity"] == "rank"]
    rng = np.random.default_rng(0)
    sets = {name: [f"{name}{i}" for i in range(6)] for name in "abcd"}
    words = [word for of_set in sets.values() for word in of_set]
    models = {key: bg.load(rng.normal(size=(24, 8)), words=words) for key in ranked["model"].unique()}
    query = bg.Query([sets["a"], sets["b"]], [sets["c"], sets["d"]])
    queries = {criterion: [query] for criterion in sorted(CRITERIA - {"Overall"})}
    grid = bg.measure_grid(list(LABELS), queries, models, progress=False)
    lengths, _ = segments(paper.plot("rankings", beside=grid))
    ours = grid.frame("rankings")
    expected = {
        ("All topics, this study", LABELS[row.metric], row.model): row.rank
        for row in ours[ours["criterion"] == "Overall"].itertuples()
    }
    expected |= {
        ("All topics, published", LABELS[row.metric], row.model): row.published
        for row in ranked[ranked["criterion"] == "Overall"].itertuples()
    }
    assert lengths == expected
    heads = [axes.get_title(loc="left") for axes in paper.plot("correlations", beside=grid).axes]
    assert [head for head in heads if head.startswith("Ethnicity")] == [
        "Ethnicity, published, n = 7 models",
        "Ethnicity, this study, n = 7 models",
    ]
    few = bg.measure_grid(list(LABELS), queries, dict(list(models.items())[:3]), progress=False)
    with pytest.raises(bg.BiasgridError, match="has no printed rank of just the models beside it"):
        paper.plot(beside=few)


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("case_studies", "rankings", "unknown paper 'case_studies'; did you mean 'case_study'"),
        ("caliskan", "rankings", "plot: caliskan has no printed rank"),
        ("case_study", "scores", "unknown kind of figure 'scores'; allowed: rankings"),
    ],
)
def test_what_was_not_printed_is_one_line(name, kind, says):
    with refused(says):
        bg.published(name).plot(kind)


def test_a_file_of_another_ending_is_refused_before_anything_is_drawn(tmp_path):
    with pytest.raises(bg.BiasgridError, match=r"names that end in \.png"):
        bg.published("case_study").plot(path=tmp_path / "figure.gif")
    bg.published("case_study").plot(path=tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").stat().st_size
