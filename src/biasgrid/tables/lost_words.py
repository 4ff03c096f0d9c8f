"""Table of missing words: the words that each model lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import metrics
from ..debias import UNTOUCHED
from ..measure.results import cells
from ..models.preprocessing import form_of, recorded_forms
from ..models.words import NOT_FOUND
from .column import Column
from .derived_columns import QUERY_ID
from .keys import CRITERION, MODEL
from .table import Files, Table

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Cell, Planned


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    import pandas as pd

    look_ups: dict[tuple[str, ...], dict[tuple[str, str], None]] = {}
    for cell, of_cell in cells(inputs["cells"]):
        for result in of_cell:
            for of_set, words in result["lost"].items():
                for word in words:
                    key = cell["criterion"], cell["query"], of_set, word, cell["model"]
                    look_ups.setdefault(key, {})[forms_of(cell), why_lost(result, of_set, word)] = None
    rows = [
        (*key, *(" | ".join(part) for part in zip(*sought, strict=True))) for key, sought in look_ups.items()
    ]
    return pd.DataFrame(sorted(rows), columns=LOST_WORDS.names, dtype="str")


def forms_of(cell: Mapping[str, Any]) -> str:
    """Return the forms in which a cell, read from its file, looks words up."""
    return "; ".join(map(form_of, recorded_forms(cell["words"])))


def why_lost(result: Mapping[str, Any], of_set: str, word: str) -> str:
    """Return why a word is missing, from a result in a cell's file."""
    return str(result.get("why_lost", {}).get(of_set, {}).get(word, NOT_FOUND))


def look_up(cell: Cell) -> tuple[str, str, str, str]:
    """Return the key of the words that a cell lacks.

    Debiasing does not change these words. Only a metric's preprocessors count, and its requirements of a language
    model. All sub-queries of a query share its sets.
    """
    asked = cell.metric if metrics.metric(cell.spec["function"]).unscored else ""
    return cell.criterion, cell.query, cell.model, repr((recorded_forms(cell.spec["words"]), asked))


def look_ups(study: Planned) -> dict[tuple[str, str, str, str], Cell]:
    """Return one cell for each `look_up` of a study, as all others lack the same words.

    The choice does not depend on the order of metrics in the config.
    """

    def preference(cell: Cell) -> tuple[bool, bool, str]:
        template = study.metric(cell.criterion, cell.metric).template
        # Prefer cells without sub-queries, whose files list each word once.
        return cell.debias != UNTOUCHED, not study.queries[cell.query].exactly(template), cell.metric

    cells: dict[tuple[str, str, str, str], Cell] = {}
    for cell in sorted(study.grid.cells.values(), key=preference):
        cells.setdefault(look_up(cell), cell)
    return cells


LOST_WORDS = Table(
    "lost_words",
    "Words of the queries that a model lacks. One row per word of a query's set. If metrics look words up "
    "differently (`words`), a word counts as missing if one of them does not find it.",
    (
        CRITERION,
        QUERY_ID,
        Column("set", "name of the word's set"),
        Column("word", "the word as written in the set"),
        MODEL,
        Column("forms", "spellings under which the model was searched for the word, in this order"),
        Column(
            "reason",
            "why the word was not found: which of its parts are missing, which similar-looking spelling the "
            "model has, or that the model has no spelling of it",
        ),
    ),
    reads=("cells",),
    cells=lambda study: look_ups(study).values(),
    make=make,
)
TABLES = (LOST_WORDS,)
