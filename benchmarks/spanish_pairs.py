"""Make the sentences of the Spanish CrowS-Pairs a file that config/with_beto.yaml reads.

    python benchmarks/spanish_pairs.py es_en.csv data/sentences/spanish_pairs/pairs.csv

The author's file is in Latin-1. The columns of the new file are those of data/measured/maddalozzo_pairs.csv.
"""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

from biasgrid.core.errors import BiasgridError, unknown_name

# the author's columns -> ours
VERSIONS = {"": "original", "_par": "paraphrase", "_ran": "random"}
SIDES = {"sent_more": "stereotype", "sent_less": "antistereotype"}
COLUMNS = {
    f"{side}{end}": f"{version}_{name}" for end, version in VERSIONS.items() for side, name in SIDES.items()
}
BIAS_TYPE = "bias_type"


def convert(source: Path, made: Path) -> int:
    """Write the file of pairs, and return how many it has.

    Raises
    ------
    BiasgridError
        One line: the author's file cannot be read, or has other columns.
    """
    rows = _read(source)
    made.parent.mkdir(parents=True, exist_ok=True)
    with open(made, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(
            file, ["row", BIAS_TYPE, "paraphrased", *COLUMNS.values()], lineterminator="\n"
        )
        writer.writeheader()
        for number, row in enumerate(rows):
            texts = {ours: (row[theirs] or "").strip() for theirs, ours in COLUMNS.items()}
            paraphrased = "yes" if all(texts.values()) else "no"
            writer.writerow(
                {"row": number, BIAS_TYPE: row[BIAS_TYPE] or "", "paraphrased": paraphrased, **texts}
            )
    return len(rows)


def _read(source: Path) -> list[dict[str, str | None]]:
    try:
        content = source.read_bytes()
    except OSError as error:
        raise BiasgridError(f"{source}: cannot read it: {error}") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    reader = csv.DictReader(io.StringIO(text, newline=""))
    columns = reader.fieldnames or []
    for column in (*COLUMNS, BIAS_TYPE):
        if column not in columns:
            raise BiasgridError(f"{source}: {unknown_name('column', column, columns)}")
    return list(reader)


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(f"expected two files: {__doc__.splitlines()[2].strip()}", file=sys.stderr)
        return 2
    try:
        count = convert(*map(Path, arguments))
    except BiasgridError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{arguments[1]}: {count} pairs")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
