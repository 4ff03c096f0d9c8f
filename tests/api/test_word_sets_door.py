"""The word sets as the door for Python hands them out; what they hold is tested in tests/test_word_sets.py."""

import copy
import json
import pickle
from pathlib import Path

import pytest
from refusals import refused

from biasgrid import BiasgridError, Query, debias, metrics
from biasgrid.study.word_sets import word_sets

FOLDER = Path(__file__).parents[2] / "data" / "word_sets"
FETCHED = ["maddalozzo"]  # whose words are elsewhere: tests/study/config/test_fetched_word_sets.py
NAMES = sorted(path.stem for path in FOLDER.glob("*.json") if path.stem not in FETCHED)
# what each function of WEFE 1.0.1 returns: the sets' names, in its order
WEFE = {
    "bingliu": ["positive_words", "negative_words"],
    "gn_glove": ["male_terms", "female_terms"],
    "debiaswe": [
        "male_terms",
        "female_terms",
        "definitional_pairs",
        "equalize_pairs",
        "gender_specific",
        "professions",
    ],
}


def test_the_collections_are_listed():
    collections = word_sets()
    assert list(collections) == sorted([*NAMES, *FETCHED])
    assert collections["maddalozzo"].startswith("39 sets, fetched. ")
    assert collections["weat"] == "31 sets. WEAT: the word sets of the Word Embedding Association Test"
    lines = repr(collections).splitlines()
    assert [line.split()[0] for line in lines] == list(collections)
    assert max(map(len, lines)) < 120


@pytest.mark.parametrize("name", NAMES)
def test_a_collection_is_a_dict_of_its_file(name):
    record = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    sets = word_sets(name)
    assert isinstance(sets, dict)
    assert sets == record["sets"]
    assert (sets.title, sets.paper, sets.licence, sets.notes) == tuple(
        record[key] for key in ("title", "paper", "licence", "notes")
    )
    for again in (pickle.loads(pickle.dumps(sets)), copy.deepcopy(sets)):
        assert (again, again.name, again.notes) == (sets, name, record["notes"])


@pytest.mark.parametrize("name", NAMES)
def test_reprs_are_short_and_name_every_set(name):
    sets = word_sets(name)
    lines = repr(sets).splitlines()
    assert len(lines) < 25
    assert max(map(len, lines)) <= 112
    for key, words in sets.items():
        assert f"{key} ({len(words)})" in repr(sets)
        assert f"<td>{key}</td><td>{len(words)}</td>" in sets._repr_html_()
    assert len(sets._repr_html_()) < 12_000


@pytest.mark.parametrize("name", WEFE)
def test_names_are_wefes(name):
    assert list(word_sets(name)) == WEFE[name]


def test_what_a_caller_changes_is_the_callers():
    word_sets("weat")["career"].clear()
    del word_sets("weat")["family"]
    assert len(word_sets("weat")["career"]) == len(word_sets("weat")["family"]) == 8


ELSE = (5, b"weat", ["weat"], {}, "", "../word_sets/weat", "\ud800", True, FOLDER)


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (
            lambda: word_sets("wheat"),
            KeyError,
            "unknown collection of word sets 'wheat'; did you mean 'weat'",
        ),
        (lambda: word_sets("debias_multiclass"), BiasgridError, "did you mean 'multiclass'"),
        (
            lambda: word_sets("weat")["carreer"],
            BiasgridError,
            "'weat': unknown word set 'carreer'; did you mean 'career'",
        ),
        (lambda: word_sets("weat")["carreer"], KeyError, "'carreer'"),
        (lambda: word_sets("weat")[3], KeyError, "unknown word set 3"),
        (lambda: word_sets()["x"], KeyError, "unknown collection"),
        (lambda: word_sets()["x"], BiasgridError, "unknown collection"),
        *(
            (lambda name=name: word_sets(name), BiasgridError, "unknown collection of word sets")
            for name in ELSE
        ),
        *(
            (lambda options=options, name=name: word_sets(name, **options), BiasgridError, says)
            for name, options, says in (
                ("eds", {"occupations_year": 1950}, "occupations_year: 1950 is not allowed; allowed: 2015"),
                ("eds", {"occupations_year": "2015"}, "'2015' is not allowed"),
                ("eds", {"top_n_race_occupations": 11}, "whole numbers from 1 to 10"),
                ("eds", {"top_n_race_occupations": 0}, "whole numbers from 1 to 10"),
                ("eds", {"top_n_race_occupations": 2.0}, "whole numbers from 1 to 10"),
                ("eds", {"top_n_race_occupations": True}, "whole numbers from 1 to 10"),
                ("weat", {"occupations_year": 2015}, "of the collection 'eds' only"),
                ("weat", {"census_folder": "x"}, "of the collection 'eds' only"),
                (None, {"occupations_year": 2015}, "of the collection 'eds' only"),
            )
        ),
    ],
)
def test_what_is_not_there_is_a_sentence_with_a_likely_name(call, kind, says):
    with refused(says, kind=kind):
        call()


def test_a_dict_as_any_other_otherwise():
    sets = word_sets("weat")
    assert "carreer" not in sets
    assert sets.get("carreer") is None
    assert json.loads(json.dumps(sets)) == sets


def test_occupations_of_eds_by_number():
    whole = word_sets("eds")
    assert word_sets("eds", occupations_year=2015) == whole
    assert word_sets("eds", top_n_race_occupations=10) == whole
    # the lowest shares of the authors' table for 2015: plasterer .297, janitor .466, porter .478
    assert word_sets("eds", top_n_race_occupations=3)["occupations_white"] == [
        "plasterer",
        "janitor",
        "porter",
    ]
    three = word_sets("eds", occupations_year=2015, top_n_race_occupations=3)
    assert {name for name in whole if len(three[name]) != len(whole[name])} == {
        f"occupations_{group}" for group in ("white", "black", "asian", "hispanic")
    }


def test_sets_go_straight_into_queries_and_debias_methods(word2vec):
    pairs = word_sets("debiaswe")
    weat = word_sets("weat")
    query = Query(
        {"Male": weat["male_terms"], "Female": weat["female_terms"]},
        {"Career": weat["career"], "Family": weat["family"]},
    )
    transform = debias.hard(
        word2vec,
        definitional_pairs=pairs["definitional_pairs"],
        equalize_pairs=pairs["equalize_pairs"],
        ignore=pairs["gender_specific"],
    )
    before = metrics.weat(query, word2vec).value
    after = metrics.weat(query, word2vec.under(transform)).value
    assert abs(after) < abs(before)
    debias.multiclass_hard(
        word2vec,
        definitional_sets=word_sets("multiclass")["ethnicity_definitional_sets"],
        equalize_sets=[["black", "caucasian", "asian"]],
    )
