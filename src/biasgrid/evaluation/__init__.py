"""What debiasing costs and hides: one model, untouched or under one transform, on the tests that its spec names."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from ..debias.transform import Transform
from ..embeddings.store import EmbeddingStore
from ..errors import BiasgridError
from .evaluation import REGISTRY, Evaluation, Outcome, evaluations
from .spec import Spec, files_of

__all__ = ["REGISTRY", "Evaluation", "Outcome", "Spec", "evaluate", "evaluations"]


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
        finite; else it is "ok". The other entries are those that the registered evaluations declare, empty where
        the spec does not name the evaluation: `words` and `map` (`hidden_bias`), `set_map` (`maps`), `answers`
        (`answers`), `direct` (`direct_bias`).

    Raises
    ------
    BiasgridError
        A spec that is wrong, a file that cannot be read, a model that lacks every word of a direction, and a
        transform that was fitted on other vectors.
    """
    # imported late: the config's checks import this package and evaluate nothing
    from threadpoolctl import threadpool_limits

    spec = spec if isinstance(spec, Spec) else Spec.of(spec)
    state = model if transform is None else model.under(transform)
    specs = {e.name: getattr(spec, e.name, None) for e in evaluations()}
    named = [e for e in evaluations() if e.spec is None or specs[e.name]]
    for module in (name for e in named for name in e.imports):
        importlib.import_module(module)
    outcomes = {}
    with threadpool_limits(1):
        # first those that read files: one that is wrong is told before minutes of others
        for e in sorted(named, key=lambda e: not any(files_of(specs[e.name]))):
            try:
                outcomes[e.name] = e.measure(model, state, specs[e.name], spec, seed)
            except BiasgridError as error:
                raise BiasgridError(f"{e.name}: {error}") from None
    record: dict[str, Any] = {"measures": [m for e in named for m in outcomes[e.name].measures]}
    for e in evaluations():
        entries = outcomes[e.name].entries if e.name in outcomes else {}
        record |= {entry: entries.get(entry, {}) for entry in e.entries}
    return record
