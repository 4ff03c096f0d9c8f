"""`biasgrid report` and `biasgrid compare`, on studies that were run."""

import contextlib
import copy
import html
import json
import re
import shutil

import finished_study
import numpy as np
import pandas as pd
import pytest
from conftest import biasgrid, printed
from in_process import make_all
from test_page import Page

from biasgrid import open_study
from biasgrid.measure.evidence import NONE_IN_ONE, NOT_MADE, ONLY_TEST, PHRASES
from biasgrid.report import compare_page
from biasgrid.study import checksums

pytestmark = pytest.mark.slow  # studies are run first


def copied(folder):
    """A copy of the results of the finished study, in a folder, beside its word sets."""
    study = finished_study.finished().folder
    shutil.copytree(study / "data" / "word_sets", folder / "data" / "word_sets")
    return shutil.copytree(study / "results" / "small", folder / "one")


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A copy, in the working directory."""
    monkeypatch.chdir(tmp_path)
    return copied(tmp_path)


@pytest.fixture
def other(results):
    """Another copy."""
    return shutil.copytree(results, results.with_name("other"))


def edit(folder, table, change):
    path = folder / f"{table}.csv"
    read = pd.read_csv(path, dtype=str, keep_default_na=False)
    change(read).to_csv(path, index=False, lineterminator="\n")


def at(table, row, **values):
    for name, value in values.items():
        table.loc[row, name] = value
    return table


def test_a_report_is_the_page_of_the_workflow(results):
    made = (results / "report.html").read_bytes()
    (results / "report.html").unlink()
    record = printed("report", results / "study.json", "--output", "here.html")
    assert record == {"report": "here.html", "bytes": len(made)}
    assert (results.parent / "here.html").read_bytes() == made
    assert not (results / "report.html").exists()


def test_a_study_is_named_by_its_config_too(tmp_path):
    with finished_study.copied(tmp_path) as study:
        before = study.paths.report_file.read_bytes()
        study.paths.report_file.unlink()
        assert printed("report", "config/config.yaml")["report"] == str(study.paths.report_file.resolve())
        assert study.paths.report_file.read_bytes() == before


def test_tables_that_older_code_did_not_make_are_made_in_memory(results):
    made = (results / "report.html").read_bytes()
    (results / "report.html").unlink()
    for name in ("pairs.csv", "lost_words.csv", "rank_samples.npy"):
        (results / name).unlink()
    edit(results, "scores", lambda table: table.drop(columns=["p_groups", "p_groups_adjusted"]))
    checksums.record_all(results)
    before = {path: path.read_bytes() for path in results.glob("*.csv")}
    done = biasgrid("report", "one")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {"report": str(results / "report.html"), "bytes": len(made)}
    assert (results / "report.html").read_bytes() == made
    assert {path: path.read_bytes() for path in results.glob("*.csv")} == before


def test_a_page_without_a_table_says_so(results):
    (results / "pairs.csv").unlink()
    (results / "rank_samples.npy").unlink()
    for file in results.glob("inference/**/*.npy"):
        file.unlink()
    done = biasgrid("report", "one")
    assert done.returncode == 0
    assert done.stderr.startswith("biasgrid: the report omits pairs.csv: ")
    assert done.stderr.count("\n") == 1
    text = (results / "report.html").read_text()
    assert "These tables are missing" in text
    assert "<code>pairs.csv</code>. Run the study again" in text
    assert 'id="ranking"' in text


@pytest.fixture(scope="module")
def part(tmp_path_factory):
    """The same study, run without a query of its first criterion and without its second one."""
    folder = tmp_path_factory.mktemp("part")
    criteria = copy.deepcopy(finished_study.CONFIG["criteria"])
    del criteria["First"]["queries"]["q1"], criteria["Second"]
    debias = copy.deepcopy(finished_study.CONFIG["debias"])
    debias["First"]["hard"]["criteria"] = ["First"]
    results = str(folder / "results")
    with contextlib.chdir(folder):
        return make_all(finished_study.other(folder, criteria=criteria, debias=debias, results=results))


LEFT_OUT = ("q1", "q3")


@pytest.fixture(scope="module")
def both(part):
    """The finished study without some queries, and the one that was run without them."""
    whole = finished_study.finished().folder / "results" / "small"
    return open_study(whole).without(*LEFT_OUT), open_study(part.results)


@pytest.mark.parametrize(
    "table",
    ["scores", "aggregates", "rankings", "rank_intervals", "pairs", "correlations", "order", "lost_words"],
)
def test_without_queries_numbers_are_those_of_a_study_that_lacks_them(both, table):
    found, expected = (study.frame(table) for study in both)
    if table == "aggregates":  # whose tests a criterion that loses a query has not: tests/api/test_grid.py
        columns = [*found.columns[: list(found).index("p_groups")], "model_label"]
        found, expected = found[columns], expected[columns]
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


def test_aggregates_without_a_query_are_means_of_the_others(results):
    study = open_study(results)
    scores = study.scores.query("criterion == 'First' and query_id != 'q1' and metric == 'weat'")
    states = scores["model"] + scores["debias"].map({"none": "", "hard": " under hard"})
    means = scores["value"].abs().groupby(states).mean()
    found = study.without("q1").aggregate("abs_avg", "First")["weat"].dropna()
    assert found.to_dict() == pytest.approx(means.to_dict(), rel=1e-15)
    # and not those of all
    assert (found - study.aggregate("abs_avg", "First")["weat"]).abs().max() > 1e-3


def without_tests_of_aggregates(page):
    """The rows of a page's tables; marks of the picture of models say nothing of their tests."""
    start, end = (i for i, row in enumerate(page.rows) if row and row[0] == "topic")
    said = "|".join(map(re.escape, (*PHRASES.values(), *NOT_MADE.values(), ONLY_TEST, NONE_IN_ONE)))
    rows = [
        [re.sub(rf"(\(interval [^)]*\)), (?:{said})", r"\1", cell) for cell in row]
        for row in page.rows[start:end]
    ]
    assert rows != page.rows[start:end]
    return [*page.rows[:start], *rows, *page.rows[end:]]


def test_a_page_without_queries(part, results):
    whole = (results / "report.html").read_bytes()
    before = {path: path.stat().st_mtime_ns for path in results.rglob("*") if path.is_file()}
    name = open_study(results).study.queries["q1"].name
    record = printed("report", "one", "--without", name, "q3", "--output", "w.html")
    assert record["report"] == "w.html"
    text = (results.parent / "w.html").read_text()
    page, same = Page(text), Page((part.paths.report_file).read_text())
    assert (page.open, page.wrong) == ([], [])
    assert "Without some queries" in text
    assert f"<li>First: {html.escape(name)}</li>" in text
    assert "<li>Second: " in text
    # ranks, intervals, letters, p-values and scores: all but the config, the list of tables, and the tests of
    # aggregates, which a criterion that loses a query has not
    assert without_tests_of_aggregates(page) == without_tests_of_aggregates(same)
    assert {path: path.stat().st_mtime_ns for path in results.rglob("*") if path.is_file()} == before
    assert (results / "report.html").read_bytes() == whole


def test_the_same_study_twice(results, other):
    record = printed("compare", "one", "other")
    total = len(pd.read_csv(results / "scores.csv"))
    assert record["summary"] == f"Nothing changed; {total} scores compared."
    assert record["scores"]["changed"] == record["scores"]["same_but_other_uncertainty"] == 0
    assert record["scores"]["same"] == total
    assert record["page"] == "compare-small-small.html"
    text = (results.parent / "compare-small-small.html").read_bytes()
    assert record["bytes"] == len(text)
    assert b"Nothing changed" in text
    # which has all of it written and printed at once
    assert printed("compare", "one", "other", "--json", "--output", "again.html")["page"] == "again.html"
    assert (results.parent / "again.html").read_bytes() == text


def test_json_has_what_changed_and_writes_no_page(results, other):
    key = {}

    def change(table):
        row = table.index[table["status"] == "ok"][3]
        key.update(table.loc[row, ["criterion", "query", "metric", "model", "debias"]])
        return at(table, row, value="0.123456789012345")

    edit(other, "scores", change)
    record = printed("compare", "one", "other", "--json")
    assert "page" not in record
    assert not list(results.parent.glob("*.html"))
    (row,) = record["changes"]["scores"]
    assert {name: row[name] for name in key} == key
    assert row["value_b"] == 0.123456789012345
    assert row["difference"] == pytest.approx(row["value_b"] - row["value_a"])


def test_the_page_shows_what_changed(results, other):
    def change(table):
        known = table.index[table["status"] == "ok"]
        table = at(table, known[0], value="9.87", p_adjusted="0.9", evidence="out_of_reach")
        table = at(table, known[5], value="", status="lost_words:A")
        table = at(table, known[9], status="<i>odd", value="")
        return table.drop(index=known[7])

    edit(other, "scores", change)
    edit(other, "comparison", lambda table: at(table, 0, verdict="reproduced", ours="9.5"))
    swapped = {"1.0": "2.0", "2.0": "1.0"}

    def rank(table):
        first = (table["criterion"] == "First") & (table["metric"] == "weat")
        for column in ("rank", "rank_shared"):
            table.loc[first, column] = table.loc[first, column].map(lambda text: swapped.get(text, text))
        return table

    edit(other, "rankings", rank)
    query = json.loads((other / "queries" / "q1.json").read_text())
    query["attribute_sets"][0]["words"].append(finished_study.HOSTILE[0])
    (other / "queries" / "q1.json").write_text(json.dumps(query))
    config = json.loads((other / "study.json").read_text())
    config["seed"] = config["seed"] + 1
    (other / "study.json").write_text(json.dumps(config))
    record = printed("compare", "one", "other", "--output", "c.html")
    scores = record["scores"]
    assert (scores["changed"], scores["values_lost"], scores["only_in_a"], scores["only_in_b"]) == (
        3,
        2,
        1,
        0,
    )
    assert (record["ranks"]["changed"], record["verdicts"]["changed"]) == (2, 1)
    # ranks of raw values do not say which model is the least biased
    assert record["least_biased_changed"] == 0
    assert (record["config_keys_changed"], record["word_sets_changed"]) == (1, 1)
    text = (results.parent / "c.html").read_text()
    page = Page(text)
    assert (page.open, page.wrong) == ([], [])
    assert page.sources == ["data:,"]
    assert page.scripts == 0
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    rows = [" | ".join(cell.strip() for cell in row) for row in page.rows]
    head, _, rest = record["summary"].partition(". ")
    assert head == "2 conclusions changed: 1 on scores and 1 on published numbers"
    assert f'<h1 id="headline">{head}</h1>' in text
    assert "3 of " in rest
    assert rest.endswith(
        f"Different inputs: config seed; word sets {query['attribute_sets'][0]['name']} of q1."
    )
    assert any("9.87" in row and "Model <" in row for row in rows)
    assert any("→ cannot reach significance" in row and "Model <" in row for row in rows)
    assert any("no longer computed" in row and "ok → lost_words:A" in row for row in rows)
    # conclusions come first, inputs last
    assert [title for title in re.findall("<h2[^>]*>([^<]*)", text)] == [
        *("Conclusions", "Ranks", "Scores", "Only in one study", "Inputs", "How to read this"),
    ]
    # a picture of the one score that both studies have
    assert text.count('<circle class="after"') == 1
    assert "→ 9.87" in text
    assert any("differs" in row and "reproduced" in row for row in rows)
    assert any(row.startswith("seed | ") for row in rows)
    # words, and what a stranger's table says, are text and not markup
    assert any("<i>odd" in row for row in rows)
    assert any(finished_study.HOSTILE[0] in row for row in rows)


def test_a_terminal_lists_what_changed_and_nothing_else(results, other):
    def change(table):
        known = table.index[table["status"] == "ok"]
        return at(table, known[0], value="9.87")

    edit(other, "scores", change)
    lines = biasgrid("compare", "one", "other", "--table").stdout.splitlines()
    total = len(pd.read_csv(results / "scores.csv"))
    assert lines[:4] == [f"No conclusion changed; 1 of {total} scores did.", "", "Scores", "  Changed scores"]
    assert max(map(len, lines)) <= 80
    assert any(line.endswith("→ 9.870") for line in lines)
    assert lines[-1] == "page: compare-small-small.html"
    # no counters, and no heading without changes
    assert not [line for line in lines if re.search(r"\b0 |Inputs|Conclusions|Ranks|_", line)]
    assert biasgrid("compare", "one", "one", "--table").stdout.splitlines()[1:-1] == [""]


def test_studies_with_nothing_in_common(results, other):
    for table, columns in {
        "scores": ["criterion"],
        "rankings": ["criterion"],
        "pairs": ["criterion"],
    }.items():
        edit(
            other, table, lambda read, of=columns: read.assign(**{name: "Other " + read[name] for name in of})
        )
    record = printed("compare", "one", "other")
    assert record["summary"] == "The two studies have no score in common: there is nothing to compare."
    assert record["scores"]["in_both"] == 0


def test_results_of_older_code_are_compared(results, other):
    (other / "pairs.csv").unlink()
    later = ["p_groups", "p_groups_adjusted", "query_id", "evidence", "tests", "p_evidence"]
    edit(other, "scores", lambda table: table.drop(columns=later))
    record = printed("compare", "one", "other")
    assert record["summary"].startswith("Nothing changed")
    assert record["summary"].endswith("Significance is not compared: scores.csv of B has no column evidence.")
    assert "B has no pairs.csv" in (results.parent / record["page"]).read_text()


def test_seven_thousand_changes_are_cut_and_that_is_said(results, other, monkeypatch):
    rng = np.random.default_rng(0)

    def many(folder):
        def change(table):
            table = table[table["status"] == "ok"]
            table = pd.concat(
                [table.assign(query=table["query"] + f" {'long ' * 10}{i}") for i in range(400)]
            )[:7000]
            return table.assign(value=[str(value) for value in rng.normal(size=len(table)).round(6)])

        edit(folder, "scores", change)

    many(results)
    many(other)
    record = printed("compare", "one", "other", "--json", "--output", "c.html")
    changed = record["scores"]["changed"]
    assert changed > compare_page.MOST
    assert record["bytes"] < 4e6
    text = (results.parent / "c.html").read_text()
    assert f"The first {compare_page.MOST:,} of {changed:,} are here." in text
    assert len(record["changes"]["scores"]) == changed


def damaged(change):
    """Of the other study, the table of scores with other bytes."""

    def write(other):
        path = other / "scores.csv"
        path.write_bytes(change(path.read_bytes()))

    return write


def contents(folder):
    """Of all files, but checksums, which go with what a page reads."""
    return {path: path.read_bytes() for path in folder.rglob("*.*") if path.suffix != ".sha256"}


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A folder with two copies, for tests that restore what they change, and what its files hold."""
    folder = tmp_path_factory.mktemp("two")
    shutil.copytree(copied(folder), folder / "other")
    return folder, contents(folder)


def without_a_cell(other):
    next(other.glob("cells/**/*.json")).unlink()


CUT, GARBLED, EMPTY, NO_NUMBER = (
    damaged(lambda text: text[: text.index(b"ok", 2000)]),
    damaged(lambda text: b"\xff\xfe\0"),
    damaged(lambda text: b""),
    damaged(lambda text: text.replace(b",none,-", b",none,x", 1)),
)
WITHOUT = ("report", "other", "--without")
BOTH = ("compare", "one", "other")


@pytest.mark.parametrize(
    ("change", "arguments", "says"),
    [
        (
            without_a_cell,
            ("report", "other", "--output", "w.html"),
            "not a finished study: it lacks 1 of … cells/",
        ),
        (None, ("report", "other", "--output", "other/scores.csv"), "give a different output"),
        (None, (*BOTH, "--output", "other/scores.csv"), "give a different output"),
        (None, (*WITHOUT, "q1"), "report.html is the report of all queries; give a different --output"),
        (None, (*WITHOUT, "q1", "--output", "other/report.html"), "is the report of all queries"),
        (None, (*WITHOUT, "q1", "--output", "other/scores.csv"), "give a different output"),
        (
            None,
            (*WITHOUT, "q11", "--output", "w.html"),
            "unknown query 'q11'; did you mean 'q1'? allowed: q1, ",
        ),
        (
            None,
            (*WITHOUT, *LEFT_OUT, "q2", "q4", "q5", "pairs", "--output", "w.html"),
            "without all of its 6 queries nothing is left",
        ),
        (None, (*WITHOUT, "--output", "w.html"), "--without: expected at least one argument"),
        *(
            (change, (*command, name), says)
            for command in (("report",), ("compare", "one"))
            for change, name, says in (
                (None, "nowhere", "nowhere: not the results of a study: there is no such folder"),
                (
                    lambda other: (other.parent / "empty").mkdir(exist_ok=True),
                    "empty",
                    "it has no study.json",
                ),
                (lambda other: (other.parent / "not.yaml").write_text("study: ["), "not.yaml", "not.yaml"),
                (lambda other: (other / "study.json").write_text("{}"), "other", "study.json"),
                (CUT, "other", "scores.csv"),
                (NO_NUMBER, "other", "scores.csv"),
            )
        ),
        # a page makes a table that is no table again
        (GARBLED, BOTH, "scores.csv"),
        (EMPTY, BOTH, "scores.csv"),
        (
            lambda other: (other / "scores.csv").unlink(),
            BOTH,
            "not a finished study: it has no scores.csv",
        ),
        (
            lambda other: edit(other, "rankings", lambda table: table.drop(columns="rank")),
            BOTH,
            "rankings.csv: has no column rank",
        ),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(two, monkeypatch, change, arguments, says):
    folder, whole = two
    monkeypatch.chdir(folder)
    if change:
        change(folder / "other")
    before = contents(folder)
    try:
        done = biasgrid(*arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert done.stderr.startswith(("biasgrid: ", "biasgrid report: "))
        assert not [part for part in says.split("…") if part not in done.stderr], done.stderr
        assert contents(folder) == before
    finally:
        now = contents(folder)
        for path in now.keys() - whole.keys():
            path.unlink()
        for path in whole:
            if now.get(path) != whole[path]:
                path.write_bytes(whole[path])
