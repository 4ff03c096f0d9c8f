"""A few inputs of every fuzz target; `make fuzz` tries 20,000 (tests/fuzz/run.py)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).with_name("run.py")


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [["--inputs", "60"], ["--inputs", "8", "--only", "results"]])
def test_damaged_input_is_refused_or_read_as_an_independent_parser_reads_it(tmp_path, chosen):
    done = subprocess.run(
        [sys.executable, RUN, *chosen, "--workers", "1", "--output", tmp_path],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
