"""Reports of finished studies, comparisons of two, and checks of their files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.errors import BiasgridError, join_names
from .arguments import Commands, check_output
from .layout import paragraph, wants_table

# Limit the number of files that `verify` names.
MOST = 20
HELP = "a folder of results, such as results/embedded, or a study's config"


def report(args: argparse.Namespace) -> dict[str, Any]:
    """Write the HTML report of a finished study. The file is self-contained and shows the results and their
    uncertainty.

    biasgrid report results/embedded
    biasgrid report my-study.yaml --output my-study.html
    biasgrid report results/embedded --without eth_1 eth_2 --output without.html
    """
    from dataclasses import replace

    from ..report.existing import step_of
    from ..report.report_step import report_step
    from ..study.results.finished_study import find_study

    study = find_study(args.study)
    if args.without and (args.output is None or args.output.resolve() == study.paths.report_file.resolve()):
        raise BiasgridError(
            f"--without: {study.paths.report_file} is the report of all queries; give a different --output"
        )
    step, missing = step_of(study, args.without or ())
    step = replace(step, output=args.output or step.output)
    # Also check files that are in memory for this report.
    check_output(step.output, [Path(file) for file in (*step.files, *report_step(study).files)])
    if missing:
        files = join_names(f"{name}.csv" for name in missing)
        reason = next(iter(missing.values()))
        print(f"biasgrid: the report omits {files}: {reason:.300}", file=sys.stderr)
    left_out = [f"figure {kind}" for kind in study.plugins.figures]
    left_out += [f"table {table}" for table in study.plugins.tables]
    left_out += [f"section {section}" for section in study.plugins.sections]
    if left_out:
        print(
            f"biasgrid: plugins are not loaded, so these are not updated: {join_names(left_out)}",
            file=sys.stderr,
        )
    record = {"report": str(step.output), "bytes": step.run()}
    study.warn_of_changed_files()
    return record


def compare(args: argparse.Namespace) -> dict[str, Any] | str:
    """Compare two studies: which conclusions and scores changed. The two can also be versions of one study.

    biasgrid compare results/embedded results/embedded-1.0
    biasgrid compare results/embedded results/embedded-1.0 --json > changes.json
    """
    from ..core.files import write_text
    from ..report import compare_page
    from ..report.compare import compare, side_of
    from ..study.results.finished_study import find_study

    studies = [find_study(study) for study in args.studies]
    frames = compare(*map(side_of, studies))
    record: dict[str, Any] = {
        "summary": compare_page.summary(frames),
        "a": str(args.studies[0]),
        "b": str(args.studies[1]),
        **compare_page.counts(frames),
    }
    if args.json:
        record["changes"] = compare_page.records(frames)
    if args.output or not args.json:
        output = args.output or Path(f"compare-{'-'.join(study.name for study in studies)}.html")
        check_output(output, [study.paths.table_file(name) for study in studies for name in study.tables])
        text = compare_page.page(frames, studies, list(map(str, args.studies)))
        write_text(output, text)
        record |= {"page": str(output), "bytes": len(text.encode())}
    for study in studies:
        study.warn_of_changed_files()
    return _changes(frames, studies, str(record["page"])) if wants_table(args) else record


def _changes(frames: Any, studies: Sequence[Any], page: str) -> str:
    """Return what changed, as lines to read: the headline, then only parts with changes."""
    from ..report import compare_page

    lines = paragraph("", f"{compare_page.headline(frames)}.")
    for section, parts in compare_page.changes(frames, studies).items():
        lines += ["", section]
        for title, texts in parts.items():
            lines += [f"  {title}"] if [*parts] != [section] else []
            lines += [line for text in texts for line in paragraph("    ", text, 6)]
    notes = compare_page.notes(frames)
    lines += ["", *(line for note in notes for line in paragraph("", note))] if notes else []
    return "\n".join([*lines, "", f"page: {page}"])


def verify(args: argparse.Namespace) -> dict[str, Any]:
    """Check that the files of a study are as the run left them. This compares the result files, and the files that
    they were computed from, with the recorded checksums.

    biasgrid verify results/embedded
    """
    from ..study import checksums

    count, differences = checksums.differences(args.results)
    inputs = checksums.input_differences(args.results)
    gone = [f"{name}: {checksums.GONE}; it cannot be compared" for name in inputs.get(checksums.GONE, ())]
    changed = [f"{name}: {checksums.CHANGED}" for name in inputs.get(checksums.CHANGED, ())]
    others = differences.pop(checksums.NOT_RECORDED, [])
    damaged = [f"{args.results / name}: {how}" for how, names in differences.items() for name in names]
    remedy = "delete the files that differ and run the study again, which restores them"
    remedy_of_others = "the run did not make such files: a rule of your own did, or delete them"
    if checksums.is_published(args.results):
        remedy = "get the folder again from where it was published; do not use these files until then"
        remedy_of_others = "such files were not published with the folder: delete them"
    _say(gone, "")
    _say([f"{args.results / name}: {checksums.NOT_RECORDED}" for name in others], remedy_of_others)
    _say(changed, "run the study again: it updates the results that depend on them")
    _say(damaged, remedy)
    if changed or damaged or others:
        raise SystemExit(1)
    return {"results": str(args.results), "files": count, "verdict": "every file is as recorded"}


def _say(lines: Sequence[str], remedy: str) -> None:
    """Print at most `MOST` lines and their remedy on standard error."""
    rest = f"and {len(lines) - MOST:,} more" if len(lines) > MOST else ""
    last = "; ".join(filter(None, (rest, remedy))) if lines else ""
    for line in filter(None, (*lines[:MOST], last)):
        print(f"biasgrid: {line}", file=sys.stderr)


def add(commands: Commands) -> None:
    command = commands.add(
        report,
        output={"type": Path, "metavar": "FILE", "help": "default: report.html in the folder of results"},
        without={
            "nargs": "+",
            "metavar": "QUERY",
            "help": "leave out these queries, given by key or name: ranks, intervals and p-values are computed from "
            "the other queries, without measuring again. Needs --output",
        },
    )
    command.add_argument("study", type=Path, metavar="STUDY", help=HELP)
    command = commands.add(
        compare,
        output={
            "type": Path,
            "metavar": "FILE",
            "help": "file of the page; default: compare-<study>-<study>.html; with --json, no page is written",
        },
    )
    form = command.add_mutually_exclusive_group()
    form.add_argument(
        "--table", action="store_true", help="print the changes as text (default on a terminal)"
    )
    form.add_argument("--json", action="store_true", help="print every change as JSON")
    command.add_argument("studies", type=Path, nargs=2, metavar="STUDY", help=HELP)
    command = commands.add(verify)
    command.add_argument(
        "results", type=Path, metavar="RESULTS", help="a folder of results, such as results/embedded"
    )
