"""What a section of a study's page is: the tables that it reads, what it makes of them, and its template."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...debias import UNTOUCHED
from ...statistics.aggregation import OVERALL
from ...verdicts.least_biased import Answer, answers
from ...verdicts.summary import Conclusion, conclude
from ..names import Names

if TYPE_CHECKING:
    import pandas as pd

    from ...query import Query
    from ..score_records import Cells

FOLDER = Path(__file__).parent
State = tuple[str, str]  # a model's key and a debias method's


@dataclass(frozen=True)
class Material:
    """What a study has to show, read once for all sections.

    Parameters
    ----------
    tables
        By name, where the study has them; a section gets those that it reads.
    spec
        The page's, as `report_step.spec_of` gives it.
    names
        What models and metrics are called.
    inputs
        The files of the page's step, by role.
    queries, models
        Queries, and records of models, by key.
    cells
        Every score.
    config, config_text
        The study's config, and the text of its file.
    whole
        Of a section's, that of all sections.
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
    whole: Material | None = None

    @cached_property
    def answers(self) -> list[Answer]:
        """What each metric says of the models; nothing of a study without rankings."""
        if self.whole:
            return self.whole.answers
        if "rankings" not in self.tables or self.tables["rankings"].empty:
            return []
        return answers(
            self.tables["rankings"], self.tables.get("pairs"), self.spec["metrics"], self.spec["level"]
        )

    @cached_property
    def conclusion(self) -> Conclusion:
        """What the study says."""
        if self.whole:
            return self.whole.conclusion
        return conclude(self.answers, self.tables, self.spec["summary"])

    def states_of(self, table: pd.DataFrame) -> list[State]:
        """The models of a table and their debiased states, in the order of the study."""
        states = set(table[["model", "debias"]].itertuples(index=False, name=None))
        order = [
            (model, debias) for model in self.spec["models"] for debias in (UNTOUCHED, *self.spec["debias"])
        ]
        return [state for state in order if state in states]

    def criteria_of(self, table: pd.DataFrame) -> list[str]:
        """The criteria of a table, all of them together first; with one criterion that would repeat it."""
        criteria = set(table["criterion"])
        together = [OVERALL] * (len(criteria) > 2)
        return [name for name in (*together, *self.spec["criteria"]) if name in criteria]

    def metrics_of(self, table: pd.DataFrame, column: str = "metric") -> list[str]:
        """The metrics of a table, in the order of the study."""
        metrics = set(table[column])
        return [metric for metric in self.spec["metrics"] if metric in metrics]


@dataclass(frozen=True)
class Section:
    """A section of a study's page: one file of this package, or of a plug-in, and its template beside it.

    Parameters
    ----------
    name
        What a link to it ends in.
    title
        Its heading.
    reads
        The study's tables that `make` takes, where the study has them.
    make
        Material -> what the template shows. It computes no verdict: it reads those of `biasgrid.verdicts`.
    template
        The file beside it.
    place
        Where it stands on the page: sections are in the order of this number.
    lead
        What is in it, beside its heading, which alone is seen until it is opened; a section without is open.
    keep
        Table -> the rows that `make` takes, of a large table. No others stay in memory, where no other section reads
        it.
    nav
        What the navigation calls it, in a word or two; left out: its heading.
    """

    name: str
    title: str
    reads: tuple[str, ...]
    make: Callable[[Material], dict[str, Any]]
    template: str
    place: int = 55
    lead: str = ""
    keep: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    nav: str = ""
