"""Simulations and planted-bias benchmarks."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..errors import BiasgridError, unknown
from .arguments import Commands


def simulate(args: argparse.Namespace) -> dict[str, Any]:
    """One cell of a simulation, or a real model's store and pool; without either, tables and figures."""
    from .. import simulation

    chosen = simulation.Simulation.read(args.config)
    if args.model is not None:
        if args.model not in chosen.config["models"]:
            raise BiasgridError(f"{args.config}: {unknown('model', args.model, chosen.config['models'])}")
        simulation.prepare(chosen, args.model)
        return {"pool": str(chosen.pool_file(args.model))}
    if args.cell is None:
        return {"results": simulation.summarise(chosen)}
    if args.cell in chosen.real_cells:
        cell = chosen.real_cells[args.cell]
        simulation.calibrate(chosen, cell)
        return {"cell": str(chosen.real_file(cell))}
    if args.cell not in chosen.cells:
        cells = [*chosen.cells, *chosen.real_cells]
        raise BiasgridError(f"{args.config}: {unknown('cell', args.cell, cells)}")
    simulation.simulate(chosen, chosen.cells[args.cell])
    return {"cell": str(chosen.cell_file(chosen.cells[args.cell]))}


def factory(args: argparse.Namespace) -> dict[str, Any]:
    """One model of a planted-bias benchmark, trained and measured; without --model, its tables and figures."""
    from .. import recovery
    from ..factory import Factory, make

    chosen = Factory.read(args.config)
    if args.model is None:
        return {"results": recovery.summarise(chosen)}
    if args.model not in chosen.models:
        raise BiasgridError(f"{args.config}: {unknown('model', args.model, chosen.models)}")
    make(chosen, chosen.models[args.model])
    return {"model": str(chosen.model_file(chosen.models[args.model]))}


def add(commands: Commands) -> None:
    commands.add(
        simulate,
        config={"required": True, "type": Path, "help": "the simulation's config"},
        cell={"help": "metric/words/bias, or model/kind"},
        model={"help": "fetch this model, and make its store and its pool of random groups"},
    )
    commands.add(
        factory,
        config={"required": True, "type": Path, "help": "the planted-bias benchmark's config"},
        model={"help": "trainer/mu/sigma/replicate"},
    )
