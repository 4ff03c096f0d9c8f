"""Texts in batches through a network.

How a sum is rounded depends on the shape of a batch and on the number of threads. So every batch is of one of few
shapes - as many rows as its length allows, and that length a multiple of eight - and computed on one thread: a text's
values depend neither on what stands beside it nor on how many workers there are. `fast` gives that up: batches are as
long as their texts, no row is filled up, and linear layers are computed by `one_dnn`.

A GPU takes as long for a small batch as for a larger one, so that its batches are larger. Where no row of a batch is
filled up, transformers leaves out the mask of attention, and a GPU then computes it in another way: so rows that are
filled up and rows that are not are in batches of their own there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import BiasgridError
from .threads import map_on_threads, one_thread

LENGTHS = 8  # a multiple of which a batch is long
MOST_ROWS = 16
ON_GPU = 8  # times as many rows and pieces has a batch there


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


class _Most(NamedTuple):
    """How many pieces a batch has at most, if it has several rows, and how many rows."""

    pieces: int
    rows: int


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
        How many pieces a batch has at most, if it has several rows; on a GPU `ON_GPU` times as many.
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

    on_gpu = device.type != "cpu"
    most = _Most(pieces * ON_GPU, MOST_ROWS * ON_GPU) if on_gpu else _Most(pieces, MOST_ROWS)
    groups = list(_groups(rows, most, fast, apart=on_gpu))

    def run(numbers: Sequence[int]) -> list[tuple[int, NDArray[np.float64]]]:
        with (
            torch.inference_mode(),
            OneDnn() if fast else nullcontext(),
            _in_memory_of(device, rows, numbers),
        ):
            batch = _batch([rows[number] for number in numbers], most, filler, device, fast)
            values = compute(batch).double().cpu().numpy()
        return [
            (number, value[: len(rows[number].places)])
            for number, value in zip(numbers, values, strict=False)
        ]

    if not on_gpu:
        done = map_on_threads(run, groups)
    else:
        with one_thread():
            done = [run(numbers) for numbers in groups]
    values = dict(pair for group in done for pair in group)
    return [values[number] for number in range(len(rows))]


@contextmanager
def _in_memory_of(device: Any, rows: Sequence[Row], numbers: Sequence[int]) -> Iterator[None]:
    """A batch for which there is not enough memory is one line."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        longest = max(len(rows[number].ids) for number in numbers)
        where, remedy = (
            ("this machine", "")
            if device.type == "cpu"
            else ("the GPU", ": free some, or compute on device: cpu")
        )
        raise BiasgridError(
            f"{where} has not enough memory for a batch of texts of up to {longest} pieces{remedy}"
        ) from None


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, of a GPU or of this machine: torch says so in several ways."""
    import torch

    phrases = ("out of memory", "ALLOC_FAILED", "can't allocate memory", "not enough memory")
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or (
        isinstance(error, RuntimeError) and any(words in str(error) for words in phrases)
    )


def _groups(rows: Sequence[Row], most: _Most, fast: bool, *, apart: bool) -> Iterator[list[int]]:
    """The numbers of the rows of each batch, the longest first; `apart`: those that need not be filled up are in
    batches of their own, unless `fast`."""

    def size_of(number: int) -> tuple[int, int, bool]:
        row = rows[number]
        return *_size(row), apart and not fast and len(row.ids) % LENGTHS == 0

    group: list[int] = []
    for number in sorted(range(len(rows)), key=size_of, reverse=True):
        size = size_of(number)
        first = size_of(group[0]) if group else size
        full = len(group) == _rows(first[0], most)
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


def _rows(length: int, most: _Most) -> int:
    return max(1, min(most.rows, most.pieces // length))


def _batch(rows: Sequence[Row], most: _Most, filler: int, device: Any, fast: bool) -> Batch:
    import torch

    if fast:
        length, places = max(len(row.ids) for row in rows), max(len(row.places) for row in rows)
    else:
        length, places = _size(rows[0])
        places = places or length
        rows = [*rows, *[rows[0]] * (_rows(length, most) - len(rows))]
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
