"""A masked language model that is trained here: BERT (Devlin et al. 2019) on a corpus, from given weights on.

In every sentence some pieces are to be predicted; of these four fifths are masked, a tenth are replaced by any piece,
and a tenth stay (section 3.1). Sentences that are held out measure the model and are never trained on.

The same corpus, weights and parameters give the same bytes in every process of one machine with one version of torch:
all that is drawn is drawn by NumPy from one seed, and sums are added up in one thread. There is no dropout: a corpus is
gone through about once.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import BiasgridError
from .bert import Bert, one_thread
from .bert_network import CONFIG, WEIGHTS, Shape, Weights, head, layers
from .word_pieces import TOKENIZER, Pieces

VERSION = 1  # raise it when a change of this module changes weights
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


class Quality(NamedTuple):
    """How well masked pieces of held-out sentences are predicted: `masked` of the pieces of each sentence at once."""

    perplexity: float
    accuracy: float


def split(
    sentences: Iterable[Sequence[str]], pieces: Pieces, longest: int, held_out: int
) -> tuple[list[Ids], list[Ids]]:
    """The pieces of the sentences to train on, and of those that are held out: every n-th, `held_out` in all.

    Sentences of less than 6 words are left out, longer ones than `longest` pieces cut. What is the same as a held-out
    one is not trained on.
    """
    found = [cut(pieces.split(" ".join(words))[0], longest) for words in sentences if len(words) >= LEAST]
    held = {place * len(found) // held_out for place in range(held_out)} if held_out < len(found) else set()
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
    allowed = np.arange(lengths.max()) < lengths[:, None]
    ids = np.zeros(allowed.shape, dtype=np.int64)
    ids[allowed] = np.concatenate([np.array(one) for one in sentences])
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

    states = layers(weights, shape, torch.from_numpy(batch.ids), torch.from_numpy(batch.allowed))
    return head(weights, shape, states[batch.places])


def fit(
    weights: dict[str, Any],
    shape: Shape,
    pieces: Pieces,
    sentences: Sequence[Ids],
    *,
    epochs: float,
    batch_size: int,
    learning_rate: float,
    share: float,
    seed: int,
) -> list[float]:
    """Train the weights, which change in place, by AdamW (Loshchilov and Hutter 2019); the mean loss of each batch."""
    import torch
    from torch.nn.functional import cross_entropy

    draw = np.random.default_rng(seed)
    for weight in weights.values():
        weight.requires_grad_(True)
    steps = max(1, round(epochs * len(sentences) / batch_size))
    optimizer = torch.optim.AdamW(weights.values(), lr=learning_rate)
    losses = []
    for _, chosen in zip(range(steps), batches(sentences, batch_size, draw)):
        batch = masked(chosen, pieces, share, shape.words, draw)
        loss = cross_entropy(predictions(weights, shape, batch), torch.from_numpy(batch.wanted))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    for weight in weights.values():
        weight.requires_grad_(False)
    return losses


def quality(
    weights: Weights, shape: Shape, pieces: Pieces, sentences: Sequence[Ids], share: float, seed: int
) -> Quality:
    """How well the pieces of held-out sentences are predicted, so large a share of each masked at once."""
    import torch

    draw, losses, hits = np.random.default_rng(seed), [], []
    for start in range(0, len(sentences), 50):
        batch = masked(sentences[start : start + 50], pieces, share, shape.words, draw, all_masked=True)
        with torch.inference_mode():
            said = predictions(weights, shape, batch).double().log_softmax(-1)
            wanted = torch.from_numpy(batch.wanted)
            losses += said[range(len(wanted)), wanted].tolist()
            hits += (said.argmax(-1) == wanted).tolist()
    return Quality(float(np.exp(-np.mean(losses))), float(np.mean(hits)))
