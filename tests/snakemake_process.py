"""Snakemake, or biasgrid, as a process that has its packages already: a fork of one that did nothing but import them.

Most tests of the workflow start Snakemake, and most of a start is imports. Nothing of biasgrid is imported before the
fork: each test has its own copy of it. Workers of a run are forks of it. Those of a run that is started in another
way, to be stopped or killed (`Project.start`), of a wheel, and of a command are processes of their own.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

PACKAGES = (
    "snakemake.cli",
    "numpy",
    "pandas",
    "scipy.stats",
    "sklearn.linear_model",
    "pydantic",
    "smart_open",
    "snakemake.report.html_reporter",
    "joblib.externals.loky.backend.fork_exec",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
)


def run(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], program: str = "snakemake"
) -> subprocess.CompletedProcess[str]:
    """What `python -m <program> <arguments>` does in this folder and environment, and what it prints."""
    with tempfile.TemporaryDirectory() as made:
        output, errors = Path(made, "stdout"), Path(made, "stderr")
        server = _server()
        # where a run ends at once, Snakemake's temporary folder is left
        variables = {"TMPDIR": made} | dict(environment)
        request = (program, list(arguments), str(folder), variables, str(output), str(errors))
        print(json.dumps(request), file=server.stdin, flush=True)
        code = int(server.stdout.readline())
        return subprocess.CompletedProcess(arguments, code, output.read_text(), errors.read_text())


@cache
def _server() -> subprocess.Popen:
    # it ends with this process, whose pipe it reads
    return subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _serve() -> None:
    for name in PACKAGES:
        importlib.import_module(name)
    sys.modules["snakemake.cli"].get_argument_parser()  # its plugins
    gc.collect()
    gc.freeze()
    while request := sys.stdin.readline():
        child = os.fork()
        if not child:
            _become(*json.loads(request))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _become(
    program: str,
    arguments: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    output: str,
    errors: str,
) -> None:
    for number, path, mode in (
        (0, os.devnull, os.O_RDONLY),
        (1, output, os.O_WRONLY),
        (2, errors, os.O_WRONLY),
    ):
        os.dup2(os.open(path, mode | os.O_CREAT), number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    sys.path[:1] = ["", environment["PYTHONPATH"]]
    # modules are edited within a second
    sys.dont_write_bytecode = True
    sys.argv[1:] = arguments
    starts = sys.modules["joblib.externals.loky.backend.fork_exec"]
    if not hasattr(starts, "close_fds"):  # joblib 1.4 starts more than workers by it
        starts.fork_exec = _fork_worker
    if program == "snakemake":
        sys.exit(sys.modules["snakemake.cli"].main())
    os.execv = _execute
    runpy.run_module(program, run_name="__main__", alter_sys=True)


def _fork_worker(command: Sequence[str], keep: Sequence[int], env: Mapping[str, str]) -> int:
    """What joblib starts as a process of Python, which would import again what this one has."""
    if worker := os.fork():
        return worker
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        kept = {0, 1, 2, *map(int, keep)}
        for open_file in [int(name) for name in os.listdir("/proc/self/fd")]:
            if open_file not in kept:
                with contextlib.suppress(OSError):
                    os.close(open_file)
        os.environ.update(env)
        tempfile.tempdir = None
        sys.argv[1:] = command[3:]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of a module that is there
            runpy.run_module(command[2], run_name="__main__")
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _execute(_: str, command: Sequence[str]) -> None:
    """What `biasgrid run` becomes: Snakemake, which imports biasgrid anew."""
    assert command[1:3] == ["-m", "snakemake"]
    for name in [name for name in sys.modules if name.partition(".")[0] == "biasgrid"]:
        del sys.modules[name]
    sys.argv[1:] = command[3:]
    sys.exit(sys.modules["snakemake.cli"].main())


if __name__ == "__main__":
    _serve()
