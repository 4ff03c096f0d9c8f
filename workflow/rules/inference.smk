# How sure the values of a metric's cells are: a step for all queries of a metric on a model, as the engine takes longer
# over a step than most cells do over their inference. The step reads its former output, and makes only what is not in
# it: an edited query costs its own cell.


# The words that random groups of a model are made of, and their neighbours.
rule pool:
    input:
        files_of(pool_step),
    output:
        f"{RESULTS}/pools/{{model}}.npz",
    log:
        f"{LOGS}/pool/{{model}}.txt",
    resources:
        mem_mb=lambda w, attempt: stores.memory(STUDY, w.model, 1, attempt),
        runtime=lambda w, attempt: 5 * attempt,
    params:
        depends_on=dependence_of(pool_step),
    run:
        RUN.perform(pool_step(wildcards), log[0])


rule inference:
    input:
        files_of(inference_step),
    output:
        update(f"{RESULTS}/inference/{{model}}/{{debias}}/{{metric}}.json"),
        # the values of the cells' bootstrap resamples
        (
            [update(f"{RESULTS}/inference/{{model}}/{{debias}}/{{metric}}.npy")]
            if "bootstrap" in STUDY.config["inference"]
            else []
        ),
    log:
        f"{LOGS}/inference/{{model}}/{{debias}}/{{metric}}.txt",
    params:
        depends_on=dependence_of(inference_step),
    run:
        RUN.perform(inference_step(wildcards), log[0], in_worker=True)


# Whether what models are ranked by is further from no bias than that of random groups.
rule aggregates:
    input:
        files_of(aggregates_step),
    output:
        f"{RESULTS}/aggregates/{{model}}/{{debias}}/{{metric}}.json",
    log:
        f"{LOGS}/aggregates/{{model}}/{{debias}}/{{metric}}.txt",
    params:
        depends_on=dependence_of(aggregates_step),
    run:
        RUN.perform(aggregates_step(wildcards), log[0], in_worker=True)
