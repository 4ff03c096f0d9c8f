"""The table of docs/replications.md: which printed numbers of the case study each model's file lets a run compare.

`make reference` writes it, from config/config.yaml and the published numbers that it names.
"""

from __future__ import annotations

import re
from pathlib import Path

from biasgrid.study.study import Study
from biasgrid.tables import published as comparison
from biasgrid.tables.comparison import published_as
from biasgrid.tables.published.at_hand import LEAST

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "replications.md"
TABLE = re.compile(r"(?<=<!-- unlocked -->\n).*?(?=<!-- /unlocked -->)", re.DOTALL)
QUANTITIES = {"abs_avg": "scores", "rank": "ranks"}


def table() -> str:
    """Return the table, a row for each file, and the sentence below it."""
    study = Study.read(ROOT / "config" / "config.yaml", root=ROOT)
    numbers = comparison.read(ROOT / path for path in study.config.published)
    lines = ["", "| file | MB | printed models | scores | ranks |", "| --- | --- | --- | --- | --- |"]
    total = dict.fromkeys(QUANTITIES, 0)
    for key, model in study.config.models.items():
        printed = [name for (own, _), name in published_as(study).items() if own == key]
        of_file = numbers[numbers["model"].isin(printed)]
        counts = {quantity: int((of_file["quantity"] == quantity).sum()) for quantity in QUANTITIES}
        total = {quantity: total[quantity] + count for quantity, count in counts.items()}
        cells = [model.label, f"{model.download_mb:,}", ", ".join(printed), *map(str, counts.values())]
        lines.append(f"| {' | '.join(cells)} |")
    megabytes = sum(model.download_mb for model in study.config.models.values())
    models = len(set(numbers["model"]) - {""})
    lines.append(f"| all | {megabytes:,} | {models} | {total['abs_avg']} | {total['rank']} |")
    correlations = int((numbers["quantity"] == "correlation").sum())
    lines += [
        "",
        f"A score is compared as soon as its file is there. Ranks are compared from {LEAST} printed models on, among "
        f"these models. The other {correlations} of the {len(numbers)} printed numbers are",
        f"correlations of ranks, over the same models; they are compared as printed with all {models}.",
        "",
    ]
    return "\n".join(lines) + "\n"


def written() -> dict[Path, str]:
    """Return the page, and its content."""
    text = PAGE.read_text(encoding="utf-8")
    return {PAGE: TABLE.sub(lambda _: table(), text)}


if __name__ == "__main__":
    for path, content in written().items():
        path.write_text(content, encoding="utf-8")
