# Each figure as PDF, SVG and PNG, in a process of its own: matplotlib's settings belong to a process.
FIGURES = expand(
    f"{RESULTS}/figures/{{figure}}.{{extension}}", figure=STUDY.figures, extension=["pdf", "svg", "png"]
)


def drawn_from(wildcards):
    kind, criterion, model = STUDY.figures[wildcards.figure]
    if kind == "word-map":
        of_model = [e for e in STUDY.evaluations.values() if (e.criterion, e.model) == (criterion, model)]
        return [str(STUDY.evaluation_file(e)) for e in of_model]
    if kind in ("before-after", "trade-off", "hidden-bias"):
        return [f"{RESULTS}/mitigation.csv"]
    return [f"{RESULTS}/{name}.csv" for name in ("scores", "rankings", "correlations")]


def figure_code(wildcards):
    kind = STUDY.figures[wildcards.figure][0]
    of_mitigation = kind in ("word-map", "before-after", "trade-off", "hidden-bias")
    return [source("figures.py")] + [source("mitigation_figures.py")] * of_mitigation


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
