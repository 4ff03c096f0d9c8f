"""Figures of a benchmark; a step's output is the stem of the files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biasgrid.figures.frame import save

from . import claim_plots, truth_plots
from .claims import CLAIMS, figure_table
from .recovery import MODELS, figure_tables


def words(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Draw the correlations of words' scores with the truth, from factory.csv.

    `inputs` has "models". `spec` has "labels" and, for a truth other than the injected bias, "against".
    """
    against = spec.get("against", "")
    table = _table(inputs, "words", against)
    save(truth_plots.word_level(table, spec["labels"], against), output)


def truth(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Draw metrics against a truth, for the models of a trainer.

    `inputs` has "models". `spec` has "trainer", "labels", "truth", "metrics" and, for a truth other than the injected
    bias, "against".
    """
    against = spec.get("against", "")
    table = _table(inputs, f"truth-{spec['trainer']}", against)
    save(truth_plots.against_truth(table, spec["labels"], spec["truth"], spec["metrics"], against), output)


def directions(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Draw the gap of Direct Bias to SAME, by the angle of their directions (inputs: "models"; spec: "labels")."""
    save(claim_plots.directions(_table(inputs, "directions"), spec["labels"]), output)


def example(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Draw effect sizes of the same six words (inputs: "models"; spec: "labels")."""
    save(claim_plots.example(_table(inputs, "example"), spec["labels"]), output)


def gate(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Draw how well models reproduce the injected bias (inputs: "models"; spec: "labels")."""
    save(claim_plots.gate(_table(inputs, "gate"), spec["labels"]), output)


def claims(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Draw the results of the claims (inputs: "claims"; spec: "labels")."""
    table = CLAIMS.read(inputs["claims"])
    save(claim_plots.claims(figure_table(table, "claims"), spec["labels"]), output)


def downstream(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Draw correlations of scores with errors (inputs: "claims"; spec: "labels")."""
    table = CLAIMS.read(inputs["claims"])
    save(claim_plots.downstream(figure_table(table, "downstream"), spec["labels"]), output)


def _table(inputs: Mapping[str, Any], figure: str, against: str = ""):
    name = f"{figure}-{against}" if against else figure
    return figure_tables(MODELS.read(inputs["models"]))[name]
