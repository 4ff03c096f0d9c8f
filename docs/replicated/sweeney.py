"""Blocks of docs/replications/sweeney.md (config/sweeney.yaml, with config/with_npm.yaml)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from .results import Results, numeric, paragraph, places, verdicts

MODELS = {"glove-6b-100d": "GloVe 6B 100d", "word2vec-google-news-300-subset": "word2vec"}
QUANTITIES = {
    "sweeney_national_origin: /scalars/accuracy": "accuracy",
    "sweeney_national_origin_capitalised: /scalars/accuracy": "accuracy",
    "sweeney_national_origin: value": "RNSB, national origins",
    "sweeney_religion: value": "RNSB, religions",
}


def _of_paper(results: Results) -> pd.DataFrame:
    return results.comparison[results.comparison["quantity"].isin(QUANTITIES)]


def summary(results: Results) -> str:
    """Count the results of the comparison."""
    on_glove = results.table("comparison", model="glove-6b-100d")
    notebook = results.comparison[results.comparison["quantity"].str.startswith("rnsb_notebook")]
    differing = _of_paper(results).query("verdict == 'differs'")
    said = " and ".join(
        f"{QUANTITIES[number['quantity']]} on {MODELS[number['model']]} ({places(number['ours'], 4)}, printed "
        f"{places(number['published'], 4)})"
        for _, number in differing.iterrows()
    )
    return paragraph(
        f"Of {len(on_glove)} printed numbers on the paper's GloVe vectors, {verdicts(on_glove)}.",
        f"Of {len(notebook)} shares that WEFE's notebook prints on word2vec, {verdicts(notebook)}.",
        f"What differs in the paper: {said}." * bool(said),
    )


def numbers(results: Results) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return the paper's numbers beside ours."""
    rows = [
        (
            MODELS[number["model"]],
            QUANTITIES[number["quantity"]],
            numeric(number["published"], 4),
            numeric(number["ours"], 4),
            number["verdict"],
        )
        for _, number in _of_paper(results).iterrows()
    ]
    return ("vectors", "number", "printed", "here", "result"), rows


BLOCKS = {("sweeney", "summary"): summary}
TABLES = {("sweeney", "sweeney"): numbers}
