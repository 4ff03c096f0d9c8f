"""A finished study as a grid."""

from __future__ import annotations

from pathlib import Path

from .existing_study import check_finished, existing
from .grid_frames import Grid
from .study import find_study


def open_study(study: Path | str) -> Grid:
    """A finished study as the grid that `measure_grid` would give.

    Parameters
    ----------
    study
        The folder of its results, such as results/embedded, or its config file; the results of that are looked for
        below the working directory, where the study runs. A path that does not exist here is looked for in the
        checkout that biasgrid runs from, so that notebooks in any of its folders find its studies.

    Returns
    -------
    Grid
        Its tables are those of the folder, and its figures are drawn from them. A table that the folder lacks, or
        that older code made without a column, is made of the other files in memory when it is asked for, as
        `biasgrid report` makes it. Nothing is measured, no model is opened, and no plugin of the study is loaded:
        figures of plugins are in the folder.

    Raises
    ------
    BiasgridError
        For a folder that is not that of a study's results, and a study that is not finished.

    Examples
    --------
    >>> study = open_study("results/embedded")  # doctest: +SKIP
    >>> study.rank()  # doctest: +SKIP
    """
    finished_study = find_study(study)
    if not all(finished_study.paths.table_file(name).is_file() for name in finished_study.tables):
        check_finished(finished_study)
    finished_study.warn_of_changed_files()
    return Grid(existing(finished_study))
