# The study that the config declares, its plan, and what the rules share.
import os
import re

from biasgrid import comparison, processes, ratings
from biasgrid.embeddings.building import STORE_VERSION
from biasgrid.embeddings.training import version as trained_by
from biasgrid.errors import BiasgridError
from biasgrid.files import write_text
from biasgrid.plan import steps
from biasgrid.study import PLACE, UNTOUCHED, Study
from biasgrid.workflow import engine, stores
from biasgrid.workflow.run import Run

try:
    STUDY = Study.of(config, where=", ".join(engine.config_files(workflow)))
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
    engine.stop(error)

RUN = Run(STUDY.name, STUDY.results, STUDY.config.get("plugins", ()))
RESULTS = str(STUDY.results)
EMBEDDINGS = str(STUDY.embeddings)
EVALUATIONS = STUDY.evaluations | STUDY.quality
LOGS = str(RUN.logs)
SOURCES = ROOT / "src" / "biasgrid"
PYTHON = sys.executable
# of processes that rules start: they run this code, and end with this process
os.environ.update(processes.environment() | {"PYTHONPATH": str(SOURCES.parent)})


def files_of(step):
    """An input function: the files of a job's step."""
    return lambda wildcards: step(wildcards).files


def dependence_of(step):
    """A function for params: what a job's step depends on besides its files. One text, as Snakemake compares params
    as a set of values."""
    return lambda wildcards: step(wildcards).depends_on


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
    table=one_of(STUDY.tables),


def cell_of(wildcards):
    return STUDY.cells["{model}/{debias}/{metric}/{query}".format(**wildcards)]


onstart:
    RUN.begin()


onerror:
    RUN.report([name for name, entry in STUDY.sources.items() if entry["source"]["type"] == "file"])
