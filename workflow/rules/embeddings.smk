# source -> archive -> store of a model. Archives (raw/<name>/) and stores (<model>/) are shared by studies, which may
# read them while this one runs. So they are not outputs, which Snakemake deletes before it makes them again: the outputs
# are records of what this study uses, with checksums. Of the code, only the versions of formats count.
# Vectors that were deleted are made again when a run starts (`drop_outdated_records`).


rule archive:
    input:
        # the user's own files; `depends_on` has their sizes and times, so an older file is a change, too
        files=lambda wildcards: stores.archive_step(STUDY, wildcards.source).files,
    output:
        f"{RESULTS}/sources/{{source}}.json",
    log:
        f"{LOGS}/archive/{{source}}.txt",
    params:
        depends_on=lambda wildcards: stores.archive_step(STUDY, wildcards.source).depends_on,
    shell:
        f"{STEP} 'archive {{wildcards.source}}' 2>&1 | tee {{log}} >&2"


rule store:
    input:
        archives=lambda wildcards: stores.store_step(STUDY, wildcards.model).files,
    output:
        f"{RESULTS}/models/{{model}}.json",
    log:
        f"{LOGS}/store/{{model}}.txt",
    wildcard_constraints:
        model=one_of(model for model in STUDY.models if model not in STUDY.trained_models),
    resources:
        mem_mb=lambda wildcards, attempt: stores.memory(STUDY, wildcards.model, 1, attempt),
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        depends_on=lambda wildcards: stores.store_step(STUDY, wildcards.model).depends_on,
    shell:
        f"{STEP} 'store {{wildcards.model}}' 2> {{log}}"


# a model that is trained here, or that encodes the study's words
use rule store as train with:
    benchmark:
        f"{LOGS}/benchmark/train/{{model}}.tsv"
    wildcard_constraints:
        model=one_of(STUDY.trained_models),
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
