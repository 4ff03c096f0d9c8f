"""Models: fetched, converted and pinned."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..core.errors import BiasgridError, unknown_name
from ..core.resources import find_file
from .arguments import FILE, PLUGINS, STUDY, Commands, read_study
from .running import CONFIGS, read_config


def convert(args: argparse.Namespace) -> dict[str, Any]:
    """Convert a file of vectors to biasgrid's format.

    biasgrid convert --input glove.6B.50d.txt --output models/glove
    """
    from ..core.files import readable
    from ..models.folder import check_folder
    from ..models.readers import convert as convert_file

    check_folder(args.output)
    store = convert_file(
        args.input,
        args.output,
        name=args.name or readable(args.output.name),
        format=args.format,
        sha256=args.sha256,
        trust_pickle=args.trust_pickle,
        vocab_prefix=args.vocab_prefix,
        limit=args.limit,
        broken_words=args.broken_words,
    )
    return {"store": str(store.path), **store.metadata}


def fetch(args: argparse.Namespace) -> dict[str, Any]:
    """Download, check and convert a model of a study. With --pin, record the checksums of downloaded models instead:
    they are written into the files that list the models.

    biasgrid fetch --model glove-6b-50d --study config/embedded.yaml
    biasgrid fetch --pin my-study.yaml
    """
    from ..models import build_store

    if args.pin:
        if args.model or args.study:
            raise BiasgridError("fetch: --pin takes neither --model nor --study")
        return _pin(args.pin)
    if not (args.model and args.study):
        raise BiasgridError("fetch: the following arguments are required: --model and --study, or --pin")
    study = read_study(args.study)
    if args.model not in study.models:
        raise BiasgridError(f"{args.study}: {unknown_name('model', args.model, study.models)}")
    store = build_store(
        args.model,
        study.models[args.model],
        study.embeddings,
        study.shares_embeddings,
        study.store_folder(args.model),
    )
    return {"store": str(store.path), **store.metadata}


def _pin(configs: list[Path]) -> dict[str, Any]:
    """Write the checksums of downloaded models into the files that list them."""
    from ..study.config import pins
    from ..study.study import Study

    study = Study.of(read_config(configs), ", ".join(map(str, configs)))
    return pins.write(configs, pins.missing_pins(study.sources, study.embeddings / "raw"))


def add(commands: Commands) -> None:
    commands.add(
        convert,
        input={
            "required": True,
            "type": Path,
            "help": "the file, or the folder if the format has several files",
        },
        output={"required": True, "type": Path, "help": "the folder to write"},
        name={"help": "the model's name (default: the folder's)"},
        format={"help": "the file's format (biasgrid list formats); default: recognised from its content"},
        plugins=PLUGINS,
        **FILE,
    )
    command = commands.add(
        fetch,
        model={"help": "the model's key in the config"},
        study=STUDY | {"required": False},
        pin=CONFIGS | {"help": f"record checksums in these configs: {CONFIGS['help']}"},
    )
    # The former name of --study.
    command.add_argument("--config", dest="study", type=find_file, help=argparse.SUPPRESS)
