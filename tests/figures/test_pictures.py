"""The pictures of README and docs: each shows the numbers of the tables beside it, and is drawn by today's code."""

import json
import re
import sys
from collections import Counter
from contextlib import nullcontext

import matplotlib
import numpy as np
import pytest
from artists import not_laid_out
from conftest import ROOT, SUBSET
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from PIL import Image

from biasgrid import figures, metrics
from biasgrid.figures.frame import PAGE, caption
from biasgrid.measure.aggregation import OVERALL
from biasgrid.queries.query import Query
from biasgrid.study.study import Study
from biasgrid.tables import read

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*repeats")]

IMAGES = ROOT / "docs" / "images"


sys.path.insert(0, str(ROOT / "docs"))
import gallery  # noqa: E402
import generated  # noqa: E402
import pictures  # noqa: E402
from any_tables import tables_of  # noqa: E402
from picture_numbers import shown as numbers_shown  # noqa: E402

# of these, where names or the ends of axes are follows from how the panels are laid out
OF_LAYOUT = {
    "trade-off",
    "gallery-phenomenon-correlations",
    "gallery-ratings",
    "gallery-set-map",
    "gallery-word-map",
}
# a user's, which no figure is drawn with
SETTINGS = {"font.size": 200, "axes.facecolor": "#ff0001", "lines.marker": "x"}


@pytest.fixture(scope="module", params=list(pictures.PICTURES))
def picture(request):
    """A picture: its entry, its tables, and the figure as they are drawn today, under any settings."""
    entry = pictures.PICTURES[request.param]
    found = tables_of(entry)
    with matplotlib.rc_context(SETTINGS), nullcontext() if entry.stem in OF_LAYOUT else not_laid_out():
        return entry, found, entry.draw(found)


def rounded(number) -> float:
    return float(f"{float(number):.9g}") + 0.0


def numbers_of(figure) -> Counter:
    """Places of marks, ends of lines, lengths of bars, and what is written, whole and word by word, heads of panels
    too; no axes and no legends."""
    shown = Counter()
    for axes in figure.axes:
        for bar in axes.patches:
            shown.update([rounded(bar.get_width())] if isinstance(bar, Rectangle) else [])
        for line in axes.lines:
            shown.update(map(rounded, line.get_xydata().ravel()))
        for marks in axes.collections:
            places = marks.get_segments() if isinstance(marks, LineCollection) else [marks.get_offsets()]
            shown.update(rounded(x) for part in places for x in np.ma.getdata(part).ravel())
    for text in (*figure.texts, *(t for axes in figure.axes for t in (axes._left_title, *axes.texts))):
        whole = " ".join(text.get_text().split())
        shown.update({whole, *(re.sub(r"[()\N{DAGGER}]", "", part) for part in whole.split())})
    shown.update(re.sub(r"[();,]", "", part) for part in caption(figure).split())
    return shown


def test_a_picture_shows_the_numbers_of_its_tables(picture):
    entry, found, figure = picture
    expected = Counter(
        value if isinstance(value, str) else rounded(value)
        for value in numbers_shown(entry, found)
        if value == value
    )
    assert expected
    shown = numbers_of(figure)
    missing = {value: (n, shown[value]) for value, n in expected.items() if shown[value] < n}
    assert not missing


def test_a_picture_is_the_one_that_is_drawn_today(picture):
    entry, _, figure = picture
    committed = json.loads(Image.open(IMAGES / f"{entry.stem}.png").text["content"])
    again = f"{entry.stem}.png is older than what draws it, or than its tables: make pictures"
    assert agree(committed, json.loads(json.dumps(pictures.content_of(figure)))), again
    assert max(text.get_fontsize() for text in figure.findobj(Text)) < 40
    assert SETTINGS["axes.facecolor"] not in {to_hex(axes.get_facecolor()) for axes in figure.axes}


def agree(a, b):
    """Whether two contents are the same, numbers to a millionth."""
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(agree, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or a == pytest.approx(b, rel=1e-6, abs=1e-9)
    return a == b


def test_a_picture_has_the_rows_of_its_declaration_and_no_others(picture):
    """What an Example leaves out is not beside its picture: taken again from these files, they are the same bytes."""
    entry, found, _ = picture
    taken = entry.shown(found) if entry.kind else {}
    for name, file in entry.files.items() if entry.kind else ():
        said = f"{entry.kind}: {file.name} is not what its Example shows"
        if entry.suffix == ".npz":  # the archive around arrays is another with another Python
            with np.load(file) as arrays:
                assert {key: x.tobytes() for key, x in arrays.items()} == {
                    key: x.tobytes() for key, x in taken[name].items()
                }, said
        else:
            assert pictures.FORMATS[entry.suffix][1](taken[name]) == file.read_bytes(), said


def test_docs_show_pictures_of_the_list_and_all_of_them():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = set()
    for page in pages:
        for link in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            if "://" not in link:
                assert (page.parent / link).is_file(), f"{page.name}: {link}"
                shown.add((page.parent / link).resolve())
    # those of metrics and debias methods: tests/docs/test_pages.py; of the workflow: tests/workflow/test_graph.py
    shown = {file for file in shown if file.parent.name not in ("metrics", "debias", "workflow")}
    assert shown == {(IMAGES / f"{stem}.png").resolve() for stem in pictures.PICTURES}
    tables = {file for entry in pictures.PICTURES.values() for file in entry.files.values()}
    # and there is nothing beside them
    assert {file.resolve() for file in IMAGES.iterdir() if file.is_file()} == shown | {
        file.resolve() for file in tables
    }


def test_the_gallery_has_every_kind_of_figure_with_a_picture_of_it_and_how_to_read_it():
    page = gallery.PAGE.read_text(encoding="utf-8")
    assert page == gallery.page(), "docs/gallery.md is older than the figures' declarations: make pictures"
    questions = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    reading, reference = gallery.reference(), generated.FIGURES.relative_to(ROOT).as_posix()
    sections = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^#|\Z)", reading, re.MULTILINE | re.DOTALL))
    for name, kind in figures.REGISTRY.items():
        assert len(kind.reading.split()) > 10, f"{name}: Figure.reading says how to read it"
        assert kind.example, f"{name}: Figure.example says which figure of which study the gallery shows"
        assert kind.heading, f"{name}: Figure.heading says what it is called in words"
        assert kind.asks.endswith("?"), f"{name}: Figure.asks is the question below its picture"
        assert kind.learn.endswith("."), f"{name}: Figure.learn says what a reader learns"
        # the picture stands in the grid of its question, opens in full size, and leads to how to read it
        grid = questions[kind.question or gallery.OTHERS]
        (stem,) = re.findall(
            rf"\[!\[{re.escape(kind.heading)}\]\(images/([\w-]+)\.png\)\]\(images/\1\.png\)", grid
        )
        assert pictures.PICTURES[stem].kind == name
        (code,) = re.findall(rf"\[{re.escape(kind.asks)}\]\(\.\./([^)]+)\)", grid)
        assert generated.page_of(code) == f"{reference}#{gallery.anchor(kind.heading)}"
        said = " ".join(sections[kind.heading].split())
        assert f"**{kind.learn}** {kind.reading}" in said
        assert f'`grid.plot("{name}")`' in said
    assert len(sections) == len(figures.REGISTRY)
    # four pictures a row
    rows = [line for line in page.splitlines() if line.startswith("| [![")]
    assert all(row.count("|") == gallery.COLUMNS + 1 for row in rows)


def test_a_title_is_a_finding_in_ten_words_or_a_noun_phrase(picture):
    entry, _, figure = picture
    if not entry.kind:
        return
    title, dots = figure.texts[0].get_text(), 120 if entry.small else 220
    assert len(title.split()) <= 10
    assert "?" not in title
    width, height = Image.open(IMAGES / f"{entry.stem}.png").size
    assert width == PAGE[0] * dots
    assert height <= PAGE[1] * dots
    # how to read it: at most two lines, the last text of a page
    assert figure.texts[2].get_text().count("\n") < 2
    assert caption(figure).startswith(" ".join(title.split()))


def test_pictures_of_the_gallery_are_small():
    for file in IMAGES.glob("gallery-*"):
        assert file.stat().st_size < 80_000, file.name


@pytest.mark.filterwarnings("ignore:.*a word in two sets", "ignore::biasgrid.LostWordsWarning")
def test_a_table_beside_a_picture_has_what_the_library_measures(word2vec):
    """Not from the study's files: its queries, a metric, real vectors. The mean distance to no bias of all scores."""
    key, study = "rnd", Study.read(ROOT / "config" / "embedded.yaml")
    table = read(IMAGES / "rankings.csv")
    row = table[(table["criterion"] == OVERALL) & (table["metric"] == key) & (table["model"] == SUBSET)]
    (row,) = row[row["debias"] == "none"].to_dict("records")
    scores = {}
    for criterion in study.config.criteria:
        metric, options = study.metric(criterion, key), study.word_options(criterion, key, SUBSET)
        params = study.metrics(criterion)[key].params or {}
        for name in study.config.criteria[criterion].queries:
            for part in study.queries[name].subqueries(metric.template):
                assert isinstance(part, Query)
                scores[criterion, part.name] = metrics.metric(key)(part, word2vec, **params, **options).value
    values = np.array(list(scores.values()))
    assert row["cells"] == len(values)
    assert row["cells_nan"] == np.isnan(values).sum()
    assert row["value"] == pytest.approx(np.nanmean(np.abs(values)), rel=1e-12)


def test_an_unknown_picture_and_missing_results_are_one_line(capsys, monkeypatch, tmp_path):
    assert pictures.main(["ranking"]) == 2
    assert "no picture 'ranking'; allowed are rankings, " in capsys.readouterr().err
    monkeypatch.setattr(pictures, "ROOT", tmp_path)
    assert pictures.main(["properties"]) == 2
    remedy = "run `make properties`, then `make pictures PICTURES=properties`"
    assert (
        capsys.readouterr().err == f"properties: results/properties/properties.csv is not there: {remedy}\n"
    )


def test_a_figure_whose_picture_is_not_made_says_how_to_make_it(monkeypatch, tmp_path):
    monkeypatch.setattr(pictures, "IMAGES", tmp_path)
    remedy = "run `make study`, then `make pictures PICTURES=gallery-scores`"
    with pytest.raises(pytest.fail.Exception) as error:
        tables_of(pictures.PICTURES["gallery-scores"])
    assert str(error.value) == f"gallery-scores: docs/images has no gallery-scores.csv: {remedy}"
    assert pictures.main(["--redraw", "gallery-scores"]) == 2
