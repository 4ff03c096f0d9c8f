"""Source: answers of a model that runs elsewhere (`biasgrid score --import`); referenced, not copied."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.digests import digest
from ...core.errors import BiasgridError
from ..download import Limits
from ..language.answers import HOW
from ..language.formats import ANSWERS
from .source import Key, Source, Switch


def look(source: Mapping[str, Any]) -> Path:
    """Return the file of answers. Raise BiasgridError if it is missing."""
    path = Path(source["path"]).expanduser()
    if not path.is_file():
        raise BiasgridError(f"{path} is not there: {HOW}")
    return path


def fetch(source: Mapping[str, Any], folder: Path, *, progress: bool, limits: Limits) -> dict[str, str]:
    return {source["path"]: digest(look(source))}


def read_files(source: Mapping[str, Any]) -> list[Path]:
    path = Path(source["path"]).expanduser()
    return [path] if path.is_file() else []


SOURCES = (
    Source(
        name=ANSWERS,
        meaning="answers of a model behind an API or on another machine (`biasgrid score --export`). The model "
        "is a language model or an encoder",
        keys={
            "path": Key(
                "the file of answers, such as answers/my-model.jsonl: `biasgrid score --import` writes it"
            ),
            "masked": Switch(
                "whether a language model predicts words that are masked, from both sides; left out: it is causal, "
                "and predicts the next word",
                required=False,
            ),
        },
        fetch=fetch,
        in_place=lambda source: True,
        read_files=read_files,
        look=look,
    ),
)
