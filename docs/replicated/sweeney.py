"""Blocks of docs/replications/sweeney.md (config/sweeney.yaml, with config/with_npm.yaml)."""

from __future__ import annotations

import pandas as pd

from .results import Results, paragraph, places, table, verdicts

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
    return paragraph(
        f"Of {len(on_glove)} printed numbers on the paper's GloVe vectors, {verdicts(on_glove)}.",
        f"Of {len(notebook)} shares that WEFE's notebook prints on word2vec, {verdicts(notebook)}.",
    )


def numbers(results: Results) -> str:
    """Return the paper's numbers beside ours."""
    rows = [
        (
            f"{MODELS[number['model']]}, {QUANTITIES[number['quantity']]}",
            places(number["published"], 4),
            places(number["ours"], 4),
            number["verdict"],
        )
        for _, number in _of_paper(results).iterrows()
    ]
    return table(("number", "printed", "here", ""), rows)


BLOCKS = {("sweeney", "summary"): summary, ("sweeney", "numbers"): numbers}
