# Model -> a fitted debias method, a small transform under which cells look words up; and what it costs and hides.


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
        mem_mb=lambda wildcards, attempt: stores.memory(STUDY, wildcards.model, 1, attempt),
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        depends_on=depends_on("debias {model}/{debias}"),
    shell:
        f"{STEP} 'debias {{wildcards.model}}/{{wildcards.debias}}' 2> {{log}}"


# Quality of a model, or the bias that is left in it, with or without a debias method.
rule evaluation:
    input:
        model=reads("evaluation {evaluation}", "model"),
        transform=reads("evaluation {evaluation}", "transform"),
        files=reads("evaluation {evaluation}", "files"),
    output:
        f"{RESULTS}/evaluation/{{evaluation}}.json",
    log:
        f"{LOGS}/evaluation/{{evaluation}}.txt",
    benchmark:
        f"{LOGS}/benchmark/evaluation/{{evaluation}}.tsv"
    resources:
        mem_mb=lambda wildcards, attempt: stores.evaluation_memory(
            STUDY, wildcards.evaluation.partition("/")[0], attempt
        ),
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        depends_on=depends_on("evaluation {evaluation}"),
    shell:
        f"{STEP} 'evaluation {{wildcards.evaluation}}' 2> {{log}}"
