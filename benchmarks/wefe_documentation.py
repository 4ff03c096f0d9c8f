"""What WEFE 1.0.1 gives for the examples of its quick start and user guide, to hold ours against:
tests/data/wefe_1.0.1_documentation.json.

The guide measures glove-twitter-25, -50 and -100, which no package registry has. In their place stand the first 25,
50 and 100 columns of WEFE's own test model, for the words of its WEAT sets in lower case, without wardell: as in
those models, names are found only in lower case. RNSB is run without its random holdout.

python benchmarks/wefe_documentation.py data/word_sets tests/data/wefe_1.0.1_documentation.json
    in the environment that benchmarks/wefe_environment.py makes
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors
from wefe.debias.multiclass_hard_debias import MulticlassHardDebias
from wefe.metrics import RNSB, WEAT
from wefe.query import Query
from wefe.utils import calculate_ranking_correlations, create_ranking, load_test_model, run_queries
from wefe.word_embedding_model import WordEmbeddingModel

LOWER = [{"lowercase": True}]
LOOK_UPS = {
    "as written": [{}],
    "lower case, no accents": [{"lowercase": True, "strip_accents": True}],
    "as written, else lower case": [{}, {"lowercase": True, "strip_accents": True}],
    "in three steps": [{}, {"lowercase": True}, {"lowercase": True, "strip_accents": True}],
}


def main(folder: Path, output: Path) -> None:
    logging.disable(logging.CRITICAL)
    weat = json.loads((folder / "weat.json").read_text())["sets"]
    multiclass = json.loads((folder / "multiclass.json").read_text())["sets"]
    whole = load_test_model()
    words = sorted({word.lower() for words in weat.values() for word in words} - {"wardell"})
    rows = [next((w for w in (word, word.title(), word.upper()) if w in whole.wv), None) for word in words]
    known = [(word, whole.wv[row]) for word, row in zip(words, rows, strict=True) if row]
    models = []
    for dimensions in (25, 50, 100):
        vectors = KeyedVectors(dimensions)
        vectors.add_vectors([w for w, _ in known], np.array([v[:dimensions] for _, v in known]))
        models.append(WordEmbeddingModel(vectors, f"dim={dimensions}"))

    def sets(*names: str) -> list[list[str]]:
        return [weat[name] for name in names]

    gender = [
        Query(sets("male_terms", "female_terms"), sets(*names), ["Male terms", "Female terms"], labels)
        for names, labels in (
            (("career", "family"), ["Career", "Family"]),
            (("science", "arts"), ["Science", "Arts"]),
            (("math", "arts_2"), ["Math", "Arts"]),
        )
    ]
    names = ["European Names", "African Names"]
    ethnicity = [
        Query(
            sets(f"european_american_names_{n}", f"african_american_names_{n}"),
            sets(*attributes),
            names,
            labels,
        )
        for n, attributes, labels in (
            (5, ("pleasant_5", "unpleasant_5a"), ["Pleasant", "Unpleasant"]),
            (7, ("pleasant_9", "unpleasant_9"), ["Pleasant 2", "Unpleasant 2"]),
        )
    ]
    runs = {
        "weat": (WEAT, {}),
        "weat_es": (WEAT, {"return_effect_size": True}),
        "rnsb": (RNSB, {"holdout": False}),
    }

    def run(metric: str, queries: list[Query], **options):
        kind, parameters = runs[metric]
        look_up = {"preprocessors": options.pop("preprocessors", LOWER)}
        return run_queries(kind, queries, models, metric_params=parameters | look_up, **options)

    def ranking(queries: list[Query]):
        frames = [run(m, queries, aggregate_results=True, return_only_aggregation=True) for m in runs]
        return create_ranking(frames).set_axis(list(runs), axis=1)

    ranks = {"Gender": ranking(gender), "Ethnicity": ranking(ethnicity)}
    by_look_up = {
        name: WEAT().run_query(ethnicity[0], models[0], preprocessors=look_up)
        for name, look_up in LOOK_UPS.items()
    }
    by_look_up["every variant"] = WEAT().run_query(
        ethnicity[0], models[0], preprocessors=[{}, {"lowercase": True}, {"uppercase": True}], strategy="all"
    )
    arts = ["poetry", "dance", "literature"], ["math", "physics", "chemistry"]
    first = Query([["she", "woman", "girl"], ["he", "man", "boy"]], list(arts))
    debias = MulticlassHardDebias(pca_args={"n_components": 2})
    debias.fit(
        whole,
        multiclass["ethnicity_definitional_sets"],
        list(multiclass["ethnicity_analogy_templates"].values()),
    )
    biased = Query(
        [multiclass["white_terms"], multiclass["black_terms"]],
        [multiclass["white_biased_words"], multiclass["black_biased_words"]],
    )
    options = {"normalize": True, "preprocessors": [{}, {"lowercase": True}]}
    record = {
        "about": __doc__.partition("\n\npython")[0].replace("\n", " "),
        "quick start": WEAT().run_query(first, models[0]),
        "look-up": by_look_up,
        "tables": {
            "as written": table(run("weat", gender, preprocessors=[{}])),
            "lower case": table(run("weat", gender)),
        },
        "aggregates": {
            how: table(
                run(
                    "weat",
                    gender,
                    aggregate_results=True,
                    aggregation_function=how,
                    return_only_aggregation=True,
                )
            )
            for how in ("avg", "abs_avg", "sum", "abs_sum")
        },
        "rankings": {name: ranks[name].to_dict() for name in ranks},
        "correlations": {
            how: calculate_ranking_correlations(ranks["Gender"], method=how).to_dict()
            for how in ("spearman", "kendall")
        },
        "multiclass": {
            "before": WEAT().run_query(biased, whole, **options)["weat"],
            "after": WEAT().run_query(biased, debias.transform(whole, copy=True), **options)["weat"],
        },
    }
    # WEFE prints on standard output
    output.write_text(json.dumps(finite(record), indent=1) + "\n")


def table(frame):
    """Values in rows of models."""
    return [[float(value) for value in row] for row in frame.to_numpy()]


def finite(value):
    """NaN as null."""
    if isinstance(value, dict):
        return {key: finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [finite(inner) for inner in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    return value


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
