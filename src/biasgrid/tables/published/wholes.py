"""Joint verdicts on rankings and correlation matrices, because single ranks agree by chance.

With seven models in random order, each has its printed rank with probability 1/7, and all seven with 1/5040.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .at_hand import QUANTITIES
from .published import CORRELATIONS
from .verdict import AGREEING, NO_VALUE, UNJUDGED, VERDICTS

if TYPE_CHECKING:
    import pandas as pd

# For each quantity: the name of its whole in singular and plural, and the columns that identify a whole.
WHOLES = {
    "rank": (("ranking", "rankings"), ["source", "criterion", "metric"]),
    QUANTITIES["rank"]: (
        ("ranking among the models at hand", "rankings among the models at hand"),
        ["source", "criterion", "metric"],
    ),
    **dict.fromkeys(CORRELATIONS, (("correlation matrix", "correlation matrices"), ["source", "criterion"])),
    **{
        QUANTITIES[name]: (
            ("correlation matrix of the models at hand", "correlation matrices of the models at hand"),
            ["source", "criterion"],
        )
        for name in CORRELATIONS
    },
}


def judge_wholes(table: pd.DataFrame) -> pd.DataFrame:
    """Return the comparison with one verdict for all numbers of a ranking or a matrix: the worst of theirs.

    If the study lacks a number of a whole, or one cannot be judged, the others become "no value", because a
    rank among fewer models is another quantity. `note` gives the reason.
    """
    table = table.copy()
    for quantity, ((noun, _), columns) in WHOLES.items():
        for _, part in table[table["quantity"] == quantity].groupby(columns):
            unjudged = part["verdict"].isin(UNJUDGED)
            agreeing = int(part["verdict"].isin(AGREEING).sum())
            if unjudged.any():
                places, outcome = part.index[~unjudged], NO_VALUE
                table.loc[places, ["ours", "difference"]] = np.nan
                note = f"a {noun} is judged as a whole, and ours lacks {unjudged.sum()} of its {len(part)} numbers"
            else:
                places, outcome = part.index, max(part["verdict"], key=VERDICTS.index)
                note = f"judged as a whole: {agreeing} of {len(part)} numbers of this {noun} agree"
                note = note if agreeing < len(part) else ""
            table.loc[places, "verdict"] = outcome
            table.loc[places, "note"] = ["; ".join(filter(None, (old, note))) for old in part["note"][places]]
    return table


def counted(table: pd.DataFrame) -> dict[tuple[str, str], pd.Series]:
    """Return the verdicts to count, by name in singular and plural: one per number, per ranking, per matrix."""
    is_whole = table["quantity"].isin(WHOLES)
    verdicts = {("number of these models", "numbers of these models"): table.loc[~is_whole, "verdict"]}
    for nouns, columns in dict(WHOLES.values()).items():
        quantities = [quantity for quantity, whole in WHOLES.items() if whole[0] == nouns]
        wholes = table[table["quantity"].isin(quantities)].groupby(["quantity", *columns])["verdict"]
        verdicts[nouns] = wholes.agg(lambda part: max(part, key=VERDICTS.index))
    return {nouns: part for nouns, part in verdicts.items() if len(part)}
