# Each figure as PDF, SVG and PNG, in a process of its own: matplotlib's settings belong to a process.
FIGURES = expand(
    f"{RESULTS}/figures/{{figure}}.{{extension}}",
    figure=[*STUDY.figures, *(f"null/{cell}" for cell in STUDY.config["null_distributions"])],
    extension=["pdf", "svg", "png"],
)


rule figure:
    input:
        files=lambda w: drawn_from(drawing_of(w)),
        code=lambda w: drawn_by(drawing_of(w).kind),
    output:
        multiext(f"{RESULTS}/figures/{{figure}}", ".pdf", ".svg", ".png"),
    log:
        f"{LOGS}/figure/{{figure}}.txt",
    params:
        spec=lambda w: spec_of(drawing_of(w)),
    run:
        draw(drawing_of(wildcards), log[0])


# The null distributions of any cell that has a test, as numbers and as a figure; made where a config lists the cell,
# or for who asks by name.
rule null_distribution:
    input:
        query=f"{RESULTS}/queries/{{query}}.json",
        model=f"{RESULTS}/models/{{model}}.json",
        transform=transform_of,
        pool=f"{RESULTS}/pools/{{model}}.npz" if "random_groups" in INFERENCE else [],
        metric=metric_source,
        code=cell_code,
        inference=INFERENCE_SOURCES,
    output:
        f"{RESULTS}/null/{{model}}/{{debias}}/{{metric}}/{{query}}.npz",
    log:
        f"{LOGS}/null/{{model}}/{{debias}}/{{metric}}/{{query}}.txt",
    params:
        # without one, the step says so
        spec=lambda w: inference_of(w).spec if STUDY.inferences else "",
    run:
        cell = cell_of(wildcards).name
        step(
            f"null {cell}", log[0], command, "null", "--study", "-", "--cell", cell, given=STUDY.to_json()
        )


rule null_figure:
    input:
        files=rules.null_distribution.output,
        code=drawn_by("null"),
    output:
        multiext(f"{RESULTS}/figures/null/{{model}}/{{debias}}/{{metric}}/{{query}}", ".pdf", ".svg", ".png"),
    log:
        f"{LOGS}/figure/null/{{model}}/{{debias}}/{{metric}}/{{query}}.txt",
    params:
        spec=lambda w: spec_of(null_figure_of(w)),
    run:
        draw(null_figure_of(wildcards), log[0])
