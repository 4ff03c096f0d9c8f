"""Lists the queries that published numbers are over, in published_queries.json beside the files of numbers.

    python benchmarks/published_queries.py config/embedded.yaml [overlay ...] [--write]

By criterion stand the queries that the study's files of numbers name, and all queries of the criterion where a number
is over several, each with the digest of its words: a study whose query has another one gets the verdict "other
queries". What is new or differs is printed; --write puts it into the files.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from biasgrid.core.configs import read_yaml
from biasgrid.core.resources import find_file
from biasgrid.study.study import Study
from biasgrid.tables import published as comparison
from biasgrid.tables.published.queries import FILE, read_queries


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("config", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    config = {}
    for path in args.config:
        config |= read_yaml(path)
    study = Study.of(config)
    for path in map(find_file, [*study.config.published, *study.config.computed]):
        listed, changed = read_queries(path), False
        for criterion, queries in published_queries(study, path).items():
            if listed.get(criterion) != queries:
                listed[criterion], changed = queries, True
                print(f"{path.with_name(FILE)}: {criterion}: {queries}")
        if args.write and changed:
            text = json.dumps(listed, indent=1, sort_keys=True, ensure_ascii=False)
            path.with_name(FILE).write_text(f"{text}\n", encoding="utf-8")


def published_queries(study: Study, path: Path) -> dict[str, dict[str, str]]:
    """Criterion -> query -> digest of its words, of the study's queries that a file has numbers of."""
    found: dict[str, dict[str, str]] = {}
    for row in comparison.read([path]).itertuples(index=False):
        criterion = study.config.criteria.get(row.criterion)
        queries = criterion.queries if criterion else ()
        for key in queries if not row.query else {row.query}.intersection(queries):
            if row.metric:  # a measure of an evaluation has none
                digest = comparison.words_digest(study.queries[key])
                found.setdefault(row.criterion, {})[key] = digest
    return found


if __name__ == "__main__":
    main()
