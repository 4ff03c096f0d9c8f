"""The columns that tables end with (ids of queries, labels of models), and the table of lost words."""

import warnings

import numpy as np
import pytest
from conftest import make_store

from biasgrid import Query, debias, measure_grid

SETS = {letter: [f"{letter}{i}" for i in range(4)] for letter in "abcxy"}
VOCABULARY = [word for words in SETS.values() for word in words]


def query(targets, attributes):
    return Query(*({letter.upper(): SETS[letter] for letter in side} for side in (targets, attributes)))


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Two models; the second has a0 in capital letters only, and lacks x1."""
    vectors = np.random.default_rng(1).normal(size=(len(VOCABULARY), 8)).astype(np.float32)
    other = [{"a0": "A0", "x1": "other"}.get(word, word) for word in VOCABULARY]
    return {
        name: make_store(tmp_path_factory.mktemp(name), words, vectors)
        for name, words in (("whole", VOCABULARY), ("part", other))
    }


def measured(models, queries, measured_by=("weat", "ect", "mac"), **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # words are lost
        return measure_grid(
            measured_by, queries, models, lost_vocabulary_threshold=0.5, progress=False, **options
        )


def ids(table):
    return {(row.metric, row.query): (row.query_id, row.parent_query_id) for row in table.itertuples()}


@pytest.mark.slow
def test_rows_have_the_id_of_their_query_and_of_the_one_that_they_are_a_part_of(models):
    queries = {"G": {"all": query("abc", "x"), "pair": query("ab", "x"), "both": query("ab", "xy")}}
    inference = {"permutation": {"draws": 19}, "sensitivity": {"halves": 4}}
    grid = measured(models, queries, **inference)
    found = ids(grid.scores)
    assert found == {
        ("weat", "A and B wrt X and Y"): ("both", ""),
        # ECT takes one set of attributes: of two queries that have this part, the first
        ("ect", "A and B wrt X"): ("all", "all"),
        ("ect", "A and C wrt X"): ("all", "all"),
        ("ect", "B and C wrt X"): ("all", "all"),
        ("ect", "A and B wrt Y"): ("both", "both"),
        # MAC takes any number of sets
        ("mac", "A, B and C wrt X"): ("all", ""),
        ("mac", "A and B wrt X"): ("pair", ""),
        ("mac", "A and B wrt X and Y"): ("both", ""),
    }
    for name in ("tests", "sensitivity", "influence"):
        table = grid.frame(name)
        assert ids(table) == found
        assert list(table.columns[-3:]) == ["query_id", "parent_query_id", "model_label"]
    reordered = {"G": dict(reversed(queries["G"].items()))}
    assert ids(measured(models, reordered).scores)["ect", "A and B wrt X"] == ("both", "both")


def test_the_same_query_of_another_criterion_is_that_criterions(models):
    queries = {"G": {"g": query("ab", "x")}, "H": {"h": query("ab", "xy")}}
    scores = measured(models, queries, ["ect"]).scores.set_index(["criterion", "model", "query"])
    assert scores.loc[("G", "whole", "A and B wrt X"), "query_id"] == "g"
    assert scores.loc[("H", "whole", "A and B wrt X"), "query_id"] == "h"


def test_tables_of_some_cells_have_their_ids(models):
    """Directions are of cells of Direct Bias of two groups alone, whatever query asks another metric the same."""
    queries = {"G": {"all": query("abc", "x"), "pair": query("ab", "x")}}
    grid = measured(models, queries, {"a_metric_of_parts": {"metric": "ect"}, "direct_bias": {}})
    directions = grid.frame("directions")
    assert set(directions["query_id"]) == {"pair"}
    assert set(directions["parent_query_id"]) == {""}
    assert not directions.empty


LOST = [
    ("G", "both", "A", "a0", "part", "part"),
    ("G", "both", "X", "x1", "part", "part"),
    ("G", "pair", "A", "a0", "part", "part"),
    ("G", "pair", "X", "x1", "part", "part"),
]


def test_lost_words_are_of_a_query_and_a_model(models):
    queries = {"G": {"pair": query("ab", "x"), "both": query("ab", "xy")}}
    grid = measured(models, queries)
    table = grid.frame("lost_words")
    sought = ["forms", "reason"]
    assert list(table.columns) == ["criterion", "query_id", "set", "word", "model", *sought, "model_label"]
    assert list(table.drop(columns=sought).itertuples(index=False, name=None)) == LOST
    assert set(map(tuple, table[sought].to_numpy())) == {
        ("as listed; lower case", "has other capital letters; the model has 'A0'"),
        ("as listed; lower case", "not in the vocabulary"),
    }
    # a metric that looks words up in capital letters, too, finds a0; a word that another one lacks is lost. WEAT is
    # not measured on one set of attributes
    capital = {"preprocessors": [{}, {"uppercase": True}]}
    every = [LOST[1], LOST[3]]
    for upper, lost in (
        (["mac"], LOST),
        (["ect", "mac"], [LOST[0], *every]),
        (["weat", "ect", "mac"], every),
    ):
        by = {name: capital if name in upper else {} for name in ("weat", "ect", "mac")}
        table = measured(models, queries, by).frame("lost_words")
        assert list(table.drop(columns=sought).itertuples(index=False, name=None)) == lost
    assert set(table["forms"]) == {"as listed; upper case"}


def test_the_lost_words_of_a_grid_are_those_of_each_of_its_cells(models):
    queries = {"G": {"pair": query("ab", "x"), "both": query("ab", "xy")}}
    names = {key: of_key.name for key, of_key in queries["G"].items()}
    pairs = [["a1", "b1"], ["a2", "b2"]]
    hard = {"hard": lambda model: debias.hard(model, definitional_pairs=pairs)}
    grid = measured(models, queries, debias=hard)
    lost, sought = grid.lost_words, ["forms", "reason"]
    found = set(lost.drop(columns=sought).itertuples(index=False, name=None))
    assert list(lost.columns) == ["model", "debias", "criterion", "query", "set", "word", *sought]
    assert found == {
        (model, state, criterion, names[key], of_set, word)
        for criterion, key, of_set, word, model, _ in LOST
        for state in ("none", "hard")
    }
