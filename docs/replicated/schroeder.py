"""Blocks of docs/replications/schroeder.md: 258 occupations on static vectors (config/same.yaml)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from .results import (
    BY,
    STANDARDIZED,
    Results,
    conclusions,
    numeric,
    paragraph,
    short,
    standardized_numbers,
    verdicts,
    with_interval,
)

METRICS = {
    "same": "SAME",
    "same_skew": "SAME skew (positive: male)",
    "same_stereotype": "SAME stereotype",
    "direct_bias_pca": "Direct Bias (PCA of the pairs)",
    "direct_bias_mean": "Direct Bias (means)",
    "direct_bias_sum": "Direct Bias (sums)",
    "direct_bias_pair": "Direct Bias (he − she)",
    "mac": "MAC",
}
RATED = {
    "rated_occupations": "WEAT-ES (male and female)",
    "male_or_not": "WEAT-ES (male and all others)",
}
GROUPS = {"religions": "religions", "ethnicities": "ethnicities"}
OF_GROUPS = {"same": "SAME", "same_skew_rest": "SAME skew", "same_stereotype_rest": "SAME stereotype"}


def _scores(results: Results) -> Iterator[tuple[str, pd.Series]]:
    for metric, label in METRICS.items():
        yield label, results.row("scores", query_id="occupations", metric=metric)
    for query, label in RATED.items():
        yield label, results.row("scores", query_id=query, metric="weat_es")


def published(results: Results) -> str:
    """Say how many numbers of other code, and of the paper, stand beside ours."""
    computed = results.table("comparison", origin="computed by other code")
    printed = results.table("comparison", origin="printed")
    return paragraph(
        f"Other code ([data/computed](../../data/computed/README.md)) computed {len(computed)} numbers on these "
        f"vectors: {verdicts(computed)}.",
        f"The paper's {len(printed)} numbers are of other vectors, so they are not judged.",
    )


def occupations(results: Results) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return every score of the occupations, of two groups and of more, with its interval and tests."""
    head = ("words", "metric", "value", "ci_low", "ci_high", *STANDARDIZED, "p_permutation", "p_random_groups",
            "p_both_adjusted", "significant_by")  # fmt: skip
    scores = [("occupations", label, score) for label, score in _scores(results)]
    scores += [(words, label, score) for words, label, score in _scores_of_groups(results)]
    rows = [
        (
            words,
            label,
            *(numeric(score[name]) for name in ("value", "ci_low", "ci_high")),
            *standardized_numbers(score),
            *(numeric(score[name], 2) for name in ("p_value", "p_groups", "p_evidence")),
            BY[score["evidence"]],
        )
        for words, label, score in scores
    ]
    return head, rows


def evidence(results: Results) -> str:
    return conclusions((label, score) for label, score in _scores(results))


def words(results: Results) -> str:
    """Name the most extreme occupations, and how far the directions lie apart."""
    of_words = results.table("words", query_id="occupations", metric="same", detail="bias").sort_values(
        "value"
    )
    female, male = of_words.iloc[0], of_words.iloc[-1]
    angles = results.table("directions", query_id="occupations")["angle"]
    return paragraph(
        f"`words.csv` has each metric's value per word, from *{female['word']}* ({short(-female['value'])}, female) "
        f"to *{male['word']}* ({short(male['value'])}, male).",
        f"`directions.csv` has the angles between the four directions of Direct Bias, {short(angles.min())}° to "
        f"{short(angles.max())}°.",
    )


def ratings(results: Results) -> str:
    rows = results.table("ratings", query_id="occupations", method="pearson").set_index("metric")
    same = rows.loc["same"]
    others = rows.loc[["direct_bias_pca", "direct_bias_sum", "direct_bias_pair"], "correlation"]
    other_code = results.row("comparison", metric="same", quantity="occupations: rating_pearson")
    return paragraph(
        f"SAME's bias correlates {with_interval(same['correlation'], same['ci_low'], same['ci_high'])} with them, "
        f"Direct Bias along the other directions {short(others.min())} to {short(others.max())} (`ratings.csv`).",
        f"Other code has {short(other_code['published'])} for SAME, which is `{other_code['verdict']}`: it takes the "
        "rating of *flight attendant*, which nobody gave, for 0.",
    )


def _scores_of_groups(results: Results) -> Iterator[tuple[str, str, pd.Series]]:
    for query, label in GROUPS.items():
        for metric, metric_label in OF_GROUPS.items():
            yield label, metric_label, results.row("scores", query_id=query, metric=metric)


def groups(results: Results) -> str:
    """Say what the tests of three religions and three ethnicities show."""
    return conclusions((f"{label} ({words})", score) for words, label, score in _scores_of_groups(results))


HALVES = {
    "mac": ("MAC", "occupations", "attributes"),
    "same_skew": ("SAME skew", "occupations", "attributes"),
    "direct_bias_pca": ("Direct Bias (PCA)", "occupations", "attributes"),
    "same": ("SAME", "occupations", "attributes"),
    "same_stereotype": ("SAME stereotype", "occupations", "attributes"),
    "weat_es": ("WEAT's effect size", "rated_occupations", "targets"),
}


def _halves(results: Results) -> dict[str, pd.Series]:
    """Return the published and our number of each metric, by its label."""
    return {
        label: results.row(
            "comparison", metric=metric, quantity=f"{query}: robustness_{sets}", origin="printed"
        )
        for metric, (label, query, sets) in HALVES.items()
    }


def halves_table(results: Results) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return how far values move with half of the occupations, beside the paper's table 6."""
    found = _halves(results).items()
    rows = [(label, numeric(number["published"]), numeric(number["ours"])) for label, number in found]
    return ("metric", "paper_bert", "here"), rows


def halves(results: Results) -> str:
    """Say which metric moves most with half of the occupations."""
    ours = {label: number["ours"] for label, number in _halves(results).items()}
    (most, second) = sorted(ours, key=ours.__getitem__, reverse=True)[:2]
    return paragraph(f"{most} moves most, {short(ours[most] / ours[second], 2)} times as far as {second}.")


BLOCKS = {
    ("same", "published"): published,
    ("same", "evidence"): evidence,
    ("same", "words"): words,
    ("same", "ratings"): ratings,
    ("same", "groups"): groups,
    ("same", "halves"): halves,
}
TABLES = {
    ("same", "schroeder_occupations"): occupations,
    ("same", "schroeder_halves"): halves_table,
}
