# Model -> fitted debias method (a small transform, under which cells look words up) -> what it costs and hides.
# Processes of their own: some methods import torch, and evaluations hold a whole model in memory. They read the study
# from a file that is no input: what of it they depend on is in `depends_on`.


rule debias:
    input:
        model=f"{RESULTS}/models/{{model}}.json",
    output:
        f"{RESULTS}/debias/{{model}}/{{debias}}.npz",
    log:
        f"{LOGS}/debias/{{model}}/{{debias}}.txt",
    benchmark:
        f"{LOGS}/benchmark/debias/{{model}}/{{debias}}.tsv"
    resources:
        mem_mb=lambda w, attempt: stores.memory(STUDY, w.model, 1, attempt),
        runtime=lambda w, attempt: 30 * attempt,
    params:
        depends_on=dependence_of(fit_step),
    shell:
        "exec python -m biasgrid fit --study $BIASGRID_STUDY --model {wildcards.model} "
        "--debias {wildcards.debias} >/dev/null 2>{log}"


rule evaluation:
    input:
        unpack(inputs_of(evaluation_step)),  # model, transform, files of benchmarks
    output:
        f"{RESULTS}/evaluation/{{evaluation}}.json",
    log:
        f"{LOGS}/evaluation/{{evaluation}}.txt",
    benchmark:
        f"{LOGS}/benchmark/evaluation/{{evaluation}}.tsv"
    resources:
        mem_mb=lambda w, attempt: stores.evaluation_memory(STUDY, evaluation_of(w).model, attempt),
        runtime=lambda w, attempt: 60 * attempt,
    params:
        depends_on=dependence_of(evaluation_step),
    shell:
        "exec python -m biasgrid evaluate --study $BIASGRID_STUDY --evaluation {wildcards.evaluation} "
        ">/dev/null 2>{log}"
