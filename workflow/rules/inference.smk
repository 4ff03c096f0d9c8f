# How sure the values of a metric's cells are: a step for all queries of a metric on a model, as the engine takes longer
# over a step than most cells do over their inference. In a thread of the engine, like cells. The step reads its
# former output, and makes only what is not in it: an edited query costs its own cell.
from biasgrid.inference import infer_cells


rule inference:
    input:
        cells=inferred_cells,
        queries=inferred_queries,
        model=f"{RESULTS}/models/{{model}}.json",
        transform=transform_of,
        metric=inferred_metric,
        code=cell_code,
        inference=INFERENCE_SOURCES,
    output:
        update(f"{RESULTS}/inference/{{model}}/{{debias}}/{{metric}}.json"),
        INFERENCE_SAMPLES,
    log:
        f"{LOGS}/inference/{{model}}/{{debias}}/{{metric}}.txt",
    params:
        specs=lambda w: json.dumps([[i.cell.query, i.spec] for i in inferences_of(w)]),
    run:
        step(
            "inference {model}/{debias}/{metric}".format(**wildcards),
            log[0],
            infer_cells,
            STUDY,
            inferences_of(wildcards),
        )
