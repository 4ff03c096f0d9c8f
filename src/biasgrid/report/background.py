"""What the page says besides the grid: debiasing, published numbers, models, word sets, parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..comparison.verdict import MEANINGS
from ..debias import UNTOUCHED
from ..labels import LENGTH_MARK
from ..numbers import p_number, plain, share, typeset
from ..statistics.aggregation import OVERALL
from ..tables.pairs import STATES
from ..verdicts.comparability import incomparable
from ..verdicts.summary import reproduced
from ..verdicts.text import join_names
from .names import Names

if TYPE_CHECKING:
    import pandas as pd

    from ..query import Query
    from .cells import Cells

Tables = Mapping[str, "pd.DataFrame"]


def debias_section(tables: Tables, spec: Mapping[str, Any], names: Names) -> list[dict[str, Any]]:
    """Per model and debias method: each metric before and after, bias that is still recoverable, and quality."""
    scores, sections = tables["scores"], []
    aggregates, order = _aggregates(tables), [*spec["criteria"], OVERALL]
    p_values = _p_of_states(tables)
    # debiased states whose vectors have another length than the model's
    states_by_length = {
        (entry.criterion, entry.metric): entry.states
        for entry in incomparable(tables.get("scalars"), spec["scaled"])
    }
    for model in spec["models"]:
        for debias in spec["debias"]:
            if not ((scores["model"] == model) & (scores["debias"] == debias)).any():
                continue
            places = dict.fromkeys(place[:2] for place in aggregates if place[2:] == (model, debias))
            if len({criterion for criterion, _ in places}) == 2:
                # with one criterion, "Overall" would repeat it
                places = {place: None for place in places if place[0] != OVERALL}
            rows = [
                {
                    "criterion": criterion,
                    "metric": names.label(metric)
                    + LENGTH_MARK * ((model, debias) in states_by_length.get((criterion, metric), ())),
                    "before": typeset(aggregates.get((criterion, metric, model, UNTOUCHED))),
                    "after": typeset(aggregates[criterion, metric, model, debias]),
                    "p": typeset(p_values.get((criterion, metric, model, debias)), form=p_number),
                }
                for criterion, metric in sorted(places, key=lambda place: order.index(place[0]))
            ]
            sections.append(
                {
                    "model": names.label(model),
                    "debias": names.label(debias),
                    "key": debias,
                    "rows": rows,
                    "measures": _measures(tables, model, debias),
                    "quality": _quality(tables, names, model, debias),
                }
            )
    return sections


def _aggregates(tables: Tables) -> dict[tuple[str, ...], float]:
    if "rankings" not in tables:
        return {}
    return {
        (row.criterion, row.metric, row.model, row.debias): row.value
        for row in tables["rankings"].itertuples()
    }


def _p_of_states(tables: Tables) -> dict[tuple[str, ...], float]:
    """Criterion, metric, model, debias -> the adjusted p-value of its difference from the untouched model."""
    if (pairs := tables.get("pairs")) is None:
        return {}
    p_values: dict[tuple[str, ...], float] = {}
    for row in pairs[pairs["family"] == STATES].itertuples():
        # a pair has its states in alphabetical order
        for reference, state in ((row.debias_a, row.debias_b), (row.debias_b, row.debias_a)):
            if reference == UNTOUCHED:
                p_values[row.criterion, row.metric, row.model_a, state] = row.p_adjusted
    return p_values


def _measures(tables: Tables, model: str, debias: str) -> list[dict[str, str]]:
    """Evaluations before and after: bias that is still recoverable, and quality."""
    if (table := tables.get("mitigation")) is None:
        return []
    rows = table[(table["model"] == model) & (table["debias"] == debias) & (table["group"] != "metric")]
    return [
        {
            "criterion": row.criterion,
            "group": row.group.replace("_", " "),
            "measure": row.measure,
            "before": typeset(row.before),
            "after": typeset(row.after),
            "n": f"{row.n:,}",
            "status": "" if row.status == "ok" else row.status,
        }
        for row in rows.itertuples()
    ]


def _quality(tables: Tables, names: Names, model: str, debias: str) -> list[dict[str, str]]:
    if (table := tables.get("quality")) is None:
        return []
    of_model = table[table["model"] == model].set_index(["benchmark", "debias"])
    return [
        {
            "benchmark": benchmark,
            "before": typeset(of_model["value"].get((benchmark, UNTOUCHED))),
            "after": typeset(of_model["value"].get((benchmark, debias))),
        }
        for benchmark in dict.fromkeys(table["benchmark"])
        if (benchmark, debias) in of_model.index
    ]


def comparison_section(tables: Tables, spec: Mapping[str, Any], names: Names) -> dict[str, Any] | None:
    """Published numbers beside the study's, and how many numbers have each verdict."""
    if (table := tables.get("comparison")) is None or table.empty:
        return None
    counts, metrics, models = table["verdict"].value_counts(), spec["metrics"], spec["models"]
    compared_keys = [
        set(table["metric"].str.split("~").explode()),
        set(table["model"].str.partition(" under ")[0]),
    ]
    missing_labels = [
        join_names(map(name, missing))
        for keys, keys_in_table, name in zip(
            (metrics, models), compared_keys, (names.label, names.short), strict=True
        )
        if (missing := [key for key in keys if key not in keys_in_table])
    ]
    return {
        "without": " or of ".join(missing_labels),
        "verdicts": [
            {"verdict": verdict, "count": int(counts[verdict]), "meaning": meaning}
            for verdict, meaning in MEANINGS.items()
            if verdict in counts
        ],
        "sentence": reproduced(table),
        "total": len(table),
        "rows": [
            {
                "source": row.source,
                "table": row.table,
                "criterion": row.criterion,
                "metric": " and ".join(map(names.label, row.metric.split("~"))) if row.metric else "",
                "model": " under ".join(map(names.short, row.model.split(" under "))),
                "quantity": row.quantity,
                "published": typeset(row.published, form=plain),
                "ours": typeset(row.ours, 4),
                "verdict": row.verdict,
                "note": row.note,
            }
            for row in table.itertuples()
        ],
    }


def models_section(
    tables: Tables,
    records: Mapping[str, Mapping[str, Any]],
    queries: Mapping[str, Query],
    spec: Mapping[str, Any],
    names: Names,
) -> list[dict[str, Any]]:
    """Per model: what it is, where it is from, its checksums, licence, coverage of the study's words, quality."""
    quality = tables.get("quality")
    models = []
    for key, entry in spec["models"].items():
        record, source = records.get(key, {}), entry["source"]
        benchmarks = []
        if quality is not None:
            rows = quality[(quality["model"] == key) & (quality["debias"] == UNTOUCHED)]
            benchmarks = [
                {"benchmark": row.benchmark, "value": typeset(row.value), "n": f"{row.n:,} of {row.total:,}"}
                for row in rows.itertuples()
            ]
        shape = record.get("shape") or []
        models.append(
            {
                "key": key,
                "label": names.label(key),
                "size": f"{shape[0]:,} words × {shape[1]}" if len(shape) == 2 else "",
                "source": _source(source),
                "checksums": [
                    *([(_file_of(source), source["sha256"])] if "sha256" in source else []),
                    *sorted(record.get("sha256", {}).items()),
                ],
                "coverage": _coverage(tables, queries, key),
                "predicts": _predicts(record),
                "licence": entry.get("licence", "not stated"),
                "note": entry.get("note", ""),
                "benchmarks": benchmarks,
            }
        )
    return models


def _coverage(tables: Tables, queries: Mapping[str, Query], model: str) -> str:
    """How many words of the queries that it is measured on a model has."""
    scores = tables["scores"]
    if "query_id" not in scores or "lost_words" not in tables:
        return ""
    query_words = {
        word
        for query in scores.loc[scores["model"] == model, "query_id"].unique()
        for word_set in (*queries[query].target_sets, *queries[query].attribute_sets)
        for word in word_set.words
    }
    lost_words = tables["lost_words"]
    n_words = len(query_words - set(lost_words.loc[lost_words["model"] == model, "word"]))
    return f"{n_words:,} of {len(query_words):,} words ({share(n_words / max(len(query_words), 1))})"


def _predicts(record: Mapping[str, Any]) -> str:
    """How well a language model that was trained here predicts sentences that it was not trained on."""
    if not {"perplexity", "masked_accuracy", "held_out"} <= record.keys():
        return ""
    return (
        f"perplexity {typeset(record['perplexity'])}, {share(record['masked_accuracy'])} of masked pieces right, on "
        f"{record['held_out']:,} held-out sentences"
    )


def _source(source: Mapping[str, Any]) -> str:
    """Where a model is from, in a line: its kind and the short values of its keys."""
    parts = [
        f"{key} {value}"
        for key, value in source.items()
        if key not in ("type", "sha256") and _is_short(value)
    ]
    return ": ".join(filter(None, [str(source["type"]), ", ".join(parts)]))


def _is_short(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and len(str(value)) < 200


def _file_of(source: Mapping[str, Any]) -> str:
    return str(source.get("package") or source.get("url") or source.get("path") or "archive").rpartition("/")[
        2
    ]


def word_sets_section(
    tables: Tables, queries: Mapping[str, Query], cells: Cells, spec: Mapping[str, Any], names: Names
) -> dict[str, Any]:
    """The word sets of the queries: words, source, licence, and the words that each model lacks."""
    places = {(name, tuple(words)): place for place, (name, words) in enumerate(cells.sets)}
    lost_words: dict[tuple[str, str, str], list[str]] = {}
    if (table := tables.get("lost_words")) is not None:
        for row in table.itertuples():
            lost_words.setdefault((row.query_id, row.set, row.model), []).append(row.word)
    rows: dict[tuple[str, tuple[str, ...]], dict[str, Any]] = {}
    for criterion, of_criterion in spec["sets"].items():
        for query_id, references in of_criterion.items():
            query = queries[query_id]
            for word_set, reference in zip(
                (*query.target_sets, *query.attribute_sets), references, strict=True
            ):
                row = rows.setdefault(
                    (word_set.name, tuple(word_set.words)),
                    {
                        "name": word_set.name,
                        "criteria": {},
                        "reference": reference,
                        "words": len(word_set.distinct),
                        "place": places.get((word_set.name, tuple(word_set.words))),
                        "lost": {},
                    },
                )
                row["criteria"][criterion] = None
                for model in spec["models"]:
                    if words := lost_words.get((query_id, word_set.name, model)):
                        row["lost"].setdefault(model, words)
    return {
        "models": [names.short(model) for model in spec["models"]],
        "rows": [
            {
                **row,
                "criteria": ", ".join(row["criteria"]),
                "lost": [row["lost"].get(model, []) for model in spec["models"]],
            }
            for row in rows.values()
        ],
        "collections": spec["collections"],
    }


def parameters_section(config: Mapping[str, Any], spec: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """How words were looked up, metrics parametrised, scores aggregated, inference done."""
    return {
        "metrics": [
            {
                "key": key,
                "label": names.label(key),
                "reference": spec["facts"][key]["reference"],
                "neutral": typeset(spec["facts"][key]["neutral"], form=plain),
                "range": [typeset(float(end), form=plain) for end in spec["facts"][key]["range"]],
                "params": json.dumps(spec["facts"][key]["params"]) if spec["facts"][key]["params"] else "",
                "no_test": spec["facts"][key]["no_test"],
            }
            for key in spec["metrics"]
        ],
        "words": _lines(config.get("words", {})),
        "inference": _lines(spec["inference"]),
        "aggregation": spec["ranking"]["aggregation"],
        "by": spec["ranking"]["by"],
        "ties": spec["ranking"]["ties"],
        "seed": config.get("seed"),
    }


def _lines(entries: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    return [(key.replace("_", " "), json.dumps(value, ensure_ascii=False)) for key, value in entries.items()]


def reasons(scores: pd.DataFrame) -> list[tuple[str, int]]:
    """Why scores have no value, and how many."""
    kinds: dict[str, int] = {}
    for status, count in scores["status"].value_counts().items():
        if status != "ok":
            kind = str(status).partition(":")[0].replace("_", " ")
            kinds[kind] = kinds.get(kind, 0) + int(count)
    return sorted(kinds.items(), key=lambda kind: -kind[1])
