# Cells, their inference and evaluations -> tables; each is declared in src/biasgrid/tables.
def table_step(wildcards):
    return steps.table_step(STUDY, wildcards.table)


rule table:
    input:
        step_files(table_step),
    output:
        f"{RESULTS}/{{table}}.csv",
    log:
        f"{LOGS}/table/{{table}}.txt",
    wildcard_constraints:
        table=one_of(STUDY.tables),
    params:
        depends_on=depends_on(table_step),
    run:
        perform(table_step(wildcards), log[0])


# The models' ranks in every bootstrap resample, which tables of ranks are made from.
rule rank_samples:
    input:
        step_files(lambda w: steps.rank_samples_step(STUDY)),
    output:
        f"{RESULTS}/rank_samples.npy",
    log:
        f"{LOGS}/rank_samples.txt",
    params:
        depends_on=depends_on(lambda w: steps.rank_samples_step(STUDY)),
    run:
        perform(steps.rank_samples_step(STUDY), log[0])
