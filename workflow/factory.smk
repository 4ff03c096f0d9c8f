# The planted-bias benchmark: how well does each metric recover a bias that is known? docs/factory.md
#
#   snakemake --snakefile workflow/factory.smk --cores 2        config/factory.yaml; --configfile: another
#
# A workflow of its own: its models are trained here, and it has one query. Each model is a thread of the engine.
import json
import os
import subprocess
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from threadpoolctl import threadpool_limits

# as in the Snakefile: the same last bit for any number of cores
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
threadpool_limits(1)
SOURCES = Path(workflow.basedir).parent / "src" / "biasgrid"
sys.path.insert(0, str(SOURCES.parent))

from biasgrid import figures, metrics, processes
from biasgrid.errors import BiasgridError
from biasgrid.factory import Factory, make
from biasgrid.workflow import engine

# read by us alone: Snakemake's reader takes what is no config, or for ever
CONFIG, *OTHERS = engine.config_files(workflow) or ["config/factory.yaml"]
try:
    if OTHERS:
        raise BiasgridError(f"a factory has one config file, not {1 + len(OTHERS)}")
    FACTORY = Factory.read(CONFIG)
    FACTORY.occupations
except BiasgridError as error:
    engine.stop(error)

RESULTS = str(FACTORY.results)
LOGS = f"logs/{FACTORY.config['factory']}"
FIGURES = ["words", *(f"truth-{trainer}" for trainer in FACTORY.config["trainers"])]
# what a model's record depends on, besides its words and sentences
CODE = [
    os.path.relpath(SOURCES / f"{name}.py")
    for name in (
        "directions",
        "embeddings/store",
        "embeddings/store_writer",
        "embeddings/training",
        "factory",
        "geometry",
        "measure",
        "metrics/registry",
        "neighbours",
        "orientation",
        "query",
        "words",
    )
]
MEASURED = {entry["metric"] for entry in FACTORY.config["metrics"].values()}
CODE += sorted({os.path.relpath(metrics.REGISTRY.file(name)) for name in MEASURED})

DRAWN_BY = list(map(os.path.relpath, figures.code(SOURCES / "figures" / "factory.py")))


def model_of(wildcards):
    return FACTORY.models["{trainer}/{mu}/{sigma}/{replicate}".format(**wildcards)]


def trained_and_measured(wildcards, log):
    try:
        make(FACTORY, model_of(wildcards))
    except BiasgridError as error:
        Path(log).write_text(f"{error}\n", encoding="utf-8")
        raise WorkflowError(f"{model_of(wildcards).name}: {error}") from None


def summarised(log):
    """The command in a process of its own: matplotlib's settings belong to a process."""
    environment = processes.environment() | {"PYTHONPATH": str(SOURCES.parent)}
    called = [sys.executable, "-m", "biasgrid", "factory", "--config", CONFIG]
    done = subprocess.run(called, env=environment, capture_output=True, encoding="utf-8")
    Path(log).write_text(done.stderr, encoding="utf-8")
    if done.returncode:
        raise WorkflowError((done.stderr.strip().splitlines() or ["no message"])[-1])


localrules:
    factory_all,


rule factory_all:
    default_target: True
    input:
        f"{RESULTS}/recovery.csv",


# the tables and the figures
rule factory:
    input:
        models=[str(FACTORY.model_file(model)) for model in FACTORY.models.values()],
        code=[os.path.relpath(SOURCES / "recovery.py")] + DRAWN_BY,
    output:
        f"{RESULTS}/factory.csv",
        f"{RESULTS}/recovery.csv",
        f"{RESULTS}/recovery.md",
        # beside each figure the table that it is drawn from
        expand(
            f"{RESULTS}/figures/{{figure}}.{{extension}}",
            figure=FIGURES,
            extension=["pdf", "svg", "png", "csv"],
        ),
    log:
        f"{LOGS}/factory.txt",
    params:
        labels=json.dumps(FACTORY.labels),
        truths=json.dumps({key: entry["truth"] for key, entry in FACTORY.config["metrics"].items()}),
    run:
        summarised(log[0])


# A corpus with planted frequencies, a model trained on it, and all metrics of it
rule planted:
    input:
        sources=[str(path) for path in FACTORY.sources],
        code=CODE,
    output:
        f"{RESULTS}/models/{{trainer}}/{{mu}}/{{sigma}}/{{replicate}}.json",
    log:
        f"{LOGS}/{{trainer}}/{{mu}}/{{sigma}}/{{replicate}}.txt",
    group:
        "factory"
    resources:
        mem_mb=lambda w, attempt: 1000 * attempt,
        runtime=lambda w, attempt: 5 * attempt,
    params:
        spec=lambda w: model_of(w).spec,
    run:
        trained_and_measured(wildcards, log[0])
