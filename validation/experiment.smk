# An experiment, from its config to its tables and figures: validation/README.md
#
#   snakemake --snakefile validation/experiment.smk --cores 2 --configfile validation/calibration/simulation.yaml
#
# A workflow of its own: it has no queries of a study. Its models are made by the rules of studies.
import sys
from pathlib import Path

from biasgrid.workflow import setup, stores
from biasgrid.workflow.run import begin, end, fail
from biasgrid.workflow.wildcards import one_of

# validation is a package that no one installs: this process finds it, and those that it starts
ROOT = Path(workflow.basedir).parent
sys.path.append(str(ROOT))
from validation import experiment

if not config:
    setup.stop("name the config of an experiment: --configfile validation/calibration/simulation.yaml")
STUDY = experiment.of_files(workflow.configfiles, config)
setup.prepare_process(ROOT / "src", ROOT)

RESULTS = str(STUDY.results)
EMBEDDINGS = str(STUDY.embeddings)
LOGS = str(setup.logs_of(STUDY))
# how a step is run in a process of its own: the config is a file that `begin` writes
STEP = f"python -m validation step --notes {LOGS} {LOGS}/config.json"
CATEGORIES = {"table": "Tables", "figure": "Figures"}


envvars:
    "PYTHONSAFEPATH",


wildcard_constraints:
    source=one_of(STUDY.sources),
    model=one_of(STUDY.models),


onstart:
    begin(STUDY, workflow.configfiles, config.get("replace", False))
    STUDY.write_config(LOGS)


onsuccess:
    end(STUDY, workflow.configfiles)


onerror:
    fail(STUDY, workflow.configfiles)


rule all:
    default_target: True
    input:
        # named one by one: a deleted cell is made again although the tables are there
        [file for kind in STUDY.rules.values() for file in kind.targets],


# archives and stores, which studies may share
include: "../workflow/rules/embeddings.smk"


# One rule for each kind of step, as the experiment declares them: cells, tables, figures.
for kind in STUDY.rules.values():

    rule:
        name:
            kind.name
        input:
            kind.files_read,
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
            settings=kind.settings,
            code=kind.code,
            name=kind.step_name,
        shell:
            f"{STEP} {{params.name:q}} 2> {{log}}"


localrules:
    all,
    archive,
