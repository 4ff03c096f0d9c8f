"""What a release needs, checked: `make release-check`.

    python .ci/release.py UV

Builds wheel and sdist twice and compares their bytes; twine reads them; installs the wheel into empty environments of
each Python from 3.11 to 3.13 on the path, with the newest and the lowest dependencies that pyproject.toml allows
(without torch), and measures a query there; compares the version with CITATION.cff and CHANGELOG.md.
CONTRIBUTING.md has what only a person can do.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.12", "3.13")
# WEAT by hand: mean cosines 1 and 0 for `he` with a and b, 0 and 1 for `she`
MEASURED = """
import biasgrid as bg
model = bg.load({"he": [1, 0], "she": [0, 1], "a": [1, 0], "b": [0, 1]}, name="two")
assert bg.metrics.weat(bg.Query([["he"], ["she"]], [["a"], ["b"]]), model).value == 2.0
"""


def run(*command: str | Path, **settings: object) -> None:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **settings)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(f"release-check: {' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")


def built(uv: Path, source: Path, output: Path) -> dict[str, str]:
    """The files of one build, and their checksums."""
    date = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True
    ).stdout
    run(uv, "build", source, "--out-dir", output, env=os.environ | {"SOURCE_DATE_EPOCH": date.strip()})
    files = [path for path in sorted(output.iterdir()) if path.suffix in (".whl", ".gz")]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def version() -> str:
    """The version, which is the same everywhere."""
    named = re.search(r'^__version__ = "(.+)"', (ROOT / "src/biasgrid/version.py").read_text(), re.M)[1]  # type: ignore[index]
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    changed = re.search(r"^## (\S+)(.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    for file, found in (("CITATION.cff", cited), ("CHANGELOG.md", changed)):
        if not found or found[1] != named:
            sys.exit(
                f"release-check: {file} says version {found and found[1]}, src/biasgrid/version.py {named}"
            )
    if "unreleased" in changed[2]:  # type: ignore[index]
        print(f"CHANGELOG.md: {named} is still unreleased; a person enters the day")
    return named


def main() -> None:
    uv = Path(sys.argv[1]).absolute()
    named = version()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        # a clone has what git tracks alone, as the machine that releases has
        for name in ("one", "two"):
            run("git", "clone", "--quiet", ROOT, work / name)
        first, second = (built(uv, work / name, work / f"dist-{name}") for name in ("one", "two"))
        if differing := [name for name in first if first[name] != second.get(name)]:
            sys.exit(f"release-check: two builds differ: {', '.join(differing)}")
        for name, digest in first.items():
            print(f"{name}: two builds are the same bytes, sha256 {digest}")
        run(uv, "tool", "run", "twine", "check", "--strict", *(work / "dist-one" / name for name in first))
        print("twine: the descriptions can be read")
        wheel = next(work / "dist-one" / name for name in first if name.endswith(".whl"))
        for python in PYTHONS:
            # a version manager's stand-in for a Python that is not there fails
            if subprocess.run(["sh", "-c", f"python{python} --version"], capture_output=True).returncode:
                print(f"Python {python}: not on this machine's path")
                continue
            for resolution in ("highest", "lowest-direct"):
                environment = work / f"{python}-{resolution}"
                run(uv, "venv", "--quiet", "--python", f"python{python}", environment)
                target = environment / "bin" / "python"
                given = f"{wheel}[workflow,figures,gensim]"
                run(uv, "pip", "install", "--quiet", "--python", target, "--resolution", resolution, given)
                run(target, "-c", MEASURED, cwd=work)
                run(environment / "bin" / "biasgrid", "list", "metrics", cwd=work)
                print(f"Python {python}, {resolution.partition('-')[0]} dependencies: installs and measures")
    print(f"version {named}: tag v{named}. What is left to a person: CONTRIBUTING.md")


if __name__ == "__main__":
    main()
