"""Models by the names that they have on a hub: fetched into the cache once, and read offline afterwards."""

from __future__ import annotations

import re
from pathlib import Path

from ..embeddings.language.formats import TRANSFORMERS
from ..embeddings.sources import check
from ..embeddings.sources.hub import NAME
from ..errors import InputError, quote
from .fetching import fetch_archive


def fetch_hub_model(name: str, revision: str | None = None) -> Path:
    """The folder of a model of a hub (huggingface.co, or that of HF_ENDPOINT), fetched after saying so on standard
    error if it is missing.

    Parameters
    ----------
    name
        Owner and name, as in "google-bert/bert-base-uncased".
    revision
        A commit, or a tag or branch, which stays at the commit that it was first seen at; None for the main branch.

    Raises
    ------
    InputError
        The name is none on a hub.
    NetworkError, DiskError, BiasgridError
        It cannot be fetched or kept, or has no weights as safetensors.
    """
    if not isinstance(name, str) or not re.fullmatch(NAME[0], name, re.ASCII):
        raise InputError(
            f"{quote(name)}: no such folder, and no name on a hub, which has the form owner/name"
        )
    source = {"type": TRANSFORMERS, "name": name} | ({"revision": revision} if revision is not None else {})
    check(source)
    # "--" stands in no name on a hub, and other revisions lie beside this one
    key = "--".join([*name.split("/"), *([revision] if revision is not None else [])])
    return fetch_archive(name, {"source": source}, key)
