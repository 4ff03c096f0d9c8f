"""Table of frequency: how frequent the words of each set are in the corpus of a model."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING, Any

from ..measure.records import read_frequencies
from .column import ANY, Column
from .derived_columns import QUERY_ID
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
    Column.count("words", "number of vocabulary entries that match the words of the set"),
    Column.value("mean", "mean number of occurrences of these words in the corpus", "tokens", 0),
    Column(
        "variance",
        "variance of the occurrences over the words (divided by their number)",
        "number",
        range=(0, inf),
    ),
    Column.rank(
        "mean_rank",
        "mean frequency rank of the words among all words of the model. 1 is the most frequent; equally "
        "frequent words all have the best of their ranks",
    ),
    Column.rank("median_rank", "median of these ranks"),
    Column.share("share", "share of the corpus' tokens that are words of the set"),
    Column.count("known", "number of words with a known frequency"),
    Column(
        "mean_log",
        "mean log frequency of the words: natural logarithm of the occurrences per million tokens, or of 1 / "
        "rank",
        "number",
        range=ANY,
    ),
    Column(
        "variance_log",
        "variance of the log frequencies (divided by the number of words)",
        "number",
        range=(0, inf),
    ),
)
FREQUENCY = Table(
    "frequency",
    "How frequent the words of each set are. One row per set of a query and model, in the corpus that the model "
    "comes from, or in other texts of its language. In studies with models whose frequencies are known. "
    "These are corpora, models that biasgrid trained, fastText's .bin files if the config names the format, and "
    "models that the config declares `sorted`. With `frequencies: wordfreq`, all models have them.",
    (
        CRITERION,
        QUERY_ID,
        Column("set", "name of the set"),
        MODEL,
        *NUMBERS,
        Column(
            "source",
            "where the frequencies come from. counts: the model has the words' counts in its corpus. wordfreq: "
            "a proxy, the frequency in the texts of the package wordfreq in the model's language; only the "
            "columns of logarithms have values. rank: only the order of the model's words is known; mean, "
            "variance and share are empty",
            values=("counts", "wordfreq", "rank"),
        ),
    ),
    reads=("frequencies",),
    when="frequencies",
    make=make,
    key=("criterion", "query_id", "set", "model"),
)
TABLES = (FREQUENCY,)
