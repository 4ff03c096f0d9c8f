"""Ranks of every bootstrap resample, as an array next to the tables (rank_samples.npy).

A resample of the study draws the words of every set. The draw is the same in all cells that have the set (see
`measure.bootstrap`), so that each resample gives every model a rank. There are three kinds of resamples:

- of the words;
- of the queries of each criterion, drawn with replacement. A sub-query follows the first query that has it, and all
  models and metrics have the same draw;
- of both.

There are two kinds of ranks: `rank` and `rank_shared` of the rankings. If there are fewer clusters of queries than
`measure.statistics.two_models` needs for conclusions about other queries, rank_shared only has resamples of words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BiasgridError
from ..core.files import write_bytes
from ..core.in_memory import File, InMemory
from ..core.seeds import seed_of
from ..core.untrusted import read_npy
from ..measure.aggregation import OVERALL, Aggregation
from ..measure.ranks import RESAMPLED, aggregates_of_resamples, ranks_of_resamples
from ..measure.results import KEYS, cells
from ..measure.statistics.shared import COVERAGE
from ..measure.statistics.two_models import FEWEST_CLUSTERS
from .inputs import facts_of, sample_files
from .query_groups import clusters_of
from .scores import read_ranked
from .shared import Clusters, Parts, places_of
from .table import Files

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Planned


NAME = "rank_samples"
# The columns of the rankings that are resampled.
RANKS = ("rank", "rank_shared")


def write(inputs: Files, spec: Mapping[str, Any], output: Path | str) -> None:
    """Write the ranks of the study's resamples: float32 (RANKS, RESAMPLED, rows of the rankings, draws).

    Parameters
    ----------
    inputs
        "scores": the table; "samples": the arrays of cells' values in resamples of words; "inferences": the files
        that name the scores of these values, in the same order.
    spec
        "ranking": the arguments of `tables.rankings.rankings`; "clusters": as in `tables.shared.places_of`; "draws";
        "seed": the study's seed; "queries": the ids of each ranked criterion's queries.
    """
    file = BytesIO()
    np.save(file, make(inputs, spec))
    write_bytes(output, file.getvalue())


def make(inputs: Files, spec: Mapping[str, Any]) -> np.ndarray:
    """Compute the array that `write` writes."""
    scores = read_ranked(inputs["scores"], spec["ranking"])
    samples = value_samples(scores, inputs, spec)
    return rank_samples(scores, *samples, **spec["ranking"], clusters=spec["clusters"])


def spec(study: Planned) -> dict[str, Any]:
    return facts_of(study, ("ranking", "draws", "seed")) | {
        "clusters": clusters_of(study),
        "queries": {
            name: sorted(study.config.criteria[name].queries) for name in sorted(study.ranked_criteria)
        },
    }


def inputs(study: Planned) -> dict[str, Any]:
    samples = sample_files(study, lambda cell: cell.criterion in study.ranked_criteria)
    return {"scores": study.paths.table_file("scores"), **samples}


def read_ranks(path: File, rows: int, draws: int) -> np.ndarray:
    """Read the file that `write` wrote for a table with this number of rows: (RANKS, RESAMPLED, rows, draws).

    Raises BiasgridError if the file is missing, or belongs to another table.
    """
    return _load(path, (len(RANKS), len(RESAMPLED), rows, draws), "biasgrid step rank_samples --study CONFIG")


def read_samples(path: File, group: str, shape: tuple[int, int]) -> np.ndarray:
    """Read the values of a group's scores in bootstrap resamples, (sub-queries, draws).

    Raises BiasgridError if the file is missing, or belongs to another study.
    """
    return _load(path, shape, f'biasgrid step "inference {group}" --study CONFIG')


def value_samples(
    scores: pd.DataFrame, inputs: Files, spec: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's value in every resample of words, and its query's count in every resample of queries.

    Both arrays are (rows, draws), for the rows of the scores in ranked criteria. Undefined values are NaN. Raises
    BiasgridError for a file of samples that is missing or belongs to another study.
    """
    draws = spec["draws"]
    places = {key: place for place, key in enumerate(scores[KEYS].itertuples(index=False, name=None))}
    samples = np.full((len(scores), draws), math.nan)
    counts = np.zeros((len(scores), draws), dtype=np.int32)
    query_counts = {
        name: _draw_queries(spec["seed"], name, ids, draws) for name, ids in spec["queries"].items()
    }
    for record, values in zip(inputs["inferences"], inputs["samples"], strict=True):
        cell_queries = [(cell, result["query"]) for cell, part in cells([record]) for result in part]
        first = cell_queries[0][0]
        group = "/".join(first[name] for name in ("model", "debias", "metric"))
        of_group = read_samples(values, group, (len(cell_queries), draws))
        for (cell, name), row in zip(cell_queries, of_group, strict=True):
            # As in the scores, a sub-query of several queries belongs to the first cell.
            key = cell["criterion"], name, cell["metric"], cell["model"], cell["debias"]
            place = places.pop(key, None)
            if place is not None and cell["criterion"] in query_counts:
                samples[place] = np.where(np.isfinite(row), row, math.nan)
                counts[place] = query_counts[cell["criterion"]][cell["query"]]
    return samples, counts


def _draw_queries(seed: int, criterion: str, queries: Sequence[str], draws: int) -> dict[str, np.ndarray]:
    """Count each query of a criterion in each resample of its queries: query id -> (draws,)."""
    rng = np.random.default_rng(seed_of(seed, f"queries/{criterion}"))
    places = rng.integers(len(queries), size=(draws, len(queries)))
    return {query: np.count_nonzero(places == i, axis=1) for i, query in enumerate(queries)}


def rank_samples(
    scores: pd.DataFrame,
    samples: np.ndarray,
    counts: np.ndarray,
    ranked: Sequence[str],
    neutral: Mapping[str, float],
    aggregation: Aggregation = "abs_avg",
    by: str = "distance",
    ties: str = "average",
    coverage: float = COVERAGE,
    parts: Parts | None = None,
    clusters: Clusters | None = None,
) -> np.ndarray:
    """Compute the ranks of `tables.rankings` in each resample.

    See `measure.ranks` for how absolute values of resamples are avoided.

    Parameters
    ----------
    samples
        The value of each row of the scores with each draw of words, (rows, draws).
    counts
        How often the row's query is in each draw of queries, (rows, draws).

    Returns
    -------
    numpy.ndarray
        float32 (RANKS, RESAMPLED, rows of the rankings, draws); NaN if a model is not ranked.
    """
    units: list[tuple[np.ndarray, float]] = []
    shared_units: list[tuple[np.ndarray, float]] = []
    groups, on_few_queries = [], []
    for place in places_of(scores, ranked, coverage, parts, clusters):
        if place.criterion not in (*ranked, OVERALL):
            continue
        groups.append(list(range(len(units), len(units) + len(place.states))))
        if place.count_clusters(place.shared.rows) < FEWEST_CLUSTERS:
            on_few_queries += groups[-1]
        for column, is_ranked in enumerate(place.shared.units):
            places = place.places[:, column]
            units.append((places[places >= 0], neutral[place.metric]))
            shared_units.append((places[place.shared.rows & is_ranked], neutral[place.metric]))
    observed = scores["value"].to_numpy()[:, None]
    ranks = np.empty((len(RANKS), len(RESAMPLED), len(units), samples.shape[1]), dtype=np.float32)
    for kind, of_kind in enumerate((units, shared_units)):
        values = aggregates_of_resamples(observed, samples, counts, of_kind, aggregation, by)
        ranks[kind] = ranks_of_resamples(values, groups, ties)
    ranks[1][1:, on_few_queries] = math.nan
    return ranks


def _load(path: File, shape: tuple[int, ...], command: str) -> np.ndarray:
    if isinstance(path, InMemory):
        return path.content
    try:
        values = read_npy(Path(path))
    except (OSError, BiasgridError) as error:
        raise BiasgridError(f"{path}: no bootstrap samples ({error}); {command} makes it") from None
    if values.dtype.kind != "f":
        raise BiasgridError(f"{path}: no bootstrap samples; make it again: {command}")
    if values.shape != shape:
        raise BiasgridError(f"{path}: has the shape {values.shape}, not {shape}; make it again: {command}")
    return values
