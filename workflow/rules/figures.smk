# Each figure as PDF, SVG and PNG. A process each: matplotlib's settings are global to a process.
FIGURES = expand(f"{RESULTS}/figures/{{figure}}.{{extension}}", figure=STUDY.figures, extension=["pdf", "svg", "png"])


rule figure:
    input:
        study=f"{RESULTS}/study.json",
        tables=[f"{RESULTS}/{name}.csv" for name in ("scores", "rankings", "correlations")],
        code=source("figures.py"),
    log:
        f"logs/{STUDY.name}/figure-{{figure}}.txt",
    output:
        multiext(f"{RESULTS}/figures/{{figure}}", ".pdf", ".svg", ".png"),
    shell:
        "PYTHONPATH={SOURCES.parent:q} {sys.executable:q} -m biasgrid figure"
        " --study {input.study:q} --figure {wildcards.figure:q} > {log:q} 2>&1"
