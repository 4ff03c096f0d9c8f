"""What a debias method is, and the list of all of them.

A method is one file in this package. It holds a function of a model and words that returns a fitted `Transform`,
and a module-level `METHODS` tuple that says which of its arguments are words. Putting the file here is all it
takes: studies and the command line find it by itself.
"""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from threadpoolctl import threadpool_limits

from ..embeddings.model import Model
from ..errors import BiasgridError, not_allowed, quote, unknown_name
from ..limits import check_limits
from ..words import WordOptions
from .lookup import check_disjoint
from .transform import Transform

WordKind = Literal["words", "sets", "classes"]
UNTOUCHED = "none"  # stands for the debias method of a model as it is
LARGEST = 2**53  # beyond it floats skip whole numbers, and libraries give up
KINDS = {
    "words": "a list of words",
    "sets": "a list of lists of words",
    "classes": "a mapping of names to lists of words",
}


@dataclass(frozen=True)
class Method:
    """A debias method: its function, and what studies need to know of it.

    Attributes
    ----------
    function
        (model, **words, **parameters) -> Transform; all arguments but the model are passed by keyword.
    words
        Which of its arguments hold words, and how: "words", "sets" (lists of words that belong together, such as
        pairs) or "classes" (name -> words).
    aliases
        Its other names; WEFE's class comes first.
    seeded
        Whether it draws at random and takes a `seed`.
    imports
        Modules that it imports when it runs. They are imported before threads are limited, as a limit holds only for
        libraries that are loaded.
    check
        Called with all parameters before anything is fitted; raises BiasgridError for a wrong value.
    reference
        The paper and section that it is written from.
    """

    name: str
    label: str
    function: Callable[..., Transform]
    words: Mapping[str, WordKind]
    reference: str
    aliases: tuple[str, ...] = ()
    seeded: bool = False
    imports: tuple[str, ...] = ()
    check: Callable[..., None] | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameter -> default, without words and seed."""
        return {p.name: p.default for p in self._arguments if p.name not in self.words and p.name != "seed"}

    @property
    def required_words(self) -> list[str]:
        """The words without which it cannot be fitted."""
        return [p.name for p in self._arguments if p.default is p.empty]

    @property
    def _arguments(self) -> list[inspect.Parameter]:
        signature = inspect.signature(self.function).parameters.values()
        return [p for p in signature if p.kind is p.KEYWORD_ONLY]

    def check_words(self, words: Mapping[str, Any]) -> None:
        """Raises BiasgridError for an argument that is not of this method, is missing, or is of another form."""
        for name, value in words.items():
            if name not in self.words:
                raise BiasgridError(unknown_name("argument of words", name, self.words, of=self.name))
            if not _has_form(value, self.words[name]):
                if (part := _not_text(value)) is not value:
                    raise BiasgridError(
                        f"{name}: {quote(part)} is not text; must be {KINDS[self.words[name]]}"
                    )
                raise BiasgridError(f"{name}: must be {KINDS[self.words[name]]}")
            try:
                json.dumps(value, ensure_ascii=False).encode()
            except UnicodeEncodeError as error:
                raise BiasgridError(
                    f"{name}: holds a word that is not valid Unicode: {error.object[:40]!r}"
                ) from None
        for name in self.required_words:
            if name not in words:
                raise BiasgridError(f"{self.name} needs {name!r}, {KINDS[self.words[name]]}")
        check_disjoint(words.get("target"), words.get("ignore", ()))

    def check_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Raises BiasgridError for a parameter that the method does not have, or a value that it cannot take."""
        for name, value in parameters.items():
            if name not in self.parameters:
                raise BiasgridError(unknown_name("option", name, self.parameters, of=self.name))
            if any(
                type(v) is int and abs(v) > LARGEST for v in (value if isinstance(value, list) else [value])
            ):
                raise BiasgridError(not_allowed(name, value, f"numbers up to {LARGEST}"))
        if "preprocessors" in parameters:
            WordOptions(preprocessors=parameters["preprocessors"])
        check_limits(self.function, parameters)
        if self.check:
            self.check(**{**self.parameters, **parameters})

    def __call__(self, model: Model, *, seed: int = 0, **options) -> Transform:
        """Fit the method; `options` are its words and its parameters.

        Raises BiasgridError for an option that it does not have or that cannot be used.
        """
        words = {name: value for name, value in options.items() if name in self.words and value is not None}
        words = {name: _as_lists(value) for name, value in words.items()}
        parameters = {name: value for name, value in options.items() if name not in self.words}
        self.check_words(words)
        self.check_parameters(parameters)
        if type(seed) is not int or not 0 <= seed < 2**32:
            raise BiasgridError(not_allowed("seed", seed, "whole numbers from 0 to 4294967295"))
        if self.seeded:
            parameters["seed"] = seed
        for module in self.imports:
            importlib.import_module(module)
        # one thread: the same bytes whatever the number of cores; on matrices of this size more would gain little
        with threadpool_limits(1):
            return self.function(model, **words, **parameters)


def _has_form(value: Any, kind: WordKind) -> bool:
    if kind == "classes":
        return isinstance(value, dict) and all(_has_form(words, "words") for words in value.values())
    if not isinstance(value, list):
        return False
    return all(isinstance(v, str) if kind == "words" else _has_form(v, "words") for v in value)


def _not_text(value: Any) -> Any:
    """Return the first part in lists that should be a word and is not; the value itself if there is none."""
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        inner = _not_text(part)
        if inner is not part or not isinstance(part, (str, list, dict)):
            return inner
    return value


def _as_lists(value: Any) -> Any:
    """Tuples, sets of pairs and the like from Python callers as JSON would have them."""
    if isinstance(value, Mapping):
        return {name: _as_lists(v) for name, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_as_lists(v) for v in value]
    return value
