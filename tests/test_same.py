"""What counts as the same results, on tables and cells that were changed by hand."""

import json

import pytest
from same import differences

TABLE = """model,metric,value,p_value,rank,words_used
one,weat,0.5,0.25,1,12
one,rnd,1e-13,0.5,2,12
two,weat,-0.25,0.125,2,11
two,lpbs,,,,
"""
CELL = {
    "versions": {"numpy": "1"},
    "results": [{"value": 0.5, "status": "ok", "detail": {"a": {"x": 0.25, "y": 1e-14}}}],
}


@pytest.fixture
def folders(tmp_path):
    made = [tmp_path / name for name in ("first", "second")]
    for folder in made:
        (folder / "cells/one").mkdir(parents=True)
        (folder / "study.json").write_text(json.dumps({"models": {"two": {"kind": "language_model"}}}))
        (folder / "scores.csv").write_text(TABLE)
        (folder / "cells/one/weat.json").write_text(json.dumps(CELL))
    return made


def test_rounding_in_another_order_is_the_same(folders):
    first, second = folders
    assert differences(first, second) == []
    text = TABLE.replace("0.5,0.25", "0.5000000000000002,0.25").replace("1e-13", "1.4e-13")
    (second / "scores.csv").write_text(text.replace("-0.25,", "-0.2500001,"))  # of a language model
    cell = json.loads(json.dumps(CELL).replace("0.25", "0.25000000000000006").replace("1e-14", "2e-14"))
    cell["versions"] = {"numpy": "2"}
    (second / "cells/one/weat.json").write_text(json.dumps(cell))
    assert differences(first, second) == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "0.5,0.25",
            "0.500000000001,0.25",
            "scores.csv: value: 1 of 4 differ, such as '0.5' and '0.500000000001'",
        ),
        ("-0.25,", "-0.250001,", "scores.csv: value: 1 of 4 differ"),
        ("-0.25,", ",", "scores.csv: value: 1 of 4 differ, such as '-0.25' and ''"),
        ("0.25,1", "0.25000000000000006,1", "scores.csv: p_value: 1 of 4 differ"),
        ("0.25,1,12", "0.25,1,13", "scores.csv: words_used: 1 of 4 differ"),
        ("one,rnd", "one,Rnd", "scores.csv: metric: 1 of 4 differ, such as 'rnd' and 'Rnd'"),
        (",words_used", ",words", "scores.csv: columns: without ['words_used'], with ['words']"),
        ("two,lpbs,,,,\n", "", "scores.csv: 4 rows, and 3"),
    ],
)
def test_what_is_not_the_same_in_a_table(folders, old, new, says):
    first, second = folders
    (second / "scores.csv").write_text(TABLE.replace(old, new, 1))
    (line,) = differences(first, second)
    assert line.startswith(says)


def test_a_p_value_of_a_curve_is_a_number_and_one_of_draws_is_a_count(folders):
    first, second = folders
    for name in ("p_normal", "p_value"):
        for folder, p in ((first, "0.17894436741907627"), (second, "0.17894436741907604")):
            (folder / "scores.csv").write_text(f"{name}\n{p}\n0.5\n")
        assert bool(differences(first, second)) == (name == "p_value")


@pytest.mark.parametrize(
    ("name", "times", "is_same"),
    [
        # 4 (1 - r) / r of a reliability r of .00245, which is a difference of numbers near 1, and of r + 4e-15
        ("reliability", "1626.207178909978", True),
        # of r + 1e-10
        ("reliability", "1626.2071126", False),
        ("reliability", "", False),
        ("another", "1626.207178909978", False),
    ],
)
def test_a_quotient_of_small_differences_is_compared_where_it_is_well_conditioned(
    folders, name, times, is_same
):
    first, second = folders
    for folder, text in ((first, "1626.2071789125869"), (second, times)):
        (folder / f"{name}.csv").write_text(f"model,times\none,{text}\none,0.5\n")
    assert (differences(first, second) == []) == is_same


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "0.5,",
            "0.500000000001,",
            "cells: /results/value: in 1 files, such as cells/one/weat.json: 1 of 1 differ",
        ),
        ('"ok"', '"lost"', "cells: /results/status: "),
        ('"y": 1e-14', '"y": 2e-12', "cells: /results/detail/a/y: "),
        ('"x"', '"z"', "cells: /results/detail/a/: "),
        (
            ', "y": 1e-14',
            "",
            "cells: /results/detail/a/: in 1 files, such as cells/one/weat.json: 2 values, and 1",
        ),
    ],
)
def test_what_is_not_the_same_in_a_cell(folders, old, new, says):
    first, second = folders
    (second / "cells/one/weat.json").write_text(json.dumps(CELL).replace(old, new, 1))
    assert differences(first, second)[0].startswith(says)


def test_what_is_said_to_be_gone_is_no_difference(folders):
    first, second = folders
    (second / "scores.csv").write_text(
        "\n".join(line.rpartition(",")[0] for line in TABLE.splitlines()) + "\n"
    )
    (second / "cells/one/weat.json").write_text(json.dumps({"results": [{"value": 0.5, "status": "ok"}]}))
    assert len(differences(first, second)) == 6  # a column, and five places of a record
    assert differences(first, second, ["words_used", "detail"]) == []
    assert differences(first, second, ["words_used", "detail", "p"]) == [f"p: not in {first}"]
    # what both have is not gone
    assert differences(first, first, ["words_used"]) == [
        "scores.csv: columns: without [], with ['words_used']"
    ]
    assert len(differences(first, first, ["detail"])) == 5
