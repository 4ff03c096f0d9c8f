"""The table of frequency: how frequent the words of each set are in the corpus that a model is of."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING, Any

from ..records import read_frequencies
from .column import ANY, Column
from .ends import QUERY_ID
from .keys import CRITERION, MODEL
from .table import Files, Table

if TYPE_CHECKING:
    import pandas as pd


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    rows = [
        {**of_set, "query_id": of_set["query"], "model": record["model"], "source": record["source"]}
        for record in map(read_frequencies, inputs["frequencies"])
        for of_set in record["sets"]
    ]
    return FREQUENCY.finish(rows)


NUMBERS = (
    Column.count("words", "how many vocabulary entries the set's words were found as"),
    Column.value("mean", "how often a word of them occurs in the corpus, on average", "tokens", 0),
    Column(
        "variance", "the variance of that over the words (divided by their number)", "number", range=(0, inf)
    ),
    Column.rank(
        "mean_rank",
        "the mean of the words' ranks among all words of the model: 1 is the most frequent, and words that occur "
        "equally often all have the best of their ranks",
    ),
    Column.rank("median_rank", "the median of these ranks"),
    Column.share("share", "the share of the corpus' tokens that are words of the set"),
    Column.count("known", "how many of the words have a known frequency"),
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
    "How frequent the words of each set are. One row per set of a query and model, in the corpus that the model "
    "comes from, or in other texts of its language. In studies with models whose frequencies are known: those "
    "that are trained here, corpora, fastText's .bin if the config names the format, with `frequencies: "
    "wordfreq` all, and models whose words the config declares `sorted`.",
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
    reads=("frequencies",),
    when="frequencies",
    make=make,
    key=("criterion", "query_id", "set", "model"),
)
TABLES = (FREQUENCY,)
