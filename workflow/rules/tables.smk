# Cells, inference and evaluations -> tables. Each table says in src/biasgrid/tables which files it reads. One job makes
# all tables, two at a time, as starting a process takes longer than making a table. Those that need an evaluation are a job
# of their own, so that a failed evaluation does not cost the others.
# The step `table scores` makes {RESULTS}/scores.csv, and so on; src/biasgrid/tables/scores.py has its columns. `rank_samples`
# are arrays that tables and figures share.
ALL_TABLES = [name for name in PLAN if name.startswith("table ") or name == "rank_samples"]
TABLES = [name for name in ALL_TABLES if name not in PLAN.evaluated]
EVALUATION_TABLES = [name for name in ALL_TABLES if name in PLAN.evaluated]


rule tables:
    input:
        files=PLAN.files_read(TABLES),
    output:
        in_report(PLAN.files_made(TABLES)),
    log:
        f"{LOGS}/tables.txt",
    threads: 2
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        depends_on=[PLAN[name].depends_on for name in TABLES],
        steps=TABLES,
    shell:
        f"{STEP} {{params.steps:q}} --jobs {{threads}} 2> {{log}}"


use rule tables as evaluation_tables with:
    input:
        files=PLAN.files_read(EVALUATION_TABLES),
    output:
        in_report(PLAN.files_made(EVALUATION_TABLES)),
    log:
        f"{LOGS}/evaluation_tables.txt",
    threads: 1
    params:
        depends_on=[PLAN[name].depends_on for name in EVALUATION_TABLES],
        steps=EVALUATION_TABLES,
