"""Figures of changed tables: drawn so that all of it can be read, or refused in one line (tests/figures)."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import matplotlib
from hypothesis import HealthCheck, given, settings

from biasgrid.core import registry

from .damage import Refused

matplotlib.use("agg")
registry.load_plugins(registry.shipped_plugins())
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "figures"))

from any_tables import KINDS, changes  # noqa: E402
from test_any_table import drawn  # noqa: E402


def drawing(seed: int, folder: Path) -> None:
    chance, figures = random.Random(seed), []
    kind = chance.choice(KINDS)

    @settings(database=None, deadline=None, suppress_health_check=[*HealthCheck])
    @given(change=changes(kind))
    def draw(change):
        (folder / "change.txt").write_text(f"{kind} {change}", encoding="utf-8")
        figures.append(drawn(kind, change, folder))

    draw.hypothesis.fuzz_one_input(chance.randbytes(1000))
    if figures == [None]:
        raise Refused


TARGETS = {"drawing": drawing}
