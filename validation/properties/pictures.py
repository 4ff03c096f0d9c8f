"""Pictures of docs/known-bias.md."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from biasgrid import load_plugins, metrics

from ..pictures import Picture, read

load_plugins(["properties"])
from biasgrid_plugin_properties import SET, Example, Setting, Verdict  # noqa: E402
from biasgrid_plugin_properties.figures import counterexamples, matrix, ranges  # noqa: E402

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def verdicts(table: pd.DataFrame) -> list[Verdict]:
    """Read verdicts from a table that has their fields, and their counterexamples in `settings`."""
    answers = []
    for row in table.to_dict("records"):
        settings = json.loads(row.pop("settings", "") or "[]")
        example = Example(
            tuple(
                Setting(s["name"], *(tuple(map(np.array, s[side])) for side in ("groups", "words")))
                for s in settings
            ),
            tuple(tuple(np.nan if value is None else value for value in s["values"]) for s in settings),
            row["note"],
        )
        row |= {"tried": int(row["tried"]), "neutral": float(row["neutral"])}
        answers.append(Verdict(**row, example=example if settings else None))
    return answers


def _answers(results: Path) -> pd.DataFrame:
    table = read(results / "properties" / "properties.csv").drop(columns="construction")
    return table.assign(neutral=[metrics.metric(name).neutral for name in table["metric"]])


def _counterexamples(results: Path) -> pd.DataFrame:
    """Read the counterexamples of sets of words, with only the parts of a setting that a figure draws."""
    table = _answers(results)
    file = results / "properties" / "counterexamples.json"
    examples = json.loads(file.read_text(encoding="utf-8"))
    settings = [
        [
            {name: part for name, part in setting.items() if name != "nearness"}
            for setting in examples.get(verdict.key, {"settings": []})["settings"]
        ]
        for verdict in verdicts(table)
    ]
    table["settings"] = [json.dumps(part) if part else "" for part in settings]
    return table[(table["level"] == SET) & (table["settings"] != "")]


def _comparable(results: Path) -> pd.DataFrame:
    table = _counterexamples(results)
    return table[table["property"] == "comparable"]


def _picture(take: Callable[[Path], pd.DataFrame], draw: Callable[..., Figure]) -> Picture:
    return Picture("make properties", "properties", take, lambda table: draw(verdicts(table)))


PICTURES = {
    "properties": _picture(_answers, matrix),
    "counterexamples": _picture(_counterexamples, counterexamples),
    "ranges": _picture(_comparable, ranges),
}
