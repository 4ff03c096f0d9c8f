# source -> archive (raw/<model>/) -> store (<model>/). Both in this process: pip and npm are processes of their
# own, and the conversion spends its time outside the interpreter's lock.
# raise it when a change of the readers changes stores: every model is converted anew
STORE_VERSION = 1


rule archive:
    input:
        local_file,
    output:
        f"{EMBEDDINGS}/raw/{{name}}/manifest.json",
    log:
        f"{LOGS}/archive/{{name}}.txt",
    params:
        source=lambda w: source_spec(w.name, "source"),
    run:
        from biasgrid.embeddings.sources import fetch

        step(
            f"download {wildcards.name}",
            log[0],
            fetch,
            wildcards.name,
            STUDY.sources[wildcards.name]["source"],
            Path(EMBEDDINGS) / "raw",
        )


rule store:
    input:
        f"{EMBEDDINGS}/raw/{{model}}/manifest.json",
    output:
        f"{EMBEDDINGS}/{{model}}/vectors.npy",
        f"{EMBEDDINGS}/{{model}}/vocabulary.sqlite",
        f"{EMBEDDINGS}/{{model}}/model.json",
    log:
        f"{LOGS}/store/{{model}}.txt",
    params:
        spec=lambda w: source_spec(w.model, "source", "format", "vocab_prefix", "licence"),
        version=STORE_VERSION,
    run:
        from biasgrid.embeddings import build_store

        step(
            f"store {wildcards.model}",
            log[0],
            build_store,
            wildcards.model,
            STUDY.models[wildcards.model],
            EMBEDDINGS,
        )
