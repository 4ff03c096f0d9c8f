"""A masked language model that is trained here: BERT (Devlin et al. 2019) on a corpus, from given weights on.

In every sentence some pieces are to be predicted; of these four fifths are masked, a tenth are replaced by any piece,
and a tenth stay (section 3.1). Sentences that are held out measure the model and are never trained on.

The same corpus, weights and parameters give the same bytes in every process of one machine with one version of torch:
NumPy draws all that is drawn, from one seed, and sums are added up on the processor in one thread. Nothing is dropped
out: a corpus is gone through about once.
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
from ..corpus.shuffled import Shuffled
from ..corpus.text import Sentences
from .bert import needed
from .bert_network import CONFIG, HEAD, WEIGHTS, Shape, Weights, head, layers, read_shape, read_weights
from .building import make_language_model
from .formats import BERT
from .model import LanguageModel
from .threads import one_thread
from .word_pieces import TOKENIZER, Pieces, read_pieces

VERSION = 2  # raise it when a change of this module changes weights
LEAST = 6  # words of a sentence that is trained on
TOGETHER = 50  # batches whose sentences are sorted by length
MASKED, ANY = 0.8, 0.9  # below the one a piece is masked, below the other it is replaced by any

Ids = list[int]


class Batch(NamedTuple):
    """Sentences that are trained on at once.

    ids      int64 (sentences, pieces): what the model sees; 0 after a sentence's end
    allowed  bool (sentences, pieces): where there is a piece
    places   two arrays (predicted,): in which sentence, at which piece something is predicted
    wanted   int64 (predicted,): the piece there
    """

    ids: NDArray[np.int64]
    allowed: NDArray[np.bool_]
    places: tuple[NDArray[np.intp], NDArray[np.intp]]
    wanted: NDArray[np.int64]


@dataclass(frozen=True)
class Settings:
    """Parameters of a training.

    epochs         how often the corpus is gone through; with a part of one, not all of it the last time
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
        The corpus' file or folder; how it is read says the model's entry.
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

    def trained(weights: dict[str, Any], shape: Shape, pieces: Pieces) -> dict[str, Any]:
        return _trained(corpus, source, weights, shape, pieces)

    return made_from(start, folder, trained, name=name, start_name=source["start"]["name"], metadata=metadata)


def made_from(
    start: Path,
    folder: Path,
    trained: Callable[[dict[str, Any], Shape, Pieces], Mapping[str, Any]],
    *,
    name: str,
    start_name: str,
    metadata: Mapping[str, Any],
) -> LanguageModel:
    """Make a model's folder of weights that are changed.

    Parameters
    ----------
    start
        The weights to begin with: a folder, or model.safetensors with the other files beside it.
    folder
        The model's.
    trained
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
    needed(f"training {name}")
    aside = folder.with_name(f".{folder.name}.training")
    shutil.rmtree(aside, ignore_errors=True)  # of a process that was killed
    begun, made = aside / "start", aside / "made"
    try:
        make_language_model(start, begun, name=name, model={"format": BERT}, metadata={}, keep=False)
        made.mkdir()
        shape, pieces = read_shape(begun), read_pieces(begun)
        weights = read_weights(begun, shape)
        if f"{HEAD}bias" not in weights:
            raise BiasgridError(f"{start_name}: has no head for masked words, and so cannot be trained on")
        facts = trained(weights, shape, pieces)
        write(made, begun, weights, pieces)
        entry = {"format": BERT, "source": {"type": "trained"}}
        return make_language_model(made, folder, name=name, model=entry, metadata={**metadata, **facts})
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _trained(
    corpus: Path, source: Mapping[str, Any], weights: dict[str, Any], shape: Shape, pieces: Pieces
) -> dict[str, Any]:
    """Train on a corpus; what is to stand in model.json."""
    settings, said = Settings(**source["params"]), source["corpus"]
    if settings.pieces > shape.positions:
        raise BiasgridError(f"pieces: {settings.pieces} is not allowed; allowed: up to {shape.positions}")
    # a running text has no sentences: it is cut into some of which few have too many pieces to be read whole
    sentences: Any = (
        Sentences(corpus, said["format"])
        if "format" in said
        else Sentences(corpus, "tokens", settings.pieces)
    )
    if "shuffle" in said:
        sentences = Shuffled(sentences, said["shuffle"])
    trained, held = split(sentences, pieces, settings.pieces, settings.held_out)
    if not trained:
        raise BiasgridError(
            f"{corpus}: of its {len(held)} sentences of {LEAST} words or more {settings.held_out} are held out "
            "(held_out): none is left to train on"
        )
    with one_thread():
        losses = fit(weights, shape, pieces, trained, settings)
        found = quality(weights, shape, pieces, held, settings)
    return {
        "perplexity": found.perplexity,
        "masked_accuracy": found.accuracy,
        "held_out": len(held),
        "sentences": len(trained),
        "steps": len(losses),
        "loss": [losses[0], losses[-1]],
    }


def write(folder: Path, start: Path, weights: Weights, pieces: Pieces) -> None:
    """The files of a model: its weights as Hugging Face names them, and whatever else `start` has."""
    from safetensors.torch import save

    named = {name if name.startswith(HEAD) else f"bert.{name}": weight for name, weight in weights.items()}
    (folder / WEIGHTS).write_bytes(save(dict(sorted(named.items())), metadata={"format": "pt"}))
    shutil.copyfile(start / CONFIG, folder / CONFIG)
    pieces.tokenizer.save(str(folder / TOKENIZER))


def split(
    sentences: Iterable[Sequence[str]], pieces: Pieces, longest: int, held_out: int
) -> tuple[list[Ids], list[Ids]]:
    """The pieces of the sentences to train on, and of those that are held out: every n-th, `held_out` in all.

    Sentences of less than 6 words are left out, longer ones than `longest` pieces cut. What is the same as a held-out
    one is not trained on.
    """
    found = [cut(pieces.split(" ".join(words))[0], longest) for words in sentences if len(words) >= LEAST]
    held = {place * len(found) // held_out for place in range(min(held_out, len(found)))}
    kept = [found[place] for place in sorted(held)]
    same = set(map(tuple, kept))
    return [ids for place, ids in enumerate(found) if place not in held and tuple(ids) not in same], kept


def cut(ids: Ids, longest: int) -> Ids:
    """A sentence of at most so many pieces, [SEP] last."""
    return ids if len(ids) <= longest else [*ids[: longest - 1], ids[-1]]


def batches(sentences: Sequence[Ids], size: int, draw: np.random.Generator) -> Iterator[list[Ids]]:
    """The sentences in a random order again and again, those of a batch of about one length."""
    while True:
        order = draw.permutation(len(sentences))
        found = []
        for start in range(0, len(order), size * TOGETHER):
            near = sorted(order[start : start + size * TOGETHER], key=lambda place: len(sentences[place]))
            found += [near[first : first + size] for first in range(0, len(near), size)]
        for place in draw.permutation(len(found)):
            yield [sentences[number] for number in found[place]]


def padded(sentences: Sequence[Ids]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """`ids` and `allowed` of a `Batch`."""
    lengths = np.array([len(ids) for ids in sentences])
    allowed = np.arange(lengths.max()) < lengths[:, None]
    ids = np.zeros(allowed.shape, dtype=np.int64)
    ids[allowed] = np.concatenate([np.array(one) for one in sentences])
    return ids, allowed


def masked(
    sentences: Sequence[Ids],
    pieces: Pieces,
    share: float,
    words: int,
    draw: np.random.Generator,
    *,
    all_masked: bool = False,
) -> Batch:
    """Sentences with so large a share of their pieces to predict, and one at least; [CLS] and [SEP] are none of them.
    `all_masked`: all of these are masked, as in what the model is asked later."""
    lengths = np.array([len(ids) for ids in sentences])
    ids, allowed = padded(sentences)
    inner = (np.arange(lengths.max()) < lengths[:, None] - 1) & (np.arange(lengths.max()) > 0)
    rank = np.where(inner, draw.random(ids.shape), 2).argsort(axis=1).argsort(axis=1)
    chosen = inner & (rank < np.maximum(1, np.rint(share * (lengths - 2)))[:, None])
    wanted = ids[chosen]
    seen, fate = np.full(len(wanted), pieces.mask), draw.random(len(wanted))
    if not all_masked:
        seen = np.where(
            fate < MASKED, seen, np.where(fate < ANY, draw.integers(words, size=len(wanted)), wanted)
        )
    ids[chosen] = seen
    return Batch(ids, allowed, np.nonzero(chosen), wanted)


def predictions(weights: Weights, shape: Shape, batch: Batch) -> Any:
    """What the model says at each place of a batch: (predicted, words), before the softmax."""
    import torch

    device = weights[f"{HEAD}bias"].device
    ids, allowed = (torch.from_numpy(part).to(device) for part in (batch.ids, batch.allowed))
    return head(weights, shape, layers(weights, shape, ids, allowed)[batch.places])


def fit(
    weights: dict[str, Any],
    shape: Shape,
    pieces: Pieces,
    sentences: Sequence[Ids],
    settings: Settings,
) -> list[float]:
    """Train the weights, which change in place, on sentences with pieces to predict: the loss of each step."""
    draw = np.random.default_rng(settings.seed)
    steps = max(1, round(settings.epochs * len(sentences) / settings.batch_size))
    chosen = islice(batches(sentences, settings.batch_size, draw), steps)
    each = (masked(one, pieces, settings.masked, shape.words, draw) for one in chosen)
    return descend(weights, shape, each, settings.learning_rate)


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
        found = predictions(weights, shape, batch)
        loss = cross_entropy(found, torch.from_numpy(batch.wanted).to(found.device))
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

    draw, losses, hits = np.random.default_rng(settings.seed), [], []
    for start in range(0, len(sentences), 50):
        batch = masked(
            sentences[start : start + 50], pieces, settings.masked, shape.words, draw, all_masked=True
        )
        with torch.inference_mode():
            said = predictions(weights, shape, batch).double().log_softmax(-1)
            wanted = torch.from_numpy(batch.wanted)
            losses += said[range(len(wanted)), wanted].tolist()
            hits += (said.argmax(-1) == wanted).tolist()
    return Quality(float(np.exp(-np.mean(losses))), float(np.mean(hits)))
