"""The picture of what is biased: a mark per query and model, on pages that can be printed."""

import numpy as np
import pandas as pd
import pytest
from artists import assert_readable, entries, marks_of, texts, unwrapped
from conftest import grid_config

from biasgrid import figures
from biasgrid.core.in_memory import InMemory
from biasgrid.figures import Drawing
from biasgrid.figures.bias import bias
from biasgrid.figures.frame import PAGE
from biasgrid.figures.palette import model_looks
from biasgrid.measure.evidence import ALL, NONE, PERMUTATION, UNTESTED
from biasgrid.study.study import Study
from biasgrid.tables.conclusions.headline import LONGEST_HEADLINE


def table(models=3, queries=4, metrics=("weat",), criteria=("Gender",), evidence=NONE, name="A and B wrt {}"):
    """Scores of so many models and queries a criterion; the later a query, the more bias."""
    chance = np.random.default_rng(0)
    rows = [
        {
            "criterion": criterion,
            "query": name.format(f"C{query} and D{query}"),
            "query_id": f"{criterion}{query}",
            "metric": metric,
            "model": f"m{model:02}",
            "debias": "none",
            "value": 0.1 * query,
            "standardized": query - 1 + chance.uniform(0, 0.5),
            "evidence": evidence,
            "tests": 0 if evidence == UNTESTED else 2,
            "p_lowest": 0.001,
            "p_groups": 0.5,
        }
        for criterion in criteria
        for query in range(queries)
        for metric in metrics
        for model in range(models)
    ]
    return pd.DataFrame(rows)


def drawn(scores, labels=None, neutral=(), **options):
    queries = dict(zip(scores["query_id"], scores["query"], strict=True))
    criteria, metrics = list(scores["criterion"].unique()), list(scores["metric"].unique())
    return bias(scores, labels or {}, criteria, metrics, queries, neutral, **options)


def title_of(figure):
    return figure.texts[0].get_text()


def places(figure):
    """Marker, colour and value of every mark."""
    return [(*look, x) for axes in figure.axes for look, (x, _) in marks_of(axes)]


@pytest.mark.slow
@pytest.mark.parametrize(("models", "queries"), [(1, 1), (1, 100), (4, 25), (20, 3)])
def test_every_score_is_a_mark_in_its_models_look(models, queries):
    scores = table(models, queries)
    figure = drawn(scores)
    looks = model_looks(scores["model"])
    expected = [
        (looks[row.model]["marker"], looks[row.model]["color"].lower(), row.standardized)
        for row in scores.itertuples()
    ]
    assert sorted(places(figure)) == sorted(expected)


def test_filled_marks_are_clear_evidence_and_the_legend_says_so():
    scores = table(2, 2)
    scores.loc[0, "evidence"], scores.loc[1, "evidence"] = ALL, PERMUTATION
    figure = drawn(scores)
    filled = [
        line.get_xdata().tolist()
        for axes in figure.axes
        for line in axes.lines
        if line.get_linestyle() == "None" and line.get_markerfacecolor() != "white"
    ]
    assert filled == [[scores.loc[0, "standardized"]]]
    assert entries(figure)[2:] == [
        "filled: clear evidence, significant in every test",
        "open: no clear evidence",
    ]


@pytest.mark.slow
def test_the_title_is_the_finding_and_names_the_metric_where_another_finds_more():
    weak, clear = table(2, 2, ["weat"]), table(2, 2, ["mac"], evidence=ALL)
    assert title_of(drawn(clear)) == "Clear evidence of Gender bias in both models"
    both = pd.concat([weak, clear], ignore_index=True)
    assert title_of(drawn(both)) == "weat: no query shows clear evidence of bias"
    assert title_of(drawn(both, metric="mac")) == "Clear evidence of Gender bias in both models"
    labels = {"weat": "A metric of a name in seven words"}
    weak["evidence"] = PERMUTATION
    both = pd.concat([weak, clear], ignore_index=True)
    for figure in (drawn(both), drawn(both, {"weat": "WEAT"}), drawn(both, labels)):
        assert "weak evidence of bias" in title_of(figure)
    assert len(title_of(drawn(both, {"weat": "WEAT"})).split()) <= LONGEST_HEADLINE


def test_the_first_metric_with_values_is_drawn():
    scores = table(2, 2, ["weat", "rnd"])
    scores.loc[scores["metric"] == "weat", ["value", "standardized"]] = np.nan
    figure = drawn(scores, {"rnd": "RND"})
    assert figure.texts[1].get_text() == "Bias according to RND"
    assert figure.axes[-1].get_xlabel() == "standard deviations above the random-word baseline"
    scores["value"] = np.nan
    figure = drawn(scores)
    assert not figure.axes
    assert title_of(figure) == "No score could be computed"


def test_without_a_baseline_values_are_distances_from_no_bias():
    scores = table(2, 2).assign(standardized=np.nan, value=[0.5, 1.5, 1.25, 1.0])
    figure = drawn(scores, neutral=[("Gender", "weat", 1.0)])
    assert sorted(x for *_, x in places(figure)) == pytest.approx([0, 0.25, 0.5, 0.5])
    assert "distance from the no-bias value, on the metric's own scale" in unwrapped(figure)


def config(models=2, queries=100, groups=True):
    made = grid_config()
    words = made["criteria"]["First"]["queries"]["q1"]
    made["criteria"] = {
        criterion: {
            "queries": {
                f"{criterion[0]}{i}": {
                    side: {f"{name} {i}": sets for name, sets in words[side].items()}
                    for side in ("targets", "attributes")
                }
                for i in range(queries // 2)
            }
        }
        for criterion in ("First", "Second")
    }
    made["models"] = {
        f"m{i}": {"label": f"Model {i}", "source": {"type": "file", "path": f"{i}.txt"}}
        for i in range(models)
    }
    made["metrics"] = {"weat": {}, "mac": {}, "weat_es": {}}
    made["inference"] = {"random_groups": {"draws": 99}} if groups else {}
    return made | {"figures": ["bias"]}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*repeats")
@pytest.mark.parametrize("models", [1, 4, 20])
def test_a_hundred_queries_are_pages_that_can_be_printed(root, models):
    study = Study.of(config(models), root=root)
    pages = list(study.figures.values())
    assert [page.name for page in pages] == ["bias", *(f"bias-{i}" for i in range(2, len(pages) + 1))]
    names = {
        (criterion, i): query.name
        for criterion in ("First", "Second")
        for i, query in enumerate(study.queries[key] for key in study.config.criteria[criterion].queries)
    }
    scores = pd.concat(
        table(models, 1).assign(
            **{"criterion": criterion, "query": name, "query_id": f"{criterion}{i}", "standardized": 50.0 - i}
        )
        for (criterion, i), name in names.items()
    )
    found = []
    for page in pages:
        figure = figures.draw(
            Drawing(page.name, {"scores": InMemory(("scores",), scores)}, page.spec, page.kind, page.order)
        )
        assert figure.get_figwidth() == PAGE[0]
        assert figure.get_figheight() <= PAGE[1]
        found += places(figure)
        if page is pages[0]:
            assert_readable(figure)
            assert any(": queries 1 to " in text for text in texts(figure))
    # each score once
    assert len(found) == len(scores)
