"""Drawings of every kind of figure from tables that no study has, and that are yet as their columns are declared."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from odd_texts import odd

from biasgrid import figures, tables
from biasgrid.core.errors import BiasgridError
from biasgrid.core.printable import LONGEST
from biasgrid.figures import Drawing

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))
import pictures

# of these a table has names, and columns whose name is one of theirs with an end, such as model_a
KEYS = {"model": "model", "metric": "metric", "criterion": "criterion", "query": "query"}
NAMES = ("criterion", "query", "set", "word", "concept", "phenomenon", "list", "training")
WORDS = ("note", "measure", "rating", "label")  # of a spec, which are printed as they are
HAN, ARABIC = "\u6027\u522b\u504f\u89c1", "\u0627\u0646\u062d\u064a\u0627\u0632"
TEXTS: dict[str, Callable[[str], str]] = {
    "as they are": lambda text: text,
    "one letter": lambda text: text[:1],
    "of 60 letters": lambda text: (f"{text} " + "and so on, word after word, " * 3)[:60],
    "one word": lambda text: re.sub(r"\W", "", text)[:20] + "o" * 40,
    "markup": lambda text: rf"${text[:30]}_{{1}}^2$ <b>&amp; \frac{{%s}} #"[:80],
    "Han": lambda text: f"{HAN}{text[-20:]}{HAN * 3}",
    "Arabic": lambda text: f"{ARABIC} {text[-20:]} {ARABIC * 2}",
    "odd": odd,
}
# whether a number is left as it is; its value, by that of the table, whether the row is chosen, and the column's ends
NUMBERS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "as they are": lambda x, chosen: x,
    "tiny": lambda x, chosen: x * 1e-12,
    "huge": lambda x, chosen: x * 1e6,
    "one huge": lambda x, chosen: np.where(chosen.cumsum() == 1, x * 1e6, x),
    "negative": lambda x, chosen: -np.abs(x),
    "of both signs": lambda x, chosen: np.where(chosen, -x, x),
    "zero": lambda x, chosen: x * 0,
    "identical": lambda x, chosen: x * 0 + 0.25,
    "at the ends": lambda x, chosen: np.where(chosen, np.inf, -np.inf),
}
MISSING = ("none", "some", "all", "all but one", "columns", "intervals")


@dataclass(frozen=True)
class Change:
    """What is other than in the gallery's picture of a kind.

    copies   (what there are so many of, how many): more are made as copies of one, whose numbers are near to its
    rows     how many rows of each table there are, at most
    numbers  what all numbers are, one of NUMBERS
    missing  which numbers are NaN, one of MISSING
    texts    what labels and names are, one of TEXTS
    ends     whether tables have the columns that older ones lack
    seed     which rows and columns
    """

    copies: tuple[str, int] | None = None
    rows: int | None = None
    numbers: str = "as they are"
    missing: str = "none"
    texts: str = "as they are"
    ends: bool = True
    seed: int = 0


def changes(kind: str, most: int = 20) -> st.SearchStrategy[Change]:
    """Changes of a kind's picture, of at most so many copies. The simplest has the oddest texts; what comes next is
    another one for each kind."""
    chance = random.Random(kind)

    def one_of(first: Any, options: Iterable[Any]) -> st.SearchStrategy[Any]:
        others = [option for option in options if option is not first or first is None]
        return st.sampled_from([first, *chance.sample(others, len(others))])

    # many metrics are a figure of many seconds
    copies = [
        (key, n) for key in KEYS for n in (1, 2, 4, 10, 20) if n <= min(most, 10 if key == "metric" else 20)
    ]
    return st.builds(
        Change,
        copies=one_of(None, [None] * len(copies) + copies),
        rows=one_of(None, [None] * 8 + [1, 0]),
        numbers=one_of("as they are", NUMBERS),
        missing=one_of("none", MISSING),
        texts=one_of("odd", TEXTS),
        ends=one_of(True, [False]),
        seed=st.integers(0, 99),
    )


@cache
def _picture(kind: str) -> tuple[pictures.OfStudy, dict[str, Any]]:
    entry = next((entry for entry in pictures.PICTURES.values() if entry.kind == kind), None)
    assert entry, f"{kind}: Figure.example says which figure of which study the gallery shows"
    return entry, tables_of(entry)


def tables_of(entry: pictures.Picture) -> dict[str, Any]:
    """The tables beside a picture. Without them, a test fails in a line that says how to make them."""
    try:
        return entry.read()
    except BiasgridError as error:
        pytest.fail(f"{entry.stem}: {error}", pytrace=False)


KINDS = sorted(figures.REGISTRY)


def changed(kind: str, change: Change, folder: Path) -> tuple[Drawing, dict[str, Any]]:
    """A kind's drawing in the gallery, changed; and what it is drawn from."""
    entry, found = _picture(kind)
    chance, spec = random.Random(f"{kind} {change.seed}"), dict(entry.drawing.spec)
    if change.copies:
        found, spec = _copied(found, spec, *change.copies)
    found = {name: _content(name, content, change, chance) for name, content in found.items()}
    found, spec = _named(found, spec, TEXTS[change.texts], change.texts)
    drawing = replace(entry.drawing_of(found, folder), spec=spec)
    if not change.ends:
        _without_ends(drawing)
    return drawing, found


def _of_key(table: Any, key: str) -> list[str]:
    """The columns of a table that have such names."""
    return [c for c in (key, f"{key}_a", f"{key}_b", f"other_{key}") if c in table]


def _copied(found, spec, key, count):
    """So many of them in tables and documents, and in the spec where it has them."""
    parts = [part for part in found.values() if isinstance(part, pd.DataFrame)]
    names = list(dict.fromkeys(name for part in parts for c in _of_key(part, key) for name in part[c]))
    names = [name for name in names if name != "Overall"]
    if not names:
        return found, spec
    kept, first = names[:count], names[0]
    added = [f"{first[:40]} {i}" for i in range(2, count - len(kept) + 2)]
    labels = spec.get("labels", {})
    spec = {
        name: value if name in ("labels", key) else _copied_in(value, first, added)
        for name, value in spec.items()
    }
    if first in labels:
        spec["labels"] = labels | {name: f"{labels[first]} {i + 2}" for i, name in enumerate(added)}
    allowed = {*kept, *added, "Overall"}
    of_copy = {**{name: name for name in (*kept, "Overall")}, **dict.fromkeys(added, first)}
    found = {
        name: _copied_rows(part, _of_key(part, key), of_copy, added, allowed)
        if isinstance(part, pd.DataFrame)
        else part
        for name, part in found.items()
    }
    return found, spec


def _copied_rows(table, columns, of_copy, added, allowed):
    table = table[table[columns].isin(allowed).all(axis=1)] if columns else table
    if not columns or not added:
        return table
    parts, places = [table], {name: i + 1 for i, name in enumerate(added)}
    first = of_copy[added[0]]
    if len(columns) == 1:
        rows = table[table[columns[0]] == first]
        parts += [_near(rows.assign(**{columns[0]: name}), place) for name, place in places.items()]
    else:
        a, b = columns[:2]
        others = table[(table[a] == first) & (table[b] != first)]
        of_itself = table[(table[a] == first) & (table[b] == first)]
        reverse = table[(table[b] == first) & (table[a] != first)]
        of_pair = others if len(others) else reverse
        if len(of_pair):
            of_pair = of_pair[of_pair[b if len(others) else a] == of_pair[b if len(others) else a].iloc[0]]
        for name, place in places.items():
            parts += [_near(others.assign(**{a: name}), place), _near(reverse.assign(**{b: name}), place)]
            parts.append(of_itself.assign(**{a: name, b: name}))
            earlier = [first, *added[: place - 1]]
            parts += [_near(of_pair.assign(**{a: other, b: name}), place) for other in earlier]
            if len(reverse) and len(others):
                parts += [_near(of_pair.assign(**{a: name, b: other}), place) for other in earlier]
    return pd.concat(parts, ignore_index=True)


def _near(rows: pd.DataFrame, place: int) -> pd.DataFrame:
    """Rows with other numbers: ranks further down, others a little smaller. Counts stay."""
    numbers = rows.select_dtypes("float64")
    is_count = (numbers.isna() | (numbers % 1 == 0)).all()
    is_rank = [("rank" in name or (name in ("low", "high") and "rank" in rows)) for name in numbers]
    return rows.assign(
        **{
            name: numbers[name] + place if ranked else numbers[name] * (1 - place / 50)
            for name, ranked in zip(numbers, is_rank, strict=True)
            if ranked or not is_count[name]
        }
    )


def _copied_in(value, first, added, is_record=False):
    """Lists and mappings that have it also have the copies. In a list of lists, these are records, such as of a model
    and a debias method: there is another of each."""
    if isinstance(value, dict):
        value = {name: _copied_in(inner, first, added) for name, inner in value.items()}
        return value | {name: value[first] for name in added if first in value}
    if not isinstance(value, (list, tuple)):
        return value
    value, copies = [_copied_in(inner, first, added, is_record=True) for inner in value], []
    if is_record and not any(isinstance(inner, list) for inner in value):
        return value
    for inner in value:
        if inner == first and not is_record:
            copies += added
        elif isinstance(inner, list) and first in inner:
            copies += [[name if part == first else part for part in inner] for name in added]
    return value + [copy for copy in copies if copy not in value]


def _content(name: str, content: Any, change: Change, chance: random.Random) -> Any:
    if not isinstance(content, pd.DataFrame):
        return _document(content, change, chance)
    declared = tables.REGISTRY.get(name)
    if declared is None or name == "scalars":
        return content
    table = pictures.complete(name, content).head(change.rows).copy() if change.rows is not None else None
    table = pictures.complete(name, content).copy() if table is None else table
    columns = [c for c in declared.columns if c.dtype == "number" and c.name in table]
    chosen = np.array([chance.random() < 0.5 for _ in range(len(table))], dtype=bool)
    for column in columns:
        table[column.name] = _of_range(table[column.name].to_numpy(float), column, change.numbers, chosen)
    for low, high in _intervals(table):
        table[[low, high]] = np.sort(table[[low, high]].to_numpy(float), axis=1)
    for column in declared.columns if change.numbers == "huge" else ():
        if column.dtype == "count":
            table[column.name] *= 10_000
    return _with_missing(table, columns, change.missing, chosen, chance)


def _of_range(values, column, how, chosen):
    low, high = column.range
    if (low, high) == (1, np.inf):  # ranks are places
        return np.clip(values, low, high) if how != "identical" else np.where(np.isnan(values), np.nan, 1.5)
    changed = np.where(np.isnan(values), np.nan, NUMBERS[how](values, chosen))
    least = np.nanmin(values) if len(values) and not np.isnan(values).all() else 0.0
    ends = (low if np.isfinite(low) else least), (high if np.isfinite(high) else max(least, 0) + 1e6)
    return np.clip(changed, *ends) if how == "at the ends" else np.clip(changed, low, high)


def _intervals(table: pd.DataFrame) -> Iterator[tuple[str, str]]:
    for low, high in (("low", "high"), ("min", "max")):
        for column in table:
            if re.search(rf"(^|_){low}$", column) and (other := re.sub(f"{low}$", high, column)) in table:
                yield column, other


def _with_missing(table, columns, missing, chosen, chance):
    names = [column.name for column in columns]
    if missing == "columns":
        table[[name for name in names if chance.random() < 0.3]] = np.nan
    if missing == "intervals":
        table[[name for pair in _intervals(table) for name in pair]] = np.nan
    if missing in ("some", "all", "all but one"):
        lost = {"some": chosen, "all": chosen | True, "all but one": np.arange(len(table)) > 0}[missing]
        table.loc[lost, names] = np.nan
        if "status" in table:
            table.loc[lost, "status"] = "lost_words:Male terms"
        if "reason" in table:
            table.loc[lost, "reason"] = "no value"
        if "evidence" in table:
            table.loc[lost, ["evidence", "tests"]] = ["untested", 0]
    return table


SHARES = {"negative_sentiment_distribution", "shares", "random_shares"}
MEASURED = {*SHARES, "difference", "score", "xy", "projections"}


def _document(content: Any, change: Change, chance: random.Random, of: str = "") -> Any:
    """Numbers of documents, and values of cells that have none."""
    if isinstance(content, dict) and isinstance(content.get("results"), list):
        results = [
            {**result, "status": "lost_words:Male terms", "value": None, "scalars": {}, "detail": {}}
            if change.missing == "all" or (change.missing == "some" and chance.random() < 0.5)
            else result
            for result in content["results"]
        ]
        content = content | {"results": results}
    if isinstance(content, dict):
        return {
            key: _document(value, change, chance, of or (key if key in MEASURED else ""))
            for key, value in content.items()
        }
    if isinstance(content, list):
        return [_document(value, change, chance, of) for value in content]
    if isinstance(content, float) and of:
        how = np.array([chance.random() < 0.5])
        value = NUMBERS[change.numbers](np.array([content]), how)[0]
        ends = (0.0, 1.0) if of in SHARES else (-1e6 * abs(content) - 1, 1e6 * abs(content) + 1)
        return float(np.clip(value, *ends))
    return content


def _named(found, spec, write, how):
    """Labels and names of another form; of arrays and documents, those of the spec alone."""
    texts = {}
    for part in found.values():
        for column in (c for c in part if c in NAMES) if isinstance(part, pd.DataFrame) else ():
            length = 100 if column == "criterion" else LONGEST
            for name in dict.fromkeys(part[column]):
                if name in ("", "Overall") or (how == "one letter" and column in ("query", "word")):
                    continue
                texts[name] = write(name)[:length] if how != "odd" else odd(name, length)
    if len({*texts.values()}) < len(texts):  # names stay different
        texts = {name: f"{text[:80]} {i}" for i, (name, text) in enumerate(texts.items())}
    found = {
        name: part.assign(**{c: [texts.get(x, x) for x in part[c]] for c in part if c in NAMES})
        if isinstance(part, pd.DataFrame)
        else part
        for name, part in found.items()
    }
    spec = replaced(spec, texts)
    spec |= {name: write(spec[name]) for name in WORDS if isinstance(spec.get(name), str)}
    if "labels" in spec:
        spec["labels"] = {key: write(label) for key, label in spec["labels"].items()}
    return found, spec


def replaced(value: Any, texts: dict[str, str]) -> Any:
    """A spec with other texts in it."""
    if isinstance(value, dict):
        return {replaced(key, texts): replaced(inner, texts) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [replaced(inner, texts) for inner in value]
    return texts.get(value, value) if isinstance(value, str) else value


def _without_ends(drawing: Drawing) -> None:
    """Tables of older code lack the columns that were added at the end."""
    for name, file in drawing.inputs.items():
        if name in tables.REGISTRY and Path(str(file)).suffix == ".csv":
            table = pd.read_csv(file, dtype=str, keep_default_na=False)
            ends = [column.name for column in tables.REGISTRY[name].ends]
            table.drop(columns=ends, errors="ignore").to_csv(file, index=False)
