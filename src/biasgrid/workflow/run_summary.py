"""The last lines of a run: what the study says, and where to read more."""

from __future__ import annotations

from pathlib import Path

from ..core.errors import BiasgridError
from ..study.study import Study

WIDTH = 80  # characters of a line


def conclusions(study: Study) -> list[str]:
    """Return what the study says, in lines: `biasgrid.tables.conclusions.summary`.

    It is read from the study's tables. A table that cannot be read costs these lines, and not the run.
    """
    try:
        from ..tables.conclusions.summary import lines
        from ..tables.read_conclusions import conclusion_of

        return lines(conclusion_of(study), WIDTH)
    except Exception as error:  # the run has succeeded, whatever has become of a table since
        kind = "" if isinstance(error, BiasgridError) else f"{type(error).__name__}: "
        return [kind + " ".join(str(error).split())]


def where(study: Study) -> str:
    """The path of the report, or of tables and figures where there is none."""
    report = study.results / "report.html"
    return f"report: {report}" if report.is_file() else tables_and_figures(study.results)


def tables_and_figures(results: Path) -> str:
    """Where the results of a run are."""
    figures = results / "figures"
    return f"tables: {results}/*.csv" + (f", figures: {figures}" if figures.is_dir() else "")
