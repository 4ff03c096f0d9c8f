"""Sentence templates with a place for a word, in which an encoder reads the word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ...core.configs import read_json
from ...core.errors import BiasgridError, quote
from ...core.resources import find_file

FOLDER = "data/templates"
AS_IT_IS = "{}"  # the template of a word or a sentence without a context
WORD, WITH_ARTICLE, PLURAL = "{}", "{a}", "{s}"
PLACES = (WORD, WITH_ARTICLE, PLURAL)
NAME, OTHER = "name", "other"  # parts of speech without a list of words: capitalised words, and all others


class PlacedWord(NamedTuple):
    """A word in a sentence: the characters from `start` to `end` (exclusive) are the word."""

    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """Return the word."""
        return self.text[self.start : self.end]

    def is_known(self, is_unknown: Sequence[bool]) -> bool:
        """Return whether an encoder knows the word, given which of its tokens are the unknown one.

        All tokens of a known word are known; for a sentence, at least one token must be known.
        """
        is_sentence = self.word == self.text and " " in self.text.strip()
        return not (all(is_unknown) if is_sentence else any(is_unknown))


@dataclass(frozen=True)
class Templates:
    """Sentences with one place for a word: `{}` is the word, `{a}` the word after "a" or "an", `{s}` its plural.

    Attributes
    ----------
    by_part
        Part of speech -> its templates; "other" has the templates of all remaining words.
    parts
        Word -> part of speech. A capitalised word that is not in it is a "name" if that part of speech
        exists.
    plurals
        Word -> plural, for irregular plurals.
    capitalize
        Whether a sentence begins with a capital letter.
    """

    by_part: Mapping[str, tuple[str, ...]]
    parts: Mapping[str, str]
    plurals: Mapping[str, str]
    capitalize: bool = False

    @classmethod
    def of(cls, source: Any, where: str = "templates") -> Templates:
        """Make templates from a list of templates, the name of a file in data/templates, or such a file's
        contents.

        None means words without a context.

        Raises
        ------
        BiasgridError
            One line that begins with `where`.
        """
        if source is None:
            return cls({OTHER: (AS_IT_IS,)}, {}, {})
        if isinstance(source, (list, tuple)):
            return cls({OTHER: _check(source, where)}, {}, {})
        if isinstance(source, str):
            where, source = f"{where}: {source}", _file(source, where)
        if not isinstance(source, Mapping):
            raise BiasgridError(
                f"{where}: {quote(source)} is no list of templates, and no name of a file of them"
            )
        templates = source.get("templates")
        if isinstance(templates, list):
            templates = {OTHER: templates}
        if not isinstance(templates, Mapping) or OTHER not in templates:
            raise BiasgridError(f"{where}: has no list 'templates', or no templates of {OTHER!r} words in it")
        by_part = {part: _check(texts, f"{where}: {part}") for part, texts in templates.items()}
        words, plurals = source.get("words", {}), source.get("plurals", {})
        if not isinstance(words, Mapping) or not isinstance(plurals, Mapping) or set(words) - set(by_part):
            raise BiasgridError(f"{where}: 'words' must map parts of speech that have templates to words")
        parts = {word: part for part, part_words in words.items() for word in part_words}
        return cls(by_part, parts, dict(plurals), bool(source.get("capitalize", False)))

    @property
    def contexts(self) -> int:
        """Return the number of templates of every word.

        Raise BiasgridError if it is not the same for all words.
        """
        numbers = set(map(len, self.by_part.values()))
        if len(numbers) > 1:
            raise BiasgridError(
                f"templates: words of some parts of speech have {min(numbers)} and of others {max(numbers)}; to keep "
                "a vector per template, every word needs as many"
            )
        return numbers.pop()

    def record(self) -> dict[str, Any]:
        """Return the input of `of`, with all settings on which the sentences depend."""
        words = {
            part: [w for w, word_part in self.parts.items() if word_part == part] for part in self.by_part
        }
        return {
            "templates": {part: list(texts) for part, texts in self.by_part.items()},
            "words": {part: part_words for part, part_words in words.items() if part_words},
            "plurals": dict(self.plurals),
            "capitalize": self.capitalize,
        }

    def placed(self, word: str) -> list[PlacedWord]:
        """Return the word in each of its templates."""
        part = self.parts.get(word)
        if part is None:
            part = NAME if NAME in self.by_part and word[:1].isupper() else OTHER
        return [self._place(text, word) for text in self.by_part[part]]

    def _place(self, template: str, word: str) -> PlacedWord:
        place = next(place for place in PLACES if place in template)
        prefix, suffix = template.split(place)
        form = self.plurals.get(word) or plural(word) if place == PLURAL else word
        if place == WITH_ARTICLE:
            prefix += "an " if word[:1].lower() in tuple("aeiou") else "a "
        text = prefix + form + suffix
        if self.capitalize and text[:1].upper() != text[:1] and len(text[:1].upper()) == 1:
            text = text[0].upper() + text[1:]
        return PlacedWord(text, len(prefix), len(prefix) + len(form))


def plural(word: str) -> str:
    """Return the plural of a regular English noun."""
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "z", "ch", "sh")) else f"{word}s"


def template_names(folder: Path | None = None) -> list[str]:
    """Return the names of the template files."""
    return sorted(path.stem for path in (folder or find_file(FOLDER)).glob("*.json"))


def _file(name: str, where: str) -> Any:
    path = find_file(f"{FOLDER}/{name}.json")
    if "/" in name or not path.is_file():
        raise BiasgridError(
            f"{where}: {quote(name)} is no file of {FOLDER}; allowed: a list of templates, or one of "
            f"{', '.join(template_names())}"
        )
    return read_json(path)


def _check(texts: Any, where: str) -> tuple[str, ...]:
    if not isinstance(texts, (list, tuple)) or not texts:
        raise BiasgridError(f"{where}: expected a list of templates such as 'This is {{}}.'")
    for text in texts:
        if not isinstance(text, str) or sum(text.count(place) for place in PLACES) != 1:
            raise BiasgridError(
                f"{where}: {quote(text)} is no template; allowed: texts in which {{}}, {{a}} or {{s}} stands once"
            )
    if len(set(texts)) < len(texts):
        raise BiasgridError(f"{where}: a template occurs twice")
    return tuple(texts)
