"""Python as a process that has its packages already: a fork of one that did little but import them.

Most tests of the workflow start Snakemake or biasgrid, and runs start steps; most of a start is imports. biasgrid
itself is imported before the fork, too, the digests of its code are made, and its templates compiled; a fork that
finds another copy of it, which tests edit, imports that. Workers of a step (`--jobs`), a run that is to be stopped or
killed (`Project.start`), and the processes of a wheel are not forks.

`python()` is a program of the shell that asks the server for a fork, which has its arguments, environment, folder,
output and errors, but an empty input; it ends as the fork ends (with 128 + n where signal n killed it). What Python
reads when it starts (the seed of hashes, its options) is the server's.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import gc
import importlib
import multiprocessing.spawn  # noqa: F401  keeps Python's own path, for processes that a fork starts with open files
import os
import pkgutil
import re
import runpy
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import types
import uuid
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import NoReturn

PACKAGES = (
    "snakemake.cli",
    "numpy",
    "pandas",
    "scipy.stats",
    "sklearn.linear_model",
    "pydantic",
    "smart_open",
    "snakemake.report.html_reporter",
    "joblib",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
)
SOURCE = Path(__file__).resolve().parents[1] / "src"
# what is no fork: other modules, files and options of Python
SHIM = """#!/bin/sh
case "$1 $2" in
    "-m biasgrid" | "-m snakemake" | "-c "*) ;;
    *) exec {python} "$@" ;;
esac
mkfifo "{folder}/$$"
# while `echo` writes, 1 is the requests
exec 7>&1 9<>"{folder}/$$"
echo $$ >>"{folder}/requests"
read -r code <&9
rm -f "{folder}/$$"
exit "$code"
"""
LONGEST = 120  # seconds until a fork is there; it may have to import biasgrid first
PAUSE = 0.1  # seconds between two looks at whether who asked is there


def run(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], program: str = "snakemake"
) -> subprocess.CompletedProcess[str]:
    """What `python -m <program> <arguments>` does in this folder and environment, and what it prints."""
    with tempfile.TemporaryDirectory() as made:
        output, errors = Path(made, "stdout"), Path(made, "stderr")
        with output.open("wb") as out, errors.open("wb") as err:
            # where a run ends at once, Snakemake's temporary folder is left
            variables = {"TMPDIR": made} | dict(environment)
            command = [python(), "-m", program, *arguments]
            code = subprocess.run(command, cwd=folder, env=variables, stdout=out, stderr=err).returncode
        return subprocess.CompletedProcess(arguments, code, output.read_text(), errors.read_text())


def python() -> str:
    """The program that is a fork of the server, which all of pytest's processes share; it ends with the last. Python
    itself where the server has gone; what failed there is a warning."""
    folder = _server()
    program, failed = str(folder / "python"), ""
    try:
        os.close(os.open(folder / "requests", os.O_WRONLY | os.O_NONBLOCK))
    except OSError as error:
        program, failed = sys.executable, f"it has gone: {error}"
    with contextlib.suppress(FileNotFoundError):
        failed += _errors(folder).read_text()
    if failed:
        warnings.warn(f"the server of forks: {failed}", stacklevel=2)
    return program


def _errors(folder: Path) -> Path:
    """What failed in the server of this folder, if anything did."""
    return folder.with_name(f"{folder.name}.errors")


@cache
def _server() -> Path:
    run_of_tests = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid.uuid4().hex
    folder = Path(tempfile.gettempdir(), f"forks-{run_of_tests}")
    folder.mkdir(mode=0o700, exist_ok=True)
    requests, shim = folder / "requests", folder / "python"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not shim.exists():
            os.mkfifo(requests)
            subprocess.Popen([sys.executable, __file__, folder], stdin=subprocess.DEVNULL)
            # the command that rules of the workflow start, beside the Python that is Snakemake's here
            command = folder / "biasgrid"
            command.write_text(f'#!/bin/sh\nexec "{shim}" -m biasgrid "$@"\n')
            command.chmod(0o700)
            shim.write_text(SHIM.format(python=sys.executable, folder=folder))
            shim.chmod(0o700)
        os.open(requests, os.O_WRONLY)  # until this process ends
    return folder


def _serve(folder: Path) -> None:
    requests = os.open(folder / "requests", os.O_RDONLY)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # pytest ends, and this with it
    waiting: list[int] = []
    askers: dict[int, tuple[int, int]] = {}  # a fork -> who asked for it, and where it waits for the end
    server = os.getpid()
    try:
        for name in PACKAGES:
            importlib.import_module(name)
        sys.path.insert(0, str(SOURCE))
        with contextlib.suppress(Exception):  # a fork says what cannot be imported
            _import_biasgrid()
        sys.path.remove(str(SOURCE))
        sys.modules["snakemake.cli"].get_argument_parser()  # its plugins
        gc.collect()
        gc.freeze()
        # a child that ends is as good as a request
        ended, ends = os.pipe2(os.O_NONBLOCK)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(ends)
        for _ in range(100):
            try:
                _answer(folder, requests, ended, waiting, askers)
                break
            except Exception:  # no room for one more process, say; there may be some soon
                if os.getpid() != server:
                    raise
                with _errors(folder).open("a") as errors:
                    traceback.print_exc(file=errors)
                time.sleep(PAUSE)
    finally:
        if os.getpid() == server:
            # who waits for an answer would wait for ever
            os.set_blocking(requests, False)
            with contextlib.suppress(BlockingIOError):
                waiting += map(int, os.read(requests, 65536).split())
            for process in {*waiting, *askers, *(process for process, _ in askers.values())} - {0}:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGTERM)
            shutil.rmtree(folder, ignore_errors=True)


def _answer(
    folder: Path, requests: int, ended: int, waiting: list[int], askers: dict[int, tuple[int, int]]
) -> None:
    """Fork for all who ask, until nobody can ask any more."""
    while True:
        ready = [] if waiting else select.select([requests, ended], [], [], PAUSE if askers else None)[0]
        if ended in ready:
            os.read(ended, 4096)
        if requests in ready:
            if not (lines := os.read(requests, 65536)):
                return
            waiting += map(int, lines.split())
        for child, (process, answer) in list(askers.items()):
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                del askers[child]
                code = os.waitstatus_to_exitcode(status)
                os.write(answer, f"{code if code >= 0 else 128 - code}\n".encode())
                os.close(answer)
            elif process and not Path("/proc", str(process)).exists():
                os.kill(child, signal.SIGTERM)
                askers[child] = 0, answer  # it was told
        while waiting:
            try:
                answer = os.open(folder / str(waiting[-1]), os.O_RDWR)
            except FileNotFoundError:  # who asked has no place to wait at
                waiting.pop()
                continue
            try:
                child = os.fork()
            except OSError:
                os.close(answer)
                raise
            if not child:
                _end_after(_become, waiting[-1], requests)
            askers[child] = waiting.pop(), answer


def _become(process: int, requests: int) -> None:
    """What that process of `SHIM` was started as."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.close(requests)
    there = Path("/proc", str(process))
    # what it starts by this name is a fork, too
    _, sys.executable, option, program, *arguments = map(
        os.fsdecode, there.joinpath("cmdline").read_bytes().split(b"\0")[:-1]
    )
    variables = there.joinpath("environ").read_bytes().split(b"\0")[:-1]
    # two of them may be one file
    for number, path, mode in (
        (0, os.devnull, os.O_RDONLY),
        (1, there / "fd" / "7", os.O_WRONLY | os.O_APPEND),
        (2, there / "fd" / "2", os.O_WRONLY | os.O_APPEND),
    ):
        os.dup2(os.open(path, mode), number)
    # the server's know whether they are pipes
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    os.chdir(there / "cwd")
    os.environ.clear()
    for variable in variables:
        name, _, value = variable.partition(b"=")
        os.environb[name] = value
    tempfile.tempdir = None
    here = [] if os.environ.get("PYTHONSAFEPATH") else [""]
    sys.path[:1] = [*here, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    origin = getattr(PathFinder.find_spec("biasgrid"), "origin", None)
    _forget_biasgrid(but=origin)
    # modules are edited within a second
    sys.dont_write_bytecode = True
    sys.argv[1:] = arguments
    try:
        if option == "-c":
            sys.argv[0] = "-c"
            main = sys.modules["__main__"] = types.ModuleType("__main__")
            exec(compile(program, "<string>", "exec"), vars(main))
        elif program == "snakemake":
            sys.exit(sys.modules["snakemake.cli"].main())
        else:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
    finally:
        threading._shutdown()
        atexit._run_exitfuncs()


def _end_after(does: Callable[..., object], *arguments: object, **settings: object) -> NoReturn:
    """End this process after this, but do not take apart all that it has, as Python does: a sixth of a second."""
    code = 1
    try:
        does(*arguments, **settings)
        code = 0
    except SystemExit as ended:
        code = ended.code or 0
        if isinstance(code, str):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # nobody reads it any more, or it is closed
                stream.flush()
        os._exit(code & 0xFF if isinstance(code, int) else 1)


def _import_biasgrid() -> None:
    names = (module.name for module in pkgutil.walk_packages([str(SOURCE)]))
    # those of language models bring torch, and `__main__` runs what it is
    own = [name for name in names if not re.search(r"\.language\b|__main__", name)]
    for name in own:
        importlib.import_module(name)
    # these keep what they have read, or compiled
    sys.modules["biasgrid.study.code"].closure(*own)
    page = sys.modules["biasgrid.report.render"]
    sections = sys.modules["biasgrid.report.sections"].REGISTRY.values()
    templates = page.templates(sections)
    templates.filters |= dict.fromkeys(("label", "short", "state"), str)  # those of a study's page
    names = [path.name for path in page.TEMPLATES.iterdir() if path.suffix in (".html", ".css")]
    for name in [*names, *(f"{section.name}/{section.template}" for section in sections)]:
        templates.get_template(name)
    # pydantic makes what checks a config when the first is checked
    sys.modules["biasgrid.study.study"].Study.read(SOURCE.parent / "config" / "embedded.yaml")


def _forget_biasgrid(but: str | None = None) -> None:
    """Have no biasgrid that is imported, but the one of this file."""
    if but is not None and getattr(sys.modules.get("biasgrid"), "__file__", None) == but:
        return
    for name in [name for name in sys.modules if name.partition(".")[0] == "biasgrid"]:
        del sys.modules[name]


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
