# Tables -> figures, as PDF, SVG and PNG. Each figure says in src/biasgrid/figures which files it reads. One job draws all
# figures, several at a time: a process that draws takes longer to start than most figures take. Those that read a table of
# evaluations are a second job, as in tables.smk.
ALL_FIGURES = [f"figure {name}" for name in STUDY.figures]
FIGURES = [name for name in ALL_FIGURES if name not in PLAN.evaluated]
EVALUATION_FIGURES = [name for name in ALL_FIGURES if name in PLAN.evaluated]


rule figures:
    input:
        files=PLAN.files_read(FIGURES),
    output:
        in_report(PLAN.files_made(FIGURES)),
    log:
        f"{LOGS}/figures.txt",
    threads: 4
    resources:
        mem_mb=lambda wildcards, threads, attempt: 500 * threads * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        depends_on=[PLAN[name].depends_on for name in FIGURES],
        steps=FIGURES,
    shell:
        f"{STEP} {{params.steps:q}} --jobs {{threads}} 2> {{log}}"


use rule figures as evaluation_figures with:
    input:
        files=PLAN.files_read(EVALUATION_FIGURES),
    output:
        in_report(PLAN.files_made(EVALUATION_FIGURES)),
    log:
        f"{LOGS}/evaluation_figures.txt",
    # they are few, and are drawn while the report is written
    threads: 1
    params:
        depends_on=[PLAN[name].depends_on for name in EVALUATION_FIGURES],
        steps=EVALUATION_FIGURES,


# The null distributions of a tested cell, as numbers and as a figure: of cells that a config lists, or on request.
NULL = "null {model}/{debias}/{metric}/{query}"
NULL_FIGURE = "figure null/{model}/{debias}/{metric}/{query}"


rule null_distribution:
    input:
        query=reads(NULL, "query"),
        model=reads(NULL, "model"),
        transform=reads(NULL, "transform"),
        pool=reads(NULL, "pool"),
    output:
        f"{RESULTS}/null/{{model}}/{{debias}}/{{metric}}/{{query}}.npz",
    log:
        f"{LOGS}/null/{{model}}/{{debias}}/{{metric}}/{{query}}.txt",
    params:
        depends_on=depends_on(NULL),
    shell:
        f"{STEP} 'null {{wildcards.model}}/{{wildcards.debias}}/{{wildcards.metric}}/{{wildcards.query}}' 2> {{log}}"


rule null_figure:
    input:
        null=f"{RESULTS}/null/{{model}}/{{debias}}/{{metric}}/{{query}}.npz",
    output:
        f"{RESULTS}/figures/null/{{model}}/{{debias}}/{{metric}}/{{query}}.pdf",
        report(
            f"{RESULTS}/figures/null/{{model}}/{{debias}}/{{metric}}/{{query}}.svg",
            category="Null distributions",
            labels={"model": "{model}", "debias": "{debias}", "metric": "{metric}", "query": "{query}"},
        ),
        f"{RESULTS}/figures/null/{{model}}/{{debias}}/{{metric}}/{{query}}.png",
    log:
        f"{LOGS}/figure/null/{{model}}/{{debias}}/{{metric}}/{{query}}.txt",
    params:
        depends_on=depends_on(NULL_FIGURE),
    shell:
        f"{STEP} 'figure null/{{wildcards.model}}/{{wildcards.debias}}/{{wildcards.metric}}/{{wildcards.query}}' 2> {{log}}"
