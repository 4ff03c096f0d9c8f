"""Blocks of docs/replications/schroeder.md: 258 occupations on static vectors (config/same.yaml)."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from .results import (
    BY,
    Results,
    conclusions,
    interval,
    items,
    p,
    paragraph,
    places,
    short,
    standardized,
    table,
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
    "rated_occupations": "WEAT effect size (male and female)",
    "male_or_not": "WEAT effect size (male and all others)",
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


def metrics(results: Results) -> str:
    head = ("metric", "value", "95 % interval over words", "standardised bias", "p, permutation", "p, random groups",
            "p, both, adjusted", "significant by")  # fmt: skip
    rows = [
        (
            label,
            short(score["value"], 4),
            interval(score["ci_low"], score["ci_high"], short, 2),
            standardized(score),
            p(score["p_value"]),
            p(score["p_groups"]),
            p(score["p_evidence"]),
            BY[score["evidence"]],
        )
        for label, score in _scores(results)
    ]
    return table(head, rows)


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


def groups(results: Results) -> str:
    """Return the table of three religions and three ethnicities, and what its tests say."""
    scores = [
        (f"{metric_label} ({label})", results.row("scores", query_id=query, metric=metric))
        for query, label in GROUPS.items()
        for metric, metric_label in OF_GROUPS.items()
    ]
    head = ("metric, groups", "value", "95 % interval over words", "standardised bias", "p, permutation",
            "p, random groups")  # fmt: skip
    rows = [
        (
            label,
            short(score["value"], 2),
            interval(score["ci_low"], score["ci_high"], short, 2),
            standardized(score),
            p(score["p_value"]),
            p(score["p_groups"]),
        )
        for label, score in scores
    ]
    return f"{table(head, rows)}\n\n{conclusions(scores)}"


def halves(results: Results) -> str:
    """Return how far values move with half of the occupations, beside the paper's table 6."""
    asked = {
        "mac": ("MAC", "occupations", "attributes"),
        "same_skew": ("SAME skew", "occupations", "attributes"),
        "direct_bias_pca": ("Direct Bias (PCA)", "occupations", "attributes"),
        "same": ("SAME", "occupations", "attributes"),
        "same_stereotype": ("SAME stereotype", "occupations", "attributes"),
        "weat_es": ("WEAT's effect size", "rated_occupations", "targets"),
    }
    rows, ours = [], {}
    for metric, (label, query, sets) in asked.items():
        quantity = f"{query}: robustness_{sets}"
        number = results.row("comparison", metric=metric, quantity=quantity, origin="printed")
        ours[label] = number["ours"]
        rows.append((label, places(number["published"], 4), places(number["ours"], 4)))
    (most, second) = sorted(ours, key=ours.__getitem__, reverse=True)[:2]
    ratio = ours[most] / ours[second]
    return "\n\n".join(
        [
            table(("metric", "paper (BERT)", "here"), rows),
            items(f"{most} moves most, {short(ratio, 2)} times as far as {second}."),
        ]
    )


BLOCKS = {
    ("same", "published"): published,
    ("same", "metrics"): metrics,
    ("same", "evidence"): evidence,
    ("same", "words"): words,
    ("same", "ratings"): ratings,
    ("same", "groups"): groups,
    ("same", "halves"): halves,
}
