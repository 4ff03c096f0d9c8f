"""Runs of a package registry's own client, with the user's settings: index, mirror, proxy, password, cache."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ...core.processes import environment


def run_client(command: list[str], scratch: Path, show: bool = False) -> tuple[int, str]:
    """Run the client; return its exit status and its output, without standard output if that is shown to the user.

    Files that the client leaves when it is killed are in `scratch`.
    """
    variables = {
        # By default npm waits 10 s and 60 s between attempts, which is over a minute on a machine without network.
        "npm_config_fetch_retry_mintimeout": "1000",
        "npm_config_fetch_retry_maxtimeout": "4000",
        **environment(),
        "TMPDIR": str(scratch.resolve()),
    }
    process = subprocess.run(
        command,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr if show else subprocess.PIPE,
        stderr=subprocess.PIPE if show else subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    return process.returncode, process.stderr if show else process.stdout
