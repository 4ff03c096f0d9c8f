# The study that the config declares, its plan, and what the rules share.
import json
import os
import subprocess

from biasgrid import comparison, debias, ratings
from biasgrid.configs import read_yaml
from biasgrid.embeddings.building import STORE_VERSION
from biasgrid.embeddings.training import version as trained_by
from biasgrid.errors import BiasgridError
from biasgrid.figures import KINDS, cells_of
from biasgrid.files import write_text
from biasgrid.plan import steps
from biasgrid.study import UNTOUCHED, Study
from biasgrid.workflow import engine, stores
from biasgrid.workflow.rules import dependence_of, files_of, one_of
from biasgrid.workflow.run import Run

try:
    # Snakemake's own reading lets a key pass that stands twice
    for path in engine.config_files(workflow):
        read_yaml(path)
    STUDY = Study.of(config, where=", ".join(engine.config_files(workflow)))
    comparison.read(STUDY.config["published"], STUDY.config["computed"])
    for entry in STUDY.config["criteria"].values():
        if "ratings" in entry:
            ratings.read(entry["ratings"]["file"])
    stores.make_folder(STUDY)
except BiasgridError as error:
    engine.stop(error)

RUN = Run(STUDY.name, STUDY.results, STUDY.config.get("plugins", ()))
RESULTS = str(STUDY.results)
EMBEDDINGS = str(STUDY.embeddings)
EVALUATIONS = STUDY.evaluations | STUDY.quality
LOGS = str(RUN.logs)
SOURCES = ROOT / "src" / "biasgrid"
PYTHON = sys.executable


def command(*arguments, given=None):
    """A sub-command of biasgrid in a process of its own, for what would change this one's state.

    `given` is text for its standard input.
    """
    called = [PYTHON, "-m", "biasgrid", *arguments]
    done = subprocess.run(called, input=given, capture_output=True, encoding="utf-8")
    if done.returncode:
        raise BiasgridError(
            (done.stderr.strip().splitlines() or ["no message"])[-1].removeprefix("biasgrid: ")
        )


wildcard_constraints:
    name=one_of(STUDY.sources),
    model=one_of(STUDY.models),
    query=one_of(STUDY.queries),
    metric=one_of({cell.metric for cell in STUDY.cells.values()}),
    debias=one_of([UNTOUCHED, *STUDY.debias]),
    evaluation=one_of(EVALUATIONS),
    figure=one_of(STUDY.figures),
    table=one_of(STUDY.tables),


def source(name):
    """A module of the package as an input: editing it re-runs what depends on it; moving the project does not."""
    return os.path.relpath(SOURCES / name)


def cell_of(wildcards):
    return STUDY.cells["{model}/{debias}/{metric}/{query}".format(**wildcards)]


def transform_of(wildcards):
    """The fitted debias method that a cell or an evaluation is under, if any."""
    model, debias = wildcards.model, wildcards.debias
    return [] if debias == UNTOUCHED else [str(STUDY.transform_file(model, debias))]


def drawn_from(wildcards):
    name, criterion, model = STUDY.figures[wildcards.figure]
    kind = KINDS[name]
    evaluations = [e for e in STUDY.evaluations.values() if (e.criterion, e.model) == (criterion, model)]
    tables = [f"{RESULTS}/{table}.csv" for table in kind.tables]
    cells = [str(STUDY.cell_file(cell)) for cell in cells_of(STUDY, name, criterion)]
    return tables + cells + [str(STUDY.evaluation_file(e)) for e in evaluations if kind.evaluations]


def figure_code(wildcards):
    kind = KINDS[STUDY.figures[wildcards.figure][0]]
    drawn_by = {"__init__", "grid", kind.module or "grid"}
    # figures of words take them from the table as ratings.py does, those of evaluations read their records
    chosen_by = [source("tables/words.py"), source("tables/ratings.py")] if kind.module == "words" else []
    chosen_by += [source("evaluation/record.py")] if kind.evaluations else []
    return [source(f"figures/{name}.py") for name in sorted(drawn_by)] + chosen_by


def draw_null(cell, study):
    stem = str(STUDY.null_stem(cell))
    command("null", "--study", study, "--cell", cell.name, "--output", stem)


onstart:
    RUN.begin()


onerror:
    RUN.report([name for name, entry in STUDY.sources.items() if entry["source"]["type"] == "file"])
