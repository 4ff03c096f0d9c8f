# How sure a cell's value is: a job a cell, of the cell and its inputs. In a thread of the engine, like cells.
from biasgrid.inference import infer_cell


rule inference:
    input:
        cell=rules.cell.output[0],
        query=f"{RESULTS}/queries/{{query}}.json",
        model=f"{RESULTS}/models/{{model}}.json",
        transform=transform_of,
        metric=metric_source,
        code=cell_code,
        inference=INFERENCE_SOURCES,
    output:
        f"{RESULTS}/inference/{{model}}/{{debias}}/{{metric}}/{{query}}.json",
        INFERENCE_SAMPLES,
    log:
        f"{LOGS}/inference/{{model}}/{{debias}}/{{metric}}/{{query}}.txt",
    params:
        spec=lambda w: inference_of(w).spec,
    run:
        step(f"inference {cell_of(wildcards).name}", log[0], infer_cell, STUDY, inference_of(wildcards))
