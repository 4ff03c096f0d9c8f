"""Validation of values with pydantic models, with errors of one line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from .errors import BiasgridError, quote, shorten, unknown_name
from .printable import check_line

LONGEST = 380  # maximum length of a message
NAME_BYTES = 255  # maximum length of a file's or folder's name in file systems
M = TypeVar("M")
# A label or a name. The function has one parameter, because the oldest pydantic allowed would fill others itself.
Line = Annotated[str, AfterValidator(lambda text: check_line(text))]


def _as_whole_number(value: Any) -> Any:
    """Convert a float without a fraction to int: 1000.0 is also a whole number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_as_whole_number)]
# Expected types in messages, by pydantic's name of the error.
EXPECTED = {
    "bool": "true or false",
    "date": "a date",
    "dict": "a mapping",
    "float": "a number",
    "int": "a whole number",
    "is_instance_of": "a list",
    "list": "a list",
    "mapping": "a mapping",
    "model": "a mapping",
    "model_attributes": "a mapping",
    "none_required": "null",
    "sequence_str": "a list",
    "string": "text",
    "tuple": "a list",
}


class Strict(BaseModel):
    """A model without unknown keys, whose values have the declared types and are never converted."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


def field(description: str, default: Any = ..., unit: str = "", **limits: Any) -> Any:
    """Return a field of a model: its meaning, default (required without one), unit, and limits, such as `ge=1`."""
    factory = {"default_factory": default} if callable(default) else {"default": default}
    return Field(description=description, json_schema_extra={"unit": unit}, **factory, **limits)


def validate(model: type[M], values: Any, where: str = "", context: Any = None) -> M:
    """Return values as an instance of a model.

    Parameters
    ----------
    model
        The model that declares the keys and their values, or another type, such as a mapping of models.
    values
        A mapping, or an instance of the model.
    where
        The beginning of the message: a file, and keys in it.
    context
        The `context` of the model's validators.

    Raises
    ------
    BiasgridError
        One line of fewer than 400 characters: where, the keys that lead to the value, what is wrong, what is
        allowed.
    """
    try:
        return _validator(model).validate_python(values, context=context)  # type: ignore[arg-type]
    except ValidationError as error:
        text = line(error, model, values)
        raise BiasgridError(f"{where}: {text}" if where else text) from None


def to_record(value: Any) -> Any:
    """Convert models, and mappings and lists of them, to plain values with defaults.

    Fields that were left out and do not have a default are left out.
    """
    if isinstance(value, BaseModel):
        given = value.model_fields_set
        return {name: to_record(inner) for name, inner in value if inner is not None or name in given}
    if isinstance(value, dict):
        return {key: to_record(inner) for key, inner in value.items()}
    return [to_record(inner) for inner in value] if isinstance(value, list) else value


def check_path(text: str) -> str:
    """Return the path of a file or folder.

    Raises BiasgridError if no file system accepts it.
    """
    try:
        is_path = bool(os.fsencode(text)) and "\0" not in text
    except (TypeError, UnicodeEncodeError):
        is_path = False
    if not is_path:
        raise BiasgridError(f"{quote(text)} is not the path of a file or folder")
    if any(len(os.fsencode(part)) > NAME_BYTES for part in text.split("/")):
        raise BiasgridError(f"{quote(text)} is no path; allowed: names of at most {NAME_BYTES} bytes")
    return text


@cache
def _validator(model: Any) -> TypeAdapter:
    return TypeAdapter(model)


def line(error: ValidationError, model: Any, values: Any = None) -> str:
    """Return the error of a validation that a user should correct first.

    It contains the keys that lead to the value, the problem, and the allowed values. Unknown keys come first,
    because a misspelt key also causes a missing one. If a field has several alternatives, the one that fits
    the values best is chosen. If the validated `values` are given, only their keys are named.
    """
    errors = error.errors(include_url=False)
    places = [_path_of_error(e, values) for e in errors]
    first = min(range(len(errors)), key=lambda i: _priority(errors[i]["type"], places[i]))
    alternatives = [e for e, place in zip(errors, places, strict=True) if place == places[first]]
    text = _describe_error(errors[first], alternatives, list(_types_at(model, places[first])))
    keys = [shorten(str(key)) for key in places[first]]
    text = ": ".join([*keys, text])
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 45]} ... {text[-40:]}"


def _priority(kind: str, place: Sequence[str | int]) -> tuple:
    return kind != "extra_forbidden", -len(place), kind.endswith("_type")


def _path_of_error(error: Mapping[str, Any], values: Any) -> tuple[str | int, ...]:
    """Return the keys that lead to the wrong value, without the names of alternatives that pydantic adds."""
    path = error["loc"]
    # The text itself names a key that is missing, unknown or wrong.
    if path[-1:] == ("[key]",):
        path = path[:-2]
    elif error["type"] in ("missing", "extra_forbidden", "invalid_key"):
        path = path[:-1]
    if values is None:
        return path
    place = []
    for key in path:
        try:
            values = values[key]
        except (LookupError, TypeError):
            continue
        place.append(key)
    return tuple(place)


def _describe_error(
    error: Mapping[str, Any], alternatives: Sequence[Mapping[str, Any]], kinds: Sequence[Any]
) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind in ("extra_forbidden", "invalid_key"):
        keys = [
            info.alias or name
            for k in kinds
            if isinstance(k, type) and issubclass(k, BaseModel)
            for name, info in k.model_fields.items()
        ]
        return unknown_name("key", error["loc"][-1], keys, 'documentation: "Configuration"')
    if kind == "missing":
        return f"key {error['loc'][-1]!r} is missing"
    if kind == "value_error":
        return str(context["error"])
    value = quote(error["input"])
    if kind in ("literal_error", "enum"):
        choices = [name.strip("'") for name in re.split(", | or ", context["expected"])]
        return unknown_name("key" if error["loc"][-1] == "[key]" else "value", error["input"], choices)
    expected = [EXPECTED.get(e["type"].removesuffix("_type"), "") for e in alternatives]
    if all(expected):
        return f"{value} is not {' or '.join(dict.fromkeys(expected))}"
    if kind in ("too_short", "string_too_short") and not error["input"]:
        return "is empty"
    return f"{value} is not allowed: {error['msg'][0].lower()}{error['msg'][1:]}".replace(
        "input should", "it should"
    )


def _types_at(kind: Any, place: Sequence[str | int]) -> Iterator[Any]:
    """Yield the possible types of a value at a place below a value of this type."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        yield from _types_at(inner[0], place)
    elif origin in (Union, UnionType):
        for alternative in inner:
            yield from _types_at(alternative, place)
    elif not place:
        yield kind
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        for name, info in kind.model_fields.items():
            if place[0] == (info.alias or name):
                yield from _types_at(info.annotation, place[1:])
    elif isinstance(origin, type) and inner:
        yield from _types_at(inner[1] if issubclass(origin, Mapping) else inner[0], place[1:])
