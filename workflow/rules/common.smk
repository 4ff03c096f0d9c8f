# The study of the config, and what all rules share.
import os
from pathlib import Path

from biasgrid.debias import UNTOUCHED
from biasgrid.core.files import write_text
from biasgrid.study import plugins, steps
from biasgrid.workflow import notebooks as of_notebooks
from biasgrid.workflow import setup, stores
from biasgrid.workflow.plan import Plan
from biasgrid.workflow.run import begin, end, fail, log_failure, make, warn_in_logs
from biasgrid.workflow.wildcards import one_of

setup.check_place(workflow.basedir)
STUDY = setup.read_study(workflow.configfiles, OPTIONS)
setup.prepare_process()
warn_in_logs()

# The steps by name, such as PLAN["table scores"] or PLAN["cell MODEL/DEBIAS/METRIC/QUERY"]: what a step reads (`files`, and
# `by_role` under the names that rules give them), what it depends on besides (`depends_on`), and what it writes (`outputs`).
PLAN = Plan(STUDY)
PLUGINS = plugins.record_text(STUDY)
RESULTS = str(STUDY.results)
EMBEDDINGS = str(STUDY.embeddings)
LOGS = str(setup.logs_of(STUDY))
# How a step is run in a process of its own. It reads the study from {LOGS}/study.json. `read_study` writes that file each
# time, and it is no input: so a changed config makes again only the steps whose params changed. A rule of your own needs no
# step: use `script:`, whose edits Snakemake notices. It does not notice an edited function that `run:` calls.
STEP = f"biasgrid step --study {setup.study_file(STUDY)} --notes {LOGS}"


# of processes that rules start, on the nodes of a cluster also: they import nothing from the working folder
envvars:
    "PYTHONSAFEPATH",


wildcard_constraints:
    source=one_of(STUDY.sources),
    model=one_of(STUDY.models),
    query=one_of(STUDY.queries),
    metric=one_of({cell.metric for cell in STUDY.grid.cells.values()}),
    debias=one_of([UNTOUCHED, *STUDY.debias]),
    evaluation=one_of(STUDY.grid.evaluations | STUDY.grid.quality),
    sentences=one_of(sentences for _, sentences in steps.cells_by_sentences(STUDY)),


def depends_on(*names):
    """For params: what the steps of these names depend on besides their files: settings, and a digest of their code.

    A name has the wildcards of the rule in braces. The digest follows the imports of the code (src/biasgrid/study/code.py).
    """
    return lambda wildcards: [PLAN[name.format(**wildcards)].depends_on for name in names]


def reads(name, role):
    """For input: the files that the step of a name reads in a role, such as "cells"."""
    return lambda wildcards: PLAN[name.format(**wildcards)].by_role.get(role, [])


def model_of(wildcards):
    """For input: the record of a model's vectors; of a language model, its scores of the query's sentences."""
    if STUDY.kind(wildcards.model).scores:
        return PLAN[CELL.format(**wildcards)].by_role["model"]
    return f"{RESULTS}/models/{wildcards.model}.json"


def transform_of(wildcards):
    """For input: the fitted debias method, if there is one."""
    return (
        [] if wildcards.debias == UNTOUCHED else f"{RESULTS}/debias/{wildcards.model}/{wildcards.debias}.npz"
    )


def in_report(files):
    """For output: files, of which tables (CSV) and figures (SVG) are shown in Snakemake's report."""
    kinds = {".csv": ("Tables", "table"), ".svg": ("Figures", "figure")}
    flagged = []
    for file in map(Path, files):
        if file.suffix in kinds:
            category, label = kinds[file.suffix]
            flagged.append(report(str(file), category=category, labels={label: file.stem}))
        else:
            flagged.append(str(file))
    return flagged
