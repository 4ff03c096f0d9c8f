"""Former names that scripts and plugins import, for one version."""

from __future__ import annotations

# Former name below `biasgrid` -> present name.
MOVED = {
    "caveats": "measure.caveats",
    "comparison": "tables.published",
    "config": "study.config",
    "configs": "core.configs",
    "debias.saving": "models.saving",
    "directions": "models.directions",
    "embeddings": "models",
    "errors": "core.errors",
    "files": "core.files",
    "geometry": "core.geometry",
    "inference": "measure",
    "inference.reliability": "measure.word_order",
    "numbers": "core.numbers",
    "options": "measure.options",
    "plan": "study",
    "planned": "tables.planned",
    "preprocessing": "models.preprocessing",
    "query": "queries.query",
    "ratings": "evaluation.ratings",
    "registry": "core.registry",
    "request": "measure.measurement_spec",
    "resources": "core.resources",
    "result": "measure.result",
    "results": "measure.results",
    "sample": "measure.metric_input",
    "schema": "core.schema",
    "seeds": "core.seeds",
    "sharing": "report.sharing",
    "statistics": "measure.statistics",
    "statistics.aggregation": "measure.aggregation",
    "statistics.ranks": "measure.ranks",
    "validation": "core.validation",
    "verdicts": "tables.conclusions",
    "verdicts.evidence": "measure.evidence",
    "verdicts.reliability": "measure.reliability_in_words",
    "verdicts.result_text": "measure.result_text",
    "verdicts.text": "core.phrases",
    "word_set": "queries.word_set",
    "words": "models.words",
}

# Former name below `biasgrid` -> the plugin that comes with biasgrid and has it.
IN_PLUGINS = {"Examination": "properties", "examine": "properties", "properties": "properties"}
# Former name of a module -> its name in a plugin that comes with biasgrid.
PLUGIN_MODULES = {
    "biasgrid.models.corpus.shuffled": "biasgrid_plugin_training.corpora",
    "biasgrid.models.glove": "biasgrid_plugin_training.algorithms.glove",
    "biasgrid.models.language.bert_training": "biasgrid_plugin_training.algorithms.bert",
    "biasgrid.models.ppmi": "biasgrid_plugin_training.algorithms.ppmi",
    "biasgrid.models.training": "biasgrid_plugin_training.vectors",
    "biasgrid.tables.shuffled": "biasgrid_plugin_training.tables.shuffled",
    "biasgrid.tables.shuffled_words": "biasgrid_plugin_training.tables.shuffled_words",
    "biasgrid.tables.trainings": "biasgrid_plugin_training.tables.trainings",
}


def present_name(module: str) -> str:
    """Return the present name of a module that was moved, such as "biasgrid.core.errors", or an empty text."""
    package, *parts = module.split(".")
    for number in range(len(parts), 0, -1):
        if new := MOVED.get(".".join(parts[:number])):
            name = ".".join([package, new, *parts[number:]])
            return PLUGIN_MODULES.get(name, name)
    return PLUGIN_MODULES.get(module, "")
