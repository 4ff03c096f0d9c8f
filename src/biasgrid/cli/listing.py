"""Lists of the names that a config or the command line may use."""

from __future__ import annotations

import argparse
import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..resources import find_file
from .arguments import Commands, read_study

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
DEFAULT = Path("config/config.yaml")
Entries = Iterator[tuple[str, str]]


def show(args: argparse.Namespace) -> list[dict[str, str]]:
    """List metrics, models, word sets and the like, with a sentence about each.

    biasgrid list metrics
    biasgrid list queries --study my-study.yaml
    """
    # what a study's plugins hold is listed, too
    study = read_study(args.study) if args.study else _default() if args.topic in OF_STUDY else None
    entries = (
        OF_STUDY[args.topic](study) if args.topic in OF_STUDY else _registry_entries(REGISTRIES[args.topic])
    )
    return [{"name": name, "description": description} for name, description in entries]


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


def _sentence(function: Callable[..., Any], label: str) -> str:
    """The first sentence of a function's docstring, after a label."""
    paragraph = " ".join((inspect.getdoc(function) or "no description").partition("\n\n")[0].split())
    sentence = paragraph.partition(". ")[0].removesuffix(".") + "."
    return sentence if sentence.lower().startswith(label.lower()) else f"{label}: {sentence}"


def _default() -> Any:
    """What is listed of models, word sets and queries if no study is named."""
    from ..config import load
    from ..config.shipped import shipped_models
    from ..study import Study

    config = load.read(find_file(DEFAULT))
    models = shipped_models() | load.merge_part(config["models"], "models", str(DEFAULT), Path("."))
    # benchmarks need gensim; models of other languages have no criterion here
    models = {key: {k: v for k, v in model.items() if k != "language"} for key, model in models.items()}
    return Study.of(
        {key: config[key] for key in config if key != "quality"} | {"models": models}, str(DEFAULT)
    )


def _models(study: Any) -> Entries:
    for key, model in study.config["models"].items():
        yield key, f"{model['label']}. {model['note']}".strip()


def _word_sets(study: Any) -> Entries:
    from ..api.word_sets import text_of
    from ..config.load import WordSets

    files = WordSets(Path(study.config["word_sets"]))
    for stem in files.names:
        for name, words in files.sets_of(stem).items():
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
            "help": f"of this study, and with its plugins (default: what comes with biasgrid, and {DEFAULT})",
        },
    )
    topics = [*REGISTRIES, *OF_STUDY]
    command.add_argument("topic", choices=topics, metavar="TOPIC", help=f"one of {', '.join(topics)}")
