# Model -> fitted debias method (a small transform, under which cells look words up) -> what it costs and hides.
# Processes of their own: some methods import torch, and evaluations hold a whole model in memory.
DEBIAS_SOURCES = [source(f"debias/{name}.py") for name in ("registry", "transform", "lookup", "training")]
DEBIAS_SOURCES += [source("geometry.py"), source("embeddings/store.py")]


def fit_of(wildcards):
    return STUDY.fits[wildcards.model, wildcards.debias]


def method_source(wildcards):
    return source(debias.source_file(debias.method(json.loads(fit_of(wildcards).spec)["method"])))


rule debias:
    input:
        # all that matters of the study is in the parameters
        study=ancient(f"{RESULTS}/study.json"),
        model=f"{EMBEDDINGS}/{{model}}/model.json",
        method=method_source,
        code=DEBIAS_SOURCES,
    output:
        f"{RESULTS}/debias/{{model}}/{{debias}}.npz",
    log:
        f"{LOGS}/debias/{{model}}/{{debias}}.txt",
    params:
        spec=lambda w: fit_of(w).spec,
    run:
        arguments = ("--study", input.study, "--model", wildcards.model, "--debias", wildcards.debias)
        step(f"debias {wildcards.model}/{wildcards.debias}", log[0], command, "fit", *arguments)


def evaluation_of(wildcards):
    return STUDY.evaluations[wildcards.evaluation]


rule evaluation:
    input:
        study=ancient(f"{RESULTS}/study.json"),
        model=lambda w: f"{EMBEDDINGS}/{evaluation_of(w).model}/model.json",
        transform=lambda w: transform_of(evaluation_of(w)),
        code=[source(f"evaluation/{path.name}") for path in sorted((SOURCES / "evaluation").glob("*.py"))],
    output:
        f"{RESULTS}/evaluation/{{evaluation}}.json",
    log:
        f"{LOGS}/evaluation/{{evaluation}}.txt",
    params:
        spec=lambda w: evaluation_of(w).spec,
    run:
        arguments = ("--study", input.study, "--evaluation", wildcards.evaluation)
        step(f"evaluation {wildcards.evaluation}", log[0], command, "evaluate", *arguments)
