# Cells -> p-values, intervals and sensitivity: one file for all queries of a metric on a model, with or without a debias
# method. A step keeps the rows of its file whose cell did not change: an edited query costs its own row.
INFERENCE = "inference {model}/{debias}/{metric}"
AGGREGATES = "aggregates {model}/{debias}/{metric}"


# The words that random groups of a model are drawn from, and their neighbours.
rule pool:
    input:
        model=f"{RESULTS}/models/{{model}}.json",
    output:
        f"{RESULTS}/pools/{{model}}.npz",
    log:
        f"{LOGS}/pool/{{model}}.txt",
    resources:
        mem_mb=lambda wildcards, attempt: stores.memory(STUDY, wildcards.model, 1, attempt),
        runtime=lambda wildcards, attempt: 5 * attempt,
    params:
        depends_on=depends_on("pool {model}"),
    shell:
        f"{STEP} 'pool {{wildcards.model}}' 2> {{log}}"


rule inference:
    input:
        cells=reads(INFERENCE, "cells"),
        queries=reads(INFERENCE, "queries"),
        model=reads(INFERENCE, "model"),
        transform=reads(INFERENCE, "transform"),
        pool=reads(INFERENCE, "pool"),
    output:
        [
            update(f"{RESULTS}/inference/{{model}}/{{debias}}/{{metric}}{end}")
            # the second: values of bootstrap resamples
            for end in ([".json", ".npy"] if STUDY.config.inference.bootstrap else [".json"])
        ],
    log:
        f"{LOGS}/inference/{{model}}/{{debias}}/{{metric}}.txt",
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        depends_on=depends_on(INFERENCE),
    shell:
        f"{STEP} 'inference {{wildcards.model}}/{{wildcards.debias}}/{{wildcards.metric}}' 2> {{log}}"


# Whether the mean over queries is further from no bias than the means of random groups.
rule aggregates:
    input:
        inference=reads(AGGREGATES, "inference"),
        queries=reads(AGGREGATES, "queries"),
        model=reads(AGGREGATES, "model"),
        transform=reads(AGGREGATES, "transform"),
        pool=reads(AGGREGATES, "pool"),
    output:
        update(f"{RESULTS}/aggregates/{{model}}/{{debias}}/{{metric}}.json"),
        update(f"{RESULTS}/aggregates/{{model}}/{{debias}}/{{metric}}.npz"),
    log:
        f"{LOGS}/aggregates/{{model}}/{{debias}}/{{metric}}.txt",
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        depends_on=depends_on(AGGREGATES),
    shell:
        f"{STEP} 'aggregates {{wildcards.model}}/{{wildcards.debias}}/{{wildcards.metric}}' 2> {{log}}"


# How frequent the words of a model's queries are.
rule frequency:
    input:
        queries=reads("frequency {model}", "queries"),
        model=f"{RESULTS}/models/{{model}}.json",
    output:
        f"{RESULTS}/frequency/{{model}}.json",
    log:
        f"{LOGS}/frequency/{{model}}.txt",
    params:
        depends_on=depends_on("frequency {model}"),
    shell:
        f"{STEP} 'frequency {{wildcards.model}}' 2> {{log}}"
