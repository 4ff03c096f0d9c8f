# biasgrid: every metric on every query on every model.
#
#   snakemake --cores 8                                       the full case study (config/config.yaml)
#   snakemake --cores 2 --configfile config/embedded.yaml     the embedded study, from package registries alone
#   snakemake --cores 2 results/embedded/scores.csv --configfile config/embedded.yaml
#                                                             one file of it; the file stands before --configfile
#   snakemake -s FOLDER/Snakefile --cores 2 --configfile my-study.yaml
#                                                             a config elsewhere, such as one of `biasgrid init`
#
# Snakemake loads profiles/default/config.yaml by itself. It has the settings that this workflow needs, such as what makes
# a step out of date (rerun-triggers), and that what is under `run:` is a thread (force-use-threads).
from copy import deepcopy

# what `--config` and `--configfile` gave, before `configfile:` adds the default config to it
OPTIONS = deepcopy(config)
if "study" not in config and not workflow.configfiles:

    configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/study.smk"
include: "workflow/rules/embeddings.smk"
include: "workflow/rules/debias.smk"
include: "workflow/rules/cells.smk"
include: "workflow/rules/inference.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/notebooks.smk"


# Not submitted to a cluster: targets, what takes milliseconds, and downloads, for which nodes often have no network.
localrules:
    all,
    study,
    plugins,
    query,
    archive,
    cell,
    fetch,
    verify,
    stores,
    notebooks,


onstart:
    begin(STUDY, workflow.configfiles, config.get("replace", False))


onsuccess:
    end(STUDY, workflow.configfiles)


onerror:
    fail(STUDY, workflow.configfiles)


# Everything of the study: cells, tables, figures, the page. Also files that others are made of, so that each is made again
# once it was deleted; but not the null distributions, which only their figures need.
rule all:
    default_target: True
    input:
        f"{RESULTS}/study.json",
        [file for step in PLAN.values() if not step.name.startswith("null ") for file in step.outputs],
        [f"{RESULTS}/{plugins.FILE}"] if PLUGINS else [],


# The archives of all models and benchmarks, and nothing else.
rule fetch:
    input:
        [f"{RESULTS}/sources/{name}.json" for name in STUDY.sources],
    log:
        f"{LOGS}/fetch.txt",
    run:
        log_failure(log[0], stores.check_fetched, STUDY)


# Read what was downloaded once more and compare it with its checksums; `biasgrid verify` does so for results.
rule verify:
    log:
        f"{LOGS}/verify.txt",
    run:
        log_failure(log[0], stores.verify_archives, STUDY)


# All models as stores.
rule stores:
    input:
        [f"{RESULTS}/models/{model}.json" for model in STUDY.models],
