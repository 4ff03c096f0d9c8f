# Tables, cells and their inference -> one page with the results.
rule report:
    input:
        # it reads cells and inference also, of which the tables are made: to name them again would double the plan
        tables=TABLES.files_made(TABLES.names),
        models=[f"{RESULTS}/models/{model}.json" for model in STUDY.models],
        study=f"{RESULTS}/study.json",
    output:
        report(f"{RESULTS}/report.html", category="The page of the study", labels={"page": "all in one"}),
    log:
        f"{LOGS}/report.txt",
    params:
        depends_on=lambda wildcards: PLAN["report"].depends_on,
    shell:
        f"{STEP} report 2> {{log}}"
