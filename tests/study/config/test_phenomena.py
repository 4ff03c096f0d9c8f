"""Phenomena of a criterion: which sets of words are tested together."""

from collections import Counter

import pytest
from conftest import ROOT, grid_config
from refusals import refused

from biasgrid import word_sets
from biasgrid.study.config.load import read
from biasgrid.study.study import Study

GENDER = {"Male terms": "weat.male_terms", "Female terms": "weat.female_terms"}
RELIGION = {"Christianity": "eds.words_christianity", "Islam": "eds.words_islam"}


def lists(*sizes):
    """Phenomena of so many words each, no two alike."""
    return {
        f"P{i}": {"words": [f"p{i}w{j}" for j in range(size)], "reason": "a test"}
        for i, size in enumerate(sizes)
    }


def config_with(sets, **entry):
    config = grid_config()
    groups = {"A": [f"a{i}" for i in range(8)], "B": [f"b{i}" for i in range(8)]}
    criterion = {
        "ranked": False,
        "phenomena": {"groups": groups, "sets": sets},
        "metrics": {"rnd": {}},
        **entry,
    }
    second = {"q3": {"targets": {"C": ["c0"], "D": ["d0"]}, "attributes": {"E": ["e0"]}}}
    config["criteria"] = {"Over": criterion, "Second": {"queries": second, "metrics": {"rnd": {}}}}
    return config


@pytest.fixture(scope="module")
def shipped():
    criteria = {
        name: {"ranked": False, "phenomena": {"groups": groups, "sets": "config/phenomena.yaml"}}
        for name, groups in (("Gender", GENDER), ("Religion", RELIGION))
    }
    return Study.of(grid_config() | {"criteria": criteria, "metrics": {"rnd": {}}}, root=ROOT)


@pytest.mark.parametrize(("criterion", "groups"), [("gender", GENDER), ("religion", RELIGION)])
def test_the_shipped_phenomena_are_30_sets_of_different_words(shipped, criterion, groups):
    queries = [query for key, query in shipped.queries.items() if key.startswith(f"{criterion}_")]
    assert len(queries) == 30
    assert all(query.template == (2, 1) for query in queries)
    seeds = [
        word.lower() for name in groups.values() for word in word_sets(name.split(".")[0])[name.split(".")[1]]
    ]
    words = [word for query in queries for word in {w.lower() for w in query.attribute_sets[0].words}]
    assert max(Counter(words).values()) == 1
    assert not set(words) & set(seeds)
    assert min(len(query.attribute_sets[0].words) for query in queries) >= 6


def test_every_shipped_phenomenon_says_why():
    entries = read(ROOT / "config" / "phenomena.yaml")
    assert all(len(entry["reason"].split()) >= 5 for entry in entries.values())
    # lists are parts of a list that is published
    assert all(isinstance(entry["words"], str) or "part_of" in entry for entry in entries.values())


def test_each_phenomenon_is_a_query_that_a_resolved_config_has(tmp_path):
    study = Study.of(config_with(lists(3, 2)))
    queries = {key: query for key, query in study.queries.items() if key.startswith("over_")}
    assert list(queries) == ["over_p0", "over_p1"]
    assert queries["over_p0"].target_sets_names == ["A", "B"]
    assert [s.words for s in queries["over_p1"].attribute_sets] == [("p1w0", "p1w1")]
    path = tmp_path / "study.json"
    path.write_text(study.to_json())
    assert Study.read(path).digest == study.digest


def test_words_are_left_out_and_sets_may_be_in_a_file(tmp_path):
    (tmp_path / "sheet.yaml").write_text("Career: {words: weat.career, without: [office], reason: its own}")
    study = Study.of(config_with(["sheet.yaml", lists(2)]), root=tmp_path)
    words = study.queries["over_career"].attribute_sets[0].words
    assert sorted(words) == sorted(set(word_sets("weat")["career"]) - {"office"})
    assert "over_p0" in study.queries


def changed(name, **entry):
    sets = lists(2, 2)
    sets[name] |= entry
    return sets


@pytest.mark.filterwarnings("ignore:.*is also in")
def test_sets_that_overlap_are_taken_as_they_are_where_the_config_says_so():
    config = config_with(changed("P1", words=["x", "p0w1", "a3", "x"]))
    config["criteria"]["Over"]["phenomena"]["overlaps"] = True
    queries = Study.of(config).queries
    assert [list(queries[f"over_p{i}"].attribute_sets[0]) for i in (0, 1)] == [
        ["p0w0", "p0w1"],
        ["x", "p0w1", "a3"],
    ]


@pytest.mark.parametrize(
    ("sets", "says"),
    [
        (
            changed("P1", words=["x", "P0W1"]),
            "P1: 'p0w1' is also in 'P0'; leave it out of one (without)",
        ),
        (changed("P1", words=["A3"]), "P1: 'a3' is also in 'A'"),
        (changed("P1", without=["y"]), "P1: without: 'y' is not in the word set"),
        (changed("P1", without=["p1w0", "p1w1"]), "P1: without: leaves no word"),
        (changed("P1", part_of="weat.career"), "P1: part_of: 'p1w0' is not in the word set"),
        (changed("P1", words="weat.carer"), "unknown word set 'carer'; did you mean 'career'"),
        (changed("P1", why="x"), "P1: unknown key 'why'"),
        ({"P": {"words": ["x"]}}, "key 'reason' is missing"),
        (
            {"P p": lists(1)["P0"], "P-p": {"words": ["y"], "reason": "x"}},
            "another phenomenon has the query id 'over_p-p'",
        ),
        ({}, "sets: is empty"),
        ([lists(1), lists(1)], "'P0' is defined twice"),
    ],
)
def test_what_is_wrong_is_one_line(sets, says):
    with refused(says):
        Study.of(config_with(sets))
