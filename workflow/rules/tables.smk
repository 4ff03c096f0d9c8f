# Cells, their inference and evaluations -> tables; each is declared in src/biasgrid/tables.


rule table:
    input:
        files_of(table_step),
    output:
        report(
            f"{RESULTS}/{{table}}.csv",
            caption="../report/table.rst",
            category="Tables",
            labels={"table": "{table}.csv"},
        ),
    log:
        f"{LOGS}/table/{{table}}.txt",
    params:
        depends_on=dependence_of(table_step),
        caption=lambda w: captions.of_table(w.table),
    run:
        RUN.perform(table_step(wildcards), log[0])


# The models' ranks in every bootstrap resample, which tables of ranks are made from.
rule rank_samples:
    input:
        files_of(lambda w: steps.rank_samples_step(STUDY)),
    output:
        f"{RESULTS}/rank_samples.npy",
    log:
        f"{LOGS}/rank_samples.txt",
    params:
        depends_on=dependence_of(lambda w: steps.rank_samples_step(STUDY)),
    run:
        RUN.perform(steps.rank_samples_step(STUDY), log[0])


# How frequent the words of a model's queries are, which the table of frequency is made from.
rule frequency:
    input:
        files_of(frequency_step),
    output:
        f"{RESULTS}/frequency/{{model}}.json",
    log:
        f"{LOGS}/frequency/{{model}}.txt",
    params:
        depends_on=dependence_of(frequency_step),
    run:
        RUN.perform(frequency_step(wildcards), log[0])
