# A cell: one metric on one query on one model. A `run:` block in a thread of the engine costs a few milliseconds,
# where a process would cost a second (profiles/default: force-use-threads). It must not change process state.
from biasgrid import metrics


def cell_file(cell):
    return f"{RESULTS}/cells/{cell.name}.json"


def cell_of(wildcards):
    return STUDY.cells["{model}/{debias}/{metric}/{query}".format(**wildcards)]


CELL_SOURCES = [
    source(name)
    for name in (
        "geometry.py",
        "measure.py",
        "query.py",
        "words.py",
        "embeddings/store.py",
        "metrics/registry.py",
    )
]


def metric_source(wildcards):
    cell = cell_of(wildcards)
    return source(metrics.source_file(STUDY.metric(cell.criterion, cell.metric)))


rule cell:
    input:
        query=f"{RESULTS}/queries/{{query}}.json",
        model=f"{EMBEDDINGS}/{{model}}/model.json",
        metric=metric_source,
        code=CELL_SOURCES,
    output:
        f"{RESULTS}/cells/{{model}}/{{debias}}/{{metric}}/{{query}}.json",
    params:
        # one canonical text: Snakemake compares parameters as a set of values
        spec=lambda w: cell_of(w).spec,
    run:
        from biasgrid.grid import compute_cell

        cell = cell_of(wildcards)
        step(f"cell {cell.name}", compute_cell, cell, Path(input.query), Path(input.model).parent, Path(output[0]))
