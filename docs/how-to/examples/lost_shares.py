"""The table of lost shares: how much of each set a model lacks."""

from biasgrid.measure.results import results
from biasgrid.tables.keys import CELL
from biasgrid.tables.table import Column, Table


def make(inputs, spec):
    rows = [
        (*key, of_set, len(words) / (len(words) + len(result["found"][of_set])))
        for key, _, result in results(inputs["cells"])
        for of_set, words in result["lost"].items()
    ]
    # several queries may have a sub-query: its first row counts
    return LOST.finish(rows, first=True)


LOST = Table(
    "lost_shares",
    "One row per cell and set of words: the share of the set that the model lacks.",
    (*CELL, Column("set", "the set's name"), Column.share("share", "of its words")),
    make,
    reads=("cells",),
)
TABLES = (LOST,)
