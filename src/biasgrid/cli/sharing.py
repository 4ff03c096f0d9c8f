"""Commands that publish results, and that combine published results."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from .arguments import Commands
from .reporting import HELP


def publish(args: argparse.Namespace) -> dict[str, Any]:
    """Write a study's results as a folder that can be published. It has tables, config, digests, versions, a
    citation, a licence and datapackage.json, but no vectors and no paths of this machine.

    biasgrid publish results/embedded
    biasgrid publish results/embedded embedded-1.0 --author "Ada Lovelace"
    """
    from ..report.sharing.deposit import publish
    from ..study.results.finished_study import find_study

    study = find_study(args.results)
    folder = args.folder or Path(f"{study.name}-published")
    count = publish(study, folder, args.author, args.licence)
    if not args.author:
        print("biasgrid: CITATION.cff names no author; give --author", file=sys.stderr)
    parts = (part.name for part in study.folder.iterdir() if part.is_dir() and not part.name.startswith("."))
    left_out = sorted(f"{part}/" for part in parts if not (folder / part).exists())
    return {
        "folder": str(folder),
        "files": count,
        "left out": left_out,
        "check it": f"biasgrid verify {folder}",
    }


def join(args: argparse.Namespace) -> dict[str, Any]:
    """Rank the models of several published studies together. Their queries, words, parameters and versions must be
    the same. This runs no code from these folders and computes no scores.

    biasgrid join embedded-1.0 theirs --into joined
    """
    from ..report.sharing.join import DifferencesError, join

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
            "help": "an author for CITATION.cff; can be given several times",
        },
        licence={
            "default": "CC-BY-4.0",
            "metavar": "NAME",
            "help": "SPDX name of the licence of the numbers; default: CC-BY-4.0",
        },
    )
    command.add_argument("results", type=Path, metavar="STUDY", help=HELP)
    command.add_argument(
        "folder", type=Path, nargs="?", metavar="FOLDER", help="a new folder; default: <study>-published"
    )
    command = commands.add(
        join,
        into={
            "type": Path,
            "required": True,
            "metavar": "OUT",
            "help": "a new folder; the joint study has its name",
        },
    )
    command.add_argument(
        "folders", type=Path, nargs="+", metavar="FOLDER", help="published folders, or folders of results"
    )
