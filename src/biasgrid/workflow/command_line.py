"""What is checked of Snakemake's command line before Snakemake reads the config files that it names.

profiles/default calls it, which Snakemake evaluates first of all (YTE).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile

from ..configs import read_yaml
from ..errors import BiasgridError, quote


def check(arguments: Sequence[str]) -> None:
    """End the process, with one line and exit code 2, for a config file that is none, an executor whose plug-in is
    missing, and a folder that cannot be written.

    Snakemake itself would answer with a traceback, its usage, or exit code 1.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[], dest="files")
    parser.add_argument("--profile", type=Path)
    parser.add_argument("--executor", "-e")
    parser.add_argument("--directory", "-d", type=Path, default=Path("."))
    try:
        options = parser.parse_known_args(arguments)[0]
        for file in options.files:
            check_config(file)
        executor = options.executor
        if not executor and options.profile and (file := options.profile / "config.yaml").is_file():
            executor = read_yaml(file).get("executor")
        if executor:
            check_executor(executor)
        check_folder(options.directory)
    except BiasgridError as error:
        print(f"biasgrid: {error}", file=sys.stderr)
        sys.exit(2)


def check_folder(folder: Path) -> None:
    """Raise BiasgridError for a folder in which Snakemake cannot keep its records, which a dry run does, too."""
    records = folder / ".snakemake"
    try:
        records.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=records):
            pass
    except OSError as error:
        raise BiasgridError(
            f"{records}: cannot be written ({error.strerror}); run the study in a folder that you can write to"
        ) from None


def check_executor(name: str) -> None:
    """Raises BiasgridError for an executor whose plug-in is missing; some are Snakemake's own."""
    package = f"snakemake-executor-plugin-{name}"
    if name not in ("local", "dryrun", "touch") and find_spec(package.replace("-", "_")) is None:
        raise BiasgridError(f"jobs by {name} need {package}; install it: pip install {package}")


def check_config(file: str) -> None:
    """Raises BiasgridError for a config file that is no mapping in YAML."""
    if not isinstance(record := read_yaml(file), dict):
        raise BiasgridError(f"{file}: {quote(record)} is not a mapping")
