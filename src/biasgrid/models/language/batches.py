"""Texts in batches through a network.

The rounding of a sum depends on the shape of a batch and on the number of threads. Therefore every batch has
one of few shapes, and is computed on one thread. It has as many rows as its length allows, and its length is
a multiple of eight. A text's values then depend neither on the other texts in its batch nor on the number of
workers. `fast` gives this up: batches are as long as their texts, they are not filled with copies of rows,
and linear layers are computed by `one_dnn`.

A GPU takes as long for a small batch as for a larger one, so its batches are larger. If no row of a batch
needs padding, transformers leaves out the attention mask, and a GPU then uses a different computation. On a
GPU, padded and unpadded rows are therefore in separate batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BiasgridError
from .threads import map_on_threads, one_thread

LENGTHS = 8  # the length of a batch is a multiple of this
MOST_ROWS = 16
ON_GPU = 8  # a batch on a GPU has this many times as many rows and tokens


@dataclass(frozen=True)
class Row:
    """A text in a batch.

    Attributes
    ----------
    ids
        Its tokens.
    places
        The requested positions in `ids`.
    labels
        Tokens: one, or a group of the same size, per position; empty if states are requested.
    """

    ids: Sequence[int]
    places: Sequence[int]
    labels: Sequence[Any] = ()


class _Most(NamedTuple):
    """The maximum number of tokens in a batch of several rows, and the maximum number of rows."""

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
    """Compute a network's values at the positions of each row.

    Parameters
    ----------
    compute
        A function: batch -> a tensor (rows, places, ...), on the device.
    rows
        The rows.
    pieces
        The maximum number of tokens in a batch of several rows; on a GPU, `ON_GPU` times as many.
    filler
        The padding token.
    device
        The device; on a CPU, as many batches run at a time as torch may use threads.
    fast
        Whether the last digits of a value may depend on the other rows.

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
    """Turn an error of missing memory for a batch into a one-line message."""
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
    """Return whether memory of a GPU or of this machine ran out; torch has several errors for this."""
    import torch

    phrases = ("out of memory", "ALLOC_FAILED", "can't allocate memory", "not enough memory")
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or (
        isinstance(error, RuntimeError) and any(words in str(error) for words in phrases)
    )


def _groups(rows: Sequence[Row], most: _Most, fast: bool, *, apart: bool) -> Iterator[list[int]]:
    """Yield the row numbers of each batch, the longest first.

    With `apart`, rows that do not need padding are in separate batches, unless `fast`.
    """

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
    """Return a row's padded length and its number of positions, or 0 if all of its positions are requested."""
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
