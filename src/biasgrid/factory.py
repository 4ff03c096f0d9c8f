"""The planted-bias benchmark: corpora of templates with planted frequencies of pronouns, and models of them.

Schroeder et al. (Evaluating Metrics for Bias in Word Embeddings, 2021, section 5.1) do it with BERT; here models are
static. What each metric says of such a model, of its word vectors alone and of their sums with context vectors, is
compared with what was planted: see docs/factory.md.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from . import metrics
from .config import load
from .config.factory import FactoryConfig
from .configs import read_json
from .directions import angles
from .embeddings.store import EmbeddingStore
from .embeddings.store_writer import StoreWriter
from .embeddings.training import check_parameters
from .errors import BiasgridError, not_allowed, shown, unknown
from .files import write_text
from .measure import as_finite, dumps
from .query import Query
from .seeds import seed_of

WORD_SETS, TEMPLATES = Path("data/word_sets"), Path("data/templates")
GROUPS = ("male", "female")
# what a trainer may have of its own
SETTINGS = ("mu", "sigma", "replicates", "vectors")
TOKEN = re.compile(r"\w+")

PPMI = {"dimensions": 50}
# a sentence is the window: all of its words are each other's contexts. They are few, and frequent by design
WORD2VEC = {
    "vector_size": 50,
    "window": 30,
    "shrink_windows": False,
    "sg": 1,
    "epochs": 20,
    "min_count": 1,
    "sample": 0.0,
}


@dataclass(frozen=True)
class Templates:
    """Sentences with a place for an occupation and one for a pronoun.

    tokens    each sentence's tokens
    pronouns  each sentence's (male, female) pronoun
    """

    tokens: tuple[tuple[str, ...], ...]
    pronouns: tuple[tuple[str, str], ...]

    OCCUPATION, PRONOUN = "occupation", "mask"

    @classmethod
    def read(cls, path: Path) -> Templates:
        """From a file of data/templates. Raises BiasgridError naming the file, and the sentence that is wrong."""
        record = read_json(path)
        try:
            listed = [(key.split("/"), text) for key, texts in record["templates"].items() for text in texts]
        except (TypeError, KeyError, AttributeError):
            raise BiasgridError(f"{path}: expected {{'templates': {{'he/she': [...]}}}}") from None
        tokens, pronouns = [], []
        for pair, text in listed:
            if len(pair) != 2:
                raise BiasgridError(f"{path}: {shown('/'.join(pair))}: expected two pronouns, such as he/she")
            # "one of the OCCUPATIONs" would be a word of its own
            sentence = tuple(TOKEN.findall(text.lower()))
            if sorted(t for t in sentence if t in (cls.OCCUPATION, cls.PRONOUN)) != [
                cls.PRONOUN,
                cls.OCCUPATION,
            ]:
                raise BiasgridError(f"{path}: {shown(text)}: expected [MASK] and OCCUPATION once each")
            tokens.append(sentence)
            pronouns.append(tuple(pair))
        return cls(tuple(tokens), tuple(pronouns))

    @property
    def groups(self) -> list[list[str]]:
        """Male and female pronouns, in the order that they come in; word i of both is a pair."""
        return [list(side) for side in zip(*dict.fromkeys(self.pronouns), strict=True)]

    def fill(self, occupation: str, male: Sequence[bool]) -> list[list[str]]:
        """Each sentence with the occupation, and with the male pronoun or the female one."""
        return [
            [{self.OCCUPATION: occupation, self.PRONOUN: pair[not is_male]}.get(t, t) for t in sentence]
            for sentence, pair, is_male in zip(self.tokens, self.pronouns, male, strict=True)
        ]


@dataclass(frozen=True)
class Model:
    """A model to train: trainer, mean and standard deviation of what is planted, replicate (from 1 on).

    `spec` is everything that its record depends on besides words and templates.
    """

    trainer: str
    mu: float
    sigma: float
    replicate: int
    spec: str

    @property
    def name(self) -> str:
        """Trainer/mu/sigma/replicate, its path below the factory's models."""
        return f"{self.trainer}/{self.mu:g}/{self.sigma:g}/{self.replicate}"


@dataclass(frozen=True)
class Factory:
    """A checked config of a factory. Build it with `Factory.of`."""

    config: dict[str, Any]

    @classmethod
    def of(cls, config: Mapping[str, Any], where: str = "config", root: Path = Path(".")) -> Factory:
        """A config whose plugins are relative to `root`.

        Raises BiasgridError naming the key that is wrong and what is allowed there.
        """
        config = load.complete(FactoryConfig, config, where, root)
        for key, entry in config["trainers"].items():
            try:
                entry["algorithm"] = entry.get("algorithm", key)
                entry["params"] = trainer_parameters(entry["algorithm"], entry["params"])
                if "word+context" in entry.get("vectors", config["vectors"]) and entry["params"].get("hs"):
                    raise BiasgridError(
                        "hierarchical softmax (hs) has no context vectors; set vectors: [word] for this trainer"
                    )
            except BiasgridError as error:
                raise BiasgridError(f"{where}: trainers: {key}: {error}") from None
        given = config["metrics"]
        # metrics that the config does not name are measured as they are, if they fit
        config["metrics"] = {}
        for key, entry in ({name: {"params": {}} for name in metrics.REGISTRY} | given).items():
            try:
                config["metrics"][key] = _measured_as(key, entry)
            except BiasgridError as error:
                if key in given:
                    raise BiasgridError(f"{where}: metrics: {key}: {error}") from None
        return cls(config)

    @classmethod
    def read(cls, path: Path | str) -> Factory:
        """A factory from its config file (YAML)."""
        return cls.of(load.read(path), str(path))

    @property
    def results(self) -> Path:
        """The folder of its results."""
        return Path(self.config["results"]) / self.config["factory"]

    def model_file(self, model: Model) -> Path:
        """Where a model's record is."""
        return self.results / "models" / f"{model.name}.json"

    @property
    def sources(self) -> list[Path]:
        """The files that its words and sentences are from."""
        words = WORD_SETS / f"{self.config['occupations'].partition('.')[0]}.json"
        return [words, TEMPLATES / f"{self.config['templates']}.json"]

    @cached_property
    def occupations(self) -> list[str]:
        """The occupations. Raises BiasgridError where they are not one token each, or pronouns, or repeated."""
        where = f"occupations: {self.config['occupations']}"
        found = load.WordSets(WORD_SETS).words(self.config["occupations"], "occupations")
        pronouns = [word for group in self.templates.groups for word in group]
        wrong = [w for w in found if not TOKEN.fullmatch(w) or w in pronouns or found.count(w) > 1]
        if wrong:
            raise BiasgridError(
                f"{where}: {shown(wrong[0])} is no occupation: expected single tokens, each once"
            )
        return found

    @cached_property
    def templates(self) -> Templates:
        """The sentences."""
        return Templates.read(TEMPLATES / f"{self.config['templates']}.json")

    @cached_property
    def models(self) -> dict[str, Model]:
        """All models by name."""
        found = {}
        for key, entry in self.config["trainers"].items():
            own = self.config | {name: entry[name] for name in SETTINGS if name in entry}
            for mu in map(float, own["mu"]):
                for sigma in map(float, own["sigma"]):
                    for replicate in range(1, own["replicates"] + 1):
                        spec = {
                            "algorithm": entry["algorithm"],
                            "params": entry["params"],
                            "vectors": own["vectors"],
                            # the same corpora for all trainers; the same p for all replicates
                            "plan_seed": seed_of(self.config["seed"], f"{mu:g}/{sigma:g}"),
                            "corpus_seed": seed_of(self.config["seed"], f"{mu:g}/{sigma:g}/{replicate}"),
                            "metrics": {
                                name: {k: v for k, v in e.items() if k not in ("label", "truth")}
                                for name, e in self.config["metrics"].items()
                            },
                        }
                        model = Model(key, mu, sigma, replicate, json.dumps(spec, sort_keys=True))
                        found[model.name] = model
        return found

    @property
    def labels(self) -> dict[str, str]:
        """What figures print for the key of a metric or a trainer."""
        found = {key: entry["label"] for key, entry in self.config["metrics"].items()}
        names = {"ppmi": "PPMI", "word2vec": "word2vec"}
        return found | {
            key: entry.get("label", names[entry["algorithm"]])
            for key, entry in self.config["trainers"].items()
        }


def plan(mu: float, sigma: float, occupations: int, seed: int) -> np.ndarray:
    """How probable the male pronoun is beside each occupation: normally distributed, clipped to [0, 1]."""
    return np.random.default_rng(seed).normal(mu, sigma, occupations).clip(0, 1)


def corpus(
    templates: Templates, occupations: Sequence[str], probabilities: np.ndarray, seed: int
) -> tuple[list[list[str]], np.ndarray]:
    """A sentence for each template and occupation, in random order, and the truth: the share of an occupation's
    sentences that have the male pronoun, as it came out of the draws."""
    rng = np.random.default_rng(seed)
    male = rng.random((len(occupations), len(templates.tokens))) < probabilities[:, None]
    sentences = [s for word, row in zip(occupations, male, strict=True) for s in templates.fill(word, row)]
    return [sentences[i] for i in rng.permutation(len(sentences))], male.mean(axis=1)


def trainer_parameters(algorithm: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of a trainer. Raises BiasgridError for one that it does not have, or a wrong value."""
    defaults = {"ppmi": PPMI, "word2vec": WORD2VEC}.get(algorithm)
    if defaults is None:
        raise BiasgridError(unknown("trainer", algorithm, ["ppmi", "word2vec"]))
    params = defaults | given
    if algorithm == "word2vec":
        if "seed" in given:
            raise BiasgridError("seed: is each model's own, from the factory's seed; leave it out")
        check_parameters(algorithm, params)
        return params
    for name in params.keys() - PPMI.keys():
        raise BiasgridError(unknown("ppmi parameter", name, PPMI))
    size = params["dimensions"]
    if type(size) is not int or not 2 <= size <= 10_000:
        raise BiasgridError(not_allowed("dimensions", size, "whole numbers from 2 to 10000"))
    return params


def train(
    sentences: Sequence[Sequence[str]], algorithm: str, params: Mapping[str, Any], seed: int
) -> tuple[list[str], np.ndarray, np.ndarray | None]:
    """Word vectors and context vectors of a corpus: the same for the same input, on one machine.

    `ppmi` factorises the positive pointwise mutual information of the words of a sentence by a truncated singular
    value decomposition; the factors of words and of contexts each have the root of the singular values. `word2vec`
    is gensim's, by one worker: its input vectors, and the output vectors of negative sampling.

    Parameters
    ----------
    sentences
        Tokens of each sentence.
    algorithm
        ``"ppmi"`` or ``"word2vec"``.
    params
        As from `trainer_parameters`.
    seed
        Of word2vec.

    Returns
    -------
    words : list of str
    own : ndarray (words, dimensions)
        What a word is by the contexts that it has.
    context : ndarray (words, dimensions) or None
        What it is as a context of others; None for hierarchical softmax, which has no such vectors.

    Raises
    ------
    BiasgridError
        Where `dimensions` is not below the number of words.
    """
    if algorithm == "word2vec":
        from gensim.models import Word2Vec

        model = Word2Vec(sentences, seed=seed, workers=1, **params)
        return list(model.wv.index_to_key), model.wv.vectors, getattr(model, "syn1neg", None)
    words = sorted({word for sentence in sentences for word in sentence})
    return words, *_factors(_ppmi(sentences, words), params["dimensions"])


def make(factory: Factory, model: Model) -> None:
    """Write a model's record: what was planted, and every metric's value and word scores by kind of vectors."""
    spec = json.loads(model.spec)
    planned = plan(model.mu, model.sigma, len(factory.occupations), spec["plan_seed"])
    sentences, truth = corpus(factory.templates, factory.occupations, planned, spec["corpus_seed"])
    words, own, context = train(sentences, spec["algorithm"], spec["params"], spec["corpus_seed"])
    groups = factory.templates.groups
    measured = {}
    for kind in spec["vectors"]:
        with tempfile.TemporaryDirectory() as folder:
            with StoreWriter(Path(folder) / "store", model.name) as writer:
                writer.add(words, own if kind == "word" else own + context)
                writer.finish({"name": model.name, "vocab_prefix": ""})
            store = EmbeddingStore.open(Path(folder) / "store")
            by_metric = {
                key: measure(entry, store, groups, factory.occupations, truth, spec["corpus_seed"])
                for key, entry in spec["metrics"].items()
            }
            male, female = (store.take(group, store.rows(group)) for group in groups)
        # Schroeder et al. 2021, section 5.2.1
        measured[kind] = {"angle": angles(male, female)["pca", "mean"], "metrics": by_metric}
    record = {
        "trainer": model.trainer,
        "mu": model.mu,
        "sigma": model.sigma,
        "replicate": model.replicate,
        **spec,
        "occupations": factory.occupations,
        "planned": planned.tolist(),
        "truth": truth.tolist(),
        "measured": measured,
    }
    write_text(factory.model_file(model), dumps(as_finite(record)) + "\n")


def measure(
    entry: Mapping[str, Any],
    model: EmbeddingStore,
    groups: Sequence[Sequence[str]],
    occupations: Sequence[str],
    truth: np.ndarray,
    seed: int = 0,
) -> dict[str, Any]:
    """A metric of the config on a model: value (NaN: none), status, and its scores of occupations (None: none).

    Occupations are one set, or for a metric that takes two, those that are male in truth (share above .5) and those
    that are female; one of exactly .5 is in neither. Raises BiasgridError where the entry's `words` is none of the
    metric's details.
    """
    metric = metrics.metric(entry["metric"])
    sets = {"occupations": list(occupations)}
    if entry["split"]:
        sides = {"male occupations": truth > 0.5, "female occupations": truth < 0.5}
        sets = {
            name: [w for w, is_in in zip(occupations, chosen, strict=True) if is_in]
            for name, chosen in sides.items()
        }
        empty = [name for name, words in sets.items() if not words]
        if empty:
            return {"value": np.nan, "status": f"no {empty[0]}", "words": None}
    arguments = [(list(groups), list(sets.values())), (list(GROUPS), list(sets))]
    if entry["groups"] == "attributes":
        arguments = [pair[::-1] for pair in arguments]
    query = Query.of(*arguments[0], *arguments[1])
    try:
        result = metric(query, model, seed=seed, **entry["params"])
    except BiasgridError as error:
        # such as a metric of what a debias method has changed
        return {"value": np.nan, "status": str(error), "words": None}
    name = entry.get("words")
    if name and result.detail and name not in result.detail:
        known = ", ".join(result.detail)
        raise BiasgridError(f"metrics: {metric.name}: words: it has no detail {shown(name)}; it has {known}")
    scores = _word_scores(result.detail, sets, name)
    by_word = None if scores is None else [scores.get(word, np.nan) for word in occupations]
    return {"value": result.value, "status": result.status, "words": by_word}


def _measured_as(key: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """The entry of a metric in full. Raises BiasgridError where it does not fit two groups and one set of words."""
    metric = metrics.metric(entry.get("metric", key))
    under = metric.under(entry["params"])
    groups = entry.get("groups", under.groups)
    of_groups, of_words = under.template if groups == "targets" else under.template[::-1]
    if of_groups not in (2, "n", "k") or of_words not in (1, 2, "n", "k"):
        raise BiasgridError(
            f"{metric.name} does not take two groups as {groups}: its template is {under.template}"
        )
    if under.paired and groups == "attributes":
        raise BiasgridError(f"{metric.name} pairs target words: groups must be its targets")
    default = {"label": metric.label, "truth": "mean" if under.bias == "two-sided" else "absolute"}
    return default | dict(entry) | {"metric": metric.name, "groups": groups, "split": of_words in (2, "k")}


def _word_scores(
    detail: Mapping[str, Mapping[str, Mapping[str, Any]]], sets: Iterable[str], name: str | None
) -> dict[str, float] | None:
    """Occupation -> score. The first detail that has one number a word, or a mean; a named one (`words`) may have a
    number for each group, too, whose mean it is then."""
    for candidate in [name] if name else detail:
        by_set = detail.get(candidate, {})
        if not set(sets) <= set(by_set):
            continue
        by_word = {word: value for one in sets for word, value in by_set[one].items()}
        first = next(iter(by_word.values()))
        if not isinstance(first, dict):
            return by_word
        if "mean" in first:
            return {word: values["mean"] for word, values in by_word.items()}
        if name:
            return {word: float(np.mean(list(values.values()))) for word, values in by_word.items()}
    return None


def _ppmi(sentences: Sequence[Sequence[str]], words: Sequence[str]):
    """Sparse (words, words): log of how much more often two words share a sentence than by chance, 0 if not more."""
    from scipy import sparse

    places = {word: i for i, word in enumerate(words)}
    tokens = np.array([places[word] for sentence in sentences for word in sentence])
    rows = np.repeat(np.arange(len(sentences)), [len(sentence) for sentence in sentences])
    occurs = sparse.csr_array((np.ones(len(tokens)), (rows, tokens)), shape=(len(sentences), len(words)))
    # pairs of two different tokens of a sentence
    counts = (occurs.T @ occurs - sparse.diags_array(occurs.sum(axis=0))).tocoo()
    counts.eliminate_zeros()
    total = np.asarray(counts.sum(axis=0))
    information = np.log(counts.data * total.sum() / (total[counts.row] * total[counts.col]))
    return sparse.csr_array((information.clip(0), (counts.row, counts.col)), shape=counts.shape)


def _factors(matrix, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    """U S^(1/2) and V S^(1/2) of the truncated decomposition U S V^T, (words, dimensions) each."""
    # imported late: it takes a second
    from sklearn.decomposition import TruncatedSVD

    if dimensions >= matrix.shape[0]:
        raise BiasgridError(f"dimensions: {dimensions} is too many for {matrix.shape[0]} words")
    decomposition = TruncatedSVD(dimensions, random_state=0, n_iter=10)
    left = decomposition.fit_transform(matrix)
    root = np.sqrt(decomposition.singular_values_)
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(root > 1e-6 * root[0], left / root, 0.0)
    return own, decomposition.components_.T * root
