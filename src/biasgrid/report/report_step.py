"""Step of a plan that makes a study's page: the files that it reads, labels, settings and word sets."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from .. import tables
from ..core import docstrings
from ..core.errors import BiasgridError
from ..core.resources import find_file
from ..core.validation import to_record
from ..core.web_addresses import public
from ..study.step import Step
from ..study.steps import when_run
from ..study.study import Study
from ..tables.cells import poles, two_group_cells
from ..tables.inputs import FACTS, facts_of
from ..tables.read_conclusions import summary_spec
from ..tables.scales import scaled_metrics
from ..tables.words import place_of
from . import cells
from .render import template_files
from .sections import REGISTRY

CONFIG = "study.json"


def report_step(study: Study) -> Step:
    """Return the task that makes a study's report."""
    inputs = {
        **cells.inputs(study),
        "study": study.results / CONFIG,
        "tables": [study.paths.table_file(name) for name in shown() if name in study.tables],
        "models": [study.paths.model_file(model) for model in study.models],
    }
    function, present = "biasgrid.report.render:write", when_run(study, report_step)
    modules = tuple(map(REGISTRY.module, REGISTRY))
    return Step("report", inputs, study.paths.report_file, spec_of(study), function, modules, present=present)


def shown() -> list[str]:
    """Return the tables that the report shows, scores first."""
    return list(dict.fromkeys(["scores", *(name for section in REGISTRY.values() for name in section.reads)]))


def spec_of(study: Study) -> dict[str, Any]:
    """Return the JSON-compatible spec of a study's report."""
    criteria = study.config.criteria
    keys = FACTS["metrics"](study)
    return {
        "study": study.name,
        "labels": study.labels,
        "models": {
            key: public({name: value for name, value in model.items() if name != "download_mb"})
            for key, model in study.models.items()
        },
        "debias": list(study.debias),
        "criteria": list(criteria),
        "metrics": keys,
        "queries": {name: len(entry.queries) for name, entry in criteria.items()}
        | {"Overall": sum(len(criteria[name].queries) for name in study.ranked_criteria)},
        "sets": {
            name: {
                key: _references(study.queries[key], query_entry)
                for key, query_entry in entry.queries.items()
            }
            for name, entry in criteria.items()
        },
        "collections": _collections(study),
        "neutrals": FACTS["neutral"](study),
        **facts_of(study, ("ranking", "level", "thresholds")),
        "inference": to_record(study.config.inference),
        "correlations": study.config.correlations[0],
        "scaled": scaled_metrics(study),
        "summary": summary_spec(study),
        "facts": {key: _facts(study, key) for key in keys},
        "words": [
            {**place_of(study, cell), "poles": poles(study, cell)}
            for cell in (two_group_cells(study) if "words" in study.tables else ())
        ],
        "sections": list(REGISTRY),
        "files": [[name, tables.REGISTRY[name].meaning] for name in study.tables],
        # Name the folder in which the study was run, even if it has moved.
        "cells": {**cells.spec(study), "study": f"{study.config.results}/{study.name}/{CONFIG}"},
        "templates": hashlib.sha256(b"\0".join(file.read_bytes() for file in template_files())).hexdigest()[
            :16
        ],
    }


def _facts(study: Study, key: str) -> dict[str, Any]:
    """Return a metric's declarations, with the parameters of the first criterion that has it."""
    criterion = next(name for name in study.config.criteria if key in study.metrics(name))
    metric, entry = study.metric(criterion, key), study.metrics(criterion)[key]
    low, high = metric.range
    return {
        "neutral": metric.neutral,
        # Write infinity as text, because JSON lacks it.
        "range": [str(low), str(high)],
        "reference": metric.reference,
        "no_test": metric.no_test,
        "params": entry.params or {},
        "sign": _sign(metric),
        "is_signed": metric.bias == "two-sided",
        "blind": _blind(metric),
        "test_of": metric.test_of,
        "scaled": metric.scaled,
    }


def _sign(metric: Any) -> str:
    """Return a metric's question, and the meaning of values on both sides of no bias; sets have letters."""
    counts = [max(n, 2) if isinstance(n, int) else 2 for n in metric.template]
    letters = [[f"{side}{i}" for i in range(1, n + 1)] for side, n in zip("TA", counts, strict=True)]
    parts = [metric.sentence(metric.asks, *letters)] if metric.asks else []
    for where, text in (("Above", metric.above), ("Below", metric.below)):
        if text:
            parts.append(f"{where} {metric.neutral:g}: {metric.sentence(text, *letters)}.")
    return " ".join(parts)


def _blind(metric: Any) -> str:
    """Return a metric's blind spots, from its docstring."""
    text = docstrings.notes(docstrings.sections(metric.function).get("Notes", "")).get("Blind spots", "")
    return re.sub(r"`(.+?)`", r"\1", " ".join(text.split()))


def _references(query: Any, entry: Any) -> list[str]:
    """Return the source of each set of a query: `file.set`, or "in the config"."""
    references = [
        value if isinstance(value, str) else "in the config"
        for side in (entry.targets, entry.attributes)
        for value in (side or {}).values()
    ]
    count = len(query.target_sets) + len(query.attribute_sets)
    return references if len(references) == count else ["in the config"] * count


def _collections(study: Study) -> list[dict[str, str]]:
    """Return the files of word sets that the queries name: paper and licence, for files that exist."""
    stems = {
        reference.partition(".")[0]
        for entry in study.config.criteria.values()
        for key, query_entry in entry.queries.items()
        for reference in _references(study.queries[key], query_entry)
    }
    collections = []
    for stem in sorted(stems - {"in the config"}):
        try:
            record = json.loads(
                find_file(f"{study.config.word_sets}/{stem}.json").read_text(encoding="utf-8-sig")
            )
        except (OSError, ValueError, BiasgridError):
            continue
        collections.append(
            {
                "name": stem,
                "paper": record.get("paper", "not stated"),
                "licence": record.get("licence", "not stated"),
                "content_note": next(
                    (note for note in record.get("notes", ()) if note.startswith("Content note")), ""
                ),
            }
        )
    return collections
