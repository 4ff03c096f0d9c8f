# A cell: one metric on one query on one model. A `run:` block in a thread of the engine costs a few milliseconds,
# where a process would cost a second (profiles/default: force-use-threads). It must not change process state.
from biasgrid.cell import compute_cell


rule cell:
    input:
        query=f"{RESULTS}/queries/{{query}}.json",
        model=f"{RESULTS}/models/{{model}}.json",
        transform=transform_of,
        metric=metric_source,
        code=cell_code,
    output:
        f"{RESULTS}/cells/{{model}}/{{debias}}/{{metric}}/{{query}}.json",
    log:
        f"{LOGS}/cell/{{model}}/{{debias}}/{{metric}}/{{query}}.txt",
    resources:
        # it reads its words' rows and no others
        mem_mb=lambda w, attempt: 800 * attempt,
        runtime=lambda w, attempt: attempt,
    params:
        # one canonical text: Snakemake compares parameters as a set of values
        spec=lambda w: cell_of(w).spec,
    run:
        step(f"cell {cell_of(wildcards).name}", log[0], compute_cell, STUDY, cell_of(wildcards))
