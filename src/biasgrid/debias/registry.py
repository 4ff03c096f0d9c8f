"""Declarations of debias methods.

A method is one file in this package. It contains a function of a model and words that returns a fitted `Transform`,
and a module-level `METHODS` tuple that declares which of its arguments are words. Nothing else needs to be edited:
studies and the command line find it automatically.
"""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Concatenate, Generic, Literal, ParamSpec

from threadpoolctl import threadpool_limits

from ..core.called_entry import CalledEntry
from ..core.errors import BiasgridError, InputError, not_allowed, quote, unknown_name
from ..core.keywords import check_names
from ..core.limits import check_limits
from ..core.wefe_names import DEBIAS_METHODS, DEBIASING
from ..models.checks import check_model, check_plain, plain
from ..models.model import Model
from ..models.store import DebiasedModel
from ..models.words import WordOptions
from .lookup import check_disjoint
from .transform import Transform

P = ParamSpec("P")
WordKind = Literal["words", "sets", "classes"]
# The key of the original model, in place of a debias method.
UNTOUCHED = "none"
# Beyond this number floats skip whole numbers, and libraries fail.
LARGEST = 2**53
KINDS = {
    "words": "a list of words",
    "sets": "a list of lists of words",
    "classes": "a mapping of names to lists of words",
}


@dataclass(frozen=True, repr=False)
class Method(CalledEntry, Generic[P]):
    """Debias method: its function and its declaration. A call fits it: `debias.hard(model, definitional_pairs=...)`.

    Attributes
    ----------
    function
        `(model, **words, **parameters)` -> Transform; all arguments but the model are passed by keyword.
    words
        Arguments that contain words, and their form: "words", "sets" (lists of words that belong together, such as
        pairs) or "classes" (name -> words).
    aliases
        Its other names, beginning with WEFE's class.
    seeded
        Whether it draws at random and takes a `seed`.
    imports
        Modules that it imports when it runs. They are imported before threads are limited, as a limit applies only
        to libraries that are already loaded.
    check
        Function that is called with all parameters before anything is fitted; it raises BiasgridError for a wrong
        value.
    reference
        Paper and section that it is written from.
    """

    name: str
    label: str
    function: Callable[Concatenate[Any, P], Transform]
    words: Mapping[str, WordKind]
    reference: str
    aliases: tuple[str, ...] = ()
    seeded: bool = False
    imports: tuple[str, ...] = ()
    check: Callable[..., None] | None = None

    PACKAGE: ClassVar[str] = __package__ or ""
    WEFE_METHODS: ClassVar[Mapping[str, str]] = DEBIAS_METHODS

    @property
    def method(self) -> Method[P]:
        """Return the method itself."""
        return self

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the default of each parameter, without words and seed."""
        return {p.name: p.default for p in self._arguments if p.name not in self.words and p.name != "seed"}

    @property
    def required_words(self) -> list[str]:
        """Return the arguments of words without which it cannot be fitted."""
        return [p.name for p in self._arguments if p.default is p.empty]

    @property
    def _arguments(self) -> list[inspect.Parameter]:
        signature = inspect.signature(self.function).parameters.values()
        return [p for p in signature if p.kind is p.KEYWORD_ONLY]

    def check_words(self, words: Mapping[str, Any]) -> None:
        """Raise BiasgridError for an argument that is unknown, missing, or of another form."""
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
        """Raise BiasgridError for an unknown parameter, or a value that is not allowed."""
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

    def __call__(self, model: Model, *args: P.args, **options: P.kwargs) -> Transform:
        """Fit the method on a model.

        Parameters
        ----------
        model
            A model that `biasgrid.load` returned. It is not changed: `model.under(transform)` is the debiased model.
        **options
            Words and parameters, as the method's docstring describes them.

        Returns
        -------
        Transform
            The transform of vectors when they are looked up. `fitted_on` lists the words that were found and the
            missing ones; `save` writes the transform to a file.

        Raises
        ------
        BiasgridError
            The argument is not a model; the model lacks words; an option is unknown, or its value is not allowed.
        """
        if args:
            raise InputError(f"{self.name}: name all words and options, such as {next(iter(self.words))}=...")
        if isinstance(model, DebiasedModel):
            raise InputError(
                f"{self.name}: {model.name} is under a transform already: to debias it again, save it and load it; "
                "else fit on the original model (model.model)"
            )
        check_model(model, ("rows", "take", "fingerprint"))
        function: Callable[..., Transform] = self.function
        arguments = self._checked({**options})
        for module in self.imports:
            importlib.import_module(module)
        # Use one thread: the bytes do not depend on the number of cores, and more threads would gain little here.
        with threadpool_limits(1):
            return function(model, **arguments)

    def _checked(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of `function` by name.

        Raises BiasgridError for an unknown option, or one that cannot be used.
        """
        seed = plain(options.pop("seed", 0))
        names = [*self.words, *self.parameters]
        check_names(options, names, DEBIASING, f"debias.{self.name}")
        for name in options:
            if name not in names:
                allowed = [*names, "seed"] if self.seeded else names
                raise InputError(unknown_name("option", name, allowed, of=self.name))
        options = {name: plain(value) for name, value in options.items()}
        for name in options.keys() & self.parameters.keys():
            if name != "preprocessors":  # they may be functions
                check_plain(name, options[name])
        words = {name: value for name, value in options.items() if name in self.words and value is not None}
        words = {name: _as_lists(value) for name, value in words.items()}
        parameters = {name: value for name, value in options.items() if name not in self.words}
        self.check_words(words)
        self.check_parameters(parameters)
        if type(seed) is not int or not 0 <= seed < 2**32:
            raise BiasgridError(not_allowed("seed", seed, "whole numbers from 0 to 4294967295"))
        return {**words, **parameters, **({"seed": seed} if self.seeded else {})}


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
    """Convert tuples, sets of pairs and the like from Python callers to the lists of JSON."""
    if isinstance(value, Mapping):
        return {name: _as_lists(v) for name, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_as_lists(v) for v in value]
    return value
