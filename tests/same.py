"""Whether two folders of results say the same.

    python tests/same.py RESULTS OTHER [--gone NAME]

A number may differ by 1e-12 of itself, or of the largest beside it (in its column, list or mapping); of language
models by 1e-6, as their libraries add in another order on another machine. Ranks, counts and p-values have no such
room (but for those of a normal curve, which counts nothing), nor have text and the order of rows. A p-value or a rank
that differs because two values tie within 1e-12 is listed like any other difference: who compares decides. A quotient
x of small differences (`Column.is_quotient`) is compared as x / (1 + |x|), which has rounding errors no larger than
those of the differences. Standardised bias, and what pairs.csv makes of it, is a small difference in units of a small
spread: it may differ by 1e-9. The p-values of pairs.csv are those of a curve.

A column or key that one side alone has is a difference. `--gone NAME` is for what OTHER should lack, with all that
is under it: it is a difference if RESULTS does not have it, or OTHER does.

Tables, cells, inference, evaluations and the like are compared. Files that say how the results were made (versions,
digests), figures and pages are not: of these, only equal bytes mean something, on one machine and version.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biasgrid.tables import REGISTRY

ROOM, ROOM_OF_LANGUAGE_MODELS, ROOM_OF_SCALE = 1e-12, 1e-6, 1e-9
FOLDERS = ("cells", "inference", "aggregates", "evaluation", "frequency", "sentence_scores", "queries")
HOW_MADE = {"versions", "made_of", "code", "schema"}  # keys of JSON
# names of columns and keys; a p-value of a curve is a number like others
EXACT = re.compile(r"p|p_(?!normal|random_effects).*|.*_p|.*rank.*|.*count.*|draws.*|.*partitions")


def differences(first: Path, second: Path, gone: Collection[str] = ()) -> list[str]:
    """What differs, in a line each: file, column or key, how often, and the first example."""
    lines, seen = [], set()
    files = [_files(folder) for folder in (first, second)]
    lines += [f"{name}: only in {first}" for name in files[0] if name not in files[1]]
    lines += [f"{name}: only in {second}" for name in files[1] if name not in files[0]]
    scored = _language_models(first)
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}  # folder or table, place -> file, what differs
    for name in files[0]:
        if name in files[1]:
            compare = _tables if name.endswith(".csv") else _records
            for place, what in compare(first / name, second / name, scored, gone, seen):
                found.setdefault((name.partition("/")[0], place), []).append((name, what))
    lines += [f"{name}: not in {first}" for name in gone if name not in seen]
    for (part, place), cases in found.items():
        file, what = cases[0]
        files_text = f"in {len(cases)} files, such as {file}: " if file != part else ""
        lines.append(": ".join(filter(None, (part, place, files_text + what))))
    return lines


def is_counted(name: str) -> bool:
    """Return whether a column or key holds counts, ranks or p-values that are counted, which have no room."""
    return EXACT.fullmatch(name) is not None


def _files(folder: Path) -> list[str]:
    paths = [*folder.glob("*.csv"), *(path for part in FOLDERS for path in folder.glob(f"{part}/**/*.json"))]
    return sorted(str(path.relative_to(folder)) for path in paths)


def _language_models(folder: Path) -> set[str]:
    """The models whose numbers have more room."""
    path = folder / "study.json"
    models = json.loads(path.read_text(encoding="utf-8")).get("models", {}) if path.is_file() else {}
    return {key for key, model in models.items() if model.get("kind") == "language_model"}


def _tables(
    first: Path, second: Path, scored: set[str], gone: Collection[str], seen: set[str]
) -> Iterator[tuple[str, str]]:
    """What differs between tables; adds to `seen` what is gone and was in the first."""
    tables = [pd.read_csv(path, dtype=str, keep_default_na=False) for path in (first, second)]
    seen.update(tables[0].columns.intersection(gone))
    tables[0] = tables[0].drop(columns=gone, errors="ignore")
    columns = [list(table.columns) for table in tables]
    if columns[0] != columns[1]:
        shared = [[name for name in names if name in columns[1 - i]] for i, names in enumerate(columns)]
        gone, new = ([n for n in names if n not in both] for names, both in zip(columns, shared, strict=True))
        yield "columns", f"without {gone}, with {new}" + ", in another order" * (shared[0] != shared[1])
    if len(tables[0]) != len(tables[1]):
        yield "", f"{len(tables[0])} rows, and {len(tables[1])}"
        return
    # a table without the column mixes all models
    models = tables[0].get("model", pd.Series(next(iter(scored), ""), index=tables[0].index))
    room = np.where(models.isin(scored), ROOM_OF_LANGUAGE_MODELS, ROOM)
    declared = REGISTRY[first.stem].columns if first.stem in REGISTRY else ()
    quotients = {column.name for column in declared if column.is_quotient}
    for name in columns[0]:
        if name in columns[1]:
            texts = [table[name].to_numpy() for table in tables]
            is_scaled = first.stem == "pairs" or name.startswith("standardized")
            of_column = np.maximum(room, ROOM_OF_SCALE) if is_scaled else room
            is_exact = is_counted(name) and not (first.stem == "pairs" and name.startswith(("p", "other_p")))
            yield from _differing(name, *texts, of_column, texts[0], name in quotients, is_exact)


def _differing(
    name: str,
    first: np.ndarray,
    second: np.ndarray,
    room: np.ndarray,
    beside: np.ndarray,
    is_quotient: bool = False,
    is_exact: bool = False,
) -> Iterator[tuple[str, str]]:
    """What differs in a column, or at one place of JSON, whose values are texts; `beside`: those beside them."""
    differ = first != second
    if differ.any() and not is_exact:
        numbers, others, all_numbers = map(_numbers, (first, second, beside))
        if is_quotient:
            numbers, others, all_numbers = (x / (1 + np.abs(x)) for x in (numbers, others, all_numbers))
        scale = np.abs(all_numbers[np.isfinite(all_numbers)]).max(initial=0.0)
        with np.errstate(invalid="ignore"):
            near = np.abs(numbers - others) <= room * np.maximum(np.abs(numbers), scale)
        whole = np.array([re.fullmatch(r"-?\d+", text) is not None for text in first], dtype=bool)
        differ &= ~near | whole
    if differ.any():
        place = int(np.flatnonzero(differ)[0])
        yield name, f"{differ.sum()} of {len(first)} differ, such as {first[place]!r} and {second[place]!r}"


def _numbers(texts: np.ndarray) -> np.ndarray:
    return pd.to_numeric(pd.Series(texts), errors="coerce").to_numpy(dtype=float)


def _records(
    first: Path, second: Path, scored: set[str], gone: Collection[str], seen: set[str]
) -> Iterator[tuple[str, str]]:
    """What differs between records; adds to `seen` what is gone and was in the first."""
    content = first.read_bytes()
    if content == second.read_bytes() and not any(name.encode() in content for name in gone):
        return

    def without(mapping: dict[str, Any]) -> dict[str, Any]:
        seen.update(set(mapping).intersection(gone))
        return {key: value for key, value in mapping.items() if key not in gone}

    room = ROOM_OF_LANGUAGE_MODELS if scored.intersection(first.parts) or first.stem in scored else ROOM
    leaves: list[dict[str, list[str]]] = []
    for path, hook in ((first, without), (second, None)):
        places: dict[str, list[str]] = {}
        record = json.loads(path.read_text(encoding="utf-8"), object_hook=hook)
        for place, value in _leaves(record):
            places.setdefault(place, []).append(value)
        leaves.append(places)
    siblings: dict[str, list[str]] = {}
    for place in leaves[0]:
        siblings.setdefault(place.rpartition("/")[0], []).append(place)
    for place in dict.fromkeys([*leaves[0], *leaves[1]]):
        if leaves[0].get(place) == leaves[1].get(place):
            continue
        values = [np.array(places.get(place, []), dtype=object) for places in leaves]
        if len(values[0]) != len(values[1]):
            yield place, f"{len(values[0])} values, and {len(values[1])}"
        else:
            beside = [value for other in siblings[place.rpartition("/")[0]] for value in leaves[0][other]]
            yield from _differing(
                place,
                *(*values, np.full(len(values[0]), room), np.array(beside, dtype=object)),
                is_exact=is_counted(place.rpartition("/")[2]),
            )


def _leaves(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Every value of a record as text, in order, and where it stands; the places of a list are one. The name of a key
    counts as a value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in HOW_MADE:
                yield f"{place}/", key
                yield from _leaves(inner, f"{place}/{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, place)
    else:
        yield place, value if isinstance(value, str) else json.dumps(value)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--gone", action="append", default=[], metavar="NAME")
    arguments = parser.parse_args()
    lines = differences(arguments.first, arguments.second, arguments.gone)
    print("\n".join(lines) if lines else "the same")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
