"""The section `trainings`: models that are trained on one corpus and differ in one parameter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import Field

from ...core.errors import BiasgridError, join_names
from ...core.registry import is_pending
from ...core.validation import Strict, field
from ...models.algorithms import REGISTRY as ALGORITHMS
from .common import Distinct, Key, Name
from .models import TRAINED, Model, Trained
from .names import check_names

ALGORITHM = "algorithm"
# Parameters with the same meaning in all algorithms; models of two algorithms must agree in them.
SHARED = ("vector_size", "window", "min_count", "seed")
Varied = Annotated[dict[Key, Annotated[list[Key], Field(min_length=1), Distinct]], Field(min_length=1)]


class Training(Strict):
    """Models that are trained on one corpus and differ from a base in one parameter each."""

    base: Key = field("key of the model that the others differ from; it counts among those of each parameter")
    vary: Varied = field(
        "parameter of training -> keys of the models that differ from the base in it alone. Under `seed`: how far "
        "chance moves a value. Under `algorithm`: models of another one, with the same vector_size, window, "
        "min_count and seed"
    )


Trainings = Annotated[dict[Name, Training], Field(min_length=1)]


def check_training(training: Training, models: Mapping[str, Model], where: str) -> None:
    """Check that models differ from their base only in the parameter that the config names.

    Raises
    ------
    BiasgridError
        One line that begins with `where`.
    """
    base = _source(training.base, models, f"{where}: base")
    # A plugin that is not loaded yet has the algorithms.
    if is_pending():
        return
    for parameter, keys in training.vary.items():
        place = f"{where}: vary: {parameter}"
        check_names(
            "parameter", [parameter], [ALGORITHM, *sorted(ALGORITHMS[base.algorithm].parameters)], place
        )
        for key in keys:
            source = _source(key, models, place)
            differ = set(_differences(base, source))
            if parameter not in differ:
                raise BiasgridError(
                    f"{place}: {key} has the {parameter} of the base, {training.base}; name models with a "
                    "different one"
                )
            if differ != {parameter}:
                raise BiasgridError(
                    f"{place}: {key} differs from the base, {training.base}, also in "
                    f"{join_names(sorted(differ - {parameter}))}; it must differ in {parameter} alone"
                )


def _source(key: str, models: Mapping[str, Model], where: str) -> Trained:
    check_names("model", [key], models, where)
    source = models[key].source
    if not isinstance(source, Trained):
        raise BiasgridError(f"{where}: {key} is not trained here (type: {TRAINED})")
    return source


def _differences(base: Trained, variant: Trained) -> Iterable[str]:
    """Yield the parameters in which two trainings differ.

    For two algorithms, only parameters with the same meaning in both count. A parameter that is left out has
    a different default in each.
    """
    first, second = base.params, variant.params
    if base.corpus != variant.corpus:
        yield "corpus"
    if base.algorithm == variant.algorithm:
        names = first.keys() | second.keys()
        yield from (name for name in names if first.get(name) != second.get(name))
    else:
        yield ALGORITHM
        # PPMI, for example, does not have a seed.
        parameters = [ALGORITHMS[source.algorithm].parameters for source in (base, variant)]
        common_names = [name for name in SHARED if all(name in of_one for of_one in parameters)]
        yield from (name for name in common_names if name not in first or first[name] != second.get(name))
