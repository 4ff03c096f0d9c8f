"""The steps of a study, from cells to tables, each writing the file that the workflow declares."""

from __future__ import annotations

import json
from pathlib import Path

from . import metrics
from .embeddings.store import EmbeddingStore
from .files import write_text
from .measure import as_json, dumps, measure
from .query import Query
from .study import Cell, Study
from .words import WordOptions


def compute_cell(study: Study, cell: Cell) -> None:
    """Measure a cell and write its file: a pure function of query file, store and `cell.spec`, to the last byte."""
    spec = json.loads(cell.spec)
    results = measure(
        metrics.metric(spec["metric"]),
        Query.read(study.query_file(cell.query)),
        EmbeddingStore.open(Path(study.config["embeddings"]) / cell.model),
        spec["params"],
        WordOptions(**spec["words"]),
        spec["seed"],
    )
    record = {
        "criterion": cell.criterion,
        "query": cell.query,
        # the study's key; `function` is the registered metric behind it
        "metric": cell.metric,
        "model": cell.model,
        "debias": cell.debias,
        "function": spec["metric"],
        "params": spec["params"],
        "words": spec["words"],
        "seed": spec["seed"],
        "results": [as_json(result) for result in results],
    }
    write_text(study.cell_file(cell), dumps(record, separators=(",", ":")) + "\n")


def make_table(study: Study, name: str) -> int:
    """Write one of the study's tables from the cells or tables that it is made of; returns its number of rows."""
    # imported late: pandas is slow to import and cells need none of it
    from . import comparison, tables

    def table(of: str):
        return tables.read(study.results / f"{of}.csv")

    make = {
        "scores": lambda: tables.scores(map(study.cell_file, study.cells.values())),
        "aggregates": lambda: tables.aggregates(table("scores"), study.ranked),
        "rankings": lambda: tables.rankings(table("scores"), **study.ranking),
        "correlations": lambda: tables.correlations(table("rankings"), study.config["correlations"]),
        "comparison": lambda: comparison.of_study(
            study.results, study.config["published"], study.published_as
        ),
    }
    made = make[name]()
    tables.write(made, study.results / f"{name}.csv")
    return len(made)
