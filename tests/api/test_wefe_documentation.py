"""WEFE's documentation as biasgrid code (wefe_documentation.py): no more lines, and WEFE's numbers.

Numbers are printed ones where the documentation measures a model that a package registry has, WEFE's test model. The
guide's glove-twitter models are in none; for those examples WEFE 1.0.1 was run on stand-ins, which are made here as
benchmarks/wefe_documentation.py makes them.
"""

import json

import numpy as np
import pytest
import wefe_documentation as guide
from conftest import DATA
from gensim.models import KeyedVectors

from biasgrid import debias, load, metrics
from biasgrid.study.word_sets import word_sets

WEFE = json.loads((DATA / "wefe_1.0.1_documentation.json").read_text())
# as tests hold WEFE's float32 cosines
CLOSE = {"rel": 1e-6, "abs": 1e-6}


@pytest.fixture(scope="module")
def sets():
    return word_sets("weat")


@pytest.fixture(scope="module")
def twitter(word2vec, tmp_path_factory):
    return guide.twitter_models(word2vec, tmp_path_factory.mktemp("twitter"))


@pytest.mark.parametrize("function", guide.EXAMPLES, ids=lambda function: function.__name__)
def test_no_example_takes_more_lines_than_in_wefe(function):
    assert guide.lines_of(function) <= guide.EXAMPLES[function]


def test_quick_start(twitter):
    result = guide.quick_start(twitter[0])
    assert result.query == "Female Terms and Male Terms wrt Arts and Science"
    assert result.value == pytest.approx(WEFE["quick start"]["weat"], **CLOSE)
    assert result.scalars["effect_size"] == pytest.approx(WEFE["quick start"]["effect_size"], **CLOSE)


def test_a_query_and_its_options(word2vec):
    query = guide.gender_query()
    assert query.name == "Female terms and Male Terms wrt Family and Careers"
    # as the docstring of WEFE's WEAT prints them, to float32's precision
    result = guide.run_the_query(query, word2vec)
    assert result.value == pytest.approx(0.4634388245467562, abs=5e-7)
    assert result.scalars["effect_size"] == pytest.approx(0.45076532408312986, abs=5e-7)
    assert guide.effect_size(query, word2vec).value == pytest.approx(0.45076532408312986, abs=5e-7)
    with_p = guide.p_value(query, word2vec)
    assert with_p.value == result.value
    # WEFE draws with replacement, and prints .1866; of all 12,870 permutations .1970 give more
    assert with_p.p_value == pytest.approx(0.1970, abs=2e-4)


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
def test_lost_words_and_preprocessors(twitter, sets):
    assert guide.a_set_of_words()[:3] == ["Adam", "Harry", "Josh"]
    lost = guide.lost_words(sets, twitter[0])
    assert np.isnan(lost.value)
    assert lost.status == "lost_words:European american names;African american names"
    query = guide.Query(
        [sets["european_american_names_5"], sets["african_american_names_5"]],
        [sets["pleasant_5"], sets["unpleasant_5a"]],
    )
    for name, function in (
        ("lower case, no accents", guide.preprocessors),
        ("as written, else lower case", guide.original_word_first),
        ("in three steps", guide.three_steps),
        ("every variant", guide.every_variant),
    ):
        result = function(query, twitter[0])
        assert result.value == pytest.approx(WEFE["look-up"][name]["weat"], **CLOSE)
        assert result.scalars["effect_size"] == pytest.approx(WEFE["look-up"][name]["effect_size"], **CLOSE)
    assert "Wardell" in guide.preprocessors(query, twitter[0]).lost["Target set 1"]


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
def test_each_cell_of_the_tables_of_several_queries(twitter, sets):
    """`measure_grid` is to give the same at once (wefe_documentation_grid.py)."""
    terms = {"Male terms": sets["male_terms"], "Female terms": sets["female_terms"]}
    queries = [
        guide.Query(terms, {first: sets[first], second: sets[second]})
        for first, second in (("career", "family"), ("science", "arts"), ("math", "arts_2"))
    ]
    for table, preprocessors in (("as written", [{}]), ("lower case", [{"lowercase": True}])):
        for model, row in zip(twitter, WEFE["tables"][table], strict=True):
            for query, value in zip(queries, row, strict=True):
                ours = metrics.weat(query, model, preprocessors=preprocessors).value
                assert ours == pytest.approx(np.nan if value is None else value, nan_ok=True, **CLOSE)


def test_query_of_loaded_models(word2vec):
    query = guide.query_of_loaded_models()
    assert query.name == "Male terms and Female terms wrt Career and Family"
    # the same sets as the guide's first query, both sides turned round
    assert metrics.weat(query, word2vec).value == pytest.approx(0.4634388245467562, abs=5e-7)


def test_hard_debias(word2vec, sets):
    career, debiased = guide.query_of_loaded_models(), guide.hard_debias(word2vec)
    assert guide.decrease_by_career(career, word2vec, debiased) == (0.047, 0.463)
    assert guide.decrease_by_names(sets, word2vec, debiased) == (0.055, 0.074)
    of_words = guide.hard_debias_of_target_words(sets, word2vec)
    assert guide.decrease_by_career(career, word2vec, of_words) == (0.047, 0.463)
    assert guide.decrease_by_names(sets, word2vec, of_words) == (0.08, 0.074)


def test_multiclass_hard_debias(word2vec):
    before, after = guide.decrease_by_ethnicity(word2vec, guide.multiclass_hard_debias(word2vec))
    assert before.value == pytest.approx(WEFE["multiclass"]["before"], **CLOSE)
    # debiasing is float32 in WEFE
    assert after.value == pytest.approx(WEFE["multiclass"]["after"], abs=1e-5)


def test_models_are_loaded_and_saved(word2vec, tmp_path):
    query = guide.gender_query()
    words = [word for side in (query.target_sets, query.attribute_sets) for words in side for word in words]
    vectors = KeyedVectors(word2vec.dimensions)
    vectors.add_vectors(words, word2vec.vectors(words))
    vectors.save_word2vec_format(tmp_path / "word2vec.bin", binary=True)
    wanted = guide.run_the_query(query, word2vec).value
    for model in (guide.load_gensims_vectors(vectors), guide.load_a_word2vec_file(tmp_path / "word2vec.bin")):
        assert (model.name, guide.run_the_query(query, model).value) == ("word2vec", wanted)
    pairs = [["woman", "man"], ["girl", "boy"], ["she", "he"]]
    debiased = model.under(debias.hard(model, definitional_pairs=pairs))
    guide.save_a_debiased_model(debiased, tmp_path / "debiased.kv")
    saved = KeyedVectors.load(str(tmp_path / "debiased.kv"))
    assert guide.run_the_query(query, load(saved)).value == guide.run_the_query(query, debiased).value
