"""Which printed numbers of the case study each model's file lets a run compare.

docs/numbers/case_study_files.csv has the counts, a paragraph of docs/replications.md the sums.

`make reference` writes them, from config/config.yaml and the published numbers that it names.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from biasgrid.core.docstrings import wrap
from biasgrid.study.study import Study
from biasgrid.tables import published as comparison
from biasgrid.tables.comparison import published_as
from biasgrid.tables.published.at_hand import LEAST

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "replications.md"
NUMBERS = ROOT / "docs" / "numbers" / "case_study_files.csv"
PARAGRAPH = re.compile(r"(?<=<!-- unlocked -->\n).*?(?=<!-- /unlocked -->)", re.DOTALL)
QUANTITIES = {"abs_avg": "scores", "rank": "ranks"}


def rows() -> list[tuple[str, ...]]:
    """Return the head of the table, a row for each file, and the sums."""
    study = Study.read(ROOT / "config" / "config.yaml", root=ROOT)
    numbers = comparison.read(ROOT / path for path in study.config.published)
    lines: list[tuple[str, ...]] = [("file", "mb", "printed_models", *QUANTITIES.values())]
    total = dict.fromkeys(QUANTITIES, 0)
    for key, model in study.config.models.items():
        printed = [name for (own, _), name in published_as(study).items() if own == key]
        of_file = numbers[numbers["model"].isin(printed)]
        counts = {quantity: int((of_file["quantity"] == quantity).sum()) for quantity in QUANTITIES}
        total = {quantity: total[quantity] + count for quantity, count in counts.items()}
        lines.append((model.label, str(model.download_mb), " ".join(printed), *map(str, counts.values())))
    megabytes = sum(model.download_mb for model in study.config.models.values())
    return [*lines, ("all", str(megabytes), "", *map(str, total.values()))]


def paragraph() -> str:
    """Return the sentences about all files."""
    study = Study.read(ROOT / "config" / "config.yaml", root=ROOT)
    numbers = comparison.read(ROOT / path for path in study.config.published)
    count = numbers["quantity"].value_counts()
    models = len(set(numbers["model"]) - {""})
    return wrap(
        "[Each file](numbers/case_study_files.csv) lets a run compare its models' scores, "
        f"{count['abs_avg']} in all. The {count['rank']} ranks need {LEAST} printed models or more, and are compared "
        f"among these. The other {count['correlation']} of the {len(numbers)} printed numbers are correlations of "
        f"ranks over the same models; they are compared as printed with all {models}.",
        120,
    )


def written() -> dict[Path, str]:
    """Return the page and the file of numbers, and their content."""
    text = PAGE.read_text(encoding="utf-8")
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows(rows())
    return {PAGE: PARAGRAPH.sub(lambda _: f"\n{paragraph()}\n\n", text), NUMBERS: table.getvalue()}


if __name__ == "__main__":
    for path, content in written().items():
        path.write_text(content, encoding="utf-8")
