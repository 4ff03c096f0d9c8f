# Cells -> p-values, intervals and sensitivity: one file for all queries of a metric on a model, with or without a debias
# method (a group, MODEL/DEBIAS/METRIC). A step keeps the rows of its file whose cell did not change: an edited query costs
# its own row. The same job tests whether the mean over queries is further from no bias than the means of random groups:
# both read the same vectors, and starting a process takes longer than most of these tests.
INFERENCE = "inference {group}"
AGGREGATES = "aggregates {group}"
# the second: values of bootstrap resamples
INFERENCE_FILES = [
    f"{RESULTS}/inference/{{group}}{end}"
    for end in ([".json", ".npy"] if STUDY.config.inference.bootstrap else [".json"])
]


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
        [update(file) for file in INFERENCE_FILES],
        update(f"{RESULTS}/aggregates/{{group}}.json"),
        update(f"{RESULTS}/aggregates/{{group}}.npz"),
    log:
        f"{LOGS}/inference/{{group}}.txt",
    wildcard_constraints:
        group=one_of(STUDY.grid.aggregate_criteria),
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        depends_on=depends_on(INFERENCE, AGGREGATES),
        steps=[INFERENCE, AGGREGATES],
    shell:
        f"{STEP} {{params.steps:q}} 2> {{log}}"


# a group whose means are not tested, such as that of a language model
use rule inference as inference_without_aggregates with:
    output:
        [update(file) for file in INFERENCE_FILES],
    wildcard_constraints:
        group=one_of(
            group for group in STUDY.grid.inference_groups if group not in STUDY.grid.aggregate_criteria
        ),
    params:
        depends_on=depends_on(INFERENCE),
        steps=[INFERENCE],


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
