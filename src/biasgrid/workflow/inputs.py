"""What a dry run finds wrong with a study's inputs before any work is done."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..core.errors import BiasgridError
from ..core.extras import require_for
from ..core.resources import find_file
from ..models.building import archives_of, check_extra
from ..models.kinds import REGISTRY as KINDS
from ..models.kinds import kind_of
from ..models.language.architectures import read_kind
from ..models.language.formats import TRANSFORMERS
from ..models.readers import REGISTRY as READERS
from ..models.sources import REGISTRY as SOURCES
from ..study.study import Study


def problems(study: Study, archives: Collection[str], models: Collection[str]) -> list[str]:
    """Return what would fail of these archives and models, which a run is about to make, a line each.

    Packages that are not installed; files and folders of the user that are missing, unreadable or of another kind, as
    far as their names and beginnings say. What has to be downloaded is not looked at.
    """
    return list(dict.fromkeys([*_of_archives(study, archives), *_of_models(study, models)]))


def _of_archives(study: Study, archives: Collection[str]) -> Iterator[str]:
    for name in archives:
        try:
            SOURCES[(source := study.sources[name]["source"])["type"]].look(source)
        except (BiasgridError, OSError) as error:
            yield f"{name}: {error}"


def _of_models(study: Study, models: Collection[str]) -> Iterator[str]:
    for key in models:
        model = study.models[key]
        try:
            check_extra(key, model)
            _check_files(key, model)
        except (BiasgridError, OSError) as error:
            # a file's name may begin as the model's key does
            is_named = str(error).startswith((f"{key}:", f"{key},"))
            yield str(error) if is_named else f"{key}: {error}"


def _check_files(key: str, model: Mapping[str, Any]) -> None:
    """Look into the files that a model is made from. Raise BiasgridError for those of another kind."""
    kind, made_here = kind_of(model), model["source"]["type"]
    for source in archives_of(key, model).values():
        if "path" not in source or not SOURCES[source["type"]].in_place(source):
            continue
        try:
            SOURCES[source["type"]].look(source)
        except BiasgridError:
            continue  # said of the archive
        path = find_file(Path(source["path"]).expanduser())
        if made_here == "encoded":
            if source["type"] == TRANSFORMERS:
                read_kind(path)
        elif made_here in ("trained", "shuffled"):
            if "encoder" not in source:
                KINDS["corpus"].check_file(path)
        elif source["type"] != "answers":
            format = kind.check_file(path, model.get("format"))
            require_for(format or "", key)
            if (reader := READERS.get(format or "")) and reader.pickled and "sha256" not in source:
                raise BiasgridError(
                    f"{path}: is a pickle, a format that can hold code: pin its sha256 in the model's source; no "
                    "code is run either way"
                )
