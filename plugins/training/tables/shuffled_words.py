"""Table of words in shuffled text: correlations of words' values with their frequency."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgrid.core.seeds import seed_of
from biasgrid.measure.records import read_frequencies
from biasgrid.measure.results import ACROSS_MODELS
from biasgrid.measure.statistics.correlation import correlate_columns, with_interval
from biasgrid.measure.statistics.means import mean_interval
from biasgrid.tables.cells import two_group_cells
from biasgrid.tables.keys import CRITERION, DEBIAS, METRIC, QUERY
from biasgrid.tables.table import Column, Files, Table
from biasgrid.tables.words import WORDS, place_of

from .shuffled import CORPUS, TRAINING, pairs

if TYPE_CHECKING:
    import pandas as pd

    from biasgrid.tables.planned import Planned


METHOD = "spearman"
CELL = ["criterion", "metric", "model", "debias", "detail"]


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Correlate words' values with their log frequency: one row per query, metric, training, corpus and text.

    spec: "rows", from `_rows`; "seed", the study's seed.
    """
    counts: dict[str, dict[str, Any]] = {}
    for file in inputs["frequencies"]:
        record = read_frequencies(file)
        counts[record["model"]] = {word: entry["count"] for word, entry in record["words"].items()}
    words = WORDS.read(inputs["words"]).dropna(subset="value")
    groups = dict(list(words.groupby(CELL, sort=False)))
    seed, rows = seed_of(spec["seed"], "shuffled words"), []
    for row in spec["rows"]:
        key = {name: row[name] for name in (*ACROSS_MODELS, "detail", "training", "corpus")}
        logs_and_values = []
        for model in row["models"]:
            part = groups.get(tuple(row[name] if name != "model" else model for name in CELL))
            if part is not None:
                part = part[part["query"].isin(row["queries"])].drop_duplicates("word")
                frequency = part["word"].map(counts[model]).to_numpy(dtype=float)
                logs_and_values.append((np.log(frequency), part["value"].to_numpy()))
        rows.append(key | {"text": row["text"]} | _summarise_words(logs_and_values, seed))
    return SHUFFLED_WORDS.finish(rows)


def _summarise_words(models: list[tuple[np.ndarray, np.ndarray]], seed: int) -> dict[str, Any]:
    """Return the table's numbers for the words of some models, given as (log frequencies, values)."""
    models = [(x, y) for x, y in models if len(x) > 2 and np.ptp(x) and np.ptp(y)]
    numbers: dict[str, Any] = {"models": len(models), "rising": 0, "ci_of": ""}
    if not models:
        return numbers
    values = np.array([correlate_columns(x[:, None], y[:, None], METHOD)[0] for x, y in models])
    numbers |= {"words": np.mean([len(x) for x, _ in models]), "rising": int((values > 0).sum())}
    numbers["correlation"] = values.mean()
    if len(models) > 1:
        numbers["ci_low"], numbers["ci_high"] = np.clip(mean_interval(values), -1, 1)
        numbers["ci_of"] = "models"
    else:
        _, numbers["ci_low"], numbers["ci_high"] = with_interval(*models[0], METHOD, seed)
        numbers["ci_of"] = "words"
    thirds = [np.array_split(y[np.argsort(x, kind="stable")], 3) for x, y in models]
    numbers["rare"], numbers["frequent"] = (np.mean([third[i].mean() for third in thirds]) for i in (0, 2))
    return numbers


def _cells(study: Planned) -> Iterator[tuple[dict[str, Any], str, Any]]:
    """Yield each entry of `shuffled`, "real" or "shuffled", and its cells with a word value between two groups."""
    for pair in pairs(study):
        for text in ("real", "shuffled"):
            for cell in two_group_cells(study):
                if cell.model in pair[text]:
                    yield pair, text, cell


def _rows(study: Planned) -> list[dict[str, Any]]:
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for pair, text, cell in _cells(study):
        key = cell.criterion, cell.query, cell.metric, cell.debias, pair["name"], pair["corpus"], text
        place = {name: entry for name, entry in place_of(study, cell).items() if name != "model"}
        place |= {"query": study.queries[cell.query].name, "text": text, "models": []}
        rows.setdefault(key, place | {"training": pair["name"], "corpus": pair["corpus"]})["models"].append(
            cell.model
        )
    return list(rows.values())


def _inputs(study: Planned) -> dict[str, Any]:
    models = {cell.model for *_, cell in _cells(study)} & {*study.grid.models_with_frequencies}
    return {"frequencies": [study.paths.frequency_file(m) for m in sorted(models)]}


SHUFFLED_WORDS = Table(
    "shuffled_words",
    "How the value of a word depends on its frequency. One row per query, metric, training, corpus and text. "
    "Only metrics that say which of two groups a word is nearer to, in studies with `shuffled`.",
    (
        CRITERION,
        QUERY,
        METRIC,
        DEBIAS,
        Column("detail", "which of the metric's numbers per word; positive is closer to the first group"),
        TRAINING,
        CORPUS,
        Column("text", "whether the text is the original corpus or shuffled", values=("real", "shuffled")),
        Column.count("models", "number of models"),
        Column("words", "mean number of words with a value", "number", range=(3, inf)),
        Column.correlation(
            "correlation",
            "Spearman's correlation of the words' values with their log frequency, averaged over the models. "
            "Above 0, frequent words are closer to the first group than rare words are",
        ),
        Column.correlation("ci_low", "lower end of its 95 % interval"),
        Column.correlation("ci_high", "upper end of the interval"),
        Column(
            "ci_of",
            "what the interval covers. models: different models with the same words (Student's t). words: for a "
            "single model, percentiles of 2,000 bootstrap resamples of words",
            values=("models", "words", ""),
        ),
        Column.count("rising", "number of models with a correlation above 0"),
        Column.value("rare", "mean value of the rarest third of the words"),
        Column.value("frequent", "mean value of the most frequent third"),
    ),
    reads=("words",),
    inputs=_inputs,
    facts=("seed",),
    spec=lambda study: {"rows": _rows(study)},
    make=make,
    key=(*ACROSS_MODELS, "training", "corpus", "text"),
    cells=lambda study: [cell for *_, cell in _cells(study)],
)
TABLES = (SHUFFLED_WORDS,)
