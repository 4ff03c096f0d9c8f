# A cell: one metric on one query on one model -> its scores (biasgrid.measurements.cell.compute_cell). A `run:` block
# in a thread of the engine costs a few milliseconds, where a process would cost a second (profiles/default:
# force-use-threads). It must not change process state.
#
# There are thousands: each kind of them is a rule that names its files, as the engine takes its time over functions.
SCORING = [model for model in STUDY.models if STUDY.kind(model).scores]


rule cell:
    input:
        query=f"{RESULTS}/queries/{{query}}.json",
        model=f"{RESULTS}/models/{{model}}.json",
    output:
        f"{RESULTS}/cells/{{model}}/{{debias}}/{{metric}}/{{query}}.json",
    log:
        f"{LOGS}/cell/{{model}}/{{debias}}/{{metric}}/{{query}}.txt",
    wildcard_constraints:
        model=one_of(model for model in STUDY.models if model not in SCORING),
        debias=UNTOUCHED,
    resources:
        # it reads its words' rows and no others
        mem_mb=engine.each_try(workflow, 800),
        runtime=engine.each_try(workflow, 1),
    params:
        depends_on=dependence_of(cell_step),
    run:
        RUN.perform(cell_step(wildcards), log[0])


# a rule that makes nothing in a study would be asked for each of its files
if STUDY.debias:

    use rule cell as cell_debiased with:
        input:
            query=f"{RESULTS}/queries/{{query}}.json",
            model=f"{RESULTS}/models/{{model}}.json",
            transform=f"{RESULTS}/debias/{{model}}/{{debias}}.npz",
        wildcard_constraints:
            debias=one_of(STUDY.debias),

    engine.same_group(workflow, "cell_debiased", "cell")


# on a language model: its scores of the query's sentences
if SCORING:

    use rule cell as cell_of_sentences with:
        input:
            query=f"{RESULTS}/queries/{{query}}.json",
            model=lambda w: cell_step(w).by_role["model"],
        wildcard_constraints:
            model=one_of(SCORING),

    engine.same_group(workflow, "cell_of_sentences", "cell")
