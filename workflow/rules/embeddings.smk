# source -> archive (raw/<model>/) -> store (<model>/). Both in this process: pip and npm are processes of their
# own, and the conversion spends its time outside the interpreter's lock. Training does not: it has its own process.


rule archive:
    input:
        local_file,
    output:
        manifest_file(),
    log:
        f"{LOGS}/archive/{{name}}.txt",
    params:
        source=lambda w: source_spec(w.name, "source"),
    run:
        step(f"download {wildcards.name}", log[0], fetch_archive, wildcards.name)


# The store itself is no output of the rule: the engine would delete it before it makes it again, and another run may
# be reading it in the folder that both share. The rule's output is the record of what the study was computed on.
rule store:
    input:
        f"{EMBEDDINGS}/raw/{{model}}/manifest.json",
    output:
        f"{RESULTS}/models/{{model}}.json",
    log:
        f"{LOGS}/store/{{model}}.txt",
    wildcard_constraints:
        model=one_of(model for model in STUDY.models if model not in STUDY.trained),
    resources:
        mem_mb=lambda w, attempt: memory(w.model, 1, attempt),
        runtime=lambda w, attempt: 60 * attempt,
    params:
        spec=lambda w: source_spec(w.model, "source", "format", "vocab_prefix", "licence"),
        version=STORE_VERSION,
        # a store that was deleted, or replaced by another run, is looked at again
        remade=lambda w: remade(w.model),
    run:
        step(f"store {wildcards.model}", log[0], make_store, wildcards.model)


rule train:
    input:
        corpus_of,
    output:
        f"{RESULTS}/models/{{model}}.json",
    log:
        f"{LOGS}/train/{{model}}.txt",
    wildcard_constraints:
        model=one_of(STUDY.trained),
    resources:
        mem_mb=lambda w, attempt: 2000 * attempt,
        runtime=lambda w, attempt: 120 * attempt,
    params:
        spec=lambda w: source_spec(w.model, "source", "licence"),
        version=f"{STORE_VERSION} {trained_by()}",
        remade=lambda w: remade(w.model),
    run:
        step(f"training of {wildcards.model}", log[0], train_store, wildcards.model)
