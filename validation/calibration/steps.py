"""Steps of a simulation."""

from __future__ import annotations

from pathlib import Path

from biasgrid import metrics
from biasgrid.models import kinds
from biasgrid.models.building import store_of
from biasgrid.models.store_of import StoreOf
from biasgrid.study.step import Step
from biasgrid.workflow import stores

from ..experiment import STEP, Cell, Rule
from .study import Simulation


def cell_rules(simulation: Simulation) -> list[Rule]:
    """Return the rules of the steps that compute: the steps of each kind of cell, and of their inputs."""
    cells, real, frequency = simulation.cells, simulation.real_cells, simulation.frequency_cells
    drawn_from = dict.fromkeys(cell.place["model"] for cell in real.values())
    return [
        # Simulate a metric with a number of words per set and a bias, which takes seconds to minutes.
        Rule(
            "simulated",
            {name: cell_step(simulation, cell) for name, cell in cells.items()},
            (str(simulation.cell_file(STEP)),),
            minutes=20,
            group="simulations",
        ),
        # Find the words from which a model's random groups are drawn, and their neighbours.
        Rule(
            "pool",
            {model: pool_step(simulation, model) for model in drawn_from},
            (str(simulation.paths.pool_file(STEP)),),
            memory=lambda model: stores.memory(simulation, model, 1, 1),
            wanted=False,
        ),
        # Run both tests of every metric on a real model and a kind of query.
        Rule(
            "calibrated",
            {name: real_step(simulation, cell) for name, cell in real.items()},
            (str(simulation.real_file(STEP)),),
            memory=2000,
            minutes=60,
        ),
        # Train vectors on a shuffled corpus.
        Rule(
            "vectors",
            {name: vectors_step(simulation, cell) for name, cell in frequency.items()},
            (str(simulation.frequency_vectors_file(STEP)),),
            memory=2000,
            minutes=20,
            wanted=False,
        ),
        # Run all tests of every metric on these vectors.
        Rule(
            "frequency",
            {name: frequency_step(simulation, cell) for name, cell in frequency.items()},
            (str(simulation.frequency_cell_file(STEP)),),
            minutes=10,
        ),
    ]


def cell_step(simulation: Simulation, cell: Cell) -> Step:
    """Return the step that simulates a cell."""
    modules = (metrics.REGISTRY.module(cell.spec["metric"]),)
    output = simulation.cell_file(cell.name)
    return Step(f"cell {cell.name}", {}, output, cell.spec, "validation.calibration.cell:simulate", modules)


def pool_step(simulation: Simulation, model: str) -> Step:
    """Return the step that writes the words from which a real model's random groups are drawn."""
    output = simulation.paths.pool_file(model)
    return Step(
        f"pool {model}", _model(simulation, model), output, {}, "biasgrid.measure.candidate_words:write_pool"
    )


def real_step(simulation: Simulation, cell: Cell) -> Step:
    """Return the step that runs both tests of every metric on queries from a real model."""
    functions = {metrics.metric(entry.get("metric", key)).name for key, entry in cell.spec["metrics"]}
    kind = kinds.REGISTRY[simulation.models[cell.place["model"]].get("kind", kinds.VECTORS)].name
    modules = {metrics.REGISTRY.module(name) for name in functions} | {kinds.REGISTRY.module(kind)}
    inputs = {
        **_model(simulation, cell.place["model"]),
        "pool": simulation.paths.pool_file(cell.place["model"]),
    }
    return Step(
        f"real {cell.name}",
        inputs,
        simulation.real_file(cell.name),
        cell.spec,
        "validation.calibration.calibration:calibrate",
        tuple(sorted(modules)),
    )


def vectors_step(simulation: Simulation, cell: Cell) -> Step:
    """Return the step that trains vectors on a shuffled corpus."""
    return Step(
        f"vectors {cell.name}",
        _model(simulation, simulation.config.frequency.corpus),
        simulation.frequency_vectors_file(cell.name),
        cell.spec["vectors"],
        "validation.calibration.frequency_vectors:vectors",
    )


def frequency_step(simulation: Simulation, cell: Cell) -> Step:
    """Return the step that runs all tests on the vectors of a shuffled corpus."""
    functions = {
        metrics.metric(entry.get("metric", key)).name for key, entry in cell.spec["tests"]["metrics"]
    }
    return Step(
        f"frequency {cell.name}",
        {"vectors": simulation.frequency_vectors_file(cell.name)},
        simulation.frequency_cell_file(cell.name),
        cell.spec["tests"],
        "validation.calibration.frequency_tests:run",
        tuple(sorted({metrics.REGISTRY.module(name) for name in functions})),
    )


def figure_steps(simulation: Simulation) -> dict[str, Step]:
    """Return the steps that draw the figures, by the figure's name. A step's output is the stem of its files."""
    tables = {name: step.output for name, step in simulation.table_steps().items()}
    cells, labels = simulation.cells, {"labels": simulation.labels}
    level = simulation.config.coverage.level
    figures = {}
    if cells:
        figures["p-values"] = (
            {"cells": list(map(simulation.cell_file, cells))},
            {"cells": [list(cell.place.values()) for cell in cells.values()], **labels},
            "figures:p_values",
        )
        for true in ("expected", "all_words"):
            spec = {"true": true, "level": level, **labels}
            figures[f"coverage-{true.replace('_', '-')}"] = (
                {"table": tables["simulation.csv"]},
                spec,
                "figures:coverage",
            )
    if simulation.real_cells:
        spec = {"labels": simulation.real_labels}
        figures["calibration"] = {"table": tables["calibration.csv"]}, spec, "figures:calibration"
    if simulation.frequency_cells:
        spec = {"labels": simulation.frequency_labels}
        for row_kind in ("training", "metric"):
            of_rows = (
                {"table": tables["frequency_tests.csv"]},
                spec | {"by": row_kind},
                "frequency_figures:draw",
            )
            figures[f"frequency-tests-by-{row_kind}"] = of_rows
    return {
        name: Step(
            f"figure {name}",
            inputs,
            simulation.results / "figures" / name,
            spec,
            f"validation.calibration.{function}",
        )
        for name, (inputs, spec, function) in figures.items()
    }


def _model(simulation: Simulation, model: str) -> dict[str, Path | StoreOf]:
    """Return the input files of a real model."""
    store = store_of(simulation.embeddings, model, simulation.models[model])
    return {"model": simulation.paths.model_file(model), "store": store}
