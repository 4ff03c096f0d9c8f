"""The files of the user that a study is made from, and what their content was."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from ..digests import content, is_known
from ..plan import steps
from ..plan.study import Study
from ..registry import plugin_files, shipped_plugins
from ..resources import SHARED, resource
from . import stores

LARGE = 500e6  # bytes that take a second to read, or more


def digests_of(study: Study, files_read: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each file of the user that the study is made from, as far as it can be read.

    Parameters
    ----------
    study
        The study.
    files_read
        The files that its config names and that were read with it: files that it includes, word sets, sentences.
    """
    evaluations = (study.grid.evaluations | study.grid.quality).values()
    # all of a criterion read the same files
    of_criteria = {evaluation.criterion: evaluation for evaluation in evaluations}
    files = [
        *files_read,
        *(file for name in study.sources for file in stores.local_file(study, name)),
        *(file for path in study.config.plugins or () for file in _plugin_files(path)),
        *(file for inputs in study.tables.values() for file in steps.own_files(study, inputs)),
        *(
            file
            for evaluation in of_criteria.values()
            for file in steps.evaluation_step(study, evaluation).own
        ),
    ]
    digests = {}
    for file in dict.fromkeys(files):
        if not _is_shipped(file):
            _announce(file)
            digests[file] = content(file)
    return {file: digest for file, digest in digests.items() if digest}


def _plugin_files(path: str) -> list[str]:
    return [] if path in shipped_plugins() else list(map(str, plugin_files(Path(path))))


def _is_shipped(file: str) -> bool:
    """Return whether a file comes with biasgrid, and is not one of the folder that the study runs in."""
    path = Path(file)
    return path.is_absolute() and path.is_relative_to(SHARED if SHARED.is_dir() else resource(""))


def _announce(file: str) -> None:
    """Say that a large file is read before the run begins: nothing else is shown meanwhile."""
    path = Path(file)
    if path.is_file() and (size := path.stat().st_size) > LARGE and not is_known(path):
        print(
            f"biasgrid: reading {file} ({size / 1e9:.1f} GB), which is new or was replaced", file=sys.stderr
        )
