"""Evaluation of one model, original or debiased, by the tests that its spec names."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.errors import BiasgridError
from ..core.files import write_text
from ..core.schema import dumps, with_version
from ..debias.transform import Transform
from ..models.multiword import InParts
from ..models.preprocessing import in_parts
from ..models.store import EmbeddingStore
from .evaluation import evaluations_of
from .spec import Spec, files_of

# Every record has these entries, empty if the spec does not name their evaluations. Other entries are only in the
# records whose spec names their evaluation, so that a new evaluation changes no other record.
ENTRIES = ("words", "map", "set_map", "answers", "direct")


def evaluate_state(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write the evaluation of one model variant, or the model's quality.

    Parameters
    ----------
    inputs
        "store": a `StoreOf`. "transform": the file of a fitted debias method, if any. "benchmarks": locations of
        the files that the spec names, by their paths in it. "archives": the folders of archives that contain them,
        and each one's source.
    spec
        "criterion" (None: the quality of a model), "model" and "debias", which the record names; "seed"; and
        "spec", the evaluations to run (`Spec.of`).
    output
        The record's file; the same files and spec give the same bytes.
    """
    check_archives(inputs["archives"])
    transform = Transform.load(inputs["transform"]) if "transform" in inputs else None
    record = record_of(inputs["store"].open(), transform, spec, inputs["benchmarks"])
    write_text(output, dumps(with_version(record), separators=(",", ":")) + "\n")


def record_of(
    model: EmbeddingStore, transform: Transform | None, spec: Mapping[str, Any], benchmarks: Mapping[str, str]
) -> dict[str, Any]:
    """Return the record of an evaluation: what `evaluate` returns, and the entries of the spec that name it."""
    place = {key: spec[key] for key in ("criterion", "model", "debias", "seed")}
    # Locations of benchmarks are not in the spec, as results do not depend on them.
    return place | evaluate(model, transform, Spec.of(spec["spec"], benchmarks), spec["seed"])


def check_archives(archives: Mapping[Path, Any]) -> None:
    """Raise BiasgridError if an archive in a folder that studies share is not from the study's source."""
    # Import late: most evaluations do not read archives.
    from ..models.sources import is_same, read_manifest

    for folder, source in archives.items():
        present = read_manifest(folder).get("source")
        if present is not None and not is_same(present, source):
            raise BiasgridError(
                f"{folder} holds a different archive of this name (its source is {json.dumps(present):.200}): "
                "rename one of them, or delete that folder"
            )


def evaluate(
    model: EmbeddingStore, transform: Transform | None, spec: Mapping[str, Any] | Spec, seed: int
) -> dict[str, Any]:
    """Compute every measure that a spec names, for one model variant.

    Measures are based on the most biased words, their directions and the bias subspace of the original model, so
    that the records of its variants are comparable.

    Parameters
    ----------
    model
        The original model.
    transform
        Transform that debiases it; None: the original model is measured.
    spec
        Evaluations to run (`Spec.of`).
    seed
        Seed of random draws.

    Returns
    -------
    dict
        A record for JSON, the same to the last bit for the same input, whatever the number of threads. `measures`
        is a list of {"group", "measure", "value", "n", "status"}; similarity and analogy also have "total", the
        number of pairs or questions, and with `items` every pair's and question's outcome. `n` is the number of
        available words, pairs, questions or instances behind the value. `value` is None if there are too few of
        them ("too_few_words" and the like) or the measure is undefined ("degenerate"). Status "no_direction:K"
        means that K words, pairs or questions were left out because their vectors are zero or not finite; otherwise
        it is "ok". The other entries are declared by evaluations: `words` and `map` (`hidden_bias`), `set_map`
        (`maps`), `answers` (`answers`), `direct` (`direct_bias`), all of them empty if the spec does not name the
        evaluation, and the entries of your own evaluations.

    Raises
    ------
    BiasgridError
        For an invalid spec, a file that cannot be read, a model that lacks every word of a direction, and a
        transform that was fitted on other vectors.
    """
    # Import late: the config's checks import this package and do not evaluate anything.
    from threadpoolctl import threadpool_limits

    spec = spec if isinstance(spec, Spec) else Spec.of(spec)
    untouched: Any = model
    state: Any = model if transform is None else model.under(transform)
    if in_parts(spec.preprocessors):
        untouched, state = InParts.of(untouched), InParts.of(state)
    evaluations = evaluations_of(spec)
    specs = {e.name: getattr(spec, e.name, None) for e in evaluations}
    for module in (name for e in evaluations for name in e.imports):
        importlib.import_module(module)
    outcomes = {}
    with threadpool_limits(1):
        # Run evaluations that read files first: an invalid file is reported before minutes of computing.
        for e in sorted(evaluations, key=lambda e: not any(files_of(specs[e.name]))):
            try:
                outcomes[e.name] = e.measure(untouched, state, specs[e.name], spec, seed)
            except BiasgridError as error:
                raise BiasgridError(f"{e.name}: {error}") from None
    record: dict[str, Any] = {"measures": [m for e in evaluations for m in outcomes[e.name].measures]}
    record |= {entry: {} for entry in ENTRIES}
    for e in evaluations:
        record |= outcomes[e.name].entries
    return record
