"""Records of the plugins that made results, as plain data, so that reading results loads no code."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .. import debias, figures, metrics, tables
from ..core.errors import BiasgridError, unknown_name
from ..core.in_memory import InMemory
from ..core.printable import check_texts
from ..core.registry import PLUGINS, Registry, UnknownEntryError, find_by_name
from ..core.schema import read, with_version
from ..core.validation import Line, Strict, line
from ..measure import significance
from ..models import kinds, readers
from ..tables.table import Column
from .study import Study

FILE = "plugins.json"
# Match a text with placeholders for the names of sets, which `Metric.sentence` fills in.
NAMES = r"(?:[^{}]|\{\{|\}\}|\{[TAGW][0-9]?\})*"

Text = Annotated[str, Field(max_length=20_000)]
Sentence = Annotated[Text, Field(pattern=f"^{NAMES}$")]
End = float | Literal["-inf", "inf"]
Arity = int | Literal["n", "k"]


class _Metric(Strict):
    """A metric with the parameters that a study sets."""

    name: Line
    params: dict[str, Any]
    label: Line
    template: tuple[Arity, Arity]
    range: tuple[End, End]
    neutral: float
    reference: Text
    groups: Literal["targets", "attributes"]
    paired: bool
    seeded: bool
    regrouped: Literal["targets", "attributes"]
    exchanged: Literal["targets", "pairs", "attributes", "constituents"]
    test_of: Literal["words", "labels"]
    no_test: Text
    contrasts: bool
    word_bias: Text
    scored_by: tuple[Text, Literal["first", "mean", "difference", ""]]
    nearer: Literal["first", "second", ""]
    asks: Sentence
    above: Sentence
    below: Sentence
    details: dict[Line, Sentence]
    one_word: Literal["targets", "attributes", ""]
    scaled: bool
    needs: Line
    documentation: Text


class _Method(Strict):
    name: Line
    label: Line
    aliases: tuple[Line, ...]


class _Kind(Strict):
    name: Line
    meaning: Text
    random_groups: bool
    counts: bool
    complete: bool
    scores: bool
    # Results of older versions lack these fields.
    text: bool = False
    is_model: bool = False


class _Format(Strict):
    name: Line
    meaning: Text
    counts: bool


class _Column(Strict):
    name: Line
    meaning: Text
    dtype: Literal["text", "number", "count", "optional count"]
    unit: Text
    range: tuple[End, End] | None
    values: tuple[Text, ...]


class _Table(Strict):
    name: Line
    meaning: Text
    columns: tuple[_Column, ...]
    key: tuple[Line, ...]


class _Figure(Strict):
    name: Line
    meaning: Text
    group: Line | Literal[""] | None


class _Test(Strict):
    name: Line
    label: Line
    noun: Line
    column: Line
    help: Line
    compared: Line
    permutes: bool
    pooled: bool
    by_frequency: bool
    # Metric -> the question that the test answers for it.
    questions: dict[Line, Text]


@dataclass(frozen=True)
class Questions:
    """Stand-in for `Test.question` of a plugin's test, with the recorded questions for the study's metrics."""

    by_metric: Mapping[str, str]

    def __call__(self, metric: metrics.Metric) -> str:
        return self.by_metric.get(metric.name, "")


class _Options(Strict):
    """Options of a plugin's test, with any names."""

    model_config = ConfigDict(extra="allow")


class _Record(Strict):
    """The content of the file: the entries of plugins by category."""

    metrics: list[_Metric]
    methods: list[_Method]
    kinds: list[_Kind]
    formats: list[_Format]
    tables: list[_Table]
    figures: list[_Figure]
    # Results of older versions lack these fields.
    tests: list[_Test] = Field(default_factory=list)
    sections: list[Line] = Field(default_factory=list)


@dataclass(frozen=True)
class Unloaded:
    """Stand-in for a plugin's function. Calling it raises BiasgridError."""

    what: str
    documentation: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.documentation)

    def __call__(self, *args: Any, **options: Any) -> Any:
        raise BiasgridError(
            f"{self.what} is of a plugin, and what results say of plugins is no code: run the study's config for it"
        )


@dataclass(frozen=True)
class NotedMetric(metrics.Metric):
    """A metric of a plugin without its function, as recorded in results, with the parameters that the study sets."""

    forms: Mapping[str, metrics.Metric] = field(default_factory=dict, hash=False)

    def under(self, parameters: Mapping[str, Any]) -> metrics.Metric:
        """Return the metric with parameters of the study."""
        key = json.dumps(parameters, sort_keys=True)
        if key not in self.forms:
            raise BiasgridError(f"metric {self.name!r}: the results have no such parameters: {key:.100}")
        return self.forms[key]

    def sentence(self, text: str, *sides: Any) -> str:
        """Fill in the names of sets; return the text unchanged if it refers to more sets than there are."""
        try:
            return super().sentence(text, *sides)
        except LookupError:
            return text


@dataclass(frozen=True)
class Plugins:
    """Entries of plugins that are not loaded, by name. `sections` has only the names of the report's sections."""

    metrics: Mapping[str, NotedMetric] = field(default_factory=dict)
    kinds: Mapping[str, kinds.Kind] = field(default_factory=dict)
    methods: Mapping[str, debias.Method] = field(default_factory=dict)
    formats: Mapping[str, readers.Reader] = field(default_factory=dict)
    tables: Mapping[str, tables.Table] = field(default_factory=dict)
    figures: Mapping[str, figures.Figure] = field(default_factory=dict)
    tests: Mapping[str, significance.Test] = field(default_factory=dict)
    sections: Sequence[str] = ()

    def find(self, what: str, name: str) -> Any:
        """Return the entry of a name, or None if it does not belong to these plugins.

        Raises UnknownEntryError for a name that is recorded only in other results.
        """
        registry = REGISTRIES[what]
        entry = find_by_name(name, getattr(self, what).values())
        if entry is None and registry.is_noted(name):
            raise UnknownEntryError(unknown_name(registry.what, name, sorted(registry)))
        return entry

    def note(self) -> None:
        """Make the names of the entries known to the registries."""
        for name, registry in REGISTRIES.items():
            for entry in getattr(self, name).values():
                registry.note(entry)


REGISTRIES: Mapping[str, Registry] = {
    "metrics": metrics.REGISTRY,
    "methods": debias.REGISTRY,
    "kinds": kinds.REGISTRY,
    "formats": readers.REGISTRY,
    "tables": tables.REGISTRY,
    "figures": figures.REGISTRY,
    "tests": significance.REGISTRY,
}


def record_text(study: Study) -> str:
    """Return the record of the plugins that a study uses as JSON, or an empty text if it does not use any."""
    config = study.config
    under_parameters = {
        (key, json.dumps(entry.params or {}, sort_keys=True)): (entry, study.metric(criterion, key))
        for criterion in config.criteria
        for key, entry in study.metrics(criterion).items()
    }
    metric_entries: dict[str, dict[str, Any]] = {}
    for entry, metric in under_parameters.values():
        if not metrics.REGISTRY.is_shipped(metric.name):
            params = entry.params or {}
            facts = _plain(metric, _Metric) | {"params": params}
            facts["documentation"] = inspect.getdoc(metric.function) or ""
            metric_entries[json.dumps([metric.name, params], sort_keys=True)] = facts
    methods = {debias.method(entry.method).name for _, entry in study.debias.values()}
    formats = readers.REGISTRY.keys() & {model.get("format") for model in study.models.values()}
    figure_kinds = {k.name for k in figures.REGISTRY.values() if k.config_name in config.figures}
    asked = significance.REGISTRY.keys() & config.inference.parts
    measured = [metric for _, metric in under_parameters.values()]
    record = {
        "metrics": [metric_entries[key] for key in sorted(metric_entries)],
        "methods": _of_plugins(debias.REGISTRY, methods, _Method),
        "kinds": _of_plugins(kinds.REGISTRY, {study.kind(model).name for model in study.models}, _Kind),
        "formats": _of_plugins(readers.REGISTRY, formats, _Format),
        "tables": _of_plugins(tables.REGISTRY, study.tables, _Table),
        "figures": _of_plugins(figures.REGISTRY, figure_kinds, _Figure),
        "tests": [
            {
                **facts,
                "questions": {m.name: significance.REGISTRY[facts["name"]].question(m) for m in measured},
            }
            for facts in _of_plugins(significance.REGISTRY, asked, _Test)
        ],
    }
    # Record all sections of the plugins, because the report shows all of them.
    if sections := {s.name for module in PLUGINS.values() for s in getattr(module, "SECTIONS", ())}:
        record["sections"] = sorted(sections)
    if not any(record.values()):
        return ""
    return json.dumps(with_version(record), ensure_ascii=False, indent=1) + "\n"


def _of_plugins(registry: Registry, names: Iterable[str], form: type[Strict]) -> list[dict[str, Any]]:
    return [_plain(registry[name], form) for name in sorted(names) if not registry.is_shipped(name)]


def _plain(value: Any, form: type[BaseModel] | None = None) -> Any:
    """Convert a value to types of JSON: infinities to text, and entries and columns to the fields of their form."""
    if form is not None:
        return {name: _plain(getattr(value, name)) for name in form.model_fields if hasattr(value, name)}
    if isinstance(value, Column):
        return _plain(value, _Column)
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return str(value) if value in (float("inf"), -float("inf")) else value


def read_plugins(folder: Path) -> Plugins:
    """Read the record of the plugins that made the results in a folder.

    Raises
    ------
    BiasgridError
        For a file that is not such a record, and for an entry with the name of an entry that comes with biasgrid.
    """
    path = folder / FILE
    if not path.is_file():
        return Plugins()
    check_texts(content := read(path, "a file on plugins"), str(path))
    try:
        record = _Record.model_validate_json(json.dumps(content))
    except ValidationError as error:
        raise BiasgridError(f"{path}: {line(error, _Record)}") from None
    for name, registry in REGISTRIES.items():
        for entry in getattr(record, name):
            if entry.name in list(registry) and registry.is_shipped(entry.name):
                raise BiasgridError(
                    f"{path}: {name}: {registry.what} {entry.name!r} comes with biasgrid, and is of no plugin"
                )
    return Plugins(
        metrics=_noted_metrics(record.metrics),
        kinds=_noted(record.kinds, kinds.Kind, "kind of model", ["open"], make=""),
        methods=_noted(record.methods, debias.Method, "debias method", ["function"], words={}, reference=""),
        formats=_noted(record.formats, readers.Reader, "format", ["detect", "read"]),
        tables=_noted(record.tables, tables.Table, "table", ["make", "spec", "absent"], inputs=_by_the_run),
        figures=_noted(record.figures, figures.Figure, "figure", ["drawings", "draw"]),
        tests=_noted_tests(record.tests),
        sections=record.sections,
    )


def _noted(
    forms: Iterable[Strict], kind: type[Any], what: str, functions: Iterable[str], **rest: Any
) -> dict[str, Any]:
    """Create entries of a class by name, whose functions are `Unloaded`."""
    entries = {}
    for form in forms:
        values = {name: _value(value) for name, value in form}
        values |= {name: Unloaded(f"{what} {values['name']!r}") for name in functions}
        entries[values["name"]] = kind(**values, **rest)
    return entries


def _noted_tests(forms: Iterable[_Test]) -> dict[str, significance.Test]:
    entries = {}
    for form in forms:
        values = {name: value for name, value in form if name != "questions"}
        values |= {"run": Unloaded(f"test {form.name!r}"), "question": Questions(form.questions)}
        entries[form.name] = significance.Test(**values, options=_Options)
    return entries


def _noted_metrics(forms: Iterable[_Metric]) -> dict[str, NotedMetric]:
    forms_by_name: dict[str, dict[str, NotedMetric]] = {}
    for form in forms:
        values = {name: _value(value) for name, value in form if name not in ("params", "documentation")}
        function = Unloaded(f"metric {form.name!r}", form.documentation)
        key = json.dumps(form.params, sort_keys=True)
        forms_by_name.setdefault(form.name, {})[key] = NotedMetric(**values, function=function)
    return {
        name: replace(next(iter(of_name.values())), forms=of_name) for name, of_name in forms_by_name.items()
    }


def _value(value: Any) -> Any:
    """Convert a value of a form to the value of an entry: infinities to numbers, columns to `Column`."""
    if isinstance(value, _Column):
        return Column(**{name: _value(inner) for name, inner in value})
    if isinstance(value, tuple):
        return tuple(map(_value, value))
    return float(value) if value in ("inf", "-inf") else value


def _by_the_run(study: Any) -> dict[str, Any]:
    """Stand in for `Table.inputs`: the run has already made the table from its files."""
    return {"plugin": InMemory(("plugin",), None)}
