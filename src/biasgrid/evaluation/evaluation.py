"""Declaration of an evaluation, and the registry of all evaluations.

An evaluation is one file of this package, of an installed package or of a user's folder. It contains the model of
its part of a config, a function that measures, and an `EVALUATIONS` tuple. Nothing else needs to be edited: the key
is allowed in a study's `evaluation:`, and the measures are added to the records and the table mitigation.csv.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.registry import Registry


@dataclass(frozen=True)
class Outcome:
    """Result of an evaluation for one model variant.

    Parameters
    ----------
    measures
        Its measures, each built by `facts.fact`.
    entries
        Further entries of the record, by name: the entries that the evaluation declares.
    """

    measures: Sequence[dict[str, Any]] = ()
    entries: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Evaluation:
    """Evaluation: one way to measure the cost or the hidden bias of debiasing.

    Parameters
    ----------
    name
        Key in a config, such as "hidden".
    meaning
        Description of the measure, in a sentence.
    spec
        Type of the value under the key: a model (`validation.Strict`), or a mapping of names to models or files.
        The files that it reads have the type `spec.FilePath`. None: every model variant is measured, without a key.
    measure
        (model, state, spec, options, seed) -> Outcome. The arguments are: the original model; the measured variant,
        which is the model or the debiased model; the value under the key; the keys that all evaluations share
        (`spec.Spec`); a seed. The same input gives the same result to the last bit.
    default
        Value if a config leaves the key out; an empty value is not measured.
    entries
        Further entries of the record -> their types.
    imports
        Modules that it imports when it runs. They are loaded before threads are limited, as the limit applies only
        to loaded libraries.
    order
        Position in a record; evaluations of equal position are in the order of the registry.
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
    """Return all evaluations, in the order of a record."""
    return sorted(REGISTRY.values(), key=lambda evaluation: evaluation.order)


def evaluations_of(spec: Any) -> list[Evaluation]:
    """Return the evaluations that a `Spec` names, and the evaluations without a key, in the order of a record."""
    return [e for e in evaluations() if e.spec is None or getattr(spec, e.name, None)]
