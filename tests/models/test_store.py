"""The store: what is read back, what is refused, and what a killed or repeated conversion leaves behind."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import sqlite3
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from biasgrid.models import EmbeddingStore, convert
from biasgrid.models.store_writer import StoreWriter

FILES = ("vectors.npy", "vocabulary.sqlite", "model.json")
METADATA = {"name": "model", "vocab_prefix": ""}


def write(output: Path, words: list[str], vectors) -> EmbeddingStore:
    with StoreWriter(output, "test") as writer:
        writer.add(words, np.asarray(vectors))
        writer.finish(METADATA)
    return EmbeddingStore.open(output)


def text_model(path: Path, rows: int, value: str = "0.5") -> Path:
    path.write_text("".join(f"w{i} {value} {i}\n" for i in range(rows)))
    return path


@pytest.fixture
def folder(tmp_path) -> Path:
    """A store of three words in two dimensions, whose path has what an address would take for its own."""
    folder = tmp_path / "a?b#c %20 é'\"" / "store"
    write(folder, ["b", "a", "É"], [[1, 2], [3, 4], [5, 6]])
    return folder


def test_words_lead_to_their_rows(folder):
    store = EmbeddingStore.open(folder)
    rows = store.rows(["a", "absent", "É", "b", "a", "A"])
    assert rows.dtype == np.int64
    assert rows.tolist() == [1, -1, 2, 0, 1, -1]
    assert store.array[rows[[0, 2, 3]]].tolist() == [[3, 4], [5, 6], [1, 2]]
    assert store.rows([]).shape == (0,)
    assert (len(store), store.dimensions, store.name, store.vocab_prefix) == (3, 2, "model", "")
    assert "É" in store
    assert "e" not in store
    assert store.words() == ["b", "a", "É"]


def test_half_a_surrogate_pair_is_no_word(folder):
    store = EmbeddingStore.open(folder)
    assert store.rows(["\ud800", "a"]).tolist() == [-1, 1]


def test_vectors_are_read_only_and_memory_mapped(folder):
    vectors = EmbeddingStore.open(folder).array
    assert isinstance(vectors, np.memmap)
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        vectors[0, 0] = 9


def test_the_files_are_what_the_interface_says(folder):
    with sqlite3.connect(folder / "vocabulary.sqlite") as database:
        assert database.execute("SELECT word, row FROM vocabulary ORDER BY row").fetchall() == [
            ("b", 0),
            ("a", 1),
            ("É", 2),
        ]
        (schema,) = database.execute("SELECT sql FROM sqlite_master").fetchone()
    assert "WITHOUT ROWID" in schema
    database.close()
    record = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    assert (record["shape"], record["dtype"], record["words"]) == ([3, 2], "float32", 3)
    for file in FILES[:2]:
        assert record["sha256"][file] == hashlib.sha256((folder / file).read_bytes()).hexdigest()
    # NumPy's own reader and writer agree about the header
    np.save(folder / "again.npy", np.load(folder / "vectors.npy"))
    assert (folder / "again.npy").read_bytes() == (folder / "vectors.npy").read_bytes()


def test_many_words_may_share_a_row(tmp_path):
    with StoreWriter(tmp_path / "store", "test") as writer:
        writer.add(["z", "y", "x"], np.eye(2), np.array([1, 0, 1]))
        writer.finish(METADATA)
    store = EmbeddingStore.open(tmp_path / "store")
    assert store.rows(["x", "y", "z"]).tolist() == [1, 0, 1]
    assert len(store) == 3
    assert store.array.shape == (2, 2)
    assert store.words() == ["y", "x", "z"]


def array(vectors) -> bytes:
    file = io.BytesIO()
    np.save(file, vectors)
    return file.getvalue()


def entries(**changes):
    return lambda whole: json.dumps(json.loads(whole) | changes).encode()


def naming_counts(whole: bytes) -> bytes:
    record = json.loads(whole)
    return json.dumps(record | {"sha256": record["sha256"] | {"counts.npy": "0" * 64}}).encode()


# the files of a store of three words that are other ones, or gone; and what the line says
DAMAGE = [
    *(({file: None}, file) for file in FILES),
    ({"model.json": b"{"}, "whole store"),
    ({"model.json": b"[]"}, "whole store"),
    ({"model.json": b'{"name": "x"}'}, "vocab_prefix"),
    ({"model.json": b'{"name": "x", "vocab_prefix": "", "shape": [4, 2]}'}, "[4, 2]"),
    ({"vectors.npy": b""}, "whole store"),
    ({"vectors.npy": b"\x93NUMPY"}, ("vectors.npy", "snakemake stores")),
    ({"vectors.npy": b"no array"}, "whole store"),
    ({"vectors.npy": lambda whole: whole[:-1]}, "whole store"),
    ({"vectors.npy": array(np.array([[print, print]] * 3, dtype=object))}, "Python objects"),
    ({"vocabulary.sqlite": b""}, "vocabulary"),
    ({"vocabulary.sqlite": b"no database, but of some length" * 40}, "vocabulary.sqlite"),
    *(
        (
            {"vectors.npy": array(np.ones(shape, "f4")), "model.json": entries(shape=shape)},
            "not a whole store",
        )
        for shape in ((), (2,), (0, 2), (2, 0), (2, 2, 1))
    ),
    *(
        ({"model.json": entries(**{entry: value})}, ("not a whole store", "model.json", "snakemake stores"))
        for entry, value in (
            ("vocab_prefix", 3),
            ("vocab_prefix", None),
            ("name", ["m"]),
            ("words", -1),
            ("words", "2"),
            ("sha256", []),
            ("sha256", {"vectors.npy": 3}),
            ("shape", [2]),
        )
    ),
    ({"model.json": naming_counts}, "it has no counts.npy"),
    *(
        ({"model.json": naming_counts, "counts.npy": array(wrong)}, "not a whole store: counts.npy is")
        for wrong in (np.ones(2, dtype=np.int64), np.ones(3), np.ones((3, 1), dtype=np.int64))
    ),
]


@pytest.mark.parametrize(("files", "says"), DAMAGE, ids=[str(says) for _, says in DAMAGE])
def test_a_damaged_store_is_refused(folder, files, says):
    for file, content in files.items():
        whole = (folder / file).read_bytes() if (folder / file).exists() else b""
        (folder / file).unlink(missing_ok=True)
        if content is not None:
            (folder / file).write_bytes(content(whole) if callable(content) else content)
    with refused(str(folder), *([says] if isinstance(says, str) else says)):
        EmbeddingStore.open(folder)


def test_threads_look_up_at_the_same_time(tmp_path):
    words = [f"word{i}" for i in range(2000)]
    store = write(tmp_path / "store", words, np.zeros((2000, 1)))
    start, wrong = threading.Barrier(8), []

    def look_up(seed: int) -> None:
        order = np.random.default_rng(seed).permutation(2000)
        start.wait()
        for part in np.split(order, 20):
            if store.rows([words[i] for i in part]).tolist() != part.tolist():
                wrong.append(seed)

    threads = [threading.Thread(target=look_up, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_many_stores_do_not_pile_up_files(folder):
    open_files = Path("/proc/self/fd")
    if not open_files.exists():
        pytest.skip("needs /proc")
    before = len(list(open_files.iterdir()))
    for _ in range(50):
        EmbeddingStore.open(folder).rows(["a"])
    assert len(list(open_files.iterdir())) <= before + 1


def test_the_same_input_gives_the_same_bytes(tmp_path):
    words = [f"word{i}" for i in np.random.default_rng(0).permutation(3000)]
    vectors = np.random.default_rng(1).normal(size=(3000, 7))
    for name in ("one", "two"):
        write(tmp_path / name, words, vectors)
    # in several blocks, over a former store
    with StoreWriter(tmp_path / "two", "test") as writer:
        for start in range(0, 3000, 700):
            writer.add(words[start : start + 700], vectors[start : start + 700])
        writer.finish(METADATA)
    for file in FILES:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == sorted(FILES)


def test_a_new_conversion_replaces_the_store_and_a_failed_one_does_not(tmp_path):
    output = tmp_path / "store"
    convert(text_model(tmp_path / "a.txt", 3), output, name="a")
    convert(text_model(tmp_path / "b.txt", 5), output, name="b")
    assert EmbeddingStore.open(output).name == "b"
    before = {file: (output / file).read_bytes() for file in FILES}
    with refused("c.txt", "line 1", "inf"):
        convert(text_model(tmp_path / "c.txt", 4, "inf"), output, name="c")
    assert {path.name: path.read_bytes() for path in output.iterdir()} == before


# Killed in the middle of writing, and between any two moves
def killed(moment: str, source: Path, output: Path) -> int:
    """The exit status of a process that converts, and is killed."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def die(*_):
        os.kill(os.getpid(), signal.SIGKILL)

    try:
        if moment == "write":
            StoreWriter._write_vocabulary = die
        else:
            moves, move = [], os.replace
            os.replace = lambda *to: die() if len(moves) == int(moment) else (moves.append(to), move(*to))
        convert(source, output, name="new")
    finally:
        os._exit(1)


@pytest.mark.parametrize("moment", ["write", "0", "1", "2"])
@pytest.mark.parametrize("former", [False, True])
def test_a_killed_conversion_never_looks_like_a_whole_store(tmp_path, moment, former):
    source, output = text_model(tmp_path / "new.txt", 4), tmp_path / "store"
    if former:
        convert(text_model(tmp_path / "old.txt", 4, "7"), output, name="old")
    assert killed(moment, source, output) == -signal.SIGKILL
    if former and moment == "write":
        store = EmbeddingStore.open(output)
        assert store.name == "old"
        assert store.array[:, 0].tolist() == [7] * 4
    else:
        with refused("not a store"):
            EmbeddingStore.open(output)
    assert convert(source, output, name="new").array[:, 0].tolist() == [0.5] * 4
    assert sorted(path.name for path in output.iterdir()) == sorted(FILES)


def test_two_conversions_into_one_folder_do_not_mix(tmp_path):
    source, output = text_model(tmp_path / "a.txt", 3), tmp_path / "store"
    with StoreWriter(output, "first") as writer:
        with refused(str(output), "another process"):
            convert(source, output, name="second")
        writer.add(["a"], np.ones((1, 1)))
        writer.finish(METADATA)
    assert EmbeddingStore.open(output).words() == ["a"]


def test_the_output_cannot_be_a_file(tmp_path):
    (tmp_path / "file").write_text("x")
    with refused("file", "folder"):
        write(tmp_path / "file", ["a"], [[1.0]])
    assert (tmp_path / "file").read_text() == "x"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e39])
def test_a_value_that_is_not_finite_is_refused_by_word(tmp_path, value):
    vectors = np.ones((3, 2))
    vectors[1, 1] = value
    with warnings.catch_warnings(), refused("vector 2", "'b'"):
        warnings.simplefilter("error")
        write(tmp_path / "store", ["a", "b", "c"], vectors)
    with warnings.catch_warnings(), refused("vector 1", "'a'"):
        warnings.simplefilter("error")
        # the sum of both is not a number
        write(tmp_path / "store", ["a"], [[np.inf, -np.inf]])


def test_extreme_finite_values_are_kept(tmp_path):
    extreme = np.array([[3.4028235e38, 3.4028235e38, -0.0, 1e-45]], dtype=np.float32)
    stored = write(tmp_path / "store", ["a"], extreme).array
    assert stored.tobytes() == extreme.tobytes()


def test_the_first_of_two_equal_words_counts(tmp_path):
    with StoreWriter(tmp_path / "store", "test") as writer:
        writer.add(["a", "b", "a"], np.array([[1], [2], [3]]))
        writer.add(["b", "c"], np.array([[4], [5]]))
        writer.finish(METADATA)
    store = EmbeddingStore.open(tmp_path / "store")
    assert store.words() == ["a", "b", "c"]
    assert store.array[:, 0].tolist() == [1, 2, 5]
    assert store.metadata["warnings"] == {"duplicate_words": 2}


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(
    words=st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=8), min_size=1, max_size=30, unique=True
    ),
    data=st.data(),
)
def test_any_words_and_any_finite_values_come_back(tmp_path_factory, words, data):
    values = st.floats(width=32, allow_nan=False, allow_infinity=False)
    vectors = np.array(
        data.draw(st.lists(st.tuples(values, values), min_size=len(words), max_size=len(words))), np.float32
    )
    store = write(tmp_path_factory.mktemp("any") / "store", words, vectors)
    assert store.words() == words
    assert store.rows(words).tolist() == list(range(len(words)))
    assert store.array.tobytes() == vectors.tobytes()
    absent = [word + "x" for word in words if word + "x" not in words]
    assert (store.rows(absent) == -1).all()
