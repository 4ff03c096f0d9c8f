"""The page of a study: what it shows is what the tables say, and it holds whatever the study has."""

import base64
import html
import re
import shutil
import zlib
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

import finished_study
import numpy as np
import pandas as pd
import pytest
import small_page

from biasgrid import BiasgridError, open_study, tables
from biasgrid.core.in_memory import InMemory
from biasgrid.core.numbers import share, typeset
from biasgrid.measure.aggregation import OVERALL
from biasgrid.measure.evidence import phrase
from biasgrid.models.words import NOT_FOUND
from biasgrid.report import render, score_records
from biasgrid.report.render import mark_misspellings
from biasgrid.report.report_step import report_step
from biasgrid.report.sections import REGISTRY, agreement

VOID = {"meta", "link", "br", "img", "input", "hr", "path"}
WARNING = "Some queries contain words that stereotype or insult people."
OPTIONAL = {"dt", "dd", "p", "li"}  # whose ends HTML leaves out


class Page(HTMLParser):
    """Ids, links, elements that are open at the end, and the text of tables' rows."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.sources, self.open, self.rows, self.wrong = [], [], [], [], [], []
        self.scripts = 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "a":
            self.links.append(attributes["href"])
        self.sources += [attributes[name] for name in ("src", "srcset", "data") if name in attributes]
        self.sources += [attributes["href"]] if tag == "link" else []
        # a packed picture is text that the page unpacks
        self.scripts += tag == "script" and attributes.get("type") != "text/plain"
        while (
            self.open
            and self.open[-1] in OPTIONAL
            and tag in {"dt", "dd", "li", "p"}
            and self.open[-1] != "dd"
        ):
            self.open.pop()
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        while self.open and self.open[-1] in OPTIONAL - {tag}:
            self.open.pop()
        if tag not in VOID and (not self.open or self.open.pop() != tag):
            self.wrong.append((tag, self.getpos()))

    def handle_data(self, data):
        if self.rows and self.rows[-1] and {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


def text_of(study):
    return study.paths.report_file.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page_study(tmp_path_factory):
    with finished_study.copied(tmp_path_factory.mktemp("page")) as study:
        yield study


@pytest.fixture(scope="module")
def plain_study(tmp_path_factory):
    return small_page.plain(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def page(page_study):
    return Page(text_of(page_study))


def test_the_page_is_whole_and_loads_nothing(page):
    assert page.open == []
    assert page.wrong == []
    assert page.sources == ["data:,"]
    assert [link for link in page.links if not link.startswith("#")] == []
    assert len(page.ids) == len(set(page.ids))
    assert REGISTRY.keys() <= set(page.ids)


def test_the_page_says_when_the_study_was_measured_and_of_how_many_scores(page_study):
    text = text_of(page_study)
    scores = len(tables.read(page_study.paths.table_file("scores")))
    assert f"of {scores} scores (debiased models included)" in text
    foot = text[text.index("<footer>") : text.index("</footer>")]
    cell = max(path.stat().st_mtime for path in page_study.results.glob("cells/**/*.json"))
    day = datetime.fromtimestamp(cell, UTC)
    assert f"measured {day.day} {day:%B} {day.year}" in foot


def test_what_is_below_the_grid_is_folded_and_says_what_is_in_it(page_study):
    text = html.unescape(text_of(page_study))
    for section in REGISTRY.values():
        part = text[text.index(f'<section id="{section.name}"') :].partition("</section>")[0]
        assert ('<details class="fold">' in part) == (section.name not in ("verdict", "grid"))
        assert (f"</h2> <small>{section.lead}</small></summary>" in part) == bool(section.lead)


def test_each_fact_is_said_once(page_study):
    text = text_of(page_study)
    notes = dict(re.findall(r"<dt>([^<]*)</dt><dd>(.*?)</dd>", text[text.index('<dl class="notes">') :]))
    missing = re.search(r"\d+ of \d+ scores \(debiased models included\)", notes["Missing"])[0]
    print_sentence = notes["Published"].partition(";")[0].rstrip(".")
    for said in (missing, print_sentence, WARNING, "<h1>", '<p class="subtitle">'):
        assert text.count(said) == 1, said


def test_each_link_leads_somewhere(page):
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)


def test_words_of_queries_are_text(page, page_study):
    text = text_of(page_study)
    assert page.scripts == 2
    assert "<script>alert(1)" not in text
    assert "onerror=alert" not in re.sub(r"&[^;]+;img[^&]*", "", text)
    assert "Model &lt;one&gt;" in text


def test_the_same_files_make_the_same_bytes_wherever_they_lie(page_study, tmp_path):
    first = page_study.paths.report_file.read_bytes()
    # opened results have no tables of the plugins that this process has loaded
    report_step(open_study(page_study.results).study).run()
    assert page_study.paths.report_file.read_bytes() == first
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(page_study.results, elsewhere)
    again = report_step(open_study(elsewhere).study)
    assert again.output == elsewhere / "report.html"
    again.run()
    assert again.output.read_bytes() == first


def test_a_large_page_has_each_score_packed_by_metric(page_study, monkeypatch):
    def scores_in(text):
        return dict(re.findall(r"<dl id=(c\d+)>(.*?)</dl>", text))

    made = report_step(page_study)
    read = tables.read(page_study.paths.table_file("scores"))
    assert len(scores_in(text_of(page_study))) == len(read)
    monkeypatch.setattr(score_records, "MANY", 0)
    text = render.render(made.inputs, made.spec)
    parts = re.findall(
        r'<details class="of-metric">(.*?)<script type="text/plain">(.*?)</script>', text, re.DOTALL
    )
    assert len(parts) == read["metric"].nunique()
    unpacked = [zlib.decompress(base64.b64decode(block)).decode() for _, block in parts]
    assert not scores_in(text)
    assert len(scores_in("".join(unpacked))) == len(read)
    # names with markup are text here, too
    packed = Page("".join(unpacked))
    assert packed.wrong == packed.open == []
    assert "&lt;two&gt;" in unpacked[0]
    assert not re.search(r"<(script|img|i )|<two>", "".join(unpacked))
    # which of them are of a question is where it stands
    for (questions, _), scores in zip(parts, unpacked, strict=True):
        places = re.findall(r"data-first=(\d+) data-scores=(\d+)", questions)
        assert [*scores_in(scores)] == [f"c{int(first) + i}" for first, n in places for i in range(int(n))]
    assert "needs JavaScript to be seen. Their values are\nin <code>scores.csv</code>" in text
    assert not {"packed"} & {*Page(text_of(page_study)).ids}


def test_the_heatmap_has_each_score_or_why_it_is_missing(page, page_study):
    """Scores that are significant have a mark, and no others."""
    scores = tables.read(page_study.paths.table_file("scores"))
    shown = [cell.replace("\N{NO-BREAK SPACE}", " ").strip() for row in page.rows for cell in row]
    marks = {"all": " ●", "permutation": " ◐", "groups": " ◐"}
    for row in scores[scores["metric"] == "weat"].itertuples():
        texts = ("missing", "undefined")
        if row.status == "ok":
            texts = (typeset(row.value) + marks.get(row.evidence, ""),)
        assert any(text in shown for text in texts), row
    assert (scores["status"] != "ok").any()
    assert {*scores["evidence"]} & marks.keys()


def test_one_section_says_which_scores_are_unstable(page_study):
    """The table's own counts and shares, by metric and by query, and those above the grid."""
    text = text_of(page_study)
    card = tables.read(page_study.paths.table_file("reliability")).query(
        "question == 'score' and verdict != ''"
    )
    section = text[text.index('<section id="reliability"') :].partition("</section>")[0]
    rows = dict(re.findall(r'<tr data-query="([^"]*)"><th scope="row">(.*?)</tr>', section, re.DOTALL))
    of_query = card[card["query_id"] == "q3"]
    name = next(name for name in rows if name.startswith("C and D"))
    row = re.search(rf'<tr data-query="{re.escape(name)}"><th scope="row">(.*?)</tr>', section, re.DOTALL)[1]
    weat = of_query.query("metric == 'weat' and coefficient == 'sign'")
    unstable = (weat["verdict"] == "may turn").sum()
    assert f">{unstable} of {len(weat)}</a>" in row
    # a metric that has no sign is judged by the order of models
    rnsb = of_query.query("metric == 'rnsb'")
    assert set(rnsb["coefficient"]) == {"order"}
    assert f">{(rnsb['verdict'] == 'may turn').sum()} of {len(rnsb)}</a>" in row
    signs = of_query[(of_query["coefficient"] == "sign") | of_query["metric"].isin(["mac", "rnsb"])]
    least = signs.loc[signs["value"].idxmin()]
    assert f"<td>{share(1 - least['value'])}</td>" in row
    signs = card[card["coefficient"] == "sign"]
    unstable = (signs["verdict"] == "may turn").groupby(signs["metric"]).agg(["sum", "size", "mean"])
    bar = re.search(r'<th scope="row">WEAT</th>(.*?)</tr>', section, re.DOTALL)[1]
    sums = unstable.loc["weat"]
    assert f"{sums['sum']:g} of {sums['size']:g}</td>" in bar
    assert f"<b>{share(sums['mean'])}</b>" in bar
    # the card has the share of all metrics, and names the most stable one
    assert unstable["mean"].idxmin() == "weat"
    turning = unstable["sum"].sum() / unstable["size"].sum()
    assert f"<b>{share(turning)}</b> of scores could change direction with other words" in text
    assert f"Most stable is WEAT ({share(sums['mean'])} could change), least " in text
    record = weat.iloc[0]
    assert f"<dt>Other words<dd>same sign in {html.escape(share(record['value']))} of lists" in text


def test_the_grid_marks_what_aggregates_are_evidence_for(page_study):
    text = text_of(page_study)
    aggregates = tables.read(page_study.paths.table_file("aggregates")).query(
        "aggregation == 'abs_avg' and debias == 'none'"
    )
    rows = aggregates.set_index(["criterion", "model", "metric"])
    grid = text[text.index('<section id="grid"') :].partition("</section>")[0]
    seen = {}
    for criterion, metric, marks in re.findall(
        r'aria-label="([^"]*), (WEAT|RND|MAC)">(.*?)</svg><p', grid, re.DOTALL
    ):
        for model, said in re.findall(r"<title>Model &lt;(\w+)&gt;: [^<]*\), ([^<]*)</title>", marks):
            row = rows.loc[(criterion.replace("All topics", OVERALL), model, metric.lower())]
            assert said == html.escape(phrase(row["evidence"], row["tests"], row["tests"]))
            seen[criterion, model, metric] = row["evidence"]
    # each mark of these metrics says it
    assert len(seen) == len(
        re.findall(r"<title>", "".join(re.findall(r', (?:WEAT|RND|MAC)">.*?</svg><p', grid, re.DOTALL)))
    )
    assert len(seen) > 20
    assert {*seen.values()} == {"all", "none", "untested"}


def shades(text, metric):
    """Of a metric's table: query -> the values and shades of its cells; and the values at the ends of its scale."""
    (part,) = re.findall(rf'<details[^>]* id="heatmap/{metric}">.*?</table>', text, re.DOTALL)
    rows = {
        html.unescape(query): [
            (float(value.split()[0].replace("−", "-")), int(shade))
            for shade, value in re.findall(r"<td class=s(-?\d)><a[^>]*>([^<]*)</a>", cells)
        ]
        for query, cells in re.findall(r'<tr data-query="([^"]*)">(.*?)</tr>', part, re.DOTALL)
    }
    scale = re.search(r'<p class="shades[^"]*">(\S+) <span.*?</span> (\S+) ', part, re.DOTALL)
    return rows, [float(end.replace("−", "-")) for end in scale.groups()]


@pytest.mark.parametrize(("metric", "neutral", "is_signed"), [("weat", 0, True), ("rnsb", 0, False)])
def test_shades_grow_with_the_square_root_of_the_distance_from_no_bias(
    page_study, metric, neutral, is_signed
):
    rows, ends = shades(text_of(page_study), metric)
    cells = [cell for of_query in rows.values() for cell in of_query]
    scores = tables.read(page_study.paths.table_file("scores")).query("metric == @metric")
    distances = (scores["value"] - neutral).abs().dropna()
    full = distances.max()
    assert ends == pytest.approx([-full if is_signed else neutral, full], rel=0.05)
    assert len(cells) == len(distances)
    for value, shade in cells:
        # nine shades on each side, the paler one of no distance alone
        assert abs(abs(shade) - 9 * np.sqrt(abs(value - neutral) / full)) <= 1.1
        assert (shade > 0) == (value > neutral or not is_signed)
    assert {shade > 0 for _, shade in cells} == ({True, False} if is_signed else {True})
    assert max(abs(shade) for _, shade in cells) == 9


def test_the_sides_of_a_value_are_named_by_the_querys_own_sets(page_study):
    text = text_of(page_study)

    def sides(metric, query):
        part = text[text.index(f'id="heatmap/{metric}"') :]
        part = part[part.index(f'<tr data-query="{html.escape(query)}">') :]
        row = re.search(r'<small>(.*?) nearer <b class="s4">\+ (.*?)</b> or <b class="s-4">− (.*?)</b>', part)
        return [html.unescape(name) for name in row.groups()]

    query = page_study.queries["q1"]
    (first, second), (one, other) = query.target_sets_names, query.attribute_sets_names
    # above 0: by WEAT, the first target set is nearer to the first attribute set
    assert sides("weat", query.name) == [first, one, other]
    # by RND, the attribute set is nearer to the second target set
    assert sides("rnd", f"{first} and {second} wrt {one}") == [one, second, first]


def test_few_models_have_no_correlations_of_metrics(page_study, monkeypatch):
    """The section counts the models of correlations.csv, debiased ones included; five are too few for a finding."""
    text = text_of(page_study)
    section = text[text.index('<section id="agreement"') : text.index('<section id="debias"')]
    part = re.sub(r"<[^>]*>", " ", section)
    ranked = tables.read(page_study.paths.table_file("rankings")).query(
        "criterion == 'Overall' and rank.notna()"
    )
    counts = ranked.groupby("metric").size()
    assert counts.nunique() == 1
    assert counts.iloc[0] > ranked.query("debias == 'none'").groupby("metric").size().max()
    assert f"n = {counts.iloc[0]} models" in part
    assert "Five models are too few to say whether metrics agree." in part
    # each coefficient of the table, and no matrix of shades
    table = tables.read(page_study.paths.table_file("correlations"))
    table = table.query("method == 'spearman' and metric_a < metric_b")
    assert section.count('class="strip"') == len(table.dropna(subset=["correlation"])) > 0
    assert "too few models" not in part
    assert '<table class="correlations">' not in section
    # below the limit there is no coefficient
    monkeypatch.setattr(agreement, "FEW", counts.iloc[0] + 1)
    made = report_step(page_study)
    text = render.render(made.inputs, made.spec)
    section = text[text.index('<section id="agreement"') : text.index('<section id="debias"')]
    assert section.count("too few models") == len(table)
    assert 'class="strip"' not in section


def test_the_ranking_has_each_value_and_the_ranks_of_original_models(page_study, page):
    rankings = tables.read(page_study.paths.table_file("rankings"))
    by_model = [row for row in page.rows if row and row[0].startswith("Model <")]
    of_first = rankings[rankings["criterion"] == "First"]
    # both values of a change are of the same queries
    before = of_first[of_first["debias"] == "none"].set_index(["metric", "model"])
    shown = {"rank": 0, "change": 0, "not ranked": 0}
    for row in of_first.dropna(subset=["value"]).itertuples():
        cells = [
            " ".join(cell.split())
            for model in by_model
            if model[0].strip() == f"Model <{row.model}>" + ", Hard debias" * (row.debias == "hard")
            for cell in model[1:]
        ]
        if row.debias == "hard":
            after, original = row, before.loc[(row.metric, row.model)]
            name = "value" if np.isnan(original["value_shared"]) else "value_shared"
            change = getattr(after, name) / original[name] - 1
            wanted = f"{typeset(getattr(after, name))} {'+' if change > 0 else '−'}{share(abs(change))}"
            shown["change"] += 1
        elif np.isnan(row.rank_shared):
            wanted = "not ranked"
            shown["not ranked"] += 1
        else:
            wanted = f"{typeset(row.value_shared)} rank {row.rank_shared:g}"
            shown["rank"] += 1
        assert any(cell.startswith(wanted) for cell in cells), (row, cells)
    assert shown["rank"] > 0
    assert shown["change"] > 0


def test_published_numbers_have_their_verdict(page):
    (place,) = [i for i, row in enumerate(page.rows) if "differs" in row]
    row = page.rows[place]
    assert [row[0], row[1], row[3], row[4], row[6]] == ["Model <one>", "WEAT", "score", "99.5", "differs"]
    assert page.rows[place - 1] == ["A <b>paper</b>: table 1"]


def test_a_section_without_its_template_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(render.REGISTRY, "file", lambda name: tmp_path / "verdict.py")
    with pytest.raises(BiasgridError, match=r"verdict.html: the template of section 'verdict' is missing"):
        render.template_file(render.REGISTRY["verdict"])


def test_a_template_that_changes_is_read_anew(monkeypatch, tmp_path):
    """In one process, which keeps those that it has compiled."""
    monkeypatch.setattr(render, "TEMPLATES", tmp_path)
    for text in ("one", "other", "one"):
        (tmp_path / "text.html").write_text(text)
        assert render.templates().get_template("text.html").render() == text


def test_misspellings_of_print_are_marked_where_people_read_them():
    link = '<a href="#Appearence">'
    assert mark_misspellings(f"{link}wrt Appearence</a>") == f"{link}wrt Appearence [sic]</a>"
    for part in ("<pre><b>Appearence</b></pre>", "<script>'Appearence'</script>", "Appearance > all"):
        assert mark_misspellings(part) == part


def test_models_say_how_many_words_they_have(page_study):
    words = {
        w
        for key, query in page_study.queries.items()
        if key != "pairs"
        for s in (*query.target_sets, *query.attribute_sets)
        for w in s
    }
    lost = {w for w in words if w[0] == "f" or w in finished_study.HOSTILE}
    shown = re.findall(r"words of the queries</dt><dd>(.*?)</dd>", text_of(page_study))
    three = shown[list(page_study.models).index("three")]
    assert three.startswith(f"{len(words) - len(lost)} of {len(words)} words")


def test_a_table_that_one_section_reads_keeps_the_forms_of_each_model():
    rows = [("m", "f", NOT_FOUND), ("m", "f", NOT_FOUND), ("m", "f", "its own"), ("n", "f", NOT_FOUND)]
    table = pd.DataFrame(rows, columns=["model", "forms", "reason"])
    files, section = [InMemory(("lost_words",), table)], REGISTRY["words"]
    assert render._read_tables(files, [section])["lost_words"].index.tolist() == [0, 2, 3]
    other = replace(section, name="other", keep=None)
    assert len(render._read_tables(files, [section, other])["lost_words"]) == 4


def test_lost_words_are_named(page_study, page):
    (row,) = [row for row in page.rows if row and row[0].strip() == "F" and "toy.f" in row[2]]
    # the models that were asked: not the corpus and the table of scores
    assert [*page_study.models] == ["one", "two", "three", "corpus", "table"]
    assert [*map(str.strip, row[4:])] == ["", "", "8: f0, f1, f2, f3, f4, f5, f6, f7"]


@pytest.mark.slow  # a study is run first
def test_the_page_says_that_only_the_first_rows_of_a_model_are_read(plain_study):
    assert re.search(
        r"<dt>source</dt><dd>file: path .*one.txt, the first 20 rows only</dd>", text_of(plain_study)
    )


def test_a_study_without_inference_ranks_or_publications_says_so(plain_study):
    text = text_of(plain_study)
    plain = Page(text)
    assert plain.open == []
    assert plain.wrong == []
    for said in (
        "This study has no ranked topics",
        "This study ranks no models",
        "no correlations between metrics",
        "debiases no model",
        "no published numbers",
    ):
        assert said in re.sub(r"\s+", " ", text)
    assert {link.removeprefix("#") for link in plain.links} <= set(plain.ids)
