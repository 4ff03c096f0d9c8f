"""A finished study says the same wherever it is read: on its page, by `least_biased`, by `summary()`, in the last
lines of a run, and by the figure of ranks. What it says is read off its tables by code of the test's own.
"""

import html
import os
import re

import finished_study
import pandas as pd
import pytest
import small_page
from conftest import GRID_WORDS, grid_config, write_text_model
from in_process import make

from biasgrid import Grid, open_study
from biasgrid.figures.drawing import order_of
from biasgrid.figures.frame import caption
from biasgrid.figures.palette import model_looks, ordered
from biasgrid.report import render
from biasgrid.report.report_step import report_step
from biasgrid.study.study import Study
from biasgrid.tables.conclusions.card import Card
from biasgrid.tables.conclusions.summary import Conclusion
from biasgrid.workflow import run_summary

pytestmark = pytest.mark.slow

LIMIT = 0.05
PAIRS_COMPARED = 20  # of four metrics: by MAC, models are not compared
NUMBERS = ["none", "one", "two", "three", "four", "five", "six"]
LABELS = {"weat": "WEAT", "mac": "MAC", "rnd": "RND", "rnsb": "RNSB", "cosine": "RND (cosine)"}
OF_PAGE = {"weat": "WEAT", "weat_es": "WEAT-ES", "rnd": "RND", "mac": "MAC", "ect": "ECT"}


@pytest.fixture(scope="module")
def study():
    """A study with random groups, so that some of its models are shown to be different."""
    before = os.getcwd()
    project = finished_study.finished()
    os.chdir(project.folder)
    try:
        yield Study.read("config/config.yaml")
    finally:
        os.chdir(before)


@pytest.fixture(scope="module")
def study_of_page(tmp_path_factory):
    folder, before = tmp_path_factory.mktemp("agreement"), os.getcwd()
    os.chdir(folder)
    try:
        yield small_page.measured(folder, {"one": 0, "two": 4, "three": 2}, draws=199)
    finally:
        os.chdir(before)


def expected(study):
    """(criterion, metric) -> the ranked models in their order, pairs that differ (the less biased first), and the
    model that is clearly the least biased, or "": from rankings.csv and pairs.csv."""
    rankings, pairs = (pd.read_csv(study.paths.table_file(name)) for name in ("rankings", "pairs"))
    rankings, pairs = rankings[rankings["debias"] == "none"], pairs[pairs["family"] == "models"]
    verdicts = {}
    for place, rows in rankings.groupby(["criterion", "metric"]):
        ranked = rows.dropna(subset=["rank_shared"]).sort_values(["rank_shared", "model"])
        of_place = pairs[(pairs[["criterion", "metric"]] == list(place)).all(axis=1)]
        differ, comparable = set(), set()
        for pair in of_place.dropna(subset=["p_adjusted"]).itertuples():
            low, high = (pair.model_a, pair.model_b) if pair.difference < 0 else (pair.model_b, pair.model_a)
            comparable |= {(low, high), (high, low)}
            if pair.p_adjusted <= LIMIT and pair.difference:
                differ.add((low, high))
        models = rows.dropna(subset=["value"])["model"]
        rivals = {model: [m for m in models if (model, m) in comparable] for model in models}
        least = [m for m, of_m in rivals.items() if of_m and all((m, rival) in differ for rival in of_m)]
        verdicts[place] = ranked["model"].tolist(), differ, least[0] if len(least) == 1 else ""
    return verdicts


def winners(verdicts, criteria):
    """(criterion, model) -> metrics by which it is clearly the least biased, in the order of the study."""
    found = {}
    for (criterion, metric), (*_, least) in verdicts.items():
        if least and (criterion in criteria):
            found.setdefault((criterion, least), []).append(metric)
    return found


def check_answer(text, verdicts, end="."):
    """Check that a text names the model that is clearly the least biased, and according to how many metrics."""
    # by MAC, models are not compared
    total = sum(criterion == "Overall" and metric != "mac" for criterion, metric in verdicts)
    [((_, model), metrics)] = winners(verdicts, ["Overall"]).items()
    assert 0 < len(metrics) < total
    by = LABELS[metrics[0]] if len(metrics) == 1 else f"{NUMBERS[len(metrics)]} of {NUMBERS[total]} metrics"
    assert f"Model <{model}> is clearly the least biased according to {by}{end}" in text


def check_summary(study, verdicts):
    check_answer(" ".join(open_study(study.results).summary().split()), verdicts)


def check_terminal(study, verdicts):
    check_answer(" ".join(" ".join(run_summary.conclusions(study)).split()), verdicts)


def check_page_sentences(study, verdicts):
    cards = page_of(study).partition('<div class="cards-of-study">')[2].partition('<dl class="notes">')[0]
    text = " ".join(re.sub(r"</?(b|p|article|h3|details|summary)\b[^<>]*>", " ", cards).split())
    check_answer(text, verdicts, end=" ")
    compared = {place: verdict for place, verdict in verdicts.items() if place[1] != "mac"}
    differ = sum(len(pairs) for _, pairs, _ in compared.values())
    assert f"Of {PAIRS_COMPARED} comparisons of two models, {differ} find a clear difference" in text
    single = winners(compared, {criterion for criterion, _ in compared} - {"Overall"})
    if len(single) > 3:
        count, total = (
            sum(map(len, single.values())),
            sum(criterion != "Overall" for criterion, _ in compared),
        )
        assert f"one model is clearly lowest in {count} of {total} rankings." in text
    else:
        for criterion, model in single:
            assert f"On {criterion}, Model <{model}> is clearly lowest according to" in text


def check_least_biased(study, verdicts):
    table = open_study(study.results).least_biased()
    found = {(row.criterion, row.metric): row for row in table.itertuples()}
    assert found.keys() == verdicts.keys()
    for place, (_, _, least) in verdicts.items():
        assert found[place].decided == bool(least), place
        assert not least or found[place].model == least


def check_page_models(study, verdicts):
    """Check what stands below the marks of each topic and metric, and the ring."""
    picture = page_of(study).partition('<table class="models-picture"')[2].partition("</table>")[0]
    count = 0
    for name, row in re.findall(
        r'<th scope="row">([\w ]+)<small>.*?</small></th>(.*?)</tr>', picture, re.DOTALL
    ):
        criterion = {"All topics": "Overall"}.get(name, name)
        for label, cell in re.findall(r'<td data-metric="([^"]+)">(.*?)</td>', row, re.DOTALL):
            metric = next(key for key, value in LABELS.items() if value == label)
            order, differ, least = verdicts[criterion, metric]
            kind, text = re.search(r'<p class="says( clear)?">(.*?)</p>', cell).groups()
            count += 1
            if metric == "mac":
                assert text == "not comparable across models"
                continue
            assert (text == f"Model <{least}> is clearly lowest") == bool(least) == bool(kind)
            assert ("clearly" in text) == bool(differ)
            assert cell.count('class="ring"') == bool(least)
            # a mark of each ranked model, if the metric has the common scale for it
            assert set(re.findall(r"<title>Model <(\w+)>", cell)) <= set(order)
    assert count == len(verdicts)


def check_page_looks(study, verdicts):
    """Check that models have on the page the names and colours that they have in figures."""
    page = page_of(study)
    with ordered(order_of(study.config)):
        looks = model_looks(study.models)
    colours = re.search(r"<style>:root \{ (--m0.*?)\}", page)[1]
    names = re.findall(r"<li title=.*?<svg.*?</svg>(.*?)</li>", page)[: len(looks)]
    assert names == [study.labels[key] for key in study.models]
    assert re.findall(r"#\w{6}", colours) == [looks[key]["color"] for key in study.models]


def check_page_metrics(study, verdicts):
    """Check that the page has metrics in the order of the study."""
    metrics = [LABELS[key] for key in study.config.metrics if key in {metric for _, metric in verdicts}]
    page = page_of(study)
    form = page.partition('<form class="switch"')[2].partition("</form>")[0]
    assert [name for name in re.findall(r"<input[^>]*>([^<]+)</label>", form) if name in metrics] == metrics
    head = page.partition('<table class="models-picture"')[2].partition("</thead>")[0]
    assert re.findall(r'<th scope="col">([^<]+)<svg', head) == metrics


def check_note_of_the_figure(study, verdicts):
    """The caption of the figure of ranks names the models that clearly differ."""
    for criterion in {criterion for criterion, _ in verdicts}:
        figure = open_study(study.results).plot("rank-intervals", criterion=criterion)
        note = caption(figure)
        of_criterion = {
            metric: pairs for (name, metric), (_, pairs, _) in verdicts.items() if name == criterion
        }
        differ = {(metric, *pair) for metric, pairs in of_criterion.items() for pair in pairs}
        named = {
            (metric, a, b)
            for metric, label in LABELS.items()
            for a, others in re.findall(
                rf"Model <(\w+)> from ([^;]*?) according to {re.escape(label)}[;.]", note
            )
            for b in re.findall(r"Model <(\w+)>", others)
        }
        assert named == differ
        assert ("No two models clearly differ" in note) == (not differ)


def page_of(study):
    return html.unescape(study.paths.report_file.read_text(encoding="utf-8"))


CHECKS = [
    check_summary,
    check_terminal,
    check_page_sentences,
    check_least_biased,
    check_page_models,
    check_page_looks,
    check_page_metrics,
    check_note_of_the_figure,
]


@pytest.fixture(scope="module")
def verdicts(study):
    return expected(study)


@pytest.mark.parametrize("check", CHECKS)
def test_a_study_says_the_same_everywhere(study, verdicts, check):
    # some are decided, and some are not
    assert {bool(least) for *_, least in verdicts.values()} == {True, False}
    check(study, verdicts)


def test_page_terminal_and_python_say_what_one_function_says(study, monkeypatch):
    printed = open_study(study.results).summary()
    assert repr(printed) == str(printed) == "\n".join(run_summary.conclusions(study))
    assert max(map(len, printed.splitlines())) <= 80
    card = Card("Bias", "Is there bias?", "1 of 2", "toys show bias", ("A sentence of a test.",))
    other = Conclusion("A title", "A headline", "A subtitle.", (card,), {"Missing": ("Nothing is.",)})
    for target in ("biasgrid.tables.read_conclusions.conclude", "biasgrid.report.sections.section.conclude"):
        monkeypatch.setattr(target, lambda *arguments: other)
    made = report_step(study)
    page = render.render(made.inputs, made.spec)
    texts = [page, "\n".join(run_summary.conclusions(study)), str(Grid(study).summary())]
    for text in ("A title", "A headline", "A subtitle.", "A sentence of a test.", "Nothing is."):
        assert all(text in said for said in texts)
    assert f"<h1>{other.headline}</h1>" in page


def test_the_pages_correlations_are_those_of_the_table(study_of_page):
    found = pd.read_csv(study_of_page.paths.table_file("correlations")).query("method == 'spearman'")
    expected = found[found["criterion"] == "First"].set_index(["metric_a", "metric_b"])["correlation"]
    part = page_of(study_of_page).partition('<section id="agreement"')[2].partition("</section>")[0]
    (table,) = re.findall(r"<h3>First</h3>.*?<tbody>(.*?)</tbody>", part, re.DOTALL)
    row = r'<tr data-metrics="(\w+) (\w+)">.*?aria-label="(\S+) \[[^"]+\]".*?<td class="n">(\d+)</td>'
    rows = re.findall(row, table)
    assert len(rows) == len(OF_PAGE) * (len(OF_PAGE) - 1) / 2
    for a, b, value, n in rows:
        assert float(value.replace("−", "-")) == pytest.approx(expected[a, b], abs=0.006)
        # four models, and three debiased ones
        assert n == "7"


def test_the_picture_of_models_names_those_that_it_shows(study_files):
    """And not a model without a rank, which lacks all words of a set in each query."""
    write_text_model(study_files / "one.txt", GRID_WORDS, seed=1)
    write_text_model(study_files / "two.txt", GRID_WORDS, seed=2)
    write_text_model(study_files / "bare.txt", [word for word in GRID_WORDS if word[0] not in "ac"])
    config = grid_config() | {"metrics": {"weat": {}}, "inference": {"bootstrap": {"draws": 20}}}
    source = {"type": "file", "path": "bare.txt"}
    study = make(
        Study.of(config | {"models": config["models"] | {"bare": {"label": "Bare", "source": source}}})
    )
    picture = page_of(study).partition('class="models-picture"')[0].rpartition("<section")[2]
    assert re.findall(r"<li title=.*?<svg.*?</svg>(.*?)</li>", picture) == ["Model one", "Model two"]
