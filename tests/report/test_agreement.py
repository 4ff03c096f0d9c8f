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

from biasgrid import Grid, open_study
from biasgrid.plan.study import Study
from biasgrid.report import step
from biasgrid.report.report_step import report_step
from biasgrid.workflow import conclusions

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


def check_text(text, verdicts):
    """Whether a summary counts by how many metrics a model is clearly the least biased, and on single criteria."""
    # by MAC, models are not compared
    verdicts = {place: verdict for place, verdict in verdicts.items() if place[1] != "mac"}
    together = [least for (c, _), (*_, least) in verdicts.items() if c == "Overall"]
    (model,) = {least for least in together if least}
    count = len(list(filter(None, together)))
    assert 0 < count < len(together)
    assert (
        f"Over all topics, Model <{model}> is clearly the least biased according to {NUMBERS[count]} of "
        f"{NUMBERS[len(together)]} metrics"
    ) in text
    single = [least for (c, _), (*_, least) in verdicts.items() if c != "Overall"]
    assert f"clearly the least biased in {len(list(filter(None, single)))} of {len(single)} cases" in text
    differ = sum(len(pairs) for _, pairs, _ in verdicts.values())
    assert (
        f". {differ} of {PAIRS_COMPARED} comparisons of two models on these queries find them different"
        in text
    )


def check_summary(study, verdicts):
    check_text(" ".join(open_study(study.results).summary().split()), verdicts)


def check_terminal(study, verdicts):
    check_text(" ".join(" ".join(conclusions.conclusions(study)).split()), verdicts)


def check_page_sentences(study, verdicts):
    sentences = re.findall(r'<p class="says"><b>[\w ]+</b> (.*?)</p>', page_of(study))
    assert 0 < len(sentences) <= 6
    check_text(" ".join(sentences), verdicts)


def check_least_biased(study, verdicts):
    table = open_study(study.results).least_biased()
    found = {(row.criterion, row.metric): row for row in table.itertuples()}
    assert found.keys() == verdicts.keys()
    for place, (_, _, least) in verdicts.items():
        assert found[place].decided == bool(least), place
        assert not least or found[place].model == least


def check_page_grid(study, verdicts):
    """Ranks of raw values, models that are different, and verdicts of the page's grid."""
    count = 0
    for criterion, part in re.findall(
        r'<details class="panel".*?<h3>(.*?)</h3>(.*?)</details>', page_of(study), re.DOTALL
    ):
        decided, *rows = re.findall(
            r'<tr(?: data-model="\w+")?><th scope="row">(.*?)</th>(.*?)</tr>', part, re.DOTALL
        )
        for metric, (order, differ, least) in ((m, v) for (c, m), v in verdicts.items() if c == criterion):
            label = re.escape(LABELS[metric])
            (text,) = re.findall(rf'data-metric="{label}"><span class="verdict \w+">([^<]*)', decided[1])
            if metric == "mac":
                assert text == "not compared: no common zero"
                continue
            assert text == ("decided" if least else "not decided")
            ranks = {}
            for head, cells in rows:
                tile = re.search(
                    rf'<td class="tile ?(\w*)" data-metric="{label}">(.*?)</td>', cells, re.DOTALL
                )
                if tile is None:  # of another row than a model's
                    continue
                kind, cell = tile.groups()
                model = re.match(r"Model <(\w+)>", head)[1]
                others = re.search("<small>different from (.*?)</small>", cell)
                found = set(re.findall(r"Model <(\w+)>", others[1])) if others else set()
                if rank := re.match(r'<b class="rank">([\d.]+)</b>', cell):
                    ranks[model] = float(rank[1])
                    assert found == {other for pair in differ if model in pair for other in pair} - {model}
                    assert (kind == "decided") == (model == least)
            # twins have one rank
            assert sorted(ranks) == sorted(order)
            assert [ranks[model] for model in order] == sorted(ranks.values())
            count += 1
    assert count == sum(metric != "mac" for _, metric in verdicts)


def check_page_forest(study, verdicts):
    """The ranks that the page's forest says and draws."""
    forest = page_of(study).partition('<figure class="forest">')[2].partition("</figure>")[0]
    intervals = pd.read_csv(study.paths.table_file("rank_intervals")).query("criterion == 'Overall'")
    pictures = re.findall(
        r"<svg.*?<title[^>]*>([^:]*):.*?<desc[^>]*>(.*?)</desc>(.*?)</svg>", forest, re.DOTALL
    )
    assert {label for label, *_ in pictures} == {LABELS[m] for c, m in verdicts if c == "Overall"}
    for label, said, drawn in pictures:
        metric = next(key for key, name in LABELS.items() if name == label)
        order = verdicts["Overall", metric][0]
        rows = {
            name: tuple(map(float, numbers))
            for name, *numbers in re.findall(r"Model <(\w+)>: ([\d.]+) \(([\d.]+) to ([\d.]+)\)", said)
        }
        assert sorted(rows) == sorted(order)
        assert [rows[model][0] for model in order] == sorted(rank for rank, *_ in rows.values())
        of_metric = intervals[intervals["metric"] == metric]
        kind = next(kind for kind in ("both", "words", "queries") if kind in set(of_metric["resampled"]))
        for row in of_metric[of_metric["resampled"] == kind].itertuples():
            assert rows[row.model] == (row.rank, row.low, row.high)
        marks = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', drawn)]
        ranks = [rank for rank, *_ in rows.values()]
        last = max(high for *_, high in rows.values())
        assert marks == pytest.approx([155 + 92 * (rank - 1) / (last - 1) for rank in ranks], abs=0.06)


def check_note_of_the_figure(study, verdicts):
    """The note of the figure of ranks names the models that are different."""
    for criterion in {criterion for criterion, _ in verdicts}:
        figure = open_study(study.results).plot("rank-intervals", criterion=criterion)
        note = " ".join(figure.texts[1].get_text().split())
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
        assert ("No two models are shown to be different" in note) == (not differ)


def page_of(study):
    return html.unescape(study.paths.report_file.read_text(encoding="utf-8"))


CHECKS = [
    check_summary,
    check_terminal,
    check_page_sentences,
    check_least_biased,
    check_page_grid,
    check_page_forest,
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


def test_page_terminal_and_python_have_one_text(study, monkeypatch):
    def texts(page):
        said = re.findall(r'<p class="says"><b>([\w ]+)</b> (.*?)</p>', page)
        return [
            " ".join(f"{topic}: {sentence}" for topic, sentence in said),
            " ".join(" ".join(conclusions.conclusions(study)).split()),
            " ".join(Grid(study).summary().split()),
        ]

    page, terminal, python = texts(page_of(study))
    assert page == terminal == python
    printed = open_study(study.results).summary()
    assert repr(printed) == str(printed)
    assert max(map(len, printed.splitlines())) <= 80
    # all three are the one function's
    for target in ("biasgrid.tables.answers.summary", "biasgrid.report.sections.verdict.summary"):
        monkeypatch.setattr(target, lambda *arguments: {"Answer": "Other."})
    made = report_step(study)
    assert texts(step.render(made.inputs, made.spec)) == ["Answer: Other."] * 3


def test_the_pages_correlations_leave_debiased_models_out(study_of_page):
    rankings = pd.read_csv(study_of_page.paths.table_file("rankings"))
    both = {}
    for is_of_all in (False, True):
        rows = rankings[(rankings["criterion"] == "First") & (is_of_all | (rankings["debias"] == "none"))]
        both[is_of_all] = rows.pivot(index=["model", "debias"], columns="metric", values="rank").corr(
            "spearman"
        )
    part = page_of(study_of_page).partition('<section id="agreement"')[2].partition("</section>")[0]
    (table,) = re.findall(r"<h3>First</h3>.*?<tbody>(.*?)</tbody>", part, re.DOTALL)
    count, differences = 0, 0
    row = r'<tr data-metrics="(\w+) (\w+)">.*?aria-label="(\S+) \[[^"]+\]".*?<td class="n">(\d+)</td>'
    for a, b, value, n in re.findall(row, table):
        expected = both[False].loc[a, b]
        assert float(value.replace("−", "-")) == pytest.approx(expected, abs=0.006)
        assert n == "4"
        count += 1
        differences += abs(expected - both[True].loc[a, b]) > 0.01
    assert count == len(OF_PAGE) * (len(OF_PAGE) - 1) / 2
    # a debiased model would change some
    assert differences
