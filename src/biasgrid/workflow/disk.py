"""The disk space that a run takes: said before the first byte comes, and refused where it is not there."""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from ..core.errors import BiasgridError
from ..study.study import Study
from . import stores
from .run_messages import size_text

# megabytes of results: for each cell with its inference and tables, and for the words of a model's random groups
CELL, POOL = 0.2, 30


def to_write(study: Study, sizes: Mapping[str, int | None]) -> dict[str, float]:
    """Return about how many megabytes a run of the whole study writes: "downloads", "stores" and "results".

    Parameters
    ----------
    study
        The study; what exists of it already is not counted.
    sizes
        Megabytes of each download (`run_messages.download_sizes`); None, for an unknown size, counts as nothing.
    """
    raw, paths = study.embeddings / "raw", study.paths
    new_models = [model for model in study.models if not paths.model_file(model).is_file()]
    new_cells = sum(not paths.cell_file(cell).is_file() for cell in study.grid.cells.values())
    return {
        # what a stopped run has of a download is kept
        "downloads": sum(max((size or 0) - stores.size_of(raw / name), 0) for name, size in sizes.items()),
        "stores": sum(
            stores.megabytes(study, model, unknown=0)
            for model in new_models
            if not (study.store_folder(model) / model / "vectors.npy").is_file()
        ),
        "results": CELL * new_cells
        + POOL * sum(not paths.pool_file(model).is_file() for model in new_models),
    }


def check(study: Study, parts: Mapping[str, float]) -> None:
    """Raise BiasgridError if the disk does not have room for what a run writes (`to_write`)."""
    places: Mapping[str, Path] = {
        "downloads": study.embeddings,
        "stores": study.embeddings,
        "results": study.results,
    }
    disks: dict[int, list[str]] = defaultdict(list)
    for part in parts:
        disks[os.stat(_there(places[part])).st_dev].append(part)
    for on_it in disks.values():
        megabytes = sum(parts[part] for part in on_it)
        room = shutil.disk_usage(_there(places[on_it[0]])).free / 1e6
        if megabytes > room:
            raise BiasgridError(
                f"{study.name} needs {size_text(megabytes)} on the disk of {places[on_it[0]]} "
                f"({described({part: parts[part] for part in on_it})}), which has {size_text(room)} free"
            )


def described(parts: Mapping[str, float]) -> str:
    """The sizes of the parts that are any."""
    return ", ".join(f"{part} {size_text(size)}" for part, size in parts.items() if size >= 1)


def _there(folder: Path) -> Path:
    """The folder, or the first above it that is there."""
    return next(path for path in (folder, *folder.absolute().parents) if path.exists())
