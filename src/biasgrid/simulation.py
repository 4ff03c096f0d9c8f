"""Are p-values calibrated, and do intervals cover? Every metric on simulated embeddings whose bias is known.

Words are Gaussian vectors around the means of populations; a repetition draws new sets and infers from them what a
cell of a study does, by the same code. See docs/simulation.md.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest, kstest

from . import calibration, metrics
from .config import load
from .config.simulation import SimulationConfig
from .configs import read_json
from .embeddings import build_store
from .embeddings.building import store_of
from .embeddings.store import MODEL
from .errors import BiasgridError
from .files import write_text
from .inference import Permutation, Sampled, exchange_test, infer_query
from .inference.pool import Pool, make_pool
from .measure import as_finite, dumps, look_up, subquery
from .metrics.registry import Metric
from .query import Query
from .seeds import seed_of
from .study import PLACE
from .words import WordOptions

COLUMNS = ["metric", "words", "bias", "what", "value", "low", "high", "repetitions", "reason"]
TRUE = ("expected", "all_words")  # what an interval may be for
# the whole populations' value is that of so many words a set, as if they were all that there are, so many times
ALL_WORDS, ALL_WORDS_DRAWS = 1000, 20
# values that differ by less are equal, relative to the larger one or 1
ROUNDING = 1e-13

NO_ENDS = (math.nan, math.nan)

Vectors = list[np.ndarray]


@dataclass(frozen=True)
class Population:
    """Where a query's words come from.

    A word is its set's mean plus a part of its own, a Gaussian vector of length 1 on average (root mean square). The
    means lie in two orthogonal directions, that of the bias and that of the topic:

    bias     how far the first of the sets whose words are exchanged (`Metric.exchanged`) lies in the bias' direction;
             the other lies at 0. With 0 both are of one population
    lean     how far the first set of the other side (attributes; where attributes are exchanged, targets) does
    topic    how far all target words lie in the topic's direction
    shared   for a metric of pairs, the share of a word's own part, by variance, that its pair has in common
    """

    dimensions: int
    lean: float
    topic: float
    shared: float

    def draw(
        self, metric: Metric, words: int, bias: float, rng: np.random.Generator
    ) -> tuple[Vectors, Vectors]:
        """Target sets and attribute sets, two each or as many as the metric takes, (words, dimensions)."""
        targets, attributes = (
            [self._own(words, rng) for _ in range(2 if sets in ("n", "k") else sets)]
            for sets in metric.template
        )
        if metric.paired:
            pair = math.sqrt(self.shared) * self._own(words, rng)
            targets = [pair + math.sqrt(1 - self.shared) * own for own in targets]
        exchanged, others = targets, attributes
        if metric.exchanged == "attributes":
            exchanged, others = attributes, targets
        exchanged[0][:, 0] += bias
        others[0][:, 0] += self.lean
        for vectors in targets:
            vectors[:, 1] += self.topic
        return targets, attributes

    def _own(self, words: int, rng: np.random.Generator) -> np.ndarray:
        return rng.normal(size=(words, self.dimensions)) / math.sqrt(self.dimensions)


@dataclass(frozen=True)
class Cell:
    """A metric, a number of words a set and a bias. `spec` is everything that its results depend on."""

    metric: str
    words: int
    bias: float
    spec: str

    @property
    def name(self) -> str:
        """Metric/words/bias, its path below the simulation's cells."""
        return f"{self.metric}/{self.words}/{self.bias:g}"


@dataclass(frozen=True)
class RealCell:
    """Queries of a kind, drawn from a real model. `spec` is everything that its results depend on."""

    model: str
    kind: str
    spec: str

    @property
    def name(self) -> str:
        """Model/kind, its path below the simulation's real cells."""
        return f"{self.model}/{self.kind}"


@dataclass(frozen=True)
class Simulation:
    """A checked config of a simulation. Build it with `Simulation.of`."""

    config: dict[str, Any]

    @classmethod
    def of(cls, config: Mapping[str, Any], where: str = "config", root: Path = Path(".")) -> Simulation:
        """A config whose files of models are relative to `root`.

        Raises BiasgridError naming the key that is wrong and what is allowed there.
        """
        config = load.complete(SimulationConfig, config, where, root)
        if "calibration" in config and not config["models"]:
            raise BiasgridError(f"{where}: calibration: it needs models, whose words it draws")
        for model, entry in config["models"].items():
            if entry["source"]["type"] == "trained":
                raise BiasgridError(f"{where}: models: {model}: a simulation trains no models; name others")
        for key, entry in config.get("calibration", {}).get("metrics", {}).items():
            try:
                metrics.metric(entry.get("metric", key)).under(entry["params"])
            except BiasgridError as error:
                raise BiasgridError(f"{where}: calibration: metrics: {key}: {error}") from None
        for key, entry in config["metrics"].items():
            try:
                metric = metrics.metric(entry.get("metric", key)).under(entry["params"])
                if metric.of_model:
                    raise BiasgridError(
                        "it is of more than its words' vectors, and there is no model around these"
                    )
            except BiasgridError as error:
                raise BiasgridError(f"{where}: metrics: {key}: {error}") from None
            for part in ("null", "coverage"):
                # the metric's own settings, else the simulation's
                entry[part] = config[part] | entry.get(part, {})
        return cls(config)

    @classmethod
    def read(cls, path: Path | str) -> Simulation:
        """A simulation from its config file (YAML)."""
        return cls.of(load.read(path), str(path))

    @property
    def results(self) -> Path:
        """The folder of its results."""
        return Path(self.config["results"]) / self.config["simulation"]

    def cell_file(self, cell: Cell) -> Path:
        """Where a cell's results are."""
        return self.results / "cells" / f"{cell.name}.json"

    @cached_property
    def cells(self) -> dict[str, Cell]:
        """All cells by name."""
        found = {}
        for key, entry in self.config["metrics"].items():
            for words in self.config["words"]:
                for bias in self.config["bias"]:
                    spec = {name: value for name, value in entry.items() if name != "label"}
                    spec |= {"metric": metrics.metric(entry.get("metric", key)).name}
                    spec |= {
                        "population": self.config["population"],
                        "words": int(words),
                        "bias": float(bias),
                    }
                    spec["seed"] = seed_of(self.config["seed"], f"{key}/{words}/{bias:g}")
                    cell = Cell(key, int(words), float(bias), json.dumps(spec, sort_keys=True))
                    found[cell.name] = cell
        return found

    @property
    def labels(self) -> dict[str, str]:
        """What figures print for a metric's key."""
        return _labels(self.config["metrics"])

    @property
    def embeddings(self) -> Path:
        """The folder of archives and stores: that of the environment variable BIASGRID_EMBEDDINGS, which studies
        share, else data/embeddings."""
        return Path(os.environ.get(PLACE) or "data/embeddings").expanduser()

    def model_file(self, model: str) -> Path:
        """Where the record of a model's store is, a copy of its model.json."""
        return self.results / "models" / f"{model}.json"

    def pool_file(self, model: str) -> Path:
        """Where the words are that random groups of a model are made of."""
        return self.results / "pools" / f"{model}.npz"

    def real_file(self, cell: RealCell) -> Path:
        """Where the p-values of queries from a real model are."""
        return self.results / "real" / f"{cell.name}.json"

    @cached_property
    def real_cells(self) -> dict[str, RealCell]:
        """A cell for each real model and kind of query, by name."""
        found = {}
        asked = self.config.get("calibration", {})
        entries = {
            key: {name: value for name, value in entry.items() if name != "label"}
            for key, entry in asked.get("metrics", {}).items()
        }
        for model in self.config["models"] if asked else ():
            for kind, queries in asked["kinds"].items():
                spec = {name: int(asked[name]) for name in ("words", "vocabulary", "draws")}
                spec |= {"queries": int(queries), "metrics": entries}
                spec["seed"] = seed_of(self.config["seed"], f"{model}/{kind}")
                cell = RealCell(model, kind, json.dumps(spec))
                found[cell.name] = cell
        return found

    @property
    def real_labels(self) -> dict[str, str]:
        """What the figure of real vectors prints for a metric's or model's key."""
        models = {key: model.get("label", key) for key, model in self.config["models"].items()}
        return _labels(self.config["calibration"]["metrics"]) | models


def _labels(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    return {
        key: entry.get("label", metrics.metric(entry.get("metric", key)).label)
        for key, entry in entries.items()
    }


def prepare(simulation: Simulation, model: str) -> None:
    """Fetch a real model, make its store, and write its record and its pool where the simulation has them."""
    entry, folder = simulation.config["models"][model], simulation.embeddings
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BiasgridError(f"{folder} is no folder for embeddings: {error.strerror}") from None
    build_store(model, entry, folder, shared=bool(os.environ.get(PLACE)))
    store = store_of(folder, model, entry).open()
    make_pool(store).save(simulation.pool_file(model))
    write_text(simulation.model_file(model), (store.path / MODEL).read_text(encoding="utf-8"))


def calibrate(simulation: Simulation, cell: RealCell) -> None:
    """Write the p-values of a kind of query from a real model, of which `prepare` has made store and pool."""
    spec = json.loads(cell.spec)
    store = store_of(simulation.embeddings, cell.model, simulation.config["models"][cell.model]).open()
    pool = Pool.load(simulation.pool_file(cell.model))
    of_metrics = spec.pop("metrics")
    found = calibration.p_values(store, pool, cell.kind, of_metrics, **spec)
    record = {"model": cell.model, "kind": cell.kind, **spec, "metrics": of_metrics, "found": found}
    write_text(simulation.real_file(cell), dumps(as_finite(record)) + "\n")


def simulate(simulation: Simulation, cell: Cell) -> None:
    """Write a cell's file: its p-values where there is nothing to find, and what its intervals cover."""
    spec = json.loads(cell.spec)
    metric = metrics.metric(spec["metric"]).under(spec["params"])
    drawn = metric, Population(**spec["population"]), spec["words"], spec["bias"], spec["params"]
    streams = [np.random.default_rng([spec["seed"], stream]) for stream in range(2)]
    reason = metric.no_test
    null = {"reason": reason} if reason else under_null(*drawn, streams[0], **spec["null"])
    found = coverage(*drawn, streams[1], **spec["coverage"])
    record = {**spec, "null": null, "settings": spec["coverage"], "found": found}
    write_text(simulation.cell_file(cell), dumps(as_finite(record)) + "\n")


def under_null(
    metric: Metric,
    population: Population,
    words: int,
    bias: float,
    params: Mapping[str, Any],
    rng: np.random.Generator,
    *,
    repetitions: int,
    draws: int,
    exact: int,
) -> dict[str, list[float]]:
    """p-values of a metric where its null hypothesis is true, one a repetition.

    Without bias, each is of new words. With a bias, they are of the same words, whose labels are exchanged at random
    before each test. `p_values` are those that the test gives; `uniform` are uniformly distributed from 0 to 1 if the
    test is right: a p-value is a number of partitions, so it is moved by a random part of its distance to the next
    smaller one that would be possible.
    """
    fixed = population.draw(metric, words, bias, rng)
    found: dict[str, list[float]] = {"p_values": [], "uniform": []}
    for _ in range(repetitions):
        sets = exchanged(metric, *fixed, rng) if bias else population.draw(metric, words, 0, rng)
        query, model = _embedding(*sets)
        found_sets = look_up(metric, query, model, WordOptions())
        looked_up = subquery(metric, query, found_sets, WordOptions())[:2]
        seeds = rng.integers(2**32, size=2).tolist()
        sampled = Sampled.of(metric, query, *looked_up, params, WordOptions(), seeds[0])
        tested = exchange_test(sampled, seed=seeds[1], draws=draws, exact=exact)
        found["p_values"].append(tested.p_value)
        found["uniform"].append(tested.p_value - rng.random() * (tested.p_value - _next_smaller(tested)))
    return found


def coverage(
    metric: Metric,
    population: Population,
    words: int,
    bias: float,
    params: Mapping[str, Any],
    rng: np.random.Generator,
    *,
    repetitions: int,
    draws: int,
    level: float,
    truth: int,
) -> dict[str, Any]:
    """How often a metric's intervals hold the true value, which is one of two.

    expected   the mean value of sets of so many words, over `truth` draws from the populations; deviation: their
               standard deviation
    all_words  the value of the whole populations, weighing as much as a set does
    standard_error  the bootstrap's, on average
    intervals  kind -> how many intervals there were, how many held either value, how many lay below and above
               `expected`, and their mean width
    """
    values = []
    for _ in range(truth):
        sets = population.draw(metric, words, bias, rng)
        seed = {"seed": int(rng.integers(2**32))} if metric.seeded else {}
        values.append(metric.function(*sets, **params, **seed).value)
    if not np.isfinite(values).all():
        raise BiasgridError(
            f"{metric.name} has no value for some sets of {words} words; simulate larger ones"
        )
    true = {
        "expected": float(np.mean(values)),
        "all_words": _of_all_words(metric, population, words, bias, params, rng),
    }
    inferred = []
    for _ in range(repetitions):
        query, model = _embedding(*population.draw(metric, words, bias, rng))
        seeds = rng.integers(2**32, size=2).tolist()
        (result,), _ = infer_query(
            metric,
            query,
            model,
            params,
            seed=seeds[0],
            draw_seed=seeds[1],
            bootstrap={"draws": draws, "level": level},
        )
        if result["status"] == "ok":
            inferred.append(result["bootstrap"])
    intervals = {}
    for kind in [name for name, value in inferred[0].items() if isinstance(value, list)]:
        low, high = np.array([x[kind] for x in inferred if x[kind][0] is not None]).reshape(-1, 2).T
        intervals[kind] = {
            "intervals": len(low),
            **{name: int(((low <= value) & (value <= high)).sum()) for name, value in true.items()},
            "below": int((high < true["expected"]).sum()),
            "above": int((low > true["expected"]).sum()),
            "width": float((high - low).mean()) if len(low) else math.nan,
        }
    return true | {
        "deviation": float(np.std(values, ddof=1)),
        "standard_error": float(np.mean([x["standard_error"] for x in inferred if x["standard_error"]])),
        "intervals": intervals,
    }


def exchanged(
    metric: Metric, targets: Vectors, attributes: Vectors, rng: np.random.Generator
) -> tuple[Vectors, Vectors]:
    """The same words with labels exchanged at random, as the metric's null hypothesis has it."""
    if metric.exchanged == "pairs":
        first, second = targets
        swap = rng.integers(2, size=(len(first), 1)).astype(bool)
        return [np.where(swap, second, first), np.where(swap, first, second)], attributes

    def dealt(side: Vectors) -> Vectors:
        return np.split(rng.permutation(np.concatenate(side)), np.cumsum([len(s) for s in side])[:-1])

    if metric.exchanged == "attributes":
        return targets, dealt(attributes)
    return dealt(targets), attributes


def table(simulation: Simulation) -> pd.DataFrame:
    """What came out, a row a number: see docs/simulation.md. Raises BiasgridError for a cell that is not there."""
    rows = []
    for cell in simulation.cells.values():
        record = read_json(simulation.cell_file(cell))
        rows += [
            (cell.metric, cell.words, cell.bias, *row) for row in [*_of_null(record), *_of_coverage(record)]
        ]
    return pd.DataFrame(rows, columns=COLUMNS)


def real_table(simulation: Simulation) -> pd.DataFrame:
    """The share of small p-values for each real model, kind, metric and test: see docs/simulation.md. Raises
    BiasgridError for a cell that is not there."""
    records = [read_json(simulation.real_file(cell)) for cell in simulation.real_cells.values()]
    return pd.DataFrame(calibration.shares(records), columns=calibration.COLUMNS)


def summarise(simulation: Simulation) -> list[str]:
    """Write the table and the figures from the cells, which must be there; returns the files' paths."""
    # imported late: cells need no matplotlib
    from .figures.layout import save
    from .figures.simulation import coverage, p_values, shares

    results = table(simulation)
    written = [simulation.results / "simulation.csv"]
    write_text(written[0], results.to_csv(index=False, lineterminator="\n"))
    uniform = {
        (cell.metric, cell.words, cell.bias): read_json(simulation.cell_file(cell))["null"].get("uniform")
        for cell in simulation.cells.values()
    }
    figures = {"p-values": p_values(uniform, simulation.labels)}
    level = simulation.config["coverage"]["level"]
    for true in TRUE:
        figures[f"coverage-{true.replace('_', '-')}"] = coverage(results, simulation.labels, true, level)
    if simulation.real_cells:
        real = real_table(simulation)
        written.append(simulation.results / "calibration.csv")
        write_text(written[-1], real.to_csv(index=False, lineterminator="\n"))
        figures["calibration"] = shares(real, simulation.real_labels)
    for name, figure in figures.items():
        written += save(figure, simulation.results / "figures" / name)
    return list(map(str, written))


def _of_null(record: Mapping[str, Any]) -> Iterator[tuple]:
    if "reason" in record["null"]:
        yield "uniform_p", math.nan, *NO_ENDS, 0, record["null"]["reason"]
        return
    p_values, uniform = (np.array(record["null"][name]) for name in ("p_values", "uniform"))
    tested = kstest(uniform, "uniform")
    yield "uniform_distance", tested.statistic, *NO_ENDS, len(uniform)
    yield "uniform_p", tested.pvalue, *NO_ENDS, len(uniform)
    for level in (0.05, 0.01):
        # a p-value of exactly the level, as (k + 1) / (n + 1) gives it, rejects
        rejected = int((p_values <= level + ROUNDING).sum())
        yield f"rejected_{level:g}", *_share(rejected, len(p_values))


def _of_coverage(record: Mapping[str, Any]) -> Iterator[tuple]:
    settings, found = record["settings"], record["found"]
    yield "expected", found["expected"], *NO_ENDS, settings["truth"]
    yield "all_words", found["all_words"], *NO_ENDS, ALL_WORDS_DRAWS
    yield "deviation", found["deviation"], *NO_ENDS, settings["truth"]
    yield "standard_error", found["standard_error"], *NO_ENDS, settings["repetitions"]
    for kind, of_kind in found["intervals"].items():
        intervals = of_kind["intervals"]
        for true in TRUE:
            yield f"{kind}_covers_{true}", *_share(of_kind[true], intervals)
        for side in ("below", "above"):
            yield f"{kind}_{side}", *_share(of_kind[side], intervals)
        yield f"{kind}_width", of_kind["width"], *NO_ENDS, intervals


def _share(count: int, repetitions: int) -> tuple[float, float, float, int]:
    """A share, its 95 % interval (Clopper & Pearson 1934), and of how many it is."""
    if not repetitions:
        return math.nan, *NO_ENDS, 0
    return count / repetitions, *binomtest(count, repetitions).proportion_ci(0.95, "exact"), repetitions


def _next_smaller(tested: Permutation) -> float:
    """The largest p-value below a test's that it could have given with these partitions, or 0."""
    values = tested.null_distribution
    rounding = ROUNDING * max(1.0, np.abs(values).max(), abs(tested.observed))
    beyond = {
        "greater": np.count_nonzero(values > tested.observed + rounding),
        "less": np.count_nonzero(values < tested.observed - rounding),
    }
    two_sided = tested.alternative == "two-sided"
    count = 2 * min(beyond.values()) if two_sided else beyond[tested.alternative]
    return count / (tested.draws + (tested.method != "exact"))


def _of_all_words(
    metric: Metric,
    population: Population,
    words: int,
    bias: float,
    params: Mapping[str, Any],
    rng: np.random.Generator,
) -> float:
    """The value of ALL_WORDS words a set, each with a weight that makes them `words` together; mean of several draws.
    NaN for a metric that takes no weights."""
    if not metric.resampled:
        return math.nan
    values = []
    for _ in range(ALL_WORDS_DRAWS):
        sides = population.draw(metric, ALL_WORDS, bias, rng)
        weights = [
            [np.repeat(np.eye(len(side))[i], ALL_WORDS)[None] * words / ALL_WORDS for i in range(len(side))]
            for side in sides
        ]
        statistic = metric.resampled(*map(np.concatenate, sides), **params)
        values.append(statistic(*weights)[0])
    return float(np.mean(values))


def _embedding(targets: Vectors, attributes: Vectors) -> tuple[Query, _Drawn]:
    """A query whose words are t0_0, t0_1, ... and a model that has them."""
    sides = [
        [[f"{side}{i}_{word}" for word in range(len(vectors))] for i, vectors in enumerate(sets)]
        for side, sets in (("t", targets), ("a", attributes))
    ]
    words = [word for side in sides for words in side for word in words]
    return Query.of(*sides), _Drawn(words, np.concatenate(targets + attributes))


class _Drawn:
    """Simulated words as a model."""

    vocab_prefix = ""

    def __init__(self, words: Sequence[str], vectors: np.ndarray):
        self.places, self.vectors = {word: i for i, word in enumerate(words)}, vectors

    def rows(self, words: Sequence[str]) -> np.ndarray:
        return np.array([self.places[word] for word in words])

    def take(self, words: Sequence[str], rows: np.ndarray) -> np.ndarray:
        return self.vectors[rows]
