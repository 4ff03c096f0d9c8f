"""Kinds of sources: their keys, the allowed values, and the function that fetches."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import BiasgridError
from ...core.web_addresses import has_user

# Patterns of values; the patterns that several kinds use come with a description in words.
SHA256 = r"[0-9a-f]{64}", "64 lower-case hex digits"
MD5 = r"[0-9a-f]{32}", "32 lower-case hex digits"
COMMIT = r"[0-9a-f]{40}"
ADDRESS = r"https?://\S{1,2000}", "an http or https address"
FILENAME = r"[A-Za-z0-9_][^/\\\x00-\x1f\x7f]{0,199}"


@dataclass(frozen=True)
class Key:
    """One key of a kind of source, whose value is a text: never a client's option, nor a path outside raw/.

    Parameters
    ----------
    meaning
        A phrase that describes it.
    pattern
        A regular expression (ASCII) that the whole text must match; "" for any text that is not empty.
    allowed
        The pattern in words.
    required
        Whether a source must have the key.
    parts
        Whether the value may be a list, with one text for each part of a file.
    """

    meaning: str
    pattern: str = ""
    allowed: str = "a text"
    required: bool = True
    parts: bool = False

    def check(self, key: str, value: object) -> None:
        """Raise BiasgridError for a value that the key does not allow."""
        if self.parts and isinstance(value, list):
            if len(value) < 2:
                raise BiasgridError(f"source: {key} is a list for a file in parts, and lists two at least")
            for part in value:
                self._check_text(key, part)
        else:
            self._check_text(key, value)

    def _check_text(self, key: str, value: object) -> None:
        if not isinstance(value, str) or not value:
            raise BiasgridError(f"source: {key} must be a text (quote it in YAML), not {value!r:.200}")
        if self.pattern and not re.fullmatch(self.pattern, value, re.ASCII):
            raise BiasgridError(f"source: {key} must be {self.allowed}, not {value!r:.200}")
        if self.pattern == ADDRESS[0] and has_user(value):
            raise BiasgridError(
                f"source: {key} must not hold a user name or a password, which results would show: put them into "
                f"~/.netrc, or into a file that the environment variable NETRC names"
            )


@dataclass(frozen=True)
class Switch(Key):
    """A key whose value is true or false."""

    def check(self, key: str, value: object) -> None:
        if not isinstance(value, bool):
            raise BiasgridError(f"source: {key} must be true or false, not {value!r:.200}")


@dataclass(frozen=True)
class Count(Key):
    """A key whose value is a whole number of at least 1."""

    def check(self, key: str, value: object) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise BiasgridError(f"source: {key} must be a whole number from 1 on, not {value!r:.200}")


@dataclass(frozen=True)
class Source:
    """A kind of source. It is one file in this package (or of a plugin) with a tuple `SOURCES`.

    Parameters
    ----------
    name
        A source's `type`, such as "pypi".
    meaning
        A phrase that describes it.
    keys
        The keys of a source, apart from `type`.
    fetch
        A function of a source, a folder and, as keywords, `progress` (bool: whether to show progress) and
        `limits` (`Limits`). It puts the source's files into the folder and returns the sha256 of each by its
        name there. It raises BiasgridError if they cannot be fetched. It may use an existing file if its hash
        is right.
    check
        A function that raises BiasgridError for a source whose keys are valid one by one, but not together.
    pins
        A function of a source that returns the files for which it has, or could have, a sha256: name in the
        folder -> the keys that lead to the sha256. Other files are trusted when they are first seen.
    in_place
        A function of a source that returns whether its files stay where the user has put them. `path` is
        their location, and `fetch` returns their hashes by their paths.
    read_files
        A function of a source in place that returns the existing files from which it is read.
    look
        A function of a source in place that raises BiasgridError, like `fetch`, for files that are missing or
        not of the right type. It does not read them.
    """

    name: str
    meaning: str
    keys: Mapping[str, Key]
    fetch: Callable[..., dict[str, str]]
    check: Callable[[Mapping[str, Any]], None] = lambda source: None
    pins: Callable[[Mapping[str, Any]], Mapping[str, tuple[str, ...]]] = lambda source: {}
    in_place: Callable[[Mapping[str, Any]], bool] = lambda source: False
    read_files: Callable[[Mapping[str, Any]], list[Path]] = lambda source: []
    look: Callable[[Mapping[str, Any]], object] = lambda source: None


SHA256_KEY = Key("the file's sha256", *SHA256, required=False)
