"""Models that are trained here: what is read, what comes out, and what trains again."""

import gzip
import inspect
import json
import os
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from biasgrid_plugin_training import corpora, gensim_models
from biasgrid_plugin_training.corpora import RunningText
from conftest import ROOT, Project, grid_config, refusal, text
from gensim.models import FastText, Word2Vec
from gensim.models.word2vec import Text8Corpus
from refusals import refused
from reruns import append, cells, planned

from biasgrid import BiasgridError, EmbeddingStore
from biasgrid.models import build_store
from biasgrid.models.algorithms import REGISTRY as ALGORITHMS
from biasgrid.models.building import store_of
from biasgrid.study.study import Study

SMALL = {"vector_size": 8, "window": 3, "min_count": 2, "epochs": 2, "seed": 3}


def zipped(path, **files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def trained(corpus, algorithm="word2vec", **params):
    """A model's entry as `Study.models` has it."""
    where = {"name": "made", "source": {"type": "file", "path": str(corpus)}}
    source = {"type": "trained", "corpus": where, "algorithm": algorithm, "params": SMALL | params}
    return {"label": "made", "source": source}


def train(corpus, output, algorithm="word2vec", **params):
    model = trained(corpus, algorithm, **params)
    ALGORITHMS[algorithm].make(corpus, output, name="m", model=model, metadata={"licence": "mine"})
    return EmbeddingStore.open(output)


# what is read


@pytest.mark.parametrize("tokens", [1, 9999, 10000, 10001, 25000])
def test_a_corpus_is_read_as_gensim_reads_text8(tmp_path, monkeypatch, tokens):
    content = text(tokens)
    plain = tmp_path / "text8"
    plain.write_text(content)
    with gzip.open(tmp_path / "text8.gz", "wt") as file:
        file.write(content)
    expected = list(Text8Corpus(str(plain)))
    assert sum(map(len, expected)) == tokens
    monkeypatch.setattr(corpora, "BLOCK", 1000)  # words lie across its edges
    for path in (plain, tmp_path / "text8.gz", zipped(tmp_path / "text8.zip", text8=content)):
        assert list(RunningText(path)) == expected


def test_tokens_are_parted_at_any_white_space_and_left_as_they_are(tmp_path):
    path = tmp_path / "c.txt"
    path.write_text("Ein Häuschen,\r\n\tam  Bach.\n", encoding="utf-8")
    assert list(RunningText(path)) == [["Ein", "Häuschen,", "am", "Bach."]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no word occurs 2 times"),
        (b"one two three", "no word occurs 2 times"),
        (b"one \xff two", "is damaged"),
        (b"\x1f\x8b\x08\x00nonsense", "is damaged"),
        (b"PK\x03\x04nonsense", "is damaged"),
    ],
)
@pytest.mark.parametrize("algorithm", ["word2vec", "fasttext"])
def test_a_wrong_corpus_is_one_line_and_no_store(tmp_path, content, says, algorithm):
    path = tmp_path / "corpus"
    path.write_bytes(content)
    with refused(*says.split(" .* "), str(path)):
        train(path, tmp_path / "store", algorithm)
    assert not (tmp_path / "store").exists()


def test_a_corpus_whose_end_is_missing_trains_nothing(tmp_path):
    path = zipped(tmp_path / "c.zip", one=text())
    whole = path.read_bytes()
    place = len(whole) // 2
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
    with pytest.raises(BiasgridError, match="damaged"):
        train(path, tmp_path / "store")


# what comes out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "made_by", "params"),
    [
        ("word2vec", Word2Vec, {"sg": 1}),
        ("word2vec", Word2Vec, {"sg": 0, "negative": 0, "hs": 1}),
        ("fasttext", FastText, {"sg": 1, "bucket": 500, "min_n": 2}),
    ],
)
def test_vectors_are_gensims_words_by_falling_frequency(tmp_path, algorithm, made_by, params):
    (tmp_path / "text8").write_text(text())
    store = train(zipped(tmp_path / "text8.zip", text8=text()), tmp_path / "store", algorithm, **params)
    expected = made_by(Text8Corpus(str(tmp_path / "text8")), workers=1, **SMALL, **params).wv
    assert store.words() == expected.index_to_key
    np.testing.assert_array_equal(store.array, expected.vectors)
    counts = [text().split().count(word) for word in store.words()]
    assert counts == sorted(counts, reverse=True)
    assert store.counts.tolist() == counts
    assert store.metadata["tokens"] == 6000
    assert store.metadata["licence"] == "mine"
    if algorithm == "fasttext":  # a word's n-grams count: it is not its own vector alone
        assert not np.allclose(store.array, expected.vectors_vocab)


CONFIG = """\
study: small
plugins: [training]
corpora: {made: {source: {type: file, path: corpus.zip}}}
models:
  w2v: {label: a, source: {type: trained, corpus: made, algorithm: word2vec, params: %(small)s}}
  ft: {label: b, source: {type: trained, corpus: made, algorithm: fasttext, params: %(small)s}}
criteria: {C: {queries: {q: {targets: {A: [a0, a1], B: [b0]}, attributes: {C: [c0], D: [d0]}}}}}
metrics: {weat: {}}
"""


TRAIN = """
from biasgrid.cli import main
for model in ("w2v", "ft"):
    assert main(["step", f"store {model}", "--study", "study.yaml"]) == 0
"""


@pytest.mark.slow
def test_two_processes_train_the_same_bytes(tmp_path, monkeypatch):
    """This one and another: whatever the order of hashes and the number of threads that a library would take."""
    zipped(tmp_path / "corpus.zip", text=text(12_000))
    (tmp_path / "study.yaml").write_text(CONFIG % {"small": json.dumps(SMALL)})
    other = {
        "BIASGRID_EMBEDDINGS": str(tmp_path / "other"),
        "PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1",
    }
    other |= {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    train_all = [sys.executable, "-c", TRAIN]
    done = subprocess.run(train_all, cwd=tmp_path, env=os.environ | other, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(tmp_path / "here"))
    exec(TRAIN, {})
    stores = []
    for place in (tmp_path / "here", tmp_path / "other"):
        for model in ("w2v", "ft"):
            record = (place / model / "model.json").read_text()
            assert json.loads(record)["source"]["params"] == SMALL
            assert json.loads(record)["shape"] == [48, 8]
            assert str(tmp_path) not in record
        stores.append({path.relative_to(place): path.read_bytes() for path in place.glob("[!r]*/*")})
    assert len(stores[0]) == 2 * len({"vectors.npy", "vocabulary.sqlite", "counts.npy", "model.json"})
    assert stores[0] == stores[1]


def test_a_store_of_the_study_is_trained_by_hand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(CONFIG % {"small": json.dumps(SMALL)})
    unknown = "study.yaml: unknown step 'store x'; did you mean 'store ft'? allowed: store w2v, store ft"
    for model, says in [("x", unknown), ("ft", "corpus.zip")]:
        refusal("step", f"store {model}", "--study", "study.yaml", parts=[says])


def test_a_seed_is_a_parameter(tmp_path):
    corpus = zipped(tmp_path / "c.zip", text=text())
    assert not np.array_equal(
        train(corpus, tmp_path / "a").array, train(corpus, tmp_path / "b", seed=4).array
    )


# the config


def config_with(source=None, **more):
    config = grid_config()
    config["corpora"] = {"made": {"source": {"type": "file", "path": "corpus.zip"}}}
    given = {"type": "trained", "corpus": "made", "algorithm": "word2vec"} | (source or {})
    config["models"]["two"] = {"label": "Two", "source": given} | more
    return config


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (config_with({"params": {"workers": 4}}), "two: source: params: workers: is always 1"),
        (
            config_with({"params": {"size": 5}}),
            "word2vec has no parameter 'size'; allowed are: alpha, cbow_mean",
        ),
        (config_with({"params": {"min_n": 2}}), "word2vec has no parameter 'min_n'"),
        (
            config_with({"params": {"window": 0}}),
            "window: 0 is not allowed; allowed are whole numbers from 1",
        ),
        (config_with({"params": {"epochs": 2.0}}), "epochs: 2.0 is not allowed"),
        (
            config_with({"params": {"alpha": "1e-3"}}),
            "alpha: '1e-3' is not allowed; allowed are numbers from 0",
        ),
        (
            config_with({"params": {"sg": True}}),
            "sg: True is not allowed; allowed are whole numbers from 0 to 1",
        ),
        (config_with({"params": {"negative": 0}}), "negative: 0 without hs: 1 trains nothing"),
        (config_with({"algorithm": "fasttext", "params": {"min_n": 7}}), "min_n: 7 is more than max_n, 6"),
        (
            config_with({"algorithm": "lsa"}),
            "source: algorithm: unknown training algorithm 'lsa'; allowed: bert, ",
        ),
        (
            config_with({"algorithm": "glove", "params": {"sg": 1}}),
            "glove has no parameter 'sg'; allowed are: alpha",
        ),
        (config_with({"algorithm": "glove", "params": {"x_max": 0}}), "x_max: 0 is not allowed"),
        (config_with({"corpus": "text9"}), "two: source: unknown corpus 'text9'"),
        (config_with({"path": "x"}), "unknown key 'path'"),
        (config_with({"type": "made"}), "source: type: unknown value 'made'"),
        (config_with(format="text"), "two: format: is for files"),
        (config_with(vocab_prefix="/c/en/"), "two: vocab_prefix: is for files"),
        (config_with(limit=9), "two: limit: is for files"),
        (config_with(broken_words="refuse"), "two: broken_words: is for files"),
        (
            config_with({"corpus": "one"}) | {"corpora": {"one": {"source": {"type": "file", "path": "x"}}}},
            "corpora: one: this name is taken",
        ),
        (
            config_with() | {"corpora": {"made": {"source": {"type": "trained", "corpus": "made"}}}},
            "corpora: made: source: type: unknown value 'trained'",
        ),
    ],
)
def test_a_wrong_config_is_one_line(root, config, says):
    with refused(says):
        Study.of(config, root=root)


@pytest.mark.parametrize(("algorithm", "made_by"), [("word2vec", Word2Vec), ("fasttext", FastText)])
def test_parameters_have_gensims_names(algorithm, made_by):
    assert set(ALGORITHMS[algorithm].parameters) <= set(inspect.signature(made_by).parameters)


def test_what_is_fetched_is_the_corpus_and_not_the_model(root):
    study = Study.of(config_with(), root=root)
    assert list(study.sources) == ["one", "made"]
    # the resolved config can be read again
    assert Study.of(json.loads(study.to_json()), root=root).models == study.models


def test_the_study_of_text8_says_what_its_models_are():
    study = Study.read(ROOT / "config" / "text8.yaml", root=ROOT)
    assert study.trained_models == list(study.models)
    assert {model["source"]["algorithm"] for model in study.models.values()} == {"word2vec", "fasttext"}
    assert all("trained here on text8" in model["label"] for model in study.models.values())
    assert "text8" in study.sources
    assert set(study.trained_models).isdisjoint(study.sources)
    assert len(study.queries) == 25
    assert len(study.grid.cells) == len(study.models) * 25 * 4


OWN = """
import numpy as np

from biasgrid.core.errors import BiasgridError
from biasgrid.models.algorithms import Algorithm
from biasgrid.models.store_writer import StoreWriter


def check(params):
    if params.get("length", 1) <= 0:
        raise BiasgridError("length: must be above 0")


def make(archive, folder, *, name, model, metadata):
    words = sorted(set(archive.read_text().split()))
    with StoreWriter(folder, archive) as writer:
        writer.add(words, np.eye(len(words)) * model["source"]["params"]["length"])
        writer.finish({**metadata, "name": name, "format": "trained", "vocab_prefix": "", "label": name, "note": ""})


ALGORITHMS = (Algorithm("one_hot", "A dimension per word.", "vectors", ("length",), check, lambda: "one", make),)
"""


def test_an_algorithm_of_a_user_is_one_file(root, tmp_path):
    (root / "own.py").write_text(OWN)
    own = {"algorithm": "one_hot", "params": {"length": 3}}
    study = Study.of(config_with(own) | {"plugins": ["own.py"]}, root=root)
    (tmp_path / "corpus.txt").write_text("b a c a\n")
    model = study.models["two"]
    model["source"]["corpus"]["source"]["path"] = str(tmp_path / "corpus.txt")
    store = build_store("two", model, tmp_path / "stores")
    assert (store.words(), store.array.tolist()) == (["a", "b", "c"], [[3, 0, 0], [0, 3, 0], [0, 0, 3]])
    assert store.metadata["trained_by"] == "one"
    own["params"]["length"] = 0
    with refused("two: source: params: length: must be above 0"):
        Study.of(config_with(own) | {"plugins": ["own.py"]}, root=root)


# what trains again


def test_a_store_is_taken_while_it_was_made_of_the_same(tmp_path, monkeypatch):
    corpus = zipped(tmp_path / "c.zip", text=text())
    folder = tmp_path / "stores"
    first = build_store("m", trained(corpus), folder).fingerprint
    written = (folder / "m" / "model.json").stat().st_mtime_ns

    def made():
        """Whether the store was made again."""
        nonlocal written
        before, written = written, (folder / "m" / "model.json").stat().st_mtime_ns
        return written != before

    build_store("m", trained(corpus), folder, shared=True)
    assert not made()
    assert build_store("m", trained(corpus, window=2), folder).fingerprint != first
    assert made()
    assert build_store("m", trained(corpus), folder).fingerprint == first
    assert made()
    with monkeypatch.context() as patch:
        patch.setattr(gensim_models, "VERSION", 99)
        build_store("m", trained(corpus), folder)
    assert made()
    zipped(corpus, text=text(seed=1))
    assert build_store("m", trained(corpus), folder).fingerprint != first
    assert made()


def test_a_shared_folder_and_a_study_refuse_a_model_of_other_parameters(tmp_path):
    corpus = zipped(tmp_path / "c.zip", text=text())
    folder = tmp_path / "stores"
    build_store("m", trained(corpus), folder, shared=True)
    with pytest.raises(BiasgridError, match="which studies share, holds a different model of this name"):
        build_store("m", trained(corpus, window=2), folder, shared=True)
    assert store_of(folder, "m", trained(corpus)).open().name == "m"
    with pytest.raises(BiasgridError, match="was made from a different source than the study's m"):
        store_of(folder, "m", trained(corpus, algorithm="fasttext")).open()


def training_config() -> dict:
    config = grid_config()
    config["corpora"] = {"made": {"source": {"type": "file", "path": "corpus.zip"}}}
    for key, algorithm in (("w2v", "word2vec"), ("ft", "fasttext")):
        source = {"type": "trained", "corpus": "made", "algorithm": algorithm, "params": dict(SMALL)}
        config["models"][key] = {"label": f"{algorithm}, trained here", "source": source}
    del config["models"]["two"]
    criteria = {"Second": config["criteria"]["Second"]}
    return config | {"plugins": ["training"], "criteria": criteria, "metrics": {"weat": {}, "rnd": {}}}


@pytest.fixture(scope="module")
def trained_project(tmp_path_factory):
    made = Project(tmp_path_factory.mktemp("trained"))
    zipped(made.folder / "corpus.zip", text=text())
    made.configure(training_config())
    made.run()
    return made


@pytest.fixture
def project_of_trained(trained_project, tmp_path):
    return trained_project.copy(tmp_path / "project")


@pytest.mark.slow
def test_a_study_of_trained_models_runs_to_its_cells(trained_project):
    results = trained_project.folder / "results" / "small"
    assert {path.stem for path in (results / "models").iterdir()} == {"one", "w2v", "ft"}
    assert len(list((results / "cells").rglob("*.json"))) == 3 * 2


def own_training(project):
    """The module that trains with gensim, to be edited."""
    project.own_code()
    return project.folder / "plugins" / "training" / "gensim_models.py"


def with_other_parameter(project):
    project.config["models"]["ft"]["source"]["params"]["window"] = 2
    project.configure(project.config)


def with_other_version(project):
    module = own_training(project)
    module.write_text(module.read_text().replace("VERSION = 1\n", "VERSION = 2\n"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "trained", "archives"),
    [
        (lambda project: append(own_training(project)), set(), set()),
        (with_other_parameter, {"ft"}, set()),
        (with_other_version, {"ft", "w2v"}, set()),
        (
            lambda project: zipped(project.folder / "corpus.zip", text=text(seed=1)),
            {"ft", "w2v"},
            {"sources/made.json"},
        ),
    ],
    ids=["code", "parameter", "version", "corpus"],
)
def test_an_edit_trains_what_it_changes_and_no_other(project_of_trained, edit, trained, archives):
    edit(project_of_trained)
    jobs = planned(project_of_trained)
    assert jobs.get("train", set()) == {f"models/{model}.json" for model in trained}
    assert jobs.get("archive", set()) == archives
    assert "store" not in jobs
    assert cells(jobs) == {f"{model}/none/{metric}/q3" for model in trained for metric in ("weat", "rnd")}
    assert not jobs or trained


@pytest.mark.slow
def test_a_corpus_that_cannot_be_read_is_named_and_other_models_are_measured(project_of_trained):
    del project_of_trained.config["models"]["w2v"]
    project_of_trained.configure(project_of_trained.config)
    zipped(project_of_trained.folder / "corpus.zip", text="too few words")
    (project_of_trained.folder / "results/small/cells/one/none/weat/q3.json").unlink()
    done = project_of_trained.snakemake("--cores", "2")
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if line.startswith("biasgrid: ")]
    (failure,) = [line for line in lines if " failed: " in line]
    assert "no word occurs 2 times (min_count)" in failure
    assert (project_of_trained.folder / "results/small/cells/one/none/weat/q3.json").is_file()


@pytest.mark.slow
def test_studies_share_a_model_that_is_trained_here(project_of_trained, monkeypatch, tmp_path):
    shared = tmp_path / "shared"
    shutil.move(project_of_trained.folder / "data" / "embeddings", shared)
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(shared))
    trained_at = (shared / "ft" / "model.json").stat().st_mtime_ns
    project_of_trained.config["study"] = "other"
    del project_of_trained.config["models"]["w2v"]
    project_of_trained.configure(project_of_trained.config)
    project_of_trained.run("stores")
    record = project_of_trained.folder / "results" / "other" / "models" / "ft.json"
    assert record.read_bytes() == (shared / "ft" / "model.json").read_bytes()
    assert (shared / "ft" / "model.json").stat().st_mtime_ns == trained_at


def test_a_store_that_was_trained_before_stores_had_counts_is_taken_as_it_is(tmp_path):
    corpus = zipped(tmp_path / "c.zip", text=text())
    folder = tmp_path / "stores"
    made = build_store("m", trained(corpus), folder)
    record = json.loads((made.path / "model.json").read_text())
    del record["sha256"]["counts.npy"]
    (made.path / "model.json").write_text(json.dumps(record))
    (made.path / "counts.npy").unlink()
    written = (made.path / "model.json").stat().st_mtime_ns
    again = build_store("m", trained(corpus), folder, shared=True)
    assert again.counts is None
    assert (made.path / "model.json").stat().st_mtime_ns == written
