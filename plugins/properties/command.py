"""The command `biasgrid properties`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgrid import metrics

from .examining import examine_metrics
from .files import write
from .tables import table

if TYPE_CHECKING:
    from biasgrid.cli.arguments import Commands


def properties(args: argparse.Namespace) -> list[dict[str, Any]] | dict[str, Any]:
    """Examine what each metric can and cannot detect. With --output, write a table, counterexamples and figures.

    biasgrid properties --metric weat --output results/properties
    """
    by_name = {entry.name: entry for entry in map(metrics.metric, args.metric)}
    verdicts = examine_metrics(by_name or metrics.REGISTRY)
    return {"files": write(verdicts, args.output)} if args.output else table(verdicts)


def add(commands: Commands) -> None:
    from biasgrid.cli.arguments import PLUGINS

    commands.add(
        properties,
        metric={
            "action": "append",
            "default": [],
            "help": "examine this metric only; can be given several times",
        },
        output={
            "type": Path,
            "metavar": "DIR",
            "help": "write properties.csv, counterexamples.json, properties.md and the figures there",
        },
        plugins=PLUGINS,
    )


COMMANDS = (add,)
