"""Scores and vectors of many texts are computed in blocks, and saved after each: what a kill costs is little."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

BLOCK = 256  # texts, or words, that are computed at a time
SAVING = (
    0.05  # of the time at most is spent on saving: where that takes long, several blocks are saved at once
)
SAID_EVERY = 5  # seconds after which a line says how far the step is
AT_WORK = "biasgrid: at work: "  # begins such a line in the log of a step

T = TypeVar("T")


def computed_beside(former: Mapping[str, Any], computed: Mapping[str, Any]) -> dict[str, Any]:
    """How values were computed some of which were there before: `former` says how these were. Of all that `computed`
    says only the device may differ, and each is named."""
    named = [how["device"] for how in (former, computed) if "device" in how]
    devices = sorted({device for devices in named for device in devices.split(", ")})
    return {**computed, "device": ", ".join(devices)} if devices else dict(computed)


def in_blocks(values: list[T]) -> Iterator[list[T]]:
    """Blocks of values, in order."""
    for start in range(0, len(values), BLOCK):
        yield values[start : start + BLOCK]


def in_saved_blocks(values: list[T], name: str, save: Callable[[], object]) -> Iterator[list[T]]:
    """Blocks of values for a step that computes something of each. After each but the last `save` is called, unless
    it takes long, and now and then a line in the step's log says how far it is."""
    began = said = saved = time.monotonic()
    done, took = 0, 0.0
    for block in in_blocks(values):
        yield block
        done += len(block)
        now = time.monotonic()
        if done < len(values) and now - saved >= took / SAVING:
            save()
            saved = time.monotonic()
            took = saved - now
        if done < len(values) and now - said >= SAID_EVERY:
            said = now
            left = left_text((now - began) / done * (len(values) - done))
            print(f"{AT_WORK}{name}: {done:,} of {len(values):,}, {left}", file=sys.stderr, flush=True)


def left_text(seconds: float) -> str:
    """How long something may still take."""
    return f"about {seconds / 60:.0f} min left" if seconds >= 90 else f"about {seconds:.0f} s left"
