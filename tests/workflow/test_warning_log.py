"""Warnings of a run: in its file, once, whichever process they are of."""

import logging
import os
import time
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from biasgrid.workflow.warning_log import WarningLog
from biasgrid.workflow.workers import Workers


@pytest.fixture
def warning_log():
    log = logging.getLogger("biasgrid")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        made = WarningLog()
        yield made
    log.removeHandler(made)
    log.propagate = True


def test_a_warning_is_shown_before_a_run_and_written_in_it(warning_log, tmp_path, capsys):
    warnings.warn("two words\nare the same", stacklevel=1)
    warning_log.begin(tmp_path / "warnings.log")
    warnings.warn("two words\nare the same", stacklevel=1)
    warnings.warn("one is lost", stacklevel=1)
    logging.getLogger("biasgrid.embeddings").warning("%s: next attempt in %s s", "a.txt", 3)
    logging.getLogger("biasgrid.embeddings").info("a.txt: done")
    assert capsys.readouterr().err == "biasgrid: warning: two words are the same\n"
    lines = (tmp_path / "warnings.log").read_text().splitlines()
    assert lines == ["two words are the same", "one is lost", "a.txt: next attempt in 3 s"]


@dataclass(frozen=True)
class Large:
    """A step that keeps memory, and warns."""

    megabytes: int

    def now(self):
        return self

    def run(self):
        _kept.append(np.ones(self.megabytes * 125_000))
        warnings.warn(f"{self.megabytes} MB", stacklevel=1)
        time.sleep(1.1)  # loky looks once a second
        return os.getpid()


_kept: list[np.ndarray] = []


@pytest.mark.slow
def test_a_process_that_holds_memory_is_kept_and_its_warnings_come_here():
    """loky replaces a process that grew by 300 MB since its first step, and says so in a warning."""
    workers = Workers(count=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        first, *others = [workers.run(Large(megabytes)) for megabytes in (1, 400, 2)]
    assert others == [first, first] != [os.getpid()] * 2
    assert [str(warning.message) for warning in caught] == ["1 MB", "400 MB", "2 MB"]
