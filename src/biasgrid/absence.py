"""What could not be downloaded: how that is recorded, and what a study is without it.

The step of an archive that its host does not give records why, in the place of its manifest; the step of the store
of a model that is made of it, in the place of the model's record. Each further step of this model writes such a
record in place of its results, and opens nothing. What is made of several models - tables, figures, the page - is
made as in a study without this one (`Study.present`): it is absent, which is no loss of words, so that no number of
the others depends on it. Tables that have a `status` say which rows they lack.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

STATUS = "not_downloaded"
MEANING = "not measured: could not be downloaded"
_BEGINNING = f'{{"status": "{STATUS}", '


def record_of(reasons: Mapping[str, str]) -> str:
    """What a file holds in place of what would be in it: archive -> why it could not be had."""
    return f"{_BEGINNING}{json.dumps({'reasons': reasons}, ensure_ascii=False)[1:]}\n"


def reasons_in(path: Any) -> dict[str, str]:
    """Archive -> why it could not be had, from a file that holds this in place of what would be in it; {} of any
    other file, and where there is none."""
    if not isinstance(path, str | Path):  # of a study in memory
        return {}
    try:
        with open(path, "rb") as file:
            if file.read(len(_BEGINNING)) != _BEGINNING.encode():
                return {}
            return dict(json.loads(_BEGINNING + file.read().decode())["reasons"])
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def models_of(study: Any) -> dict[str, str]:
    """The models of a study that could not be downloaded -> why."""
    reasons = {key: reasons_in(study.paths.model_file(key)) for key in study.config.models}
    return {key: "; ".join(of_model.values()) for key, of_model in reasons.items() if of_model}


def benchmarks_of(study: Any) -> dict[str, str]:
    """The archives of benchmarks of a study that could not be downloaded -> why."""
    reasons = {name: reasons_in(study.paths.source_file(name)) for name in study.config.benchmarks}
    return {name: "; ".join(of_archive.values()) for name, of_archive in reasons.items() if of_archive}


def without_files(entry: Any, archives: Mapping[str, Any]) -> Any:
    """What an evaluation is of, without the files that are in these archives ("ARCHIVE:FILE")."""
    if not archives:
        return entry
    if isinstance(entry, Mapping):
        return {key: without_files(v, archives) for key, v in entry.items() if not _is_in(v, archives)}
    if isinstance(entry, list):
        return [without_files(v, archives) for v in entry if not _is_in(v, archives)]
    return entry


def _is_in(value: Any, archives: Mapping[str, Any]) -> bool:
    return isinstance(value, str) and ":" in value and value.partition(":")[0] in archives
