"""What tables and figures declare that they are made from, and how a table finishes its rows."""

import pytest

from biasgrid.figures import REGISTRY as FIGURES
from biasgrid.tables import REGISTRY as TABLES
from biasgrid.tables.inputs import FACTS, LEFT_OUT, SOURCES, WHEN
from biasgrid.tables.table import Column, Table


@pytest.mark.parametrize("entry", [*TABLES.values(), *FIGURES.values()], ids=lambda entry: entry.name)
def test_all_that_a_table_or_figure_names_is_there(entry):
    assert {*entry.reads} <= {*SOURCES, *TABLES}
    assert {*entry.facts} <= {*FACTS}
    assert callable(entry.when) or {*filter(None, entry.when.split(" and "))} <= {*WHEN}


def test_what_is_left_out_has_a_condition():
    assert {*LEFT_OUT} <= {*SOURCES, *TABLES}
    assert {name for when in LEFT_OUT.values() for name in when.split(" and ")} <= {*WHEN}


def test_rows_are_sorted_by_the_texts_that_lead_a_table():
    columns = (
        *(Column("model", "a model"), Column("word", "a word")),
        *(Column.count("n", "a count"), Column.value("value", "a number"), Column("note", "a text")),
    )
    table = Table("toy", "One row per word.", columns, lambda inputs, spec: None)
    rows = [
        ("b", "x", 1, 2, "first"),
        ("a", "y", 1, None, ""),
        ("b", "x", 2, 3, "second"),
        ("a", "x", 4, 0.5, ""),
    ]
    made = table.finish(rows)
    assert table.lead == ["model", "word"]
    assert [*made["n"]] == [4, 1, 1, 2]
    assert [str(dtype) for dtype in made.dtypes[2:4]] == ["int64", "float64"]
    assert made["value"].isna().tolist() == [False, True, False, False]
    assert [*table.finish(rows, first=True)["note"]] == ["", "", "first"]
    assert table.finish([]).dtypes.tolist()[2:4] == made.dtypes.tolist()[2:4]
