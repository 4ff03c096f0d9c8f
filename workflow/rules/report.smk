# Tables, cells and their inference -> one page with the results.
from biasgrid.report.report_step import report_step


rule report:
    input:
        unpack(inputs_of(lambda w: report_step(STUDY))),
    output:
        update(
            report(
                f"{RESULTS}/report.html",
                caption="../report/page.rst",
                category="The page of the study",
                labels={"page": "all in one"},
            )
        ),
    log:
        f"{LOGS}/report.txt",
    params:
        depends_on=dependence_of(lambda w: report_step(STUDY)),
    run:
        RUN.make(workflow, Batch((report_step(STUDY),)))
