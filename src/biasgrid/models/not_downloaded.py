"""Records of archives and models that could not be downloaded, and the study without them.

If an archive cannot be downloaded, its step records the reason in place of the archive's manifest. The step of a
model's store records it in place of the model's record. Each further step of this model writes such a record in
place of its results, and opens no files. Tables, figures and the report are made as in a study without the model
(`Study.present`). An absent model does not count as missing words, so no number of the other models depends on it.
Tables with a `status` column list the rows that could not be computed.
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
    """Return the text that replaces a file's content: archive -> the reason why it could not be downloaded."""
    return f"{_BEGINNING}{json.dumps({'reasons': reasons}, ensure_ascii=False)[1:]}\n"


def reasons_in(path: Any) -> dict[str, str]:
    """Read the reasons from a file written with `record_of`: archive -> why it could not be downloaded.

    Return an empty mapping for any other file, and if there is no file.
    """
    # In a study in memory, results are not in a file.
    if not isinstance(path, str | Path):
        return {}
    try:
        with open(path, "rb") as file:
            if file.read(len(_BEGINNING)) != _BEGINNING.encode():
                return {}
            return dict(json.loads(_BEGINNING + file.read().decode())["reasons"])
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def models_of(study: Any) -> dict[str, str]:
    """Return the models of a study that could not be downloaded -> the reason."""
    reasons = {key: reasons_in(study.paths.model_file(key)) for key in study.config.models}
    return {key: "; ".join(of_model.values()) for key, of_model in reasons.items() if of_model}


def benchmarks_of(study: Any) -> dict[str, str]:
    """Return the archives of benchmarks of a study that could not be downloaded -> the reason."""
    reasons = {name: reasons_in(study.paths.source_file(name)) for name in study.config.benchmarks}
    return {name: "; ".join(of_archive.values()) for name, of_archive in reasons.items() if of_archive}


def without_files(entry: Any, archives: Mapping[str, Any]) -> Any:
    """Return the options of an evaluation without the files in these archives ("ARCHIVE:FILE")."""
    if not archives:
        return entry
    if isinstance(entry, Mapping):
        return {key: without_files(v, archives) for key, v in entry.items() if not _is_in(v, archives)}
    if isinstance(entry, list):
        return [without_files(v, archives) for v in entry if not _is_in(v, archives)]
    return entry


def _is_in(value: Any, archives: Mapping[str, Any]) -> bool:
    return isinstance(value, str) and ":" in value and value.partition(":")[0] in archives
