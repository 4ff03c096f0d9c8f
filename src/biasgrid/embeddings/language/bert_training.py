"""A masked language model that is trained here: BERT (Devlin et al. 2019) on a corpus, from given weights on.

In every sentence some pieces are to be predicted; of these four fifths are masked, a tenth are replaced by any piece,
and a tenth stay (section 3.1). Sentences that are held out measure the model and are never trained on.

The same corpus, weights and parameters give the same bytes in every process of one machine with one version of torch:
NumPy draws all random numbers from one seed, and sums are added up on the processor in one thread. There is no
dropout: the model reads a corpus about once.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import BiasgridError
from ...extras import require_for
from ..corpus.shuffled import Shuffled
from ..corpus.text import Sentences
from .bert_network import CONFIG, HEAD, WEIGHTS, Shape, Weights, head, layers, read_shape, read_weights
from .building import make_language_model
from .formats import BERT
from .model import LanguageModel
from .threads import one_thread
from .word_pieces import TOKENIZER, Pieces, read_pieces

VERSION = 2  # raise it when a change of this module changes weights
SHORTEST = 6  # words of a sentence that is trained on
TOGETHER = 50  # batches whose sentences are sorted by length
# with a random number below the first a piece is masked, below the second it is replaced by any
MASKED, ANY = 0.8, 0.9

Ids = list[int]


class Batch(NamedTuple):
    """Sentences that are trained on at once.

    ids       int64 (sentences, pieces): what the model sees; 0 after a sentence's end
    is_piece  bool (sentences, pieces): where there is a piece, and no padding
    places    two arrays (predicted,): in which sentence, at which piece something is predicted
    labels    int64 (predicted,): the piece there
    """

    ids: NDArray[np.int64]
    is_piece: NDArray[np.bool_]
    places: tuple[NDArray[np.intp], ...]
    labels: NDArray[np.int64]


@dataclass(frozen=True)
class Settings:
    """Parameters of a training.

    epochs         how often the corpus is read; a fraction reads a part of it the last time
    batch_size     sentences of a step
    learning_rate  of AdamW, the same in all steps
    masked         the share of a sentence's pieces that is predicted
    pieces         the most pieces of a sentence, with [CLS] and [SEP]; what comes after them is cut
    held_out       sentences that are not trained on
    seed           of the order of sentences, and of what is masked
    """

    epochs: float = 1.0
    batch_size: int = 48
    learning_rate: float = 1e-3
    masked: float = 0.15
    pieces: int = 48
    held_out: int = 800
    seed: int = 1


class Quality(NamedTuple):
    """How well masked pieces of held-out sentences are predicted: `masked` of the pieces of each sentence at once."""

    perplexity: float
    accuracy: float


def train(
    corpus: Path,
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
    corpus
        The corpus' file or folder; the model's entry says how it is read.
    start
        The weights to begin with: a folder, or model.safetensors with the other files beside it.
    folder
        The model's.
    name, model
        The model's, and its entry in `Study.models`: of its source, `corpus` and `params` (`Settings`).
    metadata
        Further entries of model.json. Beside them stand `perplexity` and `masked_accuracy` on `held_out` sentences,
        how many `sentences` were trained on, in how many `steps`, and the `loss` of the first and the last step.

    Raises
    ------
    BiasgridError
        Weights that are none of a BERT with its head for masked words, and a corpus of too few sentences.
    """
    source = model["source"]

    def train_weights(weights: dict[str, Any], shape: Shape, pieces: Pieces) -> dict[str, Any]:
        return _train_on_corpus(corpus, source, weights, shape, pieces)

    return retrain(
        start, folder, train_weights, name=name, start_name=source["start"]["name"], metadata=metadata
    )


def retrain(
    start: Path,
    folder: Path,
    change_weights: Callable[[dict[str, Any], Shape, Pieces], Mapping[str, Any]],
    *,
    name: str,
    start_name: str,
    metadata: Mapping[str, Any],
) -> LanguageModel:
    """Make a model's folder by changing given weights.

    Parameters
    ----------
    start
        The weights to begin with: a folder, or model.safetensors with the other files beside it.
    folder
        The model's.
    change_weights
        Changes the weights in place, and returns what is to stand in model.json.
    name, start_name
        The model's, and that of the weights to begin with.
    metadata
        Further entries of model.json.

    Raises
    ------
    BiasgridError
        Weights that are none of a BERT with its head for masked words.
    """
    require_for(BERT, purpose=f"training {name}")
    scratch = folder.with_name(f".{folder.name}.training")
    shutil.rmtree(scratch, ignore_errors=True)  # of a process that was killed
    start_folder, output = scratch / "start", scratch / "made"
    try:
        make_language_model(start, start_folder, name=name, model={"format": BERT}, metadata={}, keep=False)
        output.mkdir()
        shape, pieces = read_shape(start_folder), read_pieces(start_folder)
        weights = read_weights(start_folder, shape)
        if f"{HEAD}bias" not in weights:
            raise BiasgridError(f"{start_name}: has no head for masked words, and so cannot be trained on")
        facts = change_weights(weights, shape, pieces)
        write(output, start_folder, weights, pieces)
        entry = {"format": BERT, "source": {"type": "trained"}}
        return make_language_model(output, folder, name=name, model=entry, metadata={**metadata, **facts})
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _train_on_corpus(
    corpus: Path, source: Mapping[str, Any], weights: dict[str, Any], shape: Shape, pieces: Pieces
) -> dict[str, Any]:
    """Train on a corpus; what is to stand in model.json."""
    settings, entry = Settings(**source["params"]), source["corpus"]
    if settings.pieces > shape.positions:
        raise BiasgridError(f"pieces: {settings.pieces} is not allowed; allowed: up to {shape.positions}")
    # running text has no sentences: it is cut into stretches, few of which have too many pieces
    sentences: Any = (
        Sentences(corpus, entry["format"])
        if "format" in entry
        else Sentences(corpus, "tokens", settings.pieces)
    )
    if "shuffle" in entry:
        sentences = Shuffled(sentences, entry["shuffle"])
    training_ids, held_out_ids = split(sentences, pieces, settings.pieces, settings.held_out)
    if not training_ids:
        raise BiasgridError(
            f"{corpus}: of its {len(held_out_ids)} sentences of {SHORTEST} words or more {settings.held_out} are "
            "held out (held_out): none is left to train on"
        )
    with one_thread():
        losses = fit(weights, shape, pieces, training_ids, settings)
        scores = quality(weights, shape, pieces, held_out_ids, settings)
    return {
        "perplexity": scores.perplexity,
        "masked_accuracy": scores.accuracy,
        "held_out": len(held_out_ids),
        "sentences": len(training_ids),
        "steps": len(losses),
        "loss": [losses[0], losses[-1]],
    }


def write(folder: Path, start: Path, weights: Weights, pieces: Pieces) -> None:
    """The files of a model: its weights as Hugging Face names them, and whatever else `start` has."""
    from safetensors.torch import save

    tensors = {name if name.startswith(HEAD) else f"bert.{name}": weight for name, weight in weights.items()}
    (folder / WEIGHTS).write_bytes(save(dict(sorted(tensors.items())), metadata={"format": "pt"}))
    shutil.copyfile(start / CONFIG, folder / CONFIG)
    pieces.tokenizer.save(str(folder / TOKENIZER))


def split(
    sentences: Iterable[Sequence[str]], pieces: Pieces, longest: int, held_out: int
) -> tuple[list[Ids], list[Ids]]:
    """The pieces of the sentences to train on, and of those that are held out: every n-th, `held_out` in all.

    Sentences of less than 6 words are left out, longer ones than `longest` pieces cut. What is the same as a held-out
    one is not trained on.
    """
    all_ids = [
        cut(pieces.split(" ".join(words))[0], longest) for words in sentences if len(words) >= SHORTEST
    ]
    held_out_places = {place * len(all_ids) // held_out for place in range(min(held_out, len(all_ids)))}
    held_out_ids = [all_ids[place] for place in sorted(held_out_places)]
    held_out_tuples = set(map(tuple, held_out_ids))
    return [
        ids
        for place, ids in enumerate(all_ids)
        if place not in held_out_places and tuple(ids) not in held_out_tuples
    ], held_out_ids


def cut(ids: Ids, longest: int) -> Ids:
    """A sentence of at most so many pieces, [SEP] last."""
    return ids if len(ids) <= longest else [*ids[: longest - 1], ids[-1]]


def batches(sentences: Sequence[Ids], size: int, rng: np.random.Generator) -> Iterator[list[Ids]]:
    """The sentences in a random order again and again, those of a batch of about one length."""
    while True:
        order = rng.permutation(len(sentences))
        groups = []
        for start in range(0, len(order), size * TOGETHER):
            block = sorted(order[start : start + size * TOGETHER], key=lambda place: len(sentences[place]))
            groups += [block[first : first + size] for first in range(0, len(block), size)]
        for place in rng.permutation(len(groups)):
            yield [sentences[number] for number in groups[place]]


def pad(sentences: Sequence[Ids]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """`ids` and `is_piece` of a `Batch`."""
    lengths = np.array([len(ids) for ids in sentences])
    is_piece = np.arange(lengths.max()) < lengths[:, None]
    ids = np.zeros(is_piece.shape, dtype=np.int64)
    ids[is_piece] = np.concatenate([np.array(sentence) for sentence in sentences])
    return ids, is_piece


def mask_pieces(
    sentences: Sequence[Ids],
    pieces: Pieces,
    share: float,
    words: int,
    rng: np.random.Generator,
    *,
    all_masked: bool = False,
) -> Batch:
    """A batch in which a share of each sentence's pieces, and at least one, is to be predicted, never [CLS] and
    [SEP]. `all_masked`: all of these are masked, as when the model is used."""
    lengths = np.array([len(ids) for ids in sentences])
    ids, is_piece = pad(sentences)
    is_inner = (np.arange(lengths.max()) < lengths[:, None] - 1) & (np.arange(lengths.max()) > 0)
    rank = np.where(is_inner, rng.random(ids.shape), 2).argsort(axis=1).argsort(axis=1)
    is_target = is_inner & (rank < np.maximum(1, np.rint(share * (lengths - 2)))[:, None])
    labels = ids[is_target]
    inputs, fate = np.full(len(labels), pieces.mask), rng.random(len(labels))
    if not all_masked:
        inputs = np.where(
            fate < MASKED, inputs, np.where(fate < ANY, rng.integers(words, size=len(labels)), labels)
        )
    ids[is_target] = inputs
    return Batch(ids, is_piece, np.nonzero(is_target), labels)


def predictions(weights: Weights, shape: Shape, batch: Batch) -> Any:
    """The logits at each place of a batch: (predicted, words)."""
    import torch

    device = weights[f"{HEAD}bias"].device
    ids, is_piece = (torch.from_numpy(part).to(device) for part in (batch.ids, batch.is_piece))
    return head(weights, shape, layers(weights, shape, ids, is_piece)[batch.places])


def fit(
    weights: dict[str, Any],
    shape: Shape,
    pieces: Pieces,
    sentences: Sequence[Ids],
    settings: Settings,
) -> list[float]:
    """Train the weights, which change in place, on sentences with pieces to predict: the loss of each step."""
    rng = np.random.default_rng(settings.seed)
    steps = max(1, round(settings.epochs * len(sentences) / settings.batch_size))
    groups = islice(batches(sentences, settings.batch_size, rng), steps)
    examples = (mask_pieces(group, pieces, settings.masked, shape.words, rng) for group in groups)
    return descend(weights, shape, examples, settings.learning_rate)


def descend(
    weights: dict[str, Any], shape: Shape, examples: Iterable[Batch], learning_rate: float
) -> list[float]:
    """Change the weights in place, a step for each batch, by AdamW (Loshchilov and Hutter 2019): each step's loss."""
    import torch
    from torch.nn.functional import cross_entropy

    for weight in weights.values():
        weight.requires_grad_(True)
    optimizer = torch.optim.AdamW(weights.values(), lr=learning_rate)
    losses = []
    for batch in examples:
        logits = predictions(weights, shape, batch)
        loss = cross_entropy(logits, torch.from_numpy(batch.labels).to(logits.device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    for weight in weights.values():
        weight.requires_grad_(False)
    return losses


def quality(
    weights: Weights, shape: Shape, pieces: Pieces, sentences: Sequence[Ids], settings: Settings
) -> Quality:
    """How well the pieces of held-out sentences are predicted, `masked` of each masked at once."""
    import torch

    rng, losses, hits = np.random.default_rng(settings.seed), [], []
    for start in range(0, len(sentences), 50):
        batch = mask_pieces(
            sentences[start : start + 50], pieces, settings.masked, shape.words, rng, all_masked=True
        )
        with torch.inference_mode():
            log_probabilities = predictions(weights, shape, batch).double().log_softmax(-1)
            labels = torch.from_numpy(batch.labels)
            losses += log_probabilities[range(len(labels)), labels].tolist()
            hits += (log_probabilities.argmax(-1) == labels).tolist()
    return Quality(float(np.exp(-np.mean(losses))), float(np.mean(hits)))
