"""Tests of the aggregates that rank models: is a model's aggregate further from no bias than random groups'
aggregates?

Draw b of the random groups gives each score of an aggregate a value, and so the aggregate one. Scores with the same
first group share its draws (`group_draws`), so that their random values move together like the scores.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import BiasgridError
from ..core.files import write_bytes, write_text
from ..core.schema import as_finite, dumps, with_version
from ..core.untrusted import read_npz
from ..queries.query import Query
from .aggregation import OVERALL, Aggregation, aggregate_rows, covers_enough
from .candidate_words import Pool, make_pool, stored_pool
from .cell import model_of, query_of
from .measurement_spec import MeasurementSpec
from .metric_input import MetricInput, look_up
from .permutation import monte_carlo_test
from .results import cells as cells_of
from .significance.random_groups import (
    SCALE,
    GroupValues,
    draws_in_place,
    ends_of_stretches,
    group_values,
    too_few_topics,
)

FIELDS = ("p_value", "p_low", "p_high", "p_lowest", "draws")


class NullValues(NamedTuple):
    """A metric's values for random groups in place of a score's groups, for the first `drawn` draws.

    Attributes
    ----------
    drawn
        Number of draws.
    observed
        Its value for the query's own groups, measured in the same way as random groups.
    numbers, seeds, values
        (draws,) in the order of their numbers; see `random_groups.GroupValues`.
    """

    drawn: int
    observed: float
    numbers: np.ndarray
    seeds: np.ndarray
    values: np.ndarray

    def between(self, start: int, end: int) -> NullValues:
        """Select the draws from number `start` up to `end`."""
        part = slice(*np.searchsorted(self.numbers, (start, end)))
        return NullValues(end, self.observed, self.numbers[part], self.seeds[part], self.values[part])


NOTHING = NullValues(0, np.nan, np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))


@dataclass(eq=False)
class _Row:
    """Score of an aggregate: its criterion and no-bias value, and the values of random groups.

    Attributes
    ----------
    measure
        Returns the function that measures stretches of draws; see `random_groups.group_values`.
    kept
        Values that were measured before.
    asked
        End of the draws that the tests have requested.
    """

    criterion: str
    neutral: float
    measure: Callable[[], Callable[[int, int], GroupValues]]
    kept: NullValues
    asked: int = 0

    def values_of(self, start: int, end: int) -> NullValues:
        """Return the values of the draws from number `start`, where a stretch begins, up to `end`."""
        if self.kept.drawn < end:
            with np.errstate(all="ignore"):
                new = self.measure()(start, end)
            former = self.kept.between(0, start)
            self.kept = NullValues(
                end,
                former.observed if start else new.observed,
                *(
                    np.concatenate([old, part.astype(old.dtype)])
                    for old, part in zip(former[2:], (new.numbers, new.seeds, new.values), strict=True)
                ),
            )
        self.asked = max(self.asked, end)
        return self.kept.between(start, end)


def infer_aggregates(
    cells: Iterable[tuple[Mapping[str, Any], Query, Sequence[Mapping[str, Any]]]],
    model: Any,
    pool: Pool,
    *,
    criteria: Sequence[str],
    ranked: Sequence[str],
    aggregation: Aggregation,
    kept: dict[tuple[str, str], NullValues] | None = None,
) -> list[dict[str, Any]]:
    """Test the aggregates of a metric's scores on a model variant against the aggregates of random groups.

    The statistic is the absolute aggregate of the scores' distances from the metric's no-bias value; with
    "abs_avg", their mean distance. Scores without a test against random groups are left out of it and of its null
    distribution.

    Parameters
    ----------
    cells
        For each cell its entry in a file of inference ("params", "words", "inference", ...), its query, and its
        results. If several queries of a criterion have the same sub-query, the first one's results are used.
    criteria
        Aggregates to test: criteria, and "Overall" for the cells of ranked criteria.
    ranked
        Ranked criteria.
    aggregation
        See `measure.statistics.aggregation.aggregator`.
    kept
        Values of random groups that were measured before, by `made_of` of a cell and the name of its sub-query.
        They are replaced by the values that are used here.

    Returns
    -------
    list of dict
        For each of `criteria`: "criterion", "scores" with a value, "scores_in_test". "reason" if the test is
        missing, because at least half of the scores lack one; otherwise "p_value", "p_low", "p_high", "p_lowest",
        "draws", "seeds".
    """
    rows: dict[tuple[str, str], _Row | None] = {}
    former = dict(kept or {})
    keys: dict[tuple[str, str], _Row] = {}
    options: Mapping[str, Any] = {}
    for cell, query, results in cells:
        options = cell["inference"]["random_groups"]
        row_of = _rows_of_cell(cell, query, model, pool)
        for result in results:
            place = cell["criterion"], result["query"]
            if place not in rows and result["status"] == "ok":
                has_test = result["random_groups"].get("p_value") is not None
                rows[place] = None
                if has_test:
                    key = cell.get("made_of", ""), result["query"]
                    rows[place] = keys[key] = row_of(result["query"], former.get(key, NOTHING))
    records = []
    for criterion in criteria:
        names = ranked if criterion == OVERALL else [criterion]
        members = [row for (name, _), row in rows.items() if name in names]
        in_test = [row for row in members if row is not None]
        record = {"criterion": criterion, "scores": len(members), "scores_in_test": len(in_test)}
        if not covers_enough(len(in_test), len(members)):
            record["reason"] = "fewer than half of the scores have a test against random groups"
        else:
            record |= _test(in_test, options["draws"], options["stop"], aggregation)
        records.append(record)
    if kept is not None:
        kept.clear()
        kept |= {key: row.kept.between(0, row.asked) for key, row in keys.items()}
    return records


def _rows_of_cell(
    cell: Mapping[str, Any], query: Query, model: Any, pool: Pool
) -> Callable[[str, NullValues], _Row]:
    """Return a function that builds the rows of a cell's scores, by the name of the sub-query."""
    request = MeasurementSpec.of_cell(cell)
    options, seed = cell["inference"]["random_groups"], cell["inference"]["draw_seed"]

    @cache
    def samples() -> dict[str, MetricInput]:
        return {sample.query.name: sample for sample in look_up(request, query, model)}

    @cache
    def measure(name: str) -> Callable[[int, int], GroupValues]:
        sample = samples()[name]
        group_draws = draws_in_place(sample, pool, seed, options["match"])
        assert not isinstance(group_draws, str)  # the score has a test
        return group_values(sample, pool, group_draws)

    return lambda name, kept: _Row(cell["criterion"], request.metric.neutral, partial(measure, name), kept)


def _test(rows: Sequence[_Row], draws: int, stop: int | None, aggregation: Aggregation) -> dict[str, Any]:
    ends = ends_of_stretches(draws, SCALE)
    seeds: list[np.ndarray] = []
    values: list[np.ndarray] = []

    def draw(start: int, end: int) -> np.ndarray:
        """Return the aggregates of these draws, NaN if a score lacks a value; append to `seeds` and `values`."""
        of_rows = [row.values_of(start, end) for row in rows]
        numbers = of_rows[0].numbers
        for null in of_rows[1:]:
            numbers = np.intersect1d(numbers, null.numbers, assume_unique=True)
        places = [np.searchsorted(null.numbers, numbers) for null in of_rows]
        distances = [n.values[p] - row.neutral for n, p, row in zip(of_rows, places, rows, strict=True)]
        is_whole = np.isfinite(distances).all(axis=0)
        seeds.append(np.stack([n.seeds[p] for n, p in zip(of_rows, places, strict=True)], axis=1))
        values.append(np.full(len(numbers), np.nan))
        values[-1][is_whole] = np.abs(aggregate_rows(np.stack(distances, axis=1)[is_whole], aggregation))
        return values[-1]

    def topics(of_draws: np.ndarray, count: int) -> int:
        # Draws whose rows all start from the same seeds belong to the same topics.
        return len(np.unique(of_draws[:count], axis=0))

    # Decide whether there is a test before looking at any value.
    for start, end in pairwise(ends):
        draw(start, end)
        if sum(map(len, seeds)) >= SCALE:
            break
    number = min(SCALE, sum(map(len, seeds)))
    if reason := too_few_topics(number, topics(np.concatenate(seeds), SCALE), draws):
        return {"reason": reason}
    made = ends.index(end)

    def of_stretch(start: int, end: int) -> np.ndarray:
        place = ends.index(end) - 1
        stretch = values[place] if place < made else draw(start, end)
        return stretch[np.isfinite(stretch)]

    own = np.array([[row.values_of(*ends[:2]).observed - row.neutral for row in rows]])
    observed = float(np.abs(aggregate_rows(own, aggregation))[0])
    test = monte_carlo_test(of_stretch, observed, "greater", ends, stop)
    of_test = np.concatenate(seeds)[np.isfinite(np.concatenate(values))]
    count = topics(of_test, test.draws)
    record = {name: getattr(test, name) for name in FIELDS}
    most = topics(of_test, len(of_test)) if len(seeds) == len(ends) - 1 else draws
    record["p_lowest"] = max(test.p_lowest, 1 / (most + 1))
    for name in ("p_value", "p_high"):
        record[name] = max(record[name], 1 / (count + 1))
    return {**record, "seeds": count}


def write_aggregates(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write the tests of a metric's aggregates on a model variant, and the values of random groups (.npz).

    Values of unchanged scores are kept: an edited query costs only its own values.

    Parameters
    ----------
    inputs
        "inference": the file of the cells' inference. "queries": their files, in the order of its cells. "model",
        "store", "transform" and "pool": see `write_inference.infer_cells`.
    spec
        "criteria", "ranked" and "aggregation": see `infer_aggregates`. "code": a digest of the running code.
    """
    records = list(cells_of([inputs["inference"]]))
    queries = map(query_of, inputs["queries"])
    names = {
        (cell["made_of"], result["query"]): _digest(spec["code"], cell["made_of"], result["query"])
        for cell, results in records
        for result in results
    }
    values_path = output.with_suffix(".npz")
    former = _read_values(values_path)
    kept = {key: former[name] for key, name in names.items() if name in former}
    model = model_of(inputs["store"], inputs.get("transform"))
    tests = infer_aggregates(
        [
            (cell, query, results)
            for (cell, results), query in zip(records, queries, strict=True)
            if cell["criterion"] in spec["criteria"]
        ],
        model,
        stored_pool(inputs["pool"]) or make_pool(model),
        criteria=spec["criteria"],
        ranked=spec["ranked"],
        aggregation=spec["aggregation"],
        kept=kept,
    )
    _write_values(values_path, {names[key]: values for key, values in kept.items()})
    write_text(output, dumps(with_version({"aggregates": as_finite(tests)})) + "\n")


def _digest(*texts: str) -> bytes:
    return hashlib.sha256("\n".join(texts).encode()).digest()


def _write_values(path: Path, values: Mapping[bytes, NullValues]) -> None:
    rows = list(values.values())
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(row, name) for row in (NOTHING, *rows)])
        for name in ("numbers", "seeds", "values")
    }
    file = BytesIO()
    np.savez(
        file,
        names=np.frombuffer(b"".join(values), np.uint8).reshape(-1, 32),
        drawn=np.array([row.drawn for row in rows], np.int32),
        observed=np.array([row.observed for row in rows], float),
        counts=np.array([len(row.values) for row in rows], np.int32),
        **arrays,
    )
    write_bytes(path, file.getvalue())


def _read_values(path: Path) -> dict[bytes, NullValues]:
    """Read the values that `_write_values` wrote.

    The result is empty if the file is missing, cut off or of another kind: its values are then measured again.
    """
    with suppress(OSError, KeyError, ValueError, TypeError, IndexError, BiasgridError):
        arrays = read_npz(path)
        ends = np.cumsum(arrays["counts"])
        columns = [arrays[name] for name in ("numbers", "seeds", "values")]
        kinds = [(column.dtype, column.shape) for column in columns]
        if kinds == [(part.dtype, (ends[-1],)) for part in NOTHING[2:]] and (arrays["counts"] >= 0).all():
            parts = zip(*(np.split(column, ends[:-1]) for column in columns), strict=True)
            return {
                name.tobytes(): NullValues(int(drawn), float(observed), *of_row)
                for name, drawn, observed, of_row in zip(
                    arrays["names"], arrays["drawn"], arrays["observed"], parts, strict=True
                )
            }
    return {}
