"""Recoverable bias and loss of quality, measured in memory: the `evaluation` of `measure_grid`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.errors import BiasgridError, quote
from ...core.resources import find_file
from ...debias import UNTOUCHED
from ..study import Study


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
    study: Study, models: Mapping[tuple[str, str], Any], *, progress: bool
) -> dict[tuple[str, ...], Any]:
    """Return the records of a study's evaluations, as `Study.memory` has them.

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

    from ...evaluation.evaluate import record_of

    records = {}
    for evaluation in tqdm(
        study.grid.evaluations.values(), desc="evaluating", unit="model", disable=not progress
    ):
        state = evaluation.model, evaluation.debias
        transform = None if evaluation.debias == UNTOUCHED else models[state].transform
        files = {path: str(find_file(path)) for path in study.evaluation_specs[evaluation.criterion].files}
        record = record_of(models[evaluation.model, UNTOUCHED], transform, evaluation.spec, files)
        records["evaluation", *evaluation.place, ".json"] = record
    return records
