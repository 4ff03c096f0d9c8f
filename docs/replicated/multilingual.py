"""Blocks of docs/replications/multilingual.md (config/multilingual.yaml)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from .results import Results, numeric, paragraph

METRICS = ("weat", "weat_es")
QUERIES = ("en_career_family", "en_maths_arts_2", "en_science_arts")


def table(results: Results) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return WEAT and its effect size on the models at hand beside the notebook's."""
    rows = []
    for metric in METRICS:
        for query in QUERIES:
            numbers = _numbers(results, metric, query)
            ours = (numeric(number["ours"]) for _, number in numbers.iterrows())
            rows.append((metric, query, numeric(numbers["published"].iloc[0]), *ours))
    models = dict.fromkeys(results.comparison["model"])
    return ("metric", "query", "notebook_fasttext", *models), rows


def _numbers(results: Results, metric: str, query: str) -> pd.DataFrame:
    return results.table("comparison", metric=metric, quantity=f"{query}: value")


def english(results: Results) -> str:
    """Compare the signs of WEAT and its effect size with the notebook's."""
    numbers = pd.concat(_numbers(results, metric, query) for metric in METRICS for query in QUERIES)
    same = int(((numbers["ours"] > 0) == (numbers["published"] > 0)).sum())
    return paragraph(f"{same} of {len(numbers)} values have the sign of the notebook's.")


BLOCKS = {("multilingual", "english"): english}
TABLES = {("multilingual", "multilingual_english"): table}
