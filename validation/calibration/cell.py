"""Cells of a simulation, each with a metric, a number of words per set and a bias."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from biasgrid import metrics
from biasgrid.core.files import write_text
from biasgrid.core.schema import as_finite, dumps

from .coverage import coverage
from .null import under_null
from .populations import Population


def simulate(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write a cell's file: its p-values under the null hypothesis, and the coverage of its intervals.

    Parameters
    ----------
    inputs
        Empty, because the words are drawn.
    spec
        The registered "metric", its "params", "population", "words" of each set, "bias", "seed", and the settings
        of `under_null` ("null") and of `coverage`.
    """
    metric = metrics.metric(spec["metric"]).under(spec["params"])
    arguments = metric, Population(**spec["population"]), spec["words"], spec["bias"], spec["params"]
    streams = [np.random.default_rng([spec["seed"], stream]) for stream in range(2)]
    reason = metric.no_test
    null = {"reason": reason} if reason else under_null(*arguments, streams[0], **spec["null"])
    outcomes = coverage(*arguments, streams[1], **spec["coverage"])
    record = {**spec, "null": null, "settings": spec["coverage"], "found": outcomes}
    write_text(output, dumps(as_finite(record)) + "\n")
