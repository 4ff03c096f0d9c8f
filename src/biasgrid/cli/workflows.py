"""Simulations and planted-bias benchmarks."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import BiasgridError, unknown_name
from ..resources import find_file
from .arguments import Commands

if TYPE_CHECKING:
    from ..plan.step import Step


def simulate(args: argparse.Namespace) -> dict[str, Any]:
    """Compute a cell of a simulation, or a model's store and pool (a corpus' store); else its tables and figures.

    biasgrid simulate --config config/simulation.yaml --cell weat/8/0
    """
    from ..simulation import Simulation, steps
    from ..workflow import stores

    simulation = Simulation.read(args.config)
    if args.model is not None:
        if args.model not in simulation.models:
            raise BiasgridError(f"{args.config}: {unknown_name('model', args.model, simulation.models)}")
        stores.make_folder(simulation)
        store = stores.make_store(simulation, args.model)
        if simulation.models[args.model].get("kind") == "corpus":  # no random groups are made of it
            return {"store": str(store.path)}
        step = steps.pool_step(simulation, args.model)
        step.run()
        return {"pool": str(step.output)}
    if args.cell is None:
        return {"results": _run_steps(steps.table_steps(simulation), steps.figure_steps(simulation))}
    if args.cell in simulation.real_cells:
        step = steps.real_step(simulation, simulation.real_cells[args.cell])
    elif args.cell in simulation.frequency_cells:
        cell = simulation.frequency_cells[args.cell]
        steps.vectors_step(simulation, cell).run()
        step = steps.frequency_step(simulation, cell)
    elif args.cell in simulation.cells:
        step = steps.cell_step(simulation, simulation.cells[args.cell])
    else:
        cells = [*simulation.cells, *simulation.real_cells, *simulation.frequency_cells]
        raise BiasgridError(f"{args.config}: {unknown_name('cell', args.cell, cells)}")
    step.run()
    return {"cell": str(step.output)}


def factory(args: argparse.Namespace) -> dict[str, Any]:
    """Train and measure a model of a planted-bias benchmark; else its tables and figures.

    biasgrid factory --config config/factory.yaml --model ppmi/0.7/0.35/1
    """
    from ..factory import Factory, steps
    from ..workflow import stores

    benchmark = Factory.read(args.config)
    if args.model is None:
        return {"results": _run_steps(steps.table_steps(benchmark), steps.figure_steps(benchmark))}
    if args.model not in benchmark.models:
        raise BiasgridError(f"{args.config}: {unknown_name('model', args.model, benchmark.models)}")
    benchmark.check_files()
    model = benchmark.models[args.model]
    if "start" in model.spec:
        stores.make_folder(benchmark)
        stores.fetch_archive(benchmark, model.spec["start"])
        steps.fine_tuning_step(benchmark, model).run()
    step = steps.model_step(benchmark, model)
    step.run()
    return {"model": str(step.output)}


def _run_steps(tables: Mapping[str, Step], figures: Mapping[str, Step]) -> list[str]:
    """Run the steps; returns the files that they write."""
    for step in (*tables.values(), *figures.values()):
        step.run()
    files = [str(step.output) for step in tables.values()]
    return files + [f"{step.output}.{end}" for step in figures.values() for end in ("pdf", "svg", "png")]


def add(commands: Commands) -> None:
    commands.add(
        simulate,
        config={"required": True, "type": find_file, "help": "the simulation's config"},
        cell={"help": "metric/words/bias, model/kind, or training/corpora/number"},
        model={"help": "fetch this model, and make its store and its pool of random groups"},
    )
    commands.add(
        factory,
        config={"required": True, "type": find_file, "help": "the planted-bias benchmark's config"},
        model={"help": "trainer/mu/sigma/replicate"},
    )
