# The planted-bias benchmark: how well does each metric recover a bias that is known? docs/factory.md
#
#   snakemake --snakefile workflow/factory.smk --cores 2        config/factory.yaml; --configfile: another
#
# A workflow of its own: its models are trained here, and it has one query.
include: "rules/start.smk"


from biasgrid.errors import BiasgridError
from biasgrid.factory import Factory, steps
from biasgrid.workflow import engine, stores
from biasgrid.workflow.rules import dependence_of, files_of, one_of
from biasgrid.workflow.run import Run

engine.check_configs(workflow, "config/factory.yaml")
if not engine.has_config(workflow):

    configfile: "config/factory.yaml"


# --config replace=true: results of another config file may be written over
REPLACES = bool(config.pop("replace", False))
try:
    STUDY = Factory.of(config, where=", ".join(engine.config_files(workflow)))
    STUDY.check_files()
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
    factory_all,
    archive,


engine.run_steps_here(workflow)


wildcard_constraints:
    name=one_of(STUDY.sources),
    table=one_of(TABLES),
    figure=one_of(DRAWINGS),


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


include: "rules/factory_steps.smk"


rule factory_all:
    default_target: True
    input:
        # named one by one: a deleted record is made again although the tables are there
        list(map(str, map(STUDY.model_file, STUDY.models))),
        [str(step.output) for step in TABLES.values()],
        expand(
            "{stem}.{extension}",
            stem=[step.output for step in DRAWINGS.values()],
            extension=["pdf", "svg", "png"],
        ),


include: "rules/archive.smk"


# A corpus with planted frequencies, and BERT fine-tuned on it: a minute on a core; in one of the run's workers.
rule fine_tune:
    input:
        files_of(fine_tuning_step),
    output:
        f"{RESULTS}/trained/{{trainer}}/{{mu}}/{{sigma}}/{{replicate}}/model.json",
        f"{RESULTS}/trained/{{trainer}}/{{mu}}/{{sigma}}/{{replicate}}/model.safetensors",
    log:
        f"{LOGS}/fine_tune/{{trainer}}/{{mu}}/{{sigma}}/{{replicate}}.txt",
    resources:
        mem_mb=lambda w, attempt: 2000 * attempt,
        runtime=lambda w, attempt: 60 * attempt,
    params:
        depends_on=dependence_of(fine_tuning_step),
    run:
        RUN.perform(fine_tuning_step(wildcards), log[0], in_worker=True)


# All metrics of a model, and the training of one that is not fine-tuned: seconds, in one of the run's workers.
rule planted:
    input:
        files_of(model_step),
    output:
        f"{RESULTS}/models/{{trainer}}/{{mu}}/{{sigma}}/{{replicate}}.json",
    log:
        f"{LOGS}/planted/{{trainer}}/{{mu}}/{{sigma}}/{{replicate}}.txt",
    group:
        "factory"
    resources:
        mem_mb=lambda w, attempt: 1000 * attempt,
        runtime=lambda w, attempt: 5 * attempt,
    params:
        depends_on=dependence_of(model_step),
    run:
        RUN.perform(model_step(wildcards), log[0], in_worker=True)


rule table:
    input:
        files_of(table_step),
    output:
        report(f"{RESULTS}/{{table}}", category="Tables", labels={"table": "{table}"}),
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
