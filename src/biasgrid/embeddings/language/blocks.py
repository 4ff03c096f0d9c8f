"""Scores and vectors of many texts are computed in blocks, and saved now and then: what a kill costs is little."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

BLOCK = 256  # texts, or words, that are computed at a time
SAVED_EVERY = 30  # seconds after which what is computed is saved

T = TypeVar("T")


def in_blocks(values: list[T]) -> Iterator[list[T]]:
    """Blocks of values, in order."""
    for start in range(0, len(values), BLOCK):
        yield values[start : start + BLOCK]


def in_saved_blocks(values: list[T], name: str, save: Callable[[], object]) -> Iterator[list[T]]:
    """Blocks of values for a step that computes something of each. Between two, where it is a while since the last
    time, `save` is called, and a line in the step's log says how far it is."""
    began = saved = time.monotonic()
    done = 0
    for block in in_blocks(values):
        yield block
        done += len(block)
        now = time.monotonic()
        if done < len(values) and now - saved > SAVED_EVERY:
            save()
            saved = time.monotonic()
            left = (now - began) / done * (len(values) - done)
            print(
                f"{name}: {done:,} of {len(values):,}, about {left:.0f} s left", file=sys.stderr, flush=True
            )
