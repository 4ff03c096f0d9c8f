"""Does any model come out as the least biased on criteria that are about nothing?

    python -m validation.calibration.random_criteria [--batches 5] [--to FOLDER]

A criterion has seven queries of two target sets and two attribute sets of 8 words each. The queries share four pairs
of target sets and six pairs of attribute sets (`TARGETS`, `ATTRIBUTES`). Words are frequent, and all models have
them. Two kinds of criteria:

independent  each set has random words. The random groups are such words, too: on average over criteria, no model is
             more biased than its random groups
topics       a set is a random word and 7 of the 20 words that are nearest to it, by the mean cosine of the models. On
             fixed topics models truly differ, so that only the claim about other queries can be wrong

Each score is measured as in the embedded study, and each pair of models gets its answers from the library's tables.
Every four criteria are a study, whose "Overall" is a criterion of 28 queries. Three things are approximated: a score
has up to 199 random groups in place of 999; there are 100 resamples in place of 500; and the 40 criteria of a batch
take their pairs of target sets from 12 pairs, so that random groups are drawn once for several criteria.

The table random_criteria.csv has a row per kind, place ("criterion" or "Overall"), metric and claim: in how many
criteria some two models are called different, and in how many a model is clearly the least biased. Claims are "these
queries" and "other queries", and "raw values": the earlier rule, which compared distances from the no-bias value.
The table random_criteria_means.csv has the mean standardised bias of each model.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import biasgrid as bg
from biasgrid import Query
from biasgrid.core.geometry import unit
from biasgrid.debias import UNTOUCHED
from biasgrid.measure.aggregation import OVERALL
from biasgrid.measure.candidate_words import pool_of
from biasgrid.measure.statistics.two_models import DIFFERENT, LEVEL
from biasgrid.measure.statistics.two_models import MODELS as FAMILY
from biasgrid.measure.statistics.two_models import RAW as RAW_SCALE
from biasgrid.study.in_memory import study_from_arguments
from biasgrid.study.in_memory.measure_cells import measure_cell, results_of_cells
from biasgrid.study.study import Study
from biasgrid.study.views.frames import frame_of
from biasgrid.tables.conclusions.least_biased import Pairs, find_least_biased
from biasgrid.tables.pairs import PAIRS

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = Path(__file__).parent / "numbers"
MODELS = (
    "word2vec-google-news-300-subset",
    "glove-6b-50d",
    "spacy-en-core-web-md-3.7.1",
    "glove-840b-300d-filtered",
)
# The metrics of config/embedded.yaml.
METRICS: Mapping[str, Mapping[str, Any]] = {
    "weat": {},
    "weat_es": {"one_word": "keep"},
    "mac": {},
    "rnsb": {"n_iterations": 100, "holdout": True, "test_size": 0.2},
    "rnd": {"distance": "norm"},
    "ripa": {},
    "ect": {},
}
SIZE, NEAREST, FREQUENT = 8, 20, 10_000
# The pairs of target sets and of attribute sets of each query of a criterion.
TARGETS, ATTRIBUTES = (0, 0, 1, 1, 2, 2, 3), (0, 1, 2, 3, 4, 5, 0)
# Number of criteria of a study.
TOGETHER = 4
INDEPENDENT, TOPICS = KINDS = ("independent", "topics")
THESE, OTHER, RAW = CLAIMS = ("these queries", "other queries", "raw values")
GROUPS, RESAMPLES = 199, 100
# Number of criteria that share pairs of target sets, and number of these pairs.
BATCH, PAIRS_OF_BATCH = 40, 12


def common_words(models: Mapping[str, Any], sorted_by: str, most: int = FREQUENT) -> list[str]:
    """Return the words of letters that all models have, from the first rows of a model sorted by frequency."""
    words = [word for word in models[sorted_by].vocabulary(most)[0] if word.isalpha() and word.islower()]
    for model in models.values():
        known = set(model.vocabulary(sys.maxsize)[0])
        words = [word for word in words if word in known]
    return words


def draw_pairs(
    kind: str,
    words: Sequence[str],
    models: Mapping[str, Any],
    rng: np.random.Generator,
    left_out: Iterable[str] = (),
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield pairs of sets of a kind without common words, and without the words in `left_out`."""
    near = _nearest(words, models) if kind == TOPICS else None
    taken = set(left_out)

    def draw() -> list[str]:
        if near is None:
            places = rng.choice(len(words), SIZE, replace=False)
        else:
            seed = rng.integers(len(words))
            places = np.append(seed, rng.choice(near[seed], SIZE - 1, replace=False))
        return [words[place] for place in places]

    while True:
        first, second = draw(), draw()
        if len(taken.union(first, second)) == len(taken) + 2 * SIZE:
            yield first, second


def _nearest(words: Sequence[str], models: Mapping[str, Any]) -> np.ndarray:
    """Return the indices of each word's nearest words, by the mean cosine of the models."""
    vectors = [
        unit(np.asarray(model.take(words, model.rows(words)), dtype=float)) for model in models.values()
    ]
    cosines = sum(of_model @ of_model.T for of_model in vectors)
    np.fill_diagonal(cosines, -np.inf)
    nearest: np.ndarray = np.argsort(-cosines, axis=1)[:, :NEAREST]
    return nearest


def draw_criteria(
    kind: str,
    words: Sequence[str],
    models: Mapping[str, Any],
    number: int = BATCH,
    pairs: int = PAIRS_OF_BATCH,
    seed: int = 0,
) -> dict[str, list[Query]]:
    """Draw `number` random criteria, whose pairs of target sets are chosen from `pairs` pairs."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    targets = list(islice(draw_pairs(kind, words, models, rng), pairs))
    target_words = {word for pair in targets for of_set in pair for word in of_set}
    sets = draw_pairs(kind, words, models, rng, target_words)
    criteria = {}
    for place in range(number):
        chosen = rng.choice(pairs, max(TARGETS) + 1, replace=False)
        attributes = list(islice(sets, max(ATTRIBUTES) + 1))
        name = f"{kind} {place:03}"
        criteria[name] = [
            Query(
                targets[chosen[a]],
                attributes[b],
                [f"targets {chosen[a]} {side}" for side in "ab"],
                [f"{name} attributes {b} {side}" for side in "ab"],
            )
            for a, b in zip(TARGETS, ATTRIBUTES, strict=True)
        ]
    return criteria


def measure(
    criteria: Mapping[str, Sequence[Query]],
    models: Mapping[str, Any],
    metrics: Mapping[str, Mapping[str, Any]] = METRICS,
    groups: int = GROUPS,
    resamples: int = RESAMPLES,
) -> list[Study]:
    """Measure criteria on models, each `TOGETHER` of them as a study.

    The scores are the same as from `measure_grid`. They are measured in the order of their target sets, so that
    random groups are drawn only once for all queries that share them.
    """
    names = list(criteria)
    studies = [
        study_from_arguments.study_of(
            metrics,
            {name: list(criteria[name]) for name in names[start : start + TOGETHER]},
            models,
            (),
            words={"preprocessors": [{}]},
            inference={
                "random_groups": {"draws": groups, "stop": None},
                "bootstrap": {"draws": resamples, "level": LEVEL},
                "interval": "jackknife",
                "adjust": "holm",
            },
            evaluation=None,
            reliability=None,
            ranking={"by": "distance", "ties": "average", "coverage": 2 / 3},
            aggregation="abs_avg",
            seed=0,
        )
        for start in range(0, len(names), TOGETHER)
    ]
    outcomes: list[dict[str, Any]] = [{} for _ in studies]
    work = [
        (cell, study.queries[cell.query], place)
        for place, study in enumerate(studies)
        for cell in study.grid.cells.values()
    ]
    order = list(models)
    work.sort(key=lambda one: (order.index(one[0].model), [s.name for s in one[1].target_sets], one[2]))
    for cell, query, place in work:
        model = models[cell.model]
        inference = studies[place].grid.inferences[cell.name].spec["inference"]
        outcomes[place][cell.name] = measure_cell(model, cell, query, inference, pool_of(model))
    return [
        replace(study, memory=results_of_cells(study, of_study))
        for study, of_study in zip(studies, outcomes, strict=True)
    ]


def compare(study: Study) -> dict[str, pd.DataFrame]:
    """Return the pairs of models with their answers by claim, with the column names of the claim on these queries."""
    # Include metrics without a common zero, which a study does not use to compare models.
    spec = PAIRS.spec_of(study) | {"no_common_zero": []}
    pairs = PAIRS.frame(PAIRS.inputs_of(study), spec)
    names = ("difference", "p_adjusted", "answer")
    other = pairs.drop(columns=list(names)).rename(columns={f"other_{name}": name for name in names})
    # Apply the same test to raw values, which a study does not compare across models.
    raw = spec | {
        "scales": {metric: scales | {FAMILY: RAW_SCALE} for metric, scales in spec["scales"].items()}
    }
    return {THESE: pairs, OTHER: other, RAW: PAIRS.frame(PAIRS.inputs_of(study), raw)}


def least_biased(pairs: pd.DataFrame) -> str | None:
    """Return the model that is clearly the least biased in a family of pairs, if there is one."""
    rows = list(pairs.itertuples())
    models = sorted({row.model_a for row in rows} | {row.model_b for row in rows})
    found = find_least_biased([(model, UNTOUCHED) for model in models], Pairs(rows, LEVEL))
    return found[0] if found else None


def answers(studies: Sequence[Study], kind: str) -> pd.DataFrame:
    """Make one row per criterion, metric and claim: whether any two models differ, and the least biased model."""
    rows = []
    for study in studies:
        for claim, pairs in compare(study).items():
            family = pairs[pairs["family"] == FAMILY]
            for (criterion, metric), of_place in family.groupby(["criterion", "metric"]):
                p_values = of_place["p_adjusted"].to_numpy(dtype=float)
                rows.append(
                    {
                        "kind": kind,
                        "place": criterion if criterion == OVERALL else "criterion",
                        "metric": metric,
                        "claim": claim,
                        "pairs": int(np.isfinite(p_values).sum()),
                        "different": bool((p_values <= 1 - LEVEL + 1e-12).any()),
                        "least_biased": least_biased(of_place) or "",
                    }
                )
                assert rows[-1]["different"] == (of_place["answer"] == DIFFERENT).any()
    return pd.DataFrame(rows)


def summarise(found: pd.DataFrame) -> pd.DataFrame:
    """Return the table: counts by kind, place, metric and claim, in their order."""
    rows = []
    keys = ["kind", "place", "metric", "claim"]
    order = {"kind": KINDS, "place": ("criterion", OVERALL), "metric": tuple(METRICS), "claim": CLAIMS}
    for values, part in found.groupby(keys):
        tested = part[part["pairs"] > 0]
        models = Counter(model for model in tested["least_biased"] if model)
        rows.append(
            dict(zip(keys, values, strict=True))
            | {
                "criteria": len(part),
                "tested": len(tested),
                "different": int(tested["different"].sum()),
                "least_biased": models.total(),
                "of": "; ".join(f"{model} {count}" for model, count in models.most_common()),
            }
        )
    table = pd.DataFrame(rows)
    return table.sort_values(keys, key=lambda column: column.map(order[column.name].index), ignore_index=True)


def means(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the mean standardised bias by kind, metric and model, with its standard error over target sets.

    Parameters
    ----------
    scores
        Scores of studies, with columns `kind` and `batch`. Queries with the same target sets are one observation.
    """
    targets = scores["query"].str.split(" and ").str[0]
    keys = ["kind", "metric", "model"]
    of_targets = scores.groupby([*keys, "batch", targets])["standardized"].mean()
    found = of_targets.groupby(keys).agg(["mean", "sem", "size"])
    found.columns = ["standardized", "standard_error", "targets"]
    return found.reset_index()


def read_models() -> dict[str, Any]:
    """Return the embedded study's models, which `make study` downloads."""
    folder = Path(os.environ.get("BIASGRID_EMBEDDINGS", ROOT / "data" / "embeddings"))
    return {name: bg.load(folder / name) for name in MODELS}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--batches", type=int, default=5, help=f"of {BATCH} criteria, of each kind")
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--to", type=Path, default=NUMBERS, help="folder of the table")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    models = read_models()
    words = common_words(models, "glove-6b-50d")
    found, scores = [], []
    with threadpool_limits(1):
        for kind in options.kinds:
            for batch in range(options.batches):
                studies = measure(draw_criteria(kind, words, models, seed=batch), models)
                found.append(answers(studies, kind))
                scores += [frame_of(study, "scores").assign(kind=kind, batch=batch) for study in studies]
    table = summarise(pd.concat(found))
    table.to_csv(options.to / "random_criteria.csv", index=False)
    of_models = means(pd.concat(scores)).round(4)
    of_models.to_csv(options.to / "random_criteria_means.csv", index=False)
    print(table.to_string(index=False), of_models.to_string(index=False), sep="\n\n")


if __name__ == "__main__":
    main()
