"""Fails where a published number that was reproduced before no longer is.

    python benchmarks/reproduced.py results/embedded [results/case_study ...] [--write]

data/published/reproduced.json lists, by study and model, the published numbers that a run has reproduced (ranks and
correlations, too, whose verdict is of the whole ranking or matrix). Those of the study that have another verdict now,
or are missing, are printed, and the exit status is 1. What is reproduced for the first time is printed; --write puts
it into the list.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import pandas as pd

LIST = Path(__file__).resolve().parents[1] / "data" / "published" / "reproduced.json"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    listed, lost_count = json.loads(LIST.read_text(encoding="utf-8")), 0
    for results in args.results:
        file = results / "comparison.csv"
        if not file.is_file():
            sys.exit(f"{file} is not there: run the study first")
        verdicts = verdicts_of(file)
        before = {(m, number) for m, numbers in listed.get(results.name, {}).items() for number in numbers}
        now = {place for place, verdict in verdicts.items() if verdict == "reproduced"}
        for model, number in sorted(before - now):
            print(
                f"{results.name}: no longer reproduced: {model}: {number}: {verdicts.get((model, number), 'missing')}"
            )
        for model, number in sorted(now - before):
            print(f"{results.name}: reproduced for the first time: {model}: {number}")
        lost_count += len(before - now)
        print(
            f"{results.name}: {len(before & now)} of {len(before)} published numbers are reproduced as before"
        )
        by_model: dict[str, list[str]] = {}
        for model, number in sorted(before | now):
            by_model.setdefault(model, []).append(number)
        listed[results.name] = by_model
    if args.write:
        LIST.write_text(f"{json.dumps(listed, indent=1, ensure_ascii=False)}\n", encoding="utf-8")
    return int(lost_count > 0)


def verdicts_of(file: Path) -> dict[tuple[str, str], str]:
    """Verdicts by model, and by criterion, metric and quantity in one."""
    table = pd.read_csv(file, keep_default_na=False)
    return {
        (row.model, f"{row.criterion}, {row.metric}, {row.quantity}"): row.verdict
        for row in table.itertuples()
    }


if __name__ == "__main__":
    sys.exit(main())
