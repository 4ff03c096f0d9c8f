"""The command line: a file per group of commands, which call the other folders and compute nothing themselves.

Each command prints JSON on standard output. On a terminal it prints lines to read, unless a record is too deep for
that. Progress and warnings go to standard error. The exit code is 0. It is 2 if the input is wrong or `measure` has
no value; one line gives the reason. It is 130 or 143 if Ctrl-C or SIGTERM ended the command. `run` has Snakemake's
exit code, which is 1 if a run failed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from threadpoolctl import threadpool_limits

from .. import __version__
from ..core.errors import BiasgridError
from ..core.processes import end_with_starter
from ..core.registry import PLUGINS, load_plugins
from ..core.termination import stoppable
from ..core.user_warnings import warn_in_a_line
from . import (
    analogies,
    embeddings,
    listing,
    measuring,
    reporting,
    running,
    scoring,
    sharing,
    steps,
    word_bias,
)
from .arguments import Commands, NoResultError, plugins_of
from .layout import text_of

TOPICS = (running, reporting, listing, sharing, embeddings, measuring, word_bias, analogies, scoring, steps)
# what `biasgrid --help` lists
GROUPS = {
    "start": ("init", "run", "list"),
    "measure and debias": ("measure", "words", "score", "debias"),
    "report and share": ("report", "compare", "publish", "join"),
    "models": ("fetch", "convert"),
    "maintenance": ("verify", "step"),
}
# commands of former versions -> what takes their place
FORMER = {name: f'biasgrid step "{kind} NAME" --study STUDY' for name, kind in steps.FORMER.items()} | {
    "analogy": "biasgrid words analogy",
    "pin": "biasgrid fetch --pin CONFIG",
    "texts": "biasgrid score --study CONFIG --export, or --import ANSWERS",
}
# Limit the characters of a message.
LONGEST = 399
WAY = """run a study:
  biasgrid init my-study                  write my-study.yaml, to be edited
  biasgrid run my-study.yaml --cores 2    compute its tables, figures and report
measure one number:
  biasgrid measure --metric weat --model vectors.bin --query query.json
examine what a metric can detect:
  biasgrid properties --metric weat
see the options of a command, and an example:
  biasgrid measure --help
run one step of a study again:
  biasgrid step "table scores" --study my-study.yaml"""


def main(arguments: list[str] | None = None) -> int:
    """Run one sub-command, and return the exit code."""
    return perform(commands, arguments)


def perform(commands: Callable[[], Commands], arguments: list[str] | None = None) -> int:
    """Run one of these sub-commands, print its result or a line with the error, and return the exit code."""
    warn_in_a_line()
    end_with_starter()
    try:
        load_plugins(plugins_of(arguments))  # whose tests are options of commands, and which may add commands
        args = commands().parse(arguments)
        # one BLAS thread, as in the workflow: the same bytes wherever a cell is computed. Libraries that a command
        # loads later have a BLAS of their own, which reads the environment
        os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        with threadpool_limits(1), stoppable():
            record = args.run(args)
        if record is not None:
            _print(record)
    except NoResultError as error:
        _print(error.record)
        return _refuse(str(error))
    except BiasgridError as error:
        return _refuse(str(error))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _refuse(f"{where}{error.strerror or error}")
    return 0


def _print(record: Any) -> None:
    """Print what a command returns: a text as it is, a record as JSON, or on a terminal as lines."""
    from ..core.schema import dumps

    # A byte of a path that is not UTF-8 becomes \udcxx in JSON.
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    try:
        if isinstance(record, dict) and sys.stdout.isatty():
            record = text_of(record) or record
        print(record if isinstance(record, str) else dumps(record, indent=1), flush=True)
    except BrokenPipeError:
        # The reader has closed the pipe, as in biasgrid list metrics | head.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse(message: str) -> int:
    """Print the error as one line. The middle of a long line, which is a name or path of the user, is cut."""
    line = f"biasgrid: {' '.join(message.splitlines())}"
    print(line if len(line) <= LONGEST else f"{line[:300]} ... {line[-90:]}", file=sys.stderr)
    return 2


def commands() -> Commands:
    """Return all sub-commands, in the order in which a user needs them."""
    about = "Measure social bias in word embeddings and language models, reproducibly."
    commands = Commands("biasgrid", about, WAY, GROUPS, FORMER)
    commands.parser.add_argument("--version", action="version", version=f"biasgrid {__version__}")
    for topic in TOPICS:
        topic.add(commands)
    for plugin in PLUGINS.values():
        for add in getattr(plugin, "COMMANDS", ()):
            add(commands)
    return commands
