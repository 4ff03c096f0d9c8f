# Notebooks -> executed, and as pages. They are made on request only: `snakemake notebooks`.
from biasgrid.workflow import notebooks as of_notebooks

PAGES = f"{STUDY.results.parent}/notebooks"
# a notebook is code: those of the checkout that the workflow stands in, and of no other folder
NOTEBOOKS = of_notebooks.names() if engine.stands_in_its_folder(workflow) else []


# With the kernel of this Python: a user's own kernels, which may lack biasgrid, come later with the first two
# variables. The third is a warning less. What a notebook starts does not belong to this run. A page is whole: nothing
# in it comes from a network, and its links lead from where it lies.
rule notebook:
    input:
        notebook="notebooks/{notebook}.ipynb",
        studies=of_notebooks.studies(
            RESULTS,
            [*(f"{RESULTS}/{table}.csv" for table in STUDY.tables), *FIGURES, f"{RESULTS}/study.json"],
        ),
    output:
        notebook=f"{PAGES}/{{notebook}}.ipynb",
        page=f"{PAGES}/{{notebook}}.html",
    log:
        f"{LOGS}/notebook/{{notebook}}.txt",
    wildcard_constraints:
        notebook=one_of(NOTEBOOKS),
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=lambda w, attempt: 30 * attempt,
    params:
        depends_on=lambda w: of_notebooks.depends_on(),
    shell:
        "export JUPYTER_PREFER_ENV_PATH=1 JUPYTER_PATH= PYDEVD_DISABLE_FILE_VALIDATION=1; "
        "unset BIASGRID_STARTED_BY BIASGRID_STUDY BIASGRID_RANDOM_GROUPS; "
        "python -m papermill --kernel python3 --cwd . --no-progress-bar --log-level WARNING "
        "{input.notebook} {output.notebook} 2>{log} && "
        "python -m nbconvert --to html --stdout --log-level ERROR --HTMLExporter.mathjax_url= "
        "--HTMLExporter.require_js_url= {output.notebook} 2>{log} | "
        'sed \'s#href="\\.\\./#href="../../#g; s#\\(href="[0-9][a-z0-9_]*\\)\\.ipynb#\\1.html#g\' >{output.page}.part && mv {output.page}.part {output.page} && '
        ": >{log}"
