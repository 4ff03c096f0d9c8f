"""Results as a folder to deposit, and several such folders in one ranking."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from .arguments import Commands
from .reporting import HELP


def publish(args: argparse.Namespace) -> dict[str, Any]:
    """Write the results of a study as a folder that can be deposited: tables, config, digests, versions, a citation,
    a licence and datapackage.json; no vectors, no paths of this machine.

    biasgrid publish results/embedded
    biasgrid publish results/embedded embedded-1.0 --author "Ada Lovelace"
    """
    from ..api.study import find_study
    from ..sharing.deposit import publish

    study = find_study(args.results)
    folder = args.folder or Path(f"{study.name}-published")
    count = publish(study, folder, args.author, args.licence)
    if not args.author:
        print("biasgrid: CITATION.cff names no author; give --author", file=sys.stderr)
    return {"folder": str(folder), "files": count, "check it": f"biasgrid verify {folder}"}


def join(args: argparse.Namespace) -> dict[str, Any]:
    """Put the models of several published folders, or results, into one ranking, after checking that queries, words,
    parameters and versions are the same. Nothing of theirs is run, nothing is measured.

    biasgrid join embedded-1.0 theirs --into joined
    """
    from ..sharing.join import DifferencesError, join

    try:
        study, notes = join(args.folders, args.into)
    except DifferencesError as error:
        for line in error.lines[:-1]:
            print(f"biasgrid: {line}", file=sys.stderr)
        raise
    for note in notes:
        print(f"biasgrid: {note}", file=sys.stderr)
    return {"folder": str(args.into), "models": list(study.models), "tables": list(study.tables)}


def add(commands: Commands) -> None:
    command = commands.add(
        publish,
        author={
            "action": "append",
            "default": [],
            "metavar": "NAME",
            "help": "for CITATION.cff; several times",
        },
        licence={
            "default": "CC-BY-4.0",
            "metavar": "NAME",
            "help": "of the numbers, by its SPDX name; default: CC-BY-4.0",
        },
    )
    command.add_argument("results", type=Path, metavar="STUDY", help=HELP)
    command.add_argument(
        "folder", type=Path, nargs="?", metavar="FOLDER", help="a new folder; default: <study>-published"
    )
    command = commands.add(
        join,
        into={"type": Path, "required": True, "metavar": "OUT", "help": "a new folder, a study of its name"},
    )
    command.add_argument(
        "folders", type=Path, nargs="+", metavar="FOLDER", help="published folders, or folders of results"
    )
