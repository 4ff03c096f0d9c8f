import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgrid import BiasgridError, Query

WORDS = st.lists(st.text("abcdefgh", min_size=1), min_size=1, unique=True)


def of_template(t, a):
    return Query.of(
        [[f"t{i}x", f"t{i}y"] for i in range(t)],
        [[f"a{i}x", f"a{i}y"] for i in range(a)],
        [f"T{i}" for i in range(t)],
        [f"A{i}" for i in range(a)],
    )


def test_generated_names_are_wefes():
    assert of_template(1, 1).name == "T0 wrt A0"
    assert of_template(2, 1).name == "T0 and T1 wrt A0"
    assert of_template(3, 2).name == "T0, T1 and T2 wrt A0 and A1"
    unnamed = Query.of([["x"], ["y"]], [["z"]])
    assert unnamed.name == "Target set 0 and Target set 1 wrt Attribute set 0"


def test_subqueries_come_targets_first_then_attributes():
    names = [q.name for q in of_template(3, 2).subqueries((2, 1))]
    assert names == [
        "T0 and T1 wrt A0",
        "T0 and T1 wrt A1",
        "T0 and T2 wrt A0",
        "T0 and T2 wrt A1",
        "T1 and T2 wrt A0",
        "T1 and T2 wrt A1",
    ]


def test_a_query_that_has_the_template_keeps_its_own_name():
    named = Query.of([["x"], ["y"]], [["z"]], name="mine")
    assert named.subqueries((2, 1)) == (named,)
    assert of_template(4, 3).subqueries(("n", "n")) == (of_template(4, 3),)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_number_of_subqueries(t, a, need_t, need_a):
    from math import comb

    query = of_template(t, a)
    if need_t <= t and need_a <= a:
        assert len(query.subqueries((need_t, need_a))) == comb(t, need_t) * comb(a, need_a)
    else:
        assert not query.fits((need_t, need_a))
        with pytest.raises(BiasgridError, match="needs more sets"):
            query.subqueries((need_t, need_a))


@given(st.lists(WORDS, min_size=1, max_size=4), st.lists(WORDS, min_size=1, max_size=3))
def test_a_query_file_reads_back_as_the_query(targets, attributes):
    query = Query.of(targets, attributes)
    assert Query.from_dict(json.loads(query.to_json())) == query


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([], [["a"]]), "no target set"),
        (([["a"]], []), "no attribute set"),
        (([["a"], []], [["b"]]), "'Target set 1' is empty"),
        (([["a"]], [["b", 3]]), "3 is not a word"),
        (([["a"]], [["b", ""]]), "'' is not a word"),
        (([["a"]], ["word"]), "must be a list of words"),
        (([["a"], ["b"]], [["c"]], ["X", "X"]), "two sets are named 'X'"),
        (([["a"]], [["c"]], ["X"], ["X"]), "two sets are named 'X'"),
        (([["a"], ["b"]], [["c"]], ["X"]), "2 target sets but 1 names"),
        ((5, [["c"]]), "must be a list of lists"),
        (([["a"]], None), "must be a list of lists"),
        (([["a"]], [["c"]], "X"), "must be a list, not 'X'"),
        (([["a"]], [["c"]], None, None, 5), "query's name must be a line of text"),
        (([["a"]], [["c"]], None, None, ""), "query's name must be a line of text"),
        (([["a"]], [["c"]], ["A\nB"]), "set's name must be a line of text"),
        (([["a"]], [["\ud800"]]), "is not a word"),
    ],
)
def test_bad_queries(arguments, says):
    with pytest.raises(BiasgridError, match=says):
        Query.of(*arguments)


def test_repeated_words_are_warned_of():
    with pytest.warns(UserWarning, match="repeats 'he'"):
        query = Query.of([["he", "him", "he"]], [["x"]])
    assert query.target_sets[0].words == ("he", "him", "he")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not a JSON file"),
        ("[]", "expected an object"),
        ("[" * 100_000, "not a JSON file"),
        ('{"name": "a", "name": "b"}', "duplicate key 'name'"),
        ('{"target_sets": [], "attribute_sets": []}', "target_sets must be a list with at least one set"),
        ('{"target_sets": [{"words": ["a"]}], "attributes": []}', "unknown key 'attributes'"),
        (
            '{"target_sets": [{"name": "a"}], "attribute_sets": [{"words": ["b"]}]}',
            "object with name and words",
        ),
        (
            '{"target_sets": [{"words": "abc"}], "attribute_sets": [{"words": ["b"]}]}',
            "must be a list of words",
        ),
        (
            '{"target_sets": [{"name": 1, "words": ["a"]}], "attribute_sets": [{"words": ["b"]}]}',
            "name must be",
        ),
    ],
)
def test_bad_query_files_are_named(tmp_path, text, says):
    path = tmp_path / "query.json"
    path.write_text(text)
    with pytest.raises(BiasgridError, match=says) as caught:
        Query.read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
