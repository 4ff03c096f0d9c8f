# Word sets and config -> one file per query, and one file that says what the study is.


rule study:
    output:
        f"{RESULTS}/study.json",
    log:
        f"{LOGS}/study.txt",
    params:
        digest=STUDY.digest,
    run:
        write_text(output[0], STUDY.to_json())


# What entries of plugins are, for those who read the results: they load no plugin.
rule plugins:
    output:
        PLUGINS_FILE,
    log:
        f"{LOGS}/plugins.txt",
    params:
        # a function: a sentence of a metric may have the names of sets in braces, which Snakemake would take for its own
        text=lambda wildcards: PLUGINS,
    run:
        write_text(output[0], PLUGINS)


# The words were read from the word sets when the workflow was; their digest is the query's only parameter, so that
# editing a word touches the queries that hold it and no other query of the same file.
rule query:
    output:
        f"{RESULTS}/queries/{{query}}.json",
    log:
        f"{LOGS}/query/{{query}}.txt",
    params:
        digest=lambda w: STUDY.query_digest(w.query),
    run:
        write_text(output[0], STUDY.queries[wildcards.query].to_json())
