"""The figure of covariates: what it shows, on any numbers."""

import itertools
import math

import pandas as pd
import pytest
from artists import assert_readable, intervals_of, texts, unwrapped

from biasgrid.figures.covariates import FIGURES, HEADS, REASONS, covariates
from biasgrid.study.study import Study
from biasgrid.tables.covariates import ALIKE, COVARIATE_ALIKE, COVARIATES, EXPLAINED, FEW

LABELS = {
    "weat": "WEAT",
    "mac": "MAC",
    "one": "GloVe 840B 300d (filtered, 33,860 words)",
    "two": "word2vec skip-gram 30d, trained here on the Brown corpus",
    "hard": "Hard debias",
    "text": "Brown corpus",
}
UNITS = [("one", "none"), ("one", "hard"), ("two", "none")]
LOG = ("words", "log_frequency", "")


def rows(metrics, units, heads=(LOG,), value=0.4, half=0.2, corpora=("text",), source="rank"):
    """Rows of the table, one per method; of PMI one per corpus."""
    found = []
    for metric, (model, debias), (of, covariate, given) in itertools.product(metrics, units, heads):
        for corpus in corpora if "pmi" in (covariate, given) else [""]:
            place = {"criterion": "C", "metric": metric, "model": model, "debias": debias, "of": of}
            place |= {
                "covariate": covariate,
                "given": given,
                "corpus": corpus,
                "corpus_metric": corpus and "pmi",
            }
            place |= {"source": source, "n": 9, "units": 9, "higher": "a higher number", "reason": ""}
            numbers = {"correlation": value, "ci_low": value - half, "ci_high": value + half}
            found += [place | numbers | {"method": method} for method in ("pearson", "spearman")]
    return pd.DataFrame(found, columns=COVARIATES.names)


def marks(axes):
    """(correlation, whether the mark is open) of each mark of a panel, from the top."""
    found = []
    for line in axes.lines:
        if line.get_linestyle() == "None":
            found += [(y, x, line.get_markerfacecolor() == "white") for x, y in line.get_xydata()]
    return [(x, is_open) for _, x, is_open in sorted(found)]


def drawn(table, metrics, units=UNITS, corpora=None):
    return covariates(table, LABELS, "C", [(metric, units) for metric in metrics], corpora or {})


@pytest.mark.slow
def test_a_panel_has_a_mark_and_an_interval_per_metric_and_model():
    table = pd.concat([rows(["weat"], UNITS), rows(["mac"], UNITS[:2], value=-0.1)])
    figure = drawn(table, ["weat", "mac"])
    assert_readable(figure)
    (axes,) = figure.axes
    assert marks(axes) == [(0.4, False)] * 3 + [(-0.1, True)] * 2
    assert intervals_of(axes) == [pytest.approx((-0.3, 0.1))] * 2 + [pytest.approx((0.2, 0.6))] * 3
    said = unwrapped(figure)
    assert {"WEAT", "MAC", "Words: log frequency", LABELS["one"], f"{LABELS['one']} + Hard debias"} <= set(
        said
    )
    assert any("have the order of their words in place of frequencies" in text for text in said)
    proxy = drawn(rows(["weat"], UNITS, source="wordfreq"), ["weat"])
    assert any("wordfreq, a proxy" in text for text in unwrapped(proxy))
    counted = drawn(rows(["weat"], UNITS, source="counts"), ["weat"])
    assert not any("proxy" in text or "order of their words" in text for text in unwrapped(counted))


@pytest.mark.slow
def test_what_has_no_correlation_is_said_in_place_of_a_mark():
    few = {"correlation": math.nan, "ci_low": math.nan, "ci_high": math.nan}
    missing = rows(["mac"], UNITS, HEADS).assign(**few, reason="fewer than 5 different words or sets")
    table = pd.concat([rows(["weat"], UNITS), missing])
    figure = drawn(table, ["weat", "mac"])
    assert_readable(figure)
    # a covariate without any has no panel
    (axes,) = figure.axes
    assert len(marks(axes)) == 3
    assert texts(axes).count("fewer than 5") == 3
    assert set(REASONS) == {FEW, ALIKE, COVARIATE_ALIKE, EXPLAINED}
    empty = drawn(table.assign(correlation=math.nan), ["weat", "mac"])
    assert any(text.startswith("Nothing to draw") for text in texts(empty))
    assert any(text.startswith("Nothing to draw") for text in texts(drawn(table.iloc[:0], ["weat"])))


def test_an_interval_that_its_mark_hides_is_a_number():
    (axes,) = drawn(
        pd.concat([rows(["weat"], UNITS[:1], half=0.02), rows(["mac"], UNITS[:1])]), ["weat", "mac"]
    ).axes
    assert [text for text in unwrapped(axes) if "±" in text] == ["±.02"]


def test_models_that_are_left_out_are_named():
    units = [(metric, UNITS[:1]) for metric in ("weat", "mac")]
    figure = covariates(rows(["weat", "mac"], UNITS[:1]), LABELS, "C", units, {}, ["two"])
    assert f"frequencies of their words are not known: {LABELS['two']}." in " ".join(unwrapped(figure))


@pytest.mark.slow
def test_each_covariate_has_a_panel():
    metrics = ["weat", "mac"]
    figure = drawn(rows(metrics, UNITS, HEADS), metrics)
    assert_readable(figure)
    pmi = {f"{head} (Brown corpus)" for (_, *of), head in HEADS.items() if "pmi" in of}
    plain = {head for (_, *of), head in HEADS.items() if "pmi" not in of}
    assert pmi | plain <= set(unwrapped(figure))
    assert len(figure.axes) == len(HEADS)
    # a metric that no covariate of a panel is of
    figure = drawn(pd.concat([rows(["weat"], UNITS, HEADS), rows(["mac"], UNITS)]), metrics)
    assert [texts(axes).count("–") for axes in figure.axes] == [0] + [1] * (len(HEADS) - 1)


@pytest.mark.slow
def test_a_model_stands_beside_the_corpus_that_it_is_trained_on():
    table = rows(
        ["weat"], [("one", "none"), ("two", "none")], [("words", "pmi", "")], corpora=("text", "other")
    )
    figure = drawn(table, ["weat"], corpora={"two": "text"})
    heads = ["Words: PMI (own corpus)", "Words: PMI (Brown corpus)", "Words: PMI (other)"]
    assert set(heads) <= set(unwrapped(figure))
    assert [len(marks(axes)) for axes in figure.axes] == [1, 1, 1]


def test_a_study_has_one_per_criterion_whose_frequencies_are_known():
    groups = {"targets": {"A": ["he"], "B": ["she"]}}
    queries = {
        name: groups | {"attributes": {name: [f"w{i}" for i in range(n)]}} for name, n in (("q", 5), ("r", 4))
    }
    config = {
        "study": "s",
        "models": {
            name: {"label": name, "source": {"type": "file", "path": f"{name}.txt"}, "sorted": name == "one"}
            for name in ("one", "two")
        },
        "criteria": {"Enough": {"queries": {"q": queries["q"]}}, "Few": {"queries": {"r": queries["r"]}}},
        "metrics": {"rnd": {}, "ect": {}},
    }
    (kind,) = FIGURES
    study = Study.of(config)
    (drawing,) = kind.drawings_of(study)
    assert drawing.inputs == {"covariates": study.paths.table_file("covariates")}
    assert drawing.spec["criterion"] == "Enough"
    assert drawing.spec["rows"] == [["rnd", [["one", "none"]]], ["ect", [["one", "none"]]]]
    assert drawing.spec["unknown"] == ["two"]
    del config["models"]["one"]
    assert not list(kind.drawings_of(Study.of(config)))
