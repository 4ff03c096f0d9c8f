"""Damaged and hostile files, one by one: what is refused, in which words, and what is made again by itself."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import lzma
import os
import sqlite3
import struct
import subprocess
import tarfile
import textwrap
import zipfile
from pathlib import Path

import forks
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import make_store
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from biasgrid import debias, load
from biasgrid.core import untrusted
from biasgrid.core.errors import BiasgridError
from biasgrid.core.untrusted import read_npy, read_npz
from biasgrid.debias.transform import Transform
from biasgrid.models import EmbeddingStore, build_store, convert, sources, writers
from biasgrid.models.saving import materialize
from biasgrid.models.sources import pypi

HEADER = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"


def npy(header: str, numbers: bytes = bytes(24), version: bytes = b"\x01\0") -> bytes:
    return b"\x93NUMPY" + version + struct.pack("<H", len(header) + 1) + f"{header}\n".encode() + numbers


# NumPy files


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3",  # TokenError
        HEADER.replace("(2, 3)", "(2, 99999999999999999999)"),  # OverflowError
        HEADER.replace("'<f4'", "[1]"),  # TypeError
        HEADER.replace("(2, 3)", "(-2, -3)"),
        HEADER.replace("(2, 3)", "(1000000000, 3)"),
        HEADER.replace("(2, 3)", "(2, 2)"),
        HEADER.replace("'<f4'", "'|O'"),
        "",
    ],
)
def test_a_damaged_npy_header_is_one_line_wherever_it_is_read(tmp_path, header):
    content = npy(header)
    (tmp_path / "a.npy").write_bytes(content)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("header.npy", content)
    for mapped in (False, True):
        with refused("a.npy", "NumPy file"):
            read_npy(tmp_path / "a.npy", mapped)
    with refused("a.npz", "NumPy file"):
        read_npz(tmp_path / "a.npz")
    with refused("a.npz", "not a transform"):
        Transform.load(tmp_path / "a.npz")
    pq.write_table(pa.table({"word": ["a", "b"]}), tmp_path / "w.parquet")
    (tmp_path / "a.npz").unlink()
    with refused("a.npy", "NumPy file"):
        convert(tmp_path, tmp_path / "store", name="m")


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_npy_file_of_every_version_is_read(tmp_path, version, order):
    vectors = np.asarray(np.arange(6, dtype="<f4").reshape(2, 3), order=order)
    with (tmp_path / "a.npy").open("wb") as file:
        np.lib.format.write_array(file, vectors, version=version)
    pq.write_table(pa.table({"word": ["a", "b"]}), tmp_path / "w.parquet")
    assert_same(tmp_path / "a.npy")
    assert load(tmp_path).vectors(["a", "b"]).tolist() == [[0, 1, 2], [3, 4, 5]]
    words = np.array(["grün", "b"])
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        for name, array in (("words", words), ("vectors", np.ascontiguousarray(vectors))):
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, array, version=version)
    assert load(tmp_path / "a.npz")["grün"].tolist() == [0, 1, 2]


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    data=st.data(), dtype=st.sampled_from(["<f4", ">f8", "<i8", "|b1", "<f2"]), order=st.sampled_from("CF")
)
def test_arrays_come_back_as_numpy_reads_them_and_changed_bytes_never_otherwise(
    tmp_path_factory, data, dtype, order
):
    shape = data.draw(st.lists(st.integers(0, 4), max_size=3))
    file = io.BytesIO()
    np.save(file, np.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype), order=order))
    whole = bytearray(file.getvalue())
    path = tmp_path_factory.mktemp("npy") / "a.npy"
    path.write_bytes(whole)
    assert_same(path)
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, min(len(whole), 90) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(whole)
    try:
        read_npy(path)
    except BiasgridError:
        return
    assert_same(path)


def assert_same(path: Path) -> None:
    expected = np.load(path, allow_pickle=False)
    for mapped in (False, True):
        found = read_npy(path, mapped)
        assert (found.dtype, found.shape, found.tobytes()) == (
            expected.dtype,
            expected.shape,
            expected.tobytes(),
        )
        assert found.flags.f_contiguous == expected.flags.f_contiguous


# sizes that nothing is behind: in a process that may take 1 GB, which NumPy, Arrow and Python go beyond when they
# believe what is declared


@pytest.mark.slow
def test_declared_sizes_take_no_memory(tmp_path):
    four, eight = struct.pack("<I", 2**31 - 1), struct.pack("<Q", 2**40)
    contents = {
        "text": b"2 1000000000\na 1 2\nb 3 4\n",
        "text_of_many_columns": b"a" + b" 1" * 10**5 + b"\nb 2\n",
        "binary": b"1000000000 1000000\na 1234",
        "wink": b'{"size":1,"dimensions":1000000000,"l2NormIndex":1000000000,"wordIndex":1000000001,'
        b'"vectors":{"a":[1,2,0]}}',
        "memo.kv": b"\x80\x04Nr" + four + b".",
        "text_memo.kv": b"\x80\x02Np2000000000\n.",
        "bytes.kv": b"\x80\x04B" + four + b".",
        "bytes_after_text.kv": b"\x80\x02I1\n0B" + four + b".",
        "bytes8.kv": b"\x80\x04\x8e" + eight + b".",
        "array8.kv": b"\x80\x05\x96" + eight + b".",
        "frame.kv": b"\x80\x04\x95" + eight + b".",
        "objects.kv": b"\x80\x04" + b"}" * (20 << 20) + b".",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    done = limited(f"""
        from pathlib import Path
        from biasgrid.models import convert
        for path in sorted(Path({str(tmp_path)!r}).iterdir()):
            try:
                convert(path, "{tmp_path}/store", name="m", trust_pickle=True)
            except BiasgridError as error:
                print(path.name, error)
    """)
    said = done.splitlines()
    assert [line.split()[0] for line in said] == sorted(contents)
    says = dict(line.split(" ", 1) for line in said)
    assert "line 2: expected a word and 1000000000 numbers, as line 1 says, found 2" in says["text"]
    assert "declares 2147483647 bytes" in says["bytes.kv"]
    assert "declares 2147483647 bytes" in says["bytes_after_text.kv"]
    assert "far more objects" in says["objects.kv"]


def limited(code: str) -> str:
    """Standard output of a process that may take 1 GB more than its imports."""
    start = """
        import resource
        import numpy, pyarrow, pyarrow.csv, pyarrow.parquet
        from biasgrid import embeddings
        from biasgrid.core.errors import BiasgridError
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30),) * 2)
    """
    whole = textwrap.dedent(start) + textwrap.dedent(code)
    return ran_code(whole)


# what expands


def gz(*parts: bytes) -> bytes:
    return gzip.compress(b"".join(parts))


WINK = b'{"size":1,"dimensions":2,"l2NormIndex":2,"wordIndex":3,"vectors":{"'


@pytest.fixture
def free(monkeypatch):
    """What content may expand to however small its file: 4 MB, which is reached sooner than the 16 MB of users."""
    monkeypatch.setattr(untrusted, "FREE", 4 << 20)
    return 4 << 20


def test_members_of_an_archive_share_the_limit(tmp_path, free):
    path = tmp_path / "transform.npz"
    # one of them fits
    np.savez_compressed(path, **{f"part{i}": np.zeros(free // 8 - 100) for i in range(3)})
    with refused("transform.npz", "expands to more than"):
        Transform.load(path)


@pytest.mark.slow
def test_what_expands_too_far_is_refused_and_the_limit_can_be_raised(tmp_path, monkeypatch, free):
    path = tmp_path / "zeros.txt.gz"
    row = b" 0" * 50 + b"\n"
    path.write_bytes(gz(*(b"w%d%s" % (i, row) for i in range(50_000))))
    factor = 5_250_000 // path.stat().st_size
    monkeypatch.setenv("BIASGRID_EXPANSION", str(factor // 2))
    with refused("zeros.txt.gz", "expands to more than", "BIASGRID_EXPANSION", str(factor // 2)):
        convert(path, tmp_path / "store", name="m")
    assert not (tmp_path / "store").exists()
    monkeypatch.setenv("BIASGRID_EXPANSION", str(2 * factor))
    assert len(convert(path, tmp_path / "store", name="m")) == 50_000
    for odd in ("0", "-1", "many", "1e9"):
        monkeypatch.setenv("BIASGRID_EXPANSION", odd)
        with refused("BIASGRID_EXPANSION", "whole number"):
            convert(path, tmp_path / "store", name="m")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"a 1 2\n" + b"\n" * (5 << 20), "expands to more than 4194304 bytes"),
        (WINK + b"x" * (5 << 20), "expands to more than 4194304 bytes"),
        (b"\x80\x04" + b"]" * (5 << 20) + b".", "expands to more than 4194304 bytes"),
    ],
    ids=["text", "wink", "pickle"],
)
def test_gzipped_models_that_expand_a_thousand_times_are_refused(tmp_path, free, content, says):
    path = tmp_path / "model"
    path.write_bytes(gzip.compress(content))
    with refused("model", says):
        convert(path, tmp_path / "store", name="m", trust_pickle=True)


@pytest.mark.slow
def test_a_gzipped_binary_model_of_zeros_is_refused_by_its_first_row(tmp_path):
    (tmp_path / "model").write_bytes(gzip.compress(b"9 300\n" + bytes(20 << 20)))
    with refused("model", "no word follows row 0"):
        convert(tmp_path / "model", tmp_path / "store", name="m")


def test_blank_lines_are_counted_and_cost_no_time(tmp_path):
    (tmp_path / "m.txt").write_bytes(b"a 1 2\nb 3 4\n" + b"\n" * (9 << 20) + b" \t\r\n" + b"c 5 6\n")
    with pytest.warns(UserWarning, match=f"blank_lines {(9 << 20) + 1}"):
        store = convert(tmp_path / "m.txt", tmp_path / "store", name="m")
    assert store.words() == ["a", "b", "c"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"compression": "zstd", "use_dictionary": False}, "expands to more than"),
        ({"use_dictionary": False, "column_encoding": {"word": "DELTA_BYTE_ARRAY"}}, "encoding 7"),
    ],
)
def test_parquet_that_expands_is_refused(tmp_path, options, says):
    words = ["x" * 50_000] * 500
    pq.write_table(pa.table({"word": words}), tmp_path / "w.parquet", **options)
    np.save(tmp_path / "v.npy", np.ones((500, 2), "f4"))
    with refused("w.parquet", says):
        convert(tmp_path, tmp_path / "store", name="m")


@pytest.mark.slow
def test_a_long_word_that_many_rows_have_is_held_once(tmp_path):
    # 1.5 GB, if each row had its own
    words = pa.DictionaryArray.from_arrays(np.zeros(25_000, "i4"), ["x" * 60_000])
    (tmp_path / "model").mkdir()
    pq.write_table(pa.table({"word": words}), tmp_path / "model" / "w.parquet", store_schema=False)
    np.save(tmp_path / "model" / "v.npy", np.ones((25_000, 2), "f4"))
    said = limited(f"""
        import warnings
        warnings.simplefilter("ignore")
        print(len(embeddings.convert("{tmp_path}/model", "{tmp_path}/store", name="m")))
    """)
    assert said == "1\n"


@pytest.mark.slow
def test_members_of_archives_may_not_expand_either(tmp_path, monkeypatch, free):
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        entry = tarfile.TarInfo("p/data.txt")
        entry.size = 5 << 20
        archive.addfile(entry, io.BytesIO(bytes(entry.size)))
    archives = {
        "p-1.0.tar.gz": gzip.compress(tar.getvalue()),
        "p-1.0.tar.bz2": bz2.compress(tar.getvalue()),
        "p-1.0.tar.xz": lzma.compress(tar.getvalue()),
    }
    for name, method in (("p-1.0.whl", zipfile.ZIP_DEFLATED), ("lzma-1.0.whl", zipfile.ZIP_LZMA)):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", method) as archive:
            archive.writestr("p/data.txt", bytes(5 << 20))
        archives[name] = file.getvalue()
    for name, content in archives.items():
        with refused(name, "method 14" if name.startswith("lzma") else f"expands to more than {free} bytes"):
            unpacked(tmp_path, name, content, monkeypatch)


def test_archives_of_every_kind_are_unpacked(tmp_path, monkeypatch):
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        for name, content in (("p/other", b"x" * 2000), ("p/data.txt", b"a 1 2\n"), ("p/last", b"y")):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    plain = tar.getvalue()
    kinds = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    for suffix, compress in kinds.items():
        place = unpacked(tmp_path / suffix, f"p-1.0.tar.{suffix}", compress(plain), monkeypatch)
        assert place.read_bytes() == b"a 1 2\n"


def unpacked(folder: Path, name: str, content: bytes, monkeypatch) -> Path:
    """Fetched, with a stand-in for pip that gives this archive."""
    monkeypatch.setattr(
        pypi,
        "download_wheel",
        lambda source, scratch, show: (scratch / "archive" / name).write_bytes(content),
    )
    source = {"type": "pypi", "package": "p", "version": "1.0", "members": {"p/data.txt": None}}
    source["sha256"] = hashlib.sha256(content).hexdigest()
    return sources.fetch("m", source, folder / "raw", progress=False)


# what can be made again is


def file_model(folder: Path) -> dict:
    (folder / "m.txt").write_text("a 1 2\nb 3 4\n")
    return {"source": {"type": "file", "path": str(folder / "m.txt")}}


@pytest.mark.parametrize(
    "file", ["store/vectors.npy", "store/model.json", "store/vocabulary.sqlite", "raw/m/manifest.json"]
)
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    "content", [b"", b"{", b"[" * 9999, npy(HEADER.replace("(2, 3)", "(")), b'{"files": 1}']
)
def test_a_damaged_store_or_manifest_is_made_again(tmp_path, file, shared, content):
    model, place = file_model(tmp_path), tmp_path / file.replace("store", "m")
    store = build_store("m", model, tmp_path, shared=shared)
    before = {path.name: path.read_bytes() for path in store.path.iterdir()}
    place.write_bytes(content)
    again = build_store("m", model, tmp_path, shared=shared)
    assert again.rows(["b"]).tolist() == [1]
    assert {path.name: path.read_bytes() for path in again.path.iterdir()} == before


def test_a_damaged_store_says_what_to_do(tmp_path):
    store = build_store("m", file_model(tmp_path), tmp_path)
    vectors = store.path / "vectors.npy"
    vectors.write_bytes(vectors.read_bytes()[:-8] + np.array([np.nan, 1], "<f4").tobytes())
    broken = EmbeddingStore.open(store.path)
    assert broken.take(["a"], broken.rows(["a"])).tolist() == [[1, 2]]
    for look_up in (broken.take, broken.matrix):
        with refused("vectors.npy is damaged", "'b'", "not finite", "snakemake stores"):
            look_up(["a", "b"], broken.rows(["a", "b"]))


def test_finite_values_that_overflow_when_squared_are_read(tmp_path):
    (tmp_path / "m.txt").write_text("a 3e38 -3e38\nb 1 2\n")
    store = convert(tmp_path / "m.txt", tmp_path / "store", name="m")
    assert store.take(["a"], store.rows(["a"])).tolist() == [[np.float32(3e38), -np.float32(3e38)]]


def test_a_vocabulary_that_was_changed_is_damage(tmp_path):
    """Two words exchanged, as a damaged disk or a hand may do: all rows are in range, and both words wrong."""
    store = build_store("m", file_model(tmp_path), tmp_path)
    path = store.path / "vocabulary.sqlite"
    whole = path.read_bytes()
    # a record's last byte before its word is the type of the row: 8 is 0, 9 is 1
    for before, after in ((b"\x08a", b"\x08b"), (b"\x09b", b"\x09a")):
        assert whole.count(before) == 1
        path.write_bytes(path.read_bytes().replace(before, after))
    broken = EmbeddingStore.open(store.path)
    for look_up in (lambda: broken.rows(["b"]), broken.words, broken.vocabulary, lambda: broken.rows(["b"])):
        with refused("vocabulary.sqlite is damaged", "checksum", "model.json", "snakemake stores"):
            look_up()
    path.write_bytes(whole)
    assert EmbeddingStore.open(store.path).words() == store.words()


@pytest.mark.parametrize("row", [-1, 2, 1.5, "x"])
def test_rows_that_a_vocabulary_cannot_have_are_damage(tmp_path, row):
    store = build_store("m", file_model(tmp_path), tmp_path)
    database = sqlite3.connect(store.path / "vocabulary.sqlite")
    database.execute("UPDATE vocabulary SET row = ? WHERE word = 'b'", (row,))
    database.commit()
    database.close()
    # as one would be that other code made
    metadata = json.loads((store.path / "model.json").read_text())
    made = (store.path / "vocabulary.sqlite").read_bytes()
    metadata["sha256"]["vocabulary.sqlite"] = hashlib.sha256(made).hexdigest()
    (store.path / "model.json").write_text(json.dumps(metadata))
    broken = EmbeddingStore.open(store.path)
    for look_up in (lambda: broken.rows(["b"]), broken.words):
        with refused("vocabulary.sqlite is damaged", "'b'"):
            look_up()


# what other code, a hand or a damaged disk may have made of a store or a transform


def changed(store: EmbeddingStore, **entries) -> EmbeddingStore:
    """The store with other entries in its model.json, opened again."""
    file = store.path / "model.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | entries))
    return EmbeddingStore.open(store.path)


def test_a_vocabulary_of_another_length_is_damage(tmp_path):
    store = changed(build_store("m", file_model(tmp_path), tmp_path), words=3)
    for look_up in (store.words, lambda: list(writers.words_by_row(store))):
        with refused("vocabulary.sqlite is damaged", "has 2 words", "says 3"):
            look_up()


@pytest.mark.parametrize("method", ["double_hard", "ran"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_vectors_that_are_not_finite_are_damage_to_a_debias_method_too(tmp_path, method, value):
    vectors = np.random.default_rng(0).normal(size=(40, 3)).astype("f4")
    store = make_store(tmp_path, [f"w{i}" for i in range(40)], vectors)
    vectors[30, 1] = value
    np.save(store.path / "vectors.npy", vectors)
    words = {"definitional_pairs": [["w0", "w1"], ["w2", "w3"]]}
    words |= {"bias_representation": ["w0", "w1"]} if method == "double_hard" else {}
    with refused("vectors.npy is damaged", "row 30", "not finite"):
        debias.REGISTRY[method](EmbeddingStore.open(store.path), **words)


# names with any bytes, and disks that are full


@pytest.mark.slow
def test_names_that_are_not_utf_8_are_kept_readable(tmp_path):
    odd = os.fsdecode(b"odd\xff")
    model = tmp_path / f"{odd}.txt"
    model.write_text("a 1 2\nb 3 4\nc 5 7\nd 1 0\n")
    assert load(model).name == "odd\\xff"
    command = ["convert", "--input", str(model), "--output", str(tmp_path / odd)]
    record = json.loads(ran(*command).stdout)
    assert (record["name"], record["source"]) == ("odd\\xff", {"file": "odd\\xff.txt"})
    store = EmbeddingStore.open(tmp_path / odd)
    transform = debias.hard(store, definitional_pairs=[["a", "b"], ["c", "d"]])
    for suffix in (".bin", ".txt.gz", ".kv", ""):
        output = tmp_path / f"{odd}-debiased{suffix}"
        materialize(store, transform, output)
        assert output.exists()
    assert EmbeddingStore.open(output).name == "odd\\xff-debiased"


@pytest.mark.slow
def test_a_full_disk_is_named_by_what_could_not_be_written(tmp_path):
    """A limit on the size of files stands for a disk that is full."""
    lines = [f"w{i} {i + 1} {i % 7} {i % 11}\n" for i in range(20_000)]
    (tmp_path / "m.txt").write_text("".join(lines))
    store = convert(tmp_path / "m.txt", tmp_path / "store", name="m")
    debias.hard(store, definitional_pairs=[["w0", "w1"], ["w2", "w3"]]).save(tmp_path / "t.npz")
    outputs = ["converted", "d.bin", "d.vec.gz", "d.kv", "materialized"]
    said = ran_code(f"""
        import os, resource, signal
        os.chdir({str(tmp_path)!r})
        from gensim.models import KeyedVectors
        from biasgrid.models.saving import materialize
        from biasgrid.debias.transform import Transform
        from biasgrid.models import EmbeddingStore, convert
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        store, transform = EmbeddingStore.open("store"), Transform.load("t.npz")
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        for output in {outputs}:
            try:
                if output == "converted":
                    convert("m.txt", output, name="m")
                else:
                    materialize(store, transform, output)
            except OSError as error:
                print(os.path.basename(error.filename), error.strerror)
    """)
    assert said.splitlines() == [f"{output} File too large" for output in outputs]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.txt", "store", "t.npz"]


def ran(*arguments: str) -> subprocess.CompletedProcess:
    done = subprocess.run([forks.python(), "-m", "biasgrid", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


def ran_code(code: str) -> str:
    done = subprocess.run([forks.python(), "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
