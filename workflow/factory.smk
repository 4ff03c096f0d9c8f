# The planted-bias benchmark: how well does each metric recover a bias that is known? docs/factory.md
#
#   snakemake --snakefile workflow/factory.smk --cores 2        config/factory.yaml; --configfile: another
#
# A workflow of its own: its models are trained here, and it has one query.
include: "rules/start.smk"


from biasgrid.errors import BiasgridError
from biasgrid.factory import Factory, steps
from biasgrid.workflow import engine
from biasgrid.workflow.rules import dependence_of, files_of, one_of
from biasgrid.workflow.run import Run

engine.check_configs(workflow, "config/factory.yaml")
if not engine.has_config(workflow):

    configfile: "config/factory.yaml"


try:
    FACTORY = Factory.of(config, where=", ".join(engine.config_files(workflow)))
    FACTORY.occupations
except BiasgridError as error:
    engine.stop(error)

PROGRESS = engine.show_progress(workflow)
RUN = Run(
    FACTORY.name, FACTORY.config.get("plugins", ()), engine.cores(workflow), progress=PROGRESS, warned=WARNED
)
RESULTS = str(FACTORY.results)
LOGS = str(RUN.logs)
TABLES = steps.table_steps(FACTORY)
DRAWINGS = steps.figure_steps(FACTORY)


localrules:
    factory_all,


engine.run_steps_here(workflow)


wildcard_constraints:
    table=one_of(TABLES),
    figure=one_of(DRAWINGS),


# there is no hook for a run that has nothing to do
if PROGRESS is not None:
    PROGRESS.when_nothing = lambda: RUN.conclude(workflow, FACTORY)


onstart:
    RUN.begin(workflow)


onsuccess:
    RUN.conclude(workflow, FACTORY)


onerror:
    RUN.report()


include: "rules/factory_steps.smk"


rule factory_all:
    default_target: True
    input:
        # named one by one: a deleted record is made again although the tables are there
        list(map(str, map(FACTORY.model_file, FACTORY.models))),
        [str(step.output) for step in TABLES.values()],
        expand(
            "{stem}.{extension}",
            stem=[step.output for step in DRAWINGS.values()],
            extension=["pdf", "svg", "png"],
        ),


# A corpus with planted frequencies, a model trained on it, and all metrics of it: seconds, in one of the run's workers.
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
