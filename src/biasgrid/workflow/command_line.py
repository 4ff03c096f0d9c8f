"""What is checked of Snakemake's command line before Snakemake reads the config files that it names.

profiles/default calls it, which Snakemake evaluates first of all (YTE).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from ..configs import read_yaml
from ..errors import BiasgridError, quote
from ..files import refuse_links
from ..resources import did_you_mean_file, resource

STATE = Path(".snakemake")  # where Snakemake writes what it knows of a folder
OF_OTHERS = ("conda", "conda-archive", "singularity", "shadow", "storage")  # in it, with links of their own
TEMPLATE = "__use_yte__"  # the key of a YAML file by which Snakemake runs code in it


def check(arguments: Sequence[str]) -> None:
    """End the process, with one line and exit code 2, for a config file that is none, an executor whose plug-in is
    missing, a folder that cannot be written, and links that lead out of Snakemake's own folder.

    Snakemake itself would answer with a traceback, its usage, or exit code 1, and write through a link.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[], dest="files")
    parser.add_argument("--profile", type=Path)
    parser.add_argument("--executor", "-e")
    parser.add_argument("--directory", "-d", type=Path, default=Path("."))
    try:
        options = parser.parse_known_args(arguments)[0]
        state = options.directory / STATE
        refuse_links(state, but=OF_OTHERS)
        check_no_target(options.files)
        for file in options.files:
            check_config(file)
        executor = options.executor
        if not executor and options.profile and (file := options.profile / "config.yaml").is_file():
            executor = read_yaml(file).get("executor")
        if executor:
            check_executor(executor)
        check_folder(state)
    except BiasgridError as error:
        print(f"biasgrid: {error}", file=sys.stderr)
        sys.exit(2)


def check_folder(folder: Path) -> None:
    """Raise BiasgridError where Snakemake cannot write its own folder, which a dry run does, too."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise BiasgridError(
            f"{folder}: cannot be written ({error.strerror}); run the study in a folder that you can write to"
        ) from None


def check_executor(name: str) -> None:
    """Raises BiasgridError for an executor whose plug-in is missing; some are Snakemake's own."""
    package = f"snakemake-executor-plugin-{name}"
    if name not in ("local", "dryrun", "touch") and find_spec(package.replace("-", "_")) is None:
        raise BiasgridError(f"jobs by {name} need {package}; install it: pip install {package}")


def check_profile(name: str) -> None:
    """Raise BiasgridError for a profile that Snakemake would find in the working folder.

    A profile is code, and a stranger's folder may have one of a usual name. Those of biasgrid are allowed, and those
    whose path begins with ./ or ../.
    """
    if Path(name).is_absolute() or name.startswith(("./", "../")):
        return
    for place in (Path(name), Path("profiles", name)):
        shipped = resource(place)
        if place.exists() and not (shipped.exists() and place.samefile(shipped)):
            instead = f"; that of biasgrid is {shipped}" if shipped.exists() else ""
            raise BiasgridError(
                f"profile {quote(name)} lies in this folder, and a profile is code: if you trust it, write "
                f"'./{place}'{instead}"
            )


def check_no_target(files: Sequence[str]) -> None:
    """Raise BiasgridError for a target among config files: Snakemake takes all that follows --configfile for configs.

    That is a file which is not there, such as a rule's name, and a file below the results of the first config, except
    a study's config there.
    """
    for file in files[1:]:
        path = Path(file)
        record = read_yaml(files[0])
        results = record.get("results", "results") if isinstance(record, dict) else "results"
        is_result = path.is_relative_to(str(results)) and path.name != "study.json"
        if is_result or not path.exists():
            nearest = "" if is_result else did_you_mean_file(path)
            problem = "is a result, not a config" if is_result else f"cannot read it: No such file{nearest}"
            raise BiasgridError(
                f"{file}: {problem}; a target stands before --configfile: snakemake {file} --configfile {files[0]}"
            )


def check_config(file: str) -> None:
    """Raise BiasgridError for a config file that is not a mapping in YAML, or that has code for Snakemake to run."""
    if not isinstance(record := read_yaml(file), dict):
        raise BiasgridError(f"{file}: {quote(record)} is not a mapping")
    check_no_code(file, record)


def check_no_code(file: Path | str, record: Mapping[str, Any]) -> None:
    """Raise BiasgridError for a config that Snakemake would take for a template, whose values are Python (YTE)."""
    if TEMPLATE in record:
        raise BiasgridError(
            f"{file}: {TEMPLATE} is not allowed: Snakemake would run code that is in the config; "
            "files of code are listed under plugins"
        )
