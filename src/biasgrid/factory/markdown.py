"""The table of what was recovered as text to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..figures.factory import VECTORS
from ..files import write_text
from ..frames import read_frame
from .recovery import OF_SETS, TEXTS


def write(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write recovery.md, from recovery.csv (inputs: "recovery"; spec: "labels")."""
    write_text(output, markdown(read_frame(inputs["recovery"], TEXTS), spec["labels"]))


def markdown(recovered: pd.DataFrame, labels: Mapping[str, str]) -> str:
    """recovery.csv as tables to read, those of docs/factory.md, in Markdown."""
    kinds = list(recovered[["trainer", "vectors"]].drop_duplicates().itertuples(index=False, name=None))
    names = [f"{labels.get(trainer, trainer)}, {VECTORS[kind]}" for trainer, kind in kinds]
    columns = ["trainer", "vectors", "level", "metric", "truth", "what", "value", "sd"]
    cells = {tuple(row[:6]): tuple(row[6:]) for row in recovered[columns].itertuples(index=False)}

    def cell(*key: str) -> tuple[float, float]:
        return cells.get(key, (np.nan, np.nan))

    def name_of(metric: str) -> str:
        return labels.get(metric, metric)

    words = recovered[(recovered["level"] == "word") & (recovered["what"] == "r_squared")]
    squares = words[words["truth"] == "signed"].groupby("metric")["value"].max()
    of_words = sorted(words["metric"].unique(), key=lambda m: (-squares.get(m, -1).round(2), name_of(m)))
    with_share, with_distance = [], []
    for metric in of_words:
        shares, distances, differences = [], [], []
        for kind in kinds:
            shares.append(_with_sd(*cell(*kind, "word", metric, "signed", "r_squared")))
            shares.append(_percent(cell(*kind, "word", metric, "signed", "positive")[0]))
            distances.append(_with_sd(*cell(*kind, "word", metric, "absolute", "r_squared")))
            differences.append(_percent(cell(*kind, "word", metric, "", "sd_difference")[0]))
        with_share.append([name_of(metric), *shares])
        with_distance.append([name_of(metric), *distances, *differences])
    of_sets = sorted(recovered.loc[recovered["level"] == "set", "metric"].unique(), key=name_of)
    texts = [
        "R² of words' scores with the share, mean over models (standard deviation), and models with r > 0:",
        _table(["metric", *(head for name in names for head in (f"{name}: R²", "r > 0"))], with_share),
        "R² with the share's distance from .5, and how much replicates differ:",
        _table(["metric", *names, *(f"replicates, {name}" for name in names)], with_distance),
    ]
    for trainer in dict.fromkeys(trainer for trainer, _ in kinds):
        mine = [kind for of, kind in kinds if of == trainer]
        rows = [
            [
                name_of(metric),
                *(
                    _bold(cell(trainer, kind, "set", metric, truth, "pearson")[0])
                    for truth in OF_SETS
                    for kind in mine
                ),
            ]
            for metric in of_sets
        ]
        truths = {"mean": "mean", "sd": "sd", "absolute": "distance"}
        heads = [f"{truths[truth]}, {VECTORS[kind]}" for truth in OF_SETS for kind in mine]
        texts.append(f"Pearson's r of sets' scores with the truth, {labels.get(trainer, trainer)}:")
        texts.append(_table(["metric", *heads], rows))
    return "\n\n".join(texts) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _two_digits(value: float) -> str:
    """As -.25; a dash for NaN."""
    if np.isnan(value):
        return "–"
    text = f"{abs(value):.2f}".removeprefix("0")
    return f"−{text}" if value < 0 and text != ".00" else text


def _with_sd(value: float, sd: float) -> str:
    return _two_digits(value) + (f" ({_two_digits(sd)})" if not np.isnan(value) else "")


def _bold(r: float) -> str:
    return f"**{_two_digits(r)}**" if abs(r) >= 0.8 else _two_digits(r)


def _percent(share: float) -> str:
    return "–" if np.isnan(share) else f"{share:.0%}".replace("%", " %")
