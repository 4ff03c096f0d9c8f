# Each figure as PDF, SVG and PNG, in a process of its own: matplotlib's settings belong to a process.
FIGURES = expand(
    f"{RESULTS}/figures/{{figure}}.{{extension}}", figure=STUDY.figures, extension=["pdf", "svg", "png"]
)


rule figure:
    input:
        study=f"{RESULTS}/study.json",
        tables=drawn_from,
        code=figure_code,
    output:
        multiext(f"{RESULTS}/figures/{{figure}}", ".pdf", ".svg", ".png"),
    log:
        f"{LOGS}/figure/{{figure}}.txt",
    run:
        arguments = ("figure", "--study", input.study, "--figure", wildcards.figure)
        step(f"figure {wildcards.figure}", log[0], command, *arguments)
