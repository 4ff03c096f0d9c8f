"""Tables read from their files: what was written, or one line that says what is wrong and where."""

import math
import re
from dataclasses import replace

import conftest
import finished_study
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from biasgrid import BiasgridError
from biasgrid.cli import main
from biasgrid.tables import REGISTRY, Column, Table

pytestmark = pytest.mark.slow

TOY = Table(
    "toy",
    "One row per row.",
    (
        Column("name", "a name"),
        Column("value", "a number", "number"),
        Column("cells", "a count", "count"),
        Column("draws", "a count that may be missing", "optional count"),
        Column("note", "more text"),
    ),
    inputs=lambda study: {},
    make=lambda inputs, spec: pd.DataFrame(spec["rows"], columns=TOY.names),
)
ROWS = [
    ["NA", 0.1 + 0.2, 3, math.inf, ""],
    ["b,\n\"c'", math.nan, 0, None, "nan"],
    ["", -1e-300, 4, None, "é"],
]
TEXT = "name,value,cells,draws,note\na,1.5,3,,x\nb,,4,2,\n"
LIMITED = replace(
    TOY,
    columns=(
        Column("name", "a name", values=("a", "b", "")),
        Column.share("value", "a share"),
        Column.count("cells", "a count"),
        Column("draws", "a rank", "number", range=(1, math.inf)),
        Column("note", "more text"),
    ),
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "toy.csv"


def refusal(path, table=TOY):
    """The message that a file is answered with."""
    with pytest.raises(BiasgridError) as caught:
        table.read(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert len(message) - len(str(path)) < 300
    assert message.endswith(f'make it again: biasgrid step "table {table.name}" --study CONFIG')
    return message.removeprefix(f"{path}: ").rpartition("; ")[0]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=1+1|cmd", "'=1+1|cmd"),
        ("+a", "'+a"),
        ("-ing", "'-ing"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("'=1", "''=1"),
        ("''-1", "'''-1"),
        ("-1.5", "-1.5"),
        ("+3e-5", "+3e-5"),
        ("'s", "'s"),
        ("a=b", "a=b"),
        ("", ""),
    ],
)
def test_a_text_is_no_formula_of_a_spreadsheet_and_reads_back(path, text, written):
    rows = [[text, -1.5, 3, None, text], ["x", 2.5, 2, None, "y"]]
    TOY.write({}, {"rows": rows}, path)
    plain = pd.read_csv(path, keep_default_na=False, dtype="str")
    assert list(plain["name"]) == [written, "x"]
    assert list(plain["note"]) == [written, "y"]
    assert list(plain["value"]) == ["-1.5", "2.5"]
    again = TOY.read(path)
    assert list(again["name"]) == [text, "x"]
    assert list(again["value"]) == [-1.5, 2.5]
    pd.testing.assert_frame_equal(again, TOY.frame({}, {"rows": rows}))


def test_a_table_reads_back_to_the_last_bit(path):
    assert TOY.write({}, {"rows": ROWS}, path) == 3
    again = TOY.read(path)
    assert list(again.columns) == TOY.names
    assert again["name"].tolist() == ["NA", "b,\n\"c'", ""]
    assert again["note"].tolist() == ["", "nan", "é"]
    assert again["value"].tolist() == pytest.approx([0.1 + 0.2, math.nan, -1e-300], rel=0, abs=0, nan_ok=True)
    assert (again["cells"].dtype, again["cells"].tolist()) == ("int64", [3, 0, 4])
    assert again["draws"].tolist() == pytest.approx([math.inf, math.nan, math.nan], nan_ok=True)
    # an empty one, too
    assert TOY.write({}, {"rows": []}, path) == 0
    assert (TOY.read(path)["cells"].dtype, len(TOY.read(path))) == ("int64", 0)


@given(
    st.lists(
        st.tuples(st.text(), st.floats(allow_infinity=False), st.integers(0, 2**62), st.none(), st.text())
    )
)
def test_any_table_reads_back(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    # what ends a line for CSV, and what is no text, is in no name
    rows = [[re.sub(r"[\r\0\ud800-\udfff]", "", x) if isinstance(x, str) else x for x in row] for row in rows]
    TOY.write({}, {"rows": rows}, path)
    again = TOY.read(path)
    for name, column in zip(TOY.names, zip(*rows, strict=True), strict=True) if rows else ():
        if name in ("value", "draws"):
            np.testing.assert_array_equal(again[name].to_numpy(), np.array(column, dtype=float))
        else:
            assert again[name].tolist() == list(column)


def test_columns_of_a_later_version_stay_text(path):
    path.write_text("later,name,value,cells,draws,note\n7,a,1,2,3,x\n")
    assert TOY.read(path)["later"].tolist() == ["7"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not a table (No columns to parse from file)"),
        (b"\n\n", "not a table (No columns to parse from file)"),
        (b"\0" * 300, "has no column name, value, cells, draws, note"),
        (b'{"cells": []}', "has no column name, value, cells, draws, note"),
        (TEXT.replace(",", ";").encode(), "has no column name, value, cells, draws, note"),
        (TEXT.encode("utf-16"), "not a table ('utf-8' codec can't decode byte 0xff in position 0"),
        (TEXT.replace("x", "é").encode("latin-1"), "not a table ('utf-8' codec can't decode byte 0xe9"),
        (TEXT[:12].encode(), "has no column cells, draws, note"),
        (TEXT.replace(",cells", "").encode(), "has no column cells"),
        *((TEXT[:-cut].encode(), "line 3: the file is cut off in it") for cut in range(1, 8)),
        (TEXT[:31].encode(), "line 2: the file is cut off in it"),
        (TEXT.replace(",\n", ",,\n").encode(), "not a table (Error tokenizing data."),
        (TEXT.replace("x\n", "x,y\n").encode(), "line 2: more fields than columns"),
        (TEXT.replace("x\n", "x,y\n").replace("2,\n", "2,,\n").encode(), "line 2: more fields than columns"),
        (TEXT.replace('a,1', 'a,"1').encode(), "not a table (Error tokenizing data."),
        (TEXT.replace("1.5", "many").encode(), "line 2: value: 'many' is not a number"),
        (TEXT.replace("1.5", "nan").encode(), "line 2: value: 'nan' is not a number"),
        (TEXT.replace("1.5", "1" * 5 + "x" * 500).encode(), "line 2: value: '11111xxx"),
        (TEXT.replace("1.5", "\x1b[2J\u2028").encode(), "line 2: value: '\\x1b[2J"),
        (TEXT.replace("b,,4", "b,,4.5").encode(), "line 3: cells: '4.5' is not a whole number"),
        (TEXT.replace("b,,4", "b,,").encode(), "line 3: cells: '' is not a whole number"),
        (TEXT.replace("b,,4", "b,,inf").encode(), "line 3: cells: 'inf' is not a whole number"),
        (TEXT.replace("b,,4", "b,,1e30").encode(), "line 3: cells: '1e30' is not a whole number"),
        (TEXT.replace("b,,4", f"b,,{'9' * 30}").encode(), "line 3: cells: '9999"),
        (TEXT.replace("4,2", "4,many").encode(), "line 3: draws: 'many' is not a whole number"),
        (TEXT.replace("4,2", "4,2.5").encode(), "line 3: draws: '2.5' is not a whole number"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_one_line(path, content, says):
    path.write_bytes(content)
    assert refusal(path).startswith(says)


def test_a_file_that_is_not_there_and_one_that_is_none(path):
    assert refusal(path) == "cannot read it: No such file or directory"
    path.mkdir()
    assert refusal(path).startswith("cannot read it: Is a directory")


@pytest.mark.parametrize(
    ("was", "now", "says"),
    [
        ("a,1.5", "c,.5", "line 2: name: 'c' is not allowed; allowed: a, b, \"\""),
        ("a,1.5", "a,1.5", "line 2: value: '1.5' is not allowed; allowed: finite numbers from 0 to 1"),
        ("a,1.5", "a,-.1", "line 2: value: '-.1' is not allowed; allowed: finite numbers from 0 to 1"),
        ("a,1.5,3", "a,1,-3", "line 2: cells: '-3' is not allowed; allowed: whole numbers from 0"),
        ("a,1.5,3,", "a,1,3,0", "line 2: draws: '0' is not allowed; allowed: finite numbers from 1"),
        ("a,1.5,3,", "a,1,3,1e999", "line 2: draws: '1e999' is not allowed; allowed: finite numbers from 1"),
        ("a,1.5,3,", "a,1,3,inf", "line 2: draws: 'inf' is not allowed"),
    ],
)
def test_what_a_column_does_not_allow_is_one_line(path, was, now, says):
    path.write_text(TEXT.replace(was, now), encoding="utf-8")
    assert refusal(path, LIMITED).startswith(says)


def test_a_column_that_is_empty_in_all_rows_is_read(path):
    path.write_text("name,value,cells,draws,note\n,1,3,,x\n", encoding="utf-8")
    table = replace(LIMITED, columns=(Column("name", "a name", values=("a",)), *LIMITED.columns[1:]))
    assert table.read(path)["name"].tolist() == [""]


def test_a_number_that_rounding_puts_outside_of_its_range_is_read(path):
    path.write_text(TEXT.replace("1.5", "1.0000000000000002"), encoding="utf-8")
    assert LIMITED.read(path)["value"][0] > 1


def test_only_its_place_is_known_of_a_row_that_could_not_be_downloaded(path):
    text = "name,value,cells,draws,note,status\na,1,3,,x,ok\nnew,,0,,,not_downloaded\n"
    path.write_text(text, encoding="utf-8")
    assert LIMITED.read(path)["name"].tolist() == ["a"]
    path.write_text(text.replace("not_downloaded", "ok"), encoding="utf-8")
    assert refusal(path, LIMITED).startswith("line 3: name: 'new' is not allowed")


KEYED = replace(TOY, key=("name", "cells"))


def test_rows_with_the_same_key_are_one_line(path):
    path.write_text(TEXT + "a,2,4,,\n", encoding="utf-8")
    assert KEYED.read(path)["name"].tolist() == ["a", "b", "a"]
    path.write_text(TEXT + "a,2,3,,\n", encoding="utf-8")
    assert refusal(path, KEYED) == "line 4: duplicate key (a, 3)"
    assert len(TOY.read(path)) == 3


def test_another_tables_file_has_not_the_columns(tmp_path):
    """Of each table its own file, and that of the table beside it."""
    of_others = zip(REGISTRY, [*REGISTRY][1:] + [*REGISTRY][:1], strict=True)
    for name, other in [*of_others, *zip(REGISTRY, REGISTRY, strict=True)]:
        path = tmp_path / f"{name}.csv"
        path.write_text(",".join(REGISTRY[other].names) + "\n")
        lacking = [column for column in REGISTRY[name].names if column not in REGISTRY[other].names]
        if not lacking:
            assert len(REGISTRY[name].read(path)) == 0
        else:
            assert refusal(path, REGISTRY[name]).startswith(f"has no column {lacking[0]}"), other


@settings(deadline=None)
@given(st.binary(max_size=400))
@example(b"name,value,cells,draws,note\r\x00")
@example(b"name,value,cells,draws,note\na,1,18446744073709551615,1,x\n")
def test_any_bytes_are_a_table_or_one_line(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "bytes.csv"
    path.write_bytes(content)
    read_or_refused(path)


PIECES = st.sampled_from([
    "name", "value", "cells", "draws", "note", "x", "1", "-0", "1e400", "1e-400", "0x1", "1_0", "nan", "inf", "True",
    "٣", "2020-01-01", "'", "\\", "#", "9" * 25, ",", ",", ",", "\n", "\n", '"', '""', "\r", "\t", " ", "\ufeff",
])  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join), st.booleans())
def test_any_text_is_a_table_or_one_line(tmp_path_factory, text, headed):
    path = tmp_path_factory.getbasetemp() / "text.csv"
    path.write_text("name,value,cells,draws,note\n" * headed + text, encoding="utf-8", newline="")
    read_or_refused(path)


def read_or_refused(path):
    try:
        table = TOY.read(path)
    except BiasgridError:
        refusal(path)
        return
    assert set(TOY.names) <= set(table.columns)
    assert table["cells"].dtype == "int64"
    assert table["value"].dtype == table["draws"].dtype == "float64"
    assert all(isinstance(text, str) for name in ("name", "note") for text in table[name])


# --- a study whose tables are damaged


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of the finished study, which is the working directory."""
    folder = tmp_path_factory.mktemp("made")
    with finished_study.copied(folder):
        yield folder


DAMAGES = {
    "empty": lambda text: b"",
    "cut": lambda text: text[: len(text) // 2].rsplit(b",", 1)[0],
    "cut header": lambda text: text[:20],
    "garbled": lambda text: bytes(reversed(text)),
    "not UTF-8": lambda text: text.replace(b"A and B", b"A \xff B").replace(b"weat", b"w\xffat"),
    "zeros": lambda text: b"\0" * len(text),
    "no number": lambda text: text.replace(b".", b"x"),
    "another table": lambda text: b"criterion,metric\nFirst,weat\n",
}
MADE_FROM = {
    "scores": [("table", "aggregates"), ("table", "rankings"), ("figure", "scores-first-weat")],
    "rankings": [("table", "correlations"), ("figure", "rankings")],
    "correlations": [("figure", "correlations")],
}


@pytest.mark.parametrize(
    ("damage", "table", "what", "name"),
    [
        *((damage, "scores", "table", "rankings") for damage in DAMAGES),
        *(("no number", table, *made) for table, names in MADE_FROM.items() for made in names),
    ],
)
def test_what_is_made_from_a_damaged_table_is_one_line(made, damage, table, what, name):
    path = made / "results" / "small" / f"{table}.csv"
    before = path.read_bytes()
    path.write_bytes(DAMAGES[damage](before))
    try:
        says = f" results/small/{table}.csv: "
        conftest.refusal("step", f"{what} {name}", "--study", "config/config.yaml", parts=[says])
    finally:
        path.write_bytes(before)


@pytest.mark.parametrize(("ours", "other"), [("rnd", "sc_weat"), ("one", "four"), ("First", "Third")])
def test_another_studys_table_is_one_line_or_taken(made, capsys, ours, other):
    """Well formed, with a metric, a model or a criterion that this study has not."""
    for table, made_from in MADE_FROM.items():
        path = made / "results" / "small" / f"{table}.csv"
        before = path.read_text()
        path.write_text(re.sub(rf"\b{ours}\b", other, before))
        try:
            for name in (name for what, name in made_from if what == "table"):
                code = main(["step", f"table {name}", "--study", "config/config.yaml"])
                errors = capsys.readouterr().err
                assert (code, len(errors.splitlines())) in ((0, 0), (2, 1)), (name, errors)
                assert ("unknown metric 'sc_weat'" in errors) == (
                    ours == "rnd" and name in ("rankings", "aggregates")
                )
        finally:
            path.write_text(before)
