"""The sections `trainings` and `shuffled`: models that are compared because they are trained in almost the same way.

The plugin `training` checks and compares them.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ...core.validation import Strict, field
from .common import Distinct, Key, Name

Keys = Annotated[list[Key], Field(min_length=1), Distinct]
Varied = Annotated[dict[Key, Keys], Field(min_length=1)]


class Training(Strict):
    """Models that are trained on one corpus and differ from a base in one parameter each."""

    base: Key = field("key of the model that the others differ from; it counts among those of each parameter")
    vary: Varied = field(
        "parameter of training -> keys of the models that differ from the base in it alone. Under `seed`: how far "
        "chance moves a value. Under `algorithm`: models of another one, with the same vector_size, window, "
        "min_count and seed"
    )


Trainings = Annotated[dict[Name, Training], Field(min_length=1)]


class Beside(Strict):
    """Models of real text next to models of the same text shuffled, which were made in the same way."""

    real: Keys = field(
        "keys of models of kind `corpus`, or of models that are trained on these and differ in the seed alone; of "
        "one corpus or of several, each of which is compared with itself"
    )
    shuffled: Keys = field(
        "keys of models of the same corpora shuffled, with the same algorithm and parameters"
    )


ShuffledText = Annotated[dict[Name, Beside], Field(min_length=1)]
