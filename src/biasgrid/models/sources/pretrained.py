"""Source: a model for transformers or sentence-transformers, by its name on a model hub, or from a user's folder."""

from __future__ import annotations

import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import BaseModel, Field

from ...core.digests import digest
from ...core.errors import BiasgridError, NetworkError
from ...core.resources import find_file
from ..download import Limits
from ..download.hub_address import hub_address
from ..download.unfinished import Size
from ..language.files import FILES, INDEX, WEIGHTS
from ..language.formats import SENTENCE_TRANSFORMERS, TRANSFORMERS
from .addresses import fetch_file
from .first_seen import FirstSeen
from .hub import BASE, NAME, REVISION
from .source import COMMIT, SHA256, Key, Source

PRETRAINED = TRANSFORMERS, SENTENCE_TRANSFORMERS
MAIN = "main"  # the default branch
LONGEST_LISTING = 10 << 20  # bytes
MOST_FILES = 1000
MODULES = "modules.json"
NETWORKS = ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
OF_SENTENCES = {
    *(MODULES, "config_sentence_transformers.json"),
    *(f"sentence_{network}_config.json" for network in NETWORKS),
}
MODULE = r"\d{1,3}_[A-Za-z]\w*"  # a folder of a module, such as 1_Pooling
SHARD = r"model-\d{5}-of-(\d{5})\.safetensors"
# Files of weights that are never read.
PICKLED = {"pytorch_model.bin", "pytorch_model.bin.index.json", "tf_model.h5", "flax_model.msgpack"}


class _Stored(BaseModel):
    sha256: Annotated[str, Field(pattern=rf"^{SHA256[0]}$")]


class _File(BaseModel):
    rfilename: str
    size: Size | None = None
    lfs: _Stored | None = None


class _Listing(BaseModel):
    """A hub's description of a repository at a revision."""

    sha: Annotated[str, Field(pattern=rf"^{COMMIT}$")]
    siblings: list[_File]


def choose_files(names: Iterable[str], where: str, source_type: str) -> list[str]:
    """Choose the files that a model is read from, among the paths in a repository or folder.

    Only weights as safetensors are chosen. Raise BiasgridError if a file that the model needs is missing.
    """
    with_modules = source_type == SENTENCE_TRANSFORMERS
    files_of = defaultdict(set)
    for name in names:
        folder, slash, file = name.rpartition("/")
        if not slash or (with_modules and re.fullmatch(MODULE, folder, re.ASCII)):
            files_of[folder].add(file)
    main_file = MODULES if with_modules else "config.json"
    if main_file not in files_of[""]:
        raise BiasgridError(f"{where} has no {main_file}: it is no model for {source_type}")
    chosen, has_weights = [], False
    for folder, files in sorted(files_of.items()):
        weights = _weights(files, where)
        has_weights |= bool(weights)
        if not weights and (pickled := sorted(files & PICKLED)):
            raise BiasgridError(
                _no_weights(where, f", and {folder and folder + '/'}{pickled[0]} is not read")
            )
        beside = files & {*FILES, *(OF_SENTENCES if with_modules else ())}
        chosen += [f"{folder}/{file}".lstrip("/") for file in (*sorted(beside), *weights)]
    if not has_weights:
        raise BiasgridError(_no_weights(where, ""))
    if len(chosen) > MOST_FILES:
        raise BiasgridError(f"{where} has {len(chosen)} files of a model; at most {MOST_FILES} are read")
    return chosen


def _weights(files: set[str], where: str) -> list[str]:
    """Return the files of the weights as safetensors, as one file or as shards with their index."""
    if WEIGHTS in files or INDEX not in files:
        return [WEIGHTS] if WEIGHTS in files else []
    shards = {file: int(match[1]) for file in files if (match := re.fullmatch(SHARD, file, re.ASCII))}
    if set(shards.values()) != {len(shards)}:
        raise BiasgridError(f"{where} has {len(shards)} shards of weights, which are not those of {INDEX}")
    return [INDEX, *sorted(shards)]


def _no_weights(where: str, why: str) -> str:
    return (
        f"{where} has no weights as safetensors ({WEIGHTS}){why}; save the model so, or name a .gguf file (type: hub "
        "or file)"
    )


def fetch(source: Mapping[str, Any], folder: Path, *, progress: bool, limits: Limits) -> dict[str, str]:
    if "path" in source:
        return _hashes(source)
    try:
        return _download(source, folder, progress, limits)
    except NetworkError as error:
        raise type(error)(f"{error}{_hint(str(error), source['name'])}") from None


def look(source: Mapping[str, Any]) -> dict[str, Path]:
    """Return the files of a folder that a source names, by their paths in it; none for a name on a hub.

    Raise BiasgridError if the folder is missing, or lacks a file that the model needs.
    """
    if "path" not in source:
        return {}
    place = find_file(Path(source["path"]).expanduser())
    if not place.is_dir():
        raise BiasgridError(f"{place} is {'no folder' if place.exists() else 'not there'}")
    return {file: place / file for file in choose_files(_names(place), str(place), source["type"])}


def _hashes(source: Mapping[str, Any]) -> dict[str, str]:
    return {f"{source['path']}/{file}": digest(path) for file, path in look(source).items()}


def read_files(source: Mapping[str, Any]) -> list[Path]:
    try:
        return list(look(source).values())
    except (OSError, BiasgridError):  # `fetch` reports the error
        return []


def _names(place: Path) -> list[str]:
    """Return the paths of the files in a folder, and in subfolders that may be a module's, relative to the folder."""
    found = (file for pattern in ("*", "[0-9]*_*/*") for file in place.glob(pattern))
    return [file.relative_to(place).as_posix() for file in found if file.is_file()]


def _download(source: Mapping[str, Any], folder: Path, progress: bool, limits: Limits) -> dict[str, str]:
    base, name = source.get("base", hub_address()).rstrip("/"), source["name"]
    revision = source.get("revision", MAIN)
    address, first_seen = f"{base}/api/models/{name}/revision", FirstSeen(folder)
    # A branch stays at its first-seen commit.
    commit = first_seen.get(f"{address}/{revision}") or revision
    listing = _list(address, commit, folder, limits)
    siblings = {file.rfilename: file for file in listing.siblings}
    files = [siblings[file] for file in choose_files(siblings, name, source["type"])]
    if listing.sha != revision:
        warning = (
            f"%s: {revision} was first seen at commit %s, recorded in %s; name the commit as the revision"
        )
        first_seen.record(f"{address}/{revision}", listing.sha, warning)
    if progress:
        sizes = [file.size for file in files if file.size is not None]
        size = f"{sum(sizes) / 1e6:.0f} MB" if len(sizes) == len(files) else "size not known"
        print(f"{name}: {len(files)} files, {size}, from {base}", file=sys.stderr, flush=True)
    digests: dict[str, str] = {}
    for file in files:
        digests |= fetch_file(
            [f"{base}/{name}/resolve/{listing.sha}/{quote(file.rfilename)}"],
            folder,
            file.rfilename,
            pins=[{}],
            file_pins={"sha256": file.lfs.sha256} if file.lfs else {},
            progress=progress,
            limits=limits,
            warning="",
        )
    return digests


def _list(address: str, revision: str, folder: Path, limits: Limits) -> _Listing:
    """Get a hub's description of a repository at a revision. Raise NetworkError if the answer is invalid."""
    from ..download.file import download  # imported late, as planning a study does not need an HTTP client

    url = f"{address}/{revision}?blobs=true"
    limits = replace(limits, largest=LONGEST_LISTING, announced=LONGEST_LISTING)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=folder) as scratch:
        file = Path(scratch) / "listing.json"
        download(url, file, progress=False, limits=limits)
        try:
            listing = _Listing.model_validate_json(file.read_bytes())
        except ValueError:
            raise NetworkError(f"{url}: the answer is no list of a repository's files") from None
    if re.fullmatch(COMMIT, revision) and listing.sha != revision:
        raise NetworkError(f"{url}: the answer is of another commit, {listing.sha}")
    return listing


def _hint(problem: str, name: str) -> str:
    """Return advice for a network error."""
    if re.search(r"/api/\S+: the server answers 404|the server answers 40[13]", problem):
        return ": no such repository or revision, or it is not public (set HF_TOKEN to read one that is open to you)"
    if "cannot reach" in problem:
        return f"; {name} is not stored here: fetch it where there is a network, or give a folder (path)"
    return ""


def check(source: Mapping[str, Any]) -> None:
    if ("path" in source) == ("name" in source):
        raise BiasgridError(
            "source: needs a path (a folder of yours) or a name (owner/name on a hub), and not both"
        )
    if "path" in source and (others := sorted({"revision", "base"} & source.keys())):
        raise BiasgridError(f"source: {others[0]} is for a name on a hub, and this is a path")


KEYS = {
    "path": Key("the folder, which is read where it is", required=False),
    "name": Key("owner and name on a hub (huggingface.co, or that of HF_ENDPOINT)", *NAME, required=False),
    "revision": Key(
        f"the commit; or a tag or branch, by default {MAIN}, which stays at the commit that it was first seen at",
        *REVISION,
        required=False,
    ),
    "base": BASE,
}
SOURCES = tuple(
    Source(
        name=name,
        meaning=meaning,
        keys=KEYS,
        fetch=fetch,
        check=check,
        in_place=lambda source: "path" in source,
        read_files=read_files,
        look=look,
    )
    for name, meaning in {
        TRANSFORMERS: "a model that transformers loads, from a hub or a folder. The folder has the weights as "
        "safetensors, config.json and the tokenizer's files",
        SENTENCE_TRANSFORMERS: "an encoder that sentence-transformers loads, from a hub or a folder. It has its own "
        "modules and pooling (modules.json)",
    }.items()
)
