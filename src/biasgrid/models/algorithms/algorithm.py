"""Algorithm that trains a model: its parameters, and the function that makes the model's folder."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Algorithm:
    """An algorithm that trains a model on a corpus of a study. It is one file with a tuple `ALGORITHMS`.

    Parameters
    ----------
    name
        Its name in configs, under `algorithm`.
    meaning
        A sentence that describes it.
    kind
        The kind of the models that it trains (`models.kinds`).
    parameters
        The names of its parameters, which a config has under `params`.
    check
        A function of the parameters of a config that raises BiasgridError for a parameter that it does not have, and
        for a value that is not allowed.
    version
        A function that returns the versions of code on which a model depends. A model of another version is trained
        again.
    make
        The function that trains a model and makes its folder: (archive, folder, *, name, model, metadata).
        `archive` is the corpus, `model` the model's entry in `Study.models`, and `metadata` has entries of
        model.json. With `from_weights`, `start` is the folder of the weights.
    needs
        The packages that it needs: a key of `core.extras.OF_MODELS`, or empty.
    from_weights
        Whether the training starts from the weights of an encoder, which a config names under `start`.
    """

    name: str
    meaning: str
    kind: str
    parameters: Collection[str]
    check: Callable[[Mapping[str, Any]], None]
    version: Callable[[], str]
    make: Callable[..., object]
    needs: str = ""
    from_weights: bool = False
