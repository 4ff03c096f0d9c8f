import copy
import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

import biasgrid as bg
from biasgrid import BiasgridError, Query, WordSet

WORDS = st.lists(st.text("abcdefgh", min_size=1), min_size=1, unique=True)


def of_template(t, a):
    return Query(
        [[f"t{i}x", f"t{i}y"] for i in range(t)],
        [[f"a{i}x", f"a{i}y"] for i in range(a)],
        [f"T{i}" for i in range(t)],
        [f"A{i}" for i in range(a)],
    )


def test_generated_names_are_wefes():
    assert of_template(1, 1).name == "T0 wrt A0"
    assert of_template(2, 1).name == "T0 and T1 wrt A0"
    assert of_template(3, 2).name == "T0, T1 and T2 wrt A0 and A1"
    unnamed = Query([["x"], ["y"]], [["z"]])
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
    named = Query([["x"], ["y"]], [["z"]], name="mine")
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


@given(st.integers(1, 4), st.integers(1, 4))
def test_groups_are_two_or_more_and_sets_one_or_more(t, a):
    query = of_template(t, a)
    assert query.fits(("n", "n"))
    assert query.fits(("k", "n")) == (t >= 2)
    assert query.fits(("n", "k")) == (a >= 2)
    assert query.fits(("k", "k")) == (t == a >= 2)


@pytest.mark.slow
@given(st.lists(WORDS, min_size=1, max_size=4), st.lists(WORDS, min_size=1, max_size=3))
def test_a_query_file_reads_back_as_the_query(targets, attributes):
    query = Query(targets, attributes)
    assert Query.from_dict(json.loads(query.to_json())) == query
    again = Query.from_dict(query.to_dict())
    assert (again, hash(again)) == (query, hash(query))


def test_repeated_words_are_warned_of():
    with pytest.warns(UserWarning, match="repeats 'he'"):
        query = Query([["he", "him", "he"]], [["x"]])
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
    with refused(str(path), says):
        Query.read(path)


MALE, FEMALE = ["he", "man"], ["she", "woman"]
CAREER, FAMILY = ["office", "salary"], ["home", "children"]
GENDER = Query([MALE, FEMALE], [CAREER, FAMILY], ["Male", "Female"], ["Career", "Family"])


def test_the_order_of_arguments_is_wefes():
    assert GENDER.name == "Male and Female wrt Career and Family"
    assert GENDER.target_sets == (WordSet("Male", ("he", "man")), WordSet("Female", ("she", "woman")))
    assert (GENDER.target_sets_names, GENDER.attribute_sets_names) == (
        ["Male", "Female"],
        ["Career", "Family"],
    )
    assert [list(s) for s in GENDER.attribute_sets] == [CAREER, FAMILY]
    assert "he" in GENDER.target_sets[0]
    assert GENDER.target_sets[1][0] == "she"


def test_names_as_keywords():
    names = {"target_sets_names": ["Male", "Female"], "attribute_sets_names": ["Career", "Family"]}
    assert Query([MALE, FEMALE], [CAREER, FAMILY], **names) == GENDER
    assert Query(attribute_sets=[CAREER, FAMILY], target_sets=[MALE, FEMALE], **names) == GENDER


@pytest.mark.parametrize(
    "of",
    [
        list,
        tuple,
        np.array,
        lambda words: np.array(words, dtype=object),
        pd.Series,
        pd.Index,
        lambda words: dict.fromkeys(words).keys(),
        iter,
        lambda words: WordSet("another name", tuple(words)),
    ],
)
def test_words_may_come_in_any_ordered_container(of):
    query = Query({"Male": of(MALE), "Female": of(FEMALE)}, {"Career": of(CAREER), "Family": of(FAMILY)})
    assert query == GENDER
    assert {type(word) for s in query.target_sets for word in s} == {str}


def test_a_table_of_words_is_its_rows_and_word_sets_keep_their_names():
    sides = np.array([MALE, FEMALE]), np.array([CAREER, FAMILY])
    assert Query(*sides, np.array(["Male", "Female"]), pd.Index(["Career", "Family"])) == GENDER
    assert Query(GENDER.target_sets, GENDER.attribute_sets) == GENDER
    assert Query(GENDER.target_sets, [CAREER], ["M", "F"]).name == "M and F wrt Attribute set 0"


def test_queries_are_values():
    for again in (pickle.loads(pickle.dumps(GENDER)), copy.copy(GENDER), copy.deepcopy(GENDER)):
        assert (again, hash(again)) == (GENDER, hash(GENDER))
    assert Query([MALE, FEMALE], [CAREER, FAMILY]) != GENDER
    assert Query([MALE, FEMALE], [FAMILY, CAREER], ["Male", "Female"], ["Career", "Family"]) != GENDER
    for name in ("name", "target_sets", "template"):
        with pytest.raises(AttributeError):
            setattr(GENDER, name, None)


def test_a_query_is_written_and_read(tmp_path):
    GENDER.save(tmp_path / "query.json")
    assert Query.read(tmp_path / "query.json") == GENDER
    assert Query.read(str(tmp_path / "query.json")) == GENDER


def test_repr_has_a_line_for_each_set():
    assert repr(GENDER).splitlines() == [
        "Query 'Male and Female wrt Career and Family'",
        "  target     Male (2): he, man",
        "  target     Female (2): she, woman",
        "  attribute  Career (2): office, salary",
        "  attribute  Family (2): home, children",
    ]


def test_repr_of_large_queries_is_short():
    many = [f"word{i}" for i in range(5000)]
    long = Query([many] * 30, {"<b>\u00e9": ["a\nb", "c" * 500]}, [f"{i}" + "x" * 90 for i in range(30)])
    lines = repr(long).splitlines()
    assert len(lines) == 1 + 8 + 1 + 1
    assert max(map(len, lines)) < 160
    assert lines[1].endswith("word9 and 4990 more")
    assert lines[9] == "  target     and 22 more sets"
    assert "&lt;b&gt;\u00e9" in long._repr_html_()
    assert len(repr(long.target_sets[0])) < 160


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([], [["a"]]), "no target set"),
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
        (([["a"]], [["c"]], ["A\nB"]), "set's name must be a line of text"),
        (([["a"]], [["\ud800"]]), "is not a word"),
        (("name", [["a"]], [["b"]]), "not 'name'; the query's own name is given as name="),
        (([["a"]], [["b"]], "name"), "not 'name'; the query's own name is given as name="),
        (
            (["he", "man"], ["she"]),
            "each target set must be a list of words, not the string 'he'; one set alone",
        ),
        ((["Male"], ["Career"], [["he"]], [["office"]]), "names go to target_sets_names"),
        (([["a"]], [["b"]], [["x"]], [["y"]]), "name must be a line of text, not ['x']"),
        (
            ({"A": ["a"]}, [["b"]], ["x"]),
            "a mapping, whose keys are their names; leave target_sets_names out",
        ),
        (({"A": "he"}, [["b"]]), "'A' must be a list of words, not 'he'"),
        (({"A": {"x": ["he"]}}, [["b"]]), "'A' must be a list of words, not dict"),
        (({1: ["he"]}, [["b"]]), "name must be a line of text, not 1"),
        (([{"a", "b"}], [["c"]]), "not set; a set has no order"),
        (([b"he"], [["c"]]), "must be a list of words, not b'he'"),
        (([np.array("he")], [["c"]]), "must be a list of words, not ndarray"),
        (([np.array([["he"]])], [["c"]]), "is not a word"),
        (([pd.Series(["he", None])], [["c"]]), "is not a word"),
        ((GENDER, [["c"]]), "must be a list of lists of words, or a mapping from names to them, not Query"),
        (([["a"]], [["b"]], {"A": 1}), "names must be a list, not dict"),
    ],
)
def test_shifted_or_mistaken_arguments_are_told(arguments, says):
    with refused(says):
        Query(*arguments)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda at: Query([["a"]], [["c"]], name=5), "query's name must be a line of text"),
        (lambda at: Query([["a"]], [["c"]], name=""), "query's name must be a line of text"),
        (lambda at: Query([["a"]], [["c"]], repetitions="twice"), "repetitions: unknown value 'twice'"),
        (lambda at: GENDER.save(at / "file" / "query.json"), "cannot write it"),
        *((lambda at, path=path: GENDER.save(path), "must be text or a path") for path in (5, None)),
        (lambda at: GENDER.save("a\0b"), "is not the path of a file"),
        *(
            (lambda at, template=template: GENDER.subqueries(template), "no template")
            for template in (2, (0, 1), (True, 1), (2, 1, 1), ("x", 1), (1.0, 1), None, "nn " * 50, ([], {}))
        ),
    ],
)
def test_what_a_query_cannot_is_told(tmp_path, call, says):
    (tmp_path / "file").write_text("")
    with refused(says):
        call(tmp_path)


def test_a_template_may_be_a_list():
    assert GENDER.subqueries([2, 1]) == GENDER.subqueries((2, 1))


def test_wefes_names_are_answered_with_ours():
    for name, ours in (("query_name", "'name'"), ("get_subqueries", "subqueries"), ("dict", "to_dict")):
        with pytest.raises(AttributeError, match=ours):
            getattr(GENDER, name)
    assert not hasattr(GENDER, "anything")


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.binary(max_size=3)
    | st.just(object())
    | st.sampled_from(
        [np.array("x"), np.array(["x", "y"]), np.zeros((2, 2)), pd.Series(["a"]), list, GENDER]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
        | st.frozensets(st.text(max_size=3), max_size=3)
        | st.just(GENDER.target_sets[0])
    ),
    max_leaves=8,
)


@pytest.mark.slow
@given(ANYTHING, ANYTHING, ANYTHING, ANYTHING, ANYTHING)
def test_whatever_is_given_makes_a_query_or_a_sentence(targets, attributes, names, more_names, name):
    for call in (
        lambda: Query(targets, attributes),
        lambda: Query([WordSet(names, targets)], attributes),
        lambda: Query(targets, attributes, names, more_names),
        lambda: Query(targets, [["a"]], target_sets_names=names, name=name),
        lambda: Query.from_dict(targets),
        lambda: Query.from_dict({"name": name, "target_sets": targets, "attribute_sets": attributes}),
        lambda: GENDER.subqueries(targets),
        lambda: Query.read(targets) if not isinstance(targets, str) else GENDER,
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                said = ""
                made = call()
            except BiasgridError as error:
                said, made = str(error), GENDER
        assert len(said) < 400
        assert "\n" not in said
        assert isinstance(made, (Query, tuple))


def test_warnings_point_at_the_callers_line():
    record = {"target_sets": [{"words": ["he", "he"]}], "attribute_sets": [{"words": ["x"]}]}
    for call in (
        lambda: Query([["he", "he"]], [["x"]]),
        lambda: Query.from_dict(record),
    ):
        with pytest.warns(UserWarning, match="repeats 'he'") as caught:
            call()
        assert caught[0].filename == __file__


def test_the_examples_of_the_documentation_run():
    import doctest

    from biasgrid.queries import query
    from biasgrid.study import word_sets

    for module in (query, word_sets):
        ran = doctest.testmod(module)
        assert (ran.failed, ran.attempted > 0) == (0, True)


@pytest.mark.filterwarnings("ignore:.*cannot be small")
def test_repeated_words_count_once_or_as_often_as_they_are_listed():
    vectors = dict(zip("abcdefgh", np.random.default_rng(0).normal(size=(8, 4)), strict=True))
    model = bg.load(vectors, name="drawn")
    sets = [["a", "b", "a"], ["c", "d"]], [["e", "f", "f"], ["g", "h"]]

    def effect_size(targets, attributes):
        unit = {word: vector.astype(np.float32) / np.linalg.norm(vector) for word, vector in vectors.items()}
        s = [
            [
                np.mean([unit[w] @ unit[a] for a in attributes[0]])
                - np.mean([unit[w] @ unit[a] for a in attributes[1]])
                for w in side
            ]
            for side in targets
        ]
        return (np.mean(s[0]) - np.mean(s[1])) / np.std([*s[0], *s[1]], ddof=1)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        counted, silent = (Query(*sets, repetitions=how) for how in ("count", "once"))
    once = [[list(dict.fromkeys(words)) for words in side] for side in sets]
    with pytest.warns(UserWarning, match="repeats '[af]'; it counts once") as warned:
        query = Query(*sets)
    assert len(warned) == 2
    for asked, words, used in ((query, once, 8), (silent, once, 8), (counted, sets, 10)):
        result = bg.metrics.weat_es(asked, model, ddof=1, permutation=True)
        assert result.value == pytest.approx(effect_size(*words), rel=1e-6)
        assert (result.words_used, result.words_lost) == (used, 0)
    assert counted.to_dict()["repetitions"] == "count"
    assert "repetitions" not in query.to_dict()
    assert Query.from_dict(counted.to_dict()) == counted != query
