"""Completion of a config: files are included, defaults filled in, and plugins loaded last."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from ...core.configs import (
    check_expansion,
    check_keys,
    check_nesting,
    explain,
    read_json,
    read_yaml,
    without_duplicates,
)
from ...core.errors import BiasgridError, join_names, quote, unknown_name
from ...core.printable import check_texts
from ...core.registry import (
    UnknownEntryError,
    load_plugins,
    pending,
    plugin_files,
    plugin_path,
    shipped_plugins,
)
from ...core.resources import did_you_mean_file, find_file
from ...core.schema import with_version, without_version
from ...core.validation import Strict, to_record, validate
from ...core.web_addresses import public
from ...models.shipped_sources import shipped_models
from ...queries.query import Arity, Query, Repetitions, generated_name
from . import criteria
from .check import metrics_of
from .criteria import Criteria, Criterion, PhenomenonSets
from .debias import Debias, Quality
from .encoded import in_sentences
from .languages import with_languages
from .models import Archives, Models
from .phenomena import queries as queries_of_phenomena
from .query_names import with_different_names
from .seat import seat_sets
from .sentence_files import sentences
from .study import Paths, StudyConfig
from .word_sets import WordSets

T = TypeVar("T")
C = TypeVar("C", bound=Strict)
CONFIGS = (".yaml", ".yml")  # suffixes of config files
WITH_SOURCES = ("models", "benchmarks", "corpora", "encoders")  # parts of a config whose entries have sources
# Parts of a config that may be in separate files.
PARTS: dict[str, Any] = {
    "models": Models,
    "criteria": Criteria,
    "sets": PhenomenonSets,
    "benchmarks": Archives,
    "corpora": Archives,
    "encoders": Archives,
    "quality": Quality,
}
# Defaults of an evaluation for benchmarks that it leaves out.
NO_BENCHMARKS: dict[str, Any] = {"similarity": {}, "analogies": {}}


def read(path: Path | str) -> Any:
    """Read a config file: YAML, or JSON, as studies write it. Raise BiasgridError that names the file."""
    return read_json(path) if str(path).endswith(".json") else read_yaml(path)


def study(config: Mapping[str, Any], where: str, root: Path) -> tuple[StudyConfig, dict[str, Query]]:
    """Complete a study's config with defaults, included files and word sets; return it and its queries by id.

    Parameters
    ----------
    config
        The config as it is written.
    where
        Its name in messages, such as its file.
    root
        The folder to which paths in it are relative.

    Raises
    ------
    BiasgridError
        One line that names the wrong key and the allowed values.
    """
    as_written = complete(StudyConfig, without_version(config, where), where, root)
    if "Overall" in as_written.criteria:
        raise BiasgridError(
            f"{where}: criteria: 'Overall' is reserved for all criteria together; give it a different name"
        )
    sets = WordSets(root / as_written.word_sets)
    quality = to_record(as_written.quality)
    checked = as_written.model_copy(
        update={
            "debias": {
                criterion: {
                    key: _with_words(entry, sets, f"{where}: debias: {criterion}: {key}")
                    for key, entry in entries.items()
                }
                for criterion, entries in as_written.debias.items()
            },
            "evaluation": {
                criterion: NO_BENCHMARKS | sets.replace_names(entry, f"{where}: evaluation: {criterion}")
                for criterion, entry in as_written.evaluation.items()
            },
            "quality": Quality(**(quality and NO_BENCHMARKS | quality)),
            "criteria": _with_genders(
                _with_phenomena(as_written.criteria, sets, f"{where}: criteria"), sets, f"{where}: criteria"
            ),
        }
    )
    queries = {
        key: _query(entry, of_criterion.repetitions, f"{where}: {criterion}: {key}", sets, root)
        for criterion, of_criterion in checked.criteria.items()
        for key, entry in of_criterion.queries.items()
    }
    for criterion, entry in checked.criteria.items():
        of_criterion = {key: queries[key] for key in entry.queries}
        named = [key for key, query in entry.queries.items() if query.name or query.seat]
        queries |= with_different_names(of_criterion, _templates(checked, criterion), named)
    return checked, queries


def _templates(config: StudyConfig, criterion: str) -> Iterator[tuple[Arity, Arity]]:
    """Yield the templates of the metrics of a criterion. The config's check reports unknown metrics."""
    for key, metric in metrics_of(config, criterion).items():
        with suppress(BiasgridError):
            yield metric.definition(key).template


def complete(model: type[C], config: Any, where: str, root: Path) -> C:
    """Validate a config with a model; return it with its defaults and included files. Plugins are not loaded."""
    config = copy_config(config, where)
    if isinstance(config, dict) and config.get("plugins") == []:
        del config["plugins"]
    if isinstance(config, dict) and model is StudyConfig:
        config = with_languages(
            config, where, lambda name: copy_config(read_yaml(find_file(name, root)), name)
        )
    checked = validate(model, config, where)
    merged: dict[str, Any] = {}
    for part in (name for name in PARTS if name in checked.model_fields_set):
        value, is_required = getattr(checked, part), model.model_fields[part].is_required()
        merged[part] = merge_part(value, part, where, root) if value != {} or is_required else {}
    if "quality" in merged:
        merged["quality"] = Quality.model_construct(**merged["quality"])
    plugins = {Path(path).stem for path in getattr(checked, "plugins", None) or ()}
    for name, criterion in merged.get("criteria", {}).items():
        for plugin in criterion.plugin_options or ():
            if plugin not in plugins:
                raise BiasgridError(
                    f"{where}: criteria: {name}: plugin_options: plugin {quote(plugin)} is not listed in plugins:"
                )
        if phenomena := criterion.phenomena:
            place = f"{where}: criteria: {name}: phenomena"
            phenomena = phenomena.model_copy(update={"sets": merge_part(phenomena.sets, "sets", place, root)})
            merged["criteria"][name] = criterion.model_copy(update={"phenomena": phenomena})
    return checked.model_copy(update=merged)


def _with_words(entry: Debias, sets: WordSets, where: str) -> Debias:
    """Return a debias method with words in place of the names of word sets."""
    parts = {
        part: sets.replace_names(getattr(entry, part), f"{where}: {part}") for part in ("words", "params")
    }
    return entry.model_copy(update=parts)


def with_plugins(resolve: Callable[[], T], config: Any, where: str, root: Path) -> T:
    """Return the result of `resolve` for a config after its plugins are loaded.

    Plugins are code, so they are loaded after all other checks.

    Parameters
    ----------
    resolve
        A function that checks the config. If the config has plugins, it is called before they are loaded,
        when unknown names may belong to them (`registry.pending`), and again afterwards.
    config, where, root
        See `study`.

    Raises
    ------
    BiasgridError
        As in `resolve`; also for a plugin that neither comes with biasgrid nor is a file, or folder of files,
        below `root`.
    """
    try:
        if paths := config.get("plugins") if isinstance(config, Mapping) else None:
            with pending(), suppress(UnknownEntryError):
                resolve()
            try:
                load_plugins([_plugin(path, root) for path in validate(Paths, paths, "plugins")])
            except BiasgridError as error:
                raise BiasgridError(f"{where}: {error}") from None
        return resolve()
    except BiasgridError as error:
        included = find_file(str(error).partition(": ")[0], root)
        explained = explain(error, dict.fromkeys([*where.split(", "), included]))
        if explained is error:
            raise
        raise explained from None


def _plugin(path: str, root: Path) -> Path:
    """Return the file or folder of a plugin. A config from elsewhere cannot name other code on this machine.

    The name of a plugin that comes with biasgrid is refused if the user has a file of that name, so that
    neither silently replaces the other.
    """
    if path in shipped_plugins():
        shipped_path = plugin_path(path)
        if (root / path).exists() and not (root / path).samefile(shipped_path):
            raise BiasgridError(
                f"plugins: {path!r} comes with biasgrid, and the folder that the command runs in has {path!r}, too: "
                f"write './{path}' for that one, or rename it"
            )
        return shipped_path
    if Path(path).is_absolute() or ".." in Path(path).parts:
        raise BiasgridError(
            f"plugins: {quote(path)}: allowed: the name of a plugin that comes with biasgrid "
            f"({join_names(shipped_plugins())}), and the path of a file or folder below the folder that the command "
            "runs in, from there and without '..'"
        )
    for file in plugin_files(root / path):
        if not file.resolve().is_relative_to(root.resolve()):
            raise BiasgridError(
                f"plugins: {file.relative_to(root)}: a link leads out of the folder that the command runs in; "
                "copy the file there"
            )
    return root / path


def _with_phenomena(criteria: Mapping[str, Criterion], sets: WordSets, where: str) -> dict[str, Criterion]:
    """Return criteria with the queries of their phenomena; a config written by a study has them already."""
    places = {key: name for name, entry in criteria.items() for key in entry.queries}
    complete_criteria = dict(criteria)
    for name, entry in criteria.items():
        if entry.phenomena:
            place, queries = f"{where}: {name}: phenomena", dict(entry.queries)
            for key, query in queries_of_phenomena(name, entry.phenomena, sets.words, place).items():
                if places.setdefault(key, name) != name or queries.setdefault(key, query) != query:
                    raise BiasgridError(
                        f"{place}: query id {quote(key)} occurs twice; ids are unique in a study"
                    )
            complete_criteria[name] = entry.model_copy(update={"queries": queries})
    return complete_criteria


def _with_genders(criteria: Mapping[str, Criterion], sets: WordSets, where: str) -> dict[str, Criterion]:
    """Return criteria whose genders have words in place of names of word sets."""
    complete_criteria = dict(criteria)
    for name, entry in criteria.items():
        if entry.genders is not None:
            place = f"{where}: {name}: genders"
            genders = {
                gender: sets.words(words, f"{place}: {gender}") for gender, words in entry.genders.items()
            }
            counts = Counter(word for words in genders.values() for word in set(words))
            if of_several := sorted(word for word, count in counts.items() if count > 1):
                raise BiasgridError(f"{place}: {join_names(of_several)}: of more than one gender")
            complete_criteria[name] = entry.model_copy(update={"genders": genders})
    return complete_criteria


def copy_config(config: Any, where: str) -> Any:
    """Return a deep copy of a config. Raise BiasgridError if JSON cannot hold it, or if it is too large or
    deep."""
    try:
        check_expansion(config)
        check_keys(config, where)
        # Refuse NaN, which limits of numbers would not exclude.
        text = json.dumps(config, allow_nan=False, ensure_ascii=False)
        config = json.loads(text, parse_int=_integer, object_pairs_hook=without_duplicates)
        check_nesting(config)
        text.encode()
        if re.search(r"(?<!\\)(\\\\)*\\u0000", text):
            raise ValueError("a text has a NUL character in it")
    except BiasgridError:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        # The config has a set, for example, or a mapping that contains itself.
        raise BiasgridError(f"{where}: only text, numbers, lists and mappings are allowed: {error}") from None
    check_texts(config, where)
    return config


def merge_part(entries: Any, part: str, where: str, root: Path) -> dict[str, Any]:
    """Return a part of a config by name, merged from the config itself and the files that it includes.

    If a criterion is in several places, its queries are merged; every other key must be in only one place, or
    have the same value in all. Other entries must be defined only once.
    """
    kind = PARTS[part]
    by_name: dict[str, Any] = {}
    places: dict[Any, str] = {}
    for place, content in _contents(entries, part, where, root):
        checked = validate(kind, content, place)
        if isinstance(checked, Quality):
            checked = {name: getattr(checked, name) for name in content}
        for name, value in checked.items():
            if part == "criteria":
                _join(name, value, content[name], place, by_name, places)
            elif name in by_name:
                raise BiasgridError(f"{place}: {quote(name)} is defined twice{_also_in(places[name], place)}")
            else:
                by_name[name], places[name] = value, place
    if not by_name:
        validate(kind, by_name, f"{where}: {part}")
    return by_name


def _contents(entries: Any, part: str, where: str, root: Path) -> Iterator[tuple[str, Any]]:
    """Yield the contents of a part of a config, as written, each with its name in messages."""
    for entry in entries if isinstance(entries, list) else [entries]:
        place, content = f"{where}: {part}", entry
        if part == "models" and isinstance(entry, str) and not entry.endswith(CONFIGS):
            content = named_model(entry, root, place)
        elif isinstance(entry, str):
            place, content = entry, copy_config(read_yaml(find_file(entry, root)), entry)
        if part == "models" and isinstance(content, dict):
            content = {
                key: {"label": key, **with_path(model, f"{place}: {key}")}
                if isinstance(model, dict)
                else model
                for key, model in content.items()
            }
        yield place, content


def written_part(entries: Any, part: str, where: str, root: Path) -> dict[str, Any]:
    """Return a part of a config by name, as it is written, with the contents of the files that it names.

    Queries of a criterion that several files have are merged, as in `merge_part`, which checks the values.

    Raises
    ------
    BiasgridError
        A file is not a mapping; or two files define the same name, query or key of a criterion.
    """
    joined: dict[str, Any] = {}
    for place, content in _contents(entries, part, where, root):
        if not isinstance(content, dict):
            raise BiasgridError(f"{place}: {quote(content)} is not a mapping")
        for name, value in content.items():
            if name not in joined:
                joined[name] = value
            elif part == "criteria" and isinstance(joined[name], dict) and isinstance(value, dict):
                joined[name] = _written_criterion(joined[name], value, f"{place}: {name}")
            else:
                raise BiasgridError(f"{place}: {quote(name)} is defined twice")
    return joined


def _written_criterion(former: dict[str, Any], value: dict[str, Any], where: str) -> dict[str, Any]:
    joined = dict(former)
    for key, inner in value.items():
        before = joined.get(key, inner)
        if key == "queries" and isinstance(before, dict) and isinstance(inner, dict):
            if twice := [query for query in inner if key in former and query in before]:
                raise BiasgridError(
                    f"{where}: query id {quote(twice[0])} occurs twice; ids are unique in a study"
                )
            joined[key] = {**before, **inner}
        elif before != inner:
            raise BiasgridError(f"{where}: {key}: has two values; give it once")
        else:
            joined[key] = inner
    return joined


def with_path(model: Any, where: str) -> Any:
    """Return a model as it is written, with a source in place of `path`, which is short for a user's file.

    Raise BiasgridError for a model that has both.
    """
    if not isinstance(model, dict) or "path" not in model:
        return model
    if "source" in model:
        raise BiasgridError(f"{where}: path: is short for a source of type file; leave it out, or source")
    source = {"type": "file", "path": model["path"]}
    return {"source": source, **{name: value for name, value in model.items() if name != "path"}}


def _join(
    name: str,
    value: Criterion,
    content: Mapping[str, Any],
    place: str,
    by_name: dict[str, Criterion],
    places: dict[Any, str],
) -> None:
    """Add a criterion to the former ones, or its queries to the former one of that name.

    `value` is the validated `content`; `places` has the place of each query, and of each key of a criterion.
    """
    for key in value.queries:
        if criterion := next((other for other, entry in by_name.items() if key in entry.queries), None):
            note = _also_in(places[key], place) or _also_in(criterion, name)
            raise BiasgridError(
                f"{place}: {name}: query id {quote(key)} occurs twice{note}; ids are unique in a study"
            )
        places[key] = place
    entry = by_name.setdefault(name, value)
    given = {key: getattr(value, key) for key in content if key != "queries"}
    for key, inner in given.items():
        if (name, key) in places and getattr(entry, key) != inner:
            former_place = places[name, key]
            what = "two values" if former_place == place else f"another value in {former_place}"
            raise BiasgridError(f"{place}: {name}: {key}: has {what}; give it once")
        places.setdefault((name, key), place)
    if entry is not value:
        by_name[name] = entry.model_copy(update={**given, "queries": entry.queries | value.queries})


def _also_in(former_place: str, place: str) -> str:
    return f"; it is also in {former_place}" if former_place != place else ""


def named_model(name: str, root: Path, where: str) -> dict[str, Any]:
    """Return a model that a config names, by its key: a model that comes with biasgrid, or a file of vectors.

    Raise BiasgridError if it is neither.
    """
    if name in shipped_models():
        return {name: copy_config(shipped_models()[name], name)}
    if not os.path.exists(root / Path(name).expanduser()):
        if "/" in name or re.search(r"\.[A-Za-z]\w*$", name):
            raise BiasgridError(
                f"{where}: {name}: no such file, and no model of that name (biasgrid list models)"
                f"{did_you_mean_file(root / name)}"
            )
        raise BiasgridError(
            f"{where}: {unknown_name('model', name, shipped_models(), 'biasgrid list models')}; or the path of a "
            "file of vectors"
        )
    key = re.sub(r"[^A-Za-z0-9_.-]+|^[^A-Za-z0-9]+", "-", Path(name).stem).lstrip("-") or "model"
    return {key: {"label": key, "source": {"type": "file", "path": name}}}


def _integer(digits: str) -> int:
    if len(digits) > 300:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _query(
    entry: criteria.Query, repetitions: Repetitions | None, where: str, sets: WordSets, root: Path
) -> Query:
    targets: Mapping[str, Sequence[str]]
    attributes: Mapping[str, Sequence[str]]
    name = entry.name
    if entry.file is not None:
        targets, attributes = sentences(entry, where, root), {}
    elif entry.seat is not None:
        targets, attributes = seat_sets(entry.seat, where)
        # A test of words and the tests of its sentences have sets of the same names.
        asked = generated_name(list(targets.values()), list(attributes.values()))
        name = name or f"{asked} ({entry.seat.replace('_', ' ')})"
    else:
        targets, attributes = (
            {name: sets.words(words, f"{where}: {name}") for name, words in (side or {}).items()}
            for side in (entry.targets, entry.attributes)
        )
    if entry.templates is not None:
        targets, attributes = in_sentences(targets, attributes, entry.templates, f"{where}: templates")
    try:
        return Query(targets, attributes, name=name, repetitions=entry.repetitions or repetitions)
    except BiasgridError as error:
        raise BiasgridError(f"{where}: {str(error).removeprefix('query: ')}") from None


def to_json_text(config: StudyConfig) -> str:
    """Return a complete config as a text that `read` can read.

    Sizes of downloads are left out, because they describe a server's files and not the study. Secrets in
    addresses are also left out.
    """
    record = public(to_record(config))
    for part in WITH_SOURCES:
        for entry in record.get(part, {}).values():
            entry.pop("download_mb", None)
    return json.dumps(with_version(record), ensure_ascii=False, indent=1) + "\n"
