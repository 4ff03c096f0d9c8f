"""A benchmark from a checked config: its models, their specs, and the paths of its files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from biasgrid import metrics
from biasgrid.core.configs import sort_keys
from biasgrid.core.errors import BiasgridError, not_allowed, unknown_name
from biasgrid.core.resources import find_file
from biasgrid.core.seeds import seed_of
from biasgrid.core.validation import to_record, validate
from biasgrid.models.algorithms import REGISTRY as ALGORITHMS
from biasgrid.models.kinds import VECTORS
from biasgrid.study.config.word_sets import WORD_SETS, WordSets
from biasgrid.study.step import Step

from ..experiment import Cell, Experiment
from .config import FactoryConfig, FineTuning, FullMetric, PlantedMetric, Trainer
from .corpus import TEMPLATES, TOKEN, Templates
from .frames import Frames

# Keys that a trainer may override.
SETTINGS = ("mu", "sigma", "replicates", "vectors")
# Kinds of vectors that can be measured on a trainer's models, and kinds that are measured by default.
STATIC, CONTEXTUAL = ("word+context", "word"), ("contextual", "sentences", "input")
MEASURED = {"ppmi": STATIC, "word2vec": STATIC, "bert": ("contextual", "input")}
NAMES = {"ppmi": "PPMI", "word2vec": "word2vec", "bert": "BERT"}

PPMI = {"dimensions": 50}
# Use the whole sentence as the window. Words are few, and frequent by design.
WORD2VEC = {
    "vector_size": 50,
    "window": 30,
    "shrink_windows": False,
    "sg": 1,
    "epochs": 20,
    "min_count": 1,
    "sample": 0.0,
}


class Factory(Experiment):
    """A checked config of a benchmark. Build it with `Factory.of`."""

    KEY = "factory"
    CONFIG = FactoryConfig
    TABLES = ("validation.planted_bias.recovery", "validation.planted_bias.claims")
    STEPS = "validation.planted_bias.steps"

    @classmethod
    def check(cls, config: FactoryConfig, where: str) -> FactoryConfig:
        """Fill in the settings of each trainer and metric. Raises BiasgridError, which names the wrong key."""
        trainers = {}
        for key, entry in config.trainers.items():
            try:
                trainers[key] = _full_trainer(key, entry, config)
            except BiasgridError as error:
                raise BiasgridError(f"{where}: trainers: {key}: {error}") from None
        # Metrics that the config does not name are measured with their defaults, if they fit.
        of_vectors = [name for name, metric in metrics.REGISTRY.items() if metric.needs == VECTORS]
        full_metrics = {}
        for key, entry in (dict.fromkeys(of_vectors, PlantedMetric()) | config.metrics).items():
            try:
                full_metrics[key] = _full_metric(key, entry)
            except BiasgridError as error:
                if key in config.metrics:
                    raise type(error)(f"{where}: metrics: {key}: {error}") from None
        return config.model_copy(update={"trainers": trainers, "metrics": full_metrics})

    @property
    def templates_file(self) -> Path:
        """Return the path of the file of sentences."""
        return self.sentences_file("templates")

    def sentences_file(self, key: str) -> Path:
        """Return the path of the file of data/templates that a key of the config names."""
        return find_file(f"{TEMPLATES}/{getattr(self.config, key)}.json")

    @property
    def sources(self) -> dict[str, dict[str, Any]]:
        """Return the entries that are fetched, by name: the weights from which training starts."""
        starts = {entry.start for entry in self.config.trainers.values()}
        return {name: to_record(entry) for name, entry in self.config.encoders.items() if name in starts}

    def trained_file(self, model: str) -> Path:
        """Return the path of the file in a fine-tuned model's folder that is written last."""
        return self.results / "trained" / model / "model.json"

    @cached_property
    def occupations(self) -> list[str]:
        """Return the occupations. Raises BiasgridError if one is not a single token, a pronoun, or repeated."""
        where = f"occupations: {self.config.occupations}"
        occupations = WordSets(Path(WORD_SETS)).words(self.config.occupations, "occupations")
        pronouns = [word for group in self.templates.groups for word in group]
        wrong = [
            w for w in occupations if not TOKEN.fullmatch(w) or w in pronouns or occupations.count(w) > 1
        ]
        if wrong:
            raise BiasgridError(f"{where}: {wrong[0]!r} is no occupation: expected single tokens, each once")
        return occupations

    @cached_property
    def templates(self) -> Templates:
        """Return the sentences."""
        return Templates.read(self.templates_file)

    @cached_property
    def groups(self) -> list[list[str]]:
        """Return the male and the female words. Raises BiasgridError if they are not pairs."""
        if not self.config.groups:
            return self.templates.groups
        groups = [WordSets(Path(WORD_SETS)).words(name, "groups") for name in self.config.groups]
        if len(groups[0]) != len(groups[1]):
            raise BiasgridError(f"groups: {len(groups[0])} and {len(groups[1])} words; expected pairs")
        return groups

    def check_files(self) -> None:
        """Check all words and sentences before a model is trained.

        Raises BiasgridError if a file is wrong, or if a test sentence of fine-tuned models is also a training
        sentence.
        """
        _ = self.occupations, self.groups
        if all(entry.algorithm != "bert" for entry in self.config.trainers.values()):
            return
        test_templates = Templates.read(self.sentences_file("test_templates"), inflections=True)
        Frames.read(self.sentences_file("frames"))
        for text in test_templates.texts:
            if text in self.templates.texts:
                raise BiasgridError(
                    f"test_templates: {self.config.test_templates}: {text!r} is a sentence of "
                    f"{self.config.templates}, on which models are trained"
                )

    @cached_property
    def cells(self) -> dict[str, Cell]:
        """Return the models to train, by name: trainer, mean and standard deviation of the bias, replicate (from 1).

        Occupations and templates are not part of the specs.
        """
        cells = {}
        metric_entries = {
            name: {k: v for k, v in to_record(entry).items() if k not in ("label", "truth")}
            for name, entry in self.config.metrics.items()
        }
        for key, entry in self.config.trainers.items():
            settings = {name: getattr(entry, name) or getattr(self.config, name) for name in SETTINGS}
            for mu in map(float, settings["mu"]):
                for sigma in map(float, settings["sigma"]):
                    for replicate in range(1, settings["replicates"] + 1):
                        place = {"trainer": key, "mu": mu, "sigma": sigma, "replicate": replicate}
                        spec = {
                            **place,
                            "algorithm": entry.algorithm,
                            "params": entry.params,
                            **({"start": entry.start} if entry.start else {}),
                            "vectors": entry.vectors,
                            "trained": float(self.config.trained),
                            "halves": self.config.halves,
                            "groups": self.groups,
                            # Use the same corpora for all trainers, and the same probabilities for all replicates.
                            "plan_seed": seed_of(self.config.seed, f"{mu:g}/{sigma:g}"),
                            "corpus_seed": seed_of(self.config.seed, f"{mu:g}/{sigma:g}/{replicate}"),
                            "metrics": metric_entries,
                        }
                        cell = Cell(place, sort_keys(spec))
                        cells[cell.name] = cell
        return cells

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels of metrics and trainers in figures, by key."""
        labels = {key: entry.label for key, entry in self.config.metrics.items()}
        return labels | {
            key: entry.label or NAMES[entry.algorithm] for key, entry in self.config.trainers.items()
        }

    def table_steps(self) -> dict[str, Step]:
        """Return the steps that make the tables, in order, by the path inside the results."""
        texts: dict[str, Step] = import_module(self.STEPS).text_steps(self)
        return super().table_steps() | texts


def trainer_parameters(algorithm: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters of a trainer. Raises BiasgridError for an unknown parameter, or a wrong value."""
    if algorithm == "bert":
        return to_record(validate(FineTuning, dict(values), "params"))
    defaults = {"ppmi": PPMI, "word2vec": WORD2VEC}.get(algorithm)
    if defaults is None:
        raise BiasgridError(unknown_name("trainer", algorithm, NAMES))
    params = defaults | values
    if algorithm == "word2vec":
        if "seed" in values:
            raise BiasgridError("seed: is each model's own, from the factory's seed; leave it out")
        ALGORITHMS[algorithm].check(params)
        return params
    for name in params.keys() - PPMI.keys():
        raise BiasgridError(f"ppmi: {unknown_name('parameter', name, PPMI)}")
    size = params["dimensions"]
    if type(size) is not int or not 2 <= size <= 10_000:
        raise BiasgridError(not_allowed("dimensions", size, "whole numbers from 2 to 10000"))
    return params


def _full_trainer(key: str, entry: Trainer, config: FactoryConfig) -> Trainer:
    """Return a trainer with all of its settings. Raises BiasgridError if it does not accept them."""
    algorithm = entry.algorithm or key
    params = trainer_parameters(algorithm, entry.params)
    kinds = CONTEXTUAL if algorithm == "bert" else STATIC
    vectors = list(entry.vectors or config.vectors or MEASURED[algorithm])
    for name in vectors:
        if name not in kinds:
            raise BiasgridError(f"vectors: {unknown_name(f'value of {algorithm}', name, kinds)}")
    if algorithm != "bert":
        if entry.start:
            raise BiasgridError(f"start: {algorithm} begins with no weights; leave it out")
    elif not entry.start:
        raise BiasgridError("key 'start' is missing: the weights to begin with, a key of `encoders`")
    elif entry.start not in config.encoders:
        raise BiasgridError(f"start: {unknown_name('encoder', entry.start, config.encoders)}")
    if config.groups and algorithm != "bert":
        raise BiasgridError("groups: its models know the words of the templates alone; leave groups out")
    if "word+context" in vectors and params.get("hs"):
        raise BiasgridError(
            "hierarchical softmax (hs) has no context vectors; set vectors: [word] for this trainer"
        )
    return entry.model_copy(update={"algorithm": algorithm, "params": params, "vectors": vectors})


def _full_metric(key: str, entry: PlantedMetric) -> FullMetric:
    """Return a metric with all of its settings. Raises BiasgridError if it does not fit two groups and one set."""
    variant = entry.definition(key)
    groups = entry.groups or variant.groups
    of_groups, of_words = variant.template if groups == "targets" else variant.template[::-1]
    if of_groups not in (2, "n", "k") or of_words not in (1, 2, "n", "k"):
        raise BiasgridError(
            f"{variant.name} does not take two groups as {groups}: its template is {variant.template}"
        )
    if variant.paired and groups == "attributes":
        raise BiasgridError(f"{variant.name} pairs target words: groups must be its targets")
    default = {"label": variant.label, "truth": "mean" if variant.bias == "two-sided" else "absolute"}
    own = {"metric": variant.name, "groups": groups, "split": of_words in (2, "k")}
    return FullMetric(**default | to_record(entry) | own)
