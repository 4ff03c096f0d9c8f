"""Which config file results were made by: no other one writes over them unasked.

A study's name is the folder of its results, and a config that is copied has the name, too. So the first config file
of a run (further ones add to it) is recorded in its results, by its path from there.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ..core.errors import BiasgridError
from ..core.files import refuse_other_folder, write_text
from ..study import checksums

RECORD = "config_file.txt"
# one of them is in each folder of results, also in one that single steps have begun
OWN = (RECORD, "study.json", checksums.NAME, "queries", "cells", "models")
REPLACE = "replace"  # --config replace=true


def check(results: Path, file: str, config: str = "") -> None:
    """Check that results are those of this config file, and that their folder is not another thing's.

    They are where the recorded path leads to it, where that path leads nowhere and ends in the same name (it was
    moved), where nothing is recorded, and where the file is another one but says the same.

    Parameters
    ----------
    results
        The folder of the results.
    file
        The first config file of the run.
    config
        The resolved config of a study, as its study.json has it.

    Raises
    ------
    BiasgridError
        The results are those of another config file, or the folder has none, but other things.
    """
    other_name = "give the study another name, or write into this folder all the same"
    refuse_other_folder(results, OWN, f"{other_name}: {_replacing(file)}")
    former_file = _recorded(results)
    if former_file is None or _is_same(former_file, Path(file)):
        return
    if config and _text(results / "study.json") == config:
        return
    former, this = os.path.relpath(former_file), str(file)
    if former == this:  # the results are a link into another folder
        former, this = str(former_file.resolve()), os.path.abspath(file)
    raise BiasgridError(
        f"{results} was made by {former}, and this is {this}: give the study in it another "
        f"name, or replace those results: {_replacing(file)}"
    )


def record(results: Path, file: str, replaces: bool) -> None:
    """Write down which config file results are of that `check` let pass, where that is not known or has changed."""
    former_file = _recorded(results)
    if former_file is None or replaces or not former_file.exists():
        with suppress(OSError, BiasgridError):  # of a finished study the folder may be read-only
            results.mkdir(parents=True, exist_ok=True)
            write_text(results / RECORD, f"{os.path.relpath(file, results)}\n")


def _replacing(file: str) -> str:
    return f"biasgrid run {file} --replace (snakemake: --config {REPLACE}=true)"


def _recorded(results: Path) -> Path | None:
    path = _text(results / RECORD).rstrip("\n")
    return results / path if path else None


def _is_same(former_file: Path, file: Path) -> bool:
    if former_file.exists():
        return former_file.resolve() == file.resolve()
    return former_file.name == file.name


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
