"""Names of the published quantities in figures and the report."""

from __future__ import annotations

QUANTITIES = {
    "value": "",
    "avg": "mean",
    "abs_avg": "mean absolute score",
    "sum": "sum",
    "abs_sum": "sum of absolute scores",
    "correlation": "rank correlation",
    "correlation_kendall": "rank correlation (Kendall)",
    "p_z": "p-value, z-test of the mean",
    "frequency_pearson": "correlation with the frequency of words",
    "frequency_attributes": "mean frequency of the attribute words",
    "p_value": "p-value, permutations",
    "p_normal": "p-value, normal curve",
    "robustness_targets": "change on half the target words",
    "robustness_attributes": "change on half the attribute words",
    "rating_pearson": "correlation with ratings (Pearson)",
    "rating_spearman": "correlation with ratings (Spearman)",
}
# Groups of an evaluation's measures.
MEASURES = {
    "direct": "direct bias",
    "hidden": "hidden bias",
    "similarity": "similarity benchmarks",
    "analogy": "analogies",
    "sembias": "SemBias",
    "displacement": "what debiasing changed",
}


def name_of(quantity: str) -> str:
    """Return the name of a quantity, or "" for a score itself."""
    group, _, measure = quantity.rpartition("/")
    name = QUANTITIES.get(quantity, measure.replace("_", " "))
    return f"{MEASURES[group]}: {name}" if group in MEASURES else name
