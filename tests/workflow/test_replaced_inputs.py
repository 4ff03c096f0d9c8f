"""Input files that are replaced, whatever their times are: the next run gives the new files' numbers, and makes
nothing that does not depend on them."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import plain_formats
import pytest
import yaml
from conftest import (
    GRID_WORDS,
    ROOT,
    Project,
    grid_config,
    inputs_record,
    made_once,
    refusal_of,
    write_text_model,
)
from in_process import make_project
from reruns import jobs_of

import biasgrid as bg

pytest.importorskip("torch")
sys.path.append(str(ROOT / "tests" / "models" / "language"))
from tiny_bert import weights_of, write_bert
from tiny_encoder import write_encoder

pytestmark = pytest.mark.slow

OLD = 1_577_836_800  # a time of 2020, before any run
VECTORS = {"one", "saved", "encoded", "glove"}  # the models of vectors
# input file -> what a run makes anew: models whose cells, or tables that
FILES = {
    "one.txt": {"one"},
    "saved/vectors.npy": {"saved"},
    "corpus.txt": {"corpus"},
    "scores.csv": {"table"},
    "bert/model.safetensors": {"bert"},
    "bert/tokenizer.json": {"bert"},
    "pairs.csv": {"bert", "table"},
    "similar.tsv": set(),
    "published.csv": set(),
    "ratings.csv": set(),
    "included.yaml": VECTORS,
    "data/word_sets/toy.json": VECTORS,
    "encoder/model.safetensors": {"encoded"},
    "encoder/modules.json": {"encoded"},
    "encoder/1_Pooling/config.json": {"encoded"},
    "glove/vectors.bin": {"glove"},
    "glove/vocab.txt": {"glove"},
    "mine/spread.py": VECTORS,
    "mine/numbers.py": VECTORS,
}
MADE_FROM = {
    "similar.tsv": {"evaluation", "evaluation_tables"},
    "published.csv": {"tables"},
    "ratings.csv": {"tables", "figures"},
}
RATINGS = {"label": "people", "file": "ratings.csv"}
# what a run needs of sentence-transformers, whether or not that is installed: each file of the folder counts
SENTENCE_TRANSFORMERS = """
from pathlib import Path
from zlib import crc32

import numpy as np


class SentenceTransformer:
    def __init__(self, folder, **options):
        files = sorted(path for path in Path(folder).rglob("*") if path.is_file() and path.name != "model.json")
        self.seed = crc32(b"".join(path.read_bytes() for path in files))

    def encode(self, texts, **options):
        return [np.random.default_rng([self.seed, crc32(text.encode())]).normal(size=8) for text in texts]
"""
PLUGIN = """
from biasgrid.metrics import Metric, Score

from .numbers import POWER


def spread(targets, attributes):
    '''Return how far the means of two groups are apart.'''
    difference = abs(targets[0].mean(axis=0) - targets[1].mean(axis=0))
    return Score(FACTOR * float((difference**POWER).sum()))


METRICS = (
    Metric(
        name="spread",
        label="Spread",
        function=spread,
        template=(2, "n"),
        range=(0.0, float("inf")),
        neutral=0.0,
        asks="How far apart are the means of {T1} and {T2}, whatever the words of {A}?",
        above="the means of {T1} and {T2} are apart",
        reference="None",
    ),
)
"""


class EncodingProject(Project):
    """A project with a stand-in for sentence-transformers."""

    @property
    def environment(self) -> dict[str, str]:
        path = os.pathsep.join((str(ROOT / "src"), str(self.folder / "packages")))
        return super().environment | {"PYTHONPATH": path}


def config() -> dict:
    """A study with every kind of input file."""
    words = grid_config()["criteria"]["First"]["queries"]["q1"]
    files = {"one": "one.txt", "saved": "saved"}
    models = {key: {"label": key, "source": {"type": "file", "path": path}} for key, path in files.items()}
    models["corpus"] = {"label": "C", "kind": "corpus", "source": {"type": "file", "path": "corpus.txt"}}
    of_scores = {"kind": "language_model", "format": "scores"}
    models["table"] = {"label": "T", **of_scores, "source": {"type": "file", "path": "scores.csv"}}
    bert = {"type": "transformers", "path": "bert"}
    pool = {"type": "encoded", "encoder": "folder", "pool": "sentence"}
    models["encoded"] = {"label": "E", "source": pool}
    models["glove"] = {"label": "G", "source": {"type": "file", "path": "glove/vectors.bin"}}
    models["bert"] = {"label": "B", "kind": "language_model", "source": bert}
    return {
        "study": "small",
        "plugins": ["mine"],
        "encoders": {"folder": {"source": {"type": "sentence-transformers", "path": "encoder"}}},
        "models": models,
        "criteria": [
            "included.yaml",
            {
                "Text": {
                    "ranked": False,
                    "metrics": {"pmi": {"params": {"smoothing": 0.5}}},
                    "queries": {"text": words},
                },
                "Sentences": {
                    "ranked": False,
                    "metrics": {"pll_preference": {}},
                    "queries": {"pairs": {"file": "pairs.csv", "sets": {"S": "stereo", "O": "anti"}}},
                },
            },
        ],
        "metrics": {"weat": {}, "same": {}, "spread": {}},
        "quality": {"similarity": {"toy": "similar.tsv"}},
        "published": ["published.csv"],
        "figures": ["ratings"],
    }


def write_inputs(folder: Path, seed: int) -> None:
    """All input files but the config, with other content for each seed."""
    rng = np.random.default_rng(seed)
    write_text_model(folder / "one.txt", GRID_WORDS, seed=seed)
    shutil.rmtree(folder / "saved", ignore_errors=True)
    bg.load(write_text_model(folder / "source.txt", GRID_WORDS, seed=seed + 10)).save(folder / "saved")
    lines = (" ".join(rng.choice(GRID_WORDS, 7)) for _ in range(200))
    (folder / "corpus.txt").write_text("\n".join(lines) + "\n")
    write_bert(folder / "bert", weights_of(seed))
    with (folder / "bert" / "tokenizer.json").open("a") as file:
        file.write(" " * seed)
    write_encoder(folder / "encoder", seed)
    (folder / "encoder" / "1_Pooling").mkdir(exist_ok=True)
    module = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}
    pooling = module | {"idx": 1, "name": "1", "path": "1_Pooling"}
    pooling["type"] = "sentence_transformers.models.Pooling"
    (folder / "encoder" / "modules.json").write_text(json.dumps([module, pooling]) + " " * seed)
    (folder / "encoder" / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": 8 * seed})
    )
    (folder / "glove").mkdir(exist_ok=True)
    words = [word.encode() for word in GRID_WORDS]
    vectors = rng.normal(size=(2, len(words), 8))
    (folder / "glove" / "vectors.bin").write_bytes(plain_formats.glove(*vectors))
    (folder / "glove" / "vocab.txt").write_bytes(plain_formats.glove_vocabulary(words[:: 3 - 2 * seed]))
    (folder / "mine").mkdir(exist_ok=True)
    (folder / "mine" / "__init__.py").touch()
    (folder / "mine" / "numbers.py").write_text(f"POWER = {seed}\n")
    (folder / "mine" / "spread.py").write_text(f"{PLUGIN}\nFACTOR = {seed}\n")
    texts = [(f"a b {'c' * n}.", f"b a {'d' * n}.") for n in range(1, 4 + seed)]
    (folder / "pairs.csv").write_text("stereo,anti\n" + "".join(f"{a},{b}\n" for a, b in texts))
    longest = [(f"a b {'c' * n}.", f"b a {'d' * n}.") for n in range(1, 9)]
    scores = (f"{text},{-rng.uniform(1, 9):.4f}\n" for pair in longest for text in pair)
    (folder / "scores.csv").write_text("text,score\n" + "".join(scores))
    (folder / "ratings.csv").write_text(
        "word,rating\n" + "".join(f"{word},{rng.normal():.3f}\n" for word in GRID_WORDS)
    )
    pairs = (f"a{n}\tb{n}\t{rng.uniform(0, 10):.2f}\n" for n in range(8))
    (folder / "similar.tsv").write_text("".join(pairs))
    (folder / "published.csv").write_text(
        "source,table,criterion,query,metric,model,quantity,published,digits,runs,run_sd,test,note\n"
        f"A paper,table 1,First,q1,weat,one,value,{rng.normal():.3f},3,,,,\n"
    )
    targets = {letter.upper(): [f"{letter}{n}" for n in range(seed, 8)] for letter in "ab"}
    queries = {"q1": {"targets": targets, "attributes": {"E": "toy.e", "F": "toy.f"}}}
    (folder / "included.yaml").write_text(yaml.safe_dump({"First": {"queries": queries, "ratings": RATINGS}}))
    sets = {letter: [f"{letter}{n}" for n in range(7 - seed)] for letter in "ef"}
    (folder / "data" / "word_sets" / "toy.json").write_text(json.dumps({"sets": sets}))


def age(folder: Path, seed: int) -> None:
    """Give every input file a time before the first run; those of a second seed are older."""
    for path in inputs_of(folder):
        os.utime(path, (OLD - seed, OLD - seed))


def inputs_of(folder: Path) -> list[Path]:
    names = ("one.txt", "saved/*", "corpus.txt", "bert/*", "*.csv", "*.tsv", "included.yaml")
    folders = ("encoder/*.*", "encoder/*/*", "glove/*", "mine/*.py", "data/word_sets/*.json")
    return [path for name in (*names, *folders) for path in folder.glob(name)]


def write_project(project: Project, seed: int) -> None:
    (project.folder / "packages").mkdir()
    (project.folder / "packages" / "sentence_transformers.py").write_text(SENTENCE_TRANSFORMERS)
    write_inputs(project.folder, seed)
    age(project.folder, seed)


@pytest.fixture(scope="module")
def first(tmp_path_factory) -> Project:
    """The study made from its first files."""

    def write(project: Project) -> None:
        write_project(project, 1)

    return made_once(tmp_path_factory, "replaced", config(), EncodingProject, write)


@pytest.fixture(scope="module")
def second(tmp_path_factory) -> Project:
    """The second files in another folder."""
    project = EncodingProject(tmp_path_factory.mktemp("second"))
    write_project(project, 2)
    project.configure(config())
    return project


@pytest.fixture
def project(first, tmp_path) -> Project:
    return first.copy(tmp_path / "project")


def put(new: Path, old: Path) -> None:
    """Move a file, with its time, to the place of another."""
    copy = new.with_name(f"{new.name}.copy")
    shutil.copy2(new, copy)
    copy.replace(old)


def numbers(project: Project) -> dict[str, bytes]:
    """The results, but for what says which files they were made from: a study's config stays as it is."""
    return {
        name: content
        for name, content in project.results().items()
        if not name.endswith(".sha256") and "/sources/" not in name
    }


def verify(project: Project) -> tuple[int, list[str]]:
    done = project.biasgrid("verify", "results/small")
    return done.returncode, done.stderr.splitlines()


def models_of(jobs: dict[str, set[str]]) -> set[str]:
    """The models whose cells are among the jobs of a dry run."""
    rules = [rule for rule in jobs if rule.startswith("cell")]
    return {path.split("/")[1] for rule in rules for path in jobs[rule]}


def test_all_inputs_replaced_by_older_files_and_back(project, first, second):
    names = sorted(str(path.relative_to(second.folder)) for path in inputs_of(second.folder))
    for name in names:
        put(second.folder / name, project.folder / name)
    code, lines = verify(project)
    assert code == 1
    changed = [
        name for name in names if (first.folder / name).read_bytes() != (second.folder / name).read_bytes()
    ]
    said = [f"biasgrid: {name}: differs from the file that the results were made from" for name in changed]
    assert len(changed) > 10
    assert sorted(lines[:-1]) == sorted(said)
    project.run()
    assert verify(project) == (0, [])
    records = inputs_record(project.folder, *names)
    assert records.items() <= project.results().items()
    # what one process makes of the second files where nothing was before
    make_project(second)
    assert numbers(project) == numbers(second)
    for name in names:
        put(first.folder / name, project.folder / name)
    project.run()
    assert numbers(project) == numbers(first)
    assert verify(project) == (0, [])


@pytest.mark.parametrize("name", FILES)
def test_a_replaced_file_makes_what_depends_on_it_and_nothing_else(name, project, second):
    put(second.folder / name, project.folder / name)
    if name.startswith("saved/"):  # its model.json has the checksums of the others
        put(second.folder / "saved/model.json", project.folder / "saved/model.json")
    jobs = jobs_of(project.run("--dry-run"))
    assert models_of(jobs) == FILES[name]
    if name.startswith("mine/"):
        assert {path.split("/")[3] for rule in jobs if rule.startswith("cell") for path in jobs[rule]} == {
            "spread"
        }
    assert MADE_FROM.get(name, {"tables"}) | {"report"} <= set(jobs)


def same_size(folder: Path) -> str:
    """The text of other vectors, of the size that the first ones have."""
    text = (folder / "one.txt").read_text()
    head, first, rest = text.split("\n", 2)
    word, numbers = first.split(" ", 1)
    digits = str.maketrans("0123456789", "1234567890")
    return "\n".join([head, f"{word} {numbers.translate(digits)}", rest])


def moved(folder: Path) -> None:
    put(folder / "new.txt", folder / "one.txt")


def copied(folder: Path) -> None:
    shutil.copy2(folder / "new.txt", folder / "one.txt")


def unpacked(folder: Path) -> None:
    (folder / "new").mkdir()
    shutil.copy2(folder / "new.txt", folder / "new" / "one.txt")
    with tarfile.open(folder / "new.tar", "w") as archive:
        archive.add(folder / "new" / "one.txt", "one.txt")
    # Python's own extraction asks for a filter from 3.14 on, and has none before 3.11.4
    subprocess.run(["tar", "xf", "new.tar"], cwd=folder, check=True)


def synchronised(folder: Path) -> None:
    """Replace the file as `rsync -a` does: a temporary file gets the time, and then the name."""
    (folder / "new").mkdir()
    shutil.copy2(folder / "new.txt", folder / "new" / "one.txt")
    if shutil.which("rsync"):
        subprocess.run(["rsync", "-a", folder / "new" / "one.txt", folder], check=True)
    else:
        shutil.copy2(folder / "new" / "one.txt", folder / ".one.txt.Xy1z")
        (folder / ".one.txt.Xy1z").rename(folder / "one.txt")


def of_equal_time(folder: Path) -> None:
    """Replace the file by one of another size that has the same time."""
    state = (folder / "one.txt").stat()
    with (folder / "new.txt").open("a") as file:
        file.write("\n")
    os.utime(folder / "new.txt", ns=(state.st_atime_ns, state.st_mtime_ns))
    moved(folder)
    assert (folder / "one.txt").stat().st_mtime_ns == state.st_mtime_ns
    assert (folder / "one.txt").stat().st_size != state.st_size


def linked(folder: Path) -> None:
    (folder / "one.txt").unlink()
    (folder / "one.txt").symlink_to("new.txt")


def with_its_time(folder: Path) -> None:
    state = (folder / "one.txt").stat()
    (folder / "one.txt").write_text(same_size(folder))
    os.utime(folder / "one.txt", ns=(state.st_atime_ns, state.st_mtime_ns))
    assert (folder / "one.txt").stat().st_size == state.st_size


def test_a_file_of_the_same_size_and_time_is_found_by_verify(finished):
    with_its_time(finished.folder)
    assert jobs_of(finished.run("--dry-run")) == {}
    code, (line, _) = verify(finished)
    assert (code, line) == (1, "biasgrid: one.txt: differs from the file that the results were made from")


@pytest.mark.parametrize("replace", [moved, copied, unpacked, synchronised, linked, of_equal_time])
def test_vectors_are_new_however_they_were_replaced(replace, finished):
    folder = finished.folder
    (folder / "new.txt").write_text(same_size(folder))
    os.utime(folder / "new.txt", (OLD, OLD))
    replace(folder)
    assert models_of(jobs_of(finished.run("--dry-run"))) == {"one"}
    code, (line, _) = verify(finished)
    assert (code, line) == (1, "biasgrid: one.txt: differs from the file that the results were made from")


def test_pinned_files_an_array_and_a_link_above_a_file_count(finished):
    """What gensim saved is a pickle, which needs a pinned checksum: that of the pickle and of the array beside it."""
    keyed_vectors = pytest.importorskip("gensim.models").KeyedVectors
    folder = finished.folder
    for name, seed in (("first", 1), ("second", 9)):
        (folder / name).mkdir()
        text = write_text_model(folder / f"{name}.txt", GRID_WORDS, seed=seed)
        keyed_vectors.load_word2vec_format(text).save(
            str(folder / name / "vectors.kv"), separately=["vectors"]
        )
        for path in (text, *(folder / name).iterdir()):
            os.utime(path, (OLD - seed, OLD - seed))
        (folder / f"of_{name}").mkdir()
        shutil.copy2(text, folder / f"of_{name}" / "three.txt")
    array = "vectors.kv.vectors.npy"
    assert (folder / "first" / array).stat().st_size == (folder / "second" / array).stat().st_size
    (folder / "vectors").symlink_to("of_first")
    pin = hashlib.sha256((folder / "two.txt").read_bytes()).hexdigest()
    sources = {
        "one": {"type": "file", "path": "first/vectors.kv", "sha256": pin_of_folder(folder / "first")},
        "two": {"type": "file", "path": "two.txt", "sha256": pin},
        "three": {"type": "file", "path": "vectors/three.txt"},
    }
    models = {name: {"label": name, "source": source} for name, source in sources.items()}
    finished.configure(finished.config | {"models": models, "figures": []})
    finished.run()
    assert jobs_of(finished.run("--dry-run")) == {}
    shutil.copy2(folder / "first" / array, folder / array)
    put(folder / "second" / array, folder / "first" / array)
    shutil.copy2(folder / "two.txt", folder / "former.txt")
    put(folder / "second.txt", folder / "two.txt")
    (folder / "vectors").unlink()
    (folder / "vectors").symlink_to("of_second")
    assert models_of(jobs_of(finished.run("--dry-run"))) == {"one", "two", "three"}
    code, lines = verify(finished)
    assert code == 1
    assert sorted(lines[:-1]) == [
        f"biasgrid: {name}: differs from the file that the results were made from"
        for name in (f"first/{array}", "two.txt", "vectors/three.txt")
    ]
    done = finished.snakemake("--cores", "1")
    assert done.returncode == 1
    assert f"first/vectors.kv: expected sha256 {sources['one']['sha256']}, got " in done.stderr
    assert f"biasgrid: two: two.txt: expected sha256 {pin}, got " in done.stderr
    sources["one"]["sha256"] = pin_of_folder(folder / "first")
    finished.configure(finished.config)
    put(folder / "former.txt", folder / "two.txt")
    finished.run()
    assert verify(finished) == (0, [])
    # back again, by a link
    (folder / "first" / array).unlink()
    (folder / "first" / array).symlink_to(folder / array)
    assert models_of(jobs_of(finished.run("--dry-run"))) == {"one"}


def pin_of_folder(folder: Path) -> str:
    """The checksum of what gensim saved, as `sha256sum * | sha256sum` gives it."""
    lines = (
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(folder.iterdir())
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def test_a_file_that_is_not_there_is_one_line_and_one_that_is_only_newer_gives_the_same(finished):
    before = finished.results()
    (finished.folder / "two.txt").touch()
    assert models_of(jobs_of(finished.run("--dry-run"))) == {"two"}
    (finished.folder / "one.txt").unlink()
    assert verify(finished) == (0, ["biasgrid: one.txt: is not there; it cannot be compared"])
    done = finished.snakemake("--cores", "1")
    assert done.returncode == 1
    assert [line for line in done.stderr.splitlines() if "one.txt" in line] == [
        "biasgrid: one: one.txt is not there",
        "biasgrid: archive one failed: one: one.txt is not there",
    ]
    # Snakemake has forgotten what the step was made from: the same file, then another, both older than the run
    for seed in (1, 9):
        write_text_model(finished.folder / "one.txt", GRID_WORDS, seed=seed)
        os.utime(finished.folder / "one.txt", (OLD, OLD))
        assert models_of(jobs_of(finished.run("--dry-run"))) == {"one"}
        finished.run()
        assert jobs_of(finished.run("--dry-run")) == {}
        assert (finished.results() == before) == (seed == 1)


def test_results_without_what_snakemake_knows_are_not_taken_for_those_of_other_files(finished):
    shutil.rmtree(finished.folder / ".snakemake")
    write_text_model(finished.folder / "new.txt", GRID_WORDS, seed=9)
    os.utime(finished.folder / "new.txt", (OLD, OLD))
    moved(finished.folder)
    says = "results/small is of another one.txt, and was made in another folder"
    refusal_of(finished.snakemake("--cores", "1"), says)


def test_a_profile_is_not_recorded_as_an_input(finished):
    (finished.folder / "mine").mkdir()
    (finished.folder / "mine" / "config.yaml").write_text("executor: local\n")
    finished.run("--profile", "mine", "--workflow-profile", "profiles/default")
    record = (finished.folder / "results" / "small" / "inputs.sha256").read_text()
    assert [line.split()[1] for line in record.splitlines()] == [
        "../../data/word_sets/toy.json",
        "../../one.txt",
        "../../two.txt",
    ]


def test_why_names_the_file_that_was_replaced(finished):
    write_text_model(finished.folder / "new.txt", GRID_WORDS, seed=9)
    os.utime(finished.folder / "new.txt", (OLD, OLD))
    moved(finished.folder)
    done = finished.biasgrid("run", "config/config.yaml", "--why", "table scores")
    assert done.stdout.splitlines()[1:] == ["  one.txt was replaced"]


def test_why_names_the_one_file_of_a_folder_that_was_edited(project):
    file = project.folder / "bert" / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"note": "edited"}))
    done = project.biasgrid("run", "config/config.yaml", "--why")
    (cause,) = (line for line in done.stdout.splitlines() if "was replaced" in line)
    assert cause.startswith("  bert/config.json was replaced: ")
    assert "archive" in cause


def test_why_says_that_the_source_of_a_model_changed(finished):
    os.rename(finished.folder / "one.txt", finished.folder / "renamed.txt")
    finished.configure(
        finished.config
        | {
            "models": finished.config["models"]
            | {"one": {"label": "one", "source": {"type": "file", "path": "renamed.txt"}}}
        }
    )
    done = finished.biasgrid("run", "config/config.yaml", "--why")
    assert '  archive one: source.path: "one.txt" -> "renamed.txt": ' in done.stdout
    assert "manifest.json" not in done.stdout
