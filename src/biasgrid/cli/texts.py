"""Texts measured elsewhere: what a study asks a model behind an API, and its answers."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

from ..errors import BiasgridError, join_names, unknown_name
from .arguments import Commands
from .running import CONFIGS, read_config


def texts(args: argparse.Namespace) -> str | dict[str, Any]:
    """Export the prompts for a model behind an API. With --import, read its answers.

    biasgrid texts my-study.yaml > texts.jsonl
    biasgrid texts my-study.yaml --import answers.jsonl
    """
    from ..embeddings.language import answers
    from ..plan.study import Study
    from ..plan.texts import answer_files, requests
    from ..schema import dumps

    study = Study.of(read_config(args.configs), where := ", ".join(map(str, args.configs)))
    files = answer_files(study)
    if not files:
        raise BiasgridError(
            f"{where}: no model has answers in a file; such a model has "
            "source: {type: answers, path: answers/my-model.jsonl}"
        )
    if args.model is None and len(files) > 1:
        raise BiasgridError(f"{where}: choose one of these models with --model: {join_names(files)}")
    if (name := args.model or next(iter(files))) not in files:
        raise BiasgridError(f"{where}: {unknown_name('model with a source of type answers', name, files)}")
    asked = requests(study, name)
    if args.answers:
        number = answers.put_in_place(args.answers, files[name], asked)
        return {"answers": str(files[name]), "texts": len(asked), "imported": number}
    known = answers.read(files[name]) if files[name].is_file() else {}
    new = [request for key, request in asked.items() if key not in known]
    if unseen := sum(map(answers.needs_pieces, new)):
        warnings.warn(
            f"{name}: {unseen} of {len(new)} texts need single tokens of a text (beside, hidden, or part, word, "
            "layer in options), which APIs do not give: score or encode them with the model itself",
            stacklevel=2,
        )
    return "\n".join(map(dumps, [answers.header(study.name, asked, len(new)), *new]))


def add(commands: Commands) -> None:
    command = commands.add(
        texts,
        model={
            "metavar": "KEY",
            "help": "key of the language model or encoder, if several have a source of type answers",
        },
    )
    command.add_argument(
        "--import",
        # The option's own name is a keyword of Python.
        dest="answers",
        type=Path,
        metavar="FILE",
        help="file of answers, with a JSON object of key and value on each line; all are checked before any is "
        "written to the file that the config names",
    )
    command.add_argument("configs", **CONFIGS)
