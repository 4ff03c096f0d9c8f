"""Bias that is still recoverable and quality lost, measured in memory: the `evaluation` of `measure_grid`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..debias import UNTOUCHED
from ..errors import BiasgridError, quote
from ..resources import find_file
from .measured_study import MeasuredStudy


def evaluation_config(options: Any, has_debias: bool) -> dict[str, Any]:
    """What `measure_grid` evaluates besides its metrics, as a study's config has it; {} for nothing.

    Raises
    ------
    BiasgridError
        It is no mapping, has a key or a value that is not allowed, names a file that does not exist, or there is no
        debias method to evaluate.
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
    # imported late: evaluations are checked by pydantic
    from ..evaluation import Spec

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
    """The records of a study's evaluations by name, as their files would hold them.

    Parameters
    ----------
    study
        Its `evaluations` are made.
    models
        Models and debiased models, by model and debias key.
    """
    if not study.grid.evaluations:
        return {}
    from tqdm import tqdm  # that of tqdm.auto warns in notebooks without ipywidgets

    from ..evaluation import Spec, evaluate

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
