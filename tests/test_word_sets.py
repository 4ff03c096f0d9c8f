"""The curated word sets and the case study's queries against the sizes that their sources state."""

import json

import pytest
import yaml
from conftest import ROOT

FOLDER = ROOT / "data" / "word_sets"
# sizes of the sets as the sources give them, repetitions counted
SIZES = {
    "weat": {
        "flowers": 25,
        "insects": 25,
        "pleasant_5": 25,
        "unpleasant_5a": 25,
        "instruments": 25,
        "weapons": 25,
        "european_american_names_5": 32,
        "african_american_names_5": 32,
        "unpleasant_5b": 25,
        "european_american_names_7": 18,
        "african_american_names_7": 18,
        "pleasant_9": 8,
        "unpleasant_9": 8,
        "male_names": 8,
        "female_names": 8,
        "career": 8,
        "family": 8,
        "math": 8,
        "arts": 8,
        "male_terms": 8,
        "female_terms": 8,
        "science": 8,
        "arts_2": 8,
        "male_terms_2": 8,
        "female_terms_2": 8,
        "mental_disease": 6,
        "physical_disease": 6,
        "temporary": 7,
        "permanent": 7,
        "young_people_names": 8,
        "old_people_names": 8,
    },
    "eds": {
        "adjectives_appearance": 25,
        "adjectives_otherization": 20,
        "adjectives_sensitive": 20,
        "names_asian": 20,
        "names_black": 20,
        "names_chinese": 17,
        "names_hispanic": 20,
        "names_russian": 20,
        "names_white": 20,
        "words_christianity": 15,
        "words_islam": 18,
        "words_terrorism": 48,
        "male_occupations": 72,
        "female_occupations": 31,
        "occupations_white": 10,
        "occupations_black": 10,
        "occupations_asian": 10,
        "occupations_hispanic": 10,
        "male_terms": 20,
        "female_terms": 20,
        "adjectives_intelligence": 28,
    },
    "debiaswe": {
        "male_terms": 10,
        "female_terms": 10,
        "definitional_pairs": 10,
        "equalize_pairs": 52,
        "gender_specific": 1441,
        "professions": 320,
    },
    "multiclass": {
        "male_terms": 7,
        "female_terms": 7,
        "male_roles": 12,
        "female_roles": 13,
        "black_terms": 3,
        "white_terms": 4,
        "asian_terms": 3,
        "black_biased_words": 5,
        "white_biased_words": 6,
        "asian_biased_words": 4,
        "judaism_terms": 5,
        "christianity_terms": 5,
        "islam_terms": 5,
        "greed": 4,
        "conservative": 3,
        "terrorism": 4,
        "gender_definitional_sets": 7,
        "ethnicity_definitional_sets": 6,
        "religion_definitional_sets": 5,
        "gender_analogy_templates": 2,
        "ethnicity_analogy_templates": 3,
        "religion_analogy_templates": 3,
        "gender_eval_target": 7,
        "ethnicity_eval_target": 2,
        "religion_eval_target": 5,
    },
    "gn_glove": {"male_terms": 222, "female_terms": 222},
    "schroeder": {
        "occupations": 258,
        "male_occupations": 188,
        "female_occupations": 52,
        "not_male_occupations": 70,
        "male_terms": 10,
        "female_terms": 10,
    },
    "bingliu": {"positive_words": 2006, "negative_words": 4783},
    "crossed": {
        f"{people}_american_{sex}": 9 for people in ("african", "european") for sex in ("women", "men")
    },
    "frequency": {"words": 198},
    "grammatical_gender": {
        f"{language}_{gender}": 50
        for language in ("de", "fr", "it", "es")
        for gender in ("masculine", "feminine")
    },
    "genders": {
        **{"de_masculine": 3, "de_feminine": 26, "es_masculine": 5, "es_feminine": 16},
        **{"fr_masculine": 5, "fr_feminine": 16, "it_masculine": 3, "it_feminine": 18},
    },
    "japanese": dict.fromkeys(
        ("male_terms", "female_terms", "career", "family", "science", "maths", "arts"), 8
    ),
    "multilingual": {
        f"{language}_{name}": 8
        for language in ("en", "es", "fr", "de", "it", "sv", "nl")
        for name in ("male_terms", "female_terms", "career", "family", "science", "arts", "maths", "arts_2")
    },
}
# WEATHub: entries of each language, repetitions counted, as its lists count them; of Greek, less eight empty cells
WEATHUB = {
    **{"ar": 794, "bn": 1179, "ckb": 870, "da": 819, "de": 863, "el": 951, "en": 987, "es": 820, "fa": 1078},
    **{"fr": 800, "hi": 1140, "it": 783, "ja": 894, "ko": 778, "ku": 750, "mr": 1296, "pa": 1076, "ru": 752},
    **{"te": 1111, "th": 841, "tl": 787, "tr": 867, "ur": 1076, "vi": 977, "zh": 762},
}
# id -> sizes of the two target and the two attribute sets, as published with the case study
PAIRS = [20, 20]
CASE_STUDY = {
    "Gender": {
        "gender_1": [*PAIRS, 8, 8],
        "gender_2": [*PAIRS, 8, 8],
        "gender_3": [*PAIRS, 8, 8],
        "gender_4": [*PAIRS, 28, 25],
        "gender_5": [*PAIRS, 28, 20],
        "gender_sent_1": [*PAIRS, 2006, 4783],
        "gender_role_1": [*PAIRS, 12, 13],
    },
    "Ethnicity": {
        "eth_1": [*PAIRS, 25, 25],
        "eth_2": [*PAIRS, 25, 25],
        "eth_3": [*PAIRS, 25, 25],
        "eth_4": [*PAIRS, 10, 10],
        "eth_5": [*PAIRS, 10, 10],
        "eth_6": [*PAIRS, 10, 10],
        "eth_sent_1": [*PAIRS, 2006, 4783],
        "eth_sent_2": [*PAIRS, 2006, 4783],
        "eth_sent_3": [*PAIRS, 2006, 4783],
    },
    "Religion": {
        "rel_1": [5, 5, 25, 25],
        "rel_2": [5, 5, 25, 25],
        "rel_3": [5, 5, 25, 25],
        "rel_4": [5, 5, 3, 4],
        "rel_5": [5, 5, 3, 4],
        "rel_6": [5, 5, 4, 4],
        "rel_sent_1": [5, 5, 2006, 4783],
        "rel_sent_2": [5, 5, 2006, 4783],
        "rel_sent_3": [5, 5, 2006, 4783],
    },
}


def collection(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def words(key):
    name, _, word_set = key.partition(".")
    return collection(name)["sets"][word_set]


def case_study():
    return yaml.safe_load((ROOT / "config/queries/case_study.yaml").read_text(encoding="utf-8"))


def leaves(value):
    if isinstance(value, dict):
        value = value.values()
    return [word for v in value for word in leaves(v)] if not isinstance(value, str) else [value]


def test_every_collection_has_its_sizes_here():
    of_weathub = [f"weathub_{language}" for language in WEATHUB]
    fetched = ["maddalozzo"]  # which has no words here
    assert sorted(p.stem for p in FOLDER.glob("*.json")) == sorted([*SIZES, *of_weathub, *fetched])


@pytest.mark.parametrize("language", WEATHUB)
def test_weathub_has_its_sources_entries_and_a_content_note(language):
    record = collection(f"weathub_{language}")
    of_india = language in ("bn", "en", "hi", "mr", "pa", "te", "ur")
    assert len(record["sets"]) == 4 * (24 if of_india else 13)
    entries = leaves(record["sets"])
    assert len(entries) == WEATHUB[language]
    assert all(word == word.strip() != "" for word in entries)
    assert (record["licence"], any(note.startswith("Content note") for note in record["notes"])) == (
        "CC BY 4.0",
        True,
    )
    # readable as it is
    assert "\\u" not in (FOLDER / f"weathub_{language}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SIZES)
def test_sets_have_their_sources_sizes_and_metadata(name):
    record = collection(name)
    assert list(record) == ["title", "paper", "taken_from", "licence", "notes", "sets"]
    for key in ("title", "paper", "taken_from", "licence"):
        assert isinstance(record[key], str)
        assert record[key].strip()
    assert any(str(year) in record["paper"] for year in range(2004, 2023))
    assert record["notes"]
    assert {key: len(value) for key, value in record["sets"].items()} == SIZES[name]


@pytest.mark.parametrize("name", [n for n in SIZES if n != "debiaswe"])
def test_every_leaf_is_a_word(name):
    for word in leaves(collection(name)["sets"]):
        assert isinstance(word, str)
        assert word == word.strip() != ""


@pytest.mark.parametrize("language", ["de", "fr", "it", "es"])
def test_nouns_of_the_control_have_one_gender_and_are_in_no_query(language):
    nouns = leaves(
        [collection("grammatical_gender")["sets"][f"{language}_{g}"] for g in ("masculine", "feminine")]
    )
    asked = leaves(collection(f"weathub_{language}")["sets"]) + leaves(
        [
            words
            for name, words in collection("multilingual")["sets"].items()
            if name.startswith(f"{language}_")
        ]
    )
    assert len({noun.lower() for noun in nouns}) == 100
    of_weathub = collection(f"weathub_{language}")["sets"]
    targets = leaves([of_weathub[f"{test}_{side}"] for test in ("weat7", "weat8") for side in ("t1", "t2")])
    genders = [collection("genders")["sets"][f"{language}_{g}"] for g in ("masculine", "feminine")]
    assert set(leaves(genders)) <= set(targets)
    assert len(set(leaves(genders))) == len(leaves(genders))
    assert {noun.lower() for noun in nouns} & {
        part.lower() for word in asked for part in word.split()
    } == set()


def test_readme_lists_every_collection():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [name for name in SIZES if f"`{name}.json`" not in readme] == []


def test_definitional_pairs_are_female_male():
    pairs = words("debiaswe.definitional_pairs")
    assert pairs[0] == ["woman", "man"]
    assert [list(column) for column in zip(*pairs, strict=True)] == [
        words("debiaswe.female_terms"),
        words("debiaswe.male_terms"),
    ]


def test_the_two_unpleasant_sets_are_the_two_versions():
    a, b = set(words("weat.unpleasant_5a")), set(words("weat.unpleasant_5b"))
    assert (a - b, b - a) == ({"agony", "prison"}, {"bomb", "evil"})


def test_order_case_and_repetitions_are_kept():
    assert words("weat.science")[4:6] == ["Einstein", "NASA"]
    assert words("debiaswe.gender_specific")[:7] == ["he", "his", "He", "her", "she", "him", "She"]
    assert words("eds.adjectives_otherization").count("monstrous") == 2
    assert words("gn_glove.male_terms").count("sir") == 3
    assert words("multiclass.conservative") == ["judgemental", "conservative", "familial"]


def test_occupations_are_those_with_the_lowest_share():
    # as the published case study used them: shares of the 2015 census in ascending order
    assert words("eds.occupations_asian")[0] == "plasterer"
    assert words("eds.occupations_black")[-1] == "plasterer"
    assert words("eds.occupations_hispanic")[0] == "optometrist"


def test_rated_occupations_are_those_that_bolukbasis_annotators_rated():
    ratings = {word: rating for word, _, rating in words("debiaswe.professions")}
    occupations = words("schroeder.occupations")
    assert len(set(occupations)) == 258
    for name, sign in (("male_occupations", 1), ("female_occupations", -1)):
        assert words(f"schroeder.{name}") == [w for w in occupations if sign * ratings.get(w, 0) > 0]
    assert [w for w in occupations if w not in ratings] == ["flight_attendant"]
    assert words("schroeder.not_male_occupations") == [w for w in occupations if not ratings.get(w, 0) > 0]


def test_pairs_of_schroeder_are_bolukbasis_with_she_and_he_first():
    pairs = list(zip(words("schroeder.female_terms"), words("schroeder.male_terms"), strict=True))
    assert pairs[0] == ("she", "he")
    assert sorted(pairs) == sorted(map(tuple, words("debiaswe.definitional_pairs")))


def test_case_study_queries_have_the_published_sizes():
    found = {
        criterion: {
            key: [len(words(name)) for side in ("targets", "attributes") for name in entry[side].values()]
            for key, entry in part["queries"].items()
        }
        for criterion, part in case_study().items()
    }
    assert found == CASE_STUDY
    assert [list(part) for part in found.values()] == [list(part) for part in CASE_STUDY.values()]
