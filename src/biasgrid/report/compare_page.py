"""What changed between two studies: as sentences, as counts, as records, and as a page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

import pandas as pd
from markupsafe import Markup

from .. import __version__
from ..api.study import FinishedStudy
from ..debias import UNTOUCHED
from ..numbers import interval, p_number, plain, typeset, typographic
from ..printable import without_hidden
from ..schema import as_finite
from ..verdicts.evidence import MARKS, MEANINGS
from ..verdicts.text import join_names, pluralize
from .compare import ABSENT, UNCERTAINTY, Frames, differs
from .marks import mark_of
from .names import Names
from .step import first_words, mark_misspellings, templates

MOST = 2000  # rows of a table on the page, so that it stays below 4 MB; the command's --json has all
LONGEST = 110  # characters of a value of a config
SHOWN = 12  # entries of a list
STYLES = ("report", "sections", "compare")
# frame -> a difference of it, and several
INPUTS = {
    "config": ("key of the config", "keys of the config"),
    "words": ("set of words", "sets of words"),
    "vectors": ("file of vectors", "files of vectors"),
    "versions": ("library's version", "libraries' versions"),
}
# table -> a row of it, and several
TABLES = {
    "least_biased": ("verdict on the least biased model", "verdicts on the least biased model"),
    "pairs": ("pair of models", "pairs of models"),
    "aggregates": ("aggregate", "aggregates"),
    "comparison": ("verdict on a published number", "verdicts on published numbers"),
    "rankings": ("rank", "ranks"),
    "scores": ("score", "scores"),
}


class Part(NamedTuple):
    """A frame on the page; a column of both studies is shown as "A → B". `columns`: those shown; "" is all. `table`:
    what its rows are of, one of `TABLES`. `what`: in what they differ. `text`: how to read it."""

    frame: str
    title: str
    columns: str
    table: str = ""
    what: str = ""
    text: str = ""


PLACE = "metric criterion"
PUBLISHED = f"model quantity verdict ours published {PLACE} source"
EVIDENCE, UNCERTAIN = "in their evidence", "in their p-values, interval or words alone"
ORDER = "A rank changed if a model's place among the models that both studies rank is another."
SHIFTS = "Other models are ranked beside those of both studies, or ties are ranked otherwise."
BY_INTERVAL = (
    "First those that gained or lost their value, then the largest changes: 1 is as large as the distance to the end "
    "of the score's interval in A, and more is outside of it. Scores without an interval come last."
)
CHANGED = f"query value difference share kind status model {PLACE} interval"
SECTIONS = {
    "Verdicts": (
        Part("least_biased", "The least biased model", "metric first decided criterion", "least_biased"),
        Part("pairs", "Decided pairs", f"pair less_biased p_adjusted {PLACE}", "pairs", "in their decision"),
        Part(
            "aggregates",
            "Evidence of aggregates",
            f"model evidence {PLACE} aggregation",
            "aggregates",
            EVIDENCE,
        ),
        Part("evidence", "Evidence of scores", f"query evidence model {PLACE}", "scores", EVIDENCE),
        Part("verdicts", "Published numbers", PUBLISHED, "comparison"),
    ),
    "Rankings": (
        Part("ranks", "Ranks", f"model rank among value {PLACE}", "rankings", "", ORDER),
        Part(
            "rank_shifts",
            "Ranks in the same order",
            f"model rank {PLACE}",
            "rankings",
            "in the same order",
            SHIFTS,
        ),
    ),
    "Scores": (
        Part("metrics", "How many scores changed", ""),
        Part("scores", "Changed scores", CHANGED, "scores", "in their value or status", BY_INTERVAL),
        Part(
            "uncertainty", "Same value, other uncertainty", f"query model {PLACE} value", "scores", UNCERTAIN
        ),
    ),
    "In one study alone": (
        Part("only_in_one", "Names", "what a b"),
        Part("lone_scores", "Scores", f"{PLACE} side scores"),
    ),
    "What went in": (
        Part("config", "Config", "key a b", text="Of lists, what the other lacks. Defaults are filled in."),
        Part("words", "Words of queries", "query set gone came"),
        Part("vectors", "Vectors", "model file", text="Files that have another checksum."),
        Part("versions", "Versions", "library a b", text="Of what measured the scores."),
    ),
}
# where it is not the column's name
HEADINGS = {
    "first": "least biased",
    "p_adjusted": "adjusted p",
    "among": "among models of both",
    "share": "change by interval",
    "kind": "what happened",
    "interval": "interval in A",
    "gone": "in A alone",
    "came": "in B alone",
    "a": "A",
    "b": "B",
}


def counts(frames: Frames) -> dict[str, Any]:
    """How much changed, for scripts."""
    in_both = _in_both(frames)
    changed = frames["metrics"].drop(columns=["metric", "in_both"]).sum().map(int).to_dict()
    alone = frames["lone_scores"].groupby("side")["scores"].sum()
    kinds = frames["pairs"]["change"].value_counts()
    return {
        "scores": {"in_both": in_both["scores"], "same": in_both["scores"] - changed["changed"]}
        | changed
        | {f"only_in_{side}": int(alone.get(side, 0)) for side in "ab"},
        "aggregates": {"in_both": in_both["aggregates"], "evidence_changed": len(frames["aggregates"])},
        "ranks": {"in_both": in_both["rankings"], "changed": len(frames["ranks"])},
        "pairs": {"in_both": in_both["pairs"]}
        | {kind: int(kinds.get(kind, 0)) for kind in ("gained", "lost", "reversed")},
        "least_biased_changed": len(frames["least_biased"]),
        "verdicts": {"in_both": in_both["comparison"], "changed": len(frames["verdicts"])},
        "config_keys_changed": len(frames["config"]),
        "word_sets_changed": len(frames["words"]),
        "models_with_other_vectors": list(frames["vectors"]["model"].unique()),
    }


def records(frames: Frames) -> dict[str, list[dict[str, Any]]]:
    """Everything that differs, as JSON has it."""
    return {
        name: [
            {
                key: "Infinity" if value == inf else as_finite(value)
                for key, value in row.items()
                if value is not ABSENT
            }
            for row in frame.to_dict("records")
        ]
        for name, frame in frames.items()
        if name not in ("in_both", "metrics")
    }


def summary(frames: Frames) -> str:
    """What changed, in a few sentences: verdicts first."""
    in_both, number = _in_both(frames), {name: len(frame) for name, frame in frames.items()}
    if not in_both["scores"]:
        return "The two studies have no score in common: there is nothing to compare."
    totals = {name: pluralize(in_both[name], *nouns) for name, nouns in TABLES.items() if in_both[name]}
    parts = [part for section in SECTIONS.values() for part in section if part.table and number[part.frame]]
    changes = [f"{number[part.frame]:,} of {totals[part.table]} {part.what}".rstrip() for part in parts]
    same = [total for name, total in totals.items() if name not in [part.table for part in parts]]
    inputs = [pluralize(number[name], *nouns) for name, nouns in INPUTS.items() if number[name]]
    if changes:
        sentences = [f"Changed: {join_names(changes)}."] + (
            [f"The same: {join_names(same)}."] if same else []
        )
    else:
        what = "No result" if inputs or number["lone_scores"] else "Nothing"
        sentences = [f"{what} changed: both have the same {join_names(same)}."]
    told = counts(frames)["scores"]
    if number["evidence"]:
        gained, lost = told["full_marks_gained"], told["full_marks_lost"]
        sentences.append(f"Full marks of scores: {gained:,} gained, {lost:,} lost.")
    if told["rounding"]:
        sentences.append(f"{pluralize(told['rounding'], 'score')} changed by rounding alone.")
    if in_both["rankings"] and not in_both["least_biased"]:
        sentences.append("The least biased models are not compared: one study does not say which they are.")
    if number["lone_scores"]:
        sentences.append(
            f"In one study alone: {pluralize(told['only_in_a'], 'score')} in A, {told['only_in_b']:,} in B."
        )
    if inputs:
        sentences.append(f"What went in differs: {join_names(inputs)}.")
    for table, side, what in frames["lacking"].itertuples(index=False):
        if what == "evidence":
            sentences.append(
                f"Evidence is not compared: {table}.csv of {side.upper()} has no column evidence."
            )
    return " ".join(sentences)


def _in_both(frames: Frames) -> dict[str, int]:
    return {name: int(n) for name, n in frames["in_both"].loc[0].items()}


def page(frames: Frames, studies: Sequence[FinishedStudy], paths: Sequence[str]) -> str:
    """The page, as text: the same for the same files.

    Parameters
    ----------
    frames
        What changed.
    studies
        The two.
    paths
        How the user names each.
    """
    first, second = studies
    names = Names({**second.labels, **first.labels}, {**second.models, **first.models})
    environment = templates()
    context = {
        "titles": [study.name for study in studies],
        "paths": paths,
        "summary": summary(frames),
        "changed": [(side, study.changed_files) for side, study in zip("AB", studies, strict=True)],
        "lacking": [(row.study, row.table) for row in frames["lacking"].itertuples() if row.what == "table"],
        "sections": {
            title: [(part, *_table(part, frames[part.frame], names)) for part in parts]
            for title, parts in SECTIONS.items()
        },
        "in_both": _in_both(frames),
        "MEANINGS": MEANINGS,
        "version": __version__,
        "css": Markup("".join(environment.get_template(f"{name}.css").render() for name in STYLES)),
    }
    return without_hidden(mark_misspellings(environment.get_template("compare.html").render(context)))


def _table(part: Part, frame: pd.DataFrame, names: Names) -> tuple[list[str], list[list[str]], int]:
    """Headings, what the cells of the first rows say, and how many rows there are."""
    columns = part.columns.split() or list(frame)
    if part.frame == "uncertainty":
        columns += [name for name in UNCERTAINTY if differs(frame, name).any()]
    rows = [[_cell(row, column, names) for column in columns] for row in frame[:MOST].to_dict("records")]
    return [HEADINGS.get(name, name.replace("_", " ")) for name in columns], rows, len(frame)


def _cell(row: Mapping[str, Any], column: str, names: Names) -> str:
    if column == "metric":  # of a correlation, two
        return " and ".join(map(names.label, row["metric"].split("~")))
    if column == "model":
        model, _, method = row["model"].partition(" under ")  # of published numbers
        return names.state(model, row.get("debias") or method or UNTOUCHED)
    if column == "pair":
        return " and ".join(names.state(row[f"model_{side}"], row[f"debias_{side}"]) for side in "ab")
    if column == "interval":
        return typographic(interval(row["ci_low_a"], row["ci_high_a"]))
    if column in ("gone", "came") and not (row["gone"] or row["came"]):
        return "the same words in another order"
    if column in row:
        return _text(row[column], column, names)
    before, after = (_text(row[f"{column}_{side}"], column, names) or "none" for side in "ab")
    return before if before == after else f"{before} → {after}"


def _text(value: Any, column: str, names: Names) -> str:
    match column:
        case "evidence":
            return f"{mark_of(value) if value in MARKS else ''} {value.replace('_', ' ')}".strip()
        case "first":
            return " and ".join(map(names.short, value))
        case "decided":
            return {None: "not tested", True: "yes", False: "no"}[value]
        case "less_biased":
            return {-1: "the first", 1: "the second", 0: "not decided"}[value]
        case "a" | "b" | "gone" | "came":
            return _entry(value)
    if isinstance(value, str):
        return value
    if column.startswith("p_"):
        return p_number(value)
    return typeset(value, form=plain) if float(value).is_integer() else typeset(value, 4)


def _entry(value: Any) -> str:
    """A value of a config, in short."""
    if value is ABSENT:
        return "not there"
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return first_words(value, SHOWN) or "none"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 20]} ... {text[-15:]}"
