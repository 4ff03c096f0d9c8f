"""The steps of a simulation."""

from __future__ import annotations

from pathlib import Path

from .. import metrics
from ..embeddings import kinds
from ..embeddings.building import store_of
from ..embeddings.store_of import StoreOf
from ..plan.step import Step
from .populations import ALL_WORDS_DRAWS
from .study import Cell, FrequencyCell, RealCell, Simulation


def cell_step(simulation: Simulation, cell: Cell) -> Step:
    """The step that draws and infers a cell."""
    modules = (metrics.REGISTRY.module(cell.spec["metric"]),)
    output = simulation.cell_file(cell)
    return Step(f"cell {cell.name}", {}, output, cell.spec, "biasgrid.simulation.cell:simulate", modules)


def pool_step(simulation: Simulation, model: str) -> Step:
    """The step that makes the words of a real model's random groups."""
    output = simulation.pool_file(model)
    return Step(f"pool {model}", _model(simulation, model), output, {}, "biasgrid.inference.pool:write_pool")


def real_step(simulation: Simulation, cell: RealCell) -> Step:
    """The step that tries both tests of every metric on queries from a real model."""
    functions = {metrics.metric(entry.get("metric", key)).name for key, entry in cell.spec["metrics"]}
    kind = kinds.REGISTRY[simulation.models[cell.model].get("kind", kinds.VECTORS)].name
    modules = {metrics.REGISTRY.module(name) for name in functions} | {kinds.REGISTRY.module(kind)}
    inputs = {**_model(simulation, cell.model), "pool": simulation.pool_file(cell.model)}
    return Step(
        f"real {cell.name}",
        inputs,
        simulation.real_file(cell),
        cell.spec,
        "biasgrid.simulation.calibration:calibrate",
        tuple(sorted(modules)),
    )


def vectors_step(simulation: Simulation, cell: FrequencyCell) -> Step:
    """The step that trains vectors on a shuffled corpus."""
    return Step(
        f"vectors {cell.name}",
        _model(simulation, simulation.config["frequency"]["corpus"]),
        simulation.frequency_vectors_file(cell),
        cell.of_vectors,
        "biasgrid.simulation.frequency_vectors:vectors",
    )


def frequency_step(simulation: Simulation, cell: FrequencyCell) -> Step:
    """The step that tries all tests on the vectors of a shuffled corpus."""
    functions = {metrics.metric(entry.get("metric", key)).name for key, entry in cell.of_tests["metrics"]}
    return Step(
        f"frequency {cell.name}",
        {"vectors": simulation.frequency_vectors_file(cell)},
        simulation.frequency_cell_file(cell),
        cell.of_tests,
        "biasgrid.simulation.frequency_tests:run",
        tuple(sorted({metrics.REGISTRY.module(name) for name in functions})),
    )


def table_steps(simulation: Simulation) -> dict[str, Step]:
    """The steps that make the tables, by the table's name."""
    steps, cells = {}, simulation.cells.values()
    if cells:
        steps["simulation"] = Step(
            "table simulation",
            {"cells": list(map(simulation.cell_file, cells))},
            simulation.results / "simulation.csv",
            {"cells": [[cell.metric, cell.words, cell.bias] for cell in cells], "all_words": ALL_WORDS_DRAWS},
            "biasgrid.simulation.tables:write",
        )
    if simulation.real_cells:
        steps["calibration"] = Step(
            "table calibration",
            {"cells": list(map(simulation.real_file, simulation.real_cells.values()))},
            simulation.results / "calibration.csv",
            {},
            "biasgrid.simulation.tables:write_real",
        )
    if frequency_cells := simulation.frequency_cells.values():
        # of all trainings the kinds are the same
        kinds = {kind: entry for cell in frequency_cells for kind, entry in cell.of_vectors["kinds"]}
        steps["frequency_tests"] = Step(
            "table frequency_tests",
            {"cells": list(map(simulation.frequency_cell_file, frequency_cells))},
            simulation.results / "frequency_tests.csv",
            {"kinds": kinds},
            "biasgrid.simulation.frequency_table:write",
        )
    return steps


def figure_steps(simulation: Simulation) -> dict[str, Step]:
    """The steps that draw the figures, by the figure's name; a step's output is its files' stem."""
    tables = {name: step.output for name, step in table_steps(simulation).items()}
    cells, labels = simulation.cells.values(), {"labels": simulation.labels}
    level = simulation.config["coverage"]["level"]
    figures = {}
    if cells:
        figures["p-values"] = (
            {"cells": list(map(simulation.cell_file, cells))},
            {"cells": [[cell.metric, cell.words, cell.bias] for cell in cells], **labels},
            "figures:p_values",
        )
        for true in ("expected", "all_words"):
            spec = {"true": true, "level": level, **labels}
            figures[f"coverage-{true.replace('_', '-')}"] = (
                {"table": tables["simulation"]},
                spec,
                "figures:coverage",
            )
    if simulation.real_cells:
        spec = {"labels": simulation.real_labels}
        figures["calibration"] = {"table": tables["calibration"]}, spec, "figures:calibration"
    if simulation.frequency_cells:
        spec = {"labels": simulation.frequency_labels}
        for row_kind in ("training", "metric"):
            of_rows = {"table": tables["frequency_tests"]}, spec | {"by": row_kind}, "frequency_figures:draw"
            figures[f"frequency-tests-by-{row_kind}"] = of_rows
    return {
        name: Step(
            f"figure {name}",
            inputs,
            simulation.results / "figures" / name,
            spec,
            f"biasgrid.simulation.{function}",
        )
        for name, (inputs, spec, function) in figures.items()
    }


def _model(simulation: Simulation, model: str) -> dict[str, Path | StoreOf]:
    """The files of a real model."""
    store = store_of(simulation.embeddings, model, simulation.models[model])
    return {"model": simulation.model_file(model), "store": store}
