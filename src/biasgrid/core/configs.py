"""Reading of YAML and JSON that a person wrote; a duplicate key is an error."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from .errors import BiasgridError, quote
from .resources import did_you_mean_file

# Maximum number of values and characters that the aliases (*name) of one document may expand to. A config is checked
# value by value: this many take seconds, and each further level of aliases takes ten times as long.
MOST_EXPANDED = 1_000_000
# Maximum nesting of lists and mappings: readers of a config are recursive, and Python's stack ends at 1,000 calls.
MOST_NESTED = 100

# Matches a message about a value or key that is not text, although it should be.
NOT_TEXT = re.compile(
    r"(?P<keys>(?:.*: )?)(?:key )?(?P<value>[^:]+) is not "
    r"(?:(?:[^:;]+ or )?text\b|a word\b|a mapping or a file's path|allowed; allowed: (?:texts|tags) )"
)
# How YAML reads a value without quotes, by its tag.
READ_AS = {
    "bool": "yes, no, on and off as true or false",
    "null": "null and ~ as nothing",
    "int": "{raw} as the number {value}",
    "float": "{raw} as the number {value}",
    "timestamp": "{raw} as a date",
}
files_read: dict[str, None] = {}  # the files that this process has read

TOO_DEEP = f"it is nested in more than {MOST_NESTED} levels, the most allowed"


def read_yaml(path: Path | str) -> Any:
    """Return the content of a YAML file.

    Raises BiasgridError with file and line.
    """
    return _read(path, "YAML", parse_yaml)


def parse_yaml(text: str) -> Any:
    """Return the content of a YAML document.

    Raises ValueError with one line.
    """
    try:
        record = yaml.load(text, _Loader)
        check_nesting(record)
        return record
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    # PyYAML raises these errors for values that do not have the type of their tag.
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
        raise ValueError(" ".join(str(error).split()) or "a value is not what its tag says") from None


def check_keys(record: Any, where: str) -> None:
    """Raise BiasgridError if a key or a date is not text; JSON would silently convert keys to text."""
    seen = set()
    stack = [(record, "")]
    while stack:
        part, place = stack.pop()
        if id(part) in seen or not isinstance(part, (Mapping, list, tuple)):
            if hasattr(part, "isoformat"):
                raise BiasgridError(f"{where}{place}: {part.isoformat()} is not text")
            continue
        seen.add(id(part))
        items = part.items() if isinstance(part, Mapping) else enumerate(part)
        for key, inner in items:
            if isinstance(part, Mapping) and not isinstance(key, str):
                raise BiasgridError(f"{where}{place}: key {quote(key)} is not text")
            stack.append((inner, f"{place}: {key}"))


def explain(error: BiasgridError, files: Iterable[Path | str]) -> BiasgridError:
    """Return an error about a value that is not text with its line in a YAML file and the remedy.

    YAML reads the words yes, no, null and 1990 as values of other types unless they are in quotes. Other
    errors, and errors about a value that none of the files contains, are returned unchanged.
    """
    about = NOT_TEXT.match(str(error))
    if not about:
        return error
    found = [
        (_count_common_keys(about["keys"], keys), str(file), node)
        for file in files
        if str(file).endswith((".yaml", ".yml"))
        for keys, node in _unquoted(file)
        if _quoted_value(node) == about["value"]
    ]
    if not found:
        return error
    _, file, node = max(found, key=lambda entry: entry[0])
    kind = node.tag.rpartition(":")[2]
    reading = READ_AS[kind].format(raw=node.value, value=about["value"])
    keys = about["keys"] if file in about["keys"] else f"{file}: {about['keys'].partition(': ')[2]}"
    line = node.start_mark.line + 1
    return type(error)(f'{keys}line {line}: YAML reads {reading}: put the word in quotes, "{node.value}"')


def _unquoted(path: Path | str) -> Iterator[tuple[list[str], yaml.ScalarNode]]:
    """Yield the values and keys of a YAML file that are not quoted and not read as text, with their path of keys."""
    try:
        root = yaml.compose(Path(path).read_text(encoding="utf-8"), _Loader)
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return
    stack: list[tuple[list[str], Any]] = [([], root)]
    seen = set()
    while stack:
        keys, node = stack.pop()
        if id(node) in seen:  # the node of an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                stack += [(keys, key), ([*keys, str(key.value)], value)]
        elif isinstance(node, yaml.SequenceNode):
            stack += [([*keys, str(place)], value) for place, value in enumerate(node.value)]
        elif node.style is None and node.value and node.tag.rpartition(":")[2] in READ_AS:
            yield keys, node


def _quoted_value(node: yaml.ScalarNode) -> str:
    """Return a value as messages quote it."""
    try:
        value = yaml.safe_load(node.value)
    except (ValueError, yaml.YAMLError):
        return ""
    return str(value.isoformat()) if hasattr(value, "isoformat") else quote(value)


def _count_common_keys(place: str, keys: Sequence[str]) -> int:
    """Return the number of last keys that a message names just before the value."""
    names = place.removesuffix(": ").split(": ")
    count = 0
    while count < min(len(names), len(keys)) and names[-1 - count] == keys[-1 - count]:
        count += 1
    return count


def read_json(path: Path | str) -> Any:
    """Return the content of a JSON file.

    Raises BiasgridError with the file's name.
    """
    return _read(path, "JSON", parse_json)


def parse_json(text: str) -> Any:
    """Return the content of a JSON document.

    Raises ValueError with one line.
    """
    try:
        return json.loads(text, object_pairs_hook=without_duplicates)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def _read(path: Path | str, kind: str, parse: Callable[[str], Any]) -> Any:
    files_read[str(path)] = None
    try:
        return parse(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        nearest = did_you_mean_file(path) if isinstance(error, FileNotFoundError) else ""
        raise BiasgridError(f"{path}: cannot read it: {error.strerror}{nearest}") from None
    except UnicodeDecodeError as error:
        raise BiasgridError(
            f"{path}: byte {error.start + 1:,} is not UTF-8; save the file as UTF-8"
        ) from None
    except ValueError as error:
        raise BiasgridError(f"{path}: not a {kind} file: {error}") from None


def check_nesting(record: Any) -> None:
    """Raise ValueError if lists and mappings are nested in more than `MOST_NESTED` levels."""
    level, depth = [record], 0
    while level := [part for part in level if isinstance(part, (list, dict, tuple))]:
        depth += 1
        if depth > MOST_NESTED:
            raise ValueError(TOO_DEEP)
        # Visit a part only once even if aliases repeat it.
        level = list({id(part): part for outer in level for part in _parts_of(outer)}.values())


def check_expansion(record: Any) -> None:
    """Raise ValueError if YAML's aliases expand a value too much.

    The limit is `MOST_EXPANDED` more values and characters than the parts have if each is counted once.
    """
    sizes: dict[int, int] = {}  # size of each part with all its content, written out
    distinct_size = 0  # size if each part is counted once
    stack = [(record, False)]
    while stack:
        part, is_second_visit = stack.pop()
        if is_second_visit:
            sizes[id(part)] = 1 + sum(
                sizes[id(inner)] if _may_be_shared(inner) else _length(inner) for inner in _parts_of(part)
            )
        elif id(part) not in sizes:
            inner = _parts_of(part)
            distinct_size += _length(part) + sum(_length(part) for part in inner if not _may_be_shared(part))
            sizes[id(part)] = _length(part)  # a part that contains itself is refused by json
            if inner:
                stack.append((part, True))
                stack += [(part, False) for part in inner if _may_be_shared(part)]
    if sizes[id(record)] - distinct_size > MOST_EXPANDED:
        raise ValueError(
            f"its aliases (*name) stand for more than {MOST_EXPANDED:,} values and characters, the most allowed"
        )


def _parts_of(part: Any) -> Sequence[Any]:
    """Return the parts of a part, including keys; text, numbers and the like do not have parts."""
    if isinstance(part, yaml.MappingNode):
        return [inner for pair in part.value for inner in pair]
    if isinstance(part, yaml.SequenceNode):
        return part.value
    if isinstance(part, dict):
        return [inner for pair in part.items() for inner in pair]
    return part if isinstance(part, (list, tuple)) else []


def _length(part: Any) -> int:
    text = part.value if isinstance(part, yaml.ScalarNode) else part
    return 1 + (len(text) if isinstance(text, str) else 0)


def _may_be_shared(part: Any) -> bool:
    """Return whether an alias may repeat a part; Python itself shares equal short texts, so they do not count."""
    return isinstance(part, (yaml.Node, dict, list, tuple)) or (isinstance(part, str) and len(part) > 100)


class _Loader(yaml.SafeLoader):
    def construct_document(self, node):
        # Check before the document is built, because a merge (<<) copies its content.
        check_expansion(node)
        return super().construct_document(node)

    def construct_mapping(self, node, deep=False):
        keys = set()
        for key, _ in node.value:
            # << is YAML's merge key
            if isinstance(key, yaml.ScalarNode) and key.value in keys and key.value != "<<":
                raise yaml.constructor.ConstructorError(
                    None, None, f"duplicate key {key.value!r}", key.start_mark
                )
            keys.add(key.value if isinstance(key, yaml.ScalarNode) else None)
        return super().construct_mapping(node, deep)


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a mapping of JSON (`object_pairs_hook`).

    Raises ValueError for a duplicate key.
    """
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"duplicate key {next(key for key in keys if keys.count(key) > 1)!r}")
    return mapping


def canonical(record: Any) -> str:
    """Return a record as text that is identical for equal records."""
    return json.dumps(record, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def sort_keys(record: Any) -> Any:
    """Return a copy of a record with sorted keys, so that results do not depend on the order of a config's keys."""
    if isinstance(record, dict):
        return {key: sort_keys(record[key]) for key in sorted(record)}
    return [sort_keys(part) for part in record] if isinstance(record, (list, tuple)) else record
