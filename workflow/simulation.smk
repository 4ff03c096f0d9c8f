# The simulation study: are p-values calibrated, and do intervals cover? docs/simulation.md
#
#   snakemake --snakefile workflow/simulation.smk --cores 2        config/simulation.yaml; --configfile: another
#
# A workflow of its own: it has no study's queries. Its models are made by the rules of studies.
include: "rules/start.smk"


from biasgrid.embeddings.building import STORE_VERSION
from biasgrid.embeddings.training import version as trained_by
from biasgrid.errors import BiasgridError
from biasgrid.simulation import Simulation, steps
from biasgrid.workflow import engine, stores
from biasgrid.workflow.rules import dependence_of, files_of, one_of
from biasgrid.workflow.run import Run

engine.check_configs(workflow, "config/simulation.yaml")
if not engine.has_config(workflow):

    configfile: "config/simulation.yaml"


# --config replace=true: results of another config file may be written over
REPLACES = bool(config.pop("replace", False))
try:
    STUDY = Simulation.of(config, where=", ".join(engine.config_files(workflow)))
except BiasgridError as error:
    engine.stop(error)
engine.check_results(workflow, STUDY.results, REPLACES)

PROGRESS = engine.show_progress(workflow, STUDY.embeddings / "raw")
RUN = Run(
    STUDY.name,
    STUDY.results,
    STUDY.config.get("plugins", ()),
    engine.cores(workflow),
    progress=PROGRESS,
    warning_log=WARNING_LOG,
)
RESULTS = str(STUDY.results)
EMBEDDINGS = str(STUDY.embeddings)
LOGS = str(RUN.logs)
TABLES = steps.table_steps(STUDY)
DRAWINGS = steps.figure_steps(STUDY)


localrules:
    simulated_all,
    archive,


engine.run_steps_here(workflow)


wildcard_constraints:
    name=one_of(STUDY.sources),
    model=one_of(STUDY.models),
    table=one_of(TABLES),
    figure=one_of(DRAWINGS),


RUN.plan(workflow)
# there is no hook for a run that has nothing to do
if PROGRESS is not None:
    PROGRESS.when_nothing = lambda: RUN.conclude(workflow, STUDY)


onstart:
    RUN.begin(workflow, STUDY)
    engine.record_config_file(workflow, STUDY.results, REPLACES)


onsuccess:
    RUN.conclude(workflow, STUDY)


onerror:
    RUN.report(workflow, STUDY)


include: "rules/simulation_steps.smk"


rule simulated_all:
    default_target: True
    input:
        # named one by one: a deleted cell is made again although the tables are there
        [str(STUDY.cell_file(cell)) for cell in STUDY.cells.values()],
        [str(STUDY.real_file(cell)) for cell in STUDY.real_cells.values()],
        [str(STUDY.frequency_cell_file(cell)) for cell in STUDY.frequency_cells.values()],
        [str(step.output) for step in TABLES.values()],
        expand(
            "{stem}.{extension}",
            stem=[step.output for step in DRAWINGS.values()],
            extension=["pdf", "svg", "png"],
        ),


# the real models: archives and stores, which studies may share
include: "rules/embeddings.smk"


# A metric, a number of words a set, a bias: seconds to minutes, in one of the run's workers.
rule simulated:
    input:
        files_of(cell_step),
    output:
        f"{RESULTS}/cells/{{metric}}/{{words}}/{{bias}}.json",
    log:
        f"{LOGS}/simulated/{{metric}}/{{words}}/{{bias}}.txt",
    group:
        "simulations"
    resources:
        mem_mb=lambda w, attempt: 1000 * attempt,
        runtime=lambda w, attempt: 20 * attempt,
    params:
        depends_on=dependence_of(cell_step),
    run:
        RUN.perform(cell_step(wildcards), log[0], in_worker=True)


# The words that random groups of a model are made of, and their neighbours.
rule pool:
    input:
        files_of(pool_step),
    output:
        f"{RESULTS}/pools/{{model}}.npz",
    log:
        f"{LOGS}/pool/{{model}}.txt",
    resources:
        mem_mb=lambda w, attempt: stores.memory(STUDY, w.model, 1, attempt),
        runtime=lambda w, attempt: 5 * attempt,
    params:
        depends_on=dependence_of(pool_step),
    run:
        RUN.perform(pool_step(wildcards), log[0])


# A real model, a kind of query: both tests of every metric
rule calibrated:
    input:
        files_of(real_step),
    output:
        f"{RESULTS}/real/{{model}}/{{kind}}.json",
    log:
        f"{LOGS}/calibrated/{{model}}/{{kind}}.txt",
    resources:
        mem_mb=lambda w, attempt: 2000 * attempt,
        runtime=lambda w, attempt: 60 * attempt,
    params:
        depends_on=dependence_of(real_step),
    run:
        RUN.perform(real_step(wildcards), log[0], in_worker=True)


# A training, a shuffled corpus: vectors, in a process of the run's workers, and all tests of every metric on them.
rule vectors:
    input:
        files_of(vectors_step),
    output:
        f"{RESULTS}/frequency/{{training}}/{{corpora}}/{{number}}.npz",
    log:
        f"{LOGS}/vectors/{{training}}/{{corpora}}/{{number}}.txt",
    resources:
        mem_mb=lambda w, attempt: 2000 * attempt,
        runtime=lambda w, attempt: 20 * attempt,
    params:
        depends_on=dependence_of(vectors_step),
    run:
        RUN.perform(vectors_step(wildcards), log[0], in_worker=True)


rule frequency:
    input:
        files_of(frequency_step),
    output:
        f"{RESULTS}/frequency/{{training}}/{{corpora}}/{{number}}.json",
    log:
        f"{LOGS}/frequency/{{training}}/{{corpora}}/{{number}}.txt",
    resources:
        mem_mb=lambda w, attempt: 1000 * attempt,
        runtime=lambda w, attempt: 10 * attempt,
    params:
        depends_on=dependence_of(frequency_step),
    run:
        RUN.perform(frequency_step(wildcards), log[0], in_worker=True)


rule table:
    input:
        files_of(table_step),
    output:
        report(f"{RESULTS}/{{table}}.csv", category="Tables", labels={"table": "{table}.csv"}),
    log:
        f"{LOGS}/table/{{table}}.txt",
    params:
        depends_on=dependence_of(table_step),
    run:
        RUN.perform(table_step(wildcards), log[0])


# In a worker, which draws one at a time: matplotlib's settings belong to a process.
rule figure:
    input:
        files_of(figure_step),
    output:
        f"{RESULTS}/figures/{{figure}}.pdf",
        report(f"{RESULTS}/figures/{{figure}}.svg", category="Figures", labels={"figure": "{figure}"}),
        f"{RESULTS}/figures/{{figure}}.png",
    log:
        f"{LOGS}/figure/{{figure}}.txt",
    params:
        depends_on=dependence_of(figure_step),
    run:
        RUN.perform(figure_step(wildcards), log[0], in_worker=True)
