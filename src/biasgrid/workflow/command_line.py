"""What is checked of Snakemake's command line before Snakemake reads the config files that it names.

profiles/default calls it, which Snakemake evaluates first of all (YTE).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ..configs import read_yaml
from ..errors import BiasgridError, quote


def check(arguments: Sequence[str]) -> None:
    """End the process, with one line and exit code 2, for a config file that is none.

    Snakemake itself would answer with a traceback, or with exit code 1.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[], dest="files")
    try:
        for file in parser.parse_known_args(arguments)[0].files:
            check_config(file)
    except BiasgridError as error:
        print(f"biasgrid: {error}", file=sys.stderr)
        sys.exit(2)


def check_config(file: str) -> None:
    """Raises BiasgridError for a config file that is no mapping in YAML."""
    if not isinstance(record := read_yaml(file), dict):
        raise BiasgridError(f"{file}: {quote(record)} is not a mapping")
