# Tables, cells and their inference -> one page with the results.
rule report:
    input:
        # It reads cells and inference also. Each of them is an input of a table, so the page follows a change of one. To
        # name them again here would double the time of planning.
        tables=PLAN.files_made(ALL_TABLES),
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
