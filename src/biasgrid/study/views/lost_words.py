"""Table of the words that models lack, from the cells of a study or of a grid in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from ..study import Study


def lost_words(study: Study) -> pd.DataFrame:
    """Return the table of `Grid.lost_words`."""
    import pandas as pd

    from ...measure.results import cells
    from ...tables.lost_words import forms_of, look_up, look_ups, why_lost

    lost = {
        place: [
            (of_set, word, forms_of(record), why_lost(result, of_set, word))
            for record, of_cell in cells([study.paths.cell_file(cell)])
            for result in of_cell
            for of_set, words in result["lost"].items()
            for word in words
        ]
        for place, cell in look_ups(study).items()
    }
    columns = ["model", "debias", "criterion", "query", "set", "word", "forms", "reason"]
    rows: dict[tuple[str, ...], None] = {}
    for place, debias in dict.fromkeys((look_up(cell), cell.debias) for cell in study.grid.cells.values()):
        criterion, key, model, _ = place
        of_query = model, debias, criterion, study.queries[key].name
        rows |= dict.fromkeys((*of_query, *entry) for entry in lost[place])
    return pd.DataFrame(rows.keys(), columns=columns, dtype="str")
