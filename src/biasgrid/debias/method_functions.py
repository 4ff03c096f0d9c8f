"""Debias methods as functions of a model and words: `debias.hard(model, definitional_pairs=...)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .. import debias
from ..core import docstrings, wefe_names
from ..core.errors import InputError, unknown_name
from ..core.keywords import check_names
from ..core.wefe_answers import answer_methods
from ..models.checks import check_model, check_plain, plain
from ..models.model import Model
from ..models.store import DebiasedModel
from .registry import Method
from .transform import Transform

# Descriptions of parameters that several methods share, so that their docstrings need not repeat them.
SHARED = {
    "definitional_pairs": "Pairs of words, such as [she, he], whose differences define the bias. A pair of which the "
    "model lacks a word is left out; `fitted_on` has it.",
    "ignore": "Words that are left alone.",
    "target": "The only words that are changed; by default all are.",
    "preprocessors": "Forms in which a word is looked up, tried in this order: mappings of `lowercase`, `uppercase`, "
    "`titlecase` and `strip_accents`. `{}` is the word as it is written. Default: as written, else in lower case.",
    "seed": "From 0 to 4294967295; of what is drawn at random.",
}


def fit(method: Method, model: Model, **options: Any) -> Transform:
    """Fit a debias method on a model.

    Parameters
    ----------
    model
        A model that `biasgrid.load` returned. It is not changed: `model.under(transform)` is the debiased model.

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
    if isinstance(model, DebiasedModel):
        raise InputError(
            f"{method.name}: {model.name} is under a transform already: to debias it again, save it and load it; "
            "else fit on the original model (model.model)"
        )
    check_model(model, ("rows", "take", "fingerprint"))
    names = [*method.words, *method.parameters]
    check_names(options, names, wefe_names.DEBIASING, f"debias.{method.name}")
    for name in options:
        if name not in (*names, "seed"):
            allowed = [*names, "seed"] if method.seeded else names
            raise InputError(unknown_name("option", name, allowed, of=method.name))
    options = {name: plain(value) for name, value in options.items()}
    for name in {*options} & {*method.parameters} - {"preprocessors"}:  # preprocessors may be functions
        check_plain(name, options[name])
    return method(model, **options)


def function_of(method: Method) -> Callable[..., Transform]:
    """Return a debias method as a function of a model and words, with the method's signature and
    documentation.

    Its attribute `method` is the method.

    Parameters
    ----------
    method
        One of `debias.REGISTRY`, or a plugin's method.

    Returns
    -------
    function
        The function that is offered as `debias.<name>`.
    """

    def function(model: Model, **options: Any) -> Transform:
        return fit(method, model, **options)

    function.__name__ = function.__qualname__ = method.name
    function.__module__ = debias.__name__
    function.method = method  # type: ignore[attr-defined]
    function.__signature__ = signature = _signature(method)  # type: ignore[attr-defined]
    function.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()} | {
        "return": Transform
    }
    answer_methods(function, wefe_names.DEBIAS_METHODS)
    function.__doc__ = _docstring(method, signature)
    return function


def _signature(method: Method) -> inspect.Signature:
    model = inspect.signature(fit, eval_str=True).parameters["model"]
    parameters = docstrings.signature_of(method.function).parameters.values()
    return docstrings.merge_signatures(
        [model], [p for p in parameters if p.kind is p.KEYWORD_ONLY], returns=Transform
    )


def _docstring(method: Method, signature: inspect.Signature) -> str:
    method_sections, shared = docstrings.sections(method.function), docstrings.sections(fit)
    texts = {name: docstrings.wrap(text, 108) for name, text in SHARED.items()}
    texts |= docstrings.parameters(fit) | docstrings.parameters(method.function)
    parts = {
        "": method_sections[""] or f"{method.label}.",
        "Parameters": docstrings.parameter_section(signature, texts),
        "Returns": shared["Returns"],
        "Raises": shared["Raises"],
        "Notes": method_sections.get("Notes", ""),
        "References": docstrings.wrap(method.reference),
        "Examples": method_sections.get("Examples", ""),
    }
    return docstrings.docstring(parts)


def _replacement(method: Method, name: str) -> str:
    """Return the replacement of `debias.HardDebias` for a message."""
    words = [f"{word}=..." for word in method.required_words]
    return (
        f"say debias.{method.name}, a function: model.under(debias.{method.name}({', '.join(['model', *words])})) is "
        f"WEFE's {name}().fit(...).transform(model)"
    )


debias.REGISTRY.offer(function_of, _replacement)
