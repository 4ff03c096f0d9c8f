"""Table of reliability: stability of scores, reliability of word orders, and agreement of metrics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from ..measure.reliability_in_words import (
    METRICS,
    ORDER,
    QUESTIONS,
    SCORE,
    TRAININGS,
    VERDICTS,
    card,
    judged,
    of_another_list,
)
from ..measure.results import ACROSS_MODELS, KEYS, results
from ..measure.statistics.intraclass import icc_agreement, icc_consistency
from ..measure.word_order import ALIKE, FEW_WORDS, FEWEST_WORDS
from .inputs import sample_files
from .keys import CELL
from .rank_samples import value_samples
from .scores import SCORES
from .table import Column, Files, Table
from .word_scores import spec_of, word_scores

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Planned

ONE_MODEL = "one model only"
SAME_NUMBERS = "both metrics have the same numbers of words"
SEED = "seed"  # the parameter of training whose models differ only by chance
ICC, RANKS, AGREEMENT = "ICC(C,1)", "rank correlation", "ICC(A,1)"

Row = dict[str, Any]
# Keys `KEYS` -> set -> word -> number.
Numbers = dict[tuple, dict[str, dict[str, float]]]
EMPTY: Row = {"set": "", "beside": "", "items": 0, "note": "", "value": math.nan}


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows of each score and question of `QUESTIONS`.

    `spec` has "thresholds", the thresholds of the assessments, and "neutral", as [criterion, metric, value]. It has
    "draws", "seed" and "queries" of the resamples, and "words", the meaning of words' numbers by criterion and metric
    (`word_scores`). It has "trainings", as [name, models], for models that differ only in their seed.
    """
    neutral = {(criterion, metric): value for criterion, metric, value in spec["neutral"]}
    scores = SCORES.read(inputs["scores"])
    samples, _ = value_samples(scores, inputs, spec)
    orders = dict(_orders(scores, samples, neutral))
    inferred: dict[tuple, Row] = {}
    for key, _, result in results(inputs["inferences"]):
        parts = {name: result[name] for name in ("bootstrap", "reliability") if name in result}
        inferred.setdefault(key, parts)
    rows: list[Row] = []
    for *names, words in scores[[*KEYS, "words_used"]].itertuples(index=False, name=None):
        key = tuple(names)
        if "reliability" not in (result := inferred.get(key, {})):
            continue
        place = dict(zip(KEYS, key, strict=True))
        rows += [place | row for row in card(result, words, spec["thresholds"])]
        share, models = orders.get(key, (math.nan, 0))
        order = {"question": SCORE, "coefficient": ORDER, "value": share, "words": words, "items": models}
        note = "" if models > 1 else ONE_MODEL
        rows.append(place | judged(order, spec["thresholds"]) | {"note": note})
    numbers = _numbers_of_words(inputs["cells"], spec["words"], inferred)
    for row in (*_of_metrics(numbers), *_of_trainings(numbers, spec["trainings"])):
        rows.append(judged({**EMPTY, **row}, spec["thresholds"]))
    return TABLE.finish([{**EMPTY, **row} for row in rows])


def _orders(
    scores: pd.DataFrame, samples: np.ndarray, neutral: Mapping[tuple[str, str], float]
) -> Iterator[tuple[tuple, tuple[float, int]]]:
    """Yield, for each score, how often another word list of the same size orders two models in the same way.

    Models are ordered by distance from the no-bias value. The share is averaged over the other models, and comes with
    the number of models.
    """
    for (criterion, _, metric, _), part in scores.groupby(ACROSS_MODELS, sort=False):
        part = part[part["value"].notna()]
        center = neutral[criterion, metric]
        distances = np.abs(samples[part.index] - center)
        observed = np.abs(part["value"].to_numpy() - center)
        for i, key in enumerate(part[KEYS].itertuples(index=False, name=None)):
            differences = np.delete(distances, i, axis=0) - distances[i]
            orders = np.sign(np.delete(observed, i) - observed[i])
            counts = np.isfinite(differences).sum(axis=1)
            is_known = counts > 0
            alike = (np.sign(differences) == orders[:, None]).sum(axis=1)
            # Shrink the share, because a share of 0 or 1 in these draws need not be 0 or 1 in all.
            shares = ((alike + 0.5) / (counts + 1))[is_known]
            shares = np.array([of_another_list(NormalDist().inv_cdf(share)) for share in shares.tolist()])
            yield key, (float(shares.mean()) if len(shares) else math.nan, len(shares) + 1)


def _numbers_of_words(files: Any, spec: list[list[Any]], inferred: Mapping[tuple, Row]) -> Numbers:
    of_words = {(criterion, metric): entry for criterion, metric, entry in spec}
    numbers: Numbers = {}
    for key, _, result in results(files):
        if key in inferred and (entry := of_words[key[0], key[2]]):
            numbers.setdefault(key, word_scores(result, entry))
    return numbers


def _of_metrics(numbers: Numbers) -> Iterator[Row]:
    """Compare how two metrics score the words of a set.

    Numbers are differences from the no-bias value, divided by their root mean square. They are signed so that higher
    means nearer to the same group.
    """
    by_place: dict[tuple, dict[str, dict[str, float]]] = {}
    for (criterion, query, metric, model, debias), by_set in numbers.items():
        for name, by_word in by_set.items():
            by_place.setdefault((criterion, query, model, debias, name), {})[metric] = by_word
    for (criterion, query, model, debias, name), by_metric in by_place.items():
        for pair in combinations(sorted(by_metric), 2):
            both = _table([by_metric[metric] for metric in pair])
            agreement = _agreement(both)
            for metric, beside in (pair, pair[::-1]):
                place = dict(zip(KEYS, (criterion, query, metric, model, debias), strict=True))
                place |= {"question": METRICS, "set": name, "beside": beside, "words": len(both), "items": 2}
                yield from (place | row for row in agreement)


def _of_trainings(numbers: Numbers, trainings: list[list[Any]]) -> Iterator[Row]:
    """Compare how models that differ only in their training seed score the words of a set.

    The row belongs to the first model.
    """
    for name, models in trainings:
        for key, by_set in numbers.items():
            criterion, query, metric, model, debias = key
            others = [(criterion, query, metric, other, debias) for other in models[1:]]
            if model != models[0] or not all(other in numbers for other in others):
                continue
            for of_set in by_set:
                table = _table([numbers[k].get(of_set, {}) for k in (key, *others)])
                row = dict(zip(KEYS, key, strict=True)) | {"question": TRAININGS, "coefficient": AGREEMENT}
                row |= {"set": of_set, "beside": name, "words": len(table), "items": len(models)}
                if len(table) < FEWEST_WORDS:
                    yield row | {"note": FEW_WORDS}
                elif not (np.ptp(table, axis=0) > 0).all():
                    yield row | {"note": ALIKE}
                else:
                    estimate = icc_agreement(table)._asdict()
                    yield row | {name: float(number) for name, number in estimate.items()}


def _table(by_rater: Sequence[Mapping[str, float]]) -> np.ndarray:
    """Return the numbers of the words that all raters have, (words, raters)."""
    common = set(by_rater[0]).intersection(*by_rater[1:])
    words = [word for word in by_rater[0] if word in common]
    return np.array([[*map(numbers.__getitem__, words)] for numbers in by_rater], dtype=float).T.copy()


def _agreement(numbers: np.ndarray) -> list[Row]:
    import pandas as pd

    if len(numbers) < FEWEST_WORDS:
        return [{"coefficient": ICC, "note": FEW_WORDS}]
    squares = (numbers**2).mean(axis=0)
    if not (squares > 0).all() or not (np.ptp(numbers, axis=0) > 0).all():
        return [{"coefficient": ICC, "note": ALIKE}]
    units = numbers / np.sqrt(squares)
    if np.abs(units[:, 0] - units[:, 1]).max() < 1e-9:
        return [{"coefficient": ICC, "value": 1.0, "note": SAME_NUMBERS}]
    estimate = icc_consistency(units)
    ranks = float(pd.DataFrame(units).rank().corr().iloc[0, 1])
    return [
        {"coefficient": ICC, **{name: float(number) for name, number in estimate._asdict().items()}},
        {"coefficient": RANKS, "value": ranks},
    ]


def _spec(study: Planned) -> dict[str, Any]:
    return {
        "words": spec_of(study),
        "trainings": [
            [name, [key for key in (training.base, *training.vary[SEED]) if key in study.models]]
            for name, training in (study.config.trainings or {}).items()
            if SEED in training.vary
        ],
        "queries": {name: sorted(entry.queries) for name, entry in study.config.criteria.items()},
    }


TABLE = Table(
    "reliability",
    "How far each score, and the order of its words, can be trusted. Rows per score: of the score itself "
    "(`score`), of the order of its words (`words`), and of its agreement with another metric on them "
    "(`metrics`).",
    (
        *CELL,
        Column(
            "question",
            "what is asked. `score`: would another word list of the same size change the score's sign, or its "
            "order among models? `words`: would other items order the words in the same way? `metrics`: does "
            "another metric score the words in the same way? `trainings`: does another training seed?",
            values=QUESTIONS,
        ),
        Column(
            "coefficient",
            "what the value is. `sign`: the share of other word lists of the same size that give the same sign. "
            "`order`: the share that order two models in the same way by distance from no bias, averaged over "
            "the other models. `alpha`, `split-half`: reliability of the order of words. `ICC(C,1)`, `rank "
            "correlation`: agreement of two metrics on the words. `ICC(A,1)`: agreement of all training seeds "
            "on the words",
        ),
        Column(
            "set", "the set of the words; empty if all sets are taken together, each centred on its own mean"
        ),
        Column("beside", "key of the other metric, or name of the set of training runs"),
        Column(
            "value",
            "the coefficient. A negative alpha is shown. A split-half is empty if the halves do not correlate "
            "positively; the column after the interval then has `none`",
            "number",
            range=(-math.inf, 1),
        ),
        Column("low", "lower end of its 95 % confidence interval", "number", range=(-math.inf, 1)),
        Column("high", "upper end of the same interval", "number", range=(-math.inf, 1)),
        Column.value("z", "for `sign`: distance of the score from the no-bias value", "standard errors"),
        Column.value(
            "mc_error",
            "for `split-half`: standard error of the value from drawing 200 splits; 0 if all splits are used",
            "the coefficient's",
            0,
        ),
        Column.count("words", "number of words that are resampled, ordered or scored"),
        Column.count("items", "number of items: pairs, words of the groups, templates, models or metrics"),
        Column(
            "times",
            "required list length: how many times as long the lists of items must be for a reliability of .8 "
            "(for `sign`: all lists). Empty if no length is known to suffice",
            "number",
            range=(0, math.inf),
            is_quotient=True,
        ),
        Column(
            "verdict",
            "result for the whole interval, by the thresholds of `reliability:`. `none` also if halves of the list "
            "do not correlate positively. One of: " + ", ".join(VERDICTS),
            values=(*VERDICTS, ""),
        ),
        Column("note", "why there is no value, or what limits it"),
        Column("says", "the result in a sentence"),
        Column.share(
            "percentile",
            "share of random groups whose coefficient is lower. The groups are as coherent as the query's. For "
            "sums over items, with `random_groups`",
        ),
    ),
    reads=("scores", "cells"),
    when="reliability and bootstrap",
    facts=("neutral", "draws", "seed", "thresholds"),
    inputs=lambda study: sample_files(study, lambda cell: True),
    spec=_spec,
    make=make,
    key=(*KEYS, "question", "coefficient", "set", "beside"),
)
TABLES = (TABLE,)
