# Each figure as PDF, SVG and PNG, drawn in the run's workers: matplotlib is loaded once in each. Figures that need the
# same models and evaluations are one job.
FIGURES = expand(
    f"{RESULTS}/figures/{{figure}}.{{extension}}",
    figure=[*STUDY.figures, *(f"null/{cell}" for cell in STUDY.config.null_distributions)],
    extension=["pdf", "svg", "png"],
)


for batch in batches(STUDY, [steps.figure_step(STUDY, d) for d in STUDY.figures.values()], TABLES):

    rule:
        name:
            rule_of("figure", batch, batch.steps[0].output.stem)
        input:
            **roles_of(batch),
        output:
            [
                update(
                    report(
                        file,
                        caption=captions.file(workflow, captions.of_figure(step.spec["kind"])),
                        category="Figures",
                        labels={"figure": step.output.stem},
                    )
                    if file.endswith(".svg")
                    else file
                )
                for step in batch.steps
                for file in step.outputs
            ],
        log:
            batch.logs(LOGS),
        threads: engine.processors(workflow, len(batch.steps))
        resources:
            mem_mb=memory_of,
            runtime=minutes_of(len(batch.steps)),
        params:
            depends_on=batch.depends_on,
        run:
            RUN.make(workflow, BATCHES[rule])


# The null distributions of any cell that has a test, as numbers and as a figure; made where a config lists the cell,
# or where it is asked for by name.
rule null_distribution:
    input:
        unpack(inputs_of(null_step)),  # query, model, transform, pool
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
        unpack(inputs_of(null_figure_step)),
    output:
        f"{RESULTS}/figures/null/{{model}}/{{debias}}/{{metric}}/{{query}}.pdf",
        report(
            f"{RESULTS}/figures/null/{{model}}/{{debias}}/{{metric}}/{{query}}.svg",
            caption=captions.file(workflow, captions.of_figure("null")),
            category="Null distributions",
            labels={"model": "{model}", "debias": "{debias}", "metric": "{metric}", "query": "{query}"},
        ),
        f"{RESULTS}/figures/null/{{model}}/{{debias}}/{{metric}}/{{query}}.png",
    log:
        f"{LOGS}/figure/null/{{model}}/{{debias}}/{{metric}}/{{query}}.txt",
    params:
        depends_on=dependence_of(null_figure_step),
    run:
        RUN.perform(null_figure_step(wildcards), log[0], in_worker=True)
