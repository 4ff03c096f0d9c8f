# The study that the config declares, its plan, and what the rules share.
import os

from biasgrid import comparison, ratings
from biasgrid.embeddings.building import STORE_VERSION
from biasgrid.embeddings.training import version as trained_by
from biasgrid.errors import BiasgridError
from biasgrid.files import write_text
from biasgrid.plan import steps
from biasgrid.study import UNTOUCHED, Study
from biasgrid.workflow import engine, stores
from biasgrid.workflow.rules import dependence_of, files_of, one_of
from biasgrid.workflow.run import Run

try:
    STUDY = Study.of(config, where=", ".join(engine.config_files(workflow)))
    comparison.read(STUDY.config["published"], STUDY.config["computed"])
    for entry in STUDY.config["criteria"].values():
        if "ratings" in entry:
            ratings.read(entry["ratings"]["file"])
    stores.make_folder(STUDY)
except BiasgridError as error:
    engine.stop(error)

RUN = Run(STUDY.name, STUDY.results, STUDY.config.get("plugins", ()), STUDY.to_json())
RESULTS = str(STUDY.results)
EMBEDDINGS = str(STUDY.embeddings)
EVALUATIONS = STUDY.evaluations | STUDY.quality
LOGS = str(RUN.logs)
SOURCES = ROOT / "src" / "biasgrid"
PYTHON = sys.executable


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
