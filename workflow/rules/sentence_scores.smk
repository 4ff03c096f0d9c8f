# Language model -> scores of the sentences that the metrics of a query ask it for, which the query's cells read. A process
# of its own: a network takes memory. The step reads its former output, and scores only what is not in it: an edited query
# costs its new sentences, and a new metric that asks nothing new costs none.


rule sentence_scores:
    input:
        unpack(inputs_of(sentence_scores_step)),  # queries, model
    output:
        update(f"{RESULTS}/sentence_scores/{{model}}/{{sentences}}.json"),
    log:
        f"{LOGS}/sentence_scores/{{model}}/{{sentences}}.txt",
    benchmark:
        f"{LOGS}/benchmark/sentence_scores/{{model}}/{{sentences}}.tsv"
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=lambda w, attempt: 120 * attempt,
    params:
        depends_on=dependence_of(sentence_scores_step),
    shell:
        "exec python -m biasgrid sentence-scores --study $BIASGRID_STUDY --model {wildcards.model} "
        "--sentences {wildcards.sentences} >/dev/null 2>{log}"
