# source -> archive (raw/<model>/) -> store (<model>/). Both in this process: pip and npm are processes of their
# own, and the conversion spends its time outside the interpreter's lock.
import json

# raise it when a change of the readers changes stores: every model is converted anew
STORE_VERSION = 1


def model_spec(model, *names):
    return json.dumps({name: STUDY.models[model].get(name) for name in names}, sort_keys=True)


def local_file(wildcards):
    """A file that the user put in place: when it changes, so does the model. Missing, it is fetch's to say so."""
    source = STUDY.models[wildcards.model]["source"]
    return [source["path"]] if source["type"] == "file" and Path(source["path"]).is_file() else []


rule archive:
    input:
        local_file,
    output:
        f"{EMBEDDINGS}/raw/{{model}}/manifest.json",
    params:
        source=lambda w: model_spec(w.model, "source"),
    run:
        from biasgrid.embeddings.sources import fetch

        step(f"download {wildcards.model}", fetch, wildcards.model, STUDY.models[wildcards.model]["source"],
             Path(EMBEDDINGS) / "raw")


rule store:
    input:
        f"{EMBEDDINGS}/raw/{{model}}/manifest.json",
    output:
        f"{EMBEDDINGS}/{{model}}/vectors.npy",
        f"{EMBEDDINGS}/{{model}}/vocabulary.sqlite",
        f"{EMBEDDINGS}/{{model}}/model.json",
    params:
        spec=lambda w: model_spec(w.model, "source", "format", "vocab_prefix", "licence"),
        version=STORE_VERSION,
    run:
        from biasgrid.embeddings import build_store

        step(f"store {wildcards.model}", build_store, wildcards.model, STUDY.models[wildcards.model], EMBEDDINGS)
