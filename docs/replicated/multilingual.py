"""Blocks of docs/replications/multilingual.md (config/multilingual.yaml)."""

from __future__ import annotations

from .results import Results, paragraph, places, table

METRICS = {"weat": "WEAT", "weat_es": "WEAT effect size"}
QUERIES = {
    "en_career_family": "career, family",
    "en_maths_arts_2": "maths, arts 2",
    "en_science_arts": "science, arts",
}


def english(results: Results) -> str:
    """Return WEAT and its effect size on the models at hand beside the notebook's, and compare the signs."""
    models = list(dict.fromkeys(results.comparison["model"]))
    names = [
        results.table("comparison", model=model)["model_label"].iloc[0].split(" (")[0] for model in models
    ]
    rows, same = [], []
    for metric, label in METRICS.items():
        for query, words in QUERIES.items():
            found = [
                results.row("comparison", model=model, metric=metric, quantity=f"{query}: value")
                for model in models
            ]
            printed = found[0]["published"]
            same += [(number["ours"] > 0) == (printed > 0) for number in found]
            rows.append(
                (f"{label}, {words}", places(printed, 3), *(places(number["ours"], 3) for number in found))
            )
    said = paragraph(
        f"{sum(same)} of these {len(same)} values have the sign of the notebook's. No value is judged, "
        "as the vectors are others."
    )
    return f"{table(('number', 'notebook (fastText)', *names), rows)}\n\n{said}"


BLOCKS = {("multilingual", "english"): english}
