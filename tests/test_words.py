import dataclasses

import numpy as np
import pytest
from conftest import make_store
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

import biasgrid as bg
from biasgrid import WordOptions
from biasgrid.embeddings.in_parts import InParts
from biasgrid.preprocessing import variant
from biasgrid.words import find, whole_pairs


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    words = ["he", "He", "HE", "she", "María", "maria", "zero", "new_york"]
    vectors = np.arange(1.0, 1.0 + 3 * len(words)).reshape(-1, 3)
    vectors[words.index("zero")] = 0.0
    return make_store(tmp_path_factory.mktemp("words"), words, vectors)


def found_as(model, words, **options):
    return find("S", words, model, WordOptions(**options))


@pytest.mark.parametrize(
    ("preprocessor", "expected"),
    [
        ({}, "María of ÅNGSTRÖM"),
        ({"lowercase": True}, "maría of ångström"),
        ({"uppercase": True}, "MARÍA OF ÅNGSTRÖM"),
        ({"titlecase": True}, "María Of Ångström"),
        ({"strip_accents": True}, "Maria of ANGSTROM"),
        ({"strip_accents": "unicode", "lowercase": True}, "maria of angstrom"),
        ({"strip_accents": "ascii"}, "Maria of ANGSTROM"),
        ({"lowercase": False, "strip_accents": False}, "María of ÅNGSTRÖM"),
        (lambda word: word.replace(" ", "_"), "María_of_ÅNGSTRÖM"),
        ({"preprocessor": lambda word: word.replace(" ", "_")}, "María_of_ÅNGSTRÖM"),
        ({"preprocessor": str.swapcase, "lowercase": False}, "mARÍA OF ångström"),
    ],
)
def test_variants(preprocessor, expected):
    assert variant("María of ÅNGSTRÖM", preprocessor) == expected
    assert variant("María of ÅNGSTRÖM", preprocessor, "/c/en/") == "/c/en/" + expected


def test_ascii_drops_what_unicode_keeps():
    assert variant("straße", {"strip_accents": "unicode"}) == "straße"
    assert variant("straße", {"strip_accents": "ascii"}) == "strae"


@pytest.mark.parametrize(
    ("word", "preprocessor", "expected"),
    [
        ("KIRMIZI İZ", {"lowercase": True, "language": "tr"}, "kırmızı iz"),
        ("KIRMIZI", {"lowercase": True, "language": "fr"}, "kirmizi"),
        # a composition exclusion: NFC has two characters where one was listed
        ("\u09df", {"unicode": "NFC"}, "\u09af\u09bc"),
        ("e\u0301", {"unicode": "NFC"}, "\u00e9"),
        ("「ノミ」", {"without": ["「", "」"]}, "ノミ"),
        ("La tragédie", {"lowercase": True, "language": "fr", "without": ["la ", "l'"]}, "tragédie"),
        ("l'art", {"without": ["la ", "l'"]}, "art"),
        ("une  tragédie", {"parts": "raw"}, "une + tragédie"),
        ("Une tragédie", {"lowercase": True, "parts": "unit"}, "une ⊕ tragédie"),
        ("tragédie", {"parts": "raw"}, "tragédie"),
    ],
)
def test_forms_of_other_languages(word, preprocessor, expected):
    assert variant(word, preprocessor) == expected


def test_each_found_word_says_its_form_and_each_lost_one_why(model):
    forms = [
        {},
        {"unicode": "NFC", "lowercase": True, "language": "fr"},
        {"parts": "raw"},
        {"lowercase": True, "language": "fr", "parts": "unit"},
    ]
    s = find(
        "S",
        ["he", "SHE", "he she", "HE María", "She he", "he his her", "x"],
        InParts.of(model),
        WordOptions(forms),
    )
    assert s.found == {
        "he": ["he"],
        "SHE": ["she"],
        "he she": ["he + she"],
        "HE María": ["HE + María"],
        "She he": ["she ⊕ he"],
    }
    assert s.forms == {
        "SHE": "NFC, lower case (fr)",
        "he she": "mean of its parts (raw)",
        "HE María": "mean of its parts (raw)",
        "She he": "lower case (fr), mean of its parts (unit)",
    }
    assert (s.lost, s.why_lost) == (("he his her", "x"), {"he his her": "parts missing: his, her"})
    he, she = ([1.0, 2.0, 3.0], [10.0, 11.0, 12.0])
    unit = [np.array(vector) / np.linalg.norm(vector) for vector in (she, he)]
    np.testing.assert_allclose(s.vectors[2], np.mean([he, she], axis=0))
    np.testing.assert_allclose(s.vectors[4], np.mean(unit, axis=0))
    np.testing.assert_array_equal(InParts.of(model).rows(s.keys), s.rows)


def test_words_of_one_vector_are_said():
    shared = bg.load({"algèbre": [1.0, 0.0], "géométrie": [1.0, 0.0], "art": [0.0, 1.0]}, name="shared")
    assert find("S", ["algèbre", "géométrie", "art"], shared, WordOptions()).same_vector == []
    rows = {"algèbre": 0, "géométrie": 0, "art": 1}
    pruned = InParts(shared)
    pruned.rows = lambda words: np.array([rows.get(word, -1) for word in words])  # type: ignore[method-assign]
    s = find("S", ["algèbre", "art", "géométrie", "algèbre"], shared, WordOptions())
    s = dataclasses.replace(s, rows=pruned.rows(s.keys))
    assert s.same_vector == [["algèbre", "géométrie"]]


def test_first_takes_the_first_variant_that_is_there(model):
    s = found_as(model, ["He", "SHE", "nobody"], preprocessors=[{}, {"lowercase": True}])
    assert s.found == {"He": ["He"], "SHE": ["she"]}
    assert s.lost == ("nobody",)
    assert s.lost_share == pytest.approx(1 / 3)
    np.testing.assert_array_equal(s.vectors, [[4, 5, 6], [10, 11, 12]])


def test_all_takes_every_variant_once(model):
    s = found_as(model, ["He"], preprocessors=[{}, {"lowercase": True}, {"titlecase": True}], strategy="all")
    assert s.keys == ("He", "he")
    assert s.found == {"He": ["He", "he"]}


def test_order_of_preprocessors_is_the_order_of_tries(model):
    s = found_as(model, ["he"], preprocessors=[{"uppercase": True}, {}])
    assert s.keys == ("HE",)


def test_words_that_meet_in_one_entry_count_once_and_both_are_accounted_for(model):
    s = found_as(model, ["SHE", "she", "he", "he"], preprocessors=[{}, {"lowercase": True}])
    assert s.keys == ("she", "he")
    assert s.found == {"SHE": ["she"], "she": ["she"], "he": ["he"]}
    assert s.lost_share == 0


def test_normalize_gives_unit_vectors_and_nan_for_a_zero_vector(model):
    s = found_as(model, ["he", "zero"], normalize=True)
    assert np.linalg.norm(s.vectors[0]) == pytest.approx(1.0, abs=1e-15)
    assert np.isnan(s.vectors[1]).all()


def test_a_variant_of_which_nothing_is_left_is_lost(tmp_path):
    model = make_store(tmp_path, ["", "x"], np.eye(2))
    s = found_as(model, ["日本", "x"], preprocessors=[{"strip_accents": "ascii"}])
    assert s.lost == ("日本",)


def test_callable_preprocessors(model):
    s = found_as(model, ["New York"], preprocessors=[lambda w: w.lower().replace(" ", "_")])
    assert s.keys == ("new_york",)


def test_a_function_in_a_mapping_is_the_function(model):
    function = {"preprocessor": lambda word: word.lower().replace(" ", "_")}
    s = found_as(model, ["New York", "SHE", "gone"], preprocessors=[{}, function])
    assert (s.keys, s.lost) == (("new_york", "she"), ("gone",))
    every = found_as(model, ["He"], preprocessors=[{}, function, {"preprocessor": str.upper}], strategy="all")
    assert every.keys == ("He", "he", "HE")


def test_a_callable_preprocessor_is_asked_each_time(model):
    names = {"her": "she"}

    def renamed(word):
        return names[word]

    assert found_as(model, ["her"], preprocessors=[renamed]).keys == ("she",)
    names["her"] = "he"
    assert found_as(model, ["her"], preprocessors=[renamed]).keys == ("he",)


def test_a_callable_preprocessor_need_not_be_hashable(model):
    class Lower:
        __hash__ = None

        def __call__(self, word):
            return word.lower()

    assert found_as(model, ["SHE"], preprocessors=[Lower()]).keys == ("she",)


def test_pairs_keep_their_places(model):
    options = WordOptions()
    left = find("L", ["he", "nobody", "HE", "he"], model, options, in_pairs=True)
    right = find("R", ["she", "maria", "nobody", "He"], model, options, in_pairs=True)
    left, right = whole_pairs([left, right])
    assert list(zip(left.keys, right.keys, strict=True)) == [("he", "she"), ("he", "He")]


def test_a_pair_is_whole_whichever_preprocessors_find_its_words(model):
    options = WordOptions([{}, {"lowercase": True}])
    left = find("L", ["he", "MARIA", "nobody"], model, options, in_pairs=True)
    right = find("R", ["SHE", "maria", "she"], model, options, in_pairs=True)
    left, right = whole_pairs([left, right])
    assert list(zip(left.keys, right.keys, strict=True)) == [("he", "she"), ("maria", "maria")]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"preprocessors": [{"unicode": "nfc"}]},
            "unicode: 'nfc' is not allowed; allowed: NFC, NFD, NFKC, NFKD",
        ),
        ({"preprocessors": [{"parts": True}]}, "parts: True is not allowed; allowed: raw, unit"),
        ({"preprocessors": [{"without": "«"}]}, "without: '«' is not allowed; allowed: lists of texts"),
        ({"preprocessors": [{"language": "tr"}]}, "language: is for lowercase; leave it out"),
        (
            {"preprocessors": [{"lowercase": True, "language": 3}]},
            "language: 3 is not allowed; allowed: tags such as tr",
        ),
        ({"preprocessors": []}, "list is empty"),
        ({"preprocessors": {}}, "expected a list"),
        (
            {"preprocessors": [{"lower": True}]},
            "unknown option 'lower'; did you mean 'lowercase'? allowed: lowercase",
        ),
        ({"preprocessors": [{"lowercase": "yes"}]}, "lowercase: 'yes'"),
        ({"preprocessors": [{"strip_accents": "latin"}]}, "strip_accents: 'latin'"),
        ({"preprocessors": [{"lowercase": True, "uppercase": True}]}, "contradict"),
        ({"preprocessors": ["lowercase"]}, "mappings such as"),
        (
            {"preprocessors": [{"preprocessor": "lower"}]},
            "'lower' is not allowed; allowed: functions of a word",
        ),
        ({"preprocessors": [{"preprocessor": str.lower, "uppercase": True}]}, "leave uppercase out"),
        ({"preprocessors": [{"preprocessor": str.lower, 3: None}]}, "unknown option 3"),
        ({"strategy": "any"}, "strategy: unknown value 'any'; allowed: first, all"),
        ({"normalize": "true"}, "normalize: 'true' is not allowed; allowed: true, false"),
        ({"lost_vocabulary_threshold": 1.5}, "numbers from 0 to 1"),
        ({"lost_vocabulary_threshold": True}, "numbers from 0 to 1"),
    ],
)
def test_bad_options(options, says):
    with refused(says):
        WordOptions(**options)


@pytest.mark.parametrize("given", [lambda word: 3, {"preprocessor": lambda word: None}])
def test_a_preprocessor_gives_a_text(model, given):
    with refused("not a string"):
        found_as(model, ["he"], preprocessors=[given])


@given(st.lists(st.sampled_from(["he", "He", "HE", "she", "xx", "yy"]), min_size=1))
def test_every_distinct_word_is_found_or_lost(words):
    class Model:
        vocab_prefix = ""

        def take(self, words, rows):
            return np.eye(4)[rows]

        def rows(self, keys):
            return np.array(
                [["he", "He", "HE", "she"].index(k) if k in ("he", "He", "HE", "she") else -1 for k in keys]
            )

    s = find("S", words, Model(), WordOptions())
    assert set(s.found) | set(s.lost) == set(words)
    assert not set(s.found) & set(s.lost)
    assert len(s.vectors) == len(s.keys) == len(set(s.keys)) == len(s.words)
