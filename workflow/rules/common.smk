# The study that the config declares, and what happens when a step of it fails.
import fcntl
import hashlib
import json
import queue
import re
import subprocess
import tempfile
import traceback

from snakemake.exceptions import WorkflowError

from biasgrid import comparison, debias, figures, metrics, processes, ratings
from biasgrid.configs import read_yaml
from biasgrid.embeddings import STORE_VERSION, EmbeddingStore, build_store
from biasgrid.embeddings.training import version as trained_by
from biasgrid.errors import BiasgridError
from biasgrid.figures.null import drawing as null_figure
from biasgrid.files import write_text
from biasgrid.study import PLACE, UNTOUCHED, Study

try:
    # Snakemake's own reading lets a key pass that stands twice
    for path in workflow.configfiles:
        read_yaml(os.path.relpath(path))
    STUDY = Study.of(config, where=", ".join(map(os.path.relpath, workflow.configfiles)))
    comparison.read(STUDY.config["published"], STUDY.config["computed"])
    for entry in STUDY.config["criteria"].values():
        if "ratings" in entry:
            ratings.read(entry["ratings"]["file"])
    try:
        STUDY.embeddings.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        set_by = "embeddings" if "embeddings" in STUDY.config else PLACE
        raise BiasgridError(
            f"{set_by}: {STUDY.embeddings} is no folder for embeddings: {error.strerror}"
        ) from None
except BiasgridError as error:
    print(f"biasgrid: {error}", file=sys.stderr)
    sys.exit(2)

RESULTS = str(STUDY.results)
EMBEDDINGS = str(STUDY.embeddings)
EVALUATIONS = STUDY.evaluations | STUDY.quality
LOGS = f"logs/{STUDY.name}"
SOURCES = Path(workflow.basedir) / "src" / "biasgrid"
LOCK = []  # this run's lock file, open as long as the run
FAILED = {}  # what failed -> one line that says why


def step(name, log, function, *args, **options):
    """Run one step of the workflow; why it failed goes to its log and to the summary at the end."""
    Path(log).unlink(missing_ok=True)  # of a former try
    try:
        return function(*args, **options)
    except Exception as error:
        wrong_input = isinstance(error, BiasgridError)
        FAILED[name] = str(error) if wrong_input else f"{type(error).__name__}: {error}"
        Path(log).write_text(FAILED[name] if wrong_input else traceback.format_exc())
        raise WorkflowError(f"{name} failed: {FAILED[name]}") from None


def failed_on_nodes():
    """Steps that failed in the processes of a cluster's jobs, and why: what their logs say since this run began."""
    began = os.stat(".biasgrid.lock").st_mtime
    for log in sorted(Path(LOGS).rglob("*.txt")):
        why = log.read_text().strip().rpartition("\n")[2]
        if why and log.stat().st_mtime >= began:
            kind, _, name = log.relative_to(LOGS).as_posix().removesuffix(".txt").partition("/")
            yield f"{kind.replace('archive', 'download')} {name}".strip(), why


def command(*arguments, given=None):
    """A sub-command of biasgrid in a process of its own, for what would change this one's state.

    `given` is text for its standard input.
    """
    environment = processes.environment() | {"PYTHONPATH": str(SOURCES.parent)}
    called = [sys.executable, "-m", "biasgrid", *arguments]
    done = subprocess.run(called, env=environment, input=given, capture_output=True, encoding="utf-8")
    if done.returncode:
        raise BiasgridError(
            (done.stderr.strip().splitlines() or ["no message"])[-1].removeprefix("biasgrid: ")
        )


WORKERS = queue.SimpleQueue()  # processes that have nothing to infer
SHARED = []  # the folder in which they share the random groups that they drew, as long as the run


def infer(group):
    """Infer in a process of its own, which stays for the next step."""
    try:
        worker = WORKERS.get_nowait()
    except queue.Empty:
        # arrays that come and go stay with the process: else the kernel makes and clears their pages again and again
        memory = {"MALLOC_MMAP_THRESHOLD_": str(2**30), "MALLOC_TRIM_THRESHOLD_": str(2**31 - 1)}
        environment = processes.environment() | {"PYTHONPATH": str(SOURCES.parent)} | memory
        # each would draw those of every query on every model
        environment |= {processes.RANDOM_GROUPS: folder.name for folder in SHARED}
        called = [sys.executable, "-m", "biasgrid.inference.worker"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
        worker = subprocess.Popen(called, env=environment, **pipes)
        worker.stdin.write(json.dumps(STUDY.config) + "\n")
    try:
        print(group, file=worker.stdin, flush=True)
        answer = json.loads(worker.stdout.readline())
    except (OSError, ValueError):
        raise RuntimeError(f"its process ended: exit code {worker.wait()}") from None
    WORKERS.put(worker)
    if answer:
        wrong_input, why = answer
        raise BiasgridError(why) if wrong_input else RuntimeError(why.strip())


def one_of(names):
    """A wildcard's constraint: what the study has no name for is no target."""
    return "|".join(map(re.escape, names)) or "(?!)"


wildcard_constraints:
    name=one_of(STUDY.sources),
    model=one_of(STUDY.models),
    query=one_of(STUDY.queries),
    metric=one_of({cell.metric for cell in STUDY.cells.values()}),
    debias=one_of([UNTOUCHED, *STUDY.debias]),
    evaluation=one_of(EVALUATIONS),
    figure=one_of(STUDY.figures),


def source(name):
    """A module of the package as an input: editing it re-runs what depends on it; moving the project does not."""
    return os.path.relpath(SOURCES / name)


def source_spec(name, *keys):
    """What a model's or a benchmark's archive and store depend on."""
    entry = STUDY.models.get(name) or STUDY.sources[name]
    return json.dumps({key: entry.get(key) for key in keys}, sort_keys=True)


def local_file(wildcards):
    """A file that the user put in place: when it changes, so does the model. Missing, it is fetch's to say so."""
    source = STUDY.sources[wildcards.name]["source"]
    return [source["path"]] if source["type"] == "file" and Path(source["path"]).is_file() else []


def manifest_file():
    """An archive's manifest. The engine deletes what it makes again, but not what another run may be reading."""
    path = f"{EMBEDDINGS}/raw/{{name}}/manifest.json"
    return update(path) if STUDY.shares_embeddings else path


def fetch_archive(name):
    # imported late: most runs need no HTTP client
    from biasgrid.embeddings.sources import fetch

    fetch(name, STUDY.sources[name]["source"], Path(EMBEDDINGS) / "raw", shared=STUDY.shares_embeddings)


def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "none"


def remade(model):
    """How often the store was found to be another than the one that the study was computed on, this time included.

    A parameter of the step, so it must stay as it was when the step was run: the count is noted then, beside the
    log, as the engine deletes outputs before it runs a step.
    """
    note, record = Path(f"{LOGS}/store/{model}.made"), STUDY.model_file(model)
    count, made = note.read_text().split() if note.is_file() else (0, digest_of(record))
    store = Path(EMBEDDINGS) / model
    there = digest_of(store / "model.json") if is_whole(store) else "damaged"
    return int(count) + (made not in ("none", there))


def is_whole(store):
    try:
        EmbeddingStore.open(store)
    except BiasgridError:
        return False
    return True


def make_store(model):
    count = remade(model)
    build_store(model, STUDY.models[model], EMBEDDINGS, STUDY.shares_embeddings)
    record_store(model, count)


def train_store(model):
    count = remade(model)
    command("train", "--study", "-", "--model", model, given=STUDY.to_json())
    record_store(model, count)


def record_store(model, count):
    made = Path(EMBEDDINGS) / model / "model.json"
    write_text(f"{LOGS}/store/{model}.made", f"{count} {digest_of(made)}\n")
    write_text(STUDY.model_file(model), made.read_text(encoding="utf-8"))


def corpus_of(wildcards):
    """The archive that a model is trained on."""
    return f"{EMBEDDINGS}/raw/{STUDY.models[wildcards.model]['source']['corpus']['name']}/manifest.json"


def store_mb(model):
    """Megabytes of a model's store; before it is made a guess from its archive, before that a large model's."""
    folder = Path(EMBEDDINGS)
    try:
        return (folder / model / "vectors.npy").stat().st_size // 10**6
    except OSError:
        pass
    try:
        manifest = json.loads((folder / "raw" / model / "manifest.json").read_text(encoding="utf-8"))
        # vectors as text pack to two fifths of their size as a store
        return 5 * sum(file["bytes"] for file in manifest["files"].values()) // (2 * 10**6)
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
    ):  # not there yet; one that is damaged is the store step's to tell
        return 4000


def memory(model, stores, attempt):
    """Megabytes for a step that holds so many times its model's store; more after each try that failed."""
    # 800: a process with its libraries (measured: docs/cluster.md)
    return (800 + stores * store_mb(model)) * attempt


def cell_of(wildcards):
    return STUDY.cells["{model}/{debias}/{metric}/{query}".format(**wildcards)]


def metric_source(wildcards):
    cell = cell_of(wildcards)
    return source(metrics.REGISTRY.file(STUDY.metric(cell.criterion, cell.metric).name))


def transform_of(wildcards):
    """The fitted debias method that a cell or an evaluation is under, if any."""
    model, debias = wildcards.model, wildcards.debias
    return [] if debias == UNTOUCHED else [str(STUDY.transform_file(model, debias))]


# what every cell's code is, besides its metric
CELL_SOURCES = [
    source(f"{name}.py")
    for name in (
        "cell",
        "directions",
        "geometry",
        "measure",
        "neighbours",
        "orientation",
        "query",
        "words",
    )
]
CELL_SOURCES += [source("embeddings/store.py"), source("metrics/registry.py")]


def cell_code(wildcards):
    return CELL_SOURCES + [source("debias/transform.py")] * (wildcards.debias != UNTOUCHED)


INFERENCE_SOURCES = [
    source(f"inference/{path.name}") for path in sorted((SOURCES / "inference").glob("*.py"))
]
# the values of a cell's bootstrap samples, where there are any
INFERENCE_SAMPLES = (
    [update(f"{RESULTS}/inference/{{model}}/{{debias}}/{{metric}}.npy")]
    if "bootstrap" in STUDY.config["inference"]
    else []
)


# what of `inference:` the tables depend on, besides the cells' files
INFERENCE = STUDY.config["inference"]
SHOWN = json.dumps([INFERENCE["interval"], INFERENCE["adjust"]] if STUDY.inferences else [])
# the samples' values that ranks are taken over, the ranks, and how; nothing without a bootstrap
OF_SAMPLES = "bootstrap" in INFERENCE
VALUE_SAMPLES = [
    str(STUDY.samples_file(group[0]))
    for group in STUDY.inference_groups.values()
    if OF_SAMPLES and any(inference.cell.criterion in STUDY.ranked for inference in group)
]
RANK_SAMPLES = [str(STUDY.ranks_file)] * OF_SAMPLES
RANKED_BY = [source("tables.py")] + [source("uncertainty.py")] * OF_SAMPLES
# draws and level; draws of queries have the study's seed
SAMPLED = json.dumps([INFERENCE["bootstrap"], STUDY.config["seed"]] if OF_SAMPLES else [])


# files of ratings, and what besides them and the words the table of ratings is made of
RATED_BY = {
    c: entry["ratings"]["file"] for c, entry in STUDY.config["criteria"].items() if "ratings" in entry
}
RATINGS = sorted(set(RATED_BY.values()))
RATED = json.dumps([[cell.name for cell in STUDY.rated], RATED_BY, STUDY.config["seed"]], sort_keys=True)


def inference_of(wildcards):
    return STUDY.inferences[cell_of(wildcards).name]


def inferences_of(wildcards):
    return STUDY.inference_groups["{model}/{debias}/{metric}".format(**wildcards)]


def inferred_cells(wildcards):
    return [str(STUDY.cell_file(inference.cell)) for inference in inferences_of(wildcards)]


def inferred_queries(wildcards):
    return [str(STUDY.query_file(inference.cell.query)) for inference in inferences_of(wildcards)]


def inferred_metric(wildcards):
    # a key may be another metric in another criterion
    cells = [inference.cell for inference in inferences_of(wildcards)]
    return sorted({source(metrics.REGISTRY.file(STUDY.metric(c.criterion, c.metric).name)) for c in cells})


# what a fitted debias method depends on, besides the method's own modules
DEBIAS_SOURCES = [source("geometry.py"), source("words.py"), source("embeddings/store.py")]
# and what an evaluation does
EVALUATION_SOURCES = [
    source(f"evaluation/{path.name}") for path in sorted((SOURCES / "evaluation").glob("*.py"))
]
EVALUATION_SOURCES += [*DEBIAS_SOURCES, source("debias/lookup.py"), source("debias/transform.py")]


def fit_of(wildcards):
    return STUDY.fits[wildcards.model, wildcards.debias]


def method_sources(wildcards):
    return list(map(source, debias.source_files(debias.method(json.loads(fit_of(wildcards).spec)["method"]))))


def evaluation_of(wildcards):
    return EVALUATIONS[wildcards.evaluation]


def evaluation_files(wildcards):
    """Word pairs and questions: files at hand, and the manifests of archives that hold them."""
    files = STUDY.evaluation_specs[evaluation_of(wildcards).criterion].files
    of_archives = {file: STUDY.archive_of(file) for file in files}
    manifests = [
        f"{EMBEDDINGS}/raw/{name}/manifest.json" for name in dict.fromkeys(of_archives.values()) if name
    ]
    # one that is missing is the evaluation's to say so
    return manifests + [file for file, archive in of_archives.items() if not archive and Path(file).is_file()]


def drawing_of(wildcards):
    return STUDY.figures[wildcards.figure]


def null_figure_of(wildcards):
    return null_figure(STUDY, cell_of(wildcards))


def drawn_from(drawing):
    """The files that a figure is drawn from."""
    files = [[file] if isinstance(file, Path) else file for file in drawing.inputs.values()]
    return [str(file) for some in files for file in some]


def drawn_by(kind):
    """The modules that a kind of figure is drawn by."""
    return list(map(os.path.relpath, figures.code(figures.REGISTRY.file(kind))))


def spec_of(drawing):
    # one canonical text: Snakemake compares parameters as a set of values
    return json.dumps(drawing.spec, sort_keys=True, ensure_ascii=False)


def draw(drawing, log):
    called = ("figure", "--study", "-", "--figure", drawing.name)
    step(f"figure {drawing.name}", log, command, *called, given=STUDY.to_json())


onstart:
    # Snakemake's own lock outlives a killed run and has to be taken off by hand (the profile turns it off). This
    # one ends with the process that holds it.
    LOCK.append(open(".biasgrid.lock", "w"))
    try:
        fcntl.flock(LOCK[0], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("biasgrid: another run is at work in this folder; wait for it or stop it", file=sys.stderr)
        os._exit(2)
    except OSError as error:  # some file systems of clusters
        print(f"biasgrid: no lock in this folder ({error}): start no second run here", file=sys.stderr)
    SHARED.append(tempfile.TemporaryDirectory(prefix="biasgrid-"))


onerror:
    if not workflow.local_exec:
        FAILED.update(failed_on_nodes())
    # one reason often holds for several models: a host that cannot be reached
    unreachable = {}
    for name, why in sorted(FAILED.items()):
        kind, _, model = name.partition(" ")
        if kind == "download" and STUDY.sources[model]["source"]["type"] == "file":
            print(f"biasgrid: {why}", file=sys.stderr)
        elif kind == "download":
            unreachable.setdefault(why.removeprefix(f"{model}: "), []).append(model)
        else:
            print(f"biasgrid: {name} failed: {why}", file=sys.stderr)
    if unreachable:
        reasons = "; ".join(f"{', '.join(models)} ({why})" for why, models in unreachable.items())
        print(
            f"biasgrid: could not download {reasons}. What needs no network but a package registry is the embedded "
            "study: make study, or snakemake --cores 2 --configfile config/embedded.yaml",
            file=sys.stderr,
        )
