"""python -m validation: steps of experiments by hand."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from biasgrid.cli import perform
from biasgrid.cli.arguments import Commands
from biasgrid.core.errors import BiasgridError, unknown_name
from biasgrid.study.config import load, pins
from biasgrid.study.step import Step
from biasgrid.workflow import stores

from . import experiment
from .experiment import FORMATS, Experiment


def step(args: argparse.Namespace) -> dict[str, Any] | None:
    """Run steps of an experiment by their names, one after the other; else make its tables and figures.

    python -m validation step validation/calibration/simulation.yaml "cell weat/8/0"
    """
    study = experiment.of(load.read(args.config), str(args.config))
    steps = dict(study.steps)
    steps |= {f"archive {name}": stores.archive_step(study, name) for name in study.sources}
    steps |= {f"store {name}": stores.store_step(study, name) for name in study.models}
    results = [one.name for rule in ("table", "figure") for one in study.rules[rule].steps.values()]
    for name in args.steps:
        if name not in steps:
            raise BiasgridError(f"{args.config}: {unknown_name('step', name, steps)}")
    study.check_files()
    files = [file for name in args.steps or results for file in _run(study, steps[name])]
    return None if args.notes else {"files": files}


def pin(args: argparse.Namespace) -> dict[str, Any]:
    """Write the checksums of what was downloaded without one into the file that names the models.

    python -m validation pin mine.yaml
    """
    study = experiment.of(load.read(args.config), str(args.config))
    return pins.write([args.config], pins.missing_pins(study.sources, study.embeddings / "raw"))


def _run(study: Experiment, one: Step) -> list[str]:
    one.run()
    is_figure = one in study.rules["figure"].steps.values()
    return [f"{one.output}{end}" for end in FORMATS] if is_figure else one.outputs


def main(arguments: list[str] | None = None) -> int:
    """Run one sub-command, and return the exit code."""
    commands = Commands("python -m validation", "Experiments that validate biasgrid, by hand.", "")
    commands.group = "experiments"
    command = commands.add(step)
    for one in (command, commands.add(pin)):
        one.add_argument("config", type=Path, help="the experiment's config")
    # In a run of the workflow, --notes is the folder of its logs.
    command.add_argument("--notes", type=Path, help=argparse.SUPPRESS)
    command.add_argument("steps", nargs="*", metavar="STEP", help='steps by name, such as "cell weat/8/0"')
    return perform(lambda: commands, arguments)


if __name__ == "__main__":
    sys.exit(main())
