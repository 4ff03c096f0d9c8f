"""The section `shuffled`: models of real text next to models of the same text shuffled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from ...core.errors import BiasgridError
from ...core.validation import Strict, field
from .common import Distinct, Key, Name
from .models import Model, ShuffledCorpus, Trained, is_text
from .names import check_names

Keys = Annotated[list[Key], Field(min_length=1), Distinct]


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


def check_shuffled(entry: Beside, models: Mapping[str, Model], where: str) -> None:
    """Check that models of shuffled text have counterparts of the same text in order, with the same parameters.

    Raises
    ------
    BiasgridError
        One line that begins with `where`.
    """
    of_corpora: dict[str, dict[str, list[str]]] = {}
    for part in ("real", "shuffled"):
        check_names("model", getattr(entry, part), models, f"{where}: {part}")
        for key in getattr(entry, part):
            corpus, is_shuffled = _corpus_of(key, models, f"{where}: {part}")
            if is_shuffled != (part == "shuffled"):
                problem = (
                    "is of shuffled text"
                    if is_shuffled
                    else f"is of {corpus} as it is, and not of a shuffled corpus"
                )
                raise BiasgridError(f"{where}: {part}: {key} {problem}")
            of_corpora.setdefault(corpus, {"real": [], "shuffled": []})[part].append(key)
    for corpus, parts in of_corpora.items():
        for part, keys in parts.items():
            if not keys:
                raise BiasgridError(f"{where}: {part}: no model is of {corpus}, but the other list has one")
        first, *rest = (key for keys in parts.values() for key in keys)
        for key in rest:
            if _training_of(models[key]) != _training_of(models[first]):
                raise BiasgridError(
                    f"{where}: {key} and {first}, which are of {corpus}, must have the same algorithm and "
                    "parameters, but for the seed"
                )


def _corpus_of(key: str, models: Mapping[str, Model], where: str) -> tuple[str, bool]:
    """Return the corpus of a model, and whether it is shuffled."""
    source = models[key].source
    corpus = source.corpus if isinstance(source, Trained) else key
    model = models.get(corpus)
    if corpus == key and not is_text(models[key]):
        raise BiasgridError(f"{where}: {key} is neither a corpus nor trained here on one")
    if model and isinstance(model.source, ShuffledCorpus):
        return model.source.corpus, True
    return corpus, False


def _training_of(model: Model) -> Any:
    """Return the algorithm and parameters that made a model from its corpus, except for the seed."""
    source = model.source
    if not isinstance(source, Trained):
        return None
    return source.algorithm, {name: value for name, value in source.params.items() if name != "seed"}
