# biasgrid: every metric on every query on every model.
#
#   snakemake --cores 8                                       the full case study (config/config.yaml)
#   snakemake --cores 2 --configfile config/embedded.yaml     the embedded study, from package registries alone
#
# profiles/default/config.yaml, which Snakemake loads by itself, holds the settings this workflow is built for.
include: "workflow/rules/start.smk"


from biasgrid.workflow import engine

engine.check_configs(workflow, "config/config.yaml")

if not engine.has_config(workflow):

    configfile: "config/config.yaml"


# what Snakemake's own report begins with (make snakemake-report)
report: "workflow/report/workflow.rst"


include: "workflow/rules/head.smk"
include: "workflow/rules/embeddings.smk"
include: "workflow/rules/queries.smk"
include: "workflow/rules/debias.smk"
include: "workflow/rules/sentence_scores.smk"
include: "workflow/rules/cells.smk"
include: "workflow/rules/inference.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/notebooks.smk"


# what a cluster run does not submit: files of a few bytes, and downloads, for which nodes often have no network
localrules:
    study,
    plugins,
    query,
    archive,
    fetch,
    verify,
    notebook,
    notebooks,


engine.run_steps_here(workflow)


# Everything of the study: each cell, the tables made of them, the figures, the page.
rule all:
    default_target: True
    input:
        # a deleted cell is made again although the tables are there; the others are inputs of scores.csv, and the
        # engine takes its time over each file that is named
        [
            file
            for file in map(str, map(STUDY.paths.cell_file, STUDY.grid.cells.values()))
            if not os.path.exists(file)
        ],
        # all that a job writes: one that lacks a file, as an older version leaves it, is made again
        inference_files(STUDY),
        [f"{RESULTS}/{name}.csv" for name in STUDY.tables],
        FIGURES,
        f"{RESULTS}/report.html",
        f"{RESULTS}/study.json",
        [PLUGINS_FILE] if PLUGINS else [],


# The archives of all models and benchmarks, and nothing else.
rule fetch:
    input:
        [f"{EMBEDDINGS}/raw/{name}/manifest.json" for name in STUDY.sources],


# Read what was downloaded once more and hold it against its checksums; `biasgrid verify` does so for results.
rule verify:
    log:
        f"{LOGS}/verify.txt",
    run:
        from biasgrid.embeddings.sources import verify

        for name in STUDY.sources:
            RUN.call(f"verify {name}", log[0], verify, name, Path(EMBEDDINGS) / "raw")


# All models as stores.
rule stores:
    input:
        [str(STUDY.paths.model_file(model)) for model in STUDY.models],


# The notebooks, executed (`make notebooks`): results/notebooks/*.html.
rule notebooks:
    input:
        of_notebooks.pages(PAGES, NOTEBOOKS),
