"""Command lines, and the configs, queries and words that they read, damaged: through `biasgrid.cli.main`."""

from __future__ import annotations

import atexit
import io
import json
import os
import random
import shutil
import sys
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import numpy as np

# commands import these when they need them, which is not an input's time
import scipy.stats  # noqa: F401
import sklearn.linear_model  # noqa: F401
import yaml

from biasgrid import cli, metrics

from .damage import Refused, damaged

sys.path.append(str(Path(__file__).resolve().parents[3]))  # validation is a package that no one installs

from validation.__main__ import main as experiments

LONGEST = 400  # characters of a message
WORDS = [f"{letter}{i}" for letter in "abcd" for i in range(3)]
SETS = {letter: [word for word in WORDS if word[0] == letter] for letter in "abcd"}
QUERY = {
    "target_sets": [{"name": name, "words": SETS[name]} for name in "ab"],
    "attribute_sets": [{"name": name, "words": SETS[name]} for name in "cd"],
}
PAIRS = {"definitional_pairs": [["a0", "b0"], ["a1", "b1"], ["a2", "b2"]]}
STUDY = {
    "study": "s",
    "seed": 3,
    "embeddings": "emb",
    "results": "out",
    "models": {"m": {"label": "M", "source": {"type": "file", "path": "model.txt"}}},
    "criteria": {
        "C": {
            "queries": {
                "q": {"targets": {n: SETS[n] for n in "ab"}, "attributes": {n: SETS[n] for n in "cd"}},
            }
        }
    },
    "metrics": {"weat": {}, "rnd": {"params": {"distance": "norm"}}},
    "inference": {
        "permutation": {"draws": 20, "alternative": "bias"},
        "bootstrap": {"draws": 25, "level": 0.9},
    },
    "debias": {"C": {"h": {"method": "hard", "words": PAIRS}}},
}
FACTORY = {"factory": "s", "mu": [0.25, 0.5], "sigma": [0.1], "metrics": {"weat": {"groups": "attributes"}}}
FACTORY |= {"trainers": {"word2vec": {"mu": [0.25], "params": {"window": 2}}}}
SIMULATION = {"simulation": "s", "metrics": {"weat": {}}, "words": [8], "bias": [0, 0.5], "seed": 1}
# values of options, as people and scripts mistype them
VALUES = [
    "", "0", "-1", "1e400", "nan", "NaN", "0x10", "1_0", "1:1:1", "9" * 5000, "true", "null", "~", "é", "%", "\t",
    "x" * 3000, "[", "[" * 600, "{a: b}", "{}", "- -", "'", "? [a, b]", "&a [*a]", "<<: [1]", "2020-13-45",
    "!!int ''", "!!bool maybe", "!!python/name:os.system", '"\\ud800"', '{"a": 1, "a": 2}', "\udcff",
    "a: &a [x, x]\nb: &b [*a, *a]",
]  # fmt: skip

TEXTS = [
    "",
    "\ud800",
    "a\nb",
    "\0",
    "../x",
    "/",
    ".",
    "é",
    "x" * 300,
    "é" * 200,
    "{model}",
    "a\nb",
    "\u202e",
    "weat",
    "toy.x",
    "C",
    "a0",
    "\x1b[2J",
    "1",
    "none",
]


def main(arguments: list[str], folder: Path, given: bytes = b"", command=cli.main) -> None:
    """Run a command in `folder`. Its exit code is 0, or 2 with one line."""
    told, printed = io.StringIO(), io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="replace")
    stdin, before, show = sys.stdin, os.getcwd(), warnings.showwarning
    sys.stdin = io.TextIOWrapper(io.BytesIO(given), encoding="utf-8")
    os.chdir(folder)
    try:
        with redirect_stderr(told), redirect_stdout(printed):
            code = command(arguments)
    except SystemExit as ended:  # argparse
        code = ended.code
    finally:
        os.chdir(before)
        sys.stdin, warnings.showwarning = stdin, show
    lines = [
        line for line in told.getvalue().split("\n") if line and not line.startswith("biasgrid: warning: ")
    ]
    assert code in (0, 2), f"exit code {code}"
    assert len(lines) == (code == 2), f"{len(lines)} lines: {lines[:3]}"
    assert all(len(line.replace(f"{folder}/", "")) <= LONGEST for line in lines), (
        f"{len(lines[0])} characters: {lines}"
    )
    if code:
        raise Refused


def changed(record, chance: random.Random):
    """The record with another value, or none, or another key, somewhere."""
    record = json.loads(json.dumps(record))
    while record:
        inner = record
        while True:
            key = chance.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
            if not isinstance(inner[key], (dict, list)) or not inner[key] or chance.random() < 0.2:
                break
            inner = inner[key]
        kind = chance.randrange(5)
        if kind == 0:
            del inner[key]
        elif kind == 1 and isinstance(inner, dict):
            inner[chance.choice(TEXTS)] = inner.pop(key)
        elif kind == 2 and isinstance(inner, list):
            inner += inner[key : key + 1]
        else:
            inner[key] = chance.choice(
                [None, True, 0, -1, 1.5, 10**400, 1e308, [], {}, [[]], {"a": 1}, *TEXTS]
            )
        if chance.random() < 0.8:
            break
    return record


def written(record, chance: random.Random) -> bytes:
    """A file of the record, damaged in one way or another; YAML where `study` and the like are."""
    if chance.random() < 0.5:
        record, times = changed(record, chance), 0
    else:
        times = chance.choice([0, 1, 1, 1, 2])
    text = json.dumps(record) if "target_sets" in record or chance.random() < 0.3 else yaml.safe_dump(record)
    return damaged(text.encode(), chance, times)


def aliased(record: dict, chance: random.Random) -> str:
    """YAML whose aliases stand for more and more."""
    levels, width = chance.choice([2, 5, 9, 40]), chance.choice([2, 9])
    lines = [f"x0: &x0 {chance.choice(['[x]', '{k: v}', 'long ' * 200])}"]
    for i in range(1, levels):
        inner = [f"*x{i - 1}"] * width
        kind = chance.randrange(3)
        named = ", ".join(f"k{j}: {name}" for j, name in enumerate(inner))
        made = [f"[{', '.join(inner)}]", f"{{{named}}}", f"{{<<: [{', '.join(inner)}]}}"][kind]
        lines.append(f"x{i}: &x{i} {made}")
    before = "\n".join(lines) + "\n"
    return before + yaml.safe_dump(record).replace(
        ": s\n", f": *x{levels - 1}\n" if chance.random() < 0.5 else ": s\n"
    )


def model(folder: Path) -> Path:
    rows = np.random.default_rng(1).normal(size=(len(WORDS), 4)).round(3).tolist()
    lines = [f"{word} {' '.join(map(str, row))}\n" for word, row in zip(WORDS, rows, strict=True)]
    path = folder / "model.txt"
    path.write_text(f"{len(WORDS)} 4\n{''.join(lines)}", encoding="utf-8")
    return path


def measure(seed: int, folder: Path) -> None:
    """A query file, damaged, or options that are wrong."""
    chance, query = random.Random(seed), folder / "query.json"
    query.write_bytes(written(QUERY, chance) if chance.random() < 0.5 else json.dumps(QUERY).encode())
    name = chance.choice(list(metrics.REGISTRY))
    arguments = ["measure", "--metric", name, "--model", str(model(folder)), "--query", str(query)]
    keys = [
        *metrics.metric(name).parameters,
        "preprocessors",
        "strategy",
        "normalize",
        "lost_vocabulary_threshold",
    ]
    for _ in range(chance.randrange(3)):
        arguments += ["--param", f"{chance.choice(keys)}={chance.choice(VALUES)}"]
    for part, names in (
        ("permutation", ["draws", "exact", "alternative"]),
        ("bootstrap", ["draws", "level"]),
    ):
        if chance.random() < 0.3:
            arguments += [f"--{part}", f"{chance.choice(names)}={chance.choice([*VALUES, '20', '0.5'])}"]
    if chance.random() < 0.1:
        arguments[chance.randrange(len(arguments))] = chance.choice(VALUES)
    main(arguments, folder)


def debias(seed: int, folder: Path) -> None:
    """Words, damaged; outputs of any kind."""
    chance, words = random.Random(seed), folder / "words.json"
    words.write_bytes(
        damaged(json.dumps(changed(PAIRS, chance) if seed % 2 else PAIRS).encode(), chance, seed % 3 == 0)
    )
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("/dev/full")
    (folder / "nowhere").symlink_to("missing/x")
    outputs = [
        "t.npz",
        "t.npz",
        "pipe",
        "link",
        "nowhere",
        "/dev/full",
        "/dev/null",
        ".",
        "model.txt",
        "a/b/t.npz",
    ]
    outputs += ["model.txt/t.npz", "x" * 300, "\udcff.npz"]
    arguments = [
        "debias",
        "--method",
        chance.choice(["hard", "hard", "linear_projection", "inlp", "nothing"]),
    ]
    arguments += ["--model", str(model(folder)), "--words", str(words), "--output", chance.choice(outputs)]
    if chance.random() < 0.3:
        arguments += [
            "--param",
            f"{chance.choice(['n_components', 'normalize', 'x'])}={chance.choice(VALUES)}",
        ]
    if chance.random() < 0.3:
        arguments += [
            "--materialize",
            chance.choice(["m.bin", "m.txt.gz", "store", "pipe.bin", "link", "m.x", *VALUES]),
        ]
    kept = [(path, path.lstat().st_mode) for path in (folder / "pipe", Path("/dev/full"), Path("/dev/null"))]
    try:
        main(arguments, folder)
    finally:
        replaced = any(path.lstat().st_mode != mode for path, mode in kept)
        (folder / "pipe").unlink()
        assert not replaced, "a special file was replaced"
        assert not list(folder.rglob("*.partial*")), "something was left"


@cache
def store() -> Path:
    """The study's model as the study has it."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    model(folder)
    (folder / "config.json").write_text(json.dumps(STUDY), encoding="utf-8")
    main(["fetch", "--model", "m", "--study", "config.json"], folder)
    return folder / "emb"


def study(seed: int, folder: Path) -> None:
    """A study's config, damaged, and what is asked of it."""
    chance, config = random.Random(seed), folder / "config.yaml"
    model(folder)
    shutil.copytree(store(), folder / "emb")
    asked = [
        ["step", "query q"],
        ["step", "cell m/none/weat/q"],
        ["step", "inference m/none/weat"],
        ["step", "debias m/h"],
        ["step", "table scores"],
        ["step", "store m"],
        ["step", "null m/none/weat/q"],
        ["fetch", "--model", "m"],
        ["list", chance.choice(["models", "metrics", "queries", "debias"])],
    ]
    arguments = list(chance.choice(asked))
    config.write_bytes(aliased(STUDY, chance).encode() if chance.random() < 0.1 else written(STUDY, chance))
    if chance.random() < 0.1:
        arguments[-1] = chance.choice(VALUES)
    if chance.random() < 0.05:
        config = Path(chance.choice(["a" * 300, "é" * 200, "b/" * 3000, "\udcff"]))
    if arguments[0] == "fetch":
        main([*arguments, "--config", str(config)], folder)
    elif chance.random() < 0.3:
        given = damaged(json.dumps(changed(STUDY, chance)).encode(), chance, chance.choice([0, 0, 1]))
        main([*arguments, "--study", "-"], folder, given)
    else:
        main([*arguments, "--study", str(config)], folder)


def workflows(seed: int, folder: Path) -> None:
    """Configs of a factory and a simulation, damaged; only read."""
    chance, config = random.Random(seed), folder / "config.yaml"
    record = chance.choice([FACTORY, SIMULATION])
    config.write_bytes(aliased(record, chance).encode() if chance.random() < 0.2 else written(record, chance))
    main(["step", str(config), "no/such"], folder, command=experiments)


def options(seed: int, folder: Path) -> None:
    """Command lines of any words."""
    chance = random.Random(seed)
    names = [
        "measure",
        "debias",
        "words analogy",
        "convert",
        "fetch",
        "score",
        "step",
    ]
    flags = [
        "--model",
        "--query",
        "--metric",
        "--study",
        "--export",
        "--output",
        "--input",
        "--param",
        "--seed",
        "--config",
    ]
    flags += [
        "--format",
        "--pairs",
        "--word",
        "--best",
        "--vocabulary",
        "--sha256",
        "--name",
        "--pin",
        "--words",
        "-h",
    ]
    (folder / "query.json").write_text(json.dumps(QUERY), encoding="utf-8")
    (folder / "config.yaml").write_text(yaml.safe_dump(STUDY), encoding="utf-8")
    values = [
        str(model(folder)),
        "query.json",
        "config.yaml",
        "weat",
        "hard",
        ".",
        "a:b",
        "table scores",
        "out",
        "new/store",
        *VALUES,
    ]
    first = chance.choice([*names, chance.choice(VALUES)])
    arguments = first.split(" ") if first in names else [first]
    for _ in range(chance.randrange(8)):
        arguments += [chance.choice(flags), chance.choice(values)]
    given = b"{" if chance.random() < 0.5 else json.dumps(STUDY).encode()
    main(arguments, folder, given)


TARGETS = {f.__name__: f for f in (measure, debias, study, workflows, options)}
