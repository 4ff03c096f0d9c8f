# Cells, inference and evaluations -> tables. Each table says in src/biasgrid/tables which files it reads. One job makes
# all tables, two at a time, as starting a process takes longer than making a table; those that need an evaluation are a
# job of their own, so that a failed evaluation does not cost the others.
# The step `table scores` makes {RESULTS}/scores.csv, and so on; src/biasgrid/tables/scores.py has its columns. `rank_samples`
# are arrays that tables and figures share.
TABLES = split(PLAN, [name for name in PLAN if name.startswith("table ") or name == "rank_samples"])


rule tables:
    input:
        files=TABLES.files_read(TABLES.without_evaluations),
    output:
        in_report(TABLES.files_made(TABLES.without_evaluations)),
    log:
        f"{LOGS}/tables.txt",
    threads: 2
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        depends_on=[PLAN[name].depends_on for name in TABLES.without_evaluations],
        steps=TABLES.without_evaluations,
    shell:
        f"{STEP} {{params.steps:q}} --jobs {{threads}} 2> {{log}}"


use rule tables as evaluation_tables with:
    input:
        files=TABLES.files_read(TABLES.with_evaluations),
    output:
        in_report(TABLES.files_made(TABLES.with_evaluations)),
    log:
        f"{LOGS}/evaluation_tables.txt",
    threads: 1
    params:
        depends_on=[PLAN[name].depends_on for name in TABLES.with_evaluations],
        steps=TABLES.with_evaluations,
