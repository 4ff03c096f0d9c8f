"""What biasgrid wrote itself, damaged: stores, transforms, samples of rankings, cells.

What is read is held against what NumPy, sqlite3 and json read.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import io
import json
import random
import sqlite3
import tempfile
import zipfile
from contextlib import closing
from pathlib import Path

import numpy as np

from biasgrid import load
from biasgrid.core.schema import dumps, with_version
from biasgrid.core.untrusted import read_npy
from biasgrid.debias.transform import ARRAYS, WORDS, Transform
from biasgrid.measure.measure import measure
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.measure.ranks import RESAMPLED
from biasgrid.measure.result import Result, as_json
from biasgrid.measure.results import results
from biasgrid.metrics import metric
from biasgrid.models import EmbeddingStore, convert, writers
from biasgrid.models.words import WordOptions
from biasgrid.queries.query import Query
from biasgrid.tables import REGISTRY
from biasgrid.tables.rank_samples import read_ranks

from .damage import accepted, damaged

VOCABULARY = [f"w{i}" for i in range(60)] + ["naïve", "中文"]
FILES = ("model.json", "vectors.npy", "vocabulary.sqlite")


@functools.cache
def valid_store() -> dict[str, bytes]:
    table = np.random.default_rng(0).normal(size=(len(VOCABULARY), 5))
    with tempfile.TemporaryDirectory() as folder:
        lines = [
            f"{word} {' '.join(map(repr, row))}\n"
            for word, row in zip(VOCABULARY, table.tolist(), strict=True)
        ]
        (Path(folder) / "m.txt").write_text("".join(lines), encoding="utf-8")
        store = convert(Path(folder) / "m.txt", Path(folder) / "store", name="m")
        return {name: (store.path / name).read_bytes() for name in FILES}


def store(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    path, files = folder / "store", dict(valid_store())
    path.mkdir()
    name = chance.choice([*FILES, None])
    if name:
        files[name] = damaged(files[name], chance)
    if chance.random() < 0.1:
        del files[chance.choice(FILES)]
    for name, whole in files.items():
        (path / name).write_bytes(whole)
    if chance.random() < 0.2 and "vocabulary.sqlite" in files:
        damage_rows(path / "vocabulary.sqlite", chance)
        if name is None and "model.json" in files:  # a vocabulary that other code made, with its checksum
            metadata = json.loads(files["model.json"])
            made = (path / "vocabulary.sqlite").read_bytes()
            metadata["sha256"]["vocabulary.sqlite"] = hashlib.sha256(made).hexdigest()
            (path / "model.json").write_text(json.dumps(metadata))

    def looked_up():
        opened = EmbeddingStore.open(path)
        facts = (len(opened), opened.dimensions, opened.fingerprint)
        words = opened.words()
        rows = opened.rows(words)
        entries, places = opened.vocabulary(limit=chance.choice([None, 10]))
        opened.matrix(entries, places)
        writers.write(folder / "out.txt", (len(words), opened.dimensions), words_by_row(opened))
        assert len(set(places.tolist())) == len(entries)
        return facts, words, rows, opened.take(words, rows)

    facts, words, rows, vectors = accepted(looked_up)
    metadata = json.loads(files["model.json"])
    assert facts == (metadata["words"], metadata["shape"][1], metadata["sha256"]["vectors.npy"])
    table = np.load(io.BytesIO(files["vectors.npy"]), allow_pickle=False)
    with closing(sqlite3.connect(path / "vocabulary.sqlite")) as database:
        expected = dict(database.execute("SELECT word, row FROM vocabulary"))
    assert dict(zip(words, rows.tolist(), strict=True)) == {word: expected[word] for word in words}
    assert vectors.tobytes() == table[rows].astype(np.float64).tobytes()
    assert np.isfinite(vectors).all()


def words_by_row(opened: EmbeddingStore):
    for words, rows in writers.words_by_row(opened):
        yield words, opened.matrix(words, rows)


def damage_rows(path: Path, chance: random.Random) -> None:
    """Rows that a vocabulary cannot have."""
    odd = chance.choice([-1, 10**6, 2**62, 1.5, "x", b"\xff", None, 61, 62])
    try:
        with closing(sqlite3.connect(path)) as database:
            if chance.random() < 0.3:
                word = chance.choice([b"\xff\xfe", b"a\x00b", "\x00", "x" * 10**5])
                database.execute("INSERT INTO vocabulary VALUES (CAST(? AS TEXT), ?)", (word, odd))
            else:
                database.execute("UPDATE vocabulary SET row = ? WHERE word = 'w3'", (odd,))
            database.commit()
    except sqlite3.Error:  # damaged before, or it must not be null
        pass


def some_transform(chance: random.Random) -> Transform:
    generator, d = np.random.default_rng(chance.randrange(1 << 30)), 4
    kind = chance.randrange(4)
    parts: dict = {"normalize": chance.random() < 0.5, "renormalize": chance.random() < 0.5}
    if kind == 0:
        parts |= {"left": generator.normal(size=(d, 2)), "right": generator.normal(size=(2, d))}
    elif kind == 1:
        parts |= {"matrix": generator.normal(size=(d, d)), "shift": generator.normal(size=d)}
    elif kind == 2:
        parts |= {"override_words": ("a", "b"), "overrides": generator.normal(size=(2, d)), "leave": ("c",)}
    else:
        parts |= {
            "override_words": ("a", "b"),
            "overrides": generator.normal(size=(1, d)),
            "only": ("a", "c"),
        }
        parts |= {"override_rows": np.array([0, 0])}
    facts = {"model": "m", "fingerprint": "0" * 64, "dimensions": d, "params": {}}
    return Transform(method="hard", fitted_on=facts, **parts)


def transform(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    path = folder / "hard.npz"
    some_transform(chance).save(path)
    if chance.random() < 0.9:
        whole = path.read_bytes()
        # the first is what zip's checksums do not see
        path.write_bytes(chance.choice([rezipped, damaged])(whole, chance))
    loaded = accepted(Transform.load, path)
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(arrays["header"].tobytes())
    for name in ARRAYS:
        found = getattr(loaded, name)
        assert (found is None) == (name not in arrays), name
        assert found is None or (found.dtype, found.tobytes()) == (
            arrays[name].dtype,
            arrays[name].tobytes(),
        ), name
    for name in WORDS:
        assert header[name] == (None if getattr(loaded, name) is None else list(getattr(loaded, name))), name
    words = ["a", "b", "c", "d"]
    assert loaded.apply(np.ones((4, loaded.dimensions)), words).shape == (4, loaded.dimensions)
    loaded.summary()


def rezipped(whole: bytes, chance: random.Random) -> bytes:
    """An .npz with one member damaged, and right as a zip archive."""
    target, method = io.BytesIO(), chance.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    with zipfile.ZipFile(io.BytesIO(whole)) as source, zipfile.ZipFile(target, "w", method) as made:
        hit = chance.choice(source.namelist())
        for name in source.namelist():
            content = source.read(name)
            made.writestr(name, damaged(content, chance) if name == hit else content)
    return target.getvalue()


def ranks(seed: int, folder: Path) -> None:
    """The bootstrap samples of rankings, which the table and the figures read."""
    chance = random.Random(seed)
    path, shape = folder / "rank_samples.npy", (len(RESAMPLED), 3, 20)
    file = io.BytesIO()
    np.save(file, np.random.default_rng(seed).normal(size=shape))
    path.write_bytes(damaged(file.getvalue(), chance) if chance.random() < 0.8 else file.getvalue())
    same_array(lambda: read_ranks(path, 3, 20), path)


def npy(seed: int, folder: Path) -> None:
    """An array of any numbers, shape and order, mapped or not."""
    chance = random.Random(seed)
    path = folder / "a.npy"
    array = np.random.default_rng(seed).integers(
        0, 9, size=[chance.randint(0, 4) for _ in range(chance.randint(0, 3))]
    )
    array = np.asarray(
        array.astype(chance.choice(["<f4", ">f8", "<i2", "|b1", "<u8"])), order=chance.choice("CF")
    )
    file = io.BytesIO()
    np.lib.format.write_array(file, array, chance.choice([(1, 0), (2, 0), (3, 0)]))
    whole = file.getvalue()
    path.write_bytes(damaged(whole, chance) if chance.random() < 0.9 else whole)
    same_array(lambda: read_npy(path, memory_map=chance.random() < 0.5), path)


def same_array(read, path: Path) -> None:
    found = accepted(read)
    expected = np.load(path, allow_pickle=False)
    assert (found.dtype, found.shape, found.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())


@functools.cache
def valid_cell() -> str:
    table = np.random.default_rng(0).normal(size=(8, 5))
    model = load((list("abcdefgh"), table))
    query = Query([["a", "b"], ["c", "x"]], [["d", "e"], ["f", "g"]])
    result = measure_one(query, model)
    place = {
        "criterion": "C",
        "query": "q",
        "metric": "weat",
        "model": "m",
        "debias": "none",
        "function": "weat",
    }
    return dumps(with_version({**place, "params": {}, "words": {}, "seed": 1, "results": [as_json(result)]}))


def measure_one(query: Query, model) -> Result:
    (result,) = measure(
        MeasurementSpec(metric("weat"), {}, WordOptions(lost_vocabulary_threshold=0.6), 1), query, model
    )
    return result


def cell(seed: int, folder: Path) -> None:
    """A cell's file, damaged in its bytes or with other values in their places, and tables made of it."""
    chance = random.Random(seed)
    path = folder / "q.json"
    if chance.random() < 0.5:
        path.write_bytes(damaged(valid_cell().encode(), chance))
    else:
        record = json.loads(valid_cell())
        for _ in range(chance.randint(0, 2)):
            put_odd(record, chance)
        path.write_text(json.dumps(record).replace('"1e999"', "1e999"))
    inputs = {"cells": [path], "inferences": [], "queries": []}
    read = accepted(lambda: [result for *_, result in results([path])], naming=path)
    rows = accepted(lambda: [REGISTRY[name].make(inputs, SPEC) for name in MADE], naming=path)
    content = json.loads(path.read_bytes())
    parts = [r for one in content.get("cells", [content]) for r in one["results"]]
    assert [r["value"] for r in read] == [r["value"] for r in parts]
    for part in parts:
        finite = isinstance(part["value"], (int, float)) and abs(part["value"]) < float("inf")
        assert finite == (part["status"] == "ok")
    assert not any(np.isinf(table.select_dtypes("number")).any(axis=None) for table in rows)
    assert len(rows[0]) == len({r["query"] for r in parts})


SPEC = {
    "interval": "jackknife",
    "adjust": "holm",
    "level": 0.95,
    "tests": [["C", "weat", 2]],
    "labels": {"m": "M"},
}
MADE = ("scores", "scalars", "lost_words")
ODD_VALUES = [None, True, 0, -1, 1.5, "1e999", float("nan"), "", "x", [], [1], {}, {"a": 1}, 10**400]


def put_odd(record, chance: random.Random) -> None:
    """Another value somewhere in a record."""
    while True:
        key = chance.choice(list(record) if isinstance(record, dict) else range(len(record)))
        inner = record[key]
        if not isinstance(inner, (dict, list)) or not inner or chance.random() < 0.2:
            record[key] = copy.copy(chance.choice(ODD_VALUES))
            return
        record = inner


TARGETS = {"store": store, "transform": transform, "ranks": ranks, "npy": npy, "cell": cell}
