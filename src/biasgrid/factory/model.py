"""A model of the benchmark: its corpus, its training, and every metric on it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..directions import angles
from ..embeddings.store import EmbeddingStore
from ..embeddings.store_writer import StoreWriter
from ..files import write_text
from ..measure import as_finite, dumps
from .corpus import Templates, corpus, plan
from .measuring import measure
from .training import train

# what a record says first
SETTING = ("trainer", "mu", "sigma", "replicate")


def make(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write a model's record: what was planted, and every metric's value and word scores by kind of vectors.

    Parameters
    ----------
    inputs
        "templates": the file of sentences.
    spec
        "trainer", "mu", "sigma" and "replicate"; "algorithm" and "params" of the training; the "vectors" that are
        measured; "plan_seed" and "corpus_seed"; "metrics" with their entries by key; the "occupations".
    """
    templates, occupations = Templates.read(inputs["templates"]), spec["occupations"]
    planned = plan(spec["mu"], spec["sigma"], len(occupations), spec["plan_seed"])
    sentences, truth = corpus(templates, occupations, planned, spec["corpus_seed"])
    words, own, context = train(sentences, spec["algorithm"], spec["params"], spec["corpus_seed"])
    groups = templates.groups
    name = "{trainer}/{mu:g}/{sigma:g}/{replicate}".format(**spec)
    measured = {}
    for kind in spec["vectors"]:
        with tempfile.TemporaryDirectory() as folder:
            with StoreWriter(Path(folder) / "store", name) as writer:
                writer.add(words, own if kind == "word" else own + context)
                writer.finish({"name": name, "vocab_prefix": ""})
            store = EmbeddingStore.open(Path(folder) / "store")
            by_metric = {
                key: measure(entry, store, groups, occupations, truth, spec["corpus_seed"])
                for key, entry in spec["metrics"].items()
            }
            male, female = (store.take(group, store.rows(group)) for group in groups)
        # Schroeder et al. 2021, section 5.2.1
        measured[kind] = {"angle": angles(male, female)["pca", "mean"], "metrics": by_metric}
    record = {
        **{key: spec[key] for key in SETTING},
        **{key: part for key, part in spec.items() if key not in (*SETTING, "occupations")},
        "occupations": occupations,
        "planned": planned.tolist(),
        "truth": truth.tolist(),
        "measured": measured,
    }
    write_text(output, dumps(as_finite(record)) + "\n")
