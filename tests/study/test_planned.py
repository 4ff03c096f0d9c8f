"""What tables and figures read of a study is what `planned.Planned` says."""

import ast

import pytest
from conftest import ROOT

from biasgrid.tables import planned

PLACES = ("src/biasgrid/tables", "src/biasgrid/figures", "plugins")
MODULES = sorted(path for place in PLACES for path in (ROOT / place).rglob("*.py"))
PROTOCOLS = {
    "study": planned.Planned,
    "study.planned": planned.Planned,
    "planned": planned.Planned,
    "study.grid": planned.PlannedGrid,
    "planned.grid": planned.PlannedGrid,
    "study.planned.grid": planned.PlannedGrid,
    "study.paths": planned.Paths,
}
OF_MODELS = {"model_file", "pool_file", "sentence_scores_file", "source_file"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: "/".join(path.parts[-3:]))
def test_no_more_is_read_of_a_study(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and (protocol := PROTOCOLS.get(ast.unparse(node.value))):
            known = {*dir(protocol)} - OF_MODELS
            assert node.attr in known, f"{path}:{node.lineno}: {ast.unparse(node)}"
