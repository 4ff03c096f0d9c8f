"""Work of `measure_grid` in this process or in several, which know the session's plugins and metrics."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ... import metrics
from ...core.processes import RANDOM_GROUPS
from ...core.registry import load_plugins, loaded_plugins
from ...core.user_warnings import stacklevel

Session = tuple[list[Path], list[metrics.Metric], str]


def run(
    function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], n_jobs: int, shared: str
) -> Iterator[Any]:
    """Yield the results of a function for the arguments in each task.

    In one process (`n_jobs` is 1), they are in the order of the tasks. Several processes give each as soon as it is
    done, and share in the folder `shared` the random groups that one of them drew.
    """
    if n_jobs == 1:
        yield from (function(*task) for task in tasks)
        return
    import joblib

    session = loaded_plugins(), metrics.REGISTRY.session_entries, shared
    work = [joblib.delayed(_run_in_session)(session, function, *task) for task in tasks]
    shown_messages: set[tuple[type[Warning], str]] = set()
    for result, messages in joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")(work):
        for category, message in messages:
            # Each process warns by itself; show every message once.
            if (category, message) not in shown_messages:
                shown_messages.add((category, message))
                warnings.warn(message, category, stacklevel=stacklevel())
        yield result


def _run_in_session(
    session: Session, function: Callable[..., Any], *task: Any
) -> tuple[Any, list[tuple[type[Warning], str]]]:
    """Return a function's result, and its warnings, which a worker process cannot show."""
    plugins, session_metrics, os.environ[RANDOM_GROUPS] = session
    load_plugins(plugins)
    for metric in session_metrics:
        metrics.REGISTRY.add(metric)
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        result = function(*task)
    return result, [(warning.category, str(warning.message)) for warning in records]
