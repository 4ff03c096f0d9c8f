"""Blocks of docs/replications/wefe_documentation.md (config/wefe_documentation.yaml)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from .results import Results, paragraph, places, verdicts

HEADS = ("reproduced", "compatible", "explained", "differs", "no value")
BEYOND_TWO_SD = 0.0455  # of a normal distribution


def _groups(comparison: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the numbers by what prints them."""
    metric, call = comparison["metric"], comparison["table"]
    mitigation = comparison["source"].str.contains("mitigation")
    mean = comparison["runs"] == 1000
    all_words = call.str.contains("holdout=False")
    rnsb = metric.str.startswith("rnsb")
    return {
        "WEAT and its effect size (docstring, benchmark chapter)": comparison[
            metric.str.startswith("weat") & ~mitigation
        ],
        "RND (docstring)": comparison[metric.str.startswith("rnd")],
        "ECT (docstring)": comparison[metric.str.startswith("ect")],
        "MAC (docstring, benchmark chapter)": comparison[metric == "mac"],
        "RIPA (docstring)": comparison[metric == "ripa"],
        "RNSB without holdout (docstring)": comparison[rnsb & all_words],
        "RNSB, single runs (docstring, benchmark chapter)": comparison[rnsb & ~all_words & ~mean],
        "RNSB, a mean of 1,000 runs (docstring)": comparison[rnsb & mean],
        "hard debias, before and after (user guide on mitigation)": comparison[mitigation],
    }


def _judged(results: Results) -> pd.DataFrame:
    return results.comparison[results.comparison["verdict"].isin(HEADS)]


def numbers(results: Results) -> str:
    """Count the numbers by verdict."""
    judged = _judged(results)
    return paragraph(f"Of {len(judged)} numbers, {verdicts(judged)}.")


def by_kind(results: Results) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return how many numbers of each kind have each verdict."""
    judged = _judged(results)
    groups = _groups(judged)
    if sum(map(len, groups.values())) != len(judged):
        raise ValueError("a number of the documentation is in no row of the table, or in two")
    rows = []
    for label, group in groups.items():
        counts = group["verdict"].value_counts()
        rows.append((label, str(len(group)), *(str(counts.get(verdict, 0)) for verdict in HEADS)))
    return ("printed", "numbers", *(verdict.replace(" ", "_") for verdict in HEADS)), rows


def chance(results: Results) -> str:
    """Say how many numbers of random runs are expected to differ by chance."""
    groups = _groups(_judged(results))
    sentences = []
    for label, name in (
        ("RNSB, single runs (docstring, benchmark chapter)", "single runs"),
        ("RNSB, a mean of 1,000 runs (docstring)", "means of 1,000 runs"),
    ):
        group = groups[label]
        differ = (group["verdict"] == "differs").sum()
        sentences.append(
            f"Of {len(group)} numbers that are {name}, {places(BEYOND_TWO_SD * len(group), 1)} are expected beyond "
            f"two standard deviations, and {differ} are."
        )
    return paragraph(*sentences)


BLOCKS = {("wefe_documentation", "numbers"): numbers, ("wefe_documentation", "chance"): chance}
TABLES = {("wefe_documentation", "wefe_documentation"): by_kind}
