"""Blocks of docs/replications/caliskan.md (config/caliskan.yaml)."""

from __future__ import annotations

from collections.abc import Sequence

from .results import Results, numeric, paragraph, verdicts

MODELS = {"word2vec-google-news-300-subset": "word2vec", "glove-840b-300d-filtered": "GloVe"}
TESTS = [f"weat_{i}" for i in range(1, 11)]


def summary(results: Results) -> str:
    said = []
    for model, name in MODELS.items():
        for quantity, label in (("value", "effect sizes"), ("p_normal", "p-values")):
            rows = results.table("comparison", model=model, metric="weat_es")
            rows = rows[rows["quantity"].str.endswith(f": {quantity}")]
            said.append(f"Of {len(rows)} {label} on {name}, {verdicts(rows)}.")
    notebook = results.table("comparison", metric="weat")
    said.append(f"Of {len(notebook)} test statistics that WEFE's notebook prints, {verdicts(notebook)}.")
    return paragraph(*said)


def tests(results: Results) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return the ten tests on both models: the printed numbers, ours, and the result of the comparison."""
    head = (
        "vectors",
        "test",
        "d_printed",
        "d",
        "d_result",
        "p_printed",
        "p_normal",
        "p_permutation",
        "p_result",
    )
    rows = []
    for model, name in MODELS.items():
        for test in TESTS:
            of_test = {"model": model, "metric": "weat_es"}
            effect = results.row("comparison", quantity=f"{test}: value", **of_test)
            normal = results.row("comparison", quantity=f"{test}: p_normal", **of_test)
            permuted = results.row("tests", query_id=test, test="permutation", **of_test)
            rows.append(
                (
                    name,
                    test.removeprefix("weat_"),
                    numeric(effect["published"]),
                    numeric(effect["ours"], 4),
                    effect["verdict"],
                    numeric(normal["published"], 2),
                    numeric(normal["ours"], 2),
                    numeric(permuted["p_value"], 2),
                    normal["verdict"],
                )
            )
    return head, rows


BLOCKS = {("caliskan", "summary"): summary}
TABLES = {("caliskan", "caliskan"): tests}
