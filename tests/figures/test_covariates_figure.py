"""The figure of covariates: what it shows, on any numbers."""

import itertools
import math

import pandas as pd
import pytest
from artists import assert_readable, texts, unwrapped

from biasgrid.figures.covariates import FIGURES, HEADS, covariates
from biasgrid.figures.frame import PAGE
from biasgrid.plan.study import Study
from biasgrid.tables.covariates import COVARIATES

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
    """(correlation, interval, whether the mark is open) of each mark of a panel, from the top."""
    dashed, *lines = axes.lines[-1:] + axes.lines[:-1]
    assert set(dashed.get_xdata()) == {0}
    return [
        (mark.get_xdata()[0], tuple(line.get_xdata()), mark.get_markerfacecolor() == "white")
        for line, mark in zip(lines[::2], lines[1::2], strict=True)
    ]


def drawn(table, metrics, units=UNITS, corpora=None):
    return covariates(table, LABELS, "C", [(metric, units) for metric in metrics], corpora or {})


def test_a_panel_has_a_mark_and_an_interval_per_metric_and_model():
    table = pd.concat([rows(["weat"], UNITS), rows(["mac"], UNITS[:2], value=-0.1)])
    figure = drawn(table, ["weat", "mac"])
    assert_readable(figure)
    (axes,) = figure.axes
    first, second = (0.4, (0.2, pytest.approx(0.6)), False), (-0.1, (pytest.approx(-0.3), 0.1), True)
    assert marks(axes) == [first] * 3 + [second] * 2
    said = unwrapped(figure)
    assert {"WEAT", "MAC", "Words: log frequency", LABELS["one"], f"{LABELS['one']} + Hard debias"} <= set(
        said
    )
    assert any("have the order of their words in place of frequencies" in text for text in said)
    proxy = drawn(rows(["weat"], UNITS, source="wordfreq"), ["weat"])
    assert any("wordfreq, a proxy" in text for text in unwrapped(proxy))
    counted = drawn(rows(["weat"], UNITS, source="counts"), ["weat"])
    assert not any("proxy" in text or "order of their words" in text for text in unwrapped(counted))


def test_what_has_no_correlation_has_no_mark_and_no_panel():
    table = pd.concat([rows(["weat"], UNITS), rows(["mac"], UNITS, HEADS, value=math.nan)])
    (axes,) = drawn(table, ["weat", "mac"]).axes
    assert len(marks(axes)) == 3
    empty = drawn(table.assign(correlation=math.nan), ["weat", "mac"])
    assert any(text.startswith("Nothing to draw") for text in texts(empty))
    assert any(text.startswith("Nothing to draw") for text in texts(drawn(table.iloc[:0], ["weat"])))


def test_all_panels_fit_on_a_page():
    metrics = ["weat", "mac"]
    figure = drawn(rows(metrics, UNITS, HEADS), metrics)
    assert_readable(figure)
    assert figure.get_size_inches()[0] <= PAGE[0] + 1e-9
    pmi = {f"{head} (Brown corpus)" for (_, *of), head in HEADS.items() if "pmi" in of}
    plain = {head for (_, *of), head in HEADS.items() if "pmi" not in of}
    assert pmi | plain <= set(unwrapped(figure))
    assert len(figure.axes) == len(HEADS)


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
    del config["models"]["one"]
    assert not list(kind.drawings_of(Study.of(config)))
