# Each figure as PDF, SVG and PNG, in a process of its own: matplotlib's settings belong to a process.
FIGURES = expand(
    f"{RESULTS}/figures/{{figure}}.{{extension}}", figure=STUDY.figures, extension=["pdf", "svg", "png"]
)
FIGURES += expand(
    f"{RESULTS}/figures/null/{{cell}}.{{extension}}",
    cell=STUDY.config["null_distributions"],
    extension=["pdf", "svg", "png"],
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
        RUN.call(f"figure {wildcards.figure}", log[0], command, *arguments)


# The null distribution of any cell that has a test; made where a config lists the cell, or for who asks by name.
rule null_distribution:
    input:
        study=f"{RESULTS}/study.json",
        query=f"{RESULTS}/queries/{{query}}.json",
        model=f"{RESULTS}/models/{{model}}.json",
        transform=transform_of,
        pool=f"{RESULTS}/pools/{{model}}.npz" if "random_groups" in STUDY.config["inference"] else [],
        figure=[source("figures/grid.py"), source("figures/null.py")],
    output:
        multiext(f"{RESULTS}/figures/null/{{model}}/{{debias}}/{{metric}}/{{query}}", ".pdf", ".svg", ".png"),
    log:
        f"{LOGS}/null/{{model}}/{{debias}}/{{metric}}/{{query}}.txt",
    params:
        # without one, the step says so
        spec=lambda w: json.dumps(STUDY.inferences[cell_of(w).name].spec) if STUDY.inferences else "",
    run:
        RUN.call(f"null {cell_of(wildcards).name}", log[0], draw_null, cell_of(wildcards), input.study)
