"""The embedded study on a real Slurm of one node: `make cluster-test`. Downloads and starts what it needs.

1. results through profiles/slurm are those of a local run, byte for byte, figures included
2. so they are when a job is killed, and when the node with all that runs on it is

Slurm and munge come from Debian's packages (apt-get, as root) where the machine has none. The Slurm that is started
here is its own (slurm.py). Scratch files are in a folder that is removed unless a step failed.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from slurm import PACKAGES, Failed, Slurm, alive, missing

ROOT = Path(__file__).resolve().parents[2]
STUDY = ("--configfile", "config/embedded.yaml")
SLURM = (
    "--profile",
    "profiles/slurm",
    "--cores",
    "2",
    "--slurm-no-account",
    "--slurm-status-command",
    "squeue",
)
# a site's scheduler is asked less often
SLURM += ("--slurm-init-seconds-before-status-checks", "2", "--seconds-between-status-checks", "2")
START = time.monotonic()


def say(text: str) -> None:
    print(f"{time.monotonic() - START:4.0f} s  {text}", flush=True)


def install() -> None:
    """Debian's Slurm, if the machine has none."""
    if not missing():
        return
    if os.geteuid() or not shutil.which("apt-get"):
        raise Failed(
            f"Slurm is not installed ({', '.join(missing())} not found): run this as root where there is apt-get, or "
            f"install {' and '.join(PACKAGES)} first"
        )
    for command in (("update",), ("install", "--yes", "--no-install-recommends", *PACKAGES)):
        done = subprocess.run(
            ["apt-get", "--quiet", *command],
            env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise Failed(f"apt-get {command[0]}: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
    if missing():
        raise Failed(f"{' and '.join(PACKAGES)} lack {', '.join(missing())}")
    say(f"installed {' and '.join(PACKAGES)}")


def copy(folder: Path) -> Path:
    """The project without what it has computed."""
    for name in ("config", "data", "profiles", "src", "workflow"):
        left_out = shutil.ignore_patterns("__pycache__", "*.egg-info", *["embeddings"] * (name == "data"))
        shutil.copytree(ROOT / name, folder / name, ignore=left_out)
    for name in ("Snakefile", "environment.yml"):
        shutil.copy(ROOT / name, folder)
    return folder


def results(folder: Path) -> dict[str, bytes]:
    folder = folder / "results"
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def same(ours: dict[str, bytes], local: dict[str, bytes]) -> None:
    differ = sorted(path for path in ours.keys() | local.keys() if ours.get(path) != local.get(path))
    if differ:
        raise Failed(f"{len(differ)} files are not those of the local run, the first is {differ[0]}")


class Run:
    """Snakemake at work in a copy of the project; stopped, with all that it started, at the end of `with`."""

    def __init__(self, folder: Path, *arguments: str, slurm: Slurm | None = None):
        self.folder = folder
        self.log = folder / "run.log"
        # every copy takes the project's own vectors, or where the user keeps them
        place = os.environ.get("BIASGRID_EMBEDDINGS") or str(ROOT / "data" / "embeddings")
        environment = slurm.environment if slurm else os.environ
        environment = environment | {"BIASGRID_EMBEDDINGS": place, "PYTHONPATH": str(folder / "src")}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "snakemake", *STUDY, *arguments],
                cwd=folder,
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def finish(self, seconds: float = 900) -> dict[str, bytes]:
        """The results, when it has ended well."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"not done after {seconds:.0f} s; see {self.log}") from None
        if code:
            raise Failed(f"snakemake ended with exit code {code}; see {self.log}")
        return results(self.folder)

    def said(self, text: str) -> bool:
        return text in self.log.read_text()

    def restarted(self) -> bool:
        """Return whether Snakemake submitted a job again. Its own log says so; the terminal shows progress only."""
        logs = (self.folder / ".snakemake" / "log").glob("*.log")
        return any("Trying to restart job" in log.read_text() for log in logs)


def at_work(slurm: Slurm, run: Run) -> str:
    """Wait until a job has computed some cells and is not done; its id."""

    def reached():
        if run.process.poll() is not None:
            raise Failed(f"the run ended before a job could be killed; see {run.log}")
        return slurm.jobs("RUNNING") and len(list(run.folder.glob("results/*/cells/*/*/*/*.json"))) >= 20

    slurm.wait("a job to be at work", reached, 300)
    return next(iter(slurm.jobs("RUNNING")))


def main(scratch: Path) -> None:
    install()
    with Run(copy(scratch / "local"), "--cores", "2") as run:
        local = run.finish()
    say(f"local run: {len(local)} files")
    with Slurm(scratch / "slurm") as slurm:
        say("started munge, slurmctld and slurmd")
        with Run(copy(scratch / "whole"), *SLURM, slurm=slurm) as run:
            same(run.finish(), local)
        say(f"through Slurm: the same {len(local)} files in {len(slurm.jobs())} jobs")
        with Run(run.folder, "--cores", "1", "--dry-run") as again:
            again.finish()
            if not again.said("Nothing to be done"):
                raise Failed(f"a local run after it would compute something anew; see {again.log}")
        say("a local run after it has nothing to do")
        with Run(copy(scratch / "killed"), *SLURM, slurm=slurm) as run:
            job = at_work(slurm, run)
            slurm.ask("scancel", "--signal=KILL", "--full", job)
            slurm.wait("the job to be gone", lambda: job not in slurm.jobs("RUNNING", "COMPLETING"))
            say(f"killed job {job} ({slurm.jobs()[job].lower()})")
            job = at_work(slurm, run)
            slurm.kill_node()
            slurm.wait("Slurm to miss the node", lambda: slurm.node() == "down", 120)
            say(f"killed the node under job {job}: it is down")
            slurm.start_node()
            say("the node is back")
            same(run.finish(), local)
            if not run.restarted():
                raise Failed(f"the killed job was not started again; see {run.log}")
        say("both times the run went on to the same files")
        pids = [slurm.pid(name) for name in ("munged", "slurmctld", "slurmd")]
    if any(map(alive, pids)) or slurm.steps():
        raise Failed("a process of Slurm is left")
    say("stopped all processes")


if __name__ == "__main__":
    # so that `with` stops what was started
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    scratch = Path(tempfile.mkdtemp(prefix="biasgrid-cluster-"))
    try:
        main(scratch)
    except Failed as error:
        sys.exit(f"cluster test: {error}")
    except KeyboardInterrupt:
        sys.exit("cluster test: stopped")
    shutil.rmtree(scratch)
    print("cluster test: passed")
