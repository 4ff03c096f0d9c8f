"""The table of frequency: how frequent the words of each set are in the corpus that a model is of."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..records import read_frequencies
from .column import ANY, Column
from .ends import QUERY_ID
from .keys import CRITERION, MODEL
from .table import Files, Table

if TYPE_CHECKING:
    from ..planned import Planned


KEYS = ["criterion", "query_id", "set", "model"]


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    rows = [
        {**of_set, "query_id": of_set["query"], "model": record["model"], "source": record["source"]}
        for record in map(read_frequencies, inputs["frequencies"])
        for of_set in record["sets"]
    ]
    table = pd.DataFrame(rows, columns=FREQUENCY.names)
    numbers = {c.name: "int64" if c.dtype == "count" else "float64" for c in NUMBERS}
    return table.astype(numbers).sort_values(KEYS, ignore_index=True)


def _inputs(study: Planned) -> dict[str, Any]:
    files = [study.paths.frequency_file(model) for model in study.grid.models_with_frequencies]
    return {"frequencies": files} if files else {}


NUMBERS = (
    Column("words", "how many vocabulary entries the set's words were found as", "count"),
    Column("mean", "how often a word of them occurs in the corpus, on average", "number", "tokens", (0, inf)),
    Column(
        "variance", "the variance of that over the words (divided by their number)", "number", range=(0, inf)
    ),
    Column(
        "mean_rank",
        "the mean of the words' ranks among all words of the model: 1 is the most frequent, and words that occur "
        "equally often all have the best of their ranks",
        "number",
        range=(1, inf),
    ),
    Column("median_rank", "the median of these ranks", "number", range=(1, inf)),
    Column("share", "the share of the corpus' tokens that are words of the set", "number", range=(0, 1)),
    Column("known", "how many of the words have a known frequency", "count"),
    Column(
        "mean_log",
        "the mean of their log frequencies: natural logarithms of occurrences per million tokens, or of 1 / rank",
        "number",
        range=ANY,
    ),
    Column("variance_log", "the variance of these (divided by their number)", "number", range=(0, inf)),
)
FREQUENCY = Table(
    "frequency",
    "One row per set of a query and model: how frequent the set's words are in the corpus that the model is of, or "
    "in other texts of its language. In studies with models whose frequencies are known: those that are trained "
    "here, corpora, fastText's .bin where the config names the format, with `frequencies: wordfreq` all, and models "
    "whose words the config declares `sorted`.",
    (
        CRITERION,
        QUERY_ID,
        Column("set", "the set that the words are in"),
        MODEL,
        *NUMBERS,
        Column(
            "source",
            "counts: the model has the words' counts in its corpus; wordfreq: a proxy, the frequency in the texts of "
            "the package wordfreq in the model's language, and only the columns of logarithms are not empty; rank: "
            "only the order of the model's words is known, and mean, variance and share are empty",
            values=("counts", "wordfreq", "rank"),
        ),
    ),
    inputs=_inputs,
    make=make,
    key=tuple(KEYS),
)
TABLES = (FREQUENCY,)
