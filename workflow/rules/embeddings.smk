# archive -> store (<model>/). In this process: the conversion spends its time outside the interpreter's lock. Training
# does not: it has its own process.
include: "archive.smk"


# The store itself is no output of the rule: the engine would delete it before it makes it again, and another run may
# be reading it in the folder that both share. The rule's output is the record of what the study was computed on.
rule store:
    input:
        lambda w: [f"{EMBEDDINGS}/raw/{name}/manifest.json" for name in stores.archives(STUDY, w.model)],
    output:
        f"{RESULTS}/models/{{model}}.json",
    log:
        f"{LOGS}/store/{{model}}.txt",
    wildcard_constraints:
        model=one_of(model for model in STUDY.models if model not in STUDY.trained_models),
    resources:
        mem_mb=lambda w, attempt: stores.memory(STUDY, w.model, 1, attempt),
        runtime=lambda w, attempt: 60 * attempt,
    params:
        spec=lambda w: stores.source_spec(STUDY, w.model, "source", "format", "vocab_prefix", "licence"),
        version=STORE_VERSION,
        # a store that was deleted, or replaced by another run, is looked at again
        remade=lambda w: stores.store_changes(STUDY, w.model),
    run:
        RUN.call(f"store {wildcards.model}", log[0], stores.make_store, STUDY, wildcards.model)


rule train:
    input:
        lambda w: [f"{EMBEDDINGS}/raw/{name}/manifest.json" for name in stores.archives(STUDY, w.model)],
    output:
        f"{RESULTS}/models/{{model}}.json",
    log:
        f"{LOGS}/train/{{model}}.txt",
    benchmark:
        f"{LOGS}/benchmark/train/{{model}}.tsv"
    wildcard_constraints:
        model=one_of(STUDY.trained_models),
    resources:
        mem_mb=lambda w, attempt: 2000 * attempt,
        runtime=lambda w, attempt: 120 * attempt,
    params:
        spec=lambda w: stores.source_spec(STUDY, w.model, "source", "licence"),
        version=lambda w: f"{STORE_VERSION} {maker_version(STUDY.models[w.model])}",
        remade=lambda w: stores.store_changes(STUDY, w.model),
    shell:
        "exec python -m biasgrid train --study $BIASGRID_STUDY --model {wildcards.model} >/dev/null 2>{log}"
