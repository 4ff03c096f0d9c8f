"""What is checked of Snakemake's options before Snakemake starts.

Snakemake would run code of a profile or a config, write through a link, or answer with its whole usage.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NoReturn

from ..core.configs import read_yaml
from ..core.errors import BiasgridError, quote, unknown_name
from ..core.files import refuse_links
from ..core.processes import SAFE_PATH
from ..core.resources import did_you_mean_file, resource

STATE = Path(".snakemake")  # where Snakemake writes what it knows of a folder
OF_OTHERS = ("conda", "conda-archive", "singularity", "shadow", "storage")  # in it, with links of their own
TEMPLATE = "__use_yte__"  # the key of a YAML file by which Snakemake runs code in it
OWN = ("--cores", "--why", "--replace", "--help")  # options of `biasgrid run` itself
MORE = "biasgrid run --help, and for further options snakemake --help"
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")


class _Parser(argparse.ArgumentParser):
    """A parser of the options that are checked, which takes abbreviations as Snakemake does."""

    def error(self, message: str) -> NoReturn:
        raise BiasgridError(f"run: {message} ({MORE})")


def check(arguments: Sequence[str]) -> None:
    """Check the options of Snakemake with which `biasgrid run` is about to start it.

    Raises
    ------
    BiasgridError
        An option is unknown or has a wrong value; a config file is none or has code in it; a profile lies in the
        working folder; an executor's plug-in is missing; Snakemake's own folder cannot be written or has links that
        lead out of it.
    """
    parser = _Parser(add_help=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[], dest="files")
    # else an abbreviation of --configfile
    parser.add_argument("--config", "-C", nargs="*")
    parser.add_argument("--profile", action="append", default=[])
    parser.add_argument("--workflow-profile")
    parser.add_argument("--executor", "-e")
    parser.add_argument("--directory", "-d", type=Path, default=Path("."))
    parser.add_argument("--trust-io-cache", action="store_true")
    # with these alone, Snakemake need not be asked for its options
    parser.add_argument("--dry-run", "--dryrun", "-n", action="store_true")
    parser.add_argument("--snakefile", "--cores")
    options, others = parser.parse_known_args(arguments)
    if options.trust_io_cache:
        raise BiasgridError(
            f"run: --trust-io-cache is not allowed: it runs code that is in .snakemake/iocache ({MORE})"
        )
    profiles = options.profile or _profiles_of_environment()
    for profile in filter(None, [*profiles, options.workflow_profile]):
        check_profile(profile)
    check_no_target(options.files)
    for file in options.files:
        check_config(file, read_yaml(file))
    files = [file for profile in profiles if (file := Path(profile, "config.yaml")).is_file()]
    for executor in filter(
        None, [options.executor or None, *(read_yaml(file).get("executor") for file in files)]
    ):
        check_executor(executor)
    if any(other.startswith("-") for other in others):
        _ask_snakemake(others)
    check_state(options.directory)


def _profiles_of_environment() -> list[str]:
    """Return the profiles that the environment names: one, or several as [a, b]."""
    named = os.environ.get("SNAKEMAKE_PROFILE", "")
    return [name.strip() for name in named.strip("[]").split(",") if name.strip()]


def _ask_snakemake(arguments: Sequence[str]) -> None:
    """Raise BiasgridError for options that Snakemake does not have, and for wrong values.

    `snakemake --help` lists all options; before that, it checks the values of those that come first.
    """
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *arguments, "--help"],
        env=os.environ | SAFE_PATH | {"SNAKEMAKE_PROFILE": "none"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        *_, line = done.stderr.splitlines() or [""]
        raise BiasgridError(f"run: {re.sub('^.*?[eE]rror: ', '', line)} ({MORE})")
    if not (listed := OPTION.findall(done.stdout)):  # --version
        return
    names = dict.fromkeys([*OWN, *listed])
    for argument in arguments:
        name = argument.partition("=")[0]
        if argument == "--":
            return
        if name.startswith("--") and not any(other.startswith(name) for other in names):
            raise BiasgridError(f"run: {unknown_name('option', name, names, MORE)}")


def check_state(folder: Path = Path(".")) -> None:
    """Raise BiasgridError for links that lead out of Snakemake's own folder, and where it cannot be written.

    A dry run also writes this folder.
    """
    state = folder / STATE
    refuse_links(state, but=OF_OTHERS)
    try:
        state.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=state):
            pass
    except OSError as error:
        raise BiasgridError(
            f"{state}: cannot be written ({error.strerror}); run the study in a folder that you can write to"
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


def check_config(file: str, record: Any) -> None:
    """Raise BiasgridError for a config file whose content is not a mapping, or has code for Snakemake to run.

    Snakemake takes a config with the key `TEMPLATE` for a template, whose values are Python (YTE).
    """
    if not isinstance(record, dict):
        raise BiasgridError(f"{file}: {quote(record)} is not a mapping")
    if TEMPLATE in record:
        raise BiasgridError(
            f"{file}: {TEMPLATE} is not allowed: Snakemake would run code that is in the config; "
            "files of code are listed under plugins"
        )
