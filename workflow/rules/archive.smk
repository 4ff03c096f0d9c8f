# source -> archive (raw/<model>/): what a study, a simulation or a benchmark fetches. In this process: pip and npm are
# processes of their own.
rule archive:
    input:
        # their content is a param: a file that was replaced may be older, and one that was touched has not changed
        lambda w: list(
            map(ancient if stores.is_read(STUDY, w.name) else str, stores.local_file(STUDY, w.name))
        ),
    output:
        # the engine deletes what it makes again, but not what another run may be reading
        update(f"{EMBEDDINGS}/raw/{{name}}/manifest.json"),
    log:
        f"{LOGS}/archive/{{name}}.txt",
    params:
        source=lambda w: stores.archive_spec(STUDY, w.name),
    run:
        RUN.call(f"download {wildcards.name}", log[0], stores.fetch_archive, STUDY, wildcards.name)
