"""Table of seed pairs: how well each pair represents the direction of its list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..evaluation.record import read_evaluation
from .keys import CRITERION, DEBIAS, MODEL
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Evaluation, Planned


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per pair, in the order of `evaluation.seed_pairs.representative`."""
    import pandas as pd

    rows = []
    for path in inputs["evaluations"]:
        record = read_evaluation(path, "seed_pairs")
        place = record["criterion"], record["model"], record["debias"]
        for name, pairs in record["seed_pairs"].items():
            rows += [(*place, name, *(pair[column] for column in SEED_PAIRS.names[4:])) for pair in pairs]
    return SEED_PAIRS.typed(pd.DataFrame(rows, columns=SEED_PAIRS.names))


def pair_evaluations(study: Planned) -> list[Evaluation]:
    """Return the evaluations that have lists of pairs."""
    return [e for e in study.grid.evaluations.values() if study.evaluation_specs[e.criterion].seed_pairs]


def _inputs(study: Planned) -> dict[str, Any]:
    return {"evaluations": list(map(study.paths.evaluation_file, pair_evaluations(study)))}


SEED_PAIRS = Table(
    "seed_pairs",
    "How well each pair of a list matches the direction of the list. One row per pair of a list.",
    (
        CRITERION,
        MODEL,
        DEBIAS,
        Column("list", "the list's name in the config"),
        Column("pair", "the pair a:b"),
        Column.rank("rank", "rank by cosine_others; 1 is the pair closest to the direction"),
        Column.correlation("cosine", "cosine of the pair's difference with the direction of all pairs"),
        Column.correlation("cosine_others", "the same cosine, with the direction of the other pairs"),
        Column.correlation(
            "cosines_with_others",
            "mean cosine of the pair's difference with the differences of the other pairs",
        ),
        Column(
            "angle_others",
            "angle between the direction of all pairs and the direction without this pair",
            "number",
            "degrees",
            (0, 180),
        ),
        Column.share("share_others", "share of the other pairs' variance along their first component"),
        Column(
            "angle_best",
            "angle between the direction of all pairs and the direction of the pairs up to this rank",
            "number",
            "degrees",
            (0, 180),
        ),
        Column.share(
            "share_best",
            "share of variance along the first component, for the pairs up to this rank; in the last row, for "
            "all pairs",
        ),
    ),
    inputs=_inputs,
    make=make,
)
TABLES = (SEED_PAIRS,)
