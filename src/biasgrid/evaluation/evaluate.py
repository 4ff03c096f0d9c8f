"""What debiasing costs and hides: one model, untouched or under one transform, on the tests that its spec names."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..debias.transform import Transform
from ..embeddings.in_parts import InParts
from ..embeddings.store import EmbeddingStore
from ..errors import BiasgridError
from ..files import write_text
from ..preprocessing import in_parts
from ..schema import dumps, with_version
from .evaluation import evaluations_of
from .spec import Spec, files_of

# every record has these entries, empty where the spec does not name their evaluations. Any other entry is only in the
# records whose spec names its evaluation, so that a new evaluation changes no other record
ENTRIES = ("words", "map", "set_map", "answers", "direct")


def evaluate_state(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write what debiasing costs and hides of one state of a model, or the model's quality.

    Parameters
    ----------
    inputs
        "store": a `StoreOf`; "transform": the file of a fitted debias method, if any; "benchmarks": where the files
        lie that the spec names, by their paths in it; "archives": the folders of archives that they are in, and each
        one's source.
    spec
        "criterion" (None: the quality of a model), "model" and "debias", which the record names; "seed"; and "spec",
        what to evaluate (`Spec.of`).
    output
        The record's file; the same files and spec give the same bytes.
    """
    check_archives(inputs["archives"])
    transform = Transform.load(inputs["transform"]) if "transform" in inputs else None
    # where archives lie is not in the spec, as results do not depend on it
    evaluation_spec = Spec.of(spec["spec"], inputs["benchmarks"])
    place = {key: spec[key] for key in ("criterion", "model", "debias", "seed")}
    record = evaluate(inputs["store"].open(), transform, evaluation_spec, spec["seed"])
    write_text(output, dumps(with_version(place | record), separators=(",", ":")) + "\n")


def check_archives(archives: Mapping[Path, Any]) -> None:
    """Raises BiasgridError where an archive in a folder that studies share is not from the study's source."""
    # imported late: most evaluations read no archive
    from ..embeddings.sources import is_same, read_manifest

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
    """Every measure that a spec names, of one state of a model.

    What a measure is taken on - the most biased words, their directions, the bias subspace - always comes from the
    model as it is, so that the records of its states compare.

    Parameters
    ----------
    model
        The model as it is.
    transform
        The transform that it is measured under; None: as it is.
    spec
        What to evaluate (`Spec.of`).
    seed
        Of what is drawn at random.

    Returns
    -------
    dict
        A record for JSON, the same to the last bit for the same input, whatever the number of threads. `measures`
        is a list of {"group", "measure", "value", "n", "status"}; similarity and analogy also have "total", how many
        pairs or questions there are, and with `items` every pair's and question's outcome. `n` is how many words,
        pairs, questions or instances the value rests on: those that the model has. `value` is None where there are
        too few of them ("too_few_words" and the like) or the measure is not defined ("degenerate"). Status
        "no_direction:K" says that the value does without K words, pairs or questions whose vectors are zero or not
        finite; else it is "ok". The other entries are those that evaluations declare: `words` and `map`
        (`hidden_bias`), `set_map` (`maps`), `answers` (`answers`), `direct` (`direct_bias`), all of them empty where
        the spec does not name the evaluation, and those of evaluations of your own.

    Raises
    ------
    BiasgridError
        A spec that is wrong, a file that cannot be read, a model that lacks every word of a direction, and a
        transform that was fitted on other vectors.
    """
    # imported late: the config's checks import this package and evaluate nothing
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
        # those that read files run first: a wrong file is reported before minutes of computing
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
