"""Fails where a published number that was reproduced before no longer is.

    python benchmarks/reproduced.py results/embedded [results/case_study ...] [--write] [--issue issue.md]

data/published/reproduced.json lists, by study and model, the published numbers that a run has reproduced (ranks and
correlations, too, whose verdict is of the whole ranking or matrix). Those of the study that have another verdict now,
or are missing, are printed, and the exit status is 1. What is reproduced for the first time is printed; --write puts
it into the list. --issue writes the ranks and correlations beside the published ones, as the text of an issue.
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
    parser.add_argument("--issue", type=Path, help="a file for the text of an issue")
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
    if args.issue:
        args.issue.write_text("\n".join(map(issue_text, args.results)), encoding="utf-8")
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


def issue_text(results: Path) -> str:
    """Return the ranks and correlations of a study beside the published ones, as Markdown."""
    table = pd.read_csv(results / "comparison.csv", keep_default_na=False)
    table = table[table["quantity"].isin(["rank", "correlation", "correlation_kendall"])]
    counts = table["verdict"].value_counts()
    lines = [
        f"# {results.name}: {counts.get('reproduced', 0)} of {len(table)} published ranks and correlations hold",
        "",
        *(f"- {verdict}: {count}" for verdict, count in counts.items()),
        "",
        "| criterion | metric | model | quantity | published | ours | |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    columns = ["criterion", "metric", "model", "quantity", "published", "ours", "verdict"]
    lines += [f"| {' | '.join(map(str, row))} |" for row in table[columns].itertuples(index=False)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
