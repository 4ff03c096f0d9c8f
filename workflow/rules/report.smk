# Tables, cells and their inference -> one page with the results.
rule report:
    input:
        PLAN["report"].files,
    output:
        report(f"{RESULTS}/report.html", category="The page of the study", labels={"page": "all in one"}),
    log:
        f"{LOGS}/report.txt",
    params:
        settings=lambda wildcards: PLAN["report"].settings,
        code=PLAN["report"].code,
    shell:
        f"{STEP} report 2> {{log}}"
