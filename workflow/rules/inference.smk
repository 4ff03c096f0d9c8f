# How sure the values of a metric's cells are: a step for all queries of a metric on a model, as the engine takes longer
# over a step than most cells do over their inference. The step reads its former output, and makes only what is not in
# it: an edited query costs its own cell.


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
        group = "{model}/{debias}/{metric}".format(**wildcards)
        step(f"inference {group}", log[0], infer, group)
