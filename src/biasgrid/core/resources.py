"""Files that come with biasgrid (word sets, query files, study configs, the workflow), and the folder for downloads.

In a checkout they are in its top-level folders; the wheel contains a copy of these (pyproject.toml: hatch).
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
SHARED = PACKAGE / "share"  # their folder in the wheel
PLACE = "BIASGRID_EMBEDDINGS"  # environment variable with the folder of archives and stores of all studies


def resource(relative: str | Path) -> Path:
    """Return the path of a file or folder that comes with biasgrid.

    Parameters
    ----------
    relative
        Its path in a checkout, such as "data/word_sets" or "Snakefile".

    Returns
    -------
    pathlib.Path
        Its path in the checkout that this code runs from, or else in the installed package. It need not exist.
    """
    # An editable install may leave parts of the wheel's folder elsewhere, so use the one next to this file.
    root = SHARED if SHARED.is_dir() else PACKAGE.parents[1]
    return root / relative


def find_file(path: str | Path, root: Path = Path(".")) -> Path:
    """Return the file or folder that a config's path means: the user's own, or else one that comes with biasgrid.

    Parameters
    ----------
    path
        The path as in the config.
    root
        Folder that the config's paths are relative to.

    Returns
    -------
    pathlib.Path
        The path below `root` if it exists there, or if it exists nowhere.
    """
    user_path = root / path
    if os.path.exists(user_path) or Path(path).is_absolute() or ".." in Path(path).parts:
        return user_path
    shipped_path = resource(path)
    # Path.exists would raise an error for a name that is too long.
    return shipped_path if os.path.exists(shipped_path) else user_path


def did_you_mean_file(path: str | Path) -> str:
    """Return the question for the nearest name of a missing file or folder, after "; ", or "" if none is near.

    Names in the same folder count, including files that come with biasgrid. They are compared without their
    suffixes, which many files share.
    """
    path = Path(path)
    folders = [path.parent, *([] if path.is_absolute() else [resource(path.parent)])]
    names: set[str] = set()
    for folder in folders:
        with suppress(OSError):
            names.update(os.listdir(folder))
    stems = {name: name.partition(".")[0] or name for name in sorted(names)}
    nearest = get_close_matches(path.name.partition(".")[0] or path.name, stems.values(), 1)
    same = [name for name, stem in stems.items() if stem in nearest]
    same.sort(key=lambda name: not name.endswith(path.suffix))
    return f"; did you mean {same[0]!r}?" if same else ""


def cache_folder() -> Path:
    """Return the folder of downloads: BIASGRID_EMBEDDINGS, a checkout's data/embeddings, or the user's cache."""
    if place := os.environ.get(PLACE):
        return Path(place).expanduser()
    checkout = resource("data")
    if (checkout.parent / "pyproject.toml").is_file():
        return checkout / "embeddings"
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "biasgrid" / "embeddings"
