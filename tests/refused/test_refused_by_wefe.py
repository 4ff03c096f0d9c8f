"""What biasgrid.compat.wefe refuses, with errors of the classes that WEFE documents."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from refusals import refused, row, table, written

from biasgrid.compat import wefe
from biasgrid.compat.wefe.debias.base_debias import BaseDebias
from biasgrid.compat.wefe.metrics.base_metric import BaseMetric
from biasgrid.compat.wefe.preprocessing import get_embeddings_from_query
from biasgrid.compat.wefe.query import Query
from biasgrid.compat.wefe.utils import check_is_fitted, run_queries
from biasgrid.compat.wefe.word_embedding_model import WordEmbeddingModel

VECTORS = {"he": [1.0, 0.0], "she": [-1.0, 0.0], "home": [0.0, 1.0], "office": [1.0, 1.0]}
ONE, FRAME = np.zeros(2, np.float32), pd.DataFrame({"a": [1.0]})
TWO = Query([["he"], ["she"]], [["home"], ["office"]])
MAPPING = {"he": [1.0, 2.0]}
FORMER = ("preprocessor_args", "secondary_preprocessor_args", "preprocessor_options")
HEAD = "Census year,Occupation,"
GENDER = f"{HEAD}Male,Female\n1950,clerk,.5,.5\n1950,nurse,.1,.9\n"
RACE = f"{HEAD}hispanic,asian,black,white\n1950,clerk,.02,.01,.1,.87\n1950,nurse,.03,.02,.05,.9\n"
FILES = "occupation_percentages_gender_occ1950.csv", "occupation_percentages_race_occ1950.csv"


class OfOneAttribute(BaseMetric):
    metric_template, metric_name, metric_short_name = (2, 1), "Of one attribute", "O"

    def run_query(self, query, model, **options):
        self._check_input(query, model, *options.values())


class Checked(BaseDebias):
    name = "Checked"

    def fit(self, model, definitional_pairs, **fit_params):
        self._check_sets_sizes(definitional_pairs, "definitional", 2)

    def transform(self, model, target=None, ignore=None, copy=True):
        self._check_transform_args(model=model, target=target, ignore=ignore, copy=copy)
        check_is_fitted(self, ["direction_"])


@pytest.fixture
def model():
    return WordEmbeddingModel(VECTORS, "m")


def census(race=RACE, name=FILES[1], **options):
    """Return a call that reads the occupations of a census with these files."""

    def fetch(tmp_path):
        written(tmp_path / FILES[0], GENDER)
        written(tmp_path / name, race)
        wefe.fetch_eds(**{"occupations_year": 1950, "census_folder": tmp_path} | options)

    return fetch


@table(
    # metrics
    row(
        "template of a metric",
        lambda model: OfOneAttribute().run_query(TWO, model),
        "O has template (2, 1) and query ",
        "(2, 2)",
        kind=ValueError,
    ),
    row(
        "query", lambda model: wefe.WEAT().run_query("q", model), "query: 'q' is not a Query", kind=TypeError
    ),
    row(
        "query of an own metric",
        lambda model: OfOneAttribute().run_query("q", model),
        "query: 'q'",
        kind=TypeError,
    ),
    row(
        "model of an own metric",
        lambda: OfOneAttribute().run_query(TWO, {}),
        "is not a WordEmb",
        kind=TypeError,
    ),
    row(
        "threshold",
        lambda model: OfOneAttribute().run_query(TWO, model, threshold="0.2", warn=False),
        "lost_vocabulary_threshold",
        kind=TypeError,
    ),
    row(
        "warnings",
        lambda model: OfOneAttribute().run_query(TWO, model, threshold=0.2, warn=1),
        "warn_not_found_words",
        kind=TypeError,
    ),
    row(
        "option",
        lambda model: wefe.WEAT().run_query(TWO, model, normalise=True),
        "unknown option 'normalise'",
    ),
    row(
        "option of another metric",
        lambda model: wefe.RND().run_query(TWO, model, distance_type="cos"),
        "unknown option 'distance_type' of RND.run_query; did you mean 'distance'",
    ),
    row(
        "kind of a test",
        lambda model: wefe.WEAT().run_query(TWO, model, calculate_p_value=True, p_value_test_type="both"),
        "p_value_test_type",
    ),
    row(
        "query of vectors",
        lambda model: get_embeddings_from_query(model, "q"),
        "query: 'q' is not",
        kind=TypeError,
    ),
    row(
        "model of words",
        lambda: wefe.get_embeddings_from_set("m", ["a"]),
        "model: 'm' is not",
        kind=TypeError,
    ),
    row(
        "model of a metric",
        lambda: wefe.WEAT().run_query(TWO, MAPPING),
        "model: {'he'",
        "is not a WordEmbeddingModel",
    ),
    row(
        "sets without all their words",
        lambda model: wefe.get_embeddings_from_tuples(model, [["he", "queen"]], warn_lost_sets=False),
        "no set with all its words",
    ),
    # several queries
    row(
        "metric",
        lambda model: run_queries("WEAT", [TWO], [model]),
        "metric: expected a class",
        kind=TypeError,
    ),
    row("template of several", lambda model: run_queries(wefe.RND, [TWO], [model]), "sub-queries"),
    row(
        "aggregation",
        lambda model: run_queries(
            wefe.WEAT, [TWO], [model], aggregate_results=True, aggregation_function="hello"
        ),
        "aggregation_function",
    ),
    row(
        "former name of models",
        lambda model: run_queries(wefe.WEAT, [TWO], word_embeddings_models=[model]),
        "run_queries: word_embeddings_models: say models=",
    ),
    row("results", lambda: wefe.plot_queries_results([1]), "results: expected a data frame", kind=TypeError),
    row(
        "axis",
        lambda: wefe.plot_queries_results(FRAME, by="models"),
        "did you mean 'model'?",
        kind=ValueError,
    ),
    row(
        "ranking", lambda: wefe.create_ranking([FRAME, 1]), "element 1: expected a data frame", kind=TypeError
    ),
    row(
        "rankings",
        lambda: wefe.calculate_ranking_correlations(1),
        "rankings: expected a data",
        kind=TypeError,
    ),
    # debias methods
    row(
        "pair",
        lambda model: Checked().fit(model, [["he"]]),
        "at position 0, ['he'], has 1 words; allowed: 2",
        kind=ValueError,
    ),
    row("pairs", lambda model: Checked().fit(model, []), "no definitional set", kind=ValueError),
    row(
        "sets of several sizes",
        lambda: Checked()._check_sets_sizes([["a", "b", "c"], ["a", "b"]], "definitional", "n"),
        "has 2 words; allowed: 3",
    ),
    row("model of a method", lambda: Checked().transform("m"), "model: 'm'", kind=TypeError),
    row(
        "target",
        lambda model: Checked().transform(model, target="he"),
        "target: expected a list of words",
        kind=TypeError,
    ),
    row(
        "ignore",
        lambda model: Checked().transform(model, ignore=["he", 3]),
        "ignore: 3 is not a word",
        kind=TypeError,
    ),
    row(
        "copy",
        lambda model: Checked().transform(model, copy="no"),
        "copy: expected True or False",
        kind=TypeError,
    ),
    row(
        "target of hard",
        lambda model: wefe.HardDebias().transform(model, target="he"),
        "target: ",
        kind=TypeError,
    ),
    row("criterion", lambda: wefe.HardDebias(criterion_name=3), "criterion_name", kind=ValueError),
    row(
        "mapping to debias",
        lambda: wefe.HardDebias().fit(MAPPING, [["he", "she"]]),
        "is not a WordEmbeddingModel",
    ),
    row("method that is not fitted", lambda model: wefe.HardDebias().transform(model), "fit it before"),
    row("own method that is not fitted", lambda model: Checked().transform(model), "Checked: fit it before"),
    row(
        "own message",
        lambda: check_is_fitted(SimpleNamespace(a_=1), ["a_", "b_"], msg="%(name)s is new"),
        "SimpleNamespace is new",
    ),
    row("nothing fitted", lambda: check_is_fitted(SimpleNamespace(a=1)), "fit it before"),
    row(
        "most biased words",
        lambda model: wefe.DoubleHardDebias().get_target_words(model, None, [], 1, ["him", "she"]),
        "does not have 'him'",
    ),
    row(
        "option of sklearn",
        lambda: wefe.DoubleHardDebias(incremental_pca=None),
        "incremental_pca",
        kind=TypeError,
    ),
    # models and queries
    row(
        "vectors", lambda: WordEmbeddingModel(3), "wv: expected gensim's KeyedVectors, not 3", kind=TypeError
    ),
    row("no vectors", lambda: WordEmbeddingModel(None), "wv: expected", kind=TypeError),
    row("name", lambda: WordEmbeddingModel(VECTORS, name=3), "name: expected a text or None", kind=TypeError),
    row(
        "prefix",
        lambda: WordEmbeddingModel(VECTORS, vocab_prefix=3),
        "vocab_prefix: expected a",
        kind=TypeError,
    ),
    row("word", lambda model: model.update(3, ONE), "word: expected a text", kind=TypeError),
    row(
        "list as a vector",
        lambda model: model.update("he", [0.0, 0.0]),
        "vector of 'he' must be a NumPy array",
        kind=TypeError,
    ),
    row(
        "unknown word",
        lambda model: model.update("hee", ONE),
        "no word 'hee'; did you mean 'he'?",
        kind=ValueError,
    ),
    row(
        "length of a vector",
        lambda model: model.update("he", np.zeros(3, np.float32)),
        "shape (3,); the model's have (2,)",
        kind=ValueError,
    ),
    row(
        "type of a vector",
        lambda model: model.update("he", np.zeros(2)),
        "float64, and the model's are float32",
        kind=ValueError,
    ),
    row(
        "words",
        lambda model: model.batch_update("he", [ONE]),
        "words: expected a list, not 'he'",
        kind=TypeError,
    ),
    row(
        "array",
        lambda model: model.batch_update(["he"], {"he": ONE}),
        "embeddings: expected a",
        kind=TypeError,
    ),
    row(
        "word of many", lambda model: model.batch_update([3], [ONE]), "words: 3 is not a text", kind=TypeError
    ),
    row(
        "vectors of many",
        lambda model: model.batch_update(["he", "she"], [ONE]),
        "1 vectors, but 2 words",
        kind=ValueError,
    ),
    row("target sets", lambda: Query(3, [["a"]]), "target sets must be a list", kind=TypeError),
    row("attribute sets", lambda: Query([["a"]], 3), "attribute sets must be a list", kind=TypeError),
    row("no target set", lambda: Query([], [["a"]]), "no target set", kind=ValueError),
    row("text as a set", lambda: Query(["he"], [["a"]]), "each target set must be a list", kind=TypeError),
    row("number as a word", lambda: Query([[3]], [["a"]]), "3 is not a word", kind=TypeError),
    row("number as a set", lambda: Query([["a"]], [7]), "must be a list of words", kind=TypeError),
    row("no word", lambda: Query([["a"]], [["b", None]]), "None is not a word", kind=TypeError),
    # the census
    row(
        "year of a census",
        census(occupations_year=1951),
        "unknown occupations_year 1951; allowed: 1950",
    ),
    row("number of occupations", census(top_n_race_occupations=0), "whole numbers from 1 on"),
    row("folder of a census", census(census_folder=3), "census_folder: expected a folder, not 3"),
    row("file of a census", census(census_folder="nowhere"), f"nowhere/{FILES[0]}: no such file"),
    row(
        "name of a file of a census",
        census(name="occupation_percentages_race.csv"),
        "did you mean 'occupation_percentages_race.csv'?",
    ),
    row(
        "column of a census",
        census(RACE.replace("black", "Black")),
        "no column 'black'; it has ",
        "asian, Black, white",
    ),
    row(
        "number of a census",
        census(RACE.replace(".87", "most")),
        "column 'white' has values that are not numbers",
    ),
    row("empty census", census(""), "cannot read it as a table"),
)
@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
def test_wefe_refuses(refusal, request):
    refusal.check(request)


@pytest.mark.parametrize("option", FORMER)
@pytest.mark.parametrize("metric", [wefe.WEAT, wefe.ECT])
def test_options_of_former_versions_are_answered(model, metric, option):
    with refused(f"run_query: {option}: say preprocessors=[{{}}"):
        metric().run_query(TWO, model, **{option: {"lowercase": True}})
