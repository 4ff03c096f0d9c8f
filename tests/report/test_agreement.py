"""A finished study says the same wherever it is read: on its page, by `least_biased`, by `summary()`, in the last
lines of a run, and by the bars of the figure of ranks. What it says is read off its tables by code of the test's own.
"""

import html
import os
import re
from itertools import combinations

import pandas as pd
import pytest
import small_page

from biasgrid import Grid, open_study
from biasgrid.report import step
from biasgrid.report.report_step import report_step
from biasgrid.workflow import conclusions

pytestmark = pytest.mark.slow

LIMIT = 0.05
NUMBERS = ["none", "one", "two", "three", "four", "five", "six"]
# RND and no other metric of the study grows with length, which differs between the models
BY_LENGTH = {"rnd"}
LABELS = {"weat": "WEAT", "weat_es": "WEAT-ES", "rnd": "RND", "mac": "MAC", "ect": "ECT"}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder, before = tmp_path_factory.mktemp("agreement"), os.getcwd()
    os.chdir(folder)
    try:
        yield small_page.measured(folder, {"one": 0, "two": 4, "three": 2}, draws=199)
    finally:
        os.chdir(before)


def expected(study):
    """(criterion, metric) -> the ranked models in their order, pairs that are decided (the less biased first), and
    the model that is decided to be the least biased, or "": from rankings.csv and pairs.csv."""
    rankings, pairs = (pd.read_csv(study.paths.table_file(name)) for name in ("rankings", "pairs"))
    rankings, pairs = rankings[rankings["debias"] == "none"], pairs[pairs["family"] == "models"]
    verdicts = {}
    for place, rows in rankings.groupby(["criterion", "metric"]):
        ranked = rows.dropna(subset=["rank_shared"]).sort_values(["rank_shared", "model"])
        of_place = pairs[(pairs[["criterion", "metric"]] == list(place)).all(axis=1)]
        decided, comparable = set(), set()
        for pair in of_place.dropna(subset=["p_adjusted"]).itertuples():
            low, high = (pair.model_a, pair.model_b) if pair.difference < 0 else (pair.model_b, pair.model_a)
            comparable |= {(low, high), (high, low)}
            if pair.p_adjusted <= LIMIT and pair.difference:
                decided.add((low, high))
        order = ranked["model"].tolist()
        rivals = [m for m in rows.dropna(subset=["value"])["model"] if order and (order[0], m) in comparable]
        is_decided = bool(rivals) and all((order[0], rival) in decided for rival in rivals)
        verdicts[place] = order, decided, order[0] if is_decided else ""
    return verdicts


def check_text(text, verdicts):
    """Whether a summary counts what is decided over all criteria, and on single ones, by metrics that compare."""
    together = {m: least for (c, m), (*_, least) in verdicts.items() if c == "Overall" and m not in BY_LENGTH}
    assert f"of {NUMBERS[len(together)]} metrics that compare" in text
    least = [model for model in together.values() if model]
    # one model in this study
    verb = "separates" if len(least) == 1 else "separate"
    assert f"{NUMBERS[len(least)]} {verb} Model {least[0]} from all others" in text
    single = [v[2] for (c, m), v in verdicts.items() if c != "Overall" and m not in BY_LENGTH]
    decided = len([model for model in single if model])
    assert f"on single criteria, {NUMBERS[decided]} of nine verdicts are decided" in text
    assert len(single) == 9
    assert "RND would call Model one least biased" in text


def check_summary(study, verdicts):
    check_text(" ".join(open_study(study.results).summary().split()), verdicts)


def check_terminal(study, verdicts):
    check_text(" ".join(" ".join(conclusions.conclusions(study)).split()), verdicts)


def check_page_sentences(study, verdicts):
    sentences = re.findall(r'<p class="says"><b>\w+</b> (.*?)</p>', page_of(study))
    assert 0 < len(sentences) <= 5
    check_text(html.unescape(" ".join(sentences)), verdicts)


def check_least_biased(study, verdicts):
    table = open_study(study.results).least_biased()
    found = {(row.criterion, row.metric): row for row in table.itertuples()}
    assert found.keys() == verdicts.keys()
    for place, (order, _, least) in verdicts.items():
        assert found[place].decided == bool(least), place
        assert found[place].model == order[0]


def check_page_grid(study, verdicts):
    """Ranks, letters and verdicts of the page's grid."""
    found = {}
    for criterion, part in re.findall(
        r'<details class="panel".*?<h3>(.*?)</h3>(.*?)</details>', page_of(study), re.DOTALL
    ):
        decided, *rows = re.findall(
            r'<tr(?: data-model="\w+")?><th scope="row">(.*?)</th>(.*?)</tr>', part, re.DOTALL
        )
        for metric, verdict in re.findall(
            r'data-metric="([^"‡]*)‡?"><span class="verdict \w+">([^<]*)', decided[1]
        ):
            states = {}
            for head, cells in rows:
                cell = re.search(rf'data-metric="{metric}‡?">(.*?)</td>', cells)[1]
                if rank := re.match(r'<b class="rank">([\d.]+)</b>(?:<i>(\w+)</i>)?', cell):
                    states[re.match(r"Model (\w+)", head)[1]] = float(rank[1]), rank[2] or ""
                    is_first = rf'class="tile (\w+)[^"]*" data-metric="{metric}‡?"><b class="rank">1<'
                    assert all(
                        kind == verdict.replace("not decided", "first")
                        for kind in re.findall(is_first, cells)
                    )
            found[html.unescape(criterion), metric] = states, verdict == "decided"
    assert len(found) == len(verdicts)
    for (criterion, metric), (order, decided, least) in verdicts.items():
        states, is_decided = found[criterion, LABELS[metric]]
        # twins have one rank
        assert sorted(states) == sorted(order)
        assert [states[model][0] for model in order] == sorted(rank for rank, _ in states.values())
        assert is_decided == bool(least), (criterion, metric)
        for a, (_, letters_a) in states.items():
            for b, (_, letters_b) in states.items():
                differs = bool({(a, b), (b, a)} & decided)
                # what was compared with no other has no letter
                shares_letter = bool(set(letters_a) & set(letters_b)) or "" in (letters_a, letters_b)
                assert (a == b) or shares_letter != differs, (criterion, metric)


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
            for name, *numbers in re.findall(r"Model (\w+): ([\d.]+) \(([\d.]+) to ([\d.]+)\)", said)
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


def check_letters_of_the_figure(study, verdicts):
    """Two models share a letter in a column of the figure of ranks where they are not decided to differ."""
    for criterion in {criterion for criterion, _ in verdicts}:
        figure = open_study(study.results).plot("rank-intervals", criterion=criterion)
        names = [label.get_text().removeprefix("Model ") for label in figure.axes[0].get_yticklabels()]
        for metric in (metric for name, metric in verdicts if name == criterion):
            _, decided, _ = verdicts[criterion, metric]
            (axes,) = (a for a in figure.axes if a.get_title(loc="left").removesuffix("‡") == LABELS[metric])
            letters = {
                names[round(text.get_position()[1])]: set(text.get_text().strip().removesuffix("†"))
                for text in axes.texts
                if text.get_position()[0] == 1
            }
            assert letters.keys() == set(verdicts[criterion, metric][0])
            for a, b in combinations(letters, 2):
                differs = bool({(a, b), (b, a)} & decided)
                # what was compared with no other has no letter
                shares_letter = bool(letters[a] & letters[b]) or not (letters[a] and letters[b])
                assert shares_letter != differs, (criterion, metric, a, b)


def page_of(study):
    return study.paths.report_file.read_text(encoding="utf-8")


CHECKS = [
    check_summary,
    check_terminal,
    check_page_sentences,
    check_least_biased,
    check_page_grid,
    check_page_forest,
    check_letters_of_the_figure,
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
            html.unescape(" ".join(f"{topic}: {sentence}" for topic, sentence in said)),
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


def test_the_pages_correlations_leave_debiased_models_out(study):
    rankings = pd.read_csv(study.paths.table_file("rankings"))
    both = {}
    for is_of_all in (False, True):
        rows = rankings[(rankings["criterion"] == "First") & (is_of_all | (rankings["debias"] == "none"))]
        both[is_of_all] = rows.pivot(index=["model", "debias"], columns="metric", values="rank").corr(
            "spearman"
        )
    part = page_of(study).partition('<section id="agreement"')[2].partition("</section>")[0]
    (table,) = re.findall(r"<h3>First</h3>.*?<tbody>(.*?)</tbody>", part, re.DOTALL)
    keys = {label: key for key, label in LABELS.items()}
    columns, differences = list(LABELS), 0
    for label, cells in re.findall(r'<th scope="row">([^<‡]*)‡?</th>(.*?)</tr>', table, re.DOTALL):
        found = re.findall(r"<b>([^<]*)</b><br><small>[^<]+</small><br><small>n = (\d)</small>", cells)
        assert len(found) == columns.index(keys[label])
        for other, (value, n) in zip(columns, found, strict=False):
            expected = both[False].loc[keys[label], other]
            assert float(value.replace("−", "-")) == pytest.approx(expected, abs=0.006)
            assert n == "4"
            differences += abs(expected - both[True].loc[keys[label], other]) > 0.01
    # a debiased model would change some
    assert differences
