"""Lists of the names that a config or the command line may use."""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..core.registry import INIT, load_plugins, shipped_plugins
from ..core.resources import find_file
from .arguments import PLUGINS, Commands, first_sentence, read_study
from .layout import add_forms, columns, paragraph, table_width, wants_table

# Topic -> the package with its registry.
REGISTRIES = {
    "metrics": "biasgrid.metrics",
    "debias": "biasgrid.debias",
    "tables": "biasgrid.tables",
    "figures": "biasgrid.figures",
    "evaluations": "biasgrid.evaluation",
    "formats": "biasgrid.models.readers",
    "sources": "biasgrid.models.sources",
    "kinds": "biasgrid.models.kinds",
    "algorithms": "biasgrid.models.algorithms",
}
TOPICS = {
    "metrics": "bias metrics",
    "models": "models that can be used by name, and are downloaded if necessary",
    "word-sets": "word sets for queries and debias methods",
    "queries": "queries of a study",
    "debias": "methods that remove bias from vectors",
    "evaluations": "evaluations of models, and of what debiasing costs and hides",
    "tables": "tables of a study's results",
    "figures": "figures of a study's results",
    "formats": "file formats of models",
    "sources": "places that models come from",
    "kinds": "model types",
    "algorithms": "algorithms that train models",
    "plugins": "plugins that come with biasgrid",
}
DEFAULT = Path("config/config.yaml")
# Type of a model's source -> its name for readers. For other types, it is the host.
PLACES = {"pypi": "PyPI", "npm": "npm", "gensim-data": "GitHub", "file": "a file"}
HOSTS = {"media.githubusercontent.com": "GitHub"}
# Limit the characters of a model's label, and of a word set's examples, in a list.
LABEL, EXAMPLES = 52, 46
Entries = Iterator[dict[str, Any]]


def show(args: argparse.Namespace) -> list[dict[str, Any]] | str:
    """List metrics, models, word sets, tables and more. Without a topic, it lists the topics.

    biasgrid list
    biasgrid list metrics
    biasgrid list queries --study my-study.yaml
    """
    records = _records(args)
    return _table(args.topic, records) if wants_table(args) else records


def _records(args: argparse.Namespace) -> list[dict[str, Any]]:
    if args.topic == "plugins":
        return [{"name": name, "description": text} for name, text in _plugins()]
    # Read the study first, so that entries of its plugins are also listed.
    study = (
        read_study(args.study, measures=False)
        if args.study
        else _default()
        if args.topic in OF_STUDY
        else None
    )
    if args.topic in OF_STUDY:
        return list(OF_STUDY[args.topic](study))
    if args.topic == "algorithms":
        load_plugins(["training"])  # biasgrid itself trains nothing
    if args.topic:
        return list(_registry_entries(args.topic))
    return [{"name": name, "description": description} for name, description in TOPICS.items()]


def _table(topic: str | None, records: list[dict[str, Any]]) -> str:
    """Return the records as lines to read, one for each, in groups with a heading if their topic has kinds."""
    row_of = ROWS.get(topic or "", _row)
    group_of = GROUPS.get(topic or "", lambda record: "")
    groups: dict[str, list[tuple[str, ...]]] = {}
    order = [*MODELS.values()]
    for record in sorted(
        records, key=lambda record: order.index(g) if (g := group_of(record)) in order else 0
    ):
        groups.setdefault(group_of(record), []).append(row_of(record))
    lines = []
    for group, rows in groups.items():
        lines += ["", group] if group else []
        indent = "  " if group else ""
        lines += [indent + line for line in columns(rows, width=table_width() - len(indent))]
    notes = [""] if topic in NOTES else []
    return "\n".join([*lines, *notes, *NOTES.get(topic, [])]).removeprefix("\n")


NOTES = {
    None: ["biasgrid list TOPIC lists the entries of a topic"],
    "metrics": paragraph(
        "",
        "The numbers are target + attribute sets of a query (n: any number, k: two or more). --json adds the "
        "no-bias value, the meaning of the sign, and the tests of each metric.",
        0,
    ),
    "models": ["A model is downloaded when it is first used. --json adds licences and notes."],
}
MODELS = {
    "vectors": "word vectors",
    "contextual_vectors": "vectors in context",
    "language_model": "language models",
    "corpus": "corpora",
}
GROUPS: dict[str, Callable[[dict[str, Any]], str]] = {
    topic: lambda record: MODELS.get(record["kind"], record["kind"].replace("_", " "))
    for topic in ("metrics", "models", "formats")
} | {"figures": lambda record: record["question"] or "Other figures"}


def _row(record: dict[str, Any]) -> tuple[str, ...]:
    return (record["name"], *filter(None, [record.get("label")]), _phrase(record["description"]))


def _phrase(description: str) -> str:
    """Return the first sentence of a description, without its full stop."""
    return first_sentence(description).removesuffix(".")


def _metric_facts(name: str) -> dict[str, Any]:
    from ..metrics import REGISTRY
    from ..models.kinds import REGISTRY as KINDS

    metric = REGISTRY[name]
    permutation = [] if metric.no_test else [f"permutation of {metric.test_of}"]
    return {
        "label": metric.label,
        "template": list(metric.template),
        "kind": metric.needs,
        "neutral": metric.neutral,
        "sign": metric.sign,
        "has_sign": metric.bias == "two-sided",
        "tests": permutation + ["random groups"] * KINDS[metric.needs].random_groups,
    }


def _metric_row(record: dict[str, Any]) -> tuple[str, ...]:
    sets = " + ".join(map(str, record["template"]))
    return record["name"], sets, record["label"], _phrase(record["description"])


def _model_facts(study: Any, name: str) -> dict[str, Any]:
    from ..models.building import extra_of

    model = study.models[name]
    source = model["source"]
    host = urlsplit(source.get("url", "")).hostname or source["type"]
    place = PLACES.get(source["type"]) or HOSTS.get(host, host)
    return {
        "kind": study.kind(name).name,
        "download_mb": model.get("download_mb"),
        "licence": model.get("licence", "not stated"),
        "source": place,
        "needs": extra_of(model),
    }


def _model_row(record: dict[str, Any]) -> tuple[str, ...]:
    from ..workflow.run_messages import size_text

    size, label = record["download_mb"], record["label"]
    short = label if len(label) <= LABEL else label.partition(" (")[0]
    return record["name"], "-" if size is None else size_text(size), short


def _word_set_row(record: dict[str, Any]) -> tuple[str, ...]:
    number, _, words = record["description"].partition(": ")
    return (record["name"], number, words) if words else (record["name"], "", number)


ROWS = {"metrics": _metric_row, "models": _model_row, "word-sets": _word_set_row}


def _registry_entries(topic: str) -> Entries:
    for name, entry in importlib.import_module(REGISTRIES[topic]).REGISTRY.items():
        record = {"name": name, "description": getattr(entry, "meaning", "") or _doc(entry.function)}
        match topic:
            case "metrics":
                record |= _metric_facts(name)
            case "debias":
                record["label"] = entry.label
            case "figures":
                record["question"] = entry.question
            case "formats":
                record["kind"] = "vectors"
        yield record
    if topic == "formats":
        # Other model types have their own formats.
        for kind in importlib.import_module(REGISTRIES["kinds"]).REGISTRY.values():
            for name, meaning in (kind.formats or {}).items():
                yield {"name": name, "description": meaning, "kind": kind.name}


def _plugins() -> Iterator[tuple[str, str]]:
    """Yield the name and description of each plugin that comes with biasgrid, without loading it."""
    for name, folder in shipped_plugins().items():
        text = ast.get_docstring(ast.parse((folder / INIT).read_text(encoding="utf-8"))) or ""
        yield name, " ".join(text.partition("\n\n")[0].split())


def _doc(function: Callable[..., Any]) -> str:
    """Return the first sentence of a function's docstring."""
    doc = (inspect.getdoc(function) or "no description").partition("\n\n")[0]
    return first_sentence(" ".join(doc.split()))


def _default() -> Any:
    """Return the study whose models, word sets and queries are listed if no study is named."""
    from ..core.validation import to_record
    from ..models.shipped_sources import plugins_of, shipped_models
    from ..study.config import load
    from ..study.study import Study

    config = load.read(find_file(DEFAULT))
    models = shipped_models() | to_record(
        to_record(load.merge_part(config["models"], "models", str(DEFAULT), Path(".")))
    )
    # Drop `quality`, because its benchmarks need gensim. Drop the models' languages, because there are no criteria in
    # other languages here.
    models = {key: {k: v for k, v in model.items() if k != "language"} for key, model in models.items()}
    parts = {key: config[key] for key in config if key != "quality"}
    return Study.of(parts | {"models": models, "plugins": plugins_of(models.values())}, str(DEFAULT))


def _models(study: Any) -> Entries:
    for key, model in study.config.models.items():
        description = f"{model.label}. {model.note}".strip()
        yield {"name": key, "label": model.label, "description": description} | _model_facts(study, key)


def _word_sets(study: Any) -> Entries:
    from ..study.config.word_sets import WordSets
    from ..study.word_sets import text_of

    files = WordSets(Path(study.config.word_sets))
    for stem in files.names:
        for name, words in files.sets_of(stem).items():
            if words is None:
                yield {"name": f"{stem}.{name}", "description": "fetched when it is first used"}
                continue
            # Leave out numbers after a word, which are ratings.
            parts = [
                [x for x in p if isinstance(x, str)] if isinstance(p, list) else p for p in list(words)[:3]
            ]
            first = [
                text_of(part[0] if isinstance(part, list) and len(part) == 1 else part) for part in parts
            ]
            shown = first if len(", ".join(first)) <= EXAMPLES else first[:2]
            text = ", ".join([*shown, *["..."] * (len(words) > len(shown))])
            yield {"name": f"{stem}.{name}", "description": f"{len(words)}: {text}"}


def _queries(study: Any) -> Entries:
    for key, query in study.queries.items():
        yield {"name": key, "description": query.name}


OF_STUDY = {"models": _models, "word-sets": _word_sets, "queries": _queries}


def add(commands: Commands) -> None:
    command = commands.add(
        show,
        "list",
        study={
            "type": find_file,
            "help": f"list the entries of this study and its plugins (default: those of biasgrid and {DEFAULT})",
        },
        plugins=PLUGINS,
    )
    command.add_argument(
        "topic", choices=list(TOPICS), metavar="TOPIC", nargs="?", help=f"one of {', '.join(TOPICS)}"
    )
    add_forms(command)
