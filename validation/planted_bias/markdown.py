"""Tables of recovered bias and of the claims in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biasgrid.core.files import write_text
from biasgrid.core.numbers import coefficient, interval, share, typeset, typographic

from .claims import CLAIMS
from .labels import ACT_LABELS, VECTORS
from .recovery import ACTS, BEHAVIOUR, NEUTRAL, OF_SETS, RECOVERY

# Kind of truth -> name of the truth, and name of its distance from the neutral value.
TRUTHS = {
    "planted": ("the share", "the share's distance from .5"),
    "unmasking": ("the unmasking bias", "the unmasking bias' distance from .5"),
    "errors": ("the downstream errors", "the downstream errors' distance from 0"),
}


def write(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write recovery.md, from recovery.csv (inputs: "recovery"; spec: "labels")."""
    write_text(output, recovery_markdown(RECOVERY.read(inputs["recovery"]), spec["labels"]))


def write_claims(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write claims.md, from claims.csv (inputs: "claims"; spec: "labels")."""
    write_text(output, claims_markdown(CLAIMS.read(inputs["claims"]), spec["labels"]))


def recovery_markdown(recovery: pd.DataFrame, labels: Mapping[str, str]) -> str:
    """Write recovery.csv as tables in Markdown, as in validation/planted_bias/numbers."""
    columns = ["trainer", "vectors", "level", "metric", "against", "truth", "what", "value", "sd"]
    cells = {tuple(row[:7]): tuple(row[7:]) for row in recovery[columns].itertuples(index=False)}
    recovery = recovery[recovery["metric"] != ""]
    texts = [
        text
        for against in NEUTRAL
        if len(rows := recovery[recovery["against"] == against])
        for text in _truth_tables(rows, cells, labels, against)
    ]
    return "\n\n".join(texts) + "\n"


def _truth_tables(
    recovery: pd.DataFrame, cells: Mapping[tuple, tuple], labels: Mapping[str, str], against: str
) -> list[str]:
    """Return the tables of the recovery of one kind of truth."""
    of_vectors = recovery[recovery["vectors"] != BEHAVIOUR]
    kinds = list(of_vectors[["trainer", "vectors"]].drop_duplicates().itertuples(index=False, name=None))
    names = [f"{labels.get(trainer, trainer)}, {VECTORS[kind]}" for trainer, kind in kinds]
    signed, distance = TRUTHS[against]

    def cell(trainer: str, kind: str, level: str, metric: str, *key: str) -> tuple[float, float]:
        kind = BEHAVIOUR if metric in ACTS else kind
        return cells.get((trainer, kind, level, metric, *key), (np.nan, np.nan))

    def name_of(metric: str) -> str:
        return labels.get(metric, ACT_LABELS.get(metric, metric))

    words = recovery[(recovery["level"] == "word") & (recovery["what"] == "r_squared")]
    squares = words[words["truth"] == "signed"].groupby("metric")["value"].max()
    of_words = sorted(words["metric"].unique(), key=lambda m: (-squares.get(m, -1).round(2), name_of(m)))
    with_share, with_distance = [], []
    for metric in of_words:
        shares, distances, differences = [], [], []
        for kind in kinds:
            shares.append(_with_sd(*cell(*kind, "word", metric, against, "signed", "r_squared")))
            shares.append(
                typeset(cell(*kind, "word", metric, against, "signed", "positive")[0], form=share) or "–"
            )
            distances.append(_with_sd(*cell(*kind, "word", metric, against, "absolute", "r_squared")))
            differences.append(
                typeset(cell(*kind, "word", metric, "", "", "sd_difference")[0], form=share) or "–"
            )
        with_share.append([name_of(metric), *shares])
        with_distance.append([name_of(metric), *distances, *differences])
    of_sets = sorted(recovery.loc[recovery["level"] == "set", "metric"].unique(), key=name_of)
    texts = [
        f"R² of words' scores with {signed}, mean over models (standard deviation), and models with r > 0:",
        _table(["metric", *(head for name in names for head in (f"{name}: R²", "r > 0"))], with_share),
        f"R² with {distance}, and how much replicates differ:",
        _table(["metric", *names, *(f"replicates, {name}" for name in names)], with_distance),
    ]
    truth_name = "the truth" if against == "planted" else signed
    for trainer in dict.fromkeys(trainer for trainer, _ in kinds):
        trainer_kinds = [kind for of_trainer, kind in kinds if of_trainer == trainer]
        rows = [
            [
                name_of(metric),
                *(
                    _bold(cell(trainer, kind, "set", metric, against, truth, "pearson")[0])
                    for truth in OF_SETS
                    for kind in trainer_kinds
                ),
            ]
            for metric in of_sets
        ]
        truths = {"mean": "mean", "sd": "sd", "absolute": "distance"}
        heads = [f"{truths[truth]}, {VECTORS[kind]}" for truth in OF_SETS for kind in trainer_kinds]
        texts.append(
            f"Pearson's r of sets' scores with {truth_name}, {labels.get(trainer, trainer)} (bold: r of .8 or more, "
            "or of −.8 or less, which is no test):"
        )
        texts.append(_table(["metric", *heads], rows))
    return texts


def claims_markdown(claims: pd.DataFrame, labels: Mapping[str, str]) -> str:
    """Write claims.csv as a table in Markdown."""
    rows = []
    for row in claims.itertuples(index=False):
        ends = "" if np.isnan(row.low) else typographic(f" {interval(row.low, row.high)}")
        models = f"{labels.get(row.trainer, row.trainer)}, {VECTORS[row.vectors]}"
        against = ACT_LABELS.get(row.against, row.against)
        metric, text = row.claim.removeprefix("errors_"), row.text
        if metric != row.claim:
            text = text.replace(f": {metric}", f": {labels.get(metric, metric)}")
        rows.append(
            [
                row.experiment,
                text,
                row.paper,
                models,
                against,
                (typeset(row.value) or "–") + ends,
                row.verdict,
            ]
        )
    head = ["experiment", "claim", "paper", "models", "compared with", "value [95 % interval]", "verdict"]
    return _table(head, rows) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _with_sd(value: float, sd: float) -> str:
    return f"{_r(value)} ({_r(sd)})" if not np.isnan(value) else "–"


def _bold(r: float) -> str:
    return f"**{_r(r)}**" if abs(r) >= 0.8 else _r(r)


def _r(value: float) -> str:
    return typeset(value, form=coefficient) or "–"
