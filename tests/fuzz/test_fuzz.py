"""Damaged and hostile input for everything that reads what others wrote: `make fuzz` tries thousands.

Every module of fuzz_targets/ has

    TARGETS: dict[str, Callable[[int, Path], None]]

`function(seed, folder)` makes one input out of the seed in the empty `folder` and tries it through a public door. It
raises `Refused` if the input is refused (a BiasgridError, or exit code 2). A failure is anything else: another
exception, an output that differs from an independent parse (AssertionError), a process that ends, more than LONGEST
seconds, or more than MOST bytes of memory. A target that makes a larger result leaves it out: inputs here are small.

Hypothesis draws the seeds and prints one that fails; the input is kept in results/fuzz. To try it again:

    SEED=123 pytest tests/fuzz -k readers

Linux only: memory is read from /proc.
"""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT
from fuzz_targets.damage import Refused
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

LONGEST = 30.0  # seconds
MOST = 1 << 30  # bytes
# a store is synced to the disk, which takes longer than all else about a small one
SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
MODULES = sorted(
    path.stem for path in Path(__file__).parent.glob("fuzz_targets/[a-z]*.py") if path.stem != "damage"
)
# FUZZ: how many inputs of each target; without it one, which is the same everywhere
INPUTS = int(os.environ.get("FUZZ", 0))
SEEDS = st.just(int(os.environ["SEED"])) if "SEED" in os.environ else st.integers(0, 2**32 - 1)


class TooLong(BaseException):
    """An input took too long: no exception that code under test would catch."""


@pytest.fixture(autouse=True, scope="module")
def _place():
    """Put all that targets write into one folder, and hide what biasgrid would read of the environment."""
    with (
        tempfile.TemporaryDirectory(prefix="fuzz-", dir=SCRATCH) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(tempfile, "tempdir", folder)
        for name in [name for name in os.environ if name.startswith("BIASGRID_")]:
            patch.delenv(name)
        yield


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_damaged_input_is_refused_or_read_as_an_independent_parser_reads_it(module):
    # imported late: collecting other tests needs no torch
    targets = importlib.import_module(f"fuzz_targets.{module}").TARGETS

    @settings(
        max_examples=INPUTS or 1,
        derandomize=not INPUTS,
        deadline=None,
        database=None,
        phases=[Phase.generate],  # a smaller seed makes no smaller input
        suppress_health_check=[*HealthCheck],
    )
    @given(seed=SEEDS)
    def attempt(name, seed):
        folder = Path(tempfile.mkdtemp())
        try:
            event(f"{module}.{name}: {tried(targets[name], seed, folder)}")
        except BaseException:
            place = ROOT / "results" / "fuzz" / f"{module}.{name}" / str(seed)
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(folder, place, symlinks=True)
            raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    for name in targets:
        attempt(name)


def tried(target: Callable[[int, Path], None], seed: int, folder: Path) -> str:
    """Try an input, and return whether it was accepted or refused."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before, outcome = memory("VmRSS"), "accepted"
    # more where other processes want the cores, too
    longest = LONGEST * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    former = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, longest)
    try:
        target(seed, folder)
    except Refused:
        outcome = "refused"
    except TooLong:
        raise AssertionError(f"more than {longest:.0f} s") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
    taken = memory("VmHWM") - before
    assert taken < MOST, f"{taken >> 20} MB of memory"
    return outcome


def _stop(*_: object) -> None:
    raise TooLong


def memory(what: str) -> int:
    """Return bytes of this process' memory."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(what))
