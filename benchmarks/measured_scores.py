"""What a study reads of the scores that Maddalozzo measured: data/measured, made from the author's table.

    python benchmarks/measured_scores.py [folder]

data/measured/README.md has the rule.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

MEASURED = Path("data/measured")
VERSIONS = ("original", "paraphrase", "random")
SIDES = {"stereotype": "pll_stereotype", "anti-stereotype": "pll_antistereotype"}


def name(version: str, row: str, side: str) -> str:
    """What stands for a sentence."""
    return f"{version} {row}, {side}"


def main(folder: Path) -> None:
    with open(MEASURED / "maddalozzo_pll.csv", encoding="utf-8", newline="") as file:
        measured = list(csv.DictReader(file))
    rows: dict[str, str] = {}  # the number of each row, with its bias type
    versions: dict[str, set[str]] = {}
    scores = []
    for line in measured:
        rows[line["row"]] = line["bias_type"] or rows.get(line["row"], "")
        versions.setdefault(line["row"], set()).add(line["version"])
        for side, column in SIDES.items():
            (other,) = SIDES.keys() - {side}
            texts = [name(line["version"], line["row"], which) for which in (side, other)]
            scores.append([texts[0], texts[1] if line["measure"] == "cp" else "", line[column]])
    pairs = []
    for row, bias_type in rows.items():
        names = [
            name(version, row, side) if version in versions[row] else ""
            for version in VERSIONS
            for side in SIDES
        ]
        pairs.append([row, bias_type, "yes" if len(versions[row]) == len(VERSIONS) else "no", *names])
    columns = [f"{version}_{side}" for version in VERSIONS for side in ("stereotype", "antistereotype")]
    _write(folder / "maddalozzo_scores.csv", ["text", "beside", "score"], scores)
    _write(folder / "maddalozzo_pairs.csv", ["row", "bias_type", "paraphrased", *columns], pairs)


def _write(path: Path, columns: list[str], rows: list[list[str]]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else MEASURED)
