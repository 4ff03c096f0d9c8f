"""Snakemake's own report: figures and tables with the texts of their declarations."""

import json
import re
import zipfile

import pytest

from biasgrid import figures, tables
from biasgrid.workflow import captions


@pytest.mark.slow
@pytest.mark.parametrize("registry", [figures.REGISTRY, tables.REGISTRY])
def test_captions_say_what_declarations_say(registry):
    from docutils.core import publish_doctree

    for name, declared in registry.items():
        if registry is tables.REGISTRY:
            caption = captions.of_table(name)
            of_columns = [text for column in declared.columns for text in (column.name, column.meaning)]
            declared_texts = [declared.meaning, *of_columns]
        else:
            caption = captions.of_figure(name)
            declared_texts = [declared.meaning, declared.reading]
        # halts at a warning
        shown = publish_doctree(caption, settings_overrides={"halt_level": 2}).astext()
        assert shown.split() == " ".join(declared_texts).replace("`", "").split()


def test_rst_says_what_the_text_says():
    assert captions.rst("p_value of `inference.csv` * 2") == r"p\_value of ``inference.csv`` \* 2"


def test_the_report_has_each_figure_once_and_each_table(finished):
    before = finished.results()
    finished.run("--report", "report.zip")
    assert finished.results() == before
    with zipfile.ZipFile(finished.folder / "report.zip") as report:
        page = report.read("report/report.html").decode()
        raw = [name.rpartition("/")[2] for name in report.namelist()]
    shown = json.loads(re.search(r"var results = (\{.*\});", page)[1])
    names = {path.rpartition("/")[2]: entry for path, entry in shown.items()}
    assert {"rankings.svg", "scores.csv", "rankings.csv", "correlations.csv"} <= set(names)
    assert {"rankings.pdf", "rankings.png"}.isdisjoint(raw)
    figure, table = figures.REGISTRY["rankings"], tables.REGISTRY["rankings"]
    assert figure.meaning in names["rankings.svg"]["caption"]
    assert figure.reading in names["rankings.svg"]["caption"]
    assert table.meaning in names["rankings.csv"]["caption"]
    for column in table.columns:
        assert column.name in names["rankings.csv"]["caption"]
    categories = json.loads(re.search(r"var categories = (\{.*\});", page)[1])
    assert {"Figures", "Tables"} <= set(categories)
    # nothing is loaded from a network when it is looked at
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=[\"']?https?:", page)
    # captions make nothing stale
    assert "Nothing to be done" in finished.run().stderr
