# Query and model -> a cell: the scores of one metric on one query and one model, with or without a debias method.
from tempfile import gettempdir

HAS_LANGUAGE_MODELS = any(STUDY.kind(model).scores for model in STUDY.models)
CELL = "cell {model}/{debias}/{metric}/{query}"


# A language model -> its scores of the sentences that the metrics of a query ask for, which cells read. The step keeps
# the scores that it has: an edited query costs its new sentences alone.
rule sentence_scores:
    input:
        queries=reads("sentence scores {model}/{sentences}", "queries"),
        model=f"{RESULTS}/models/{{model}}.json",
    output:
        update(f"{RESULTS}/sentence_scores/{{model}}/{{sentences}}.json"),
    log:
        f"{LOGS}/sentence_scores/{{model}}/{{sentences}}.txt",
    benchmark:
        f"{LOGS}/benchmark/sentence_scores/{{model}}/{{sentences}}.tsv"
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        depends_on=depends_on("sentence scores {model}/{sentences}"),
    shell:
        f"{STEP} 'sentence scores {{wildcards.model}}/{{wildcards.sentences}}' 2> {{log}}"


# There are thousands of cells, and each takes milliseconds. So a cell is a thread of Snakemake's process (`run:` with
# force-use-threads in profiles/default), where a process of its own would take a second. It reads its words' rows alone.
rule cell:
    input:
        query=f"{RESULTS}/queries/{{query}}.json",
        # functions only in studies that need them: Snakemake takes its time over each of thousands of calls
        model=model_of if HAS_LANGUAGE_MODELS else f"{RESULTS}/models/{{model}}.json",
        transform=transform_of if STUDY.debias else [],
    output:
        f"{RESULTS}/cells/{{model}}/{{debias}}/{{metric}}/{{query}}.json",
    log:
        f"{LOGS}/cell/{{model}}/{{debias}}/{{metric}}/{{query}}.txt",
    # A cell takes none of `--cores`, so hundreds start together. Else Snakemake would choose jobs anew after each cell.
    threads: 0
    resources:
        # what Snakemake would else find out for each of thousands of cells
        tmpdir=gettempdir(),
    params:
        depends_on=depends_on(CELL),
    run:
        make(PLAN, CELL.format(**wildcards), log[0], LOGS)
