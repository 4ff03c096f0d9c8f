"""Snakemake's own report of a run: its figures and tables by category."""

import json
import re
import zipfile


def test_the_report_has_each_figure_once_and_each_table(finished):
    before = finished.results()
    finished.run("--report", "report.zip")
    assert finished.results() == before
    with zipfile.ZipFile(finished.folder / "report.zip") as report:
        page = report.read("report/report.html").decode()
        raw = [name.rpartition("/")[2] for name in report.namelist()]
    shown = json.loads(re.search(r"var results = (\{.*\});", page)[1])
    names = {path.rpartition("/")[2] for path in shown}
    assert {"rankings.svg", "scores.csv", "rankings.csv", "correlations.csv", "report.html"} <= names
    assert {"rankings.pdf", "rankings.png"}.isdisjoint(raw)
    categories = json.loads(re.search(r"var categories = (\{.*\});", page)[1])
    assert {"Figures", "Tables", "The page of the study"} <= set(categories)
    # nothing is loaded from a network when it is looked at
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=[\"']?https?:", page)
    # it makes nothing stale
    assert "Nothing to be done" in finished.run().stderr
