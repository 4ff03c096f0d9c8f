"""The tests of SEAT (May, Wang, Bordia, Bowman, Rudinger, NAACL 2019), in the authors' own files.

Their licence is CC BY-NC 4.0, so they do not come with biasgrid: each is fetched when a study first names it.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...core.configs import read_json
from ...core.errors import BiasgridError, unknown_name
from ...core.resources import cache_folder, resource
from ...models.sources import fetch
from ...queries.word_set import WordSet

# The commit of 3 June 2019; the tests last changed on 2 March 2019.
COMMIT = "e3559fb669ca4832743b42fee715994c15c7f1af"
FOLDER = f"https://raw.githubusercontent.com/W4ngatang/sent-bias/{COMMIT}/tests"
TARGETS, ATTRIBUTES = ("targ1", "targ2"), ("attr1", "attr2")
# This prefix and the name of a file of words make the name of the file of their sentences.
SENTENCES = "sent-"


@lru_cache
def checksums() -> dict[str, str]:
    """Return the sha256 of each file, by the test's name."""
    with open(resource("data/seat/files.csv"), encoding="utf-8", newline="") as file:
        return {row["name"]: row["sha256"] for row in csv.DictReader(file)}


def seat_sets(name: str, where: str) -> tuple[dict[str, WordSet], dict[str, WordSet]]:
    """Return the target sets and the attribute sets of a test.

    Sentences are linked to the words of the corresponding test of words.

    Raises
    ------
    BiasgridError
        One line that begins with `where`: the test does not exist, or its file is unavailable or not the
        authors' one.
    """
    try:
        record = _file(name)
        words_name = name.removeprefix(SENTENCES)
        words = _file(words_name) if words_name != name else {}
    except BiasgridError as error:
        raise type(error)(f"{where}: seat: {error}") from None
    targets, attributes = (
        {
            label: WordSet.unwarned(label, texts, _words_of(texts, words[role][1]) if words else ())
            for role in side
            for label, texts in [record[role]]
        }
        for side in (TARGETS, ATTRIBUTES)
    )
    alone = sum(
        of == text
        for s in (*targets.values(), *attributes.values())
        for of, text in zip(s.of, s, strict=False)
    )
    if alone:
        warnings.warn(
            f"{name}: {alone} sentences have none of the words of {words_name}; each is resampled on its own",
            stacklevel=2,
        )
    return targets, attributes


def _file(name: str) -> dict[str, tuple[str, list[str]]]:
    """Return the name and the contents of each set, by the set's role."""
    if name not in checksums():
        raise BiasgridError(unknown_name("test", name, checksums()))
    source = {
        "type": "url",
        "url": f"{FOLDER}/{name.replace('+', '%2B')}.jsonl",
        "filename": f"{name}.jsonl",
        "sha256": checksums()[name],
    }
    # The name of an archive cannot contain "+".
    key = f"seat.{name.replace('+', '.')}"
    return _read(fetch(key, source, cache_folder() / "raw", shared=True, progress=False))


@lru_cache(maxsize=64)
def _read(path: Path) -> dict[str, tuple[str, list[str]]]:
    record: Any = read_json(path)  # one object, despite the suffix .jsonl
    return {role: (record[role]["category"], record[role]["examples"]) for role in (*TARGETS, *ATTRIBUTES)}


def _words_of(sentences: Iterable[str], words: Sequence[str]) -> list[str]:
    """Return the word that each sentence contains; if it contains none of them, the sentence."""
    # Words come before plurals, so that "hers" is itself and not a plural of "her".
    patterns = [
        (word, re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, forms(word)))})(?!\w)", re.IGNORECASE))
        for forms in (_itself, _plurals, _singulars)
        for word in sorted(words, key=len, reverse=True)
    ]
    return [
        next((word for word, pattern in patterns if pattern.search(sentence)), sentence)
        for sentence in sentences
    ]


def _itself(word: str) -> list[str]:
    return [word]


def _plurals(word: str) -> list[str]:
    return [f"{word}s", f"{word}es", f"{word}ren", re.sub("y$", "ies", word), re.sub(r"man\b", "men", word)]


def _singulars(word: str) -> list[str]:
    return [word.removesuffix("s"), word.removesuffix("ren")]
