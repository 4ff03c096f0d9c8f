"""The page of a study in a browser: what it hides and sorts, and that everybody can use it."""

import io
import json
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import small_page
from browser import AXE, Browser, address
from conftest import ROOT

from biasgrid import tables
from biasgrid.core.numbers import typeset
from biasgrid.measure.aggregation import OVERALL
from biasgrid.report import cells, score_records
from biasgrid.report.render import TEMPLATES, render
from biasgrid.report.report_step import report_step
from biasgrid.study.study import Study
from biasgrid.tables.scales import ranking

pytestmark = [pytest.mark.slow, pytest.mark.browser]
UNIT = ["metric", "model", "debias"]
FOCUS_ON_A_SCORE = "return document.activeElement.matches('.question > details > summary')"


@pytest.fixture(scope="session")
def _chromium(tmp_path_factory):
    found = Browser(tmp_path_factory.mktemp("browser"))
    yield found
    found.driver.quit()


@pytest.fixture
def browser(_chromium):
    """The browser, which must have nothing to say of the page."""
    _chromium.look()
    _chromium.driver.get_log("browser")
    yield _chromium
    assert _chromium.driver.get_log("browser") == []


@pytest.fixture(scope="session")
def study(tmp_path_factory, _chromium):
    """The small study, measured: its folder, and it."""
    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return folder, small_page.measured(folder)


@pytest.fixture(scope="session")
def page(study) -> Path:
    return study[0] / study[1].paths.report_file


def table(study, name):
    return tables.read(study[0] / study[1].paths.table_file(name))


# the ranking: what the study's tables say, of which filters hide a part


def rows_of(study):
    """The ranking as the page has it: the study's own."""
    columns = ["rank", "rank_low", "rank_high", "value", "cells", "cells_nan"]
    return table(study, "rankings").set_index(["criterion", *UNIT])[columns]


def same(found, rows):
    """To the last bit."""
    found = found.set_index(["criterion", *UNIT]).sort_index()[list(rows)]
    pd.testing.assert_frame_equal(found, rows.sort_index(), check_exact=True, check_dtype=False)


def choices(study, count, seed):
    """Random choices: some of the keys of each kind."""
    draw = random.Random(seed)
    rankings = table(study, "rankings")
    kinds = {name: sorted(set(rankings[name])) for name in ("criterion", *UNIT)}
    return [
        {kind: draw.sample(keys, draw.randint(1, len(keys))) for kind, keys in kinds.items()}
        for _ in range(count)
    ]


def test_the_ranking_is_the_studys(study, page, browser):
    browser.open(page)
    found, pairs = browser.table(), table(study, "pairs")
    same(found, rows_of(study))
    tested = set(pairs["p_adjusted"].dropna())
    assert set(found["p_adjusted"].dropna()) <= tested
    # a cell says what its row says
    labels = {key: study[1].labels.get(key, key) for name in UNIT for key in found[name]}
    cells = browser.cells()
    for row in found.itertuples():
        state = labels[row.model] if row.debias == "none" else f"{labels[row.model]}, {labels[row.debias]}"
        texts = cells[row.criterion, state, labels[row.metric]]
        if np.isnan(row.value):
            assert texts in (["no value"], ["not ranked: 0 of 4 queries"]), row
        elif row.debias == "none" and not np.isnan(row.rank_shared):
            assert texts[0] == typeset(row.value_shared)
            assert texts[1].startswith(f"rank {row.rank_shared:g}")
        elif row.debias == "none":
            assert any("not ranked" in text for text in texts), (row, texts)
        else:
            assert texts[1].startswith(("+", "−", "0 %"))


def test_debiased_models_are_rows_of_their_own_whatever_sorts_them(page, browser):
    browser.open(page, address(criterion="First"))
    groups = """return [...document.querySelectorAll("[data-criterion=First] [scope=rowgroup]")]
      .map((heading) => [heading.textContent, heading.checkVisibility()])"""
    assert browser.run(groups) == [
        ["Original models", True],
        ["Debiased models: change against the original", True],
    ]
    for _ in range(2):
        browser.one("#ranking-tables table[data-criterion=First] [data-sort=mac]").click()
        is_debiased = ["," in label for label in order(browser)]
        assert is_debiased == sorted(is_debiased)
    browser.go(address(criterion="First", debias="none"))
    assert browser.run(groups)[1] == ["Debiased models: change against the original", False]


def test_filters_hide_and_rank_nothing_again(study, page, browser):
    browser.open(page)
    whole, rows = browser.cells(), rows_of(study)
    labels = {key: study[1].labels.get(key, key) for name in UNIT for key in rows.index.unique(name)}
    for choice in choices(study, 8, "hidden"):
        browser.go(address(**choice))
        keep = np.all([rows.index.get_level_values(kind).isin(keys) for kind, keys in choice.items()], axis=0)
        if not keep.any():
            assert "Nothing to show" in browser.one("#ranking-status").text
            assert not browser.cells()
            continue
        same(browser.table(), rows[keep])
        seen = browser.cells()
        assert seen.items() <= whole.items()
        kept = rows[keep].reset_index()
        states = [
            labels[row.model] if row.debias == "none" else f"{labels[row.model]}, {labels[row.debias]}"
            for row in kept.itertuples()
        ]
        keys = set(zip(kept["criterion"], states, kept["metric"].map(labels), strict=True))
        assert {key for key, texts in seen.items() if texts != ["not measured"]} == keys
        assert "nothing is ranked again" in browser.one("#ranking-status").text


def test_a_filter_by_the_mouse_and_show_all(page, browser):
    browser.open(page)
    before = browser.cells()
    browser.one("#ranking-filters input[value=two]").click()
    assert set(browser.table()["model"]) == {"one", "three", "twin"}
    assert {label.partition(",")[0] for _, label, _ in browser.cells()} == {
        "Model one",
        "Model three",
        "Model twin",
    }
    browser.one("button[aria-label='none: metrics']").click()
    assert browser.one("#ranking-status").text == "Nothing to show: no metric is chosen."
    assert not browser.one("#ranking-download").is_enabled()
    browser.one("#ranking-filters button[type=reset]").click()
    assert browser.cells() == before
    assert browser.address() == "#ranking"


# order, address, download


def order(browser):
    """The models of the tables that are seen, from top to bottom."""
    return list(dict.fromkeys(label for _, label, _ in browser.cells()))


def test_sorting_by_a_header(study, page, browser):
    browser.open(page, address(criterion="Third", debias="none"))
    given = order(browser)
    assert given == ["Model two", "Model one", "Model three", "Model twin"]
    rows = browser.table().query("metric == 'weat'").set_index("model")["value_shared"]
    value = {f"Model {model}": number for model, number in rows.items()}
    # twins are alike, and "three" lacks too many words to be ranked
    assert len({*rows.dropna()}) == 2
    assert np.isnan(value["Model three"])
    header = "#ranking-tables table[data-criterion=Third] [data-sort=weat]"

    def sorted_by():
        return browser.run("return document.querySelector(arguments[0]).closest('th').ariaSort", header)

    # stable: twins stay in order
    for direction, sign in (("ascending", 1), ("descending", -1)):
        browser.one(header).click()
        by_value = sorted(
            given, key=lambda label: (np.isnan(value[label]), sign * np.nan_to_num(value[label]))
        )
        assert order(browser) == by_value
        assert sorted_by() == direction
        assert browser.focused() == browser.one(header)
    browser.one(header).click()
    assert (order(browser), sorted_by()) == (given, "none")
    browser.one("#ranking-tables table[data-criterion=Third] [data-sort=model]").click()
    assert order(browser) == sorted(given)
    assert list(dict.fromkeys(browser.table()["model"])) == ["one", "three", "twin", "two"]


def test_what_has_no_rank_is_last_either_way(page, browser):
    """No debiased model is measured by WEAT on all criteria; by ECT, on the two that have it."""
    browser.open(page)
    for direction in ("ascending", "descending"):
        browser.go(address(criterion=OVERALL, sort="weat", order=direction))
        cells = browser.cells()
        texts = [cells[OVERALL, label, "WEAT"][0] for label in order(browser)]
        values = [float(text) for text in texts if text not in ("not measured", "no value")]
        assert (len(values), len(texts)) == (4, 6)
        assert values == sorted(values, reverse=direction == "descending")
        assert texts[4:] == ["not measured"] * 2


def test_the_download_is_a_file_named_after_the_study(page, browser):
    browser.open(page, address(metric="rnd"))
    file = browser.download()
    assert file.name == "small-ranking.csv"
    found = pd.read_csv(file)
    assert list(found) == [
        "criterion",
        *UNIT,
        "rank",
        "rank_low",
        "rank_high",
        "value",
        "p_adjusted",
        "cells",
        "cells_nan",
        "rank_shared",
        "value_shared",
    ]
    pd.testing.assert_frame_equal(found, browser.table())


def test_the_address_brings_back_what_is_shown(page, browser):
    browser.open(page)
    browser.one("#ranking-filters input[value='Second, of <b>more & words']").click()
    browser.one("#ranking-filters input[value=hard]").click()
    browser.one("#ranking-tables [data-sort=rnd]").click()
    browser.one("#ranking-tables [data-sort=rnd]").click()
    there, cells = browser.address(), list(browser.cells().items())
    assert there == address(
        criterion=[OVERALL, "First", "Third"], debias=["none", "linear"], sort="rnd", order="descending"
    )
    browser.open(page, there)
    assert list(browser.cells().items()) == cells
    assert browser.address() == there
    # edited by hand, with what is not known
    browser.go(address(criterion=["First", "Sixth"], sort="nothing", other="1"))
    assert set(browser.table()["criterion"]) == {"First"}
    browser.go(there)
    assert list(browser.cells().items()) == cells
    # a part of the page, not a state
    browser.go("#ranking")
    assert list(browser.cells().items()) == cells


# links into the page, verdicts, print


def test_a_score_of_the_heatmap_leads_to_what_is_known_of_it_and_back(page, browser):
    browser.open(page)
    link = browser.one("#heatmap .heat td a")
    target = browser.run("return arguments[0].hash", link)[1:]
    link.click()

    def check():
        """It is opened and has the focus, and the window is there."""
        top = browser.until(
            """const target = document.getElementById(decodeURIComponent(arguments[0])).closest("details");
            return target.open && target.querySelector("summary") === document.activeElement
              && [target.getBoundingClientRect().top]""",
            target,
        )[0]
        assert -5 <= top <= 900

    check()
    browser.driver.back()
    browser.until("return document.activeElement === arguments[0]", link)
    assert browser.address() == ""
    browser.open(page, f"#{target}")
    check()


def test_a_search_shows_the_queries_whose_name_has_it(page, browser):
    browser.open(page)
    browser.run(
        'for (const part of document.querySelectorAll("#heatmap details, .of-metric")) part.open = true'
    )
    shown = """return [...document.querySelectorAll("[data-query]")]
      .filter((query) => query.checkVisibility()).map((query) => query.dataset.query)"""
    everything = browser.run(shown)
    box = browser.one("#find input")
    box.send_keys("and d wrt a")
    expected = [name for name in everything if "and D wrt A" in name]
    assert 0 < len(expected) < len(everything)
    assert browser.run(shown) == expected
    status = browser.one("#find [role=status]").text
    counts = f"{len(set(expected))} of {len(set(everything))} queries"
    assert status == f"{counts}: others are hidden in all tables."
    # a link to what is hidden shows all
    hidden = browser.run("return document.querySelector('#scores .question[hidden] details dl').id")
    browser.go(f"#{hidden}")
    browser.until("return document.getElementById(arguments[0]).checkVisibility()", hidden)
    assert browser.run(shown) == everything
    assert box.get_attribute("value") == ""
    box.send_keys("no such query")
    assert browser.one("#find [role=status]").text == "No query, model or word has it."
    assert browser.run(shown) == everything


def test_a_search_shows_the_queries_and_sets_that_have_a_word_and_the_models(page, browser):
    browser.open(page)
    browser.run("for (const part of document.querySelectorAll('details')) part.open = true")
    box, status = browser.one("#find input"), browser.one("#find [role=status]")

    def seen(selector, of):
        script = """return [...new Set([...document.querySelectorAll(arguments[0])]
          .filter((element) => element.checkVisibility()).map((element) => eval(arguments[1])))]"""
        return browser.run(script, selector, of)

    queries = seen(".heat [data-query]", "element.dataset.query")
    box.send_keys("g3")
    assert seen(".heat [data-query]", "element.dataset.query") == [name for name in queries if "G" in name]
    assert seen("#words tr[data-set]", "element.cells[0].textContent") == ["G"]
    assert "1 of 8 word sets" in status.text
    # a model: its rows, wherever there are rows of models, and no query less
    box.clear()
    box.send_keys("model TWO")
    assert set(seen("tr[data-model]", "element.dataset.model")) == {"two"}
    assert seen(".heat [data-query]", "element.dataset.query") == queries
    assert all("Model two" in text for text in seen(".question > details summary", "element.textContent"))
    assert status.text == "1 of 4 models: others are hidden in all tables."


def test_the_picture_shows_one_metric_at_a_time(study, page, browser):
    browser.open(page, folded=True)
    labels = [
        study[1].labels[key]
        for key in study[1].config.metrics
        if key in set(table(study, "scores")["metric"])
    ]
    boxes = browser.all("#bias-switch label")
    assert [box.text for box in boxes] == labels
    shown = """return [...document.querySelectorAll(".of-bias")].filter((part) => part.checkVisibility())
      .map((part) => [part.id, part.querySelectorAll(".marks").length > 0])"""
    (first,) = browser.run(shown)
    assert first[1]
    boxes[1].click()
    browser.until("return document.querySelectorAll('.of-bias:not([hidden]) .marks').length > 0")
    (second,) = browser.run(shown)
    assert second[0] != first[0]
    # by keyboard
    from selenium.webdriver import Keys

    browser.press(Keys.ARROW_LEFT)
    assert browser.run(shown) == [first]


def test_a_link_to_a_score_shows_what_the_metric_asks(page, browser):
    browser.open(page)
    browser.one("#heatmap .heat td a").click()
    browser.until(FOCUS_ON_A_SCORE)
    tops = browser.run(
        """const cell = document.activeElement;
        return [cell.closest(".question").querySelector("h4"), cell].map((e) => e.getBoundingClientRect().top)"""
    )
    assert -5 <= tops[0] < tops[1] < 700


def test_a_score_that_is_opened_has_the_command_that_computes_it_again(study, page, browser):
    browser.open(page)
    records = cells.read(in_folder(study), cells.spec(study[1])).records
    for record in (records[0], records[-1]):
        browser.go(f"#{record.anchor}")
        codes = browser.until(
            """const score = document.getElementById(arguments[0]);
            return score.checkVisibility() && [...score.querySelectorAll('code')].map((c) => c.textContent)""",
            record.anchor,
        )
        assert codes == [record.command]


def test_scores_of_a_large_page_are_unpacked_where_they_are_opened_led_to_or_sought(study, browser, tmp_path):
    large = tmp_path / "large.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(study[0])
        patch.setattr(score_records, "MANY", 0)
        made = report_step(study[1])
        large.write_text(render(made.inputs, made.spec), encoding="utf-8")
        records = cells.read(made.inputs, made.spec["cells"]).records
    unpacked = "return document.getElementById(arguments[0])?.checkVisibility()"
    scores = "return [...document.querySelectorAll('.question > details')].filter((e) => e.checkVisibility()).length"
    # by a link, of which the page is loaded, or on the page
    last = records[-1].anchor
    browser.open(large, f"#{last}", folded=True)
    browser.until(unpacked, last)
    assert not browser.one("#packed").is_displayed()
    assert browser.one(f"#{last} code").text == records[-1].command
    assert 0 < browser.run(scores) < len(records)
    browser.go(f"#{records[0].anchor}")
    browser.until(unpacked, records[0].anchor)
    assert browser.one(f"#{records[0].anchor} code").text == records[0].command
    # by hand, after a search
    browser.open(large)
    assert browser.run(scores) == 0
    browser.one("#find input").send_keys("model two")
    browser.run("for (const part of document.querySelectorAll('.of-metric')) part.open = true")
    browser.until(f"{scores} === arguments[0]", sum(record.model == "two" for record in records))
    browser.one("#find input").clear()
    browser.one("#find input").send_keys("g3")
    questions = """return [...document.querySelectorAll(".question")]
      .filter((question) => question.checkVisibility()).map((question) => question.dataset.query)"""
    assert browser.run(questions)
    assert all("G" in name for name in browser.run(questions))


def in_folder(study):
    """The files of a study's scores, wherever the test runs."""
    folder, made = study
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        files = cells.inputs(made)
    return {
        role: [folder / file for file in paths] if isinstance(paths, list) else folder / paths
        for role, paths in files.items()
    }


def test_published_numbers_by_verdict(study, page, browser):
    browser.open(page)
    counts = table(study, "comparison")["verdict"].value_counts()
    buttons = {button.text: button for button in browser.all("#verdict-filters button")}
    assert set(buttons) == {f"{verdict} ({count})" for verdict, count in counts.items()}
    assert len(counts) > 1
    for verdict, count in counts.items():
        button = buttons[f"{verdict} ({count})"]
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        lines = [line.text for line in browser.all("#comparison tr[data-verdict]") if line.is_displayed()]
        assert len(lines) == count
        assert all(verdict in line for line in lines)
        button.click()
    assert all(line.is_displayed() for line in browser.all("#comparison tr[data-verdict]"))


SAVED = """const create = URL.createObjectURL;
    let blob;
    URL.createObjectURL = (given) => { blob = given; return "data:,"; };
    arguments[0].click();
    URL.createObjectURL = create;
    return blob.text()"""


def test_each_table_can_be_copied_and_saved_as_it_is_seen(study, page, browser):
    browser.open(page)
    browser.run("for (const part of document.querySelectorAll('details')) part.open = true")
    tables_seen = len(browser.all("main .scroll > table"))
    assert len(browser.all("main .tools")) == tables_seen > 10
    # groups of rows are a column, and numbers have the sign that programs read
    names = "#heatmap\\/weat .tools button:last-child"
    found = pd.read_csv(io.StringIO(browser.run(SAVED, browser.one(names))))
    scores = table(study, "scores").query("metric == 'weat'")
    assert list(found)[:2] == ["group", "query"]
    assert list(dict.fromkeys(found["group"])) == list(dict.fromkeys(scores["criterion"]))
    expected = scores.query("model == 'two' and debias == 'none'").set_index("query")["value"]
    for row in found.to_dict("records"):
        query = next(name for name in expected.index if row["query"].startswith(name))
        shown = float(str(row["Model two"]).split()[0])
        assert shown == pytest.approx(expected[query], rel=0.01)
    # hidden rows are left out
    browser.one("#find input").send_keys("and d wrt a")
    fewer = pd.read_csv(io.StringIO(browser.run(SAVED, browser.one(names))))
    assert 0 < len(fewer) < len(found)


def test_an_opened_score_has_a_histogram_for_each_test_that_counts(page, browser):
    browser.open(page)
    opened = browser.run(
        """const score = document.querySelector(".question > details:has([data-h])");
        for (let e = score; e; e = e.parentElement.closest("details")) e.open = true;
        return [score.querySelectorAll("[data-h]").length, score.querySelector("[data-h]").dataset.h]"""
    )
    low, high, _, place, *_ = opened[1].split("|")
    drawn = browser.until(
        """const pictures = document.querySelectorAll(".question svg");
        return pictures.length && [...pictures]
          .map((p) => [p.getAttribute("aria-label"), p.querySelector("text").getAttribute("x")])"""
    )
    assert len(drawn) == opened[0]
    assert drawn[0][0].startswith(f"Histogram from {low} to {high}")
    assert drawn[0][1] == place


def test_print_unfolds_everything_but_single_scores_and_help(page, browser):
    browser.open(page)
    count = "return document.querySelectorAll('details[open]').length"
    before = browser.run(count)
    browser.run(
        """window.folded = [];
        addEventListener("beforeprint", () => folded.push(...document.querySelectorAll("details:not([open])")))"""
    )
    browser.driver.print_page()
    assert browser.run("return folded.every((part) => part.closest('#scores, form, .help, [hidden]'))")
    assert browser.run(count) == before


def test_a_printed_page_is_small(page, browser):
    """Gradients would be pictures of the size of a page each."""
    browser.open(page)
    file = browser.printed()
    assert len(file) < 2_000_000
    assert b"/Subtype /Image" not in file
    summary = file.count(b"/Type /Page\n")
    assert 2 < summary < 10
    # what is asked for is printed whole
    browser.run("document.documentElement.classList.add('print-all')")
    assert browser.printed().count(b"/Type /Page\n") > summary


def check_first(browser, page):
    """Check that headline, cards and the first row of marks are seen at once, and printed on the first page."""
    browser.look()
    browser.open(page, folded=True)
    headline, cards, row = browser.run(
        """return ["h1", ".cards-of-study article:last-of-type", ".bias .marks"]
          .map((selector) => document.querySelector(selector).getBoundingClientRect())"""
    )
    assert headline["bottom"] < row["top"] < row["bottom"] < 800
    assert headline["bottom"] < cards["top"] < cards["bottom"] < 900
    browser.run(
        """document.head.append(Object.assign(document.createElement("style"), {textContent:
          `main > :not(#verdict) {display: none !important}`}))"""
    )
    assert browser.printed().count(b"/Type /Page\n") <= 2


def test_the_finding_is_on_the_first_screen_and_the_first_printed_pages(page, browser):
    check_first(browser, page)


# for everybody


def test_without_javascript_all_of_the_page_is_there(study, page, browser):
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page)
        assert not browser.one("#ranking-filters").is_displayed()
        assert browser.one("#ranking-tables table").is_displayed()
        summaries = [summary.text for summary in browser.all("#ranking-tables summary")]
        assert summaries == [OVERALL, *ranking(study[1])["ranked"]]
        assert len(browser.all("#comparison tr[data-verdict]")) == len(table(study, "comparison"))
        assert not browser.all(".tools")
    finally:
        browser.command("Emulation.setScriptExecutionDisabled", value=False)


def test_by_keyboard_alone(page, browser):
    from selenium.webdriver import Keys

    browser.open(page)
    browser.run("document.querySelector('#ranking-filters > details').open = false")

    def tab_to(selector, limit=80):
        for _ in range(limit):
            browser.press(Keys.TAB)
            if browser.run("return document.activeElement.matches(arguments[0])", selector):
                return
        raise AssertionError(f"not reached by Tab: {selector}")

    browser.run("const title = document.getElementById('ranking-title'); title.tabIndex = -1; title.focus()")
    tab_to("#ranking .help > summary")
    browser.press(Keys.ENTER)
    tab_to(".term")
    tip = browser.one("#tip-rank")
    assert tip.is_displayed()
    browser.press(Keys.ESCAPE)
    assert not tip.is_displayed()
    tab_to("#ranking-filters summary")
    browser.press(Keys.ENTER)
    tab_to("input[value=one]")
    browser.press(Keys.SPACE)
    assert "Model one" not in order(browser)
    # Enter in a box sends no form
    browser.press(Keys.ENTER)
    assert browser.address() == address(model=["two", "three", "twin"])
    tab_to("#ranking-tables table[data-criterion=Third] [data-sort=weat]")
    # focus is seen
    assert browser.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    browser.press(Keys.ENTER)
    assert browser.run("return document.activeElement.closest('th').ariaSort") == "ascending"
    browser.press(Keys.SPACE)
    assert browser.run("return document.activeElement.closest('th').ariaSort") == "descending"
    assert browser.address() == address(model=["two", "three", "twin"], sort="weat", order="descending")
    assert browser.run("return location.search") == ""


def use(browser):
    """Use everything that reacts."""
    browser.run(
        """for (const box of document.querySelectorAll("#ranking-filters input")) { box.click(); box.click(); }
        for (const button of document.querySelectorAll("#verdict-filters button, .pick button")) button.click();
        document.querySelector("#ranking-filters [type=reset]")?.click();
        document.querySelector("#ranking-tables [data-sort]")?.click();
        document.querySelector("#heatmap .heat td a")?.click();
        document.querySelector(".help:has(.term)").open = true;
        document.querySelector(".term").focus();"""
    )


def test_no_request_leaves_the_file(page, browser):
    browser.driver.get_log("performance")
    browser.open(page)
    use(browser)
    events = [json.loads(entry["message"])["message"] for entry in browser.driver.get_log("performance")]
    urls = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    assert page.as_uri() in urls
    assert {url.partition(":")[0] for url in urls} <= {"file", "data", "blob", "about"}
    assert {url for url in urls if url.startswith("file:")} == {page.as_uri()}


def check_accessible(browser, file, width, scheme, is_whole):
    """Without what is in closed parts where not `is_whole`: no size or scheme shows it, and axe walks through it."""
    browser.look(width, scheme)
    browser.open(file)
    browser.run(
        """const like = ":scope > details";  // parts that are alike: the first two of each
        for (const part of document.querySelectorAll("details"))
          part.open ||= [...part.parentElement.querySelectorAll(like)].indexOf(part) < 2"""
    )
    if not is_whole:
        browser.run(
            """for (const child of document.querySelectorAll("details:not([open]) > :not(summary)")) child.remove()"""
        )
    browser.run(AXE.read_text(encoding="utf-8"))
    found = browser.driver.execute_async_script(
        """const done = arguments[0];
        axe.run({resultTypes: ["violations"]}).then((result) => done(result.violations
          .map(({id, nodes}) => [id, nodes.length,
            nodes.slice(0, 3).map((node) => [node.html.slice(0, 200), node.failureSummary])])))"""
    )
    assert found == []


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]
)
def test_axe_finds_nothing(page, browser, width, scheme):
    if not AXE.exists():
        pytest.skip("no axe-core: make report-test")
    check_accessible(browser, page, width, scheme, is_whole=(width, scheme) == (1280, "light"))


def test_a_phone_scrolls_the_page_down_only(page, browser):
    browser.look(390)
    browser.open(page)
    use(browser)
    browser.run("for (const part of document.querySelectorAll('details')) part.open = true")
    wide, window = browser.run(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert wide <= window
    for term in browser.all(".term, #ranking-tables [aria-describedby]"):
        browser.run(
            "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'}); arguments[0].focus()", term
        )
        box = browser.run(
            "const tip = document.querySelector('.shown'); return tip && tip.getBoundingClientRect().toJSON()"
        )
        assert box["left"] >= 0
        assert box["right"] <= window


def test_a_study_that_ranks_nothing(browser, tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        study = small_page.plain(tmp_path)
    browser.open(study.paths.report_file)
    assert "ranks no models" in browser.one("#ranking").text
    assert not browser.all("#ranking form")
    browser.one("#heatmap .heat td a").click()
    browser.until(FOCUS_ON_A_SCORE)


# the embedded study, where it has been made


@pytest.fixture(scope="session")
def embedded(_chromium):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        study = Study.read("config/embedded.yaml")
    page = ROOT / study.paths.report_file
    if not page.exists() or (TEMPLATES / "report.js").read_text() not in page.read_text(encoding="utf-8"):
        pytest.skip("no page of the embedded study, or not of this version: make study")
    return ROOT, study, page


def test_the_embedded_studys_page(embedded, browser):
    page = embedded[2]
    browser.look(390)
    browser.open(page)
    found = browser.table()
    same(found, rows_of(embedded))
    p_values = found["p_adjusted"].dropna()
    assert len(p_values) > 0
    assert {*p_values} <= {*table(embedded, "pairs")["p_adjusted"].dropna()}
    use(browser)
    assert browser.run("return document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    browser.open(page)
    file = browser.printed()
    assert len(file) < 2_000_000
    assert file.count(b"/Type /Page\n") <= 10
    assert page.stat().st_size < 2_000_000
    check_first(browser, page)
