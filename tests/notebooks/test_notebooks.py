"""The notebooks: what each cell may hold, and the numbers that they show are what they compute."""

import ast
import base64
import json
import os
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT

from biasgrid.workflow.notebooks import OPENED

NOTEBOOKS = {path.stem: path for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
SHORTEST = ("01_five_minutes", "02_from_wefe")
IMPORTS = {"biasgrid", "biasgrid_plugin_properties", "gensim", "matplotlib", "pandas", "pathlib", "warnings"}
# those whose subject is code of the reader's own -> what else they import
OWN = {
    "09_your_own_metric": {"numpy"},
    "10_three_encoders": {"numpy", "os", "torch", "transformers"},
}
LARGEST = 400 * 1024  # bytes
each = pytest.mark.parametrize("name", NOTEBOOKS)


def cells(name: str, kind: str = "code") -> list[dict]:
    notebook = json.loads(NOTEBOOKS[name].read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


def text(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)


def code(name: str) -> str:
    """The code of all cells, without the lines that a shell runs."""
    lines = "\n".join(text(cell["source"]) for cell in cells(name)).splitlines()
    return "\n".join(line for line in lines if not line.startswith("!"))


# what stands in them


def test_they_are_there_and_the_index_has_each():
    assert NOTEBOOKS.keys() >= set(SHORTEST)
    index = (ROOT / "notebooks" / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\((\w+)\.ipynb\)", index)) >= NOTEBOOKS.keys()


@each
def test_each_ends_with_what_it_shows_and_what_it_does_not(name):
    last = text(cells(name, "markdown")[-1]["source"])
    assert re.findall(r"^## (What .+)$", last, re.M) == ["What this shows", "What it does not"]


@each
def test_they_call_only_the_public_door(name):
    tree = ast.parse(code(name))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {module.partition(".")[0] for module in imported} <= IMPORTS | OWN.get(name, set())
    inner = {module for module in imported if module.startswith("biasgrid.")}
    assert inner <= ({"biasgrid.metrics", "biasgrid.debias"} if name == "09_your_own_metric" else set())
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not [name for name in attributes if name.startswith("_") and not name.endswith("__")]


@pytest.mark.parametrize("name", sorted(NOTEBOOKS.keys() - OWN.keys()))
def test_they_hold_no_helpers(name):
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    assert not [node.name for node in ast.walk(ast.parse(code(name))) if isinstance(node, defined)]


@each
def test_their_paths_are_relative(name):
    # what looks like a path in a text or an output; pictures are base64, and pages have tags and addresses
    notebook = json.loads(NOTEBOOKS[name].read_text(encoding="utf-8"))
    shown = [text(cell["source"]) for cell in notebook["cells"]]
    shown += [texts for cell in cells(name) for texts in texts_of(cell["outputs"])]
    assert not re.findall(r"(?:(?<![\w.:/<])/(?:\w[\w.-]*/)+\w*|\b[A-Z]:\\)", "\n".join(shown))


@each
def test_they_are_small_and_their_metadata_too(name):
    assert NOTEBOOKS[name].stat().st_size < LARGEST
    notebook = json.loads(NOTEBOOKS[name].read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert notebook["metadata"].keys() <= {"kernelspec", "language_info"}
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    assert not [cell["id"] for cell in notebook["cells"] if cell["metadata"].keys() - {"tags"}]


@each
def test_they_were_executed_from_top_to_bottom_without_errors_and_warnings(name):
    counts = [cell["execution_count"] for cell in cells(name)]
    assert counts == list(range(1, len(counts) + 1))
    outputs = [output for cell in cells(name) for output in cell["outputs"]]
    assert "error" not in {output["output_type"] for output in outputs}
    # lost words are told on purpose, and downloads are told where they happen
    said = "".join(text(output["text"]) for output in outputs if output.get("name") == "stderr")
    assert not re.findall(r"\w*(?:DeprecationWarning|FutureWarning|RuntimeWarning)\b.*|downloading.*", said)


@each
def test_they_have_pictures(name):
    pictures = [
        base64.b64decode(text(output["data"]["image/png"]))
        for cell in cells(name)
        for output in cell["outputs"]
        if "image/png" in output.get("data", {})
    ]
    assert pictures
    assert all(picture.startswith(b"\x89PNG") for picture in pictures)


# what they compute

NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]*\w)")
# an object's address, and how long something took
IGNORED = re.compile(r"\b0x[0-9a-f]+\b|\b\d[\d.]* ?(?:[mµn]?s|min|seconds?|minutes?)\b")


def texts_of(outputs: list[dict]) -> list[str]:
    """The texts of a cell's outputs, less what was said on standard error."""
    said = [text(o["text"]) for o in outputs if o["output_type"] == "stream" and o["name"] == "stdout"]
    return said + [text(o["data"]["text/plain"]) for o in outputs if "text/plain" in o.get("data", {})]


def kinds(outputs: list[dict]) -> list[str]:
    return [kind for output in outputs for kind in output.get("data", {}) if kind.startswith("image/")]


def value(number: str) -> tuple[float, float]:
    """A number as it is printed, and what its last digit is worth; 0 for a whole number."""
    plain = number.replace(",", "").replace("−", "-")
    digits, _, exponent = plain.lower().partition("e")
    decimals = len(digits.partition(".")[2])
    return float(plain), 10.0 ** (int(exponent or 0) - decimals) if decimals else 0.0


def differences(before: list[dict], after: list[dict]) -> list[str]:
    """Where the outputs of a cell differ: in words, in how many pictures, or in a number by more than 1e-6 of it and
    more than 1 in its last printed digit."""
    old, new = (IGNORED.sub("", " ".join(texts_of(outputs))) for outputs in (before, after))
    words = [NUMBER.sub("#", shown).split() for shown in (old, new)]
    found = []
    if words[0] != words[1]:
        place = next((i for i, pair in enumerate(zip(*words, strict=False)) if pair[0] != pair[1]), -1)
        there = [" ".join(shown[max(place - 3, 0) :][:8]) for shown in words]
        found.append(f"text: {there[0]!r} is now {there[1]!r}")
    else:
        for was, now in zip(NUMBER.findall(old), NUMBER.findall(new), strict=True):
            (a, last), (b, _) = value(was), value(now)
            if not np.isclose(a, b, rtol=1e-6, atol=1.01 * last):
                found.append(f"{was} is now {now}")
    if kinds(before) != kinds(after):
        found.append(f"pictures: {kinds(before)} are now {kinds(after)}")
    return found


@pytest.fixture
def execute(monkeypatch):
    """Executes a notebook with the running Python and this code, in the repository's root."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    # else a user's own kernels come first
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
    monkeypatch.setenv("JUPYTER_PATH", "")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    # a notebook may call the command `biasgrid`
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")

    def executed(path: Path) -> list[dict]:
        notebook = nbformat.read(path, as_version=4)
        client = nbclient.NotebookClient(
            notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}
        )
        client.execute()
        return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]

    return executed


@pytest.fixture
def execute_here(monkeypatch, tmp_path):
    """Executes a notebook in this process, in the repository's root: a kernel imports as long as these compute."""
    pytest.importorskip("ipykernel")
    from IPython.core.displayhook import CapturingDisplayHook
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.core.pylabtools import select_figure_formats
    from IPython.utils.io import capture_output
    from traitlets.config import Config

    monkeypatch.chdir(ROOT)

    def executed(path: Path) -> list[dict]:
        shell = InteractiveShell(
            config=Config(HistoryManager={"enabled": False}, HistoryAccessor={"enabled": False}),
            ipython_dir=str(tmp_path),
        )
        select_figure_formats(shell, {"png"})
        found = []
        try:
            # as wide as in a kernel
            with pd.option_context("display.max_columns", 20), warnings.catch_warnings():
                for cell in cells(path.stem):
                    shell.display_trap.hook = CapturingDisplayHook(shell)
                    with capture_output() as said:
                        shell.run_cell(text(cell["source"]), store_history=True).raise_error()
                    outputs = [o | {"output_type": "execute_result"} for o in shell.display_trap.hook.outputs]
                    outputs += [{"output_type": "display_data", "data": o.data} for o in said.outputs]
                    printed = {"output_type": "stream", "name": "stdout", "text": said.stdout}
                    found.append({"outputs": [printed] * bool(said.stdout) + outputs})
        finally:
            shell.restore_sys_module_state()
        return found

    return executed


def check(name: str, execute) -> None:
    for folder in OPENED.findall(code(name)):
        if not (ROOT / folder / "study.json").is_file():
            # a check of the embedded study that is skipped would pass for one
            assert folder != "results/embedded", f"{name} reads {folder}, which is not there (make study)"
            pytest.skip(f"{name} reads {folder}, which is not there (make study)")
    found = [
        f"cell {number} ({cell['id']}): {difference}"
        for number, (cell, now) in enumerate(zip(cells(name), execute(NOTEBOOKS[name]), strict=True), 1)
        for difference in differences(cell["outputs"], now["outputs"])
    ]
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("name", SHORTEST)
def test_the_shortest_show_what_they_compute(name, execute_here):
    check(name, execute_here)


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.notebooks
@each
def test_all_show_what_they_compute_in_a_kernel(name, execute):
    check(name, execute)


def test_a_number_that_changed_is_found_and_noise_is_not():
    def shown(line):
        return [{"output_type": "execute_result", "data": {"text/plain": line}}]

    before = shown("weat 0.463439 p=.197 n 12,870 <X at 0x7f12> took 3.2 s -1.5e-07")
    assert not differences(before, shown("weat 0.463440 p=.197  n 12,870\n<X at 0x99> took 11 s -1.5e-07"))
    assert differences(before, shown("weat 0.463442 p=.197 n 12,870 <X at 0x7f12> took 3.2 s -1.5e-07")) == [
        "0.463439 is now 0.463442"
    ]
    assert differences(before, shown("weat 0.463439 p=.197 n 12,871 <X at 0x7f12> took 3.2 s -1.5e-07")) == [
        "12,870 is now 12,871"
    ]
    (told,) = differences(before, shown("weat NaN p=.197 n 12,870 <X at 0x7f12> took 3.2 s -1.5e-07"))
    assert "NaN" in told
    assert differences([{"output_type": "display_data", "data": {"image/png": ""}}], []) == [
        "pictures: ['image/png'] are now []"
    ]
