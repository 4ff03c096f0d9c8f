"""The computed parts of the replication pages: blocks of docs/replications/*.md and their files in docs/numbers, from
the tables of a study, and the counts in docs/replications.md, from those of all studies.

    python docs/replications.py [--check] [STUDY ...]

Without --check the blocks and files are written; with it they are compared, and every line that differs is printed.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from itertools import zip_longest
from pathlib import Path

from replicated import BLOCKS, TABLES
from replicated.counts import counts
from replicated.results import Results, csv_text

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "replications"
NUMBERS = ROOT / "docs" / "numbers"
ALL = "all"  # the marker's study where a block is of all of them
STUDIES = ("embedded", *sorted({study for study, _ in BLOCKS}))
BLOCK = re.compile(
    r"(?s)(?P<start><!-- make replications-pages: (?P<study>\w+)\.(?P<name>\w+) -->\n)"
    r"(?P<text>.*?)(?P<end><!-- end -->)"
)


def rewrite(text: str, results: Path, studies: Collection[str]) -> str:
    """Return a page's text with the blocks of these studies computed from their tables.

    A block of all studies is computed where no study is left out.
    """

    def block(match: re.Match[str]) -> str:
        study = match["study"]
        if not set(STUDIES if study == ALL else [study]) <= set(studies):
            return match[0]
        if study == ALL:
            computed = counts(Results(results / name) for name in STUDIES)
        else:
            computed = BLOCKS[study, match["name"]](Results(results / study))
        return f"{match['start']}\n{computed}\n\n{match['end']}"

    return BLOCK.sub(block, text)


def differences(name: str, before: str, after: str) -> Iterator[str]:
    """Yield a line for each line of a page's blocks that the study does not give."""
    for old, new in zip(BLOCK.finditer(before), BLOCK.finditer(after), strict=True):
        first = before[: old.start("text")].count("\n") + 1
        yield from differing_lines(name, old["text"], new["text"], old["study"], first)


def differing_lines(name: str, before: str, after: str, study: str, first: int = 1) -> Iterator[str]:
    """Yield a line for each line of a text that the study does not give; `first` is the first one's number."""
    pairs = zip_longest(before.splitlines(), after.splitlines(), fillvalue="")
    for number, (there, computed) in enumerate(pairs, first):
        if there != computed:
            yield f"{name}:{number}: the page has {there!r}, results/{study} gives {computed!r}"


def main(
    arguments: list[str] | None = None,
    pages: Path = PAGES,
    results: Path = ROOT / "results",
    numbers: Path = NUMBERS,
) -> int:
    """Write or compare the pages; return the exit status: 1 if a page differs, 2 if a study is missing."""
    parser = argparse.ArgumentParser(description="write the computed parts of the replication pages")
    parser.add_argument("--check", action="store_true", help="compare them, and write nothing")
    parser.add_argument(
        "studies", nargs="*", metavar="STUDY", help=f"of {', '.join(STUDIES)}; all if none is named"
    )
    options = parser.parse_args(arguments)
    studies = options.studies or STUDIES
    for study in studies:
        if study not in STUDIES:
            near = get_close_matches(study, STUDIES, 1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(STUDIES)}"
            print(f"replications: no page shows a study '{study}'{hint}", file=sys.stderr)
            return 2
        if not (results / study / "study.json").is_file():
            target = "study" if study == "embedded" else study
            print(f"replications: {results / study} has no finished study: make {target}", file=sys.stderr)
            return 2
    found = []
    for page in sorted([*pages.glob("*.md"), *pages.parent.glob("replications.md")]):
        before = page.read_text(encoding="utf-8")
        after = rewrite(before, results, studies)
        if options.check:
            found += differences(page.name, before, after)
        elif after != before:
            page.write_text(after, encoding="utf-8")
    for (study, name), table in TABLES.items():
        if study not in studies:
            continue
        file = numbers / f"{name}.csv"
        before = file.read_text(encoding="utf-8") if file.is_file() else ""
        after = csv_text(*table(Results(results / study)))
        if options.check:
            found += differing_lines(file.name, before, after, study)
        elif after != before:
            file.write_text(after, encoding="utf-8")
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
