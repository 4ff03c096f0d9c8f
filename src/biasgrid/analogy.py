"""Tables of what models answer to analogy questions (`biasgrid.evaluation.answers`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from .mitigation import read_evaluation

KEYS = ["criterion", "model", "debias", "questions", "method", "excluded"]
ANALOGIES = [*KEYS, "pair", "word", "rank", "answer", "score", "own"]
SUMMARY = [*KEYS, "measure", "value", "n"]


def table(evaluations: Iterable[Path]) -> pd.DataFrame:
    """A row an answer, `rank` 1 the best, in the order of the questions. `excluded`: "yes" or "no", whether the
    question's words could be answers; `pair` is empty where all pairs made the question; `own`: which word of the
    question the answer is, "a", "b" or "c", else empty. Raises BiasgridError for a file that is no evaluation."""
    rows = [
        (*keys, entry["pair"], entry["word"], rank, *answer)
        for keys, entry in _entries(evaluations)
        for rank, answer in enumerate(entry["answers"], 1)
    ]
    return pd.DataFrame(rows, columns=ANALOGIES)


def summary(evaluations: Iterable[Path]) -> pd.DataFrame:
    """Shares of questions (0 to 1, of `n`): own_c, own_a and own_b, whose first answer is c, or a or b of one of
    the question's pairs; and right, of questions that have a right answer. Raises BiasgridError as `table`."""
    rows = []
    for keys, entry in _entries(evaluations):
        if entry["answers"]:
            own = entry["answers"][0][2]
            rows += [(*keys, f"own_{role}", float(own == role)) for role in "abc"]
            if "right" in entry:
                rows.append((*keys, "right", float(entry["right"])))
    table = pd.DataFrame(rows, columns=SUMMARY[:-1])
    return table.groupby(SUMMARY[:-2], as_index=False, sort=True)["value"].agg(value="mean", n="size")


def _entries(evaluations: Iterable[Path]) -> Iterator[tuple[tuple, dict[str, Any]]]:
    for path in evaluations:
        record = read_evaluation(path, "answers")
        place = record["criterion"], record["model"], record["debias"]
        for name, entries in record["answers"].items():
            for entry in entries:
                yield (*place, name, entry["method"], "yes" if entry["excluded"] else "no"), entry
