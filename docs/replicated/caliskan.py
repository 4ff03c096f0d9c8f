"""Blocks of docs/replications/caliskan.md (config/caliskan.yaml)."""

from __future__ import annotations

from .results import Results, paragraph, places, table, tiny, verdicts

WORD2VEC, GLOVE = ("word2vec-google-news-300-subset", "glove-840b-300d-filtered")
TESTS = [f"weat_{i}" for i in range(1, 11)]


def summary(results: Results) -> str:
    said = []
    for model, name in ((WORD2VEC, "word2vec"), (GLOVE, "GloVe")):
        for quantity, label in (("value", "effect sizes"), ("p_normal", "p-values")):
            rows = results.table("comparison", model=model, metric="weat_es")
            rows = rows[rows["quantity"].str.endswith(f": {quantity}")]
            said.append(f"Of {len(rows)} {label} on {name}, {verdicts(rows)}.")
    notebook = results.table("comparison", metric="weat")
    said.append(f"Of {len(notebook)} test statistics that WEFE's notebook prints, {verdicts(notebook)}.")
    return paragraph(*said)


def _of(model: str, results: Results) -> str:
    rows = []
    for test in TESTS:
        of_test = {"model": model, "metric": "weat_es"}
        effect = results.row("comparison", quantity=f"{test}: value", **of_test)
        normal = results.row("comparison", quantity=f"{test}: p_normal", **of_test)
        permuted = results.row("tests", query_id=test, test="permutation", **of_test)
        rows.append(
            (
                test.removeprefix("weat_"),
                places(effect["published"]),
                places(effect["ours"], 3),
                effect["verdict"],
                tiny(normal["published"]),
                tiny(normal["ours"]),
                tiny(permuted["p_value"]),
                normal["verdict"],
            )
        )
    head = (
        "test",
        "d, printed",
        "d, here",
        "",
        "p, printed",
        "p, normal curve",
        "p, permutation",
        "p, printed, is",
    )
    return table(head, rows)


def word2vec(results: Results) -> str:
    return _of(WORD2VEC, results)


def glove(results: Results) -> str:
    return _of(GLOVE, results)


BLOCKS = {
    ("caliskan", "summary"): summary,
    ("caliskan", "word2vec"): word2vec,
    ("caliskan", "glove"): glove,
}
