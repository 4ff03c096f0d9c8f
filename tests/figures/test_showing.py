"""`show` of a figure that Python draws: in a window of pyplot, and once below a notebook's cell."""

import pickle
import sys
import types

import matplotlib.pyplot as plt
import pytest
from conftest import ROOT
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg

SCRIPT = """
import numpy as np
import biasgrid as bg
models = [bg.load((list("abcdef"), np.random.default_rng(i).normal(size=(6, 4))), name=str(i)) for i in range(2)]
grid = bg.measure_grid(["rnd"], [bg.Query([["a", "b"], ["c", "d"]], [["e", "f"]])], models, progress=False)
"""


@pytest.fixture
def figure():
    names: dict = {}
    exec(SCRIPT, names)
    return names["grid"].plot("scores")


def test_a_figure_is_shown_in_a_window_and_unknown_to_pyplot_before_and_after(figure, monkeypatch):
    windows = []

    class Manager(FigureManagerBase):
        @classmethod
        def pyplot_show(cls, *, block=None):
            windows.extend(plt.get_fignums())
            manager = plt.get_current_fig_manager()
            windows.append((manager.canvas.figure, manager.canvas is manager.canvas.figure.canvas))

    backend = types.ModuleType("windows")
    backend.FigureManager = Manager
    backend.FigureCanvas = type("Canvas", (FigureCanvasAgg,), {"manager_class": Manager})
    monkeypatch.setitem(sys.modules, "windows", backend)
    before = plt.get_backend()
    plt.switch_backend("module://windows")
    try:
        figure.show()
    finally:
        plt.switch_backend(before)
    assert windows == [1, (figure, True)]
    assert plt.get_fignums() == []
    assert pickle.loads(pickle.dumps(figure)).get_size_inches().tolist() == figure.get_size_inches().tolist()


def test_where_no_window_can_be_opened_it_says_what_to_write(figure):
    with pytest.warns(UserWarning, match=r"no window can be opened here; plot\(\.\.\., path=") as warned:
        figure.show()
    assert warned[0].filename == __file__
    assert plt.get_fignums() == []


@pytest.mark.slow
def test_a_notebook_shows_it_once(monkeypatch):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    drawing = 'grid.plot("scores")'
    cells = [SCRIPT, drawing, f"{drawing}.show()", f"figure = {drawing}", "figure.show()", "figure"]
    cells += ["import matplotlib.pyplot as plt", drawing, f"{drawing}.show()"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    pictures = [
        sum("image/png" in output.get("data", {}) for output in cell["outputs"]) for cell in notebook["cells"]
    ]
    assert pictures == [0, 1, 1, 0, 1, 1, 0, 1, 1]
