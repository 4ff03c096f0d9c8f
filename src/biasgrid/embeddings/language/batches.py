"""Texts in batches through a network.

How a sum is rounded depends on the shape of a batch and on the number of threads. So every batch is of one of few
shapes - as many rows as its length allows, and that length a multiple of eight - and computed on one thread: a text's
values depend neither on what stands beside it nor on how many workers there are. `fast` gives that up: batches are as
long as their texts, no row is filled up, and linear layers are computed by `one_dnn`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .threads import map_on_threads, one_thread

LENGTHS = 8  # a multiple of which a batch is long
MOST_ROWS = 16


@dataclass(frozen=True)
class Row:
    """A text in a batch.

    ids     its pieces
    places  what is asked of: places in `ids`
    labels  pieces, one at each place, or a group of as many at each; none where states are asked
    """

    ids: Sequence[int]
    places: Sequence[int]
    labels: Sequence[Any] = ()


class Batch(NamedTuple):
    """Tensors on the device: ids and attended (rows, length), places (rows, places), labels (rows, places, ...)."""

    ids: Any
    attended: Any
    places: Any
    labels: Any


def in_batches(
    compute: Callable[[Batch], Any],
    rows: Sequence[Row],
    *,
    pieces: int,
    filler: int,
    device: Any,
    fast: bool = False,
) -> list[NDArray[np.float64]]:
    """What a network computes at the places of each row.

    Parameters
    ----------
    compute
        A batch -> a tensor (rows, places, ...), on the device.
    rows
        The rows.
    pieces
        How many pieces a batch has at most, if it has several rows.
    filler
        The piece that rows are filled up with.
    device
        Where to compute; on a processor as many batches at a time as torch may use threads.
    fast
        Whether a value may depend, in its last digits, on the rows beside it.

    Returns
    -------
    list of ndarray
        float64 (places, ...) of each row.
    """
    import torch

    from .one_dnn import OneDnn

    def run(numbers: Sequence[int]) -> list[tuple[int, NDArray[np.float64]]]:
        batch = _batch([rows[number] for number in numbers], pieces, filler, device, fast)
        with torch.inference_mode(), OneDnn() if fast else nullcontext():
            values = compute(batch).double().cpu().numpy()
        return [
            (number, value[: len(rows[number].places)])
            for number, value in zip(numbers, values, strict=False)
        ]

    groups = list(_groups(rows, pieces, fast))
    if device.type == "cpu":
        done = map_on_threads(run, groups)
    else:
        with one_thread():
            done = [run(numbers) for numbers in groups]
    values = dict(pair for group in done for pair in group)
    return [values[number] for number in range(len(rows))]


def _groups(rows: Sequence[Row], pieces: int, fast: bool) -> Iterator[list[int]]:
    """The numbers of the rows of each batch, the longest first."""
    order = sorted(range(len(rows)), key=lambda number: _size(rows[number]), reverse=True)
    group: list[int] = []
    for number in order:
        size = _size(rows[number])
        first = _size(rows[group[0]]) if group else size
        full = len(group) == _rows(first[0], pieces)
        if group and (full or (size[1:] != first[1:] if fast else size != first)):
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def _size(row: Row) -> tuple[int, int]:
    """A row's length, filled up, and how many places it has; 0: as many as its length, where it is asked of all."""
    return _fill(len(row.ids)), 0 if len(row.places) == len(row.ids) else len(row.places)


def _fill(length: int) -> int:
    return -(-max(length, 1) // LENGTHS) * LENGTHS


def _rows(length: int, pieces: int) -> int:
    return max(1, min(MOST_ROWS, pieces // length))


def _batch(rows: Sequence[Row], pieces: int, filler: int, device: Any, fast: bool) -> Batch:
    import torch

    if fast:
        length, places = max(len(row.ids) for row in rows), max(len(row.places) for row in rows)
    else:
        length, places = _size(rows[0])
        places = places or length
        rows = [*rows, *[rows[0]] * (_rows(length, pieces) - len(rows))]
    ids = np.full((len(rows), length), filler, dtype=np.int64)
    attended, asked = np.zeros_like(ids), np.zeros((len(rows), places), dtype=np.int64)
    shape = np.shape(rows[0].labels)
    labels = np.zeros((len(rows), places, *shape[1:]), dtype=np.int64)
    for number, row in enumerate(rows):
        ids[number, : len(row.ids)] = row.ids
        attended[number, : len(row.ids)] = 1
        asked[number, : len(row.places)] = row.places
        if len(row.labels):
            labels[number, : len(row.labels)] = row.labels
    return Batch(*(torch.from_numpy(array).to(device) for array in (ids, attended, asked, labels)))
