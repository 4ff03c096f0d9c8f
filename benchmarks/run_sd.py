"""By how much one random run varies: measures the column `run_sd` of the numbers that a study is compared with.

    python benchmarks/run_sd.py config/wefe_documentation.yaml [--runs 2000] [--write]

A published number that is random has `runs`: of how many runs it is the mean. A run is one split of RNSB (the
split that scikit-learn's train_test_split makes of a random state, as in WEFE), or one random half of the words. Each
number of the study's own models is measured over so many runs on the study's vectors, which must have been fetched,
and printed with the column as it is; --write rewrites the column in the files. The value of a cell needs no column:
the cell has its standard deviation.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections import defaultdict
from dataclasses import asdict

import numpy as np

from biasgrid.core.configs import read_yaml
from biasgrid.debias import UNTOUCHED
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measure import measure
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.models.building import store_of
from biasgrid.models.words import WordOptions
from biasgrid.study.study import Study
from biasgrid.tables import published as comparison
from biasgrid.tables.comparison import published_as


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("config", nargs="+")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    config = {}
    for path in args.config:
        config |= read_yaml(path)
    study = Study.of(config)
    for path in [*study.config.published, *study.config.computed]:
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        changed = measured(study, rows, args.runs)
        if args.write and changed:
            with open(path, "w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, comparison.PUBLISHED, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)


def measured(study: Study, rows: list[dict[str, str]], runs: int) -> int:
    """Fill in `run_sd` of the rows that are of a cell of the study; returns how many."""
    of_cells = defaultdict(list)
    for row in rows:
        if row["runs"] and row["query"] and row["quantity"] != "value":
            for cell in study.grid.cells.values():
                printed_for = (cell.model, published_as(study).get((cell.model, cell.debias)))
                same = (cell.metric, cell.query) == (row["metric"], row["query"])
                if same and cell.debias == UNTOUCHED and row["model"] in printed_for:
                    of_cells[cell.name].append((cell, row))
    for pairs in of_cells.values():
        cell = pairs[0][0]
        quantities = [row["quantity"] for _, row in pairs]
        draws = np.array(list(drawn(study, cell, quantities, runs)))
        for (_, row), sd in zip(pairs, draws.std(axis=0, ddof=1), strict=True):
            if math.isnan(sd):
                continue
            print(f"{cell.name} {row['quantity']}: {sd:.4g} (column: {row['run_sd'] or 'empty'})")
            row["run_sd"] = f"{sd:.4g}"
    return sum(map(len, of_cells.values()))


def drawn(study: Study, cell, quantities: list[str], runs: int):
    """Each run's numbers."""
    model = store_of(study.embeddings, cell.model, study.models[cell.model]).open()
    query, metric = study.queries[cell.query], study.metric(cell.criterion, cell.metric)
    words = WordOptions(**study.word_options(cell.criterion, cell.metric, cell.model))
    params = dict(study.metrics(cell.criterion)[cell.metric].params or {})
    for run in range(runs):
        if set(quantities) <= set(comparison.HALVED):
            low, high = metric.range
            ((record,), _) = infer_query(
                MeasurementSpec(
                    metric, params, words, inference={"sensitivity": {"halves": 1}}, draw_seed=run
                ),
                query,
                model,
            )
            yield [record["halves"][comparison.HALVED[q]] / (high - low) for q in quantities]
            continue
        params |= {"n_iterations": 1, "random_state": run}
        (result,) = measure(MeasurementSpec(metric, params, words), query, model)
        if result.status != "ok":
            print(f"{cell.name}: {result.status}")
            yield [math.nan] * len(quantities)
            return
        yield [comparison.number_at(asdict(result), quantity) for quantity in quantities]


if __name__ == "__main__":
    main()
