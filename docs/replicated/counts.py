"""How many published numbers the studies compare with a number of their own, and with which result."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from biasgrid.tables.published.published import PRINTED
from biasgrid.tables.published.verdict import NO_VALUE

from .results import OTHER, Results, paragraph

PUBLISHED = Path(__file__).parents[2] / "data" / "published"
VERDICTS = ("reproduced", "compatible", "explained", "differs")


def counts(studies: Iterable[Results]) -> str:
    """Return the sentences of docs/replications.md that count published numbers."""
    tables = [
        study.comparison.assign(study=study.folder.name)
        for study in studies
        if (study.folder / "comparison.csv").is_file()
    ]
    table = pd.concat(tables, ignore_index=True)
    # numbers that other code computed, or that belong to other vectors, are not compared with a published one
    table = table[(table["origin"] == PRINTED) & ~table["verdict"].isin(OTHER)]
    number = table["verdict"].value_counts()
    if unknown := set(number.index) - {*VERDICTS, NO_VALUE}:
        raise ValueError(f"no words for the verdicts {sorted(unknown)}")
    rows = sum(len(pd.read_csv(path)) for path in PUBLISHED.glob("*.csv"))
    by_verdict = ", ".join(f"{number.get(verdict, 0)} `{verdict}`" for verdict in VERDICTS)
    differ = table.loc[table["verdict"] == "differs", "study"].value_counts(sort=False)
    without = int(number.get(NO_VALUE, 0))
    return paragraph(
        f"The files of published numbers have {rows:,} rows.",
        f"The studies below reach {len(table)} of them on models that the package registries of Python and npm have, "
        f"or that come with biasgrid. Of these, {len(table) - without} could be checked: {by_verdict}.",
        f"For the other {without} the vectors lack words (`{NO_VALUE}`).",
        "The rest needs other models.",
        f"Numbers that differ: {', '.join(f'{n} in `{study}`' for study, n in differ.items())}."
        * bool(len(differ)),
    )
