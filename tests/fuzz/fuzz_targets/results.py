"""A finished study with one file damaged or edited, through every door that reads results."""

from __future__ import annotations

import csv
import functools
import io
import json
import random
import shutil
import tempfile
import warnings
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import matplotlib
from finished_study import finished

from biasgrid import cli, figures, open_study, tables
from biasgrid.study import checksums

from .damage import Refused, accepted, damaged

matplotlib.use("Agg")

LONGEST = 400  # characters of a message
NUMBERS = [
    "",
    "x",
    "-1",
    "1e999",
    "nan",
    "inf",
    "-1e300",
    "0",
    "2.5",
    "1e-300",
    "9" * 400,
    "None",
    "[]",
    "1,5",
]
TEXTS = ["", "x", "none", "nan", "Overall", "-1", "a/b", "../..", "weat", "\u202e", "é" * 300, "ok", "tested"]
VALUES = [
    None, True, 0, -1, 1.5, 10**400, "", "x", "nan", "1e999", [], [1], ["x"], [None], {}, {"a": 1}, {"": None},
    [[]], "none", "../..", "\u202e", 1e300,
]  # fmt: skip
LEFT_OUT = ("report.html", "null", "pools", "debias", "figures")  # which no door reads


@functools.cache
def whole() -> Path:
    """A copy of the finished study's results, in the same file system as the inputs, as these are links to it."""
    folder = Path(tempfile.mkdtemp()) / "results"
    source = finished().folder / "results"
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    study = json.loads((folder / "small" / "study.json").read_text(encoding="utf-8"))
    # figures take most of the time that `join` takes
    (folder / "small" / "study.json").write_text(json.dumps(study | {"figures": []}), encoding="utf-8")
    checksums.record_all(folder / "small")
    return folder


def copy_of(folder: Path) -> Path:
    """Copy the results to a folder."""
    shutil.copytree(whole(), folder)
    return folder / "small"


def one_file(results: Path, chance: random.Random) -> Path:
    """A file to damage: tables, records of each kind and arrays equally often."""
    kinds = [
        "*.csv",
        "*.csv",
        "cells/**/*.json",
        "inference/**/*.json",
        "*.json",
        "*/*.json",
        "aggregates/**/*.json",
    ]
    kinds += [
        "inference/**/*.npy",
        "rank_samples.npy",
        "frequency/*.json",
        "evaluation/**/*.json",
        "models/*.json",
    ]
    while True:
        if files := sorted(results.glob(chance.choice(kinds))):
            return chance.choice(files)


def damage(file: Path, chance: random.Random) -> None:
    """Damage a file in one way."""
    content = file.read_bytes()
    file.unlink()
    kind = chance.randrange(20)
    if kind == 0:
        return
    if kind == 1:
        new = chance.choice(
            [b"", b"\n", b"{}", b"[]", b"null", b"\xff\xfe", b"1", b'"x"', b"{", b"a,b\n1,2\n"]
        )
    elif kind == 2:
        others = sorted(other for other in whole().rglob(f"*{file.suffix}") if other.is_file())
        new = chance.choice(others).read_bytes()
    elif kind == 3:
        new = content[: chance.randrange(len(content))]
    elif kind == 4:
        new = damaged(content, chance)
    elif file.suffix == ".csv":
        new = edited_table(content.decode(), chance).encode("utf-8", "surrogatepass")
    elif file.suffix == ".json":
        new = json.dumps(edited_record(json.loads(content), chance)).replace('"1e999"', "1e999").encode()
    else:
        new = damaged(content, chance, 1)
    file.write_bytes(new)


def edited_table(text: str, chance: random.Random) -> str:
    header, *rows = csv.reader(io.StringIO(text))
    kind, column = chance.randrange(9), chance.randrange(len(header))
    if kind == 0:
        header, rows = ([v for i, v in enumerate(row) if i != column] for row in (header, rows))  # type: ignore
    elif kind == 1:
        other = chance.randrange(len(header))
        header[column], header[other] = header[other], header[column]
    elif kind == 2:
        header[column] = chance.choice([*header, "x", ""])
    elif rows:
        place = chance.randrange(len(rows))
        if kind == 3:
            del rows[place]
        elif kind == 4:
            rows.insert(chance.randrange(len(rows)), rows[place])
        elif kind == 5:
            chance.shuffle(rows)
        elif kind == 6:
            del rows[chance.randrange(len(rows)) :]
        else:
            among = [row[column] for row in rows]
            rows[place][column] = chance.choice([*NUMBERS, *TEXTS, chance.choice(among)])
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
    return file.getvalue()


def edited_record(record, chance: random.Random):
    """A record with another value, or without a key, somewhere."""
    inner, depth = record, chance.randrange(9)
    while True:
        if not isinstance(inner, (dict, list)) or not inner:
            return chance.choice(VALUES)
        key = chance.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
        below = inner[key]
        if depth and isinstance(below, (dict, list)) and below:
            inner, depth = below, depth - 1
            continue
        if chance.random() < 0.25:
            del inner[key]
        elif isinstance(inner, dict) and chance.random() < 0.1:
            inner[chance.choice(["x", "", *inner])] = inner.pop(key)
        else:
            inner[key] = chance.choice(
                [*VALUES, chance.choice(list(inner.values() if isinstance(inner, dict) else inner))]
            )
        return record


def command(*arguments: str) -> str:
    """What a command prints on standard error; Refused where it ends with 2 and says why in its last line."""
    told, show = io.StringIO(), warnings.showwarning
    try:
        with redirect_stderr(told), redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")):
            code = cli.main(list(arguments))
    except SystemExit as ended:
        code = ended.code
    finally:
        warnings.showwarning = show
    lines = told.getvalue().splitlines()
    assert code in (0, 2) or (code == 1 and arguments[0] == "verify"), f"exit code {code}"
    assert all(line.startswith("biasgrid: ") and len(line) <= LONGEST for line in lines), lines
    if code == 2:
        assert [line for line in lines if "warning: " not in line], "nothing is said"
        raise Refused
    return told.getvalue()


def report(results: Path, chance: random.Random) -> str:
    more = ["--without", chance.choice(["q1", "q2", "q3", "pairs"])] if chance.random() < 0.2 else []
    return command("report", str(results), "--output", "page.html", *more)


def compare(results: Path, chance: random.Random) -> str:
    both = [str(results), str(whole() / "small")]
    return command(
        "compare", *(both if chance.random() < 0.5 else both[::-1]), *chance.choice([["--json"], []])
    )


def listing(results: Path, chance: random.Random) -> str:
    topic = chance.choice(["models", "metrics", "queries", "debias", "tables", "figures"])
    command("list", topic, "--study", str(results / "study.json"))
    return ""


def publish(results: Path, chance: random.Random) -> str:
    checksums.record_all(results)
    command("publish", str(results), "published")
    return ""


def join(results: Path, chance: random.Random) -> str:
    checksums.record_all(results)
    command("join", str(whole() / "small"), str(results), "--into", "joined")
    return ""


def verify(results: Path, chance: random.Random) -> str:
    return command("verify", str(results))


def python(results: Path, chance: random.Random) -> str:
    """The grid's tables, methods and figures, each of which may be refused."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        grid = accepted(open_study, results)
        calls: list[Callable] = [functools.partial(grid.frame, name) for name in tables.REGISTRY]
        calls += [
            grid.rank,
            grid.aggregate,
            grid.summary,
            grid.least_biased,
            grid.correlate,
            grid.reliability,
        ]
        calls += [grid.compare, grid.to_markdown, grid.to_latex, grid._repr_html_, lambda: repr(grid)]
        calls += [lambda: grid.scores, lambda: grid.lost_words, lambda: grid.left_out, lambda: grid.models]
        calls += [lambda: grid.rank("First"), lambda: grid.table("weat"), lambda: grid.correlate("kendall")]
        calls += [lambda: grid.without("q1").rank(), lambda: grid.without("q1").summary()]
        if chance.random() < 0.3:
            calls = [
                functools.partial(grid.plot, kind) for kind in chance.sample(sorted(figures.REGISTRY), 2)
            ]
        for call in chance.sample(calls, min(len(calls), 8)):
            with suppress(Refused):
                accepted(call)
    return "\n".join(str(warning.message) for warning in caught)


DOORS = [*[report, python] * 5, *[compare] * 4, *[listing, publish, verify] * 2, join]


def results(seed: int, folder: Path) -> None:
    """One damaged file, and one door. What the run recorded otherwise is said, unless the door refuses it."""
    chance = random.Random(seed)
    place = copy_of(folder / "results")
    file = one_file(place, chance)
    was = file.read_bytes()
    damage(file, chance)
    if chance.random() < 0.2:
        (place / checksums.NAME).unlink()
    door = chance.choice(DOORS)
    with chdir(folder):
        said = door(place, chance)
    is_edited = file.is_file() and file.read_bytes() != was and (place / checksums.NAME).is_file()
    if is_edited and door in (report, compare, verify, python):
        assert str(file.relative_to(place)) in said, f"{door.__name__} shows an edited file without a word"


whole()  # making the study is not an input's time
TARGETS = {"results": results}
