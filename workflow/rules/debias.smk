# Model -> fitted debias method (a small transform, under which cells look words up) -> what it costs and hides.
# Processes of their own: some methods import torch, and evaluations hold a whole model in memory. They are given the
# study on standard input: were its file an input, every edit of the config would reach them.


rule debias:
    input:
        model=f"{RESULTS}/models/{{model}}.json",
        method=method_sources,
        code=DEBIAS_SOURCES,
    output:
        f"{RESULTS}/debias/{{model}}/{{debias}}.npz",
    log:
        f"{LOGS}/debias/{{model}}/{{debias}}.txt",
    resources:
        mem_mb=lambda w, attempt: stores.memory(STUDY, w.model, 1, attempt),
        runtime=lambda w, attempt: 30 * attempt,
    params:
        spec=lambda w: fit_of(w).spec,
    run:
        arguments = ("--study", "-", "--model", wildcards.model, "--debias", wildcards.debias)
        RUN.call(
            f"debias {wildcards.model}/{wildcards.debias}",
            log[0],
            command,
            "fit",
            *arguments,
            given=STUDY.to_json(),
        )


rule evaluation:
    input:
        model=lambda w: str(STUDY.model_file(evaluation_of(w).model)),
        transform=lambda w: transform_of(evaluation_of(w)),
        files=evaluation_files,
        code=EVALUATION_SOURCES,
    output:
        f"{RESULTS}/evaluation/{{evaluation}}.json",
    log:
        f"{LOGS}/evaluation/{{evaluation}}.txt",
    resources:
        mem_mb=lambda w, attempt: stores.memory(STUDY, evaluation_of(w).model, 3, attempt),
        runtime=lambda w, attempt: 60 * attempt,
    params:
        spec=lambda w: evaluation_of(w).spec,
    run:
        arguments = ("--study", "-", "--evaluation", wildcards.evaluation)
        RUN.call(
            f"evaluation {wildcards.evaluation}",
            log[0],
            command,
            "evaluate",
            *arguments,
            given=STUDY.to_json(),
        )
