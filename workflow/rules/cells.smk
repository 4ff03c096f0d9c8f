# A cell: one metric on one query on one model -> its scores (biasgrid.cell.compute_cell). A `run:` block in a thread of the engine costs a few milliseconds,
# where a process would cost a second (profiles/default: force-use-threads). It must not change process state.


rule cell:
    input:
        # model, or of a language model its scores of sentences; transform, where debiased
        unpack(model_of),
        query=f"{RESULTS}/queries/{{query}}.json",
    output:
        f"{RESULTS}/cells/{{model}}/{{debias}}/{{metric}}/{{query}}.json",
    log:
        f"{LOGS}/cell/{{model}}/{{debias}}/{{metric}}/{{query}}.txt",
    resources:
        # it reads its words' rows and no others
        mem_mb=engine.each_try(workflow, 800),
        runtime=engine.each_try(workflow, 1),
    params:
        depends_on=dependence_of(cell_step),
    run:
        RUN.perform(cell_step(wildcards), log[0])
