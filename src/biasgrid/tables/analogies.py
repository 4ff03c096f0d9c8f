"""Tables of the models' answers to analogy questions (`biasgrid.evaluation.analogy_answers`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..evaluation.analogy_answers import METHODS
from ..evaluation.record import read_evaluation
from .keys import CRITERION, DEBIAS, MODEL
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Planned


KEYS = (
    CRITERION,
    MODEL,
    DEBIAS,
    Column("questions", "the questions' name in the config"),
    Column("method", "the method that answers the questions", values=METHODS),
    Column("excluded", "whether the words of the question were excluded as answers", values=("yes", "no")),
)


def answers(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per answer, in the order of the questions; `rank` 1 is the best answer."""
    import pandas as pd

    rows = [
        (*keys, entry["pair"], entry["word"], rank, *answer)
        for keys, entry in _entries(inputs["evaluations"])
        for rank, answer in enumerate(entry["answers"], 1)
    ]
    return pd.DataFrame(rows, columns=ANALOGIES.names)


def summary(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Return shares of questions by their first answer.

    The shares count first answers that are c, or a or b of one of the question's pairs. If the questions have right
    answers, the share of right first answers is added.
    """
    import pandas as pd

    rows = []
    for keys, entry in _entries(inputs["evaluations"]):
        if entry["answers"]:
            answer_role = entry["answers"][0][2]
            rows += [(*keys, f"own_{role}", float(answer_role == role)) for role in "abc"]
            if "right" in entry:
                rows.append((*keys, "right", float(entry["right"])))
    names = ANALOGY_SUMMARY.names
    table = pd.DataFrame(rows, columns=names[:-1])
    return table.groupby(names[:-2], as_index=False, sort=True)["value"].agg(value="mean", n="size")


def _entries(evaluations: Iterable[Path]) -> Iterator[tuple[tuple, dict[str, Any]]]:
    for path in evaluations:
        record = read_evaluation(path, "answers")
        place = record["criterion"], record["model"], record["debias"]
        for name, entries in record["answers"].items():
            for entry in entries:
                yield (*place, name, entry["method"], "yes" if entry["excluded"] else "no"), entry


def _inputs(study: Planned) -> dict[str, Any]:
    asking = [e for e in study.grid.evaluations.values() if study.evaluation_specs[e.criterion].questions]
    return {"evaluations": list(map(study.paths.evaluation_file, asking))}


ANALOGIES = Table(
    "analogies",
    "Answers to analogy questions. One row per answer, in studies whose evaluations have questions.",
    (
        *KEYS,
        Column("pair", "the pair a:b of the question; empty if all pairs together make the question"),
        Column("word", "the word c of the question; empty for generated pairs"),
        Column.rank("rank", "rank of the answer; 1 is the best"),
        Column("answer", "the answer; for generated pairs, the pair x:y"),
        Column.value("score", "the method's score of the answer", "the method's"),
        Column(
            "own",
            "the word of the question that the answer repeats; empty if it repeats none",
            values=("a", "b", "c", ""),
        ),
    ),
    inputs=_inputs,
    make=answers,
)
ANALOGY_SUMMARY = Table(
    "analogy_summary",
    "How often analogy answers are right, or words of the question. One row per set of questions, method and "
    "measure.",
    (
        *KEYS,
        Column(
            "measure",
            "what is counted. own_a, own_b, own_c: the answer is a, b or c; right: the answer is correct",
            values=("own_a", "own_b", "own_c", "right"),
        ),
        Column.share("value", "share of the questions for which this holds"),
        Column.count("n", "number of questions"),
    ),
    inputs=_inputs,
    make=summary,
)
TABLES = (ANALOGIES, ANALOGY_SUMMARY)
