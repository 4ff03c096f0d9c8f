# Word sets and config -> one file for each query, and files that say what the study is.


# What the study is: the config with all files that it includes.
rule study:
    output:
        f"{RESULTS}/study.json",
    log:
        f"{LOGS}/study.txt",
    params:
        digest=STUDY.digest,
    run:
        log_failure(log[0], write_text, output[0], STUDY.to_json())


# What plugins declare, for those who read the results without loading the plugins.
rule plugins:
    output:
        f"{RESULTS}/{plugins.FILE}",
    log:
        f"{LOGS}/plugins.txt",
    params:
        # a function: the text may have names in braces, which Snakemake would take for wildcards
        text=lambda wildcards: PLUGINS,
    run:
        log_failure(log[0], write_text, output[0], PLUGINS)


# Words of a query. They were read from the word sets with the config; their digest changes with a word of this query.
rule query:
    output:
        f"{RESULTS}/queries/{{query}}.json",
    log:
        f"{LOGS}/query/{{query}}.txt",
    params:
        depends_on=depends_on("query {query}"),
    run:
        make(PLAN, "query {query}".format(**wildcards), log[0], LOGS)
