"""What an evaluation is, and the registry of all of them.

An evaluation is one file of this package, of an installed package or of a user's folder. It holds the model of its
part of a config, a function that measures, and an `EVALUATIONS` tuple. Putting the file there is all it takes: the
key may stand in a study's `evaluation:`, and the measures come into the records and into the table mitigation.csv.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..registry import Registry


@dataclass(frozen=True)
class Outcome:
    """What an evaluation says of one state of a model.

    Parameters
    ----------
    measures
        Its measures, each made by `facts.fact`.
    entries
        What else the record has of it, by name: the entries that the evaluation declares.
    """

    measures: Sequence[dict[str, Any]] = ()
    entries: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Evaluation:
    """What debiasing costs or hides, by one way to measure it.

    Parameters
    ----------
    name
        The key in a config, such as "hidden".
    meaning
        What it measures, in a sentence.
    spec
        The type of what stands under the key: a model (`validation.Strict`), or a mapping of names to models or
        files. The files that it reads are those of type `spec.FilePath` in it. None: there is no key, and it is
        measured of every state.
    measure
        (model, state, spec, options, seed) -> Outcome: the model as it is; the state that is measured, which is the
        model or the model under a transform; what stands under the key; the keys that all evaluations share
        (`spec.Spec`); a seed. The same to the last bit for the same input.
    default
        What stands under the key where a config leaves it out; what is empty is not measured.
    entries
        Entries of the record besides the measures -> their types.
    imports
        Modules that it imports when it runs: they are loaded before threads are limited, which holds for what is
        loaded by then.
    order
        Its place in a record; those of one place stand in the order of the registry.
    """

    name: str
    meaning: str
    spec: Any
    measure: Callable[..., Outcome]
    default: Any = None
    entries: Mapping[str, Any] = field(default_factory=dict)
    imports: tuple[str, ...] = ()
    order: int = 100


REGISTRY: Registry[Evaluation] = Registry("biasgrid.evaluation", "EVALUATIONS", "evaluation", "evaluations")


def evaluations() -> list[Evaluation]:
    """All evaluations, in the order of a record."""
    return sorted(REGISTRY.values(), key=lambda evaluation: evaluation.order)


def evaluations_of(spec: Any) -> list[Evaluation]:
    """The evaluations that a `Spec` names, and those that every one has, in the order of a record."""
    return [e for e in evaluations() if e.spec is None or getattr(spec, e.name, None)]
