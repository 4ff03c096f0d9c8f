"""The measurement of a query by a call of a metric, `metrics.weat(query, model)`: `Metric.__call__`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core import docstrings, wefe_names
from ..core.errors import InputError, not_allowed
from ..core.keywords import check_names
from ..metrics.registry import Metric, Part
from ..models.checks import check_model, check_plain, check_query, plain
from ..models.model import Model
from ..models.preprocessing import Preprocessor
from ..queries.query import Query
from . import significance
from .measure import measure
from .measurement_spec import MeasurementSpec, check_kind, check_template, split_options
from .result import Result
from .value_warnings import warn_lost, warn_shared


def measure_query(
    metric: Metric,
    query: Query,
    model: Model,
    parameters: Mapping[str, Any],
    parts: Mapping[str, Part],
    *,
    preprocessors: Sequence[Preprocessor] | None,
    strategy: str,
    normalize: Any,
    lost_vocabulary_threshold: float,
    seed: int,
    interval: str,
) -> Result:
    """Measure a query on a model, after a check of all options.

    Parameters
    ----------
    parameters
        The metric's parameters. Tests that `Metric.__call__` does not name may be among them.
    parts
        The parts of inference that `Metric.__call__` names, and what was asked of each. The other parameters are its.
    """
    check_query(query)
    check_model(model)
    seed = plain(seed)
    tests = significance.REGISTRY.keys() - parts.keys()
    parts = {**parts, **{name: parameters[name] for name in tests if name in parameters}}
    inference = significance.complete(parts)
    parameters = {name: plain(value) for name, value in parameters.items() if name not in tests}
    for name, choice in (("strategy", strategy), ("interval", interval)):
        if not isinstance(choice, str):
            raise InputError(not_allowed(name, choice, "a name, as text"))
    for name, value in parameters.items():
        if not _takes_anything(metric, name):
            check_plain(name, value)
    check_names(parameters, metric.parameters, wefe_names.MEASURING, f"metrics.{metric.name}")
    look_up: dict[str, Any] = {"strategy": strategy}
    if normalize is not False or "normalize" not in metric.parameters:
        look_up["normalize"] = normalize
    look_up["lost_vocabulary_threshold"] = lost_vocabulary_threshold
    if preprocessors is not None:
        look_up["preprocessors"] = preprocessors
    other_names = [*parts, *tests, "interval", "seed"]
    parameters, words = split_options(metric, parameters | look_up, other_names)
    spec = MeasurementSpec(metric, parameters, words, seed, inference, interval, draw_seed=seed)
    check_template(spec.metric, query)
    warn_shared(query)
    check_kind(metric, model)
    result = measure(spec, query, model)[0]
    warn_lost(query, model, result)
    return result


def _takes_anything(metric: Metric, name: str) -> bool:
    parameter = docstrings.signature_of(metric.function).parameters.get(name)
    return parameter is None or parameter.annotation in (Any, parameter.empty)
