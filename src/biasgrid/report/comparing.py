"""Two studies compared: read from their folders; what changed as a sentence, as counts, as records, and as a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from math import isinf, isnan
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from .. import __version__, tables
from ..api.study import CONFIG, FinishedStudy
from ..config import load
from ..errors import BiasgridError
from ..schema import read
from ..statistics.aggregation import OVERALL
from .changes import ABSENT, COLUMNS, GAINED, LATER, LOST, LOST_VALUE, NEW_VALUE, Changes, Side
from .names import Names, counted, joined, number
from .step import templates

# rows of the page, so that it stays below 4 MB; the command's --json has all
MOST = {"scores": 5000, "uncertainty": 1500, "ranks": 1500, "pairs": 1500, "verdicts": 500, "others": 300}
LONGEST = 110  # characters of a value of a config
SHOWN = 12  # words of a set


def side_of(study: FinishedStudy) -> Side:
    """What is compared of a study, of the files that it has.

    Raises BiasgridError for a study without scores, and for a damaged table.
    """
    if not study.table_file("scores").is_file():
        raise BiasgridError(f"{study.folder}: not a finished study: it has no scores.csv; run it again")
    config = dict(study.config)
    # as the study names them: `finished` has them as paths from here
    raw = load.read(study.folder / CONFIG)
    config |= {key: raw[key] for key in ("published", "computed") if key in raw}
    config["criteria"] = {
        name: {**entry, "ratings": raw["criteria"][name]["ratings"]} if "ratings" in entry else entry
        for name, entry in config["criteria"].items()
    }
    vectors = {}
    for model in study.models:
        if (file := study.model_file(model)).is_file():
            vectors[model] = read(file, "a model's record").get("sha256", {})
    bootstrap = config["inference"].get("bootstrap") or {}
    return Side(
        {name: _texts(study, name) for name in COLUMNS if study.table_file(name).is_file()},
        config,
        study.queries,
        vectors,
        list(dict.fromkeys(key for name in config["criteria"] for key in study.metrics(name))),
        bootstrap.get("level", 0.95),
    )


def _texts(study: FinishedStudy, name: str) -> pd.DataFrame:
    """A table as text, if what is compared of it is whole. Older code may have made scores without some columns."""
    file, table = study.table_file(name), tables.REGISTRY[name]
    with file.open(encoding="utf-8", errors="replace") as lines:
        header = lines.readline().rstrip("\r\n").split(",")
    key, numbers, texts = COLUMNS[name]
    needed = {*key, *numbers, *texts} - (set(LATER) - set(header))
    replace(table, columns=tuple(column for column in table.columns if column.name in needed)).read(file)
    return pd.read_csv(file, keep_default_na=False, dtype="str", encoding="utf-8")


def counts(found: Changes) -> dict[str, Any]:
    """How much changed, for scripts."""
    kinds = found.scores["kind"].value_counts()
    return {
        "scores": {
            "in_both": found.both,
            "same": found.both - len(found.scores),
            "changed": len(found.scores),
            "only_in_a": found.only_a,
            "only_in_b": found.only_b,
            "rounding": int(kinds.get("rounding", 0)),
            "outside_interval": int((found.scores["share"] > 1).sum()),
            "values_gained": int(kinds.get(NEW_VALUE, 0)),
            "values_lost": int(kinds.get(LOST_VALUE, 0)),
            "significance_gained": int(found.by_metric["significance_gained"].sum()),
            "significance_lost": int(found.by_metric["significance_lost"].sum()),
            "same_but_other_uncertainty": len(found.uncertainty),
        },
        "ranks": {"in_both": found.ranked, "changed": len(found.ranks)},
        "pairs": {"in_both": found.paired} | _kinds(found.pairs["change"], ("gained", "lost", "reversed")),
        "least_biased_changed": len(found.leaders),
        "verdicts": {"in_both": found.judged, "changed": len(found.verdicts)},
        "config_keys_changed": len(found.config),
        "word_sets_changed": len(found.words),
        "models_with_other_vectors": [model for model, _ in found.vectors],
    }


def _kinds(column: pd.Series, kinds: Sequence[str]) -> dict[str, int]:
    return {kind: int((column == kind).sum()) for kind in kinds}


def summary(found: Changes) -> str:
    """What changed, in a few sentences."""
    if not found.both:
        return "The two studies have no score in common: there is nothing to compare."
    if not found.results:
        what = [counted(found.both, "score")]
        what += [counted(found.ranked, "rank")] if found.ranked else []
        what += [counted(found.paired, "pair of models", "pairs of models")] if found.paired else []
        what += [counted(found.judged, "verdict")] if found.judged else []
        same = f"both have the same {joined(what)}, to the last digit"
        if not (differs := _went_in(found)):
            return f"Nothing changed: {same}."
        return f"No result changed: {same}. What went in differs: {differs}."
    changed, same = len(found.scores), found.both - len(found.scores)
    sentences = [f"{counted(found.both, 'score')} {_are(found.both)} in both: "]
    if changed:
        sentences[0] += f"{same:,} the same to the last digit, {changed:,} changed"
        if tiny := int((found.scores["kind"] == "rounding").sum()):
            sentences[0] += f" ({'all' if tiny == changed else f'{tiny:,} of them'} in the last digits alone)"
    else:
        sentences[0] += "all the same to the last digit"
    if others := len(found.uncertainty):
        sentences.append(
            f"{counted(others, 'score')} {'has' if others == 1 else 'have'} the same value with another p-value or "
            "interval"
        )
    gained, lost = (int(found.by_metric[f"significance_{kind}"].sum()) for kind in (GAINED, LOST))
    if gained or lost:
        parts = [f"{gained:,} {_are(gained)} significant now"] if gained else []
        parts += [f"{lost:,} {_are(lost)} no longer significant"] if lost else []
        sentences.append(f"of all scores, {joined(parts)}")
    if found.ranked:
        models = len(found.ranks[["model", "debias"]].drop_duplicates())
        ranks = (
            f"{counted(models, 'model')} {'ranks' if models == 1 else 'rank'} otherwise"
            if models
            else "no rank changed"
        )
        places = len(found.leaders)
        leaders = (
            f"the least biased model changed, or whether it is decided, in {counted(places, 'case')}"
            if places
            else "the least biased models are the same"
        )
        sentences.append(f"{ranks}; {leaders}")
    if found.judged:
        verdicts = len(found.verdicts)
        sentences.append(f"{counted(verdicts, 'verdict') if verdicts else 'no verdict'} changed")
    return "".join(f"{sentence[0].upper()}{sentence[1:]}. " for sentence in sentences).rstrip()


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _went_in(found: Changes) -> str:
    parts = [
        (len(found.config), "key of the config", "keys of the config"),
        (len(found.words), "set of words", "sets of words"),
        (len(found.vectors), "model's vectors", "models' vectors"),
    ]
    parts = [counted(*part) for part in parts if part[0]]
    return joined(parts) if parts else ""


def records(found: Changes) -> dict[str, Any]:
    """Everything that changed, as JSON has it."""

    def rows(table: pd.DataFrame) -> list[dict[str, Any]]:
        return [{key: _plain(value) for key, value in row.items()} for row in table.to_dict("records")]

    return {
        "scores": rows(found.scores),
        "uncertainty": rows(found.uncertainty),
        "ranks": rows(found.ranks),
        "pairs": rows(found.pairs),
        "least_biased": found.leaders,
        "verdicts": rows(found.verdicts),
        "only_in_one": [{"what": what, "a": first, "b": second} for what, first, second in found.names],
        "config": [
            {"key": key} | {side: value for side, value in (("a", a), ("b", b)) if value is not ABSENT}
            for key, a, b in found.config
        ],
        "words": [
            {"query": query, "set": name, "gone": gone, "came": came}
            for query, name, gone, came in found.words
        ],
        "vectors": [{"model": model, "files": files} for model, files in found.vectors],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and (isnan(value) or isinf(value)):
        return None if isnan(value) else "Infinity"
    return value


def page(found: Changes, studies: Sequence[FinishedStudy], given: Sequence[str]) -> str:
    """The page, as text: the same for the same files.

    Parameters
    ----------
    found
        What changed.
    studies
        The two.
    given
        How the user names each.
    """
    first, second = studies
    names, environment = Names({**second.labels, **first.labels}), templates()
    metrics = found.by_metric.to_dict("records")
    context = {
        "titles": [study.name for study in studies],
        "given": list(given),
        "summary": summary(found),
        "found": found,
        "names": names,
        "most": MOST,
        "metrics": [
            {**row, "label": names.label(row["metric"])}
            for row in metrics
            if row["changed"] or row["uncertainty"]
        ],
        "unchanged": [
            names.label(row["metric"]) for row in metrics if not row["changed"] and not row["uncertainty"]
        ],
        "lone": _lone(found, names),
        "alone": found.alone.to_dict("records"),
        "went_in": _went_in(found),
        "config": [(key, _shown(a), _shown(b)) for key, a, b in found.config[: MOST["others"]]],
        "words": [(*row[:2], _some(row[2]), _some(row[3])) for row in found.words[: MOST["others"]]],
        "scores": _scores(found, names),
        "uncertainty": _uncertainty(found, names),
        "ranks": _ranks(found, names),
        "pairs": _pairs(found, names),
        "leaders": [
            {
                **row,
                "metric": names.label(row["metric"]),
                "before": joined(map(names.short, row["before"])) if row["before"] else "no model",
                "after": joined(map(names.short, row["after"])) if row["after"] else "no model",
            }
            for row in found.leaders
        ],
        "verdicts": _verdicts(found, names),
        "missing": [
            (name, studies["ab".index(side)].name, "AB"["ab".index(side)]) for name, side in found.missing
        ],
        "overall": OVERALL,
        "version": __version__,
        "css": Markup(
            "".join(environment.get_template(name).render() for name in ("report.css", "changes.css"))
        ),
    }
    return environment.get_template("changes.html").render(context)


def _scores(found: Changes, names: Names) -> list[dict[str, Any]]:
    return [
        {
            "criterion": row.criterion,
            "query": row.query,
            "metric": names.label(row.metric),
            "state": names.state(row.model, row.debias),
            "before": number(row.before, 4),
            "after": number(row.after, 4),
            "difference": signed(row.difference),
            "interval": "" if isnan(row.low) else f"{number(row.low)} to {number(row.high)}",
            "share": "" if isnan(row.share) else "∞" if isinf(row.share) else number(row.share, 2),
            "outside": row.share > 1,
            "kind": row.kind,
            "significance": row.significance,
            "status": "" if row.status_before == row.status_after else (row.status_before, row.status_after),
        }
        for row in found.scores[: MOST["scores"]].itertuples()
    ]


def _uncertainty(found: Changes, names: Names) -> list[dict[str, Any]]:
    rows = []
    for row in found.uncertainty[: MOST["uncertainty"]].to_dict("records"):
        parts = []
        for name, label in (
            ("p_value", "p"),
            ("p_adjusted", "adjusted p"),
            ("p_groups", "p of random groups"),
            ("p_groups_adjusted", "adjusted p of random groups"),
            ("p_bands", "p within bands of frequency"),
            ("p_controls", "p of control words"),
            ("words_used", "words used"),
            ("words_lost", "words lost"),
        ):
            parts += _change(label, row[f"{name}_a"], row[f"{name}_b"])
        ends = [(row[f"ci_low_{side}"], row[f"ci_high_{side}"]) for side in "ab"]
        if not _same(ends[0][0], ends[1][0]) or not _same(ends[0][1], ends[1][1]):
            before, after = (
                "none" if isnan(low) else f"{number(low)} to {number(high)}" for low, high in ends
            )
            parts.append(
                f"interval {before} → {after}" if before != after else "interval, in its last digits"
            )
        rows.append(
            {
                "criterion": row["criterion"],
                "query": row["query"],
                "metric": names.label(row["metric"]),
                "state": names.state(row["model"], row["debias"]),
                "value": number(row["value"], 4),
                "what": "; ".join(parts),
                "significance": row["significance"],
            }
        )
    return rows


def _same(a: float, b: float) -> bool:
    return a == b or (isnan(a) and isnan(b))


def _change(label: str, before: float, after: float) -> list[str]:
    if _same(before, after):
        return []
    texts = [number(value) or "none" for value in (before, after)]
    return [f"{label} {texts[0]} → {texts[1]}" if texts[0] != texts[1] else f"{label}, in its last digits"]


def _ranks(found: Changes, names: Names) -> list[dict[str, Any]]:
    return [
        {
            "criterion": row.criterion,
            "metric": names.label(row.metric),
            "state": names.state(row.model, row.debias),
            "before": number(row.rank_a),
            "after": number(row.rank_b),
            "among": (number(row.among_a), number(row.among_b)),
            "value_before": number(row.value_a, 4),
            "value_after": number(row.value_b, 4),
        }
        for row in found.ranks[: MOST["ranks"]].itertuples()
    ]


def _pairs(found: Changes, names: Names) -> list[dict[str, Any]]:
    rows = []
    for row in found.pairs[: MOST["pairs"]].itertuples():
        states = names.state(row.model_a, row.debias_a), names.state(row.model_b, row.debias_b)
        # -1: the first of the two is the less biased
        said = {-1: states[0], 1: states[1], 0: "not decided"}
        rows.append(
            {
                "criterion": row.criterion,
                "metric": names.label(row.metric),
                "states": states,
                "change": row.change,
                "before": said[row.before],
                "after": said[row.after],
                "p_before": number(row.p_before, 2),
                "p_after": number(row.p_after, 2),
            }
        )
    return rows


def _verdicts(found: Changes, names: Names) -> list[dict[str, Any]]:
    return [
        {
            "criterion": row.criterion,
            "metric": " and ".join(map(names.label, row.metric.split("~"))) if row.metric else "",
            "model": " under ".join(map(names.short, row.model.split(" under "))),
            "quantity": row.quantity,
            "source": f"{row.source}: {row.table}",
            "published": number(row.published_b, 6),
            "before": (row.verdict_a, number(row.ours_a, 4)),
            "after": (row.verdict_b, number(row.ours_b, 4)),
        }
        for row in found.verdicts[: MOST["verdicts"]].itertuples()
    ]


def _lone(found: Changes, names: Names) -> list[tuple[str, list[str], list[str]]]:
    labelled = ("metrics", "models", "debias methods")
    return [
        (what, *([names.label(key) for key in side] if what in labelled else side for side in sides))
        for what, *sides in found.names
    ]


def _shown(value: Any) -> str:
    """A value of a config, in short."""
    if value is ABSENT:
        return ""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 20]} ... {text[-15:]}"


def _some(words: Sequence[str]) -> str:
    rest = len(words) - SHOWN
    return ", ".join(words[:SHOWN]) + (f" and {rest:,} more" if rest > 0 else "")


def signed(value: float) -> str:
    """A difference, with its sign."""
    return f"+{number(value)}" if value > 0 else number(value)


def file_name(studies: Sequence[FinishedStudy]) -> str:
    """What the page of two studies is called."""
    return f"compare-{'-'.join(study.name for study in studies)}.html"
