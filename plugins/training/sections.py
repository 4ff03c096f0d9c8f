"""The sections `trainings` and `shuffled` of a config, checked: models that differ only as their section says."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from biasgrid.core.errors import BiasgridError, join_names, unknown_name
from biasgrid.models import algorithms

if TYPE_CHECKING:
    from biasgrid.tables.planned import Planned

TRAINED, SHUFFLED = "trained", "shuffled"  # types of sources
ALGORITHM = "algorithm"
# Parameters with the same meaning in all algorithms; models of two algorithms must agree in them.
SHARED = ("vector_size", "window", "min_count", "seed")


def trainings_of(study: Planned) -> Mapping[str, Any]:
    """Return the section `trainings` of a study's config.

    Raises BiasgridError if models differ from their base in more than the parameter that the config names.
    """
    section = study.config.trainings or {}
    for name, training in section.items():
        _check_training(training, study.config.models, f"trainings: {name}")
    return section


def shuffled_of(study: Planned) -> Mapping[str, Any]:
    """Return the section `shuffled` of a study's config.

    Raises BiasgridError if models of shuffled text lack counterparts of the same text in order, with the same
    parameters.
    """
    section = study.config.shuffled or {}
    for name, entry in section.items():
        _check_shuffled(entry, study.config.models, f"shuffled: {name}")
    return section


def _check_training(training: Any, models: Mapping[str, Any], where: str) -> None:
    base = _source(training.base, models, f"{where}: base")
    for parameter, keys in training.vary.items():
        place = f"{where}: vary: {parameter}"
        parameters = [ALGORITHM, *sorted(algorithms.REGISTRY[base.algorithm].parameters)]
        _check_name("parameter", parameter, parameters, place)
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


def _check_name(what: str, name: str, choices: Collection[str], where: str) -> None:
    if name not in choices:
        raise BiasgridError(f"{where}: {unknown_name(what, name, choices)}")


def _source(key: str, models: Mapping[str, Any], where: str) -> Any:
    _check_name("model", key, models, where)
    source = models[key].source
    if not _is(source, TRAINED):
        raise BiasgridError(f"{where}: {key} is not trained here (type: {TRAINED})")
    return source


def _is(source: Any, source_type: str) -> bool:
    # Sources that are fetched are mappings.
    return bool(getattr(source, "type", "") == source_type)


def _differences(base: Any, variant: Any) -> Iterable[str]:
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
        parameters = [algorithms.REGISTRY[source.algorithm].parameters for source in (base, variant)]
        common_names = [name for name in SHARED if all(name in of_one for of_one in parameters)]
        yield from (name for name in common_names if name not in first or first[name] != second.get(name))


def _check_shuffled(entry: Any, models: Mapping[str, Any], where: str) -> None:
    of_corpora: dict[str, dict[str, list[str]]] = {}
    for part in ("real", "shuffled"):
        for key in getattr(entry, part):
            _check_name("model", key, models, f"{where}: {part}")
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


def _corpus_of(key: str, models: Mapping[str, Any], where: str) -> tuple[str, bool]:
    """Return the corpus of a model, and whether it is shuffled."""
    source = models[key].source
    corpus = source.corpus if _is(source, TRAINED) else key
    model = models.get(corpus)
    if corpus == key and not models[key].of_kind.text:
        raise BiasgridError(f"{where}: {key} is neither a corpus nor trained here on one")
    if model and _is(model.source, SHUFFLED):
        return model.source.corpus, True
    return corpus, False


def _training_of(model: Any) -> Any:
    """Return the algorithm and parameters that made a model from its corpus, except for the seed."""
    source = model.source
    if not _is(source, TRAINED):
        return None
    return source.algorithm, {name: value for name, value in source.params.items() if name != "seed"}
