"""The page of a study in a browser: what it computes again, and that everybody can use it."""

import json
import random
import re
from pathlib import Path

import numpy as np
import page_studies
import pandas as pd
import pytest
import small_page
from browser import AXE, Browser, address
from conftest import ROOT

from biasgrid import tables
from biasgrid.report.names import number
from biasgrid.report.step import TEMPLATES
from biasgrid.statistics.aggregation import OVERALL
from biasgrid.study import Study
from biasgrid.tables.rankings import rankings

pytestmark = [pytest.mark.slow, pytest.mark.browser]
UNIT = ["metric", "model", "debias"]
WAYS = [
    {"aggregation": "abs_avg", "by": "distance", "ties": "average"},
    {"aggregation": "avg", "by": "distance", "ties": "min"},
    {"aggregation": "sum", "by": "value", "ties": "max"},
    {"aggregation": "abs_sum", "by": "value", "ties": "dense"},
    {"aggregation": "avg", "by": "value", "ties": "first"},
]


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
    return study[0] / study[1].report_file


DATA = re.compile(r'(?<=id="data">).*?(?=</script>)')


def data_of(page):
    """What the page's script reads."""
    return json.loads(DATA.search(page.read_text(encoding="utf-8"))[0])


def with_data(page, folder, **changes):
    """The page with other data, and without the study's own rankings, which are of the data that it had."""
    data = json.dumps(data_of(page) | {"rankings": []} | changes)
    file = folder / "page.html"
    file.write_text(DATA.sub(lambda _: data, page.read_text(encoding="utf-8")), encoding="utf-8")
    return file


def table(study, name):
    return tables.read(study[0] / study[1].table_file(name))


# the ranking: what the library computes


def expected(scores, ranking, choice):
    """The library's ranking of a choice: of the scores of its criteria, models and debias methods."""
    criteria = choice["criterion"]
    options = ranking | {"ranked": criteria}
    name = OVERALL if len(criteria) > 1 else criteria[0]

    def ranked(scores):
        found = rankings(scores, **options)
        return found[found["criterion"] == name]

    scores = scores[scores["criterion"].isin(criteria)]
    # which debiased models are measured on all of the criteria does not depend on which models are chosen
    scores = scores.merge(ranked(scores)[UNIT], on=UNIT)
    found = ranked(scores[scores["model"].isin(choice["model"]) & scores["debias"].isin(choice["debias"])])
    found = found[found["metric"].isin(choice["metric"])]
    return found.set_index(UNIT).sort_index()[["value", "rank", "cells", "cells_nan"]]


def same(found, ours):
    """To the last bit."""
    found = found.set_index(UNIT).sort_index()[list(ours)]
    pd.testing.assert_frame_equal(found, ours, check_exact=True, check_dtype=False)


def choices(study, count, seed):
    """Random choices: some of the keys of each kind."""
    draw = random.Random(seed)
    scores = table(study, "scores")
    ranked = study[1].ranking["ranked"]
    kinds = {name: sorted(set(scores[name])) for name in UNIT} | {"criterion": ranked}
    drawn = [
        {kind: draw.sample(keys, draw.randint(1, len(keys))) for kind, keys in kinds.items()}
        for _ in range(count)
    ]
    # and all models on some of the criteria: among them ties
    return [*drawn, kinds | {"criterion": ranked[:2]}]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(way.values()))
def test_a_filtered_ranking_is_the_librarys_of_the_filtered_scores(study, page, browser, way, tmp_path):
    if way != WAYS[0]:
        page = with_data(page, tmp_path, **way)
    scores, ranking = table(study, "scores"), study[1].ranking | way
    labels = {key: study[1].labels.get(key, key) for name in UNIT for key in scores[name]}
    seen = {"ties": 0, "missing": 0, "computed": 0}
    browser.open(page)
    for choice in choices(study, 6, str(way)):
        browser.go(address(**choice))
        ours = expected(scores, ranking, choice)
        if ours.empty:
            assert not browser.all("#ranking-shown table")
            assert "Nothing to show" in browser.one("#ranking-status").text
            continue
        found = browser.table()
        same(found, ours)
        criteria = [name for name in ranking["ranked"] if name in choice["criterion"]]
        name = OVERALL if criteria == ranking["ranked"] else " + ".join(criteria)
        assert set(found["criterion"]) == {name}
        cells = browser.cells()
        for (metric, model, debias), row in ours.iterrows():
            state = labels[model] if debias == "none" else f"{labels[model]}, {labels[debias]}"
            text = [number(row["rank"]), *["†"] * bool(row["cells_nan"]), number(row["value"])]
            lines = [line for line in cells[state, labels[metric]] if not line.startswith("p ")]
            assert lines == (["no value"] if np.isnan(row["rank"]) else text)
        if "computed again" in browser.one("#ranking-status").text:
            seen["computed"] += 1
            assert found[["rank_low", "rank_high", "p_adjusted"]].isna().all(axis=None)
            assert not browser.all("#ranking-shown .interval, #ranking-shown .p")
        seen["ties"] += ours.reset_index().duplicated(["metric", "value"]).any()
        seen["missing"] += (ours["cells_nan"] > 0).any()
    assert all(seen.values()), seen


@pytest.mark.parametrize("way", [WAYS[0], WAYS[4]], ids=lambda way: "-".join(way.values()))
def test_sums_of_hundreds_of_scores_have_the_librarys_last_bit(study, page, browser, way, tmp_path):
    """NumPy adds more than 128 numbers by halves. A value between two of twelve digits goes to the even one."""
    data = data_of(page)
    rng = np.random.default_rng(0)
    # 2^-18 has thirteen digits, the last of them a 5; the others differ from it by that, down and up
    tied = [2.0**-18, 3.81469726562e-6, 3.81469726563e-6]
    rows = []
    for c, m, s in np.ndindex(len(data["criteria"]), len(data["metrics"]), len(data["states"])):
        values = rng.normal(size=101 * (c + 1)) * 10 ** rng.uniform(-4, 4)
        if (c, m) == (0, 0) and s < len(tied):
            values[:] = tied[s]
        rows += [(c, m, s, value) for value in values]
    columns = ["criterion", *UNIT, "value"]
    states = [(state["model"], state["debias"]) for state in data["states"]]
    scores = pd.DataFrame(
        [(data["criteria"][c], data["metrics"][m]["key"], *states[s], value) for c, m, s, value in rows],
        columns=columns,
    )
    choice = {name: sorted(set(scores[name])) for name in UNIT}
    browser.open(with_data(page, tmp_path, scores=rows, **way))
    for criteria in (data["criteria"][:1], data["criteria"][:2]):
        browser.go(address(criterion=criteria, **choice))
        ours = expected(scores, study[1].ranking | way, choice | {"criterion": criteria})
        same(browser.table(), ours)
        if len(criteria) == 1:
            first, second, third = (
                ours.loc[data["metrics"][0]["key"], *state]["rank"] for state in states[:3]
            )
            assert max(first, second) < third
            # ties that go by order go by that of the keys: "hard" before "none"
            assert first - second == (way["ties"] == "first")


def test_the_ranking_that_is_not_filtered_is_the_studys(study, page, browser):
    """And so is that of each criterion: with intervals and p-values."""
    intervals, pairs, all_ranks = (table(study, name) for name in ("rank_intervals", "pairs", "rankings"))
    intervals = intervals[intervals["resampled"] == "both"]
    browser.open(page)
    for criterion in [OVERALL, *study[1].ranking["ranked"]]:
        if criterion != OVERALL:
            browser.go(address(criterion=criterion))
        found = browser.table()
        ours, ends, tested = (of[of["criterion"] == criterion] for of in (all_ranks, intervals, pairs))
        same(found, ours.set_index(UNIT).sort_index()[["value", "rank", "cells", "cells_nan"]])
        got = found.rename(columns={"rank_low": "low", "rank_high": "high"})
        same(got, ends.set_index(UNIT).sort_index()[["low", "high"]])
        p_values = found["p_adjusted"].dropna()
        assert len(p_values)
        assert set(p_values) <= set(tested["p_adjusted"])
        assert len(browser.all("#ranking-shown .interval")) == found["rank_low"].notna().sum()
        assert "computed again" not in browser.one("#ranking-status").text
        # the page without JavaScript has the same cells
        drawn, static = browser.run(
            """const found = [...document.querySelectorAll("#ranking-tables table")];
            return [document.querySelector("#ranking-shown table"),
              found.find((table) => table.dataset.criterion === arguments[0])]
              .map((table) => table.tBodies[0].textContent.replace(/\\s+/g, ""))""",
            criterion,
        )
        assert drawn == static


def test_a_filter_by_the_mouse_and_show_all(page, browser):
    browser.open(page)
    before = browser.one("#ranking-shown table").text
    assert not browser.one("#ranking-tables").is_displayed()
    box = browser.one("#ranking-filters input[value=two]")
    box.click()
    assert "Model two" not in browser.one("#ranking-shown table").text
    assert "computed again" in browser.one("#ranking-status").text
    assert set(browser.table()["model"]) == {"one", "three", "twin"}
    browser.one("button[aria-label='none: metrics']").click()
    assert browser.one("#ranking-status").text == "Nothing to show: no metric is chosen."
    assert not browser.one("#ranking-download").is_enabled()
    browser.one("#ranking-filters button[type=reset]").click()
    assert browser.one("#ranking-shown table").text == before
    assert browser.address() == "#ranking"


# order, address, download


def order(browser):
    return [cell.text for cell in browser.all("#ranking-shown tbody th")]


def test_sorting_by_a_header(study, page, browser):
    browser.open(page, address(criterion="Third", debias="none"))
    given = order(browser)
    assert given == ["Model two", "Model one", "Model three", "Model twin"]
    ranks = browser.table().query("metric == 'weat'")
    rank = {f"Model {row.model}": row.rank for row in ranks.itertuples()}
    assert len(set(rank.values())) == 3
    header = "#ranking-shown [data-sort=weat]"

    def sorted_by():
        return browser.run("return document.querySelector(arguments[0]).closest('th').ariaSort", header)

    # stable: twins stay in order
    for direction, sign in (("ascending", 1), ("descending", -1)):
        browser.one(header).click()
        assert order(browser) == sorted(given, key=lambda label: sign * rank[label])
        assert sorted_by() == direction
        assert browser.focused() == browser.one(header)
    browser.one(header).click()
    assert (order(browser), sorted_by()) == (given, "none")
    browser.one("#ranking-shown [data-sort=model]").click()
    assert order(browser) == sorted(given)
    assert list(dict.fromkeys(browser.table()["model"])) == ["one", "three", "twin", "two"]


def test_what_has_no_rank_is_last_either_way(page, browser):
    """No debiased model is measured by WEAT on both of these criteria; by ECT, on the one that has it."""
    browser.open(page)
    for direction in ("ascending", "descending"):
        browser.go(address(criterion=["First", "Third"], sort="weat", order=direction))
        texts = [browser.cells()[label, "WEAT"][0] for label in order(browser)]
        ranks = [float(text) for text in texts if text not in ("not measured", "no value")]
        assert (len(ranks), len(texts)) == (4, 7)
        assert ranks == sorted(ranks, reverse=direction == "descending")
        assert texts[4:] == ["not measured"] * 3


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
    ]
    pd.testing.assert_frame_equal(found, browser.table())


def test_the_address_brings_back_what_is_shown(page, browser):
    browser.open(page)
    browser.one("#ranking-filters input[value='Second, of <b>more & words']").click()
    browser.one("#ranking-filters input[value=hard]").click()
    browser.one("#ranking-shown [data-sort=rnd]").click()
    browser.one("#ranking-shown [data-sort=rnd]").click()
    there, text = browser.address(), browser.one("#ranking-shown table").text
    assert there == address(
        criterion=["First", "Third"], debias=["none", "linear"], sort="rnd", order="descending"
    )
    browser.open(page, there)
    assert browser.one("#ranking-shown table").text == text
    assert browser.address() == there
    # edited by hand, with what is not known
    browser.go(address(criterion=["First", "Sixth"], sort="nothing", other="1"))
    assert set(browser.table()["criterion"]) == {"First"}
    browser.go(there)
    assert browser.one("#ranking-shown table").text == text
    # a part of the page, not a state
    browser.one("nav a[href='#ranking']").click()
    assert browser.one("#ranking-shown table").text == text


# links into the page, verdicts, print


def test_a_score_of_the_heatmap_leads_to_what_is_known_of_it_and_back(page, browser):
    browser.open(page)
    link = browser.one("#heatmap .heat td a")
    target = browser.run("return arguments[0].hash", link)[1:]
    link.click()

    def check():
        opened, focused, top = browser.run(
            """const target = document.getElementById(decodeURIComponent(arguments[0])).closest("details");
            return [target.open, target.querySelector("summary") === document.activeElement,
              target.getBoundingClientRect().top]""",
            target,
        )
        assert opened
        assert focused
        assert -5 <= top <= 900

    check()
    browser.driver.back()
    browser.run("return new Promise((done) => setTimeout(done, 100))")
    assert browser.address() == ""
    assert browser.focused() == link
    browser.open(page, f"#{target}")
    browser.run("return new Promise((done) => setTimeout(done, 100))")
    check()


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
        lines = [line.text for line in browser.all("#comparison tbody tr") if line.is_displayed()]
        assert len(lines) == count
        assert all(line.startswith(verdict) for line in lines)
        button.click()
    assert all(line.is_displayed() for line in browser.all("#comparison tbody tr"))


def test_print_unfolds_everything_but_single_scores(page, browser):
    browser.open(page)
    count = "return document.querySelectorAll('details[open]').length"
    before = browser.run(count)
    browser.run(
        """window.folded = [];
        addEventListener("beforeprint", () => folded.push(...document.querySelectorAll("details:not([open])")))"""
    )
    browser.driver.print_page()
    assert browser.run("return folded.every((part) => part.closest('#scores, form, [hidden]'))")
    assert browser.run(count) == before


# for everybody


def test_without_javascript_all_of_the_page_is_there(study, page, browser):
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page)
        assert not browser.one("#ranking-filters").is_displayed()
        assert not browser.all("#ranking-shown table")
        assert browser.one("#ranking-tables table").is_displayed()
        summaries = [summary.text for summary in browser.all("#ranking-tables summary")]
        assert summaries == [OVERALL, *study[1].ranking["ranked"]]
        assert len(browser.all("#comparison tbody tr")) == len(table(study, "comparison"))
    finally:
        browser.command("Emulation.setScriptExecutionDisabled", value=False)


def test_by_keyboard_alone(page, browser):
    from selenium.webdriver import Keys

    browser.open(page)

    def tab_to(selector, limit=80):
        for _ in range(limit):
            browser.press(Keys.TAB)
            if browser.run("return document.activeElement.matches(arguments[0])", selector):
                return
        raise AssertionError(f"not reached by Tab: {selector}")

    browser.run("const title = document.getElementById('ranking-title'); title.tabIndex = -1; title.focus()")
    tab_to(".term")
    tip = browser.one("#tip-rank")
    assert tip.is_displayed()
    browser.press(Keys.ESCAPE)
    assert not tip.is_displayed()
    tab_to("input[value=one]")
    browser.press(Keys.SPACE)
    assert "Model one" not in order(browser)
    # Enter in a box sends no form
    browser.press(Keys.ENTER)
    assert browser.address() == address(model=["two", "three", "twin"])
    tab_to("#ranking-shown [data-sort=weat]")
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
        document.querySelector("#ranking-shown [data-sort]")?.click();
        document.querySelector("#heatmap .heat td a")?.click();
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


def check_accessible(browser, file, width, scheme):
    browser.look(width, scheme)
    browser.open(file)
    browser.run(
        """const like = ":scope > details";  // parts that are alike: the first two of each
        for (const part of document.querySelectorAll("details"))
          part.open ||= [...part.parentElement.querySelectorAll(like)].indexOf(part) < 2"""
    )
    browser.run(AXE.read_text(encoding="utf-8"))
    found = browser.driver.execute_async_script(
        """const done = arguments[0];
        axe.run({resultTypes: ["violations"]}).then((result) => done(result.violations
          .filter(({impact}) => ["serious", "critical"].includes(impact))
          .map(({id, nodes}) => [id, nodes.length,
            nodes.slice(0, 3).map((node) => [node.html.slice(0, 200), node.failureSummary])])))"""
    )
    assert found == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_axe_finds_nothing_serious(page, browser, width, scheme):
    if not AXE.exists():
        pytest.skip("no axe-core: make report-test")
    check_accessible(browser, page, width, scheme)


def test_a_phone_scrolls_the_page_down_only(page, browser):
    browser.look(390)
    browser.open(page)
    use(browser)
    browser.run("for (const part of document.querySelectorAll('details')) part.open = true")
    wide, window = browser.run(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert wide <= window
    for term in browser.all(".term, #ranking-shown [aria-describedby]"):
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
        study = page_studies.plain_study(tmp_path)
    browser.open(study.report_file)
    assert "ranks no models" in browser.one("#ranking").text
    assert not browser.all("form")
    browser.one("#heatmap .heat td a").click()
    assert browser.run("return document.activeElement.tagName") == "SUMMARY"


# the embedded study, where it has been made


@pytest.fixture(scope="session")
def embedded(_chromium):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        study = Study.read("config/embedded.yaml")
    page = ROOT / study.report_file
    if not page.exists() or (TEMPLATES / "report.js").read_text() not in page.read_text(encoding="utf-8"):
        pytest.skip("no page of the embedded study, or not of this version: make study")
    return ROOT, study, page


def test_the_embedded_studys_page(embedded, browser):
    page = embedded[2]
    scores = table(embedded, "scores")
    browser.look(390)
    browser.open(page)
    for choice in choices(embedded, 5, "embedded"):
        browser.go(address(**choice))
        ours = expected(scores, embedded[1].ranking, choice)
        if len(ours):
            same(browser.table(), ours)
        else:
            assert not browser.all("#ranking-shown table")
    use(browser)
    assert browser.run("return document.documentElement.scrollWidth <= document.documentElement.clientWidth")
