"""The word sets of the queries: words, source, licence, and the words that each model lacks."""

from __future__ import annotations

from typing import Any

from .section import Material, Section


def make(material: Material) -> dict[str, Any]:
    spec, lost_words = material.spec, material.cells.lost_words
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
                row["lost"] = {model: lost_words.get((model, place)) for model in spec["models"]}
                sets.setdefault(key, row)["criteria"][criterion] = None
    return {"sets": list(sets.values()), "models": spec["models"], "collections": spec["collections"]}


SECTIONS = (
    Section(
        "words",
        "Word sets and lost words",
        (),
        make,
        "lost_words.html",
        place=91,
        lead="the words that each model lacks, by name",
    ),
)
