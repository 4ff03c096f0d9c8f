"""Recoverable bias and loss of quality, measured in memory: the `evaluation` of `measure_grid`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.errors import BiasgridError, quote
from ...core.resources import find_file
from ...debias import UNTOUCHED
from .measured_study import MeasuredStudy


def evaluation_config(options: Any, has_debias: bool) -> dict[str, Any]:
    """Return the checked `evaluation` of `measure_grid` in the form of a study's config; {} for None.

    Raises
    ------
    BiasgridError
        It is not a mapping, has an unknown key or a forbidden value, or names a file that does not exist; or no
        debias method is given.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise BiasgridError(
            f"evaluation: expected a mapping such as {{'hidden': {{...}}}}, not {quote(options)}"
        )
    if not has_debias:
        raise BiasgridError(
            "evaluation: is of debias methods, before and after, and there are none; give debias={name: function of "
            "a model that returns its transform}"
        )
    # Evaluations are checked with pydantic, which is imported only when needed.
    from ...evaluation import Spec

    try:
        files = Spec.of(options).files
    except BiasgridError as error:
        raise BiasgridError(f"evaluation: {error}") from None
    for path in files:
        if not find_file(path).is_file():
            hint = "; archives of benchmarks are fetched in studies only" if ":" in path else ""
            raise BiasgridError(f"evaluation: {quote(path)}: no such file{hint}")
    return {"similarity": {}, "analogies": {}, **options}


def evaluate_models(
    study: MeasuredStudy, models: Mapping[tuple[str, str], Any], *, progress: bool
) -> dict[str, dict[str, Any]]:
    """Return the records of a study's evaluations by name, with the content of their files.

    Parameters
    ----------
    study
        The study whose `evaluations` are computed.
    models
        Original and debiased models, by model and debias key.
    """
    if not study.grid.evaluations:
        return {}
    from tqdm import tqdm  # tqdm.auto would warn in notebooks without ipywidgets

    from ...evaluation import Spec, evaluate

    records = {}
    for name, evaluation in tqdm(
        study.grid.evaluations.items(), desc="evaluating", unit="model", disable=not progress
    ):
        spec = evaluation.spec["spec"]
        spec = Spec.of(spec, {path: str(find_file(path)) for path in Spec.of(spec).files})
        transform = None
        if evaluation.debias != UNTOUCHED:
            transform = models[evaluation.model, evaluation.debias].transform
        place = {
            "criterion": evaluation.criterion,
            "model": evaluation.model,
            "debias": evaluation.debias,
        }
        record = evaluate(models[evaluation.model, UNTOUCHED], transform, spec, evaluation.spec["seed"])
        records[name] = place | record
    return records
