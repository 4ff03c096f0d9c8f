"""Fine-tuning of BERT on a corpus of templates, in which only the pronoun is masked (Schroeder et al. 2021, 5.1).

The same corpus, weights and parameters give the same bytes in every process on one machine with one version of torch,
if the training runs on the CPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from biasgrid_plugin_training.algorithms.bert import descend, pad, retrain, to_batch

from biasgrid.models.language.batches import Batch
from biasgrid.models.language.pretrained import Pretrained
from biasgrid.models.language.threads import one_thread

from .corpus import Templates, draw, insert_occupation, plan

# The token IDs of a sentence with the mask, and the token ID of the pronoun.
Example = tuple[list[int], int]


def make(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Make the folder of a fine-tuned model; `output` is its model.json, the file that is written last.

    Parameters
    ----------
    inputs
        "templates": the file of sentences. "start": the record of the weights from which training
        starts. "weights": their folder.
    spec
        The spec of `model.make` without the measurements. "start": the name of the weights. "params": the parameters
        of the training.

    Raises
    ------
    BiasgridError
        If the weights are not from a model with a head for masked words, or if a pronoun is not a single token.
    """
    templates, occupations = Templates.read(inputs["templates"]), spec["occupations"]
    probabilities = plan(spec["mu"], spec["sigma"], len(occupations), spec["plan_seed"])
    draws = draw(templates, probabilities, spec["corpus_seed"], spec["trained"])
    name = "{trainer}/{mu:g}/{sigma:g}/{replicate}".format(**spec)

    def fine_tune(pretrained: Pretrained) -> dict[str, Any]:
        number = {word: pretrained.single(word) for pair in templates.pronouns for word in pair}
        texts = [insert_occupation(templates.texts, word) for word in occupations]
        examples = [
            (
                pretrained.split(texts[word][template]).ids,
                number[templates.pronouns[template][not draws.male[word, template]]],
            )
            for word, template in draws.places()
        ]
        batches = _batches(examples, pretrained, spec["params"], spec["corpus_seed"])
        with one_thread():
            losses = descend(pretrained, batches, spec["params"]["learning_rate"])
        return {"sentences": len(examples), "steps": len(losses), "loss": [losses[0], losses[-1]]}

    metadata = {"label": name, "trained_by": {key: spec[key] for key in ("start", "params", "corpus_seed")}}
    retrain(
        inputs["weights"].path,
        output.parent,
        fine_tune,
        name=name.replace("/", "-"),
        start_name=spec["start"],
        metadata=metadata,
        device="auto",
    )


def _batches(
    examples: Sequence[Example], pretrained: Pretrained, params: Mapping[str, Any], seed: int
) -> Iterator[Batch]:
    """Yield batches of all examples in random order, `epochs` times."""
    rng, size = np.random.default_rng(seed), params["batch_size"]
    for _ in range(params["epochs"]):
        order = rng.permutation(len(examples))
        for start in range(0, len(order), size):
            batch = [examples[place] for place in order[start : start + size]]
            ids, is_piece = pad([ids for ids, _ in batch], pretrained.filler)
            places = (ids == pretrained.mask).argmax(axis=1)[:, None]
            yield to_batch(ids, is_piece, places, np.array([[piece] for _, piece in batch]))
