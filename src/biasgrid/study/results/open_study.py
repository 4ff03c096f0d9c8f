"""Opening of a finished study as a grid."""

from __future__ import annotations

from pathlib import Path

from ..views.grid import Grid
from .finished_study import find_study
from .older_study import check_finished, existing


def open_study(study: Path | str) -> Grid:
    """Open a finished study as the grid that `measure_grid` would return.

    Parameters
    ----------
    study
        The folder of its results, such as results/embedded, or its config file. The results of a config are
        found below the working directory, where the study runs. A path that does not exist here is searched
        in the checkout that biasgrid runs from, so that notebooks in any of its folders find its studies.

    Returns
    -------
    Grid
        Tables and figures come from the folder. The folder may lack a table, or an older version may have written
        it without a column. It is then computed in memory from the other files on demand, as by
        `biasgrid report`.
        Nothing is measured, no model is opened, and no plugin of the study is loaded: figures of plugins are
        in the folder.

    Raises
    ------
    BiasgridError
        The folder does not contain a study's results, or the study is not finished.

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
