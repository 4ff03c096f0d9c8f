# Tables, cells and their inference -> one page that says what came out.
from biasgrid.report.planned import report_step



rule report:
    input:
        files_of(lambda w: report_step(STUDY)),
    output:
        f"{RESULTS}/report.html",
    log:
        f"{LOGS}/report.txt",
    params:
        depends_on=dependence_of(lambda w: report_step(STUDY)),
    run:
        RUN.perform(report_step(STUDY), log[0])
