"""The notebooks as steps of the workflow: what each is made from."""

from __future__ import annotations

import json
import pkgutil
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ..errors import BiasgridError
from ..extras import require
from ..plan import code
from . import engine

FOLDER = Path("notebooks")
# the studies that a notebook reads; one that it opens by its config it has run itself
OPENED = re.compile(r"""\bopen_study\(\s*["']([^"']+)(?<!\.yaml)["']""")


def names() -> list[str]:
    """The notebooks that there are here, in their order."""
    return sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def pages(folder: str, notebooks: Sequence[str]) -> Callable[[Any], list[str]]:
    """Return an input function: the page of each notebook. It ends the run, before anything is measured, where there
    are no notebooks or what executes them is not installed."""

    def page_files(wildcards: Any) -> list[str]:
        try:
            if not notebooks:
                raise BiasgridError("no notebooks here: they are part of a checkout, not of the package")
            for package in ("papermill", "nbconvert", "ipykernel"):
                require(package, "executing notebooks")
        except BiasgridError as error:
            engine.stop(error)
        return [f"{folder}/{name}.html" for name in notebooks]

    return page_files


def studies(results: str, own_files: Iterable[str]) -> Callable[[Any], list[str]]:
    """An input function: the files of the studies that a notebook opens. It ends the run where one is not there.

    Parameters
    ----------
    results
        The folder of the study of this run.
    made
        The files of that study. Of another, study.json stands for all.
    """

    def files(wildcards: Any) -> list[str]:
        path = FOLDER / f"{wildcards.notebook}.ipynb"
        inputs: list[str] = []
        for folder in dict.fromkeys(OPENED.findall(_code(path))):
            if Path(folder) == Path(results):
                inputs += own_files
            elif (study := Path(folder, "study.json")).is_file():
                inputs.append(str(study))
            else:
                engine.stop(
                    f"{path} reads the study {folder}, which is not there: run that first, or run the notebooks with "
                    "--configfile config/embedded.yaml (make notebooks)"
                )
        return inputs

    return files


def _code(path: Path) -> str:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def depends_on() -> str:
    """A digest of all code of the package: a notebook may call any of it."""
    package = code.PACKAGE
    modules = (info.name for info in pkgutil.walk_packages([str(code.ROOT)], f"{package}."))
    return code.digest(*(name for name in modules if not name.endswith("__main__")))
