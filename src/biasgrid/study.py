"""A study: which models, queries and metrics, with which parameters - the config, checked and resolved."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema

from . import debias, metrics
from .configs import check_expansion, read_json, read_yaml
from .embeddings.training import check_parameters
from .errors import BiasgridError
from .evaluation.spec import Spec
from .files import slug
from .query import Query
from .words import WordOptions

if TYPE_CHECKING:
    from .figures import Drawing

SCHEMA = json.loads(Path(__file__).with_name("study.schema.json").read_text(encoding="utf-8"))
TABLES = (
    "scores",
    "aggregates",
    "rankings",
    "correlations",
    "inference",
    "influence",
    "rank_intervals",
    "order",
)
TABLES += ("scalars", "contrasts", "directions", "words", "ratings", "analogies", "analogy_summary")
TABLES += ("comparison", "mitigation", "quality")
REFERENCE = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_]+")  # file.set of a word set
INFERRED = (
    "permutation",
    "random_groups",
    "bootstrap",
    "sensitivity",
)  # parts of `inference` that a cell's file has
UNTOUCHED = "none"  # the debias key of a model as it is
QUALITY = "quality"  # what stands for the criterion in the name of a model's evaluation on benchmarks
PLACE = "BIASGRID_EMBEDDINGS"  # environment variable: where archives and stores of all studies are


@dataclass(frozen=True)
class Cell:
    """A point of the grid. `spec` is everything its value depends on besides the store and the query."""

    criterion: str
    query: str
    metric: str
    model: str
    debias: str
    spec: str

    @property
    def name(self) -> str:
        """Model/debias/metric/query, its path below the study's cells."""
        return f"{self.model}/{self.debias}/{self.metric}/{self.query}"


@dataclass(frozen=True)
class Fit:
    """A debias method fitted on a model. `spec` is everything its transform depends on besides the store."""

    criterion: str
    debias: str
    model: str
    spec: str


@dataclass(frozen=True)
class Evaluation:
    """What debiasing costs and hides, measured on a model that is untouched or under one transform; without a
    criterion its quality, on the benchmarks that the study has for all its models."""

    criterion: str | None
    debias: str
    model: str
    spec: str

    @property
    def name(self) -> str:
        """Model/debias/criterion, or model/debias/quality, its path below the study's evaluations."""
        return f"{self.model}/{self.debias}/{slug(self.criterion) if self.criterion else QUALITY}"


@dataclass(frozen=True)
class Inference:
    """How sure a cell's value is. `spec` is everything that depends on besides the store and the query."""

    cell: Cell
    spec: str

    @property
    def group(self) -> str:
        """Model/debias/metric: what is inferred of all its queries is one step, and one file."""
        return f"{self.cell.model}/{self.cell.debias}/{self.cell.metric}"


def no_test(metric: metrics.Metric, parts: Collection[str]) -> str:
    """Why there is no test of a metric in these parts of `inference`; empty where there is one."""
    if "random_groups" in parts or ("permutation" in parts and not metric.no_test):
        return ""
    if "permutation" in parts:
        return f"{metric.label} has no permutation test (but one of random_groups): {metric.no_test}"
    return "needs a test (inference: permutation or random_groups)"


@dataclass(frozen=True)
class Study:
    """A checked config. Build it with `Study.of`; `config` has its defaults filled in and its includes resolved."""

    config: dict[str, Any]
    queries: dict[str, Query]

    @classmethod
    def of(cls, config: Mapping[str, Any], where: str = "config", root: Path = Path(".")) -> Study:
        """Check a config and resolve its queries; paths in it are relative to `root`.

        Raises BiasgridError naming the key that is wrong and what is allowed there.
        """
        config = _checked(config, SCHEMA, where)
        config["seed"] = int(config["seed"])  # 2020.0 is an integer to the schema, and another text
        for part in ("models", "criteria", "benchmarks", "quality"):
            config[part] = _merged(config[part], part, where, root)
        with_metrics = [config, *config["criteria"].values()]
        of_metrics = [
            m.get("inference", {}) for entry in with_metrics for m in entry.get("metrics", {}).values()
        ]
        for inferred in (config["inference"], *of_metrics):
            for part in INFERRED:
                entry = inferred.get(part, {})
                entry |= {key: int(entry[key]) for key in ("draws", "exact", "halves") if key in entry}
        if "Overall" in config["criteria"]:
            raise BiasgridError(
                f"{where}: criteria: 'Overall' stands for all criteria together; name it otherwise"
            )
        queries: dict[str, Query] = {}
        word_sets: dict[str, dict] = {}
        for part in ("debias", "evaluation"):
            for criterion, entry in config[part].items():
                place = f"{where}: {part}: {criterion}"
                config[part][criterion] = _resolved(entry, place, root / config["word_sets"], word_sets)
        for entry in (*config["evaluation"].values(), *filter(None, [config["quality"]])):
            for kind in ("similarity", "analogies"):
                entry.setdefault(kind, {})
        for criterion, entry in config["criteria"].items():
            for key, sets in entry["queries"].items():
                if key in queries:
                    raise BiasgridError(f"{where}: query id {key!r} occurs twice; ids are unique in a study")
                queries[key] = _query(
                    sets, f"{where}: {criterion}: {key}", root / config["word_sets"], word_sets
                )
        study = cls(config, queries)
        study._check(where)
        return study

    @classmethod
    def read(cls, path: Path | str, root: Path = Path(".")) -> Study:
        """A study from its config file (YAML or the resolved JSON)."""
        return cls.of(read_yaml(path), str(path), root)

    @property
    def name(self) -> str:
        return self.config["study"]

    @cached_property
    def models(self) -> dict[str, dict[str, Any]]:
        """The models by key. Of one that is trained here the source says all of its corpus: name and source."""
        return {key: model | {"source": self._source(model)} for key, model in self.config["models"].items()}

    def _source(self, model: Mapping[str, Any]) -> dict[str, Any]:
        source = model["source"]
        if source["type"] != "trained":
            return source
        corpus = {"name": source["corpus"], "source": self.config["corpora"][source["corpus"]]["source"]}
        return source | {"corpus": corpus}

    @cached_property
    def trained(self) -> list[str]:
        """The models that are trained here."""
        return [key for key, model in self.models.items() if model["source"]["type"] == "trained"]

    @cached_property
    def sources(self) -> dict[str, dict[str, Any]]:
        """What is fetched: models, archives of benchmarks and corpora, by name."""
        models = {key: model for key, model in self.models.items() if key not in self.trained}
        return models | self.config["benchmarks"] | self.config["corpora"]

    @cached_property
    def evaluation_specs(self) -> dict[str | None, Spec]:
        """What to evaluate, by criterion; None: the quality of all models."""
        specs = {criterion: Spec.of(entry) for criterion, entry in self.config["evaluation"].items()}
        return specs | {None: Spec.of(self.config["quality"])}

    @property
    def embeddings(self) -> Path:
        """The folder of archives (raw/) and stores: the config's, else that of the environment variable
        BIASGRID_EMBEDDINGS, which studies share, else data/embeddings. No result depends on the place."""
        return Path(self.config.get("embeddings") or os.environ.get(PLACE) or "data/embeddings").expanduser()

    @property
    def shares_embeddings(self) -> bool:
        """Whether other projects' studies may be at work in the folder of stores."""
        return "embeddings" not in self.config and bool(os.environ.get(PLACE))

    def archive_of(self, path: str) -> str | None:
        """The archive, of the study's `benchmarks`, that a benchmark's file "archive:file" is in."""
        archive = path.partition(":")[0]
        return archive if archive in self.config["benchmarks"] else None

    def located(self, files: Mapping[str, str]) -> dict[str, str]:
        """Benchmarks' files by name, with those of archives where they are.

        Raises BiasgridError where an archive is not from the study's source, in a folder that studies share.
        """
        # imported late: most commands need no HTTP client
        from .embeddings.sources import read_manifest

        raw = self.embeddings / "raw"
        for archive in filter(None, map(self.archive_of, files.values())):
            source = read_manifest(raw / archive).get("source")
            if source not in (None, self.config["benchmarks"][archive]["source"]):
                raise BiasgridError(
                    f"{raw / archive} holds another archive of this name (its source is {json.dumps(source)}): name "
                    "one of them otherwise, or delete that folder"
                )
        return {
            name: str(raw / path.replace(":", "/", 1)) if self.archive_of(path) else path
            for name, path in files.items()
        }

    @property
    def results(self) -> Path:
        """The folder of the study's results."""
        return Path(self.config["results"]) / self.name

    def cell_file(self, cell: Cell) -> Path:
        """Where a cell's results are."""
        return self.results / "cells" / f"{cell.name}.json"

    def inference_file(self, inference: Inference) -> Path:
        """Where a cell's p-value, intervals and sensitivity are, among those of its metric's other queries."""
        return self.results / "inference" / f"{inference.group}.json"

    def samples_file(self, inference: Inference) -> Path:
        """Where the values of a cell's bootstrap samples are, in an array (sub-queries of all queries, draws)."""
        return self.results / "inference" / f"{inference.group}.npy"

    def pool_file(self, model: str) -> Path:
        """Where the words are that random groups of a model are made of."""
        return self.results / "pools" / f"{model}.npz"

    def null_file(self, cell: Cell) -> Path:
        """Where the numbers of a cell's null distributions are."""
        return self.results / "null" / f"{cell.name}.npz"

    def query_file(self, key: str) -> Path:
        """Where a query's file is."""
        return self.results / "queries" / f"{key}.json"

    def model_file(self, model: str) -> Path:
        """Where the record of a model's store is, a copy of its model.json: what the results were computed on."""
        return self.results / "models" / f"{model}.json"

    def transform_file(self, model: str, debias: str) -> Path:
        """Where a fitted debias method is."""
        return self.results / "debias" / model / f"{debias}.npz"

    def evaluation_file(self, evaluation: Evaluation) -> Path:
        """Where an evaluation's results are."""
        return self.results / "evaluation" / f"{evaluation.name}.json"

    @property
    def ranks_file(self) -> Path:
        """Where the ranks of the bootstrap's samples are, where there are any (`uncertainty.rank_samples`)."""
        return self.results / "rank_samples.npy"

    @property
    def compared(self) -> list[str]:
        """Files of the numbers that the study is compared with: published ones, and ones of other code."""
        return [*self.config["published"], *self.config["computed"]]

    @property
    def tables(self) -> list[str]:
        """The tables that the study has: a comparison only where the config names published numbers, a table of
        mitigation or quality only where it says what to evaluate, those of inference where it asks for their part."""
        inferred = self.config["inference"]
        needs = {
            "inference": self.inferences,
            "influence": "sensitivity" in inferred,
            "rank_intervals": "bootstrap" in inferred,
            "order": "bootstrap" in inferred,
            "contrasts": self.contrasting,
            "analogies": self.questioned,
            "analogy_summary": self.questioned,
            "directions": self.directed,
            "words": self.worded,
            "ratings": self.rated,
            "comparison": self.compared,
            "mitigation": any(e.debias != UNTOUCHED for e in self.evaluations.values()),
            "quality": self.quality,
        }
        return [name for name in TABLES if needs.get(name, True)]

    @cached_property
    def figures(self) -> dict[str, Drawing]:
        """The figures by name, and what each is drawn from."""
        # imported late: tables and figures are made without a study
        from .figures import planned

        return planned(self, self.config["figures"])

    @property
    def ranked(self) -> list[str]:
        """The criteria that rankings, correlations and the overall scores are made of."""
        return [name for name, entry in self.config["criteria"].items() if entry["ranked"]]

    def metrics(self, criterion: str) -> dict[str, dict[str, Any]]:
        """The metrics of a criterion: its own where it has any, else the study's."""
        return self.config["criteria"][criterion].get("metrics") or self.config["metrics"]

    @cached_property
    def cells(self) -> dict[str, Cell]:
        """All cells of the grid by name."""
        return {cell.name: cell for cell in self._cells()}

    @cached_property
    def inferences(self) -> dict[str, Inference]:
        """What is inferred, by the name of the cell, where the config asks for it."""
        found = {}
        for name, cell in self.cells.items():
            if wanted := self._inferred(cell):
                # one seed for all: cells that have the same sets of words draw alike
                wanted["draw_seed"] = cell_seed(self.config["seed"], "inference")
                found[name] = Inference(cell, _canonical(json.loads(cell.spec) | {"inference": wanted}))
        return found

    @cached_property
    def inference_groups(self) -> dict[str, list[Inference]]:
        """What is inferred in one step, by its name, in the order of the cells."""
        groups: dict[str, list[Inference]] = {}
        for inference in self.inferences.values():
            groups.setdefault(inference.group, []).append(inference)
        return groups

    def _inferred(self, cell: Cell) -> dict[str, dict[str, Any]]:
        """What a cell's file of inference depends on of `inference`: the metric's, else the study's."""
        own = self.metrics(cell.criterion)[cell.metric].get("inference", {})
        parts = {part: self.config["inference"].get(part) for part in INFERRED}
        return {part: entry | own.get(part, {}) for part, entry in parts.items() if entry is not None}

    @cached_property
    def debias(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """Debias key -> the criterion it is named under, and its entry."""
        return {
            key: (criterion, entry)
            for criterion, entries in self.config["debias"].items()
            for key, entry in entries.items()
        }

    @cached_property
    def fits(self) -> dict[tuple[str, str], Fit]:
        """All fitted debias methods by model and debias key."""
        fits = {}
        for key, (criterion, entry) in self.debias.items():
            for model in entry.get("models", self.models):
                spec = {
                    "method": debias.method(entry["method"]).name,
                    "words": entry["words"],
                    "params": entry["params"],
                    "seed": cell_seed(self.config["seed"], f"{model}/{key}"),
                }
                fits[model, key] = Fit(criterion, key, model, _canonical(spec))
        return fits

    @cached_property
    def evaluations(self) -> dict[str, Evaluation]:
        """What is evaluated, by name: each criterion's debias methods, and the models untouched."""
        found = {}
        for criterion, entry in self.config["evaluation"].items():
            seed = cell_seed(self.config["seed"], f"evaluation/{criterion}")
            fits = [fit for fit in self.fits.values() if fit.criterion == criterion]
            states = dict.fromkeys((f.model, d) for f in fits for d in (UNTOUCHED, f.debias))
            if not fits:
                models = self.config["criteria"][criterion].get("models", self.models)
                states = dict.fromkeys((model, UNTOUCHED) for model in models)
            for model, key in states:
                spec = self._evaluated_on(model, entry, seed)
                evaluation = Evaluation(criterion, key, model, spec)
                found[evaluation.name] = evaluation
        return found

    @cached_property
    def quality(self) -> dict[str, Evaluation]:
        """Evaluations on the benchmarks of `quality`, by name: of every model, untouched and under the debias methods
        that rank beside the models. Nothing in them is drawn at random."""
        if not self.config["quality"]:
            return {}
        entry = self.config["quality"] | {"items": True}
        evaluations = [
            Evaluation(None, debias, model, self._evaluated_on(model, entry, 0))
            for model, debias in self._ranked_states()
        ]
        return {evaluation.name: evaluation for evaluation in evaluations}

    def _evaluated_on(self, model: str, entry: Mapping[str, Any], seed: int) -> str:
        """The canonical spec of a model's evaluation."""
        # said only of models that are not: an entry's evaluations stay what they were
        order = {} if self.models[model].get("sorted", True) else {"sorted": False}
        return _canonical({"spec": entry | order, "seed": seed})

    @cached_property
    def labels(self) -> dict[str, str]:
        """What figures print for a model's, metric's or debias method's key."""
        labels = {key: model["label"] for key, model in self.models.items()}
        for key, (_, entry) in self.debias.items():
            labels[key] = entry.get("label", debias.method(entry["method"]).label)
        for criterion in sorted(self.config["criteria"], key=self.ranked.__contains__):
            # the ranked ones last: where a key is another metric in a criterion that is not ranked, theirs counts
            for key, entry in self.metrics(criterion).items():
                labels[key] = entry.get("label", self.metric(criterion, key).label)
        return labels

    @cached_property
    def neutral(self) -> dict[str, float]:
        """The value that means no bias, by the metric keys of the ranked criteria."""
        return {key: value for (criterion, key), value in self.neutrals.items() if criterion in self.ranked}

    @property
    def neutrals(self) -> dict[tuple[str, str], float]:
        """The value that means no bias, by criterion and metric key, of all criteria."""
        return {
            (criterion, key): self.metric(criterion, key).neutral
            for criterion in self.config["criteria"]
            for key in self.metrics(criterion)
        }

    @cached_property
    def questioned(self) -> list[Evaluation]:
        """The evaluations that ask analogy questions."""
        return [e for e in self.evaluations.values() if self.evaluation_specs[e.criterion].questions]

    @cached_property
    def contrasting(self) -> list[Cell]:
        """The cells of metrics that contrast groups."""
        return [cell for cell in self.cells.values() if self.metric(cell.criterion, cell.metric).contrasts]

    @cached_property
    def directed(self) -> list[Cell]:
        """The cells of Direct Bias of pairs, which say how far apart directions lie."""
        return [
            cell
            for cell in self.cells.values()
            if (metric := self.metric(cell.criterion, cell.metric)).name == "direct_bias"
            and metric.paired
            and len(self.queries[cell.query].target_sets) == 2
        ]

    @cached_property
    def worded(self) -> list[Cell]:
        """The cells whose values word by word make a table: of criteria that ask for it, or have ratings."""
        criteria = self.config["criteria"].items()
        asking = {name for name, entry in criteria if entry.get("word_table") or "ratings" in entry}
        return [cell for cell in self.cells.values() if cell.criterion in asking]

    @cached_property
    def leaning(self) -> list[Cell]:
        """Those of them in which a word's value says which of two groups it is nearer to."""
        return [cell for cell in self.worded if self.poles(cell)]

    @cached_property
    def rated(self) -> list[Cell]:
        """Those of them whose criterion has ratings of the words by people."""
        return [cell for cell in self.leaning if "ratings" in self.config["criteria"][cell.criterion]]

    def poles(self, cell: Cell) -> tuple[str, str] | None:
        """The two groups by name that a cell's words are nearer to, the one that positive values mean first; None
        where the metric says nothing of the kind, or there are more than two groups."""
        metric = self.metric(cell.criterion, cell.metric)
        query = self.queries[cell.query]
        groups = query.target_sets if metric.groups == "targets" else query.attribute_sets
        return (groups[0].name, groups[1].name) if metric.word_bias and len(groups) == 2 else None

    @property
    def ranges(self) -> dict[tuple[str, str], tuple[float, float]]:
        """The closed interval that values lie in, by criterion and metric key, of all criteria."""
        return {(criterion, key): self.metric(criterion, key).range for criterion, key in self.neutrals}

    def metric(self, criterion: str, key: str) -> metrics.Metric:
        """The registered metric behind a study's metric key, under its parameters."""
        place = criterion, key
        if place not in self._registered:
            entry = self.metrics(criterion)[key]
            self._registered[place] = metrics.metric(entry.get("metric", key)).under(entry.get("params", {}))
        return self._registered[place]

    @cached_property
    def _registered(self) -> dict[tuple[str, str], metrics.Metric]:
        """What `metric` has found: it is asked for every cell, and parameters are checked each time."""
        return {}

    def word_options(self, criterion: str, key: str, model: str) -> dict[str, Any]:
        """Look-up options of a cell: the study's, then the criterion's, the metric's, the model's."""
        return {
            **self.config["words"],
            **self.config["criteria"][criterion].get("words", {}),
            **self.metrics(criterion)[key].get("words", {}),
            **self.models[model].get("words", {}),
        }

    @property
    def published_as(self) -> dict[tuple[str, str], str]:
        """Model and debias key -> the model whose published numbers it is compared with.

        That is what the config says, else the model itself; of a debiased model only what the config says.
        """
        untouched = {(key, UNTOUCHED): model.get("published_as", key) for key, model in self.models.items()}
        debiased = {
            (model, key): name
            for key, (_, entry) in self.debias.items()
            for model, name in entry["published_as"].items()
        }
        return untouched | debiased

    @property
    def ranking(self) -> dict[str, Any]:
        """What `tables.rankings` needs besides the scores."""
        return {
            "ranked": sorted(self.ranked),
            "neutral": self.neutral,
            "aggregation": self.config["aggregation"],
            **self.config["ranking"],
        }

    def to_json(self) -> str:
        """The config with defaults and includes resolved, in the form that `read` reads."""
        return json.dumps(self.config, ensure_ascii=False, indent=1) + "\n"

    @property
    def digest(self) -> str:
        """Changes when anything in the resolved config does."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def query_digest(self, key: str) -> str:
        """Changes exactly when a word, a name or the order of the query's sets does."""
        return hashlib.sha256(self.queries[key].to_json().encode()).hexdigest()

    def _cells(self) -> Iterable[Cell]:
        for criterion, entry in self.config["criteria"].items():
            for key, metric in self.metrics(criterion).items():
                template = self.metric(criterion, key).template
                queries = [q for q in entry["queries"] if self.queries[q].fits(template)]
                for model in entry.get("models", self.models):
                    spec = {
                        # it is written into the cell's file
                        "criterion": criterion,
                        "metric": metric.get("metric", key),
                        "params": metric.get("params", {}),
                        "words": self.word_options(criterion, key, model),
                    }
                    for query in queries:
                        # a debiased model draws what the untouched one draws: they differ by the method alone
                        name = f"{model}/{UNTOUCHED}/{key}/{query}"
                        text = _canonical(spec | {"seed": cell_seed(self.config["seed"], name)})
                        for state in (UNTOUCHED, *self._debiased(criterion, model)):
                            yield Cell(criterion, query, key, model, state, text)

    def _debiased(self, criterion: str, model: str) -> list[str]:
        """The debias methods under which a model is measured on a criterion."""
        return [
            key
            for key, (own, entry) in self.debias.items()
            if (model, key) in self.fits and criterion in entry.get("criteria", [own])
        ]

    def _ranked_states(self) -> list[tuple[str, str]]:
        """Model and debias key of what ranks beside each other: the models, and those under a debias method that are
        measured on all ranked criteria (as in `tables.rankings`)."""
        ranked = set(self.ranked)
        criteria: dict[str, set[str]] = {}
        measured: dict[tuple[tuple[str, str], str], set[str]] = {}
        for cell in self.cells.values():
            if cell.criterion in ranked:
                criteria.setdefault(cell.metric, set()).add(cell.criterion)
                state = cell.model, cell.debias
                measured.setdefault((state, cell.metric), set()).add(cell.criterion)
        beside = {state for (state, metric), found in measured.items() if found == criteria[metric]}
        states = [(model, key) for model in self.models for key in (UNTOUCHED, *self.debias)]
        return [state for state in states if state[1] == UNTOUCHED or state in beside]

    def _check(self, where: str) -> None:
        self._check_trained(where)
        self._check_debias(where)
        self._check_names(where)
        self._check_files(where)
        self._check_known(f"{where}: beside", self.config["beside"], self.models)
        for model, other in self.config["beside"].items():
            if other in (model, self.published_as[model, UNTOUCHED]):
                raise BiasgridError(
                    f"{where}: beside: {model}: {other!r} are the model's own numbers, which are judged; name "
                    "a model of other vectors"
                )
        for criterion, entry in self.config["criteria"].items():
            for model in entry.get("models", []):
                if model not in self.models:
                    known = ", ".join(self.models)
                    raise BiasgridError(
                        f"{where}: {criterion}: model {model!r} is not in the study; it has {known}"
                    )
            for key in self.metrics(criterion):
                self._check_metric(criterion, key, where)
        for name in self.config["null_distributions"]:
            inference = self.inferences.get(name)
            if name not in self.cells:
                example = next(iter(self.inferences or self.cells))
                raise BiasgridError(
                    f"{where}: null_distributions: no cell {name!r}; cells are named like {example!r}"
                )
            cell = self.cells[name]
            registered = self.metric(cell.criterion, cell.metric)
            if reason := no_test(registered, json.loads(inference.spec)["inference"] if inference else ()):
                raise BiasgridError(f"{where}: null_distributions: {name}: {reason}")
        try:
            self.figures  # noqa: B018
        except BiasgridError as error:
            raise BiasgridError(f"{where}: figures: {error}") from None

    def _check_files(self, where: str) -> None:
        """That benchmarks' files are files, as far as can be known before anything is fetched."""
        shipped = Path(find_spec("gensim").origin).parent / "test" / "test_data"
        for criterion, spec in self.evaluation_specs.items():
            place = f"{where}: evaluation: {criterion}" if criterion else f"{where}: quality"
            for path in [*spec.similarity.values(), *spec.analogies.values()]:
                archive, colon, file = path.partition(":")
                if archive == "gensim" and colon and not (shipped / file).is_file():
                    raise BiasgridError(f"{place}: {path!r}: gensim ships no such file")
                source = self.config["benchmarks"].get(archive, {}).get("source", {})
                members = [Path(member).name for member in source.get("members", [])]
                if members and file not in members:
                    raise BiasgridError(f"{place}: {path!r}: {archive} has {', '.join(members)}")
                if colon and not source and archive != "gensim" and not Path(path).exists():
                    known = ", ".join(["gensim", *self.config["benchmarks"]])
                    raise BiasgridError(
                        f"{place}: {path!r}: no archive {archive!r} in benchmarks; there are {known}"
                    )

    def _check_trained(self, where: str) -> None:
        for key, model in self.config["models"].items():
            source, place = model["source"], f"{where}: models: {key}"
            if source["type"] != "trained":
                continue
            self._check_known(f"{place}: source: corpus", [source["corpus"]], self.config["corpora"])
            try:
                check_parameters(source["algorithm"], source["params"])
            except BiasgridError as error:
                raise BiasgridError(f"{place}: source: params: {error}") from None
            if "format" in model or model["vocab_prefix"]:
                given = "format" if "format" in model else "vocab_prefix"
                raise BiasgridError(f"{place}: {given}: is for files; a model that is trained here has none")

    def _check_debias(self, where: str) -> None:
        keys = [key for entries in self.config["debias"].values() for key in entries]
        for criterion, entries in self.config["debias"].items():
            for key, entry in entries.items():
                place = f"{where}: debias: {criterion}: {key}"
                if key == UNTOUCHED or keys.count(key) > 1 or key in self.models:
                    why = "stands for the untouched model" if key == UNTOUCHED else "occurs twice"
                    raise BiasgridError(f"{place}: this key {why}; name it otherwise")
                self._check_known(
                    f"{place}: criteria", [criterion, *entry.get("criteria", [])], self.config["criteria"]
                )
                self._check_known(f"{place}: models", entry.get("models", []), self.models)
                self._check_known(
                    f"{place}: published_as", entry["published_as"], entry.get("models", self.models)
                )
                try:
                    method = debias.method(entry["method"])
                    method.check_words(entry["words"])
                    method.check_parameters(entry["params"])
                except BiasgridError as error:
                    raise BiasgridError(f"{place}: {error}") from None
        for criterion, entry in self.config["evaluation"].items():
            self._check_known(f"{where}: evaluation", [criterion], self.config["criteria"])
            try:
                Spec.of(entry)
            except BiasgridError as error:
                raise BiasgridError(f"{where}: evaluation: {criterion}: {error}") from None
            if self.config["quality"] and slug(criterion) == QUALITY:
                raise BiasgridError(
                    f"{where}: evaluation: {criterion}: this name stands for the evaluations of `quality`; name the "
                    "criterion otherwise"
                )
        if quality := self.config["quality"]:
            if not quality["similarity"] and not quality["analogies"]:
                raise BiasgridError(f"{where}: quality: names no benchmark under similarity or analogies")
            try:
                Spec.of(quality)
            except BiasgridError as error:
                raise BiasgridError(f"{where}: quality: {error}") from None

    @staticmethod
    def _check_known(where: str, names: Iterable[str], known: Iterable[str]) -> None:
        for name in names:
            if name not in known:
                raise BiasgridError(
                    f"{where}: {name!r} is not there; allowed are {', '.join(known) or 'none'}"
                )

    def _check_names(self, where: str) -> None:
        """What would meet in one file, one label or one column of a table."""
        slugs = [slug(criterion) for criterion in self.config["criteria"]]
        for criterion in self.config["criteria"]:
            if slugs.count(slug(criterion)) > 1:
                raise BiasgridError(f"{where}: {criterion}: two criteria would share a figure's file name")
        labels = [model["label"] for model in self.models.values()]
        of_methods = [self.labels[key] for key in self.debias]
        for key in self.debias:
            if of_methods.count(self.labels[key]) > 1:
                raise BiasgridError(
                    f"{where}: debias: {key}: another entry is labelled {self.labels[key]!r}; give it a label"
                )
        taken = [*self.models, "gensim", "raw"]
        for part in ("benchmarks", "corpora"):
            for key in self.config[part]:
                if key in taken:
                    raise BiasgridError(f"{where}: {part}: {key}: this name is taken; name it otherwise")
                taken.append(key)
        for key, model in self.models.items():
            if key == "raw":
                raise BiasgridError(
                    f"{where}: models: 'raw' is the archives' folder; name the model otherwise"
                )
            if labels.count(model["label"]) > 1:
                raise BiasgridError(f"{where}: models: {key}: another model has the label {model['label']!r}")
        ranked: dict[str, dict] = {}
        for criterion in self.ranked:
            for key, entry in self.metrics(criterion).items():
                if ranked.setdefault(key, entry) != entry:
                    raise BiasgridError(
                        f"{where}: {criterion}: metrics: {key}: is another metric, or has other parameters, in "
                        "another ranked criterion; name them apart"
                    )

    def _check_metric(self, criterion: str, key: str, where: str) -> None:
        try:
            registered = self.metric(criterion, key)
            for model in self.models:
                WordOptions(**self.word_options(criterion, key, model))
        except BiasgridError as error:
            raise BiasgridError(f"{where}: metrics: {key}: {error}") from None
        for part in self.metrics(criterion)[key].get("inference", {}):
            asked = [name for name in INFERRED if name in self.config["inference"]]
            if asked and part not in asked:
                raise BiasgridError(
                    f"{where}: metrics: {key}: inference: {part}: the study's inference has no {part}; add it or "
                    "leave this out"
                )
        queries = [self.queries[q] for q in self.config["criteria"][criterion]["queries"]]
        fitting = [query for query in queries if query.fits(registered.template)]
        if not fitting:
            raise BiasgridError(
                f"{where}: metrics: {key}: no query of {criterion!r} has the template "
                f"{registered.template} or sub-queries that have it"
            )
        same_name: dict[str, Query] = {}
        for sub in (s for query in fitting for s in query.subqueries(registered.template)):
            if same_name.setdefault(sub.name, sub) != sub:
                raise BiasgridError(
                    f"{where}: {criterion}: two (sub-)queries are named {sub.name!r} but their words "
                    "differ; name the sets apart"
                )


def cell_seed(study_seed: int, name: str) -> int:
    """A cell's seed, from the study's seed and its own name alone: the same on any machine, in any order."""
    return int.from_bytes(hashlib.sha256(f"{study_seed}/{name}".encode()).digest()[:4], "big")


def _canonical(record: Any) -> str:
    return json.dumps(record, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _checked(record: Any, schema: dict[str, Any], where: str, *part: str) -> Any:
    """A deep copy of the record with the schema's defaults filled in; its worst error as one line."""
    try:
        check_expansion(record)
        # a NaN is within all limits
        text = json.dumps(record, allow_nan=False, ensure_ascii=False)
        record = json.loads(text, parse_int=_integer)
        text.encode()
        if re.search(r"(?<!\\)(\\\\)*\\u0000", text):
            raise ValueError("a text has a NUL character in it")
    except (TypeError, ValueError, RecursionError) as error:
        # a YAML date, a set, a mapping that holds itself
        raise BiasgridError(f"{where}: only text, numbers, lists and mappings are allowed: {error}") from None
    error = jsonschema.exceptions.best_match(_Validator(schema).iter_errors(record))
    if error is not None:
        place = ".".join(map(str, (*part, *error.absolute_path)))
        raise BiasgridError(": ".join(filter(None, (where, place, _shortened(error)))))
    return record


def _integer(digits: str) -> int:
    if len(digits) > 300:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _shortened(error: jsonschema.ValidationError) -> str:
    """The validator's message, without a whole section of the config quoted in it."""
    if len(error.message) <= 200:
        return error.message
    return f"{error.message[:80]} ... {error.message[-80:]}"


def _fill_defaults(validator, properties, instance, schema):
    if isinstance(instance, dict):
        for name, entry in properties.items():
            if "default" in entry:
                instance.setdefault(name, json.loads(json.dumps(entry["default"])))
    yield from jsonschema.Draft202012Validator.VALIDATORS["properties"](
        validator, properties, instance, schema
    )


_Validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"properties": _fill_defaults})


def _merged(entries: Any, part: str, where: str, root: Path) -> dict[str, Any]:
    """The models or criteria (`part`) by name, from the config and from the files that it names."""
    schema = {"$ref": f"#/$defs/{part}", "$defs": SCHEMA["$defs"]}
    merged: dict[str, Any] = {}
    for entry in entries if isinstance(entries, list) else [entries]:
        if isinstance(entry, str):
            mapping, source = _checked(read_yaml(root / entry), schema, entry), entry
        else:
            mapping, source = _checked(entry, schema, where, part), f"{where}: {part}"
        for name, value in mapping.items():
            if name in merged:
                raise BiasgridError(f"{source}: {name!r} is defined twice")
            merged[name] = value
    return merged


def _query(sets: Mapping[str, Any], where: str, folder: Path, cache: dict[str, dict]) -> Query:
    sides = []
    for side in ("targets", "attributes"):
        named = {name: _words(value, f"{where}: {name}", folder, cache) for name, value in sets[side].items()}
        sides.append(named)
    targets, attributes = sides
    try:
        return Query.of(
            list(targets.values()),
            list(attributes.values()),
            list(targets),
            list(attributes),
            sets.get("name"),
        )
    except BiasgridError as error:
        raise BiasgridError(f"{where}: {str(error).removeprefix('query: ')}") from None


def _resolved(value: Any, where: str, folder: Path, cache: dict[str, dict]) -> Any:
    """The value with every reference to a word set (`weat.career`) in it replaced by what the set holds."""
    if isinstance(value, dict):
        return {key: _resolved(v, f"{where}: {key}", folder, cache) for key, v in value.items()}
    if isinstance(value, list):
        return [_resolved(v, where, folder, cache) for v in value]
    if (
        isinstance(value, str)
        and REFERENCE.fullmatch(value)
        and (folder / f"{value.split('.')[0]}.json").is_file()
    ):
        return _word_set(value, where, folder, cache)
    return value


def _words(value: str | list[str], where: str, folder: Path, cache: dict[str, dict]) -> list[str]:
    if isinstance(value, list):
        return value
    words = _word_set(value, where, folder, cache)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise BiasgridError(f"{where}: {value!r} is not a list of words; a query's sets are")
    return words


def _word_set(value: str, where: str, folder: Path, cache: dict[str, dict]) -> Any:
    """What a word-set file has under the name `file.set`."""
    stem, _, name = value.partition(".")
    if stem not in cache:
        path = folder / f"{stem}.json"
        if not path.is_file():
            known = ", ".join(sorted(p.stem for p in folder.glob("*.json"))) or "none"
            raise BiasgridError(f"{where}: {value!r}: there is no file {path}; word-set files are {known}")
        record = read_json(path)
        if not isinstance(record, dict) or not isinstance(record.get("sets"), dict):
            raise BiasgridError(f"{path}: not a word-set file: it has no mapping 'sets'")
        cache[stem] = record["sets"]
    words = cache[stem].get(name)
    if words is None:
        raise BiasgridError(f"{where}: {stem}.json has no set {name!r}; it has {', '.join(cache[stem])}")
    return words
