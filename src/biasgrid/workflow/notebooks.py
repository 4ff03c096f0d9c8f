"""The notebooks as steps of the workflow: what each is made from, and how one is executed.

python -m biasgrid.workflow.notebooks NOTEBOOK EXECUTED PAGE
"""

from __future__ import annotations

import json
import os
import pkgutil
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..core import processes
from ..core.errors import BiasgridError
from ..core.extras import require
from ..core.files import write_text
from ..study import code
from .setup import stop

FOLDER = Path("notebooks")
# the studies that a notebook reads; one that it opens by its config it has run itself
OPENED = re.compile(r"""\bopen_study\(\s*["']([^"']+)(?<!\.yaml)["']""")


def names(folder: Path | str) -> list[str]:
    """Return the names of the notebooks of a checkout, in order.

    There are none if the working directory is not the folder of the Snakefile: a notebook is code, and that of a
    stranger's folder is not run.
    """
    if Path(folder).resolve() not in (Path.cwd(), Path.cwd() / "workflow"):
        return []
    return sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def pages(folder: str, notebooks: Sequence[str]) -> list[str]:
    """Return the page of each notebook.

    End the run, before anything is measured, if there are no notebooks or what executes them is not installed.
    """
    try:
        if not notebooks:
            raise BiasgridError("no notebooks here: they are part of a checkout, not of the package")
        for package in ("papermill", "nbconvert", "ipykernel"):
            require(package, "executing notebooks")
    except BiasgridError as error:
        stop(error)
    return [f"{folder}/{name}.html" for name in notebooks]


def studies(notebook: str, results: str, own_files: Iterable[str]) -> list[str]:
    """Return the files of the studies that a notebook opens. End the run if one is not there.

    Parameters
    ----------
    notebook
        The name of the notebook.
    results
        The folder of the study of this run.
    own_files
        The files of that study. Of another, study.json stands for all.
    """
    path = FOLDER / f"{notebook}.ipynb"
    inputs: list[str] = []
    for folder in dict.fromkeys(OPENED.findall(_code(path))):
        if Path(folder) == Path(results):
            inputs += own_files
        elif (study := Path(folder, "study.json")).is_file():
            inputs.append(str(study))
        else:
            stop(
                f"{path} reads the study {folder}, which is not there: run that first, or run the notebooks with "
                "--configfile config/embedded.yaml (make notebooks)"
            )
    return inputs


def _code(path: Path) -> str:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def code_of_package() -> str:
    """Return a digest of all code of the package: a notebook may call any of it."""
    package = code.PACKAGE
    modules = (info.name for info in pkgutil.walk_packages([str(code.ROOT)], f"{package}."))
    return code.digest(*(name for name in modules if not name.endswith("__main__")))


def execute(notebook: str, executed: str, page: str) -> None:
    """Execute a notebook, and write it and its page, which needs no network and whose links lead from its folder.

    The kernel is that of this Python: a user's own kernels may lack biasgrid. What the notebook starts does not
    belong to the run of the workflow.
    """
    import nbconvert
    import papermill

    os.environ |= {"JUPYTER_PREFER_ENV_PATH": "1", "JUPYTER_PATH": "", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    for name in (processes.STARTED_BY, processes.RANDOM_GROUPS):
        os.environ.pop(name, None)
    papermill.execute_notebook(notebook, executed, kernel_name="python3", cwd=".", progress_bar=False)
    exporter = nbconvert.HTMLExporter(mathjax_url="", require_js_url="")
    text, _ = exporter.from_filename(executed)
    text = re.sub(r'href="\.\./', 'href="../../', text)
    write_text(page, re.sub(r'(href="[0-9][a-z0-9_]*)\.ipynb', r"\1.html", text))


if __name__ == "__main__":
    execute(*sys.argv[1:])
