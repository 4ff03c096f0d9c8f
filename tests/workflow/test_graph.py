"""The graph that the rules spell is the one that the plan has, and that docs draw."""

import json
import re

import numpy as np
import pytest
import rulegraph
from finished_study import finished
from PIL import Image

from biasgrid import tables
from biasgrid.figures.frame import style
from biasgrid.study.study import Study
from biasgrid.workflow.plan import Plan

pytestmark = pytest.mark.slow


def test_a_job_reads_what_its_steps_read(monkeypatch):
    project = finished()
    monkeypatch.chdir(project.folder)
    study = Study.read("config/config.yaml")
    done = project.run("--dry-run", "--forceall")
    jobs = []
    for block in re.split(r"\n(?=\[)", done.stdout + done.stderr):
        files = {
            role: set(re.sub(r" \([^)]*\)", "", found[1]).split(", "))
            for role in ("input", "output")
            if (found := re.search(rf"^ {{4}}{role}: (.+)$", block, re.M))
        }
        if "output" in files:
            jobs.append((files["output"], files.get("input", set())))
    plan = Plan(study)
    assert {name: step.name for name, step in plan.items()} == {name: name for name in plan}
    # tests load all plugins that come with biasgrid, and the run loads none
    of_plugins = {f"table {name}" for name in tables.REGISTRY if not tables.REGISTRY.is_shipped(name)}
    steps = [step for step in plan.values() if step.name not in of_plugins]
    assert len(steps) > 50
    for step in steps:
        found = [job for job in jobs if str(step.output) in job[0]]
        assert len(found) == 1, step.name
        ((outputs, inputs),) = found
        if step.name == "report":
            # cells and inference reach the page by way of tables, whose job reads them
            read_by_tables = {file for made, read in jobs if made & inputs for file in read}
            assert set(step.files) <= inputs | read_by_tables
            continue
        members = [other for other in steps if set(other.outputs) & outputs]
        assert inputs == {file for member in members for file in member.files} - outputs, step.name
        assert outputs == {file for member in members for file in member.outputs}


def test_docs_draw_the_rules_as_they_are():
    edges = [tuple(edge) for edge in json.loads(rulegraph.EDGES.read_text(encoding="utf-8"))]
    assert rulegraph.edges_of() == edges, "make rulegraph"
    assert {rule for edge in edges for rule in edge} == set(rulegraph.BOXES)
    # what others stand for is not drawn, but for a path over a step that a study may lack
    arrows = rulegraph.direct(edges)
    assert {("query", "cell"), ("store", "cell"), ("debias", "cell"), ("cell", "inference")} <= set(arrows)
    assert not {("query", "inference"), ("cell", "tables"), ("cell", "report")} & set(arrows)
    with style():
        figure = rulegraph.draw(edges)
        figure.set_dpi(220)
        figure.canvas.draw()
    drawn = np.asarray(figure.canvas.buffer_rgba()).astype(int)
    committed = np.asarray(Image.open(rulegraph.EDGES.with_suffix(".png")).convert("RGBA")).astype(int)
    assert drawn.shape == committed.shape, "make rulegraph"
    assert (np.abs(drawn - committed) > 16).any(axis=-1).sum() <= 20, "make rulegraph"
