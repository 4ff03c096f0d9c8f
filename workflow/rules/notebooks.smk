# Notebooks -> executed, and as pages: on request alone (`snakemake notebooks`).
PAGES = f"{STUDY.results.parent}/notebooks"
# a notebook is code: those of the checkout that the workflow stands in, and of no other folder
NOTEBOOKS = of_notebooks.names(workflow.basedir)


rule notebooks:
    input:
        lambda wildcards: of_notebooks.pages(PAGES, NOTEBOOKS),


rule notebook:
    input:
        notebook="notebooks/{notebook}.ipynb",
        studies=lambda wildcards: of_notebooks.studies(
            wildcards.notebook, RESULTS, [f"{RESULTS}/report.html", *PLAN.files_made(ALL_FIGURES)]
        ),
    output:
        notebook=f"{PAGES}/{{notebook}}.ipynb",
        page=f"{PAGES}/{{notebook}}.html",
    log:
        f"{LOGS}/notebook/{{notebook}}.txt",
    wildcard_constraints:
        notebook=one_of(NOTEBOOKS),
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        code=lambda wildcards: of_notebooks.code_of_package(),
    shell:
        "python -m biasgrid.workflow.notebooks {input.notebook} {output} 2> {log}"
