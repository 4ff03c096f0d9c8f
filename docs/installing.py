"""How much installs download: the table docs/numbers/installs.csv, and a word before torch is installed.

python docs/installing.py sizes                  writes the table: dry runs of pip without configuration
python docs/installing.py torch PIP_OPTION ...   installs torch, unless this environment has one that will do
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import unquote, urlsplit

import requests
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "numbers" / "installs.csv"
ROWS = {
    "no extra": (".",),
    "workflow, figures": (".[workflow,figures]",),
    "workflow, figures, frequency": (".[workflow,figures,frequency]",),
    "workflow, figures, plotly": (".[workflow,figures,plotly]",),
    "debias": (".[debias]",),
    "language": (".[language]",),
    "notebooks, workflow": (".[notebooks,workflow]",),
    "all": (".[all]",),
    "make study": ("--no-deps", "-rrequirements.lock"),
    "make test without torch": (
        "--no-deps",
        *(f"-rrequirements{lock}.lock" for lock in ("", "-test", "-docs")),
    ),
}
# what a build of torch for NVIDIA's GPUs brings
OF_CUDA = re.compile(r"nvidia|cuda|triton")
LARGE = 500e6  # bytes, from where pip's other index is named


def downloads(environment: dict[str, str], *arguments: str) -> Iterator[tuple[str, int]]:
    """The packages that pip would install, and the bytes of each file."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--dry-run", "--report", "-", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    for item in json.loads(done.stdout)["install"]:
        url = urlsplit(item["download_info"]["url"])
        if "archive_info" not in item["download_info"]:  # this folder
            continue
        if url.scheme == "file":
            size = Path(unquote(url.path)).stat().st_size
        else:
            head = requests.head(
                url.geturl(), allow_redirects=True, timeout=60, verify=environment.get("PIP_CERT", True)
            )
            head.raise_for_status()
            size = int(head.headers["Content-Length"])
        yield item["metadata"]["name"], size


def mb(size: float) -> str:
    return f"{size / 1e6:,.0f} MB"


def write_sizes() -> None:
    """Write the table. pip has no configuration, so that what this machine has beside the index does not count."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    environment["PIP_CONFIG_FILE"] = os.devnull
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["environment", "packages", "download_mb", "cuda_mb"])
        for row, what in ROWS.items():
            found = list(downloads(environment, "--ignore-installed", *what))
            cuda = sum(size for name, size in found if OF_CUDA.match(name))
            total = sum(size for _, size in found)
            table.writerow([row, len(found), f"{total / 1e6:.0f}", f"{cuda / 1e6:.0f}" if cuda else ""])


def install_torch(*options: str) -> None:
    """torch as requirements-torch.lock has it; a torch that the extra `debias` allows stays."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    wanted = Requirement(extras["debias"][0])
    try:
        if wanted.specifier.contains(version("torch"), prereleases=True):
            return
    except PackageNotFoundError:
        pass
    what = (*options, "-r", "requirements-torch.lock")
    total = sum(size for _, size in downloads(dict(os.environ), *what))
    hint = "; a CPU build is smaller: TORCH_INDEX, docs/install.md" if total > LARGE else ""
    print(f"torch: {mb(total)} to download{hint}", file=sys.stderr, flush=True)
    command = [
        sys.executable,
        "-m",
        "pip",
        "--quiet",
        "install",
        "--root-user-action",
        "ignore",
        "--no-compile",
        *what,
    ]
    sys.exit(subprocess.run(command, cwd=ROOT).returncode)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["sizes"]:
            write_sizes()
        case ["torch", *options]:
            install_torch(*options)
        case _:
            sys.exit(__doc__)
