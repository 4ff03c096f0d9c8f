"""Training of a masked language model: BERT (Devlin et al. 2019) on a corpus, starting from given weights.

In every sentence some tokens are to be predicted. Four fifths of these are masked, a tenth are replaced by
any token, and a tenth stay (section 3.1). Held-out sentences measure the model and are never trained on.

The same corpus, weights and parameters give the same bytes in every process of one machine with one version
of torch: NumPy draws all random numbers from one seed, and the CPU adds sums in one thread. Dropout is not
used, as the transformers model reads a corpus only about once.
"""

from __future__ import annotations

import importlib.metadata
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasgrid.core.errors import BiasgridError
from biasgrid.core.extras import has, require_for
from biasgrid.core.files import scratch_folder
from biasgrid.models.algorithms import Algorithm
from biasgrid.models.corpus.text import Sentences
from biasgrid.models.language.architectures import MASKED
from biasgrid.models.language.batches import Batch
from biasgrid.models.language.building import make_language_model
from biasgrid.models.language.formats import TRANSFORMERS
from biasgrid.models.language.model import MODEL, LanguageModel
from biasgrid.models.language.opening import open_pretrained, quiet
from biasgrid.models.language.pretrained import Pretrained
from biasgrid.models.language.threads import one_thread

from ..corpora import Shuffled
from ..parameters import COUNT, LARGEST, SEED, Parameters
from ..parameters import check as check_parameters

VERSION = 3  # raise this number if a change of this module changes weights
SHORTEST = 6  # minimum number of words in a training sentence
TOGETHER = 50  # number of batches whose sentences are sorted by length
# If a random number is below the first, a token is masked; if below the second, it is replaced by any token.
MASKS, ANY = 0.8, 0.9

PARAMETERS: Parameters = {
    "seed": SEED,
    "epochs": (float, 0.0001, 1000),
    "learning_rate": (float, 0, 1),
    "masked": (float, 0.01, 0.9),
    "batch_size": COUNT,
    "pieces": (int, 8, LARGEST),
    "held_out": COUNT,
}

Ids = list[int]


@dataclass(frozen=True)
class Settings:
    """Parameters of a training.

    Attributes
    ----------
    epochs
        How often the corpus is read; with a fraction, the last pass reads a part of it.
    batch_size
        The number of sentences per step.
    learning_rate
        AdamW's learning rate, the same in all steps.
    masked
        The share of a sentence's tokens that is predicted.
    pieces
        The maximum number of tokens of a sentence, including [CLS] and [SEP]; further tokens are cut off.
    held_out
        The number of sentences that are not trained on.
    seed
        The seed of the order of sentences and of masking.
    """

    epochs: float = 1.0
    batch_size: int = 48
    learning_rate: float = 1e-3
    masked: float = 0.15
    pieces: int = 48
    held_out: int = 800
    seed: int = 1


class Quality(NamedTuple):
    """The quality of predictions on held-out sentences, with the share `masked` of the tokens masked at once."""

    perplexity: float
    accuracy: float


def train(
    archive: Path,
    start: Path,
    folder: Path,
    *,
    name: str,
    model: Mapping[str, Any],
    metadata: Mapping[str, Any],
) -> LanguageModel:
    """Train a masked language model, and make its folder.

    Parameters
    ----------
    archive
        The corpus' file or folder; the model's entry defines its format.
    start
        The initial weights: a folder, or model.safetensors with the other files next to it.
    folder
        The model's folder.
    name
        The model's name.
    model
        The model's entry in `Study.models`; `corpus` and `params` (`Settings`) of its source are used.
    metadata
        Further entries of model.json. It also gets `perplexity` and `masked_accuracy` on `held_out`
        sentences, the numbers of training `sentences` and `steps`, and the `loss` of the first and the last
        step.

    Raises
    ------
    BiasgridError
        The weights are not of a model with a head for masked words, or the corpus has too few sentences.
    """
    source = model["source"]
    return retrain(
        start,
        folder,
        partial(_train_on_corpus, archive, source),
        name=name,
        start_name=source["start"]["name"],
        metadata=metadata,
    )


def retrain(
    start: Path,
    folder: Path,
    change_weights: Callable[[Pretrained], Mapping[str, Any]],
    *,
    name: str,
    start_name: str,
    metadata: Mapping[str, Any],
    device: str = "cpu",
) -> LanguageModel:
    """Make a model's folder by changing given weights.

    Parameters
    ----------
    start
        The initial weights: a folder, or model.safetensors with the other files next to it.
    folder
        The model's folder.
    change_weights
        A function that changes the weights in place, and returns entries of model.json.
    name, start_name
        The names of the model and of the initial weights.
    metadata
        Further entries of model.json.
    device
        The device for training: see `open_pretrained`.

    Raises
    ------
    BiasgridError
        The weights are not of a model with a head for masked words.
    """
    require_for(TRANSFORMERS, purpose=f"training {name}")
    busy = f"{folder}: another process is training this model"
    with scratch_folder(folder.with_name(f".{folder.name}.training"), busy) as scratch:
        start_folder, output = scratch / "start", scratch / "made"
        make_language_model(
            start, start_folder, name=name, model={"format": TRANSFORMERS}, metadata={}, keep=False
        )
        try:
            pretrained = open_pretrained(start_folder, device=device)
        except BiasgridError as error:
            raise BiasgridError(str(error).replace(str(start_folder), start_name)) from None
        if pretrained.kind != MASKED:
            raise BiasgridError(f"{start_name}: has no head for masked words, and so cannot be trained on")
        facts = change_weights(pretrained)
        write(output, start_folder, pretrained)
        entry = {"format": TRANSFORMERS, "source": {"type": "trained"}}
        return make_language_model(output, folder, name=name, model=entry, metadata={**metadata, **facts})


def _train_on_corpus(corpus: Path, source: Mapping[str, Any], pretrained: Pretrained) -> dict[str, Any]:
    """Train on a corpus; return entries of model.json."""
    settings, entry = Settings(**source["params"]), source["corpus"]
    if settings.pieces > pretrained.positions:
        raise BiasgridError(
            f"pieces: {settings.pieces} is not allowed; allowed: up to {pretrained.positions}"
        )
    # Running text is not split into sentences. It is cut into parts of which only a few have too many tokens.
    sentences: Any = (
        Sentences(corpus, entry["format"])
        if "format" in entry
        else Sentences(corpus, "tokens", settings.pieces)
    )
    if "shuffle" in entry:
        sentences = Shuffled(sentences, entry["shuffle"])
    training_ids, held_out_ids = split(sentences, pretrained, settings.pieces, settings.held_out)
    if not training_ids:
        raise BiasgridError(
            f"{corpus}: of its {len(held_out_ids)} sentences of {SHORTEST} words or more {settings.held_out} are "
            "held out (held_out): none is left to train on"
        )
    with one_thread():
        losses = fit(pretrained, training_ids, settings)
        scores = quality(pretrained, held_out_ids, settings)
    return {
        "perplexity": scores.perplexity,
        "masked_accuracy": scores.accuracy,
        "held_out": len(held_out_ids),
        "sentences": len(training_ids),
        "steps": len(losses),
        "loss": [losses[0], losses[-1]],
    }


def write(folder: Path, start: Path, pretrained: Pretrained) -> None:
    """Write the files of a model: its weights, and the other files of `start`."""
    with quiet():
        pretrained.model.save_pretrained(folder)
    for path in start.iterdir():
        if ".safetensors" not in path.name and path.name != MODEL:
            shutil.copyfile(path, folder / path.name)


def split(
    sentences: Iterable[Sequence[str]], pretrained: Pretrained, longest: int, held_out: int
) -> tuple[list[Ids], list[Ids]]:
    """Split sentences into training and held-out ones, and return the tokens of both.

    Every n-th sentence is held out, `held_out` in total. Sentences of fewer than 6 words are left out, and
    longer ones than `longest` tokens are cut. A sentence equal to a held-out one is not trained on.
    """
    all_ids = [
        cut(pretrained.split(" ".join(words)).ids, longest) for words in sentences if len(words) >= SHORTEST
    ]
    count = min(held_out, len(all_ids))
    held_out_places = {place * len(all_ids) // count for place in range(count)}
    held_out_ids = [all_ids[place] for place in sorted(held_out_places)]
    held_out_tuples = set(map(tuple, held_out_ids))
    return [
        ids
        for place, ids in enumerate(all_ids)
        if place not in held_out_places and tuple(ids) not in held_out_tuples
    ], held_out_ids


def cut(ids: Ids, longest: int) -> Ids:
    """Cut a sentence to this number of tokens, with [SEP] as the last one."""
    return ids if len(ids) <= longest else [*ids[: longest - 1], ids[-1]]


def batches(sentences: Sequence[Ids], size: int, rng: np.random.Generator) -> Iterator[list[Ids]]:
    """Yield batches of sentences of similar length in random order, without end."""
    while True:
        order = rng.permutation(len(sentences))
        groups = []
        for start in range(0, len(order), size * TOGETHER):
            block = sorted(order[start : start + size * TOGETHER], key=lambda place: len(sentences[place]))
            groups += [block[first : first + size] for first in range(0, len(block), size)]
        for place in rng.permutation(len(groups)):
            yield [sentences[number] for number in groups[place]]


def pad(sentences: Sequence[Ids], filler: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the tokens, int64 (sentences, length), with `filler` after a sentence's end; and where a token is."""
    lengths = np.array([len(ids) for ids in sentences])
    is_piece = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(is_piece.shape, filler, dtype=np.int64)
    ids[is_piece] = np.concatenate([np.array(sentence) for sentence in sentences])
    return ids, is_piece


def mask_pieces(
    sentences: Sequence[Ids],
    pretrained: Pretrained,
    share: float,
    rng: np.random.Generator,
    *,
    all_masked: bool = False,
) -> Batch:
    """Return a batch in which a share of each sentence's tokens is to be predicted, and at least one token.

    The first and the last token, which are special, are never predicted. With `all_masked`, all tokens to
    predict are masked, as when the model is used. If a sentence has fewer positions than others, 0 fills its
    row.
    """
    lengths = np.array([len(ids) for ids in sentences])
    ids, is_piece = pad(sentences, pretrained.filler)
    columns = np.arange(lengths.max())
    is_inner = (columns < lengths[:, None] - 1) & (columns > 0)
    rank = np.where(is_inner, rng.random(ids.shape), 2).argsort(axis=1).argsort(axis=1)
    is_target = is_inner & (rank < np.maximum(1, np.rint(share * (lengths - 2)))[:, None])
    places = np.sort(np.where(is_target, columns, 0), axis=1)[:, -is_target.sum(axis=1).max() :]
    labels = np.take_along_axis(ids, places, axis=1)
    targets = ids[is_target]
    inputs, fate = np.full(len(targets), pretrained.mask), rng.random(len(targets))
    if not all_masked:
        inputs = np.where(
            fate < MASKS,
            inputs,
            np.where(fate < ANY, rng.integers(pretrained.words, size=len(targets)), targets),
        )
    ids[is_target] = inputs
    return to_batch(ids, is_piece, places, labels)


def to_batch(
    ids: NDArray[np.int64],
    is_piece: NDArray[np.bool_],
    places: NDArray[np.int64],
    labels: NDArray[np.int64],
) -> Batch:
    """Return the arrays as tensors."""
    import torch

    return Batch(*map(torch.from_numpy, (ids, is_piece.astype(np.int64), places, labels)))


def fit(pretrained: Pretrained, sentences: Sequence[Ids], settings: Settings) -> list[float]:
    """Train the model's weights in place on masked sentences, and return the loss of each step."""
    rng = np.random.default_rng(settings.seed)
    steps = max(1, round(settings.epochs * len(sentences) / settings.batch_size))
    groups = islice(batches(sentences, settings.batch_size, rng), steps)
    examples = (mask_pieces(group, pretrained, settings.masked, rng) for group in groups)
    return descend(pretrained, examples, settings.learning_rate)


def descend(pretrained: Pretrained, examples: Iterable[Batch], learning_rate: float) -> list[float]:
    """Change the weights in place by AdamW (Loshchilov and Hutter 2019), one step per batch; return the
    losses."""
    import torch

    optimizer = torch.optim.AdamW(pretrained.model.parameters(), lr=learning_rate)
    losses = []
    for example in examples:
        batch = Batch(*(part.to(pretrained.device) for part in example))
        with pretrained.at_work():  # without dropout
            loss = -pretrained.log_probabilities(*batch)[batch.places > 0].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


def quality(pretrained: Pretrained, sentences: Sequence[Ids], settings: Settings) -> Quality:
    """Measure how well tokens of held-out sentences are predicted, with the share `masked` masked at once."""
    import torch

    rng, losses, hits = np.random.default_rng(settings.seed), [], []
    all_pieces = torch.arange(pretrained.words)
    for start in range(0, len(sentences), 50):
        batch = mask_pieces(sentences[start : start + 50], pretrained, settings.masked, rng, all_masked=True)
        asked = batch.places > 0
        labels = batch.labels[asked]
        with pretrained.at_work(), torch.inference_mode():
            of_pieces = all_pieces.expand(*batch.places.shape, -1)
            log_probabilities = pretrained.log_probabilities(*batch[:3], of_pieces)[asked].double()
        losses += log_probabilities[range(len(labels)), labels].tolist()
        hits += (log_probabilities.argmax(-1) == labels).tolist()
    return Quality(float(np.exp(-np.mean(losses))), float(np.mean(hits)))


def version() -> str:
    """Return the versions of code on which weights depend."""
    torch = importlib.metadata.version("torch") if has("torch") else "missing"
    return f"bert version {VERSION} torch {torch}"


ALGORITHMS = (
    Algorithm(
        "bert",
        "Masked words: a masked language model, trained on from the weights of an encoder.",
        kind="language_model",
        parameters=PARAMETERS,
        check=partial(check_parameters, "bert", PARAMETERS),
        version=version,
        make=train,
        needs=TRANSFORMERS,
        from_weights=True,
    ),
)
