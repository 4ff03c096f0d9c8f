# The study of the config, and what all rules share.
import os
from pathlib import Path

from biasgrid.debias import UNTOUCHED
from biasgrid.files import write_text
from biasgrid.plan import plugins, steps
from biasgrid.workflow import setup, stores
from biasgrid.workflow.evaluation_split import split
from biasgrid.workflow.plan import Plan
from biasgrid.workflow.run import begin, end, fail, make, warn_in_logs
from biasgrid.workflow.wildcards import one_of

setup.check_place(workflow.basedir)
STUDY = setup.read_study(workflow.configfiles, config)
setup.prepare_process()
warn_in_logs()

# the steps by name, such as "table scores": what each reads, what it depends on besides, and what it writes
PLAN = Plan(STUDY)
RESULTS = str(STUDY.results)
EMBEDDINGS = str(STUDY.embeddings)
LOGS = str(setup.logs_of(STUDY))
# read by all steps; none is made again because it changed (`ancient`): what of it a step depends on is in its params
STUDY_FILE = ancient(f"{RESULTS}/study.json")
# how a step is run in a process of its own
STEP = f"biasgrid step --study {RESULTS}/study.json --notes {LOGS}"


# of processes that rules start, on the nodes of a cluster also: they import nothing from the working folder
envvars:
    "PYTHONSAFEPATH",


wildcard_constraints:
    name=one_of(STUDY.sources),
    model=one_of(STUDY.models),
    query=one_of(STUDY.queries),
    metric=one_of({cell.metric for cell in STUDY.grid.cells.values()}),
    debias=one_of([UNTOUCHED, *STUDY.debias]),
    evaluation=one_of(STUDY.grid.evaluations | STUDY.grid.quality),
    sentences=one_of(sentences for _, sentences in steps.cells_by_sentences(STUDY)),


def settings(name):
    """For params: what the step of a name depends on besides files and code. Wildcards of the rule are filled in."""
    return lambda wildcards: PLAN[name.format(**wildcards)].settings


def code(name):
    """For params: a digest of the code that the step of a name runs, which follows its imports."""
    return lambda wildcards: PLAN[name.format(**wildcards)].code


def reads(name, role):
    """For input: the files that the step of a name reads in a role, such as "cells"."""
    return lambda wildcards: PLAN[name.format(**wildcards)].by_role.get(role, [])


# What the study is: the config with all files that it includes.
rule study:
    output:
        f"{RESULTS}/study.json",
    log:
        f"{LOGS}/study.txt",
    params:
        digest=STUDY.digest,
    run:
        write_text(output[0], STUDY.to_json())


# What plugins declare, for those who read the results without loading the plugins.
PLUGINS = plugins.record_text(STUDY)


rule plugins:
    output:
        f"{RESULTS}/{plugins.FILE}",
    log:
        f"{LOGS}/plugins.txt",
    params:
        # a function: the text may have names in braces, which Snakemake would take for wildcards
        text=lambda wildcards: PLUGINS,
    run:
        write_text(output[0], PLUGINS)


# Words of a query. They were read from the word sets with the config; their digest changes with a word of this query.
rule query:
    output:
        f"{RESULTS}/queries/{{query}}.json",
    log:
        f"{LOGS}/query/{{query}}.txt",
    params:
        digest=lambda wildcards: STUDY.query_digest(wildcards.query),
    run:
        write_text(output[0], STUDY.queries[wildcards.query].to_json())
