"""Blocks of texts: scores and vectors of many texts are saved after each block, so that a killed run loses little."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

BLOCK = 256  # texts, or words, that are computed at a time
# The maximum share of the time for saving. If saving takes long, several blocks are saved at once.
SAVING = 0.05
SAID_EVERY = 5  # seconds between two lines about the progress
AT_WORK = "biasgrid: at work: "  # beginning of such a line in the log of a step

T = TypeVar("T")


def computed_beside(former: Mapping[str, Any], computed: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the record of how existing values were computed (`former`) with the record for new values (`computed`).

    Only the device may differ between the two; each device is named.
    """
    named = [how["device"] for how in (former, computed) if "device" in how]
    devices = sorted({device for devices in named for device in devices.split(", ")})
    return {**computed, "device": ", ".join(devices)} if devices else dict(computed)


def in_blocks(values: list[T]) -> Iterator[list[T]]:
    """Yield blocks of values, in order."""
    for start in range(0, len(values), BLOCK):
        yield values[start : start + BLOCK]


def in_saved_blocks(values: list[T], name: str, save: Callable[[], object]) -> Iterator[list[T]]:
    """Yield blocks of values, for a step that computes something for each.

    `save` is called after each block except the last, unless saving takes long. At intervals, a line in the
    step's log reports the progress.
    """
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
    """Return a text about the remaining time."""
    return f"about {seconds / 60:.0f} min left" if seconds >= 90 else f"about {seconds:.0f} s left"
