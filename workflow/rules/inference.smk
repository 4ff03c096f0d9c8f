# How sure the values of a metric's cells are: a step for all queries of a metric on a model, as the engine takes longer
# over a step than most cells do over their inference. The step reads its former output, and makes only what is not in
# it: an edited query costs its own cell.


# The words that random groups of a model are made of, and their neighbours.
rule pool:
    input:
        model=f"{RESULTS}/models/{{model}}.json",
        code=[source("inference/pool.py"), source("embeddings/store.py")],
    output:
        f"{RESULTS}/pools/{{model}}.npz",
    log:
        f"{LOGS}/pool/{{model}}.txt",
    resources:
        mem_mb=lambda w, attempt: memory(w.model, 1, attempt),
        runtime=lambda w, attempt: 5 * attempt,
    run:
        # imported late: it needs scipy, which takes longer than to plan a study
        from biasgrid.inference import write_pool

        step(f"pool {wildcards.model}", log[0], write_pool, STUDY, wildcards.model)


rule inference:
    input:
        cells=inferred_cells,
        queries=inferred_queries,
        model=f"{RESULTS}/models/{{model}}.json",
        transform=transform_of,
        pool=f"{RESULTS}/pools/{{model}}.npz" if "random_groups" in INFERENCE else [],
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
