"""Pictures of docs/known-bias.md and docs/replications/schroeder.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..pictures import Picture, read, table_of
from . import claim_plots, truth_plots
from .study import Factory

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

BERT = "planted_bert"
# Config -> the command that makes its results.
COMMANDS = {"factory": "make factory", BERT: "make planted-bert-paper"}


@cache
def study(name: str) -> Factory:
    """Read a benchmark of this folder."""
    return Factory.read(Path(__file__).with_name(f"{name}.yaml"))


def metrics_of(name: str, truth: str) -> list[str]:
    """Return the benchmark's metrics that are compared with a truth."""
    return [key for key, entry in study(name).config.metrics.items() if entry.truth == truth]


def _words(name: str, against: str = "") -> Picture:
    table = f"words-{against}" if against else "words"
    return Picture(
        COMMANDS[name],
        table,
        table_of(f"{name}/figures/{table}.csv"),
        lambda rows: truth_plots.word_level(rows, study(name).labels, against),
    )


def _truth(name: str, table: str, truth: str, against: str = "") -> Picture:
    """Return the picture of metrics against a truth; the table leaves out metrics compared with other truths."""

    def take(results: Path) -> pd.DataFrame:
        others = study(name).config.metrics.keys() - metrics_of(name, truth)
        return read(results / name / "figures" / f"{table}.csv").drop(columns=list(others), errors="ignore")

    def draw(rows: pd.DataFrame) -> Figure:
        return truth_plots.against_truth(rows, study(name).labels, truth, metrics_of(name, truth), against)

    return Picture(COMMANDS[name], table, take, draw)


def _of_models(table: str, draw: Callable[[pd.DataFrame, Mapping[str, str]], Figure]) -> Picture:
    """Return a picture of BERT models, or of claims about them."""
    path = f"{BERT}/figures/{table}.csv"
    return Picture(COMMANDS[BERT], table, table_of(path), lambda rows: draw(rows, study(BERT).labels))


PICTURES = {
    **{
        f"factory-truth-{truth}": _truth("factory", "truth-ppmi", truth)
        for truth in ("mean", "sd", "absolute")
    },
    "factory-words": _words("factory"),
    "planted-gate": _of_models("gate", claim_plots.gate),
    "planted-words": _words(BERT),
    "planted-words-unmasking": _words(BERT, "unmasking"),
    **{
        f"planted-truth-{truth}": _truth(BERT, "truth-bert-unmasking", truth, "unmasking")
        for truth in ("mean", "sd", "absolute")
    },
    "planted-directions": _of_models("directions", claim_plots.directions),
    "planted-example": _of_models("example", claim_plots.example),
    "planted-claims": _of_models("claims", claim_plots.claims),
    "planted-downstream": _of_models("downstream", claim_plots.downstream),
}
