# Each figure as PDF, SVG and PNG, drawn in the run's workers: matplotlib is loaded once in each.
FIGURES = expand(
    f"{RESULTS}/figures/{{figure}}.{{extension}}",
    figure=[*STUDY.figures, *(f"null/{cell}" for cell in STUDY.config["null_distributions"])],
    extension=["pdf", "svg", "png"],
)


rule figure:
    input:
        files_of(figure_step),
    output:
        f"{RESULTS}/figures/{{figure}}.pdf",
        report(
            f"{RESULTS}/figures/{{figure}}.svg",
            caption="../report/figure.rst",
            category="Figures",
            labels={"figure": "{figure}"},
        ),
        f"{RESULTS}/figures/{{figure}}.png",
    log:
        f"{LOGS}/figure/{{figure}}.txt",
    params:
        depends_on=dependence_of(figure_step),
        caption=lambda w: captions.of_figure(STUDY.figures[w.figure].kind),
    run:
        RUN.perform(figure_step(wildcards), log[0], in_worker=True)


# The null distributions of any cell that has a test, as numbers and as a figure; made where a config lists the cell,
# or where it is asked for by name.
rule null_distribution:
    input:
        files_of(null_step),
    output:
        f"{RESULTS}/null/{{model}}/{{debias}}/{{metric}}/{{query}}.npz",
    log:
        f"{LOGS}/null/{{model}}/{{debias}}/{{metric}}/{{query}}.txt",
    params:
        depends_on=dependence_of(null_step),
    run:
        RUN.perform(null_step(wildcards), log[0], in_worker=True)


rule null_figure:
    input:
        files_of(null_figure_step),
    output:
        f"{RESULTS}/figures/null/{{model}}/{{debias}}/{{metric}}/{{query}}.pdf",
        report(
            f"{RESULTS}/figures/null/{{model}}/{{debias}}/{{metric}}/{{query}}.svg",
            caption="../report/figure.rst",
            category="Null distributions",
            labels={"model": "{model}", "debias": "{debias}", "metric": "{metric}", "query": "{query}"},
        ),
        f"{RESULTS}/figures/null/{{model}}/{{debias}}/{{metric}}/{{query}}.png",
    log:
        f"{LOGS}/figure/null/{{model}}/{{debias}}/{{metric}}/{{query}}.txt",
    params:
        depends_on=dependence_of(null_figure_step),
        caption=lambda w: captions.of_figure("null"),
    run:
        RUN.perform(null_figure_step(wildcards), log[0], in_worker=True)
