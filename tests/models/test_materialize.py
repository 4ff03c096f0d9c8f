"""A whole model under a transform: as a store, and as other tools' files."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import example, given, settings
from hypothesis import strategies as st
from refusals import refused

from biasgrid import debias, load
from biasgrid.core.errors import BiasgridError
from biasgrid.debias.transform import Transform
from biasgrid.models import EmbeddingStore, convert, writers
from biasgrid.models.saving import materialize
from biasgrid.models.store_writer import StoreWriter

FILES = (".bin", ".txt", ".vec", ".bin.gz", ".txt.gz", ".vec.gz", ".kv")
PAIRS = [["she", "he"], ["woman", "man"], ["her", "his"]]


def store(path: Path, words: list[str], vectors, rows=None, **metadata) -> EmbeddingStore:
    with StoreWriter(path, "test") as writer:
        writer.add(words, np.asarray(vectors), None if rows is None else np.asarray(rows))
        writer.finish({"name": path.name, "vocab_prefix": "", **metadata})
    return EmbeddingStore.open(path)


def transform(model: EmbeddingStore, **parts) -> Transform:
    facts = {"model": model.name, "fingerprint": model.fingerprint, "dimensions": model.dimensions}
    return Transform("test", facts, **parts)


def expected(model: EmbeddingStore, fitted: Transform) -> dict[str, bytes]:
    """Each word's vector as a look-up of it alone gives it, rounded to float32."""
    debiased = model.under(fitted)
    return {w: debiased.take([w], model.rows([w])).astype(np.float32).tobytes() for w in model.words()}


def found(model: EmbeddingStore) -> dict[str, bytes]:
    words = model.words()
    return {w: v.tobytes() for w, v in zip(words, model.array[model.rows(words)], strict=True)}


def read(path: Path, folder: Path) -> EmbeddingStore:
    """Whatever `materialize` wrote, through this project's readers."""
    if path.is_dir():
        return EmbeddingStore.open(path)
    formats = {".bin": "word2vec-binary", ".kv": "gensim-kv"}
    format = next((f for suffix, f in formats.items() if suffix in path.suffixes), "text")
    return convert(path, folder, name="back", format=format, trust_pickle=True)


@pytest.fixture
def model(tmp_path) -> EmbeddingStore:
    """300 words in 20 dimensions, PAIRS among them, and a few that are hard to write."""
    words = [word for pair in PAIRS for word in pair]
    words += ["naïve", "中文", "🙂", "1.5", "nan", '"', "'", "\\", "#", "a\u00a0b", "a\tb", "\ufeff", "\r"]
    words += [f"w{i}" for i in range(300 - len(words))]
    vectors = np.random.default_rng(0).normal(size=(300, 20)).astype(np.float32)
    source = {"file": "made.bin"}
    return store(tmp_path / "model", words, vectors, licence="CC0-1.0", source=source, label="Made")


@pytest.fixture
def hard(model) -> Transform:
    return debias.hard(model, definitional_pairs=PAIRS, equalize_pairs=PAIRS[:1], ignore=["man", "w7"])


@pytest.mark.filterwarnings("ignore:.*words_with_control_characters")
@pytest.mark.parametrize("output", ["store", *(f"out{suffix}" for suffix in FILES)])
def test_every_word_has_the_vector_that_looking_it_up_gives(model, hard, tmp_path, output):
    output = tmp_path / "new" / output
    summary = materialize(model, hard, output, block=7)
    assert summary["shape"] == [300, 20]
    assert summary["words"] == 300
    back = read(output, tmp_path / "back")
    assert back.words() == model.words()
    assert found(back) == expected(model, hard)
    # of which nearly all are changed, and some are not
    unit = model.array / np.linalg.norm(model.array.astype(float), axis=1, keepdims=True)
    change = dict(zip(model.words(), np.abs(back.array - unit).max(axis=1), strict=True))
    assert change["man"] < 1e-7 > change["w7"]
    assert sum(size > 1e-3 for size in change.values()) > 250


@pytest.mark.parametrize("suffix", FILES)
def test_gensim_reads_the_same(model, hard, tmp_path, suffix):
    output = tmp_path / f"my.model{suffix}"
    materialize(model, hard, output)
    if suffix == ".kv":
        vectors = KeyedVectors.load(str(output))
    else:
        vectors = KeyedVectors.load_word2vec_format(str(output), binary=".bin" in suffix)
    assert vectors.index_to_key == model.words()
    assert {w: vectors[w].tobytes() for w in vectors.index_to_key} == expected(model, hard)
    assert vectors.most_similar("she", topn=3) == vectors.most_similar(positive=[vectors["she"]], topn=4)[1:]


def test_large_vectors_of_a_kv_lie_beside_it(model, hard, tmp_path, monkeypatch):
    output = tmp_path / "out.kv"
    small = materialize(model, hard, output)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model", "out.kv"]
    monkeypatch.setattr(writers, "LARGE", 6000)
    assert materialize(model, hard, output) == small
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model", "out.kv", "out.kv.vectors.npy"]
    vectors = KeyedVectors.load(str(output), mmap="r")
    assert isinstance(vectors.vectors, np.memmap)
    assert {w: vectors[w].tobytes() for w in vectors.index_to_key} == expected(model, hard)
    assert found(read(output, tmp_path / "back")) == expected(model, hard)
    # what the former model left beside is not left behind
    monkeypatch.undo()
    materialize(model, hard, output)
    assert not (tmp_path / "out.kv.vectors.npy").exists()
    assert len(KeyedVectors.load(str(output))) == 300


def test_a_store_says_what_it_is(model, hard, tmp_path):
    materialize(model, hard, tmp_path / "hard")
    record = EmbeddingStore.open(tmp_path / "hard").metadata
    assert (record["name"], record["label"]) == ("hard", "Made, hard")
    assert (record["licence"], record["source"]) == ("CC0-1.0", {"file": "made.bin"})
    assert record["debias"] == [json.loads(json.dumps(hard.summary()))]
    assert record["debias"][0]["fitted_on"]["fingerprint"] == model.fingerprint
    for file in ("vectors.npy", "vocabulary.sqlite"):
        assert record["sha256"][file] == hashlib.sha256((tmp_path / "hard" / file).read_bytes()).hexdigest()
    # a second method goes on top of it; the first transform does not fit any more
    once = EmbeddingStore.open(tmp_path / "hard")
    with refused("fitted on other vectors"):
        materialize(once, hard, tmp_path / "twice")
    materialize(once, debias.hsr(once, definitional_words=["she", "he"]), tmp_path / "twice")
    methods = [entry["method"] for entry in EmbeddingStore.open(tmp_path / "twice").metadata["debias"]]
    assert methods == ["hard", "hsr"]


@pytest.mark.slow
@pytest.mark.parametrize("output", ["store", *(f"out{suffix}" for suffix in FILES)])
def test_the_same_bytes_whatever_the_blocks(model, hard, tmp_path, output):
    contents = []
    for block in (None, 1, 64):
        # under one name, which a store's model.json has in it
        folder = tmp_path / str(block)
        materialize(model, hard, folder / output, block=block)
        contents.append({p.name: p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()})
    assert contents[0] == contents[1] == contents[2]


def test_without_a_transform_a_store_comes_out_as_it_was(model, tmp_path):
    materialize(model, transform(model), tmp_path / "same")
    for file in ("vectors.npy", "vocabulary.sqlite"):
        assert (tmp_path / "same" / file).read_bytes() == (model.path / file).read_bytes()


finite = st.floats(-100, 100, width=32)
# a transform of one dimension that touches no word by itself
ALONE = {"shift": np.ones(1), "normalize": False, "renormalize": False, "leave": (), "only": None}
ALONE |= {"override_words": (), "overrides": np.zeros((0, 1))}


@st.composite
def cases(draw):
    """Words on rows that they may share, vectors, and a transform of any form."""
    n, d, r = draw(st.integers(1, 12)), draw(st.integers(1, 4)), draw(st.integers(1, 6))
    letters = st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters=" \n"), min_size=1, max_size=4
    )
    words = draw(st.lists(letters, min_size=n, max_size=n, unique=True))
    array = np.random.default_rng(draw(st.integers(0, 9999))).normal
    k = draw(st.integers(1, d))
    parts = {
        "low rank": {"left": array(size=(d, k)), "right": array(size=(k, d))},
        "dense": {"matrix": array(size=(d, d))},
        "shift": {},
    }[draw(st.sampled_from(["low rank", "dense", "shift"]))]
    if draw(st.booleans()):
        parts["shift"] = array(size=d)
    parts["normalize"], parts["renormalize"] = draw(st.booleans()), draw(st.booleans())
    some = st.lists(st.sampled_from([*words, "absent"]), unique=True, max_size=n).map(tuple)
    parts["leave"] = draw(some)
    parts["only"] = draw(st.none() | some)
    parts["override_words"] = draw(some)
    m = len(parts["override_words"])
    parts["overrides"] = array(size=(m, d))
    if m and draw(st.booleans()):
        parts["override_rows"] = np.array(draw(st.lists(st.integers(0, m - 1), min_size=m, max_size=m)), int)
    rows = np.array(draw(st.lists(st.integers(0, r - 1), min_size=n, max_size=n)))
    vectors = draw(st.lists(st.lists(finite, min_size=d, max_size=d), min_size=r, max_size=r))
    return words, np.array(vectors, np.float32), rows, parts


@pytest.mark.filterwarnings("ignore:.*words_with_control_characters")
@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(case=cases(), block=st.integers(1, 5))
@example(case=(["\t"], np.ones((1, 1), np.float32), np.zeros(1, int), ALONE), block=1)
@example(
    case=(
        ["a\t", "b"],
        np.ones((1, 2), np.float32),
        np.zeros(2, int),
        ALONE | {"shift": np.ones(2), "overrides": np.zeros((0, 2))},
    ),
    block=1,
)
def test_any_transform_of_any_store(tmp_path_factory, case, block):
    words, vectors, rows, parts = case
    n = len(words) + 1
    folder = tmp_path_factory.mktemp("any")
    model = store(folder / "model", words, vectors, rows)
    fitted = transform(model, **parts)
    wanted = expected(model, fitted)
    materialize(model, fitted, folder / "new", block)
    new = EmbeddingStore.open(folder / "new")
    assert found(new) == wanted
    assert len(new) == len(model)
    # words still share their row unless something else was done to one of them
    listed = set(parts["leave"] if parts["only"] is None else parts["only"])
    own = dict(zip(parts["override_words"], parts.get("override_rows", range(n)), strict=False))
    treatment = {w: ("own", own[w]) if w in own else w in listed for w in words}
    for a in words:
        for b in words:
            together = model.rows([a])[0] == model.rows([b])[0] and treatment[a] == treatment[b]
            assert (new.rows([a])[0] == new.rows([b])[0]) == together
    for suffix in (".bin", ".txt", ".kv"):
        materialize(model, fitted, folder / f"out{suffix}", block)
        back = read(folder / f"out{suffix}", folder / f"back{suffix}")
        assert back.words() == model.words()
        assert found(back) == wanted


@settings(max_examples=35, deadline=None)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
# the one positive float32 whose shortest decimal is, as a float64, nearer to its neighbour
@pytest.mark.slow
@example([7.038530691851209e-26, -7.038530691851209e-26, 1e-45, 3.4028234663852886e38, -0.0, 1e16, 1e-5])
def test_text_gives_every_float32_back(tmp_path_factory, values):
    folder = tmp_path_factory.mktemp("text")
    vectors = np.array(values, np.float32)[:, None]
    words = [f"w{i}" for i in range(len(values))]
    model = store(folder / "model", words, vectors)
    materialize(model, transform(model), folder / "out.txt")
    assert read(folder / "out.txt", folder / "back").array.tobytes() == vectors.tobytes()
    loaded = KeyedVectors.load_word2vec_format(str(folder / "out.txt")).vectors
    assert loaded.tobytes() == vectors.tobytes()
    # as short as NumPy's, which is the shortest
    lines = (folder / "out.txt").read_text().splitlines()[1:]
    for line, value in zip(lines, vectors[:, 0], strict=True):
        shortest = np.format_float_scientific(value, unique=True, trim="-").split("e")[0]
        digits = re.sub(r"\D", "", line.split()[1].split("e")[0]).strip("0")
        assert len(digits) <= len(re.sub(r"\D", "", shortest).strip("0")) or abs(value) < 1e-25


def test_a_look_up_does_not_depend_on_the_words_beside_it(tmp_path):
    """BLAS rounds a row by where it stands among others; a transform does not."""
    generator = np.random.default_rng(0)
    for d in (3, 50, 100, 300):
        words = [f"w{i}" for i in range(130)]
        vectors = generator.normal(size=(130, d))
        facts = {"model": "m", "fingerprint": "", "dimensions": d}
        for parts in (
            {"matrix": generator.normal(size=(d, d))},
            {"left": generator.normal(size=(d, 3)), "right": generator.normal(size=(3, d))},
        ):
            fitted = Transform("test", facts, **parts, normalize=True, renormalize=True)
            whole = fitted.apply(vectors, words)
            for size in (1, 2, 5, 31, 64):
                some = generator.permutation(130)[:size]
                assert (
                    fitted.apply(vectors[some], [words[i] for i in some]).tobytes() == whole[some].tobytes()
                )


@pytest.mark.parametrize("word", ["a b", " ", "a\nb", "\n", ""])
@pytest.mark.parametrize("suffix", [".bin", ".txt", ".vec.gz"])
def test_a_word_that_a_format_cannot_hold_is_named(tmp_path, word, suffix):
    model = store(tmp_path / "model", ["a", word, "b"], np.eye(3))
    with refused(f"out{suffix}", repr(word), "store or .kv"):
        materialize(model, transform(model), tmp_path / f"out{suffix}")
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    for output in ("new", "out.kv"):
        materialize(model, transform(model), tmp_path / output)
        assert found(read(tmp_path / output, tmp_path / "back")) == found(model)


@pytest.mark.parametrize("name", ["out.pkl", "out.npy", "out.gz", "out.kv.gz", "out.TXT", "store-1.2"])
def test_another_suffix_is_refused(model, hard, tmp_path, name):
    with refused(name, ".bin, .txt, .vec, .bin.gz, .txt.gz, .vec.gz, .kv", "folder"):
        materialize(model, hard, tmp_path / name)
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_a_folder_that_exists_may_have_a_dot(model, hard, tmp_path):
    (tmp_path / "store-1.2").mkdir()
    materialize(model, hard, tmp_path / "store-1.2")
    assert found(EmbeddingStore.open(tmp_path / "store-1.2")) == expected(model, hard)


def test_the_model_itself_and_a_folder_of_other_things_are_refused(model, hard, tmp_path):
    before = found(model)
    (tmp_path / "link").symlink_to(model.path, target_is_directory=True)
    for output in (model.path, tmp_path / "model" / ".." / "model", tmp_path / "link"):
        with refused("the model itself"):
            materialize(model, hard, output)
    with refused("other things"):
        materialize(model, hard, tmp_path)
    assert found(EmbeddingStore.open(model.path)) == before


@pytest.mark.parametrize("output", ["store", "out.bin", "out.txt", "out.txt.gz", "out.kv"])
def test_a_value_that_is_not_finite_is_refused_and_leaves_the_former_file(model, hard, tmp_path, output):
    materialize(model, hard, tmp_path / "new" / output)
    before = {p: p.read_bytes() for p in (tmp_path / "new").rglob("*") if p.is_file()}
    # too large for float32 in the last rows, after most is written
    huge = np.zeros((1, 20)) + 1e39
    for parts, word in (
        ({"override_words": ("w9",), "overrides": huge}, "w9"),
        ({"matrix": np.eye(20) * 1e40, "only": ("w250",)}, "w250"),
    ):
        with warnings.catch_warnings(), refused(output, repr(word), "finite"):
            warnings.simplefilter("error")
            materialize(model, transform(model, **parts), tmp_path / "new" / output, block=10)
        assert {p: p.read_bytes() for p in (tmp_path / "new").rglob("*") if p.is_file()} == before
    with refused("row 1 ", "finite"):
        materialize(model, transform(model, matrix=np.eye(20) * 1e40), tmp_path / "absent" / "store")
    with refused("'she'", "finite"):
        materialize(model, transform(model, matrix=np.eye(20) * 1e40), tmp_path / "absent" / "out.bin")
    assert not any((tmp_path / "absent").rglob("*"))


def killed(model, fitted, output, moves):
    """Materialize in a process that is killed after so many moves of files."""
    if process := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    move, left = os.replace, [None] * moves

    def replace(*paths):
        left.pop() if left else os.kill(os.getpid(), signal.SIGKILL)
        move(*paths)

    os.replace = replace
    try:
        materialize(model, fitted, output)
    finally:
        os._exit(0)


@pytest.mark.filterwarnings("ignore:.*words_with_control_characters")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("output", "moves"), [("store", 3), ("out.bin", 1), ("out.txt.gz", 1), ("out.kv", 2)]
)
def test_a_killed_process_leaves_the_former_model_or_none(model, tmp_path, output, moves, monkeypatch):
    monkeypatch.setattr(writers, "LARGE", 0)
    path = tmp_path / "out" / output
    former, new = transform(model, matrix=2 * np.eye(20)), transform(model, matrix=3 * np.eye(20))
    for moment in range(moves):
        materialize(model, former, path)
        # before the first move and between any two
        assert killed(model, new, path, moment) == -signal.SIGKILL
        try:
            back = read(path, tmp_path / "back")
        except BiasgridError:
            assert output in ("store", "out.kv")  # those of several files
        else:
            assert moment == 0
            assert found(back) == expected(model, former)
        # what it left is no hindrance
        materialize(model, new, path)
        assert found(read(path, tmp_path / "back")) == expected(model, new)
        assert not [p.name for p in (tmp_path / "out").rglob("*") if "partial" in p.name]


def test_gzip_has_no_time_in_it(model, hard, tmp_path, monkeypatch):
    materialize(model, hard, tmp_path / "out.txt.gz")
    materialize(model, hard, tmp_path / "out.txt")
    assert gzip.decompress((tmp_path / "out.txt.gz").read_bytes()) == (tmp_path / "out.txt").read_bytes()
    assert (tmp_path / "out.txt.gz").read_bytes()[4:8] == bytes(4)


@pytest.mark.filterwarnings("ignore:.*words_with_control_characters")
def test_what_is_written_can_be_measured_without_converting(model, hard, tmp_path):
    materialize(model, hard, tmp_path / "out.bin")
    assert found(load(tmp_path / "out.bin")) == expected(model, hard)


def test_the_new_vocabulary_is_a_whole_database(tmp_path):
    words = [f"word{i}" for i in range(5000)]
    rows = np.arange(5000) // 50
    model = store(tmp_path / "model", words, np.random.default_rng(0).normal(size=(100, 3)), rows)
    fitted = transform(model, matrix=2 * np.eye(3), leave=tuple(words[::2]))
    assert materialize(model, fitted, tmp_path / "new")["shape"] == [200, 3]
    with sqlite3.connect(tmp_path / "new" / "vocabulary.sqlite") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("SELECT count(*) FROM vocabulary").fetchone() == (5000,)
    database.close()
    new = EmbeddingStore.open(tmp_path / "new")
    assert new.array[new.rows(words[1::2])].tolist() == (model.array[rows[1::2]] * 2).tolist()
    assert new.array[new.rows(words[::2])].tolist() == model.array[rows[::2]].tolist()


@pytest.mark.slow
def test_memory_does_not_grow_with_the_model(tmp_path):
    """Of a store of 90 MB."""
    if not Path("/proc/self/status").exists():
        pytest.skip("needs /proc")
    vectors = np.random.default_rng(0).normal(size=(1000, 300)).astype(np.float32)
    with StoreWriter(tmp_path / "model", "test") as writer:
        for start in range(0, 75_000, 1000):
            writer.add([f"w{i}" for i in range(start, start + 1000)], vectors)
        writer.finish({"name": "model", "vocab_prefix": ""})
    code = """
import sys
import numpy as np
from biasgrid.models.saving import materialize
from biasgrid.debias.transform import Transform
from biasgrid.models import EmbeddingStore
def peak():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
model = EmbeddingStore.open(sys.argv[1])
facts = {"model": model.name, "fingerprint": model.fingerprint, "dimensions": 300}
g = np.ones((300, 1)) / 300**.5
before = peak()
for output in sys.argv[2:]:
    materialize(model, Transform("t", facts, True, g, g.T.copy(), renormalize=True, leave=("w5",)), output)
    print(peak() - before)
"""
    arguments = [sys.executable, "-c", code, *(tmp_path / name for name in ("model", "store", "out.bin"))]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert all(0 < int(grown) < 60_000 for grown in done.stdout.split()), done.stdout
