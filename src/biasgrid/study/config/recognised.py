"""Detection of a user's file or folder, and the entries for it in a config."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from ...core.configs import read_json
from ...core.errors import BiasgridError
from ...models.corpus.text import blocks
from ...models.kinds import REGISTRY as KINDS
from ...models.kinds import VECTORS, Kind
from ...models.language.architectures import ENCODER, read_kind
from ...models.language.formats import SCORES, SENTENCE_TRANSFORMERS, TRANSFORMERS
from ...models.language.scores import read_table
from ...models.readers import REGISTRY as READERS
from ...models.readers.pins import hash_files, pin_of
from ...models.shipped_sources import shipped_models
from ...models.sources.pretrained import MODULES
from ...models.store import MODEL
from .encoded import ENCODED
from .load import named_model

TEMPLATES = "bleached"  # the sentences in which an encoder reads a word
NO_PROSE = (".csv", ".yaml", ".yml")  # suffixes of text files that are not a corpus
PAIRS = 3  # pairs of sentences in the query for a table of scores


@dataclass(frozen=True)
class Recognised:
    """A model that a user names.

    Parameters
    ----------
    entry
        Its entry in the list `models` of a config: a name, a path, or a mapping.
    encoders
        The entry under `encoders` that it needs.
    pairs
        For a table of scores, some of its sentences.
    """

    entry: Any
    encoders: dict[str, Any] = field(default_factory=dict)
    pairs: list[tuple[str, str]] = field(default_factory=list)


def recognise(name: str, where: str) -> Recognised:
    """Return the entries of a model that comes with biasgrid, or of a file or folder of any kind.

    Raises
    ------
    BiasgridError
        The name is neither of these, or a study cannot be run on the file or folder.
    """
    ((key, entry),) = named_model(name, Path("."), where).items()
    path = Path(name).expanduser()
    if name in shipped_models():
        return Recognised(name)
    try:
        if encoder := _encoder_type(path):
            pool = "sentence" if encoder == SENTENCE_TRANSFORMERS else "word"
            encoder_key = f"{key}-encoder"  # a model and an encoder must have different names
            source = {"type": ENCODED, "encoder": encoder_key, "templates": TEMPLATES, "pool": pool}
            encoders = {encoder_key: {"source": {"type": encoder, "path": name}}}
            return Recognised({key: {"label": key, "source": source}}, encoders)
        kind, format = _kind_of(path)
    except BiasgridError as error:
        raise BiasgridError(f"{where}: {error}") from None
    if path.is_dir() and format == TRANSFORMERS and not (path / MODEL).exists():
        entry["source"]["type"] = TRANSFORMERS
    elif path.is_dir() and not (path / MODEL).exists():
        raise BiasgridError(
            f"{where}: {name}: is a folder of format {format}; convert it first: biasgrid convert --input {name} "
            f"--output models/{key}, and name models/{key}"
        )
    if kind.name != VECTORS:
        return Recognised(
            {key: {"label": key, "kind": kind.name, "source": entry["source"]}},
            pairs=_pairs(path) if format == SCORES and path.is_file() else [],
        )
    if READERS[format].pickled:
        entry["source"]["sha256"] = pin_of(hash_files(path))
        return Recognised({key: entry})
    return Recognised(name)


def _encoder_type(path: Path) -> str:
    """Return the type of the source of an encoder's folder; empty if it is not an encoder."""
    if (path / MODULES).is_file():
        return SENTENCE_TRANSFORMERS
    if (path / "config.json").is_file() and not (path / MODEL).exists() and read_kind(path) == ENCODER:
        return TRANSFORMERS
    return ""


def _kind_of(path: Path) -> tuple[Kind, str]:
    """Return the kind of a file or folder, and its format. Raise BiasgridError if it is of no kind."""
    if (path / MODEL).is_file():
        record = read_json(path / MODEL)
        kind = KINDS.find(record.get("kind", VECTORS) if isinstance(record, dict) else VECTORS)
        return kind, str(kind.check_file(path))
    errors: dict[str, BiasgridError] = {}
    # Try texts last, as almost any file is a text.
    for kind in sorted(KINDS.values(), key=lambda kind: kind.text):
        try:
            format = kind.check_file(path)
        except BiasgridError as error:
            errors[kind.name] = error
            continue
        if format is not None and not (kind.text and not _is_prose(path)):
            return kind, format
    looks_like_network = path.is_dir() and (path / "config.json").is_file()
    raise errors["language_model" if looks_like_network or path.suffix in (".gguf", ".csv") else VECTORS]


def _is_prose(path: Path) -> bool:
    """Return whether a file is prose: most of its words have letters, and it is not a table, config, JSON or
    markup.

    This excludes damaged files of vectors, files of queries and web pages, which are also texts.
    """
    if path.suffix in NO_PROSE:
        return False
    words = [word for part, _ in islice(blocks(path, "tokens"), 1) for word in part]
    if not path.is_file() or words[0][0] in "{[<":
        return False
    return sum(word[-1].isdigit() for word in words) < len(words) / 2


def _pairs(table: Path) -> list[tuple[str, str]]:
    """Return pairs of the first sentences of a table of scores."""
    texts = list(dict.fromkeys(sentence.text for sentence in read_table(table)))[: 2 * PAIRS]
    if len(texts) < 2:
        raise BiasgridError(f"{table}: has one sentence; a study compares pairs of sentences")
    return list(zip(texts[::2], texts[1::2], strict=False))
