"""The code examples of WEFE 1.0.1's quick start and user guide as biasgrid code; test_wefe_documentation.py runs it.

Each function is one example; `example` has the number of lines of WEFE's code for it as its documentation prints it,
without blank lines, comments and imports, and without those that load a model: models are arguments here, and so is
what an earlier example made.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from conftest import make_store

from biasgrid import EmbeddingStore, Query, debias, load, metrics
from biasgrid.study.word_sets import word_sets

# function -> lines of WEFE's code
EXAMPLES: dict[Callable[..., Any], int] = {}


def example(lines: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def marked(function: Callable[..., Any]) -> Callable[..., Any]:
        EXAMPLES[function] = lines
        return function

    return marked


def lines_of(function: Callable[..., Any]) -> int:
    """Lines of a function's body without its docstring, blank lines and comments."""
    source = textwrap.dedent(inspect.getsource(function))
    (definition,) = ast.parse(source).body
    first = definition.body[1 if ast.get_docstring(definition) else 0]
    body = source.splitlines()[first.lineno - 1 :]
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in body)


def twitter_models(word2vec: EmbeddingStore, folder: Path) -> list[EmbeddingStore]:
    """Stand-ins of glove-twitter-25, -50 and -100, as benchmarks/wefe_documentation.py makes them."""
    words = sorted({word.lower() for of in word_sets("weat").values() for word in of} - {"wardell"})
    forms = [word2vec.rows([word, word.title(), word.upper()]) for word in words]
    known = [(word, rows[rows >= 0][0]) for word, rows in zip(words, forms, strict=True) if rows.max() >= 0]
    kept = [word for word, _ in known]
    vectors = word2vec.matrix(kept, np.array([row for _, row in known]))
    models = []
    for dimensions in (25, 50, 100):
        (folder / str(dimensions)).mkdir()
        models.append(make_store(folder / str(dimensions), kept, vectors[:, :dimensions]))
    return models


# --- quick start --------------------------------------------------------------------------------------------------


@example(9)
def quick_start(model):
    """Run your first query."""
    query = Query(
        [["she", "woman", "girl"], ["he", "man", "boy"]],
        [["poetry", "dance", "literature"], ["math", "physics", "chemistry"]],
        ["Female Terms", "Male Terms"],
        ["Arts", "Science"],
    )
    return metrics.weat(query, model)


# --- user guide: bias measurement ---------------------------------------------------------------------------------


@example(31)
def gender_query():
    """Create the query."""
    return Query(
        target_sets=[
            ["female", "woman", "girl", "sister", "she", "her", "hers", "daughter"],
            ["male", "man", "boy", "brother", "he", "him", "his", "son"],
        ],
        attribute_sets=[
            ["home", "parents", "children", "family", "cousins", "marriage", "wedding", "relatives"],
            [
                "executive",
                "management",
                "professional",
                "corporation",
                "salary",
                "office",
                "business",
                "career",
            ],
        ],
        target_sets_names=["Female terms", "Male Terms"],
        attribute_sets_names=["Family", "Careers"],
    )


@example(3)
def run_the_query(query, model):
    return metrics.weat(query, model)


@example(3)
def effect_size(query, model):
    """`return_effect_size=True`: a metric of its own here; the result of `weat` has it among its scalars."""
    return metrics.weat_es(query, model)


@example(5)
def p_value(query, model):
    """`calculate_p_value=True`: the permutation test of the papers, exact where there are few permutations."""
    return metrics.weat(query, model, permutation={"alternative": "greater"})


@example(2)
def a_set_of_words():
    sets = word_sets("weat")
    return sets["european_american_names_5"]


@example(8)
def lost_words(sets, model):
    query = Query(
        [sets["european_american_names_5"], sets["african_american_names_5"]],
        [sets["pleasant_5"], sets["unpleasant_5a"]],
        ["European american names", "African american names"],
        ["Pleasant", "Unpleasant"],
    )
    return metrics.weat(query, model, preprocessors=[{}])


@example(8)
def preprocessors(query, model):
    return metrics.weat(query, model, preprocessors=[{"lowercase": True, "strip_accents": True}])


@example(14)
def original_word_first(query, model):
    return metrics.weat(query, model, preprocessors=[{}, {"lowercase": True, "strip_accents": True}])


@example(15)
def three_steps(query, model):
    steps = [{}, {"lowercase": True}, {"lowercase": True, "strip_accents": True}]
    return metrics.weat(query, model, preprocessors=steps)


@example(13)
def every_variant(query, model):
    variants = [{}, {"lowercase": True}, {"uppercase": True}]
    return metrics.weat(query, model, preprocessors=variants, strategy="all")


# --- user guide: loading embeddings from different sources --------------------------------------------------------


@example(6)
def query_of_loaded_models():
    sets = word_sets("weat")
    return Query(
        {"Male terms": sets["male_terms"], "Female terms": sets["female_terms"]},
        {"Career": sets["career"], "Family": sets["family"]},
    )


# --- user guide: bias mitigation ----------------------------------------------------------------------------------


@example(13)
def hard_debias(model):
    """Fetch the sets, fit, transform all words but those that are specific to gender."""
    sets = word_sets("debiaswe")
    transform = debias.hard(
        model,
        definitional_pairs=sets["definitional_pairs"],
        equalize_pairs=sets["equalize_pairs"],
        ignore=sets["gender_specific"],
    )
    return model.under(transform)


@example(10)
def decrease_by_career(query, model, debiased):
    before = metrics.weat(query, model, normalize=True)
    after = metrics.weat(query, debiased, normalize=True)
    return round(abs(after.value), 3), round(abs(before.value), 3)


@example(22)
def decrease_by_names(sets, model, debiased):
    query = Query(
        [sets["male_names"], sets["female_names"]],
        [sets["pleasant_5"], sets["unpleasant_5a"]],
        ["Male Names", "Female Names"],
        ["Pleasant", "Unpleasant"],
    )
    options = {"normalize": True, "preprocessors": [{}, {"lowercase": True}]}
    before = metrics.weat(query, model, **options)
    after = metrics.weat(query, debiased, **options)
    return round(abs(after.value), 3), round(abs(before.value), 3)


@example(22)
def hard_debias_of_target_words(sets, model):
    pairs = word_sets("debiaswe")
    transform = debias.hard(
        model,
        definitional_pairs=pairs["definitional_pairs"],
        equalize_pairs=pairs["equalize_pairs"],
        target=sets["career"] + sets["family"],
    )
    return model.under(transform)


@example(19)
def multiclass_hard_debias(model):
    """The guide's own call removes as many components as the sets span; the number of 2 is the test's."""
    sets = word_sets("multiclass")
    transform = debias.multiclass_hard(
        model,
        definitional_sets=sets["ethnicity_definitional_sets"],
        equalize_sets=list(sets["ethnicity_analogy_templates"].values()),
        n_components=2,
    )
    return model.under(transform)


@example(24)
def decrease_by_ethnicity(model, debiased):
    """The guide prints the numbers of its query before, by mistake: these are WEFE's for this one."""
    sets = word_sets("multiclass")
    query = Query(
        [sets["white_terms"], sets["black_terms"]],
        [sets["white_biased_words"], sets["black_biased_words"]],
        ["european_american_names", "african_american_names"],
        ["white_biased_words", "black_biased_words"],
    )
    options = {"normalize": True, "preprocessors": [{}, {"lowercase": True}]}
    return metrics.weat(query, model, **options), metrics.weat(query, debiased, **options)


@example(1)
def save_a_debiased_model(debiased, path):
    debiased.save(path)


# --- user guide: loading embeddings (with the lines that load) ----------------------------------------------------


@example(2)
def load_gensims_vectors(vectors):
    return load(vectors, name="word2vec")


@example(2)
def load_a_word2vec_file(path):
    return load(path, name="word2vec")
