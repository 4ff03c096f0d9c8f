"""Models of the benchmark: corpus, training, behaviour, and the values of every metric."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from biasgrid.core.configs import read_json
from biasgrid.core.files import write_text
from biasgrid.core.schema import as_finite, dumps
from biasgrid.metrics.same import same
from biasgrid.metrics.weat import weat_es
from biasgrid.models.directions import angles
from biasgrid.models.store import EmbeddingStore
from biasgrid.models.store_writer import StoreWriter

from .corpus import Draws, Templates, corpus, draw, plan, spell
from .frames import Frames
from .measuring import measure, random_halves
from .training import train

# The first keys of a record.
SETTING = ("trainer", "mu", "sigma", "replicate")
# The occupations of Schroeder et al.'s motivating example (section 3.1).
EXAMPLE = ("footballer", "bishop", "lawmaker", "hairdresser", "sociologist", "nurse")
# The layer of a fine-tuned model for each kind of vectors: the last layer, or the input of the first.
LAYERS = {"contextual": -1, "sentences": -1, "input": 0}


def make(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write a model's record: injected bias, behaviour, and every metric's value and word scores by kind of vectors.

    Parameters
    ----------
    inputs
        "templates": the file of sentences. A fine-tuned model also needs its own files, "trained", and the files of
        test sentences, "test_templates" and "frames". If words are read in sentences, "sentences" is their file.
    spec
        "trainer", "mu", "sigma" and "replicate"; "algorithm" and "params" of the training; the share "trained" of the
        sentences; the "vectors" to measure; "plan_seed" and "corpus_seed"; "metrics" with their entries by key; the
        number of "halves" on which they are measured again; the "occupations" and the "groups".
    """
    templates, occupations = Templates.read(inputs["templates"]), spec["occupations"]
    probabilities = plan(spec["mu"], spec["sigma"], len(occupations), spec["plan_seed"])
    draws = draw(templates, probabilities, spec["corpus_seed"], spec["trained"])
    acts = None
    if "trained" in inputs:
        acts, by_kind = _read_fine_tuned_model(inputs, spec, templates, draws)
    else:
        by_kind = _train_static_model(templates, spec, draws)
    name = "{trainer}/{mu:g}/{sigma:g}/{replicate}".format(**spec)
    measurements = {}
    for kind, (words, vectors) in by_kind.items():
        with tempfile.TemporaryDirectory() as folder:
            with StoreWriter(Path(folder) / "store", name) as writer:
                writer.add(words, vectors)
                writer.finish({"name": name, "vocab_prefix": ""})
            store = EmbeddingStore.open(Path(folder) / "store")
            measurements[kind] = _measure_vectors(store, spec, draws.truth)
    record = {
        **{key: spec[key] for key in SETTING},
        **{key: part for key, part in spec.items() if key not in (*SETTING, "occupations")},
        "occupations": occupations,
        "planned": probabilities.tolist(),
        "truth": draws.truth.tolist(),
        "behaviour": acts,
        "measured": measurements,
    }
    write_text(output, dumps(as_finite(record)) + "\n")


def _train_static_model(templates: Templates, spec: Mapping[str, Any], draws: Draws) -> dict[str, Any]:
    """Train a static model, and return its words and vectors by kind."""
    sentences = corpus(templates, spec["occupations"], draws)
    words, word_vectors, context_vectors = train(
        sentences, spec["algorithm"], spec["params"], spec["corpus_seed"]
    )
    return {
        kind: (words, word_vectors if kind == "word" else word_vectors + context_vectors)
        for kind in spec["vectors"]
    }


def _read_fine_tuned_model(
    inputs: Mapping[str, Any], spec: Mapping[str, Any], templates: Templates, draws: Draws
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the behaviour of a fine-tuned model, and its words and vectors by kind."""
    # Import late, because static models do not need torch.
    from biasgrid.models.language.encoder import Encoder
    from biasgrid.models.language.encoding import encode
    from biasgrid.models.language.masked import Masked
    from biasgrid.models.language.opening import open_pretrained
    from biasgrid.models.language.templates import Templates as Sentences

    from .behaviour import behaviour

    pretrained, occupations = open_pretrained(Path(inputs["trained"][0]).parent), spec["occupations"]
    test_sentences = Templates.read(inputs["test_templates"], inflections=True), Frames.read(inputs["frames"])
    acts = behaviour(Masked(pretrained), templates, *test_sentences, occupations, draws)
    if spec["halves"]:
        halves = random_halves(len(occupations), spec["halves"], spec["corpus_seed"])
        scores = {name: np.array(acts[name]) for name in ("unmasking", "errors")}
        acts["halves"] = {
            name: float(np.mean([abs(values[half].mean() - values.mean()) for half in halves]))
            for name, values in scores.items()
        }
    encoder = Encoder(pretrained)
    words = [*occupations, *(word for group in spec["groups"] for word in group)]
    texts, by_kind = list(map(spell, words)), {}
    for kind in spec["vectors"]:
        # Words are encoded alone or in sentences.
        sentences = Sentences.of(read_json(inputs["sentences"]) if kind == "sentences" else None)
        vectors = encode(encoder, texts, sentences, layer=LAYERS[kind])
        by_kind[kind] = words, np.array([vectors[text] for text in texts])
    return acts, by_kind


def _measure_vectors(store: EmbeddingStore, spec: Mapping[str, Any], truth: np.ndarray) -> dict[str, Any]:
    """Measure one kind of vectors."""
    groups, occupations = spec["groups"], spec["occupations"]
    male, female = (store.take(group, store.rows(group)) for group in groups)
    return {
        # Schroeder et al. 2021, section 5.2.1, define the angle.
        "angle": angles(male, female)["pca", "mean"],
        "example": _example(store, [male, female], set(EXAMPLE) <= set(occupations)),
        "metrics": {
            key: measure(entry, store, groups, occupations, truth, spec["corpus_seed"], spec["halves"])
            for key, entry in spec["metrics"].items()
        },
    }


def _example(store: EmbeddingStore, groups: Sequence[np.ndarray], has_words: bool) -> dict[str, Any] | None:
    """Compute WEAT's effect size for each of the ten divisions of the example's six words into two sets of three.

    Also compute SAME, which does not need such sets (ibid., section 3.1).
    """
    if not has_words:
        return None
    vectors = store.take(EXAMPLE, store.rows(EXAMPLE))
    sizes = []
    # Keep the first word in the first set, because a set and its complement are the same division.
    for pair in combinations(range(1, 6), 2):
        first = np.isin(range(6), (0, *pair))
        sizes.append(abs(weat_es([vectors[first], vectors[~first]], groups).value))
    return {"words": list(EXAMPLE), "effect_sizes": sizes, "same": same(groups, [vectors]).value}
