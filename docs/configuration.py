"""docs/reference/configuration.md from the models of configs: reference.py writes it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MinLen
from plugin_notes import plugin_note
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from biasgrid import evaluation
from biasgrid.core.validation import to_record
from biasgrid.models import sources
from biasgrid.study.config import common, criteria, figures, inference, models, study

sys.path.append(str(Path(__file__).resolve().parents[1]))  # validation is a package that no one installs

from validation.calibration.config import Planted, SimulationConfig
from validation.planted_bias.config import FactoryConfig, PlantedMetric

HEAD = """# Configuration

Every key of a config: its value, its default, its meaning. This page is generated from the models in
`src/biasgrid/study/config`, and in `validation` for experiments. [config/README.md](../../config/README.md) says
how to write a study of your own.

- A config is YAML, or JSON. Values have the type that is said here and are never converted: `"1"` is no number.
- An unknown key is an error, which names the nearest one. So are a duplicate key, tags that are not of YAML's core
  and dates. So are more than 100 levels of nesting, and aliases (`*name`) that stand for more than 1,000,000 values.
- Keys are letters, digits, `_`, `.` and `-`, at most 100 of them: they become names of files.
- Paths are relative to the folder that the command runs in. What comes with biasgrid, such as
  `config/queries/case_study.yaml`, is found although it is not there; a file of yours at that path goes first.
- The name of a word set, such as `weat.career`, stands for `career` of `data/word_sets/weat.json` (`word_sets:`).
- "optional" is what may be left out and has no default.

Contents: [a study](#a-study), [a simulation](#a-simulation),
[an injected-bias benchmark](#an-injected-bias-benchmark), [sources](#sources), [evaluations](#evaluations).
"""
NAMES = {
    study.StudyConfig: "A study",
    SimulationConfig: "A simulation",
    FactoryConfig: "An injected-bias benchmark",
    Planted: "Injected bias",
    PlantedMetric: "Benchmark metric",
    models.Trained: "Trained",
    models.ShuffledCorpus: "Shuffled",
}
# types that a section or a phrase says more about than their parts do
KINDS = [
    (common.Key, "key"),
    (common.Name, "name"),
    (common.Params, "mapping"),
    (criteria.WordSet, "word set"),
    (models.Source, "[source](#sources)"),
    (models.ArchiveSource, "[source](#sources), but `trained` and `shuffled`"),
    (study.Evaluations, "[evaluations](#evaluations)"),
    (figures.Figures, f"list of any of {', '.join(f'`{name}`' for name in figures.kinds())}"),
]
LIMITS = {Ge: ("from", "ge"), Gt: ("above", "gt"), Le: ("to", "le"), Lt: ("below", "lt")}


def page() -> str:
    """The page's text."""
    done: list[type[BaseModel]] = []
    parts = [HEAD]
    for model in (study.StudyConfig, SimulationConfig, FactoryConfig):
        parts += _sections(model, done, "##")
    parts += _sources(done)
    parts += _evaluations(done)
    return "\n".join(parts)


def _sections(model: type[BaseModel], done: list[type[BaseModel]], level: str) -> Iterator[str]:
    """A model's section, and those of the models in it that have none yet."""
    if model in done:
        return
    done.append(model)
    yield f"{level} {_name(model)}\n\n{_sentences(model.__doc__)}\n"
    yield from keys(model)
    for _, info in _fields(model):
        for inner in _models(_whole(info)):
            yield from _sections(inner, done, "###")


def keys(model: type[BaseModel]) -> Iterator[str]:
    """The table of a model's keys."""
    rows = [
        (f"`{name}`", _kind(_whole(info)), _default(info), _meaning(info)) for name, info in _fields(model)
    ]
    yield from table(("key", "value", "default", "meaning"), rows)


def _fields(model: type[BaseModel]) -> list[tuple[str, FieldInfo]]:
    """The required ones first."""
    return sorted(model.model_fields.items(), key=lambda item: not item[1].is_required())


def _sources(done: list[type[BaseModel]]) -> Iterator[str]:
    yield "## Sources\n\nA source has a `type` and the keys of that type ([data.md](../data.md) has examples).\n"
    for name, source in sources.REGISTRY.items():
        yield f"### type: {name}\n\n{source.meaning[0].upper()}{source.meaning[1:]}.{plugin_note(sources, name)}\n"
        rows = [
            (f"`{key}`", entry.allowed, "required" if entry.required else "optional", entry.meaning)
            for key, entry in source.keys.items()
        ]
        yield from table(("key", "value", "default", "meaning"), rows)
    for made_here in models.MADE_HERE.values():
        yield from _sections(made_here, done, "###")


def _evaluations(done: list[type[BaseModel]]) -> Iterator[str]:
    yield (
        "## Evaluations\n\nWhat may stand under `evaluation:` for a criterion ([debias.md](../debias.md)). These "
        "keys hold for all evaluations:\n"
    )
    fields = evaluation.Spec.model_fields.items()
    # a study sets these itself
    own = {"items", "sorted"}
    rows = [
        (f"`{name}`", _kind(_whole(i)), _default(i), _meaning(i)) for name, i in fields if name not in own
    ]
    yield from table(("key", "value", "default", "meaning"), rows)
    yield "And a key for each evaluation:\n"
    with_key = [entry for entry in evaluation.evaluations() if entry.spec is not None]
    yield from table(
        ("key", "value", "meaning"), [(f"`{e.name}`", _kind(e.spec), e.meaning) for e in with_key]
    )
    for entry in with_key:
        for inner in _models(entry.spec):
            yield from _sections(inner, done, "###")


def _name(model: type[BaseModel]) -> str:
    words = re.sub(r"(?<!^)(?=[A-Z])", " ", model.__name__)
    return NAMES.get(model, words.capitalize())


def _link(model: type[BaseModel]) -> str:
    return f"[{_name(model).lower()}](#{_name(model).lower().replace(' ', '-')})"


def _sentences(doc: str) -> str:
    """The first paragraph of a docstring."""
    return " ".join(doc.partition("\n\n")[0].split())


def _whole(info: FieldInfo) -> Any:
    """A field's type with what limits it."""
    return Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation


def _meaning(info: FieldInfo) -> str:
    unit = (info.json_schema_extra or {}).get("unit")
    return info.description + (f" ({unit})" if unit else "")


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    default = info.get_default(call_default_factory=True)
    if default is None:
        return "optional"
    if isinstance(default, BaseModel):
        return "its defaults" if to_record(default) else "`{}`"
    text = json.dumps(default, ensure_ascii=False).replace('"', "")
    return f"`{text}`" if text else "empty text"


def _kind(kind: Any) -> str:
    """What a type is, in words."""
    for known, text in KINDS:
        if kind == known:
            return text
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _limited(inner[0], inner[1:])
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in inner)
    if origin in (Union, UnionType):
        return " or ".join(_kind(one) for one in inner)
    if origin in (list, tuple):
        return f"list of {_kind(inner[0])}"
    if origin is not None and len(inner) == 2:
        return f"mapping of {_kind(inner[0])} to {_kind(inner[1])}"
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return _link(kind)
    plain = {str: "text", int: "whole number", float: "number", bool: "`true` or `false`", Any: "any"}
    return plain.get(kind, "any")


def _limited(kind: Any, metadata: tuple[Any, ...]) -> str:
    if common.INCLUDES in metadata:
        return f"{_kind(kind)}; or a YAML file with it; or a list of these, which are merged"
    limits = [
        f"{word} {getattr(e, name):,}"
        for e in metadata
        for t, (word, name) in LIMITS.items()
        if isinstance(e, t)
    ]
    not_empty = any(isinstance(entry, MinLen) for entry in metadata) and kind is not str
    return " ".join([_kind(kind), *limits]) + ", not empty" * not_empty


def models_in(config: type[BaseModel]) -> list[type[BaseModel]]:
    """A config's model, and all those in it."""
    found = [config]
    for model in found:
        for info in model.model_fields.values():
            found += [one for one in dict.fromkeys(_models(_whole(info))) if one not in found]
    return found


def _models(kind: Any) -> Iterator[type[BaseModel]]:
    """The models in a type."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield _made(kind)
    for inner in get_args(kind):
        yield from _models(inner)


def _made(model: type[BaseModel]) -> type[BaseModel]:
    """A section with the keys that the kinds of models, or the tests of significance, bring."""
    if model is models.Model:
        return models.model_of_kinds()
    if model in (inference.Inference, inference.OwnInference):
        return inference.inference_of_tests(model)
    return model


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    lines = [head, ("---",) * len(head), *rows]
    cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    yield "\n".join(f"| {' | '.join(line)} |" for line in cells) + "\n"
