# The simulation study: do p-values and intervals hold what they promise? docs/simulation.md
#
#   snakemake --snakefile workflow/simulation.smk --cores 2        config/simulation.yaml; --configfile: another
#
# A workflow of its own: it has no study's queries. Each cell is a process of its own, and so is a real model's store.
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

SOURCES = Path(workflow.basedir).parent / "src" / "biasgrid"
sys.path.insert(0, str(SOURCES.parent))

from biasgrid import figures, metrics, processes
from biasgrid.errors import BiasgridError
from biasgrid.simulation import Simulation
from biasgrid.workflow import engine

# read by us alone: Snakemake's reader takes what is no config, or for ever
CONFIG, *OTHERS = engine.config_files(workflow) or ["config/simulation.yaml"]
try:
    if OTHERS:
        raise BiasgridError(f"a simulation has one config file, not {1 + len(OTHERS)}")
    SIMULATION = Simulation.read(CONFIG)
except BiasgridError as error:
    engine.stop(error)

RESULTS = str(SIMULATION.results)
LOGS = f"logs/{SIMULATION.config['simulation']}"
COMMAND = (
    f"PYTHONPATH={os.path.relpath(SOURCES.parent)} {sys.executable} -m biasgrid simulate --config {CONFIG}"
)
FIGURES = ["p-values", "coverage-expected", "coverage-all-words"] + ["calibration"] * bool(
    SIMULATION.real_cells
)
TABLES = ["simulation"] + ["calibration"] * bool(SIMULATION.real_cells)
MODELS = SIMULATION.config["models"]
# what a cell's results depend on, besides its metric
CODE = [
    os.path.relpath(SOURCES / f"{name}.py")
    for name in (
        "directions",
        "geometry",
        "measure",
        "metrics/registry",
        "orientation",
        "query",
        "simulation",
        "words",
    )
]
CODE += sorted(map(os.path.relpath, (SOURCES / "inference").glob("*.py")))
# what p-values on real vectors do: those of every metric are in one cell
REAL_CODE = CODE + [
    os.path.relpath(SOURCES / f"{name}.py") for name in ("calibration", "embeddings/store", "neighbours")
]
REAL_METRICS = sorted(
    {
        os.path.relpath(metrics.REGISTRY.file(entry.get("metric", key)))
        for key, entry in SIMULATION.config.get("calibration", {}).get("metrics", {}).items()
    }
)

DRAWN_BY = list(map(os.path.relpath, figures.code(SOURCES / "figures" / "simulation.py")))


def simulate(log, *arguments):
    """The command in a process of its own: cells side by side, and matplotlib's settings belong to a process."""
    environment = processes.environment() | {"PYTHONPATH": str(SOURCES.parent)}
    called = [sys.executable, "-m", "biasgrid", "simulate", "--config", CONFIG, *arguments]
    done = subprocess.run(called, env=environment, capture_output=True, encoding="utf-8")
    Path(log).write_text(done.stderr, encoding="utf-8")
    if done.returncode:
        raise WorkflowError((done.stderr.strip().splitlines() or ["no message"])[-1])


def cell_of(wildcards):
    return SIMULATION.cells["{metric}/{words}/{bias}".format(**wildcards)]


def metric_source(wildcards):
    spec = json.loads(cell_of(wildcards).spec)
    return os.path.relpath(metrics.REGISTRY.file(spec["metric"]))


def local_file(wildcards):
    """A model's file that the user put in place: when it changes, so does the model."""
    source = MODELS[wildcards.model]["source"]
    return [source["path"]] if source["type"] == "file" and Path(source["path"]).is_file() else []


localrules:
    simulated_all,
    prepared,


wildcard_constraints:
    model="|".join(map(re.escape, MODELS)) or "(?!)",


rule simulated_all:
    default_target: True
    input:
        [f"{RESULTS}/{table}.csv" for table in TABLES],


# the table and the figures
rule simulation:
    input:
        cells=[str(SIMULATION.cell_file(cell)) for cell in SIMULATION.cells.values()],
        real=[str(SIMULATION.real_file(cell)) for cell in SIMULATION.real_cells.values()],
        code=[os.path.relpath(SOURCES / name) for name in ("calibration.py", "simulation.py")] + DRAWN_BY,
    output:
        [f"{RESULTS}/{table}.csv" for table in TABLES],
        expand(f"{RESULTS}/figures/{{figure}}.{{extension}}", figure=FIGURES, extension=["pdf", "svg", "png"]),
    log:
        f"{LOGS}/simulation.txt",
    params:
        labels=json.dumps(SIMULATION.labels | (SIMULATION.real_labels if SIMULATION.real_cells else {})),
    run:
        simulate(log[0])


# A metric, a number of words a set, a bias
rule simulated:
    input:
        metric=metric_source,
        code=CODE,
    output:
        f"{RESULTS}/cells/{{metric}}/{{words}}/{{bias}}.json",
    log:
        f"{LOGS}/{{metric}}/{{words}}/{{bias}}.txt",
    group:
        "simulations"
    resources:
        mem_mb=lambda w, attempt: 1000 * attempt,
        runtime=lambda w, attempt: 20 * attempt,
    params:
        spec=lambda w: cell_of(w).spec,
    run:
        simulate(log[0], "--cell", cell_of(wildcards).name)


# A real model: its archive, its store, which studies may share, and the pool that its random groups are drawn from
rule prepared:
    input:
        local_file,
        code=os.path.relpath(SOURCES / "inference" / "pool.py"),
    output:
        f"{RESULTS}/models/{{model}}.json",
        f"{RESULTS}/pools/{{model}}.npz",
    log:
        f"{LOGS}/models/{{model}}.txt",
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=lambda w, attempt: 30 * attempt,
    params:
        entry=lambda w: json.dumps(MODELS[w.model], sort_keys=True),
    run:
        simulate(log[0], "--model", wildcards.model)


# A real model, a kind of query: both tests of every metric
rule calibrated:
    input:
        f"{RESULTS}/models/{{model}}.json",
        f"{RESULTS}/pools/{{model}}.npz",
        metrics=REAL_METRICS,
        code=REAL_CODE,
    output:
        f"{RESULTS}/real/{{model}}/{{kind}}.json",
    log:
        f"{LOGS}/real/{{model}}/{{kind}}.txt",
    resources:
        mem_mb=lambda w, attempt: 2000 * attempt,
        runtime=lambda w, attempt: 60 * attempt,
    params:
        spec=lambda w: SIMULATION.real_cells["{model}/{kind}".format(**w)].spec,
    run:
        simulate(log[0], "--cell", "{model}/{kind}".format(**wildcards))
