"""Section of a study's report: the tables that it reads, the data that it shows, and its template."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...debias import UNTOUCHED
from ...measure.aggregation import OVERALL
from ...tables.conclusions.least_biased import Answer, answers
from ...tables.conclusions.summary import Conclusion, conclude
from ..names import Names

if TYPE_CHECKING:
    import pandas as pd

    from ...queries.query import Query
    from ..score_records import Cells

FOLDER = Path(__file__).parent
# The keys of a model and of a debias method.
State = tuple[str, str]


@dataclass(frozen=True)
class ReportData:
    """Data of a study, read once for all sections.

    Parameters
    ----------
    tables
        The study's tables by name; a section gets the tables that it reads.
    spec
        The report's spec, from `report_step.spec_of`.
    names
        Labels of models and metrics.
    inputs
        The files of the report's task, by role.
    queries, models
        Queries, and records of models, by key.
    cells
        Every score.
    config, config_text
        The study's config, and the text of its file.
    whole
        The data for all sections, if these are the data for one.
    """

    tables: Mapping[str, pd.DataFrame]
    spec: Mapping[str, Any]
    names: Names
    inputs: Mapping[str, Any]
    queries: Mapping[str, Query]
    models: Mapping[str, Mapping[str, Any]]
    cells: Cells
    config: Mapping[str, Any]
    config_text: str
    whole: ReportData | None = None

    @cached_property
    def answers(self) -> list[Answer]:
        """Return each metric's comparison of the models; empty for a study without rankings."""
        if self.whole:
            return self.whole.answers
        if "rankings" not in self.tables or self.tables["rankings"].empty:
            return []
        return answers(
            self.tables["rankings"], self.tables.get("pairs"), self.spec["metrics"], self.spec["level"]
        )

    @cached_property
    def conclusion(self) -> Conclusion:
        """Return the study's conclusions."""
        if self.whole:
            return self.whole.conclusion
        return conclude(self.answers, self.tables, self.spec["summary"])

    def states_of(self, table: pd.DataFrame) -> list[State]:
        """Return the models of a table and their debiased variants, in the order of the study."""
        states = set(table[["model", "debias"]].itertuples(index=False, name=None))
        order = [
            (model, debias) for model in self.spec["models"] for debias in (UNTOUCHED, *self.spec["debias"])
        ]
        return [state for state in order if state in states]

    def criteria_of(self, table: pd.DataFrame) -> list[str]:
        """Return the criteria of a table, with all of them together first if there are several."""
        criteria = set(table["criterion"])
        together = [OVERALL] * (len(criteria) > 2)
        return [name for name in (*together, *self.spec["criteria"]) if name in criteria]

    def metrics_of(self, table: pd.DataFrame, column: str = "metric") -> list[str]:
        """Return the metrics of a table, in the order of the study."""
        metrics = set(table[column])
        return [metric for metric in self.spec["metrics"] if metric in metrics]


@dataclass(frozen=True)
class Section:
    """Section of a study's report: one file of this package, or of a plug-in, with its template next to it.

    Parameters
    ----------
    name
        The end of a link to it.
    title
        Its heading.
    reads
        The study's tables that `make` uses, if the study has them.
    make
        ReportData -> the data for the template. It does not draw conclusions: `tables.conclusions` does.
    template
        The name of the template's file.
    place
        Its position in the report: sections are in the order of this number.
    lead
        Its content, next to its heading; only these are visible until the section is opened. A section without it is
        open.
    keep
        Table -> the rows that `make` uses, for a large table. Other rows are dropped from memory, unless another
        section reads the table.
    nav
        Its name in the navigation, a word or two; by default its heading.
    """

    name: str
    title: str
    reads: tuple[str, ...]
    make: Callable[[ReportData], dict[str, Any]]
    template: str
    place: int = 55
    lead: str = ""
    keep: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    nav: str = ""
