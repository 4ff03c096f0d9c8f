"""Section on the word sets of the queries: words, source, licence, and the words that each model lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...models.preprocessing import form_of
from ...models.words import NOT_FOUND
from .section import ReportData, Section

if TYPE_CHECKING:
    import pandas as pd


def told(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a specific reason, or with the spellings that were looked up in a model."""
    return table[(table["reason"] != NOT_FOUND) | ~table[["model", "forms"]].duplicated()]


def make(material: ReportData) -> dict[str, Any]:
    spec, lost_words = material.spec, material.cells.lost_words
    reasons = {
        (row.model, row.query_id, row.set, row.word): row.reason
        for row in material.tables["lost_words"].itertuples()
        if row.reason != NOT_FOUND
    }

    def explained(*place: str) -> str:
        return f"{place[-1]} ({reasons[place]})" if place in reasons else place[-1]

    places = {(name, tuple(words)): place for place, (name, words) in enumerate(material.cells.sets)}
    sets: dict[tuple[str, tuple[str, ...]], dict[str, Any]] = {}
    for criterion, of_criterion in spec["sets"].items():
        for query_id, references in of_criterion.items():
            query = material.queries[query_id]
            for word_set, reference in zip(
                (*query.target_sets, *query.attribute_sets), references, strict=True
            ):
                key = word_set.name, tuple(word_set.words)
                place = places.get(key, -1)
                row = {"set": word_set, "reference": reference, "place": place, "criteria": {}}
                row["language"] = material.config["criteria"][criterion].get("language")
                row["lost"] = {
                    model: [
                        explained(model, query_id, word_set.name, word) for word in lost_words[model, place]
                    ]
                    for model in spec["models"]
                    if (model, place) in lost_words
                }
                sets.setdefault(key, row)["criteria"][criterion] = None
    # Make a table for sets that were looked up in the same models, the table with most missing words first.
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in sets.values():
        groups.setdefault(tuple(row["lost"]), []).append(row)
    table = material.tables["lost_words"]

    def forms(models: tuple[str, ...]) -> list[str]:
        return [text for text in table["forms"][table["model"].isin(models)].unique() if text != form_of({})]

    return {
        "groups": [
            {
                "models": models,
                "sets": rows,
                "criteria": list(dict.fromkeys(name for row in rows for name in row["criteria"])),
                "forms": forms(models),
            }
            for models, rows in sorted(groups.items(), key=lambda group: -_number_lost(group[1]))
        ],
        "collections": spec["collections"],
        "content_notes": list(
            dict.fromkeys(entry["content_note"] for entry in spec["collections"] if entry["content_note"])
        ),
    }


def _number_lost(rows: list[dict[str, Any]]) -> int:
    return sum(len(lost) for row in rows for lost in row["lost"].values())


SECTIONS = (
    Section(
        "words",
        "Word sets and missing words",
        ("lost_words",),
        make,
        "lost_words.html",
        place=91,
        lead="sources of the word sets, and the words that each model lacks",
        keep=told,
        nav="Word sets",
    ),
)
