# A cell: one metric on one query on one model. A `run:` block in a thread of the engine costs a few milliseconds,
# where a process would cost a second (profiles/default: force-use-threads). It must not change process state.


rule cell:
    input:
        files_of(cell_step),
    output:
        f"{RESULTS}/cells/{{model}}/{{debias}}/{{metric}}/{{query}}.json",
    log:
        f"{LOGS}/cell/{{model}}/{{debias}}/{{metric}}/{{query}}.txt",
    resources:
        # it reads its words' rows and no others
        mem_mb=lambda w, attempt: 800 * attempt,
        runtime=lambda w, attempt: attempt,
    params:
        depends_on=dependence_of(cell_step),
    run:
        RUN.perform(cell_step(wildcards), log[0])
