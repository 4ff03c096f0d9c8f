"""A checksum covers every file that is read: what readers open, and what stands in the record of an archive."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import msgpack
import numpy as np
import plain_formats
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import GRID_WORDS, ROOT, grid_config, refusal
from gensim.models import KeyedVectors, Word2Vec
from in_process import make
from loopback import FAST, acting, answer, serving, sha256
from plain_formats import murmurhash
from refusals import refused

from biasgrid import load
from biasgrid.models import build_store, convert
from biasgrid.models.corpus.formats import FORMATS as CORPORA
from biasgrid.models.language.formats import FORMATS as LANGUAGE_MODELS
from biasgrid.models.readers import REGISTRY
from biasgrid.models.sources import fetch, read_manifest
from biasgrid.study.study import Study
from biasgrid.workflow import stores

for folder in ("fuzz", "models/language"):
    sys.path.append(str(ROOT / "tests" / folder))
import tiny_bert  # noqa: E402
import tiny_llama  # noqa: E402
from fuzz_targets import readers as plain  # noqa: E402

WORDS = ["he", "she", "career", "family"]
VECTORS = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)

opened: list[str] = []


def note(event: str, arguments: tuple) -> None:
    if event in ("open", "sqlite3.connect") and isinstance(arguments[0], (str, bytes)):
        opened.append(unquote(os.fsdecode(arguments[0]).removeprefix("file:").partition("?")[0]))


@pytest.fixture(scope="module")
def watching():
    sys.addaudithook(note)  # there is no way to take it off again


@pytest.fixture
def server():
    with serving() as server:
        yield server


def split(path: Path, vectors: np.ndarray = VECTORS, model: bool = False) -> Path:
    """A save of gensim's whose arrays lie beside it, as those above 10 MB do."""
    if model:
        kept = Word2Vec(vector_size=3)
        kept.wv.add_vectors(WORDS, vectors)
    else:
        kept = KeyedVectors(3)
        kept.add_vectors(WORDS, vectors)
    kept.save(str(path), sep_limit=0)
    return path


# how each format is written, by a plain writer: into a folder; returns the file, or the folder of several
def a_file(name: str, make: Callable[[random.Random], bytes]) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).write_bytes(make(random.Random(1)))
        return folder / name

    return write


def write_spacy(folder: Path) -> Path:
    with (folder / "vectors").open("wb") as file:
        np.save(file, VECTORS)
    keys = {murmurhash(word.encode()): row for row, word in enumerate(WORDS)}
    (folder / "key2row").write_bytes(msgpack.packb(keys))
    (folder / "strings.json").write_text(json.dumps(WORDS))
    return folder


def write_parquet(folder: Path) -> Path:
    np.save(folder / "v.npy", VECTORS)
    pq.write_table(pa.table({"word": WORDS}), folder / "w.parquet")
    return folder


def write_glove(folder: Path) -> Path:
    (folder / "vectors.bin").write_bytes(plain_formats.glove(VECTORS, VECTORS))
    (folder / "vocab.txt").write_bytes(plain_formats.glove_vocabulary([word.encode() for word in WORDS]))
    return folder / "vectors.bin"


def write_store(folder: Path) -> Path:
    load((WORDS, VECTORS)).save(folder)
    return folder


def write_bert(folder: Path) -> Path:
    return tiny_bert.write_bert(folder) / "model.safetensors"


def write_bert_of_vocabulary(folder: Path) -> Path:
    tiny_bert.write_bert(folder)
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("\n".join(tiny_bert.PIECES))
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": true}')
    return folder / "model.safetensors"


def write_scores(folder: Path) -> Path:
    (folder / "scores.csv").write_text("text,score\na,-1\n")
    return folder / "scores.csv"


def write_zip(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "corpus.zip", "w") as archive:
        archive.writestr("corpus.txt", "he works\nshe works\n")
    return folder / "corpus.zip"


def write_corpus(folder: Path) -> Path:
    (folder / "corpus.txt").write_text("he/PRP works/VB\n")
    return folder / "corpus.txt"


# a row per format: its name, the kind of model, how its files are written, and the files that it reads
ROWS = [
    ("word2vec-binary", None, a_file("model.bin", plain.as_binary), {"model.bin"}),
    ("wink-json", None, a_file("model.json", plain.as_wink), {"model.json"}),
    ("fasttext-bin", None, a_file("model.bin", plain.as_fasttext), {"model.bin"}),
    ("glove-binary", None, write_glove, {"vectors.bin", "vocab.txt"}),
    ("npz", None, a_file("model.npz", plain.as_npz), {"model.npz"}),
    ("gensim-kv", None, lambda folder: split(folder / "m[1].kv"), {"m[1].kv", "m[1].kv.vectors.npy"}),
    (
        "gensim-kv",
        None,
        lambda folder: split(folder / "m.model", model=True),
        {"m.model", "m.model.wv.vectors.npy", "m.model.wv.vectors_lockf.npy"},
    ),
    ("spacy", None, write_spacy, {"vectors", "key2row", "strings.json"}),
    ("npy-parquet", None, write_parquet, {"v.npy", "w.parquet"}),
    ("store", None, write_store, {"model.json", "vectors.npy", "vocabulary.sqlite"}),
    ("transformers", "language_model", write_bert, {"model.safetensors", "config.json", "tokenizer.json"}),
    (
        "transformers",
        "language_model",
        write_bert_of_vocabulary,
        {"model.safetensors", "config.json", "vocab.txt", "tokenizer_config.json"},
    ),
    (
        "gguf",
        "language_model",
        lambda folder: tiny_llama.write(folder / "m.gguf", tiny_llama.weights()),
        {"m.gguf"},
    ),
    ("scores", "language_model", write_scores, {"scores.csv"}),
    ("text", "corpus", write_zip, {"corpus.zip"}),
    ("tokens", "corpus", write_corpus, {"corpus.txt"}),
    ("commas", "corpus", write_corpus, {"corpus.txt"}),
    ("tagged", "corpus", write_corpus, {"corpus.txt"}),
    *(
        (
            reader.name,
            None,
            partial(plain_formats.write_example, reader),
            {*plain_formats.example_files(reader)},
        )
        for reader in REGISTRY.values()
        if reader.example
    ),
]
# names that a reader could look for beside its file
DECOYS = (
    "counts.npy",
    "vectors.npy",
    "vocab.txt",
    "tokenizer.model",
    "model.vec",
    "ngrams.npy",
    "corpus.txt.gz",
)


def test_every_reader_has_a_row():
    def names(kind):
        return {name for name, row_kind, *_ in ROWS if row_kind == kind}

    lacking = [name for name in REGISTRY if name not in names(None)]
    assert not lacking, f"{', '.join(lacking)}: Reader.example has a small file of the format"
    assert names(None) <= set(REGISTRY)
    assert names("language_model") == set(LANGUAGE_MODELS)
    assert names("corpus") == set(CORPORA)


@pytest.mark.slow
@pytest.mark.parametrize(("format", "kind", "write", "files"), ROWS)
def test_a_reader_opens_no_file_that_is_not_in_the_record(
    format, kind, write, files, tmp_path, server, watching
):
    written = tmp_path / "written"
    written.mkdir()
    path = write(written)
    in_place = path.is_file() or format == "store"
    if in_place:
        source = {"type": "file", "path": str(path)}
        if format == "gensim-kv":
            source["sha256"] = pin(path)
        for name in DECOYS:
            # a tokenizer's files are read with the weights that they lie beside
            of_tokenizer = name in ("vocab.txt", "tokenizer.model") and format == "transformers"
            if not (written / name).exists() and not of_tokenizer:
                (written / name).write_bytes(b"a file of something else")
        place = written
    else:
        source = {"type": "hub", "base": server.url, "repository": "a/b", "revision": "main"}
        source["files"] = dict.fromkeys(files)
        server.usual = lambda handler: acting(body=(written / handler.path.rpartition("/")[2]).read_bytes())(
            handler
        )
        place = tmp_path / "e" / "raw" / "m"
        fetch("m", source, tmp_path / "e" / "raw", limits=FAST)
    model = {"source": source, "format": format} | ({"kind": kind} if kind else {})
    opened.clear()
    build_store("m", model, tmp_path / "e")
    below = {Path(path).name for path in map(os.path.realpath, opened) if Path(path).parent == place}
    record = {Path(name).name for name in read_manifest(tmp_path / "e" / "raw" / "m")["files"]}
    record = record - {written.name} | ({"model.json"} if format == "store" else set())
    assert below - {"manifest.json"} <= record
    assert record == files


def test_a_file_that_was_not_fetched_is_refused(tmp_path, server):
    content = split(tmp_path / "kk.kv").read_bytes()
    server.usual = acting(body=content)
    source = {"type": "url", "url": f"{server.url}/kk.kv", "sha256": sha256(content)}
    fetch("m", source, tmp_path / "raw", limits=FAST)
    (tmp_path / "raw" / "m" / "kk.kv.vectors.npy").write_bytes((tmp_path / "kk.kv.vectors.npy").read_bytes())
    with refused("m: ", "holds 'kk.kv.vectors.npy', which was not fetched"):
        fetch("m", source, tmp_path / "raw", limits=FAST)


def test_what_an_earlier_download_left_is_none_of_the_archive(tmp_path, server):
    server.usual = answer(404)
    (tmp_path / "raw" / "m").mkdir(parents=True)
    (tmp_path / "raw" / "m" / "other.txt.part").write_bytes(b"he")
    server.usual = acting()
    fetch("m", {"type": "url", "url": f"{server.url}/m.txt"}, tmp_path / "raw", limits=FAST)
    assert sorted(os.listdir(tmp_path / "raw" / "m")) == ["m.txt", "manifest.json"]


# --- pins of a save in several files ---


def pin(path: Path) -> str:
    """The shell's own word for it."""
    names = sorted(file.name for file in path.parent.iterdir() if file.name.startswith(path.name))
    done = subprocess.run(
        f"sha256sum {' '.join(names)} | sha256sum",
        shell=True,
        cwd=path.parent,
        capture_output=True,
        text=True,
    )
    return done.stdout.split()[0]


def test_a_pin_of_a_split_save_covers_its_vectors(tmp_path):
    path = split(tmp_path / "kk.kv")
    alone, whole = sha256(path.read_bytes()), pin(path)
    store = convert(path, tmp_path / "s", name="m", sha256=whole)
    assert (store.take(["he"], store.rows(["he"])) == VECTORS[0]).all()
    assert load(path, sha256=whole.upper()).vectors(["she"]).tolist() == [VECTORS[1].tolist()]
    for call in (
        lambda: convert(path, tmp_path / "t", name="m", sha256=alone),
        lambda: load(path, sha256=alone),
        lambda: fetch("m", {"type": "file", "path": str(path), "sha256": alone}, tmp_path / "raw"),
    ):
        with refused(
            "its sha256 covers kk.kv alone, and kk.kv.vectors.npy is read with it",
            f"sha256: {whole} (sha256sum kk.kv kk.kv.vectors.npy | sha256sum)",
        ):
            call()
    refusal("convert", "--input", path, "--output", tmp_path / "t", "--sha256", alone, parts=[whole])
    # other vectors beside the same pickle
    np.save(tmp_path / "kk.kv.vectors.npy", -VECTORS)
    with refused(f"expected sha256 {whole}, got {pin(path)} (of it and kk.kv.vectors.npy)"):
        load(path, sha256=whole)


def test_a_pin_of_weights_covers_their_tokenizer(tmp_path):
    weights = write_bert(tmp_path / "b")
    names = ["model.safetensors", "config.json", "tokenizer.json"]
    lines = "".join(f"{sha256((tmp_path / 'b' / name).read_bytes())}  {name}\n" for name in names)
    whole = sha256(lines.encode())
    assert load(weights, kind="language_model", sha256=whole).masked
    with refused("covers model.safetensors alone", whole):
        load(weights, kind="language_model", sha256=sha256(weights.read_bytes()))
    (tmp_path / "b" / "tokenizer.json").write_text(json.dumps(tiny_bert.TOKENIZER, indent=1))
    with refused(f"expected sha256 {whole}"):
        load(weights, kind="language_model", sha256=whole)


def test_a_pin_of_a_store_covers_its_vectors(tmp_path):
    write_store(tmp_path / "s")
    source = {"type": "file", "path": str(tmp_path / "s")}
    source["sha256"] = sha256((tmp_path / "s" / "model.json").read_bytes())
    fetch("m", source, tmp_path / "raw")
    np.save(tmp_path / "s" / "vectors.npy", -VECTORS)
    with refused("vectors.npy: is not the file that model.json names"):
        fetch("m", source, tmp_path / "raw")


@pytest.mark.slow
def test_other_vectors_under_the_same_pin_never_give_old_or_new_numbers_in_silence(tmp_path, monkeypatch):
    """The attack: a study of a pinned save, other vectors copied over its neighbour."""
    monkeypatch.chdir(tmp_path)
    vectors = np.random.default_rng(1).normal(size=(len(GRID_WORDS), 12)).astype(np.float32)
    kept = KeyedVectors(12)
    kept.add_vectors(GRID_WORDS, vectors)
    kept.save("kk.kv", sep_limit=0)
    beside = tmp_path / "kk.kv.vectors.npy"
    source = {"type": "file", "path": "kk.kv", "sha256": pin(tmp_path / "kk.kv")}
    config = grid_config() | {"metrics": {"weat": {}}}
    config["models"] = {"kk": {"label": "kk", "source": source}}
    config["criteria"] = {"Second": config["criteria"]["Second"]}
    config["criteria"]["Second"]["queries"]["q3"]["attributes"] = {"E": GRID_WORDS[-8:], "A": GRID_WORDS[:8]}
    study = Study.of(config)
    # Snakemake makes the store again when either file changes
    assert set(stores.local_files(study, "kk")) == {"kk.kv", beside.name}
    before = make(study).paths.table_file("scores").read_text()
    np.save(beside, np.roll(vectors, 5, axis=0))
    with refused(f"expected sha256 {source['sha256']}"):
        make(study)
    # the new pin is written: then the study is computed again
    source["sha256"] = pin(tmp_path / "kk.kv")
    after = make(Study.of(config))
    assert json.loads(after.paths.model_file("kk").read_text())["archive"] == {
        "kk.kv": sha256((tmp_path / "kk.kv").read_bytes()),
        "kk.kv.vectors.npy": sha256(beside.read_bytes()),
    }
    assert after.paths.table_file("scores").read_text() != before


def test_a_limit_or_a_rule_for_broken_words_makes_another_store(tmp_path, monkeypatch):
    """The step of a store depends on all that says how a file is read."""
    monkeypatch.chdir(tmp_path)
    specs = set()
    for options in ({}, {"limit": 9}, {"limit": 8}, {"broken_words": "refuse"}, {"subwords": True}):
        config = grid_config()
        config["models"] = {"one": config["models"]["one"] | options}
        config["criteria"] = {"Second": config["criteria"]["Second"]}
        config["criteria"]["Second"]["queries"]["q3"]["attributes"] = {"E": ["e0"], "A": ["a0"]}
        study = Study.of(config, root=tmp_path)
        spec = dict(stores.store_step(study, "one").spec)
        assert options.items() <= spec.items()
        specs.add(json.dumps(spec))
    assert len(specs) == 5
