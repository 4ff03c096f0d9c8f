"""Models by their names on a hub, downloaded once into the cache and read offline afterwards."""

from __future__ import annotations

import re
from pathlib import Path

from ..core.errors import InputError, quote
from .fetch_by_name import fetch_archive
from .language.formats import TRANSFORMERS
from .sources import check
from .sources.hub import NAME


def fetch_hub_model(name: str, revision: str | None = None) -> Path:
    """Return the folder of a model on a hub (huggingface.co, or HF_ENDPOINT), downloaded with a notice if missing.

    Parameters
    ----------
    name
        Owner and name, as in "google-bert/bert-base-uncased".
    revision
        A commit, or a tag or branch, which is fixed to its commit at the first download; None for the main
        branch.

    Raises
    ------
    InputError
        The name does not have the form of a name on a hub.
    NetworkError, DiskError, BiasgridError
        The model cannot be fetched or kept, or does not have weights as safetensors.
    """
    if not isinstance(name, str) or not re.fullmatch(NAME[0], name, re.ASCII):
        raise InputError(
            f"{quote(name)}: no such folder, and no name on a hub, which has the form owner/name"
        )
    source = {"type": TRANSFORMERS, "name": name} | ({"revision": revision} if revision is not None else {})
    check(source)
    # Names on a hub never contain "--", and each revision has a folder of its own.
    key = "--".join([*name.split("/"), *([revision] if revision is not None else [])])
    return fetch_archive(name, {"source": source}, key)
