"""Changes between two studies: as sentences, lines for a terminal, counts, records, and a page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from markupsafe import Markup

from .. import __version__
from ..core.numbers import interval, p_number, plain, typeset, typographic
from ..core.phrases import join_names, pluralize
from ..core.printable import without_hidden
from ..core.schema import as_finite
from ..debias import UNTOUCHED
from ..metrics import REGISTRY
from ..study.results.finished_study import FinishedStudy
from .compare import ABSENT, LAST_DIGITS, LOST_VALUE, NEW_VALUE, UNCERTAINTY, Frames, differs
from .moves import Move, Scale, draw
from .names import Names
from .render import first_words, mark_misspellings, templates

# Rows of a table on the page, so that it stays below 4 MB; the command's --json has all rows.
MOST = 2000
# Largest number of characters of a value of a config.
LONGEST = 110
# Number of entries of a list that are shown.
SHOWN = 12
STYLES = ("report", "sections", "compare")
# Number of names in a sentence.
NAMED = 4
# Number of rows of a part on a terminal.
LINES = 5
# Number of rows of a picture.
DRAWN = 30
NOTHING_IN_COMMON = "The two studies have no score in common: there is nothing to compare"
# Frames of conclusions -> their subject.
CONCLUSIONS = {
    "least_biased": "on the least biased model",
    "pairs": "on pairs of models",
    "aggregates": "on average scores",
    "evidence": "on scores",
    "verdicts": "on published numbers",
}
SIGNIFICANCE = {
    "all": "significant in every test",
    "permutation": "significant in the permutation test only",
    "groups": "significant in the baseline test only",
    "none": "not significant",
    "out_of_reach": "cannot reach significance",
    "untested": "not tested",
}


class Part(NamedTuple):
    """Frame that is shown if it has rows; a column of both studies is shown as "A → B".

    `columns`: the columns that are shown; "" means all. `text`: how to read it. For a list of changes, `name` has the
    columns that name a row, and `value` the column that changed.
    """

    frame: str
    title: str
    columns: str
    text: str = ""
    name: str = ""
    value: str = ""


PLACE = "metric criterion"
PUBLISHED = f"model quantity verdict ours published {PLACE} source"
ORDER = "A rank changed if the models that both studies rank are in a different order."
SHIFTS = "The order of the models is the same: other models are ranked next to them, or ties differ."
BY_INTERVAL = (
    "Scores that only one study could compute come first, then the largest changes. A change of 1 reaches the end "
    "of the score's confidence interval in A. A larger change lies outside it."
)
CHANGED = f"query value difference share kind status model {PLACE} interval"
SECTIONS = {
    "Conclusions": (
        Part(
            "least_biased",
            "Least biased model",
            "metric first decided criterion",
            name="metric criterion",
            value="winner",
        ),
        Part(
            "pairs",
            "Significant differences between two models",
            f"pair less_biased p_adjusted {PLACE}",
            name=f"{PLACE} pair",
            value="less_biased",
        ),
        Part(
            "aggregates",
            "Significance of average scores",
            f"model evidence {PLACE} aggregation",
            name=f"{PLACE} model",
            value="evidence",
        ),
        Part(
            "evidence",
            "Significance of scores",
            f"query evidence model {PLACE}",
            name="metric model query",
            value="evidence",
        ),
        Part("verdicts", "Published numbers", PUBLISHED, name="model quantity", value="verdict"),
    ),
    "Ranks": (
        Part("ranks", "Ranks", f"model rank among value {PLACE}", ORDER, f"{PLACE} model", "rank"),
        Part("rank_shifts", "Ranks in the same order", f"model rank {PLACE}", SHIFTS),
    ),
    "Scores": (
        Part("scores", "Changed scores", CHANGED, BY_INTERVAL, "metric model query", "value"),
        Part("metrics", "Changed scores by metric", ""),
        Part("uncertainty", "Same score, different uncertainty", f"query model {PLACE} value"),
    ),
    "Only in one study": (
        Part("only_in_one", "Names", "what a b", name="what", value="a_b"),
        Part("lone_scores", "Scores", f"{PLACE} side scores"),
    ),
    "Inputs": (
        Part(
            "config",
            "Config",
            "key a b",
            text="Default values are filled in. Of a list, only entries that the other study lacks are shown.",
            name="key",
            value="a_b",
        ),
        Part("words", "Words of queries", "query set gone came", name="query set", value="gone_came"),
        Part(
            "vectors",
            "Vectors",
            "model file",
            text="These files have different checksums.",
            name="model file",
        ),
        Part(
            "versions",
            "Versions of libraries",
            "library a b",
            text="These versions computed the scores.",
            name="library",
            value="a_b",
        ),
    ),
}
# Headings that differ from the column's name.
HEADINGS = {
    "first": "first model",
    "decided": "clear winner",
    "less_biased": "significant difference",
    "pair": "models",
    "evidence": "significance",
    "verdict": "result of the check",
    "ours": "this study",
    "p_adjusted": "adjusted p",
    "among": "rank among models of both",
    "share": "change relative to A's interval",
    "kind": "what happened",
    "interval": "interval in A",
    "gone": "only in A",
    "came": "only in B",
    "words_lost": "missing words",
    "a": "A",
    "b": "B",
    "in_both": "scores in both",
    "rounding": "only rounding",
    "outside_interval": "outside A's interval",
    "values_gained": "newly computed",
    "values_lost": "no longer computed",
    "evidence_changed": "significance changed",
    "full_marks_gained": "newly significant in every test",
    "full_marks_lost": "no longer significant in every test",
    "same_but_other_uncertainty": "only uncertainty changed",
}
WINNER = {None: "not tested", True: "clear winner", False: "no clear winner"}
KINDS = {NEW_VALUE: "newly computed", LOST_VALUE: "no longer computed", LAST_DIGITS: "only rounding"}


def counts(frames: Frames) -> dict[str, Any]:
    """Count the changes, for scripts."""
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
    """Return all differences as JSON-compatible records."""
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
    """Return the changes in a few sentences: conclusions first."""
    return " ".join([f"{headline(frames)}.", *sentences(frames)])


def headline(frames: Frames) -> str:
    """Say in a line which conclusions changed; if none did, how many scores did."""
    in_both, number = _in_both(frames), {name: len(frame) for name, frame in frames.items()}
    if not in_both["scores"]:
        return NOTHING_IN_COMMON
    scores = pluralize(in_both["scores"], "score")
    if conclusions := [f"{number[name]:,} {text}" for name, text in CONCLUSIONS.items() if number[name]]:
        total = pluralize(sum(number[name] for name in CONCLUSIONS), "conclusion")
        return f"{total} changed: {join_names(conclusions)}"
    if any(number[name] for name in ("ranks", "rank_shifts", "scores", "uncertainty")):
        return f"No conclusion changed; {f'{n:,} of {scores}' if (n := number['scores']) else 'no score'} did"
    what = "No result" if _inputs(frames) or number["lone_scores"] else "Nothing"
    return f"{what} changed; {scores} compared"


def sentences(frames: Frames) -> list[str]:
    """Return sentences on the other changes."""
    in_both, number = _in_both(frames), {name: len(frame) for name, frame in frames.items()}
    if not in_both["scores"]:
        return []
    said = []
    if number["scores"] and any(number[name] for name in CONCLUSIONS):
        said.append(f"{number['scores']:,} of {pluralize(in_both['scores'], 'score')} changed.")
    if number["ranks"]:
        said.append(f"{number['ranks']:,} of {pluralize(in_both['rankings'], 'rank')} changed.")
    inputs = _inputs(frames)
    return [*said, *notes(frames), *([f"Different inputs: {'; '.join(inputs)}."] if inputs else [])]


def notes(frames: Frames) -> list[str]:
    """Return sentences on changes that no list of `changes` shows."""
    in_both, told = _in_both(frames), counts(frames)["scores"]
    if not in_both["scores"]:
        return []
    said = [
        f"{pluralize(told[key], 'score')} {'is' if told[key] == 1 else 'are'} {what}."
        for key, what in (
            ("full_marks_gained", "newly significant in every test"),
            ("full_marks_lost", "no longer significant in every test"),
        )
        if told[key]
    ]
    if told["rounding"]:
        said.append(f"{pluralize(told['rounding'], 'score')} changed only by rounding.")
    if told["same_but_other_uncertainty"]:
        scores = pluralize(told["same_but_other_uncertainty"], "score")
        said.append(f"{scores} changed only in p-values, interval or number of words.")
    if in_both["rankings"] and not in_both["least_biased"]:
        said.append("The least biased models are not compared: one study does not say which they are.")
    sides = [side for side in "ab" if told[f"only_in_{side}"]]
    if sides:
        alone = [f"{pluralize(told[f'only_in_{side}'], 'score')} in {side.upper()}" for side in sides]
        said.append(f"Only in one study: {join_names(alone)}.")
    for table, side, what in frames["lacking"].itertuples(index=False):
        if what == "evidence":
            said.append(
                f"Significance is not compared: {table}.csv of {side.upper()} has no column evidence."
            )
    return said


def _inputs(frames: Frames) -> list[str]:
    """Return the inputs that differ, by name."""
    names = {
        "config": ("config", frames["config"]["key"]),
        "words": ("word sets", frames["words"]["set"] + " of " + frames["words"]["query"]),
        "vectors": ("vectors", frames["vectors"]["model"]),
        "versions": ("versions of", frames["versions"]["library"]),
    }
    found = []
    for what, column in names.values():
        if unique := list(dict.fromkeys(column)):
            more = [f"{len(unique) - NAMED:,} more"] if len(unique) > NAMED else []
            found.append(f"{what} {join_names([*unique[:NAMED], *more])}")
    return found


def changes(frames: Frames, studies: Sequence[FinishedStudy]) -> dict[str, dict[str, list[str]]]:
    """Return the first changes of each part that has any, a text each: section -> title of the part -> changes."""
    names = _names(studies)
    found: dict[str, dict[str, list[str]]] = {}
    for section, parts in SECTIONS.items():
        for part in parts:
            rows = frames[part.frame]
            if not part.name or rows.empty:
                continue
            texts = []
            for row in rows[:LINES].to_dict("records"):
                name = ", ".join(_cell(row, column, names) for column in part.name.split())
                texts.append(f"{name}: {_change(row, part.value, names)}" if part.value else name)
            texts += [f"and {len(rows) - LINES:,} more"] if len(rows) > LINES else []
            found.setdefault(section, {})[part.title] = texts
    return found


def _change(row: Mapping[str, Any], value: str, names: Names) -> str:
    """Return the change in a row, as "A → B"."""
    if value == "winner":
        models = [_text(row[f"first_{side}"], "first", names) or "none" for side in "ab"]
        how = [WINNER[row[f"decided_{side}"]] for side in "ab"]
        if models[0] == models[1]:
            return f"{models[0]}, {how[0]} → {how[1]}"
        return " → ".join(f"{model}, {text}" for model, text in zip(models, how, strict=True))
    if value == "gone_came":
        words = [
            f"{what} {_entry(row[column])}"
            for column, what in (("gone", "without"), ("came", "with"))
            if row[column]
        ]
        return ", ".join(words) or _cell(row, "gone", names)
    if value == "a_b":
        return f"{_entry(row['a'])} → {_entry(row['b'])}"
    return _cell(row, value, names)


def _in_both(frames: Frames) -> dict[str, int]:
    return {name: int(n) for name, n in frames["in_both"].loc[0].items()}


def page(frames: Frames, studies: Sequence[FinishedStudy], paths: Sequence[str]) -> str:
    """Return the page as text; it is the same for the same files.

    Parameters
    ----------
    frames
        The changes.
    studies
        The two studies.
    paths
        The user's name of each.
    """
    names = _names(studies)
    environment = templates()
    shown = {
        title: [(part, *_table(part, frames[part.frame], names)) for part in parts if len(frames[part.frame])]
        for title, parts in SECTIONS.items()
    }
    context = {
        "titles": [study.name for study in studies],
        "paths": paths,
        "headline": headline(frames),
        "sentences": sentences(frames),
        "picture": Markup(draw(*_moves(frames, names))),
        "moved": min(len(frames["scores"]), DRAWN),
        "most": DRAWN,
        "changed": [(side, study.changed_files) for side, study in zip("AB", studies, strict=True)],
        "lacking": [(row.study, row.table) for row in frames["lacking"].itertuples() if row.what == "table"],
        "sections": {title: parts for title, parts in shown.items() if parts},
        "significance": SIGNIFICANCE,
        "version": __version__,
        "css": Markup("".join(environment.get_template(f"{name}.css").render() for name in STYLES)),
    }
    return without_hidden(mark_misspellings(environment.get_template("compare.html").render(context)))


def _names(studies: Sequence[FinishedStudy]) -> Names:
    first, second = studies
    return Names({**second.labels, **first.labels})


def _moves(frames: Frames, names: Names) -> tuple[list[Scale], list[Move]]:
    """Return the largest changes of scores that both studies have, and the scale of each metric."""
    rows = frames["scores"]
    rows = rows[rows["value_a"].notna() & rows["value_b"].notna() & (rows["kind"] != LAST_DIGITS)][:DRAWN]
    scales, moves = [], []
    for metric, part in rows.groupby("metric", sort=False):
        neutral = REGISTRY[metric].neutral if metric in REGISTRY else nan
        ends = np.append(part[["value_a", "value_b", "ci_low_a", "ci_high_a"]].to_numpy(), neutral)
        scales.append(
            Scale(names.label(str(metric)), float(np.nanmin(ends)), float(np.nanmax(ends)), neutral)
        )
        for row in part.to_dict("records"):
            label = f"{row['query']}, {_cell(row, 'model', names)}"
            moves.append(
                Move(
                    scales[-1].name, label, row["value_a"], row["value_b"], row["ci_low_a"], row["ci_high_a"]
                )
            )
    return scales, moves


def _table(part: Part, frame: pd.DataFrame, names: Names) -> tuple[list[str], list[list[str]], int]:
    """Return headings, texts of the first rows' cells, and the number of rows."""
    columns = part.columns.split() or list(frame)
    if part.frame == "uncertainty":
        columns += [name for name in UNCERTAINTY if differs(frame, name).any()]
    # Leave out columns without information.
    if part.frame == "scores":
        columns = [c for c in columns if not (c == "status" and not differs(frame, c).any())]
        columns = [c for c in columns if not (c == "kind" and not frame["kind"].any())]
    # Leave out counters that are all 0.
    if part.frame == "metrics":
        columns = [c for c in columns if c in ("metric", "in_both") or frame[c].any()]
    rows = [[_cell(row, column, names) for column in columns] for row in frame[:MOST].to_dict("records")]
    if part.frame == "metrics":
        rows = [["" if cell == "0" else cell for cell in row] for row in rows]
    return [HEADINGS.get(name, name.replace("_", " ")) for name in columns], rows, len(frame)


def _cell(row: Mapping[str, Any], column: str, names: Names) -> str:
    # A correlation has two metrics.
    if column == "metric":
        return " and ".join(map(names.label, row["metric"].split("~")))
    if column == "model":
        # Published numbers have the debias method in the model's key.
        model, _, method = row["model"].partition(" under ")
        return names.state(model, row.get("debias") or method or UNTOUCHED)
    if column == "pair":
        return " and ".join(names.state(row[f"model_{side}"], row[f"debias_{side}"]) for side in "ab")
    if column == "interval":
        return typographic(interval(row["ci_low_a"], row["ci_high_a"]))
    if column in ("gone", "came") and not (row["gone"] or row["came"]):
        return "the same words in another order"
    if column in row:
        return _text(row[column], column, names)
    if column == "less_biased":
        before, after = (_less_biased(row, row[f"{column}_{side}"], names) for side in "ab")
    else:
        none = "not computed" if column == "value" else "none"
        before, after = (_text(row[f"{column}_{side}"], column, names) or none for side in "ab")
    return before if before == after else f"{before} → {after}"


def _text(value: Any, column: str, names: Names) -> str:
    match column:
        case "evidence":
            return SIGNIFICANCE.get(value, value)
        case "kind":
            return KINDS.get(value, value)
        case "first":
            return " and ".join(map(names.label, value))
        case "decided":
            return {None: "not tested", True: "yes", False: "no"}[value]
        case "a" | "b" | "gone" | "came":
            return _entry(value)
    if isinstance(value, str):
        return value
    if column.startswith("p_"):
        return p_number(value)
    return typeset(value, form=plain) if float(value).is_integer() else typeset(value, 4)


def _less_biased(row: Mapping[str, Any], which: int, names: Names) -> str:
    """Return the less biased model of a pair."""
    if not which:
        return "none"
    side = "a" if which < 0 else "b"
    return f"{names.state(row[f'model_{side}'], row[f'debias_{side}'])} is less biased"


def _entry(value: Any) -> str:
    """Shorten a value of a config."""
    if value is ABSENT:
        return "absent"
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return first_words(value, SHOWN) or "none"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 20]} ... {text[-15:]}"
