"""A Slurm of one node on this machine's loopback, from Debian's packages, that touches no other Slurm.

Configuration, keys, state, logs and process ids are in one folder, the ports are its own, and nothing is written to
/etc: programs find it by the environment variable SLURM_CONF. Its processes are stopped by their ids, never by name.
"""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol", "sinfo")
PACKAGES = ("slurm-wlm", "munge")
CONF = """\
ClusterName=biasgrid
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MinJobAge=600
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={memory}
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


class Failed(Exception):
    """Why a step did not work, in one line."""


def missing() -> list[str]:
    """The programs of Slurm that this machine lacks."""
    return [name for name in PROGRAMS if not program(name)]


def program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # a process that nobody has waited for is dead
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


class Slurm:
    """The daemons, started by `with` and stopped at its end. `environment` is what a program needs to find them."""

    def __init__(self, folder: Path):
        self.folder = folder
        path = f"{folder / 'bin'}:{os.environ.get('PATH', '')}"
        self.environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": path}

    def __enter__(self) -> Slurm:
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o755)  # munge refuses a folder that others may write to
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        kilobytes = next(
            int(line.split()[1]) for line in open("/proc/meminfo") if line.startswith("MemTotal")
        )
        (self.folder / "slurm.conf").write_text(
            CONF.format(
                host=socket.gethostname().partition(".")[0],
                ports=(free_port(), free_port()),
                user=getpass.getuser(),
                folder=self.folder,
                cores=os.cpu_count(),
                memory=kilobytes // 1024 - 1000,
            )
        )
        # The Slurm plugin starts srun in a job without the variable, as if the configuration were in /etc
        srun = self.folder / "bin" / "srun"
        srun.parent.mkdir()
        srun.write_text(f'#!/bin/sh\nSLURM_CONF={self.folder / "slurm.conf"} exec {program("srun")} "$@"\n')
        srun.chmod(0o755)
        try:
            self.start_munged()
            self._daemon("slurmctld", "-f", str(self.folder / "slurm.conf"))
            self.start_node()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        for name in ("slurmd", "slurmctld", "munged"):
            self._stop(name)
        for pid in self.steps():
            os.kill(pid, signal.SIGKILL)

    def start_munged(self) -> None:
        files = {"socket": "munge.socket", "key-file": "munge.key", "seed-file": "munge.seed"}
        files |= {"pid-file": "munged.pid", "log-file": "munged.log"}
        # --force: a folder below /tmp is writable for others
        self._daemon(
            "munged", "--force", *(f"--{option}={self.folder / name}" for option, name in files.items())
        )

    def start_node(self) -> None:
        """Start slurmd and wait until the node takes jobs."""
        self._daemon("slurmd", "-f", str(self.folder / "slurm.conf"))
        self.wait("the node to be up", lambda: self.node() in ("idle", "mixed", "allocated", "mix", "alloc"))

    def kill_node(self) -> None:
        """What a node's crash does: its daemon and the processes of its jobs are gone, at once."""
        pids = [self.pid("slurmd"), *self.steps()]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    def steps(self) -> list[int]:
        """Process ids of all jobs on the node, those of their shells and programs last."""
        found, children = [], {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                conf = f"SLURM_CONF={self.folder / 'slurm.conf'}\0".encode()
                ours = conf in (folder / "environ").read_bytes()
            except (OSError, ProcessLookupError):
                continue  # it has ended
            children.setdefault(parent, []).append(int(folder.name))
            if ours and command.startswith("slurmstepd"):
                found.append(int(folder.name))
        for pid in found:
            found += children.get(pid, [])
        return found

    def pid(self, name: str) -> int:
        return int((self.folder / f"{name}.pid").read_text())

    def node(self) -> str:
        """The node's state."""
        return self.ask("sinfo", "--noheader", "--format=%T").rstrip("*~#!%$@+")

    def jobs(self, *states: str) -> dict[str, str]:
        """Jobs in these states (all without), id -> state."""
        lines = self.ask("squeue", "--noheader", "--states=all", "--format=%i|%T").splitlines()
        found = dict(line.split("|") for line in lines)
        return {job: state for job, state in found.items() if not states or state in states}

    def ask(self, *command: str) -> str:
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60)
        return done.stdout.strip()

    def wait(self, what: str, reached, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not reached():
            if time.monotonic() > end:
                raise Failed(f"waited {seconds:.0f} s for {what}; see the logs in {self.folder}")
            time.sleep(0.3)

    def _daemon(self, name: str, *arguments: str) -> None:
        done = subprocess.run(
            [program(name), *arguments], env=self.environment, capture_output=True, text=True
        )
        if done.returncode:
            raise Failed(f"{name} did not start: {(done.stderr or done.stdout).strip()}")
        file = self.folder / f"{name}.pid"
        self.wait(f"{name} to start", lambda: file.is_file() and file.read_text().strip())

    def _stop(self, name: str) -> None:
        try:
            pid = self.pid(name)
            os.kill(pid, signal.SIGTERM)
        except (FileNotFoundError, ProcessLookupError, ValueError):
            return
        end = time.monotonic() + 10
        while alive(pid) and time.monotonic() < end:
            time.sleep(0.1)
        if alive(pid):
            os.kill(pid, signal.SIGKILL)
