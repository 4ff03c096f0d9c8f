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

from ..registry import INIT, shipped_plugins
from ..resources import find_file
from .arguments import PLUGINS, Commands, read_study
from .layout import add_forms, columns, paragraph, wants_table

# topic -> the package whose registry has it
REGISTRIES = {
    "metrics": "biasgrid.metrics",
    "debias": "biasgrid.debias",
    "tables": "biasgrid.tables",
    "figures": "biasgrid.figures",
    "evaluations": "biasgrid.evaluation",
    "formats": "biasgrid.embeddings.readers",
    "sources": "biasgrid.embeddings.sources",
    "kinds": "biasgrid.embeddings.kinds",
}
TOPICS = {
    "metrics": "what bias is measured with",
    "models": "models that can be named, and are fetched when they are missing",
    "word-sets": "word sets for queries and debias methods",
    "queries": "the queries of a study",
    "debias": "methods that remove bias from vectors",
    "evaluations": "what debiasing costs and hides, and how good vectors are",
    "tables": "tables of a study's results",
    "figures": "figures of a study",
    "formats": "formats of files that models are read from",
    "sources": "places that models are fetched from",
    "kinds": "kinds of models",
    "plugins": "plugins that come with biasgrid, and that configs name",
}
DEFAULT = Path("config/config.yaml")
# type of a model's source -> what a reader knows it by; of others it is the host
PLACES = {"pypi": "PyPI", "npm": "npm", "gensim-data": "GitHub", "file": "a file"}
HOSTS = {"media.githubusercontent.com": "GitHub"}
Entries = Iterator[tuple[str, str]]


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
    # what a study's plugins hold is listed, too
    study = (
        read_study(args.study, measures=False)
        if args.study
        else _default()
        if args.topic in OF_STUDY
        else None
    )
    entries: Entries = iter(TOPICS.items())
    if args.topic in OF_STUDY:
        entries = OF_STUDY[args.topic](study)
    elif args.topic:
        entries = _registry_entries(REGISTRIES[args.topic])
    facts = {"metrics": _metric_facts, "models": lambda name: _model_facts(study, name)}.get(args.topic)
    return [
        {"name": name, "description": description, **(facts(name) if facts else {})}
        for name, description in entries
    ]


def _table(topic: str | None, records: list[dict[str, Any]]) -> str:
    """The records to read: of metrics and models what each is in columns, and below it the sentence about it."""
    if topic == "metrics":
        head, rows = ["metric", "sets", "model", "sign", "tests"], map(_metric_row, records)
    elif topic == "models":
        head, rows = ["model", "kind", "size", "source"], map(_model_row, records)
    else:
        lines = columns([(record["name"], record["description"]) for record in records])
        return "\n".join([*lines, *([] if topic else ["", "biasgrid list TOPIC lists what a topic has"])])
    lines = columns([head, *rows], ["", *map(_description, records)])
    return "\n".join([*lines, *(METRICS if topic == "metrics" else [])])


TEST_NAMES = {
    "permutation of words": "permutation",
    "permutation of labels": "labels",
    "random groups": "groups",
}
METRICS = [
    "",
    *paragraph(
        "",
        "sets: how many target + attribute sets (n: any number, k: two or more). sign: whether values lie on both "
        "sides of no bias; --json says what each side means. tests: by permutation of words, of a classifier's "
        "labels, and against random groups.",
        0,
    ),
]


def _metric_facts(name: str) -> dict[str, Any]:
    from ..embeddings.kinds import REGISTRY as KINDS
    from ..metrics import REGISTRY

    metric = REGISTRY[name]
    permutation = [] if metric.no_test else [f"permutation of {metric.test_of}"]
    return {
        "template": list(metric.template),
        "kind": metric.needs,
        "neutral": metric.neutral,
        "sign": metric.sign,
        "has_sign": metric.bias == "two-sided",
        "tests": permutation + ["random groups"] * KINDS[metric.needs].random_groups,
    }


def _metric_row(record: dict[str, Any]) -> tuple[str, ...]:
    tests = [TEST_NAMES[test] for test in record["tests"]]
    return (
        record["name"],
        " + ".join(map(str, record["template"])),
        record["kind"].replace("_", " "),
        "yes" if record["has_sign"] else "no",
        ", ".join(tests) or "none",
    )


def _model_facts(study: Any, name: str) -> dict[str, Any]:
    from ..embeddings.building import extra_of

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
    from ..workflow.notices import size_text

    size = record["download_mb"]
    return (
        record["name"],
        record["kind"].replace("_", " "),
        "-" if size is None else size_text(size),
        ".".join(record["source"].split(".")[-2:]),  # of a host: amazonaws.com
    )


def _description(record: dict[str, Any]) -> str:
    text = record["description"]
    if "licence" in record:
        text += f" Licence: {record['licence']}."
        text += f" Needs the extra {record['needs']}." if record["needs"] else ""
    return text


def _registry_entries(package: str) -> Entries:
    for name, entry in importlib.import_module(package).REGISTRY.items():
        description = getattr(entry, "meaning", "") or _sentence(entry.function, entry.label)
        config_name = getattr(entry, "listed", name) or "nowhere: drawn where null_distributions asks for it"
        yield (
            name,
            description + (f" In a config's list of figures: {config_name}." if config_name != name else ""),
        )
    if package == REGISTRIES["formats"]:  # and those that other kinds of models have
        for kind in importlib.import_module(REGISTRIES["kinds"]).REGISTRY.values():
            yield from ((name, f"{kind.name}: {meaning}") for name, meaning in (kind.formats or {}).items())


def _plugins() -> Entries:
    """Their names, and what they say of themselves: none is loaded."""
    for name, folder in shipped_plugins().items():
        text = ast.get_docstring(ast.parse((folder / INIT).read_text(encoding="utf-8"))) or ""
        yield name, " ".join(text.partition("\n\n")[0].split())


def _sentence(function: Callable[..., Any], label: str) -> str:
    """The first sentence of a function's docstring, after a label."""
    paragraph = " ".join((inspect.getdoc(function) or "no description").partition("\n\n")[0].split())
    sentence = paragraph.partition(". ")[0].removesuffix(".") + "."
    return sentence if sentence.lower().startswith(label.lower()) else f"{label}: {sentence}"


def _default() -> Any:
    """What is listed of models, word sets and queries if no study is named."""
    from ..config import load
    from ..config.shipped import plugins_of, shipped_models
    from ..plan.study import Study
    from ..validation import to_record

    config = load.read(find_file(DEFAULT))
    models = shipped_models() | to_record(
        to_record(load.merge_part(config["models"], "models", str(DEFAULT), Path(".")))
    )
    # benchmarks need gensim; models of other languages have no criterion here
    models = {key: {k: v for k, v in model.items() if k != "language"} for key, model in models.items()}
    parts = {key: config[key] for key in config if key != "quality"}
    return Study.of(parts | {"models": models, "plugins": plugins_of(models.values())}, str(DEFAULT))


def _models(study: Any) -> Entries:
    for key, model in study.config.models.items():
        yield key, f"{model.label}. {model.note}".strip()


def _word_sets(study: Any) -> Entries:
    from ..api.word_sets import text_of
    from ..config.word_sets import WordSets

    files = WordSets(Path(study.config.word_sets))
    for stem in files.names:
        for name, words in files.sets_of(stem).items():
            if words is None:
                yield f"{stem}.{name}", "fetched when it is first used"
                continue
            first = ", ".join(text_of(part) for part in list(words)[:3])
            yield f"{stem}.{name}", f"{len(words)}: {first}{', ...' * (len(words) > 3)}"


def _queries(study: Any) -> Entries:
    for key, query in study.queries.items():
        yield key, query.name


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
