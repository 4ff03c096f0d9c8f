"""Two studies compared: read from their folders; what changed as a sentence, as counts, as records, and as a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
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
from ..inference import significance
from ..numbers import interval, p_number, plain, typeset, typographic
from ..printable import without_hidden
from ..records import read_model
from ..statistics.aggregation import OVERALL
from ..tables.inputs import FACTS
from ..validation import to_record
from ..verdicts.evidence import MARKS, MEANINGS
from ..verdicts.text import join_names, pluralize
from .changes import ABSENT, COLUMNS, LATER, LOST_VALUE, NEW_VALUE, Changes, Side
from .names import Names
from .step import first_words, mark_misspellings, templates

# rows of the page, so that it stays below 4 MB; the command's --json has all
MOST = {"scores": 5000, "uncertainty": 1500, "ranks": 1500, "pairs": 1500, "verdicts": 500, "others": 300}
LONGEST = 110  # characters of a value of a config
SHOWN = 12  # words of a set
EVIDENCE = ("evidence_changed", "full_marks_gained", "full_marks_lost")  # of `Changes.by_metric`


def side_of(study: FinishedStudy) -> Side:
    """The tables, config, words and vectors of a study that are compared, from its files.

    Raises BiasgridError for a study without scores, and for a damaged table.
    """
    if not study.paths.table_file("scores").is_file():
        raise BiasgridError(f"{study.folder}: not a finished study: it has no scores.csv; run it again")
    config = to_record(study.config)
    # paths as the study's file has them; in `study.config` they are relative to the working directory
    raw = load.read(study.folder / CONFIG)
    config |= {key: raw[key] for key in ("published", "computed") if key in raw}
    config["criteria"] = {
        name: {**entry, "ratings": raw["criteria"][name]["ratings"]} if "ratings" in entry else entry
        for name, entry in config["criteria"].items()
    }
    vectors = {}
    for model in study.models:
        if (file := study.paths.model_file(model)).is_file():
            vectors[model] = read_model(file).get("sha256", {})
    return Side(
        {name: _texts(study, name) for name in COLUMNS if study.paths.table_file(name).is_file()},
        config,
        study.queries,
        vectors,
        list(dict.fromkeys(key for name in config["criteria"] for key in study.metrics(name))),
        FACTS["level"](study),
    )


def _texts(study: FinishedStudy, name: str) -> pd.DataFrame:
    """A table as text, once its compared columns are checked. Tables of older code may lack those of `LATER`."""
    file, table = study.paths.table_file(name), tables.REGISTRY[name]
    with file.open(encoding="utf-8", errors="replace") as lines:
        header = lines.readline().rstrip("\r\n").split(",")
    key, numbers, texts = COLUMNS[name]
    required_columns = {*key, *numbers, *texts} - (set(LATER) - set(header))
    replace(table, columns=tuple(column for column in table.columns if column.name in required_columns)).read(
        file
    )
    return pd.read_csv(file, keep_default_na=False, dtype="str", encoding="utf-8")


def counts(changes: Changes) -> dict[str, Any]:
    """How much changed, for scripts."""
    kinds = changes.scores["kind"].value_counts()
    return {
        "scores": {
            "in_both": changes.shared_scores,
            "same": changes.shared_scores - len(changes.scores),
            "changed": len(changes.scores),
            "only_in_a": changes.only_a,
            "only_in_b": changes.only_b,
            "rounding": int(kinds.get("rounding", 0)),
            "outside_interval": int((changes.scores["share"] > 1).sum()),
            "values_gained": int(kinds.get(NEW_VALUE, 0)),
            "values_lost": int(kinds.get(LOST_VALUE, 0)),
            **{name: int(changes.by_metric[name].sum()) for name in EVIDENCE},
            "same_but_other_uncertainty": len(changes.uncertainty),
        },
        "aggregates": {"in_both": changes.shared_aggregates, "evidence_changed": len(changes.aggregates)},
        "ranks": {"in_both": changes.shared_ranks, "changed": len(changes.ranks)},
        "pairs": {"in_both": changes.shared_pairs}
        | _kinds(changes.pairs["change"], ("gained", "lost", "reversed")),
        "least_biased_changed": len(changes.leaders),
        "verdicts": {"in_both": changes.shared_verdicts, "changed": len(changes.verdicts)},
        "config_keys_changed": len(changes.config),
        "word_sets_changed": len(changes.words),
        "models_with_other_vectors": [model for model, _ in changes.vectors],
    }


def _kinds(column: pd.Series, kinds: Sequence[str]) -> dict[str, int]:
    return {kind: int((column == kind).sum()) for kind in kinds}


def summary(changes: Changes) -> str:
    """What changed, in a few sentences."""
    files = [f"{name}.csv of {side.upper()}" for name, side in changes.no_evidence]
    if not files or not changes.shared_scores:
        return _sentences(changes)
    verb = "has" if len(files) == 1 else "have"
    return f"{_sentences(changes)} Evidence is not compared: {join_names(files)} {verb} no column evidence."


def _sentences(changes: Changes) -> str:
    if not changes.shared_scores:
        return "The two studies have no score in common: there is nothing to compare."
    if not changes.result_changes:
        shared_counts = [pluralize(changes.shared_scores, "score")]
        shared_counts += [pluralize(changes.shared_ranks, "rank")] if changes.shared_ranks else []
        shared_counts += (
            [pluralize(changes.shared_pairs, "pair of models", "pairs of models")]
            if changes.shared_pairs
            else []
        )
        shared_counts += [pluralize(changes.shared_verdicts, "verdict")] if changes.shared_verdicts else []
        statement = f"both have the same {join_names(shared_counts)}, to the last digit"
        if not (differs := _went_in(changes)):
            return f"Nothing changed: {statement}."
        return f"No result changed: {statement}. What went in differs: {differs}."
    n_changed, n_same = len(changes.scores), changes.shared_scores - len(changes.scores)
    sentences = [f"{pluralize(changes.shared_scores, 'score')} {_are(changes.shared_scores)} in both: "]
    if n_changed:
        sentences[0] += f"{n_same:,} the same to the last digit, {n_changed:,} changed"
        if tiny := int((changes.scores["kind"] == "rounding").sum()):
            sentences[0] += (
                f" ({'all' if tiny == n_changed else f'{tiny:,} of them'} in the last digits alone)"
            )
    else:
        sentences[0] += "all the same to the last digit"
    if n_uncertain := len(changes.uncertainty):
        sentences.append(
            f"{pluralize(n_uncertain, 'score')} {'has' if n_uncertain == 1 else 'have'} the same value with another "
            "p-value, interval or evidence"
        )
    n_evidence, n_gained, n_lost = (int(changes.by_metric[name].sum()) for name in EVIDENCE)
    if n_evidence:
        sentences.append(
            f"the evidence of {pluralize(n_evidence, 'score')} changed (full marks: {n_gained:,} gained, "
            f"{n_lost:,} lost)"
        )
    if n_aggregates := len(changes.aggregates):
        sentences.append(f"the evidence of {pluralize(n_aggregates, 'aggregate')} changed")
    if changes.shared_ranks:
        models = len(changes.ranks[["model", "debias"]].drop_duplicates())
        ranks = (
            f"{pluralize(models, 'model')} {'ranks' if models == 1 else 'rank'} otherwise"
            if models
            else "no rank changed"
        )
        places = len(changes.leaders)
        leaders = (
            f"the least biased model changed, or whether it is decided, in {pluralize(places, 'case')}"
            if places
            else "the least biased models are the same"
            if changes.shared_leaders
            else "the least biased models are not compared, as one study's tables do not say which they are"
        )
        sentences.append(f"{ranks}; {leaders}")
    if changes.shared_verdicts:
        verdicts = len(changes.verdicts)
        sentences.append(f"{pluralize(verdicts, 'verdict') if verdicts else 'no verdict'} changed")
    return "".join(f"{sentence[0].upper()}{sentence[1:]}. " for sentence in sentences).rstrip()


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _went_in(changes: Changes) -> str:
    parts = [
        (len(changes.config), "key of the config", "keys of the config"),
        (len(changes.words), "set of words", "sets of words"),
        (len(changes.vectors), "model's vectors", "models' vectors"),
    ]
    texts = [pluralize(*part) for part in parts if part[0]]
    return join_names(texts) if texts else ""


def records(changes: Changes) -> dict[str, Any]:
    """Everything that changed, as JSON has it."""

    def rows(table: pd.DataFrame) -> list[dict[str, Any]]:
        return [{key: _plain(value) for key, value in row.items()} for row in table.to_dict("records")]

    return {
        "scores": rows(changes.scores),
        "uncertainty": rows(changes.uncertainty),
        "aggregates": rows(changes.aggregates),
        "ranks": rows(changes.ranks),
        "pairs": rows(changes.pairs),
        "least_biased": changes.leaders,
        "verdicts": rows(changes.verdicts),
        "only_in_one": [{"what": kind, "a": first, "b": second} for kind, first, second in changes.names],
        "config": [
            {"key": key} | {side: value for side, value in (("a", a), ("b", b)) if value is not ABSENT}
            for key, a, b in changes.config
        ],
        "words": [
            {"query": query, "set": name, "gone": lost_words, "came": new_words}
            for query, name, lost_words, new_words in changes.words
        ],
        "vectors": [{"model": model, "files": files} for model, files in changes.vectors],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and (isnan(value) or isinf(value)):
        return None if isnan(value) else "Infinity"
    return value


def page(changes: Changes, studies: Sequence[FinishedStudy], paths: Sequence[str]) -> str:
    """The page, as text: the same for the same files.

    Parameters
    ----------
    changes
        What changed.
    studies
        The two.
    paths
        How the user names each.
    """
    first, second = studies
    names, environment = (
        Names({**second.labels, **first.labels}, {**second.models, **first.models}),
        templates(),
    )
    metrics = changes.by_metric.to_dict("records")
    context = {
        "titles": [study.name for study in studies],
        "paths": list(paths),
        "summary": summary(changes),
        "changes": changes,
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
        "lone": _lone(changes, names),
        "alone": changes.lone_scores.to_dict("records"),
        "went_in": _went_in(changes),
        "config": [(key, _shorten(a), _shorten(b)) for key, a, b in changes.config[: MOST["others"]]],
        "words": [
            (*row[:2], first_words(row[2], SHOWN), first_words(row[3], SHOWN))
            for row in changes.words[: MOST["others"]]
        ],
        "scores": _scores(changes, names),
        "uncertainty": _uncertainty(changes, names),
        "aggregates": _aggregates(changes, names),
        "ranks": _ranks(changes, names),
        "pairs": _pairs(changes, names),
        "leaders": [
            {
                **row,
                "metric": names.label(row["metric"]),
                "before": join_names(map(names.short, row["before"])) if row["before"] else "no model",
                "after": join_names(map(names.short, row["after"])) if row["after"] else "no model",
            }
            for row in changes.leaders
        ],
        "verdicts": _verdicts(changes, names),
        "missing": [(name, side.upper()) for name, side in changes.missing],
        "evidence_words": [(_words(verdict), meaning) for verdict, meaning in MEANINGS.items()],
        "overall": OVERALL,
        "version": __version__,
        "css": Markup(
            "".join(environment.get_template(name).render() for name in ("report.css", "changes.css"))
        ),
    }
    return without_hidden(mark_misspellings(environment.get_template("changes.html").render(context)))


def _scores(changes: Changes, names: Names) -> list[dict[str, Any]]:
    return [
        {
            "criterion": row.criterion,
            "query": row.query,
            "metric": names.label(row.metric),
            "state": names.state(row.model, row.debias),
            "before": typeset(row.before, 4),
            "after": typeset(row.after, 4),
            "difference": signed_number(row.difference),
            "interval": "" if isnan(row.low) else typographic(interval(row.low, row.high)),
            "share": typeset(row.share, 2),
            "outside": row.share > 1,
            "kind": row.kind,
            "evidence": _evidence(row.evidence_before, row.evidence_after),
            "status": "" if row.status_before == row.status_after else (row.status_before, row.status_after),
        }
        for row in changes.scores[: MOST["scores"]].itertuples()
    ]


def _uncertainty(changes: Changes, names: Names) -> list[dict[str, Any]]:
    rows = []
    for row in changes.uncertainty[: MOST["uncertainty"]].to_dict("records"):
        parts = []
        numbers: list[tuple[str, str, Callable[[float], str]]] = [
            *(
                (column, f"{what} of the {test.noun}", p_number)
                for test in significance.tests()
                for column, what in ((test.column, "p"), (test.adjusted, "adjusted p"))
            ),
            ("words_used", "words used", plain),
            ("words_lost", "words lost", plain),
        ]
        for name, label, form in numbers:
            parts += _change(label, row[f"{name}_a"], row[f"{name}_b"], form)
        ends = [(row[f"ci_low_{side}"], row[f"ci_high_{side}"]) for side in "ab"]
        if not _is_same(ends[0][0], ends[1][0]) or not _is_same(ends[0][1], ends[1][1]):
            before, after = (typographic(interval(*pair)) for pair in ends)
            parts.append(
                f"interval {before} → {after}" if before != after else "interval, in its last digits"
            )
        rows.append(
            {
                "criterion": row["criterion"],
                "query": row["query"],
                "metric": names.label(row["metric"]),
                "state": names.state(row["model"], row["debias"]),
                "value": typeset(row["value"], 4),
                "what": "; ".join(parts),
                "evidence": _evidence(row["evidence_a"], row["evidence_b"]),
            }
        )
    return rows


def _evidence(before: str, after: str) -> tuple[str, str]:
    """Whether a mark was gained or lost ("gain", "loss", or neither), and the evidence; "" where it is the same."""
    if before == after:
        return "", ""
    strengths = [{"full": 2, "half": 1}.get(MARKS.get(verdict, ""), 0) for verdict in (before, after)]
    way = "gain" if strengths[0] < strengths[1] else "loss" if strengths[0] > strengths[1] else ""
    return way, f"{_words(before)} → {_words(after)}"


def _words(verdict: str) -> str:
    return verdict.replace("_", " ")


def _aggregates(changes: Changes, names: Names) -> list[dict[str, Any]]:
    return [
        {
            "criterion": row.criterion,
            "metric": names.label(row.metric),
            "state": names.state(row.model, row.debias),
            "aggregation": row.aggregation,
            "evidence": _evidence(row.evidence_a, row.evidence_b),
        }
        for row in changes.aggregates[: MOST["verdicts"]].itertuples()
    ]


def _is_same(a: float, b: float) -> bool:
    return a == b or (isnan(a) and isnan(b))


def _change(label: str, before: float, after: float, form: Callable[[float], str]) -> list[str]:
    if _is_same(before, after):
        return []
    texts = form(before), form(after)
    return [f"{label} {texts[0]} → {texts[1]}" if texts[0] != texts[1] else f"{label}, in its last digits"]


def _ranks(changes: Changes, names: Names) -> list[dict[str, Any]]:
    return [
        {
            "criterion": row.criterion,
            "metric": names.label(row.metric),
            "state": names.state(row.model, row.debias),
            "before": typeset(row.rank_a, form=plain),
            "after": typeset(row.rank_b, form=plain),
            "among": (typeset(row.among_a, form=plain), typeset(row.among_b, form=plain)),
            "value_before": typeset(row.value_a, 4),
            "value_after": typeset(row.value_b, 4),
        }
        for row in changes.ranks[: MOST["ranks"]].itertuples()
    ]


def _pairs(changes: Changes, names: Names) -> list[dict[str, Any]]:
    rows = []
    for row in changes.pairs[: MOST["pairs"]].itertuples():
        states = names.state(row.model_a, row.debias_a), names.state(row.model_b, row.debias_b)
        # -1: the first of the two is the less biased
        labels = {-1: states[0], 1: states[1], 0: "not decided"}
        rows.append(
            {
                "criterion": row.criterion,
                "metric": names.label(row.metric),
                "states": states,
                "change": row.change,
                "before": labels[row.before],
                "after": labels[row.after],
                "p_before": typeset(row.p_before, form=p_number),
                "p_after": typeset(row.p_after, form=p_number),
            }
        )
    return rows


def _verdicts(changes: Changes, names: Names) -> list[dict[str, Any]]:
    return [
        {
            "criterion": row.criterion,
            "metric": " and ".join(map(names.label, row.metric.split("~"))) if row.metric else "",
            "model": " under ".join(map(names.short, row.model.split(" under "))),
            "quantity": row.quantity,
            "source": f"{row.source}: {row.table}",
            "published": typeset(row.published_b, form=plain),
            "before": (row.verdict_a, typeset(row.ours_a, 4)),
            "after": (row.verdict_b, typeset(row.ours_b, 4)),
        }
        for row in changes.verdicts[: MOST["verdicts"]].itertuples()
    ]


def _lone(changes: Changes, names: Names) -> list[tuple[Any, ...]]:
    kinds_with_labels = ("metrics", "models", "debias methods")
    return [
        (kind, *([names.label(key) for key in side] if kind in kinds_with_labels else side for side in sides))
        for kind, *sides in changes.names
    ]


def _shorten(value: Any) -> str:
    """A value of a config, in short."""
    if value is ABSENT:
        return ""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 20]} ... {text[-15:]}"


def signed_number(value: float) -> str:
    """A difference, with its sign."""
    return f"+{typeset(value)}" if value > 0 else typeset(value)


def file_name(studies: Sequence[FinishedStudy]) -> str:
    """What the page of two studies is called."""
    return f"compare-{'-'.join(study.name for study in studies)}.html"
