# An experiment, from its config to its tables and figures: validation/README.md
#
#   snakemake --snakefile validation/experiment.smk --cores 2 --configfile validation/calibration/simulation.yaml
#
# A workflow of its own: it has no study's queries. Its models are made by the rules of studies.
include: "../workflow/rules/start.smk"


# validation is a package that no one installs: this process finds it, and those that it starts
ROOT = Path(workflow.main_snakefile).resolve().parents[1]
sys.path.append(str(ROOT))
os.environ.update(processes.environment(ROOT))

from biasgrid import digests
from biasgrid.embeddings.building import STORE_VERSION, maker_version
from biasgrid.errors import BiasgridError
from biasgrid.workflow import engine, stores
from biasgrid.workflow.rules import dependence_of, inputs_of, one_of
from biasgrid.workflow.run import Run
from validation import experiment

if not engine.has_config(workflow):
    engine.stop("name the config of an experiment: --configfile validation/calibration/simulation.yaml")
engine.check_configs(workflow, "")
CONFIG = engine.read_config(workflow)
# --config replace=true: results of another config file may be written over
REPLACES = bool(CONFIG.pop("replace", False))
try:
    STUDY = experiment.of(CONFIG, where=", ".join(engine.config_files(workflow)))
    STUDY.check_files()
except BiasgridError as error:
    engine.stop(error)
engine.check_results(workflow, STUDY.results, Path("logs") / STUDY.name, REPLACES)

PROGRESS = engine.show_progress(workflow, STUDY.embeddings / "raw")
RUN = Run(
    STUDY.name,
    STUDY.results,
    STUDY.config.plugins or (),
    engine.cores(workflow),
    progress=PROGRESS,
    warning_log=WARNING_LOG,
)
digests.remember(RUN.logs / ".inputs.json")
RESULTS = str(STUDY.results)
EMBEDDINGS = str(STUDY.embeddings)
LOGS = str(RUN.logs)
CATEGORIES = {"table": "Tables", "figure": "Figures"}


wildcard_constraints:
    name=one_of(STUDY.sources),
    model=one_of(STUDY.models),


RUN.plan(workflow)
# there is no hook for a run that has nothing to do
if PROGRESS is not None:
    PROGRESS.when_nothing = lambda: RUN.conclude(workflow, STUDY)


onstart:
    RUN.begin(workflow, STUDY if STUDY.sources else None)
    engine.record_config_file(workflow, STUDY.results, REPLACES)


onsuccess:
    RUN.conclude(workflow, STUDY)


onerror:
    RUN.report(workflow, STUDY)


rule all:
    default_target: True
    input:
        # named one by one: a deleted cell is made again although the tables are there
        [file for kind in STUDY.rules.values() for file in kind.targets],


# archives and stores, which studies may share
include: "../workflow/rules/embeddings.smk"


for kind in STUDY.rules.values():

    rule:
        name:
            kind.name
        input:
            unpack(inputs_of(kind.step)),
        output:
            [
                (
                    report(file, category=CATEGORIES[kind.name], labels={kind.name: "{step}"})
                    if kind.name in CATEGORIES and file.endswith((".svg", "{step}"))
                    else file
                )
                for file in kind.files
            ],
        log:
            f"{LOGS}/{kind.name}/{{step}}.txt",
        wildcard_constraints:
            step=one_of(kind.steps),
        group:
            kind.group
        resources:
            mem_mb=kind.memory_of,
            runtime=kind.minutes_of,
        params:
            depends_on=dependence_of(kind.step),
        run:
            of_kind = STUDY.rules[rule]
            RUN.perform(of_kind.step(wildcards), log[0], in_worker=of_kind.in_worker)


localrules:
    all,
    archive,


engine.run_steps_here(workflow)
