"""The versions that computed cells and their inference: said in their files, kept there, and told on the page."""

import json
import platform
import re
from importlib import metadata

import finished_study
import numpy as np
import pytest

from biasgrid import __version__
from biasgrid.core import versions
from biasgrid.report.report_step import report_step
from biasgrid.study.steps import cell_step, inference_step

pytestmark = pytest.mark.slow  # a study is run first

HERE = {
    "biasgrid": __version__,
    "python": platform.python_version(),
    "numpy": np.__version__,
    **{name: metadata.version(name) for name in ("scipy", "scikit-learn")},
}


@pytest.fixture
def study(tmp_path):
    with finished_study.copied(tmp_path) as study:
        yield study


def text_of_page(study):
    report_step(study).run()
    text = study.paths.report_file.read_text(encoding="utf-8")
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text[text.index('id="cite"') :]))


def upgrade(monkeypatch, number):
    monkeypatch.setattr(versions, "version", lambda name: number)
    versions.versions.cache_clear()
    monkeypatch.setattr(versions, "python_version", lambda: "9.9.9")


def test_files_say_what_computed_them_and_an_upgrade_changes_only_what_is_computed_again(study, monkeypatch):
    cells, group = list(study.grid.cells.values()), next(iter(study.grid.inference_groups.values()))
    for cell in cells:
        assert json.loads(study.paths.cell_file(cell).read_text())["versions"] == HERE
    file = study.paths.inference_file(group[0])
    assert [cell["versions"] for cell in json.loads(file.read_text())["cells"]] == [HERE] * len(group)
    text = text_of_page(study)
    assert f"All scores were computed by: biasgrid {__version__} python" in text
    assert f"numpy {np.__version__} scipy" in text

    dependence = [cell_step(study, cell).depends_on for cell in cells]
    before = study.paths.cell_file(cells[0]).read_bytes()
    inferred = file.read_bytes()
    upgrade(monkeypatch, "7.7.7")
    try:
        # nothing is stale, what is inferred is kept, and the page goes on saying what computed it
        assert [cell_step(study, cell).depends_on for cell in cells] == dependence
        inference_step(study, group).run()
        assert file.read_bytes() == inferred
        assert text_of_page(study) == text
        # one cell is computed again: the same numbers, and the page says which versions are mixed
        cell_step(study, cells[0]).run()
        after = json.loads(study.paths.cell_file(cells[0]).read_text())
        assert after["versions"] == {"biasgrid": __version__, "python": "9.9.9"} | dict.fromkeys(
            ("numpy", "scipy", "scikit-learn"), "7.7.7"
        )
        assert after["results"] == json.loads(before)["results"]
        text = text_of_page(study)
        assert "different versions" in text
        assert re.search(
            rf"numpy {re.escape(np.__version__)} \([\d,]+ results\) and 7.7.7 \(1 result\)", text
        )
    finally:
        monkeypatch.undo()
        versions.versions.cache_clear()


def test_cells_of_an_earlier_version_do_not_say_it(study):
    for cell in study.grid.cells.values():
        record = json.loads(study.paths.cell_file(cell).read_text())
        del record["versions"]
        study.paths.cell_file(cell).write_text(json.dumps(record))
    assert re.search(
        r"biasgrid not recorded \([\d,]+ results\) and 0\.1\.0 \([\d,]+ results\)", text_of_page(study)
    )
