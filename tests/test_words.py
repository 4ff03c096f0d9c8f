import dataclasses

import numpy as np
import pytest
from conftest import make_store, printed
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from sklearn.feature_extraction.text import strip_accents_ascii, strip_accents_unicode

import biasgrid as bg
from biasgrid import WordOptions
from biasgrid.compat import wefe
from biasgrid.models.multiword import InParts
from biasgrid.models.preprocessing import variant
from biasgrid.models.words import find, whole_pairs


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
        ({"strip_accents": "nfkd"}, "Maria of ANGSTROM"),
        ({"join": "_"}, "María_of_ÅNGSTRÖM"),
        ({"join": "", "titlecase": True}, "MaríaOfÅngström"),
        ({"join": "_", "lowercase": True, "strip_accents": True}, "maria_of_angstrom"),
        ({"lowercase": False, "strip_accents": False}, "María of ÅNGSTRÖM"),
        (lambda word: word.replace(" ", "_"), "María_of_ÅNGSTRÖM"),
        ({"preprocessor": lambda word: word.replace(" ", "_")}, "María_of_ÅNGSTRÖM"),
        ({"preprocessor": str.swapcase, "lowercase": False}, "mARÍA OF ångström"),
    ],
)
def test_variants(preprocessor, expected):
    assert variant("María of ÅNGSTRÖM", preprocessor) == expected
    assert variant("María of ÅNGSTRÖM", preprocessor, "/c/en/") == "/c/en/" + expected


@pytest.mark.parametrize(
    ("word", "stripped"),
    [
        ("mère", "mere"),
        ("me\u0300re", "mere"),
        ("Việt", "Viet"),
        ("μητέρα", "μητερα"),
        ("ёлка", "елка"),
        ("мой", "мои"),
        ("año", "ano"),
        ("\u212b", "A"),  # the sign of the unit
        # letters that have no mark, and compatibility forms
        ("straße", "straße"),
        ("søster", "søster"),
        ("ﬁn²", "ﬁn²"),
        # scripts whose marks are letters
        ("여자", "여자"),
        ("ผู้หญิง", "ผู้หญิง"),
        ("लड़की", "लड़की"),
        ("\u0932\u095c", "\u0932\u095c"),
        ("\u0932\u0921\u093c", "\u0932\u0921\u093c"),
        ("パパ", "パパ"),
        ("ハ\u309a", "ハ\u309a"),
        ("كِتَاب", "كِتَاب"),
        ("\u0301a", "\u0301a"),
    ],
)
def test_accents_are_taken_off_latin_greek_and_cyrillic_letters_alone(word, stripped):
    for value in (True, "unicode"):
        assert variant(word, {"strip_accents": value}) == stripped


def test_accents_as_wefe_takes_them_off():
    """WEFE 1.0.1 calls scikit-learn's functions."""
    for word in ("mère", "여자", "パパ", "ผู้หญิง", "ﬁn²", "ёлка"):
        assert variant(word, {"strip_accents": "nfkd"}) == strip_accents_unicode(word)
        assert variant(word, {"strip_accents": "ascii"}) == strip_accents_ascii(word)


@pytest.mark.parametrize(
    ("word", "titled"),
    [
        ("women's", "Women's"),
        ("WOMEN\u2019S", "Women\u2019s"),
        ("l'amour", "L'amour"),
        ("o'neill", "O'neill"),
        ("mother-in-law", "Mother-In-Law"),
        ("new york", "New York"),
        ("new_york", "New_York"),
        ("e\u0301lise", "E\u0301lise"),
        ("\u01c6ep", "\u01c5ep"),
        ("여자", "여자"),
    ],
)
def test_titlecase_begins_a_part_after_spaces_and_hyphens_but_not_after_apostrophes(word, titled):
    assert variant(word, {"titlecase": True}) == titled


def test_words_are_looked_up_as_written_else_in_lower_case_by_default(model):
    s = found_as(model, ["HE", "SHE", "new_york", "María", "MARIA"])
    assert s.keys == ("HE", "she", "new_york", "María", "maria")
    assert s.forms == {"SHE": "lower case", "MARIA": "lower case"}
    assert found_as(model, ["HE", "SHE"], preprocessors=[{}]).lost == ("SHE",)


def test_every_way_to_measure_looks_words_up_alike(tmp_path):
    """As written, else in lower case: "King" is there, "Queen" only in lower case."""
    words = ["King", "king", "queen", "boy", "girl", "work", "home"]
    vectors = np.random.default_rng(0).normal(size=(len(words), 4)).astype(np.float32)
    (tmp_path / "v.txt").write_text(
        "".join(f"{w} {' '.join(map(repr, row))}\n" for w, row in zip(words, vectors.tolist(), strict=True))
    )
    model = bg.load(tmp_path / "v.txt", name="v")
    query = bg.Query([["King", "Boy"], ["Queen", "Girl"]], [["work"], ["home"]])
    query.save(tmp_path / "q.json")
    as_if_named = bg.Query([["King", "boy"], ["queen", "girl"]], [["work"], ["home"]])
    expected = bg.metrics.weat(as_if_named, model, preprocessors=[{}]).value
    assert bg.metrics.weat(query, model).value == expected
    grid = bg.measure_grid(["weat"], [query], [model], progress=False)
    assert grid.table("weat").to_numpy().tolist() == [[expected]]
    done = printed(
        "measure", "--metric", "weat", "--model", tmp_path / "v.txt", "--query", tmp_path / "q.json"
    )
    assert done["value"] == expected
    pairs = [["King", "Queen"], ["Boy", "Girl"]]
    transform = bg.debias.hard(model, definitional_pairs=pairs)
    assert transform.fitted_on["found"]["definitional_pairs"] == [["King", "queen"], ["boy", "girl"]]
    # WEFE's default
    wefe_model = wefe.WordEmbeddingModel(model)
    wefe_query = wefe.Query([["King", "Boy"], ["Queen", "Girl"]], [["work"], ["home"]])
    assert np.isnan(wefe.WEAT().run_query(wefe_query, wefe_model)["weat"])
    wefe_model = wefe.WordEmbeddingModel(
        {"He": [1, 2], "he": [2, 1], "she": [0, 1], "man": [3, 1], "woman": [1, 4]}
    )
    with refused("has no word of ['SHE', 'HIM']"):
        wefe.HardDebias().fit(wefe_model, [["SHE", "HIM"], ["he", "she"], ["man", "woman"]]).transform(
            wefe_model
        )


def test_phrases_are_joined(model):
    s = found_as(
        model, ["New York", "he"], preprocessors=[{}, {"join": "_"}, {"join": "_", "lowercase": True}]
    )
    assert (s.keys, s.forms) == (("new_york", "he"), {"New York": "lower case, joined by '_'"})


@pytest.mark.parametrize(
    ("listed", "entry", "difference"),
    [
        ("me\u0300re", "m\u00e8re", "is not in Unicode's form NFC"),
        ("m\u00e8re", "me\u0300re", "is not in Unicode's form NFD"),
        ("\uff4d\uff41th", "math", "is not in Unicode's form NFKC"),
        ("she ", "she", "has a space at its end"),
        ("\tshe", "she", "has the character U+0009 (control) at its beginning"),
        ("she\u00a0", "she", "has the character U+00A0 (no-break space) at its end"),
        ("new\u00a0york", "new york", "has the character U+00A0 (no-break space) in place of a space"),
        ("she\u200b", "she", "has the invisible character U+200B (zero width space)"),
        ("\ufeffshe", "she", "has the invisible character U+FEFF (zero width no-break space)"),
        ("wo\u00adman", "woman", "has the invisible character U+00AD (soft hyphen)"),
        ('"she"', "she", "is in quotation marks"),
        ("« she»", "she", "is in quotation marks"),
        ("women\u2019s", "women's", "has another apostrophe"),
        ("t\u2011shirt", "t-shirt", "has another hyphen"),
        ("aids", "AIDS", "has other capital letters"),
        ("New York", "New_York", "has spaces"),
        ("mère", "mere", "has accents"),
        ("Mère ", "mère", "has a space at its end, has other capital letters"),
    ],
)
def test_lost_words_say_which_form_that_looks_the_same_the_model_has(listed, entry, difference, tmp_path):
    model = bg.load(dict(zip([entry, "a", "b", "c"], np.eye(4)[:, :3] + 0.1, strict=True)), name="m")
    says = f"{difference}; the model has {entry!r}"
    name = f"q {entry!a} {difference}"
    query = bg.Query([["a"], ["b", listed, "gone"]], [["c"]], ["A", "B"], ["C"], name=name)
    options = {"preprocessors": [{}], "lost_vocabulary_threshold": 0.7}
    with pytest.warns(bg.LostWordsWarning) as warned:
        result = bg.metrics.rnd(query, model, **options)
    assert result.lost["B"] == [listed, "gone"]
    assert result.why_lost["B"] == {listed: says}
    assert f"{listed!r} {says}" in str(warned[0].message)
    assert str(warned[0].message).count(says) == 1
    with pytest.warns(bg.LostWordsWarning) as warned:
        grid = bg.measure_grid(["rnd"], [query], [model], progress=False, **options)
    assert f"{listed!r} {says}" in str(warned[0].message)
    assert grid.lost_words.set_index("word")["reason"].to_dict() == {
        listed: says,
        "gone": "not in the vocabulary",
    }
    model.save(tmp_path / "v.npz")
    query.save(tmp_path / "q.json")
    parameters = ["--param", "preprocessors=[{}]", "--param", "lost_vocabulary_threshold=0.7"]
    files = ["--model", tmp_path / "v.npz", "--query", tmp_path / "q.json"]
    assert printed("measure", "--metric", "rnd", *files, *parameters)["why_lost"]["B"] == {listed: says}


def test_a_vocabulary_is_not_searched_for_each_lost_word(monkeypatch):
    """A few forms of each word are looked up, all at once, however large the vocabulary is."""
    model = bg.load(dict(zip("abc", np.eye(3), strict=True)), name="m")
    asked = []
    rows = type(model).rows
    monkeypatch.setattr(
        type(model), "rows", lambda self, words: asked.append(len(words)) or rows(self, words)
    )
    found = found_as(model, [f"« Lost’{i}-ʼé word‑{i} »" for i in range(100)], preprocessors=[{}])
    assert len(found.lost) == 100
    assert len(asked) <= 2
    assert sum(asked) <= 101 * 64


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
        ({"preprocessors": [{"join": True}]}, "join: True is not allowed; allowed: texts without spaces"),
        ({"preprocessors": [{"join": " "}]}, "join: ' ' is not allowed; allowed: texts without spaces"),
        ({"preprocessors": [{"join": "_", "parts": "raw"}]}, "join and parts contradict each other"),
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


@pytest.mark.slow
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
