# The study that the config declares, its plan, and what the rules share.
import os

from biasgrid import comparison, configs, digests, ratings, schema
from biasgrid.config.overlay import check_has_key
from biasgrid.embeddings.building import STORE_VERSION, maker_version
from biasgrid.errors import BiasgridError
from biasgrid.figures.null import drawing as null_drawing
from biasgrid.files import write_text
from biasgrid.plan import code, plugins, steps
from biasgrid.debias import UNTOUCHED
from biasgrid.plan.study import Study
from biasgrid.workflow import captions, engine, input_files, stores, why
from biasgrid.workflow.rules import dependence_of, inputs_of, memory_of, minutes_of, one_of, roles_of
from biasgrid.workflow.batches import Batch, batches, inference_batch, inference_files, inference_rules
from biasgrid.workflow.run import Run

CONFIG = engine.read_config(workflow)
# --config replace=true: results of another config file may be written over
REPLACES = bool(CONFIG.pop("replace", False))
try:
    check_has_key(CONFIG, Study.KEY, ", ".join(engine.config_files(workflow)))
    STUDY = Study.of(CONFIG, where=", ".join(engine.config_files(workflow)))
    comparison.rows_of(STUDY.config.published, STUDY.config.computed)
    for entry in STUDY.config.criteria.values():
        if entry.ratings:
            ratings.read(entry.ratings.file)
except BiasgridError as error:
    engine.stop(error)
engine.check_results(workflow, STUDY.results, Path("logs") / STUDY.name, REPLACES, STUDY.to_json())

if not workflow.remote_exec:
    stores.try_again(STUDY)
PROGRESS = engine.show_progress(workflow, STUDY.embeddings / "raw")
RUN = Run(
    STUDY.name,
    STUDY.results,
    STUDY.config.plugins or (),
    engine.cores(workflow),
    STUDY.to_json(),
    PROGRESS,
    WARNING_LOG,
)
code.remember(RUN.logs / ".code.json")
digests.remember(RUN.logs / ".inputs.json")
INPUTS = input_files.digests_of(STUDY, configs.files_read)
RESULTS = str(STUDY.results)
EMBEDDINGS = str(STUDY.embeddings)
PLUGINS, PLUGINS_FILE = plugins.record_text(STUDY), f"{RESULTS}/{plugins.FILE}"
EVALUATIONS = STUDY.grid.evaluations | STUDY.grid.quality
LOGS = str(RUN.logs)
# what rules start in processes of their own reads the study from there
os.environ.update(BIASGRID_STUDY=str(RUN.study_file))


wildcard_constraints:
    name=one_of(STUDY.sources),
    model=one_of(STUDY.models),
    query=one_of(STUDY.queries),
    metric=one_of({cell.metric for cell in STUDY.grid.cells.values()}),
    debias=one_of([UNTOUCHED, *STUDY.debias]),
    evaluation=one_of(EVALUATIONS),
    sentences=one_of(sentences for _, sentences in steps.cells_by_sentences(STUDY)),


# rules whose job is several steps -> the steps, where they have no wildcards
BATCHES = {}


def rule_of(kind, batch, label):
    """How the batch is called, the first of a kind as the kind is."""
    name = f"{kind}_{label}".replace("-", "_") if kind in BATCHES else kind
    BATCHES[name] = batch
    return engine.same_group(workflow, name, kind)


def cell_of(wildcards):
    return STUDY.grid.cells["{model}/{debias}/{metric}/{query}".format(**wildcards)]


def cell_step(wildcards):
    return steps.cell_step(STUDY, cell_of(wildcards))


def pool_step(wildcards):
    return steps.pool_step(STUDY, wildcards.model)


def frequency_step(wildcards):
    return steps.frequency_step(STUDY, wildcards.model)


def sentence_scores_step(wildcards):
    return steps.sentence_scores_step(STUDY, wildcards.model, wildcards.sentences)


def inference_of(wildcards):
    return inference_batch(STUDY, wildcards.model, wildcards.debias)


def fit_step(wildcards):
    return steps.fit_step(STUDY, wildcards.model, wildcards.debias)


def evaluation_of(wildcards):
    return EVALUATIONS[wildcards.evaluation]


def evaluation_step(wildcards):
    return steps.evaluation_step(STUDY, evaluation_of(wildcards))


def null_step(wildcards):
    return steps.null_step(STUDY, cell_of(wildcards))


def null_figure_step(wildcards):
    return steps.figure_step(STUDY, null_drawing(STUDY, cell_of(wildcards)))


RUN.plan(workflow, INPUTS)
if why.NAME in os.environ:  # biasgrid run --why
    RUN.explain(workflow, STUDY, os.environ[why.NAME])
elif engine.only_plans(workflow):
    RUN.preview(workflow, STUDY)
# there is no hook for a run that has nothing to do
if PROGRESS is not None:
    PROGRESS.when_nothing = lambda: RUN.conclude(workflow, STUDY)


onstart:
    RUN.begin(workflow, STUDY)
    engine.record_config_file(workflow, STUDY.results, REPLACES)
    RUN.say(schema.notice(STUDY.results))


onsuccess:
    RUN.conclude(workflow, STUDY)


onerror:
    engine.mark_unfinished(workflow)
    RUN.report(workflow, STUDY)
