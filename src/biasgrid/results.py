"""The results in files of cells and of their inference."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .errors import quote
from .in_memory import File, InMemory
from .schema import not_whole, read

if TYPE_CHECKING:
    import pandas as pd

KEYS = ["criterion", "query", "metric", "model", "debias"]  # of a cell
ACROSS_MODELS = [key for key in KEYS if key != "model"]  # of cells that differ in their model
ACROSS_QUERIES = [key for key in KEYS if key != "query"]
A_CELL = "a cell file"
PARTS = ("scalars", "detail", "found", "lost", "forms", "why_lost")  # of a result, mappings
BY_WORD = ("forms", "why_lost")  # set -> word -> text


@contextmanager
def without_collection() -> Iterator[None]:
    """No search for circular garbage, which takes longer than all else while thousands of files are decoded."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def results(files: Iterable[File]) -> Iterable[tuple[tuple, str, dict]]:
    """The results in files of a cell, or of the inference of several.

    Yields
    ------
    tuple
        (criterion, (sub-)query, metric, model, debias), the id of the cell's query, and the result.

    Raises
    ------
    BiasgridError
        For a file that is missing or no such file.
    """
    yield from results_of(cells(files))


def results_of(read_cells: Iterable[tuple[dict, list[dict]]]) -> Iterable[tuple[tuple, str, dict]]:
    """The results of cells that `cells` has read, as `results` yields them."""
    for cell, part in read_cells:
        for result in part:
            yield key_of(cell, result), cell["query"], result


def cells(files: Iterable[File]) -> Iterable[tuple[dict, list[dict]]]:
    """The cells in files of a cell, or of the inference of several: what each is of, and its results."""
    for path in files:
        yield from ((cell, cell["results"]) for cell in cells_in(path))


def cells_in(path: File) -> list[dict]:
    """The cells in a file of a cell, or of the inference of several."""
    record = read(path, A_CELL)
    cells = record.get("cells", [record])
    if isinstance(path, InMemory):
        return cells
    try:
        for cell in cells:
            _check(cell)
        if not cells:
            raise ValueError("it has no cells")
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        reason = f"key {error} is missing" if isinstance(error, KeyError) else error
        raise not_whole(path, A_CELL, reason) from None
    return cells


def _check(cell: dict) -> None:
    """Raises one of several errors for what biasgrid never writes. By hand: a study has thousands of cells."""
    results = cell["results"]
    if type(results) is not list or not results:
        raise ValueError("it has no results")
    for result in results:
        if any(type(text) is not str for text in (*key_of(cell, result), cell["query"], result["status"])):
            raise ValueError("its names are not text")
        value, status = result.get("value"), result["status"]
        is_right = _is_number(value) if status == "ok" else value is None
        if not is_right and (
            "value" in result or "inference" not in cell
        ):  # whose value is in the cell's own file
            raise ValueError(f"the value is {quote(value)}, and the status {quote(status)}")
        for part in PARTS:
            # who needs the others says what is missing
            may_lack = part != "scalars" or "inference" in cell
            content = result.get(part, {}) if may_lack else result[part]
            if type(content) is not dict:
                raise ValueError(f"{part}: {quote(content)} is not a mapping")
        if any(type(result.get(name, 0)) is not int for name in ("words_used", "words_lost")):
            raise ValueError("its numbers of words are no whole numbers")
        for words in result.get("lost", {}).values():
            if type(words) is not list or not set(map(type, words)) <= {str}:
                raise ValueError(f"lost: {quote(words)} is not a list of words")
        for part in BY_WORD:
            for texts in result.get(part, {}).values():
                if type(texts) is not dict or not set(map(type, texts.values())) <= {str}:
                    raise ValueError(f"{part}: {quote(texts)} is not a mapping of words to texts")
        for name, number in result.get("scalars", {}).items():
            if number is not None and not _is_number(number):
                raise ValueError(f"scalars: {quote(name)}: {quote(number)} is not a number")


def _is_number(value: Any) -> bool:
    return type(value) in (float, int) and math.isfinite(value)


def key_of(cell: Mapping, result: Mapping) -> tuple:
    """What `KEYS` are of a result of a cell."""
    return cell["criterion"], result["query"], cell["metric"], cell["model"], cell["debias"]


def scalars(files: Iterable[File]) -> pd.DataFrame:
    """The auxiliary statistics in files of cells: one row per number, with `KEYS`, quantity and value, sorted."""
    import pandas as pd  # a plan, which imports figures, needs none

    rows = [
        (*key, quantity, value)
        for key, _, result in results(files)
        for quantity, value in result["scalars"].items()
    ]
    keys = [*KEYS, "quantity"]
    table = pd.DataFrame(rows, columns=[*keys, "value"]).drop_duplicates(keys)
    return table.sort_values(keys, ignore_index=True).astype({"value": "float64"})
