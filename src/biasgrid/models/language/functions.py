"""User-defined functions and objects in memory that score or encode texts."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BiasgridError, InputError, quote
from ...core.extras import require_for
from ...core.untrusted import check_fetched
from .blocks import in_blocks
from .encoder import SENTENCE
from .foreign_code import MODULES, check_classes
from .formats import SENTENCE_TRANSFORMERS
from .opening import choose_device, one_line, quiet
from .pretrained import modes_kept, unknown_token
from .sentence import Sentence
from .templates import PlacedWord
from .threads import one_thread


@runtime_checkable
class Scores(Protocol):
    """An object that scores texts.

    It may also have a method `score_continuations(list of (prefix, text))`, which returns log P(text |
    prefix) of each pair. It is then also used for words in templates; the space between the two belongs to
    the text.
    """

    def score(self, texts: list[str]) -> Sequence[float]:
        """Return the log-likelihood of each text: natural logarithm."""
        ...


@dataclass(frozen=True)
class FunctionScores:
    """Scores of sentences computed by a function, or by an object of the protocol `Scores`.

    Parameters
    ----------
    source
        A function: list of texts -> the log-likelihood of each; or such an object.
    name
        Its name in messages.
    """

    source: Callable[[list[str]], Sequence[float]] | Scores
    name: str

    def score(self, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
        """Return the log-likelihood of each sentence, or of its part given the text before it (sentences,).

        Raises
        ------
        InputError
            The values are not log-likelihoods, one for each text; or a part is requested, but continuations
            are not scored.
        """
        values = np.full(len(sentences), np.nan)
        whole = [place for place, sentence in enumerate(sentences) if sentence.part is None]
        parts = [place for place, sentence in enumerate(sentences) if sentence.part is not None]
        texts = [sentences[place].text for place in whole]
        values[whole] = self._values(
            self.source.score if isinstance(self.source, Scores) else self.source, texts
        )
        if parts:
            continuations = getattr(self.source, "score_continuations", None)
            if continuations is None:
                raise InputError(
                    f"{self.name}: scores whole texts, and this metric asks for a word after others; give an object "
                    "with score(texts) and score_continuations(pairs of prefix and text)"
                )
            values[parts] = self._values(continuations, [sentences[place].continuation for place in parts])
        return values

    def _values(self, function: Callable[[list[Any]], Any], asked: list[Any]) -> NDArray[np.float64]:
        values = np.empty(0)
        for block in in_blocks(asked):
            found = _array(function(block), self.name, "log-likelihoods")
            if found.shape != (len(block),):
                raise InputError(
                    f"{self.name}: expected {len(block)} log-likelihoods, one of each text, not {found.shape}"
                )
            values = np.concatenate([values, found])
        return values


@dataclass(frozen=True)
class FunctionEncoder:
    """Vectors of texts computed by a function, or by an object with `encode`.

    Parameters
    ----------
    source
        A function: list of texts -> an array (texts, dimensions), of NumPy or torch. Or an object whose
        `encode` takes the list by position, as in sentence-transformers, or batches, as in MTEB's protocol
        (its `encode` has a parameter `task_metadata`).
    name
        Its name in messages.
    is_unknown
        A function: text -> whether each of its tokens is the unknown one. None: use the source's tokenizer,
        if it has one of transformers, like the models of sentence-transformers.
    """

    source: Any
    name: str
    is_unknown: Callable[[str], Sequence[bool]] | None = None

    def encode(
        self, sentences: Sequence[PlacedWord], pool: str = SENTENCE, layer: int = -1
    ) -> NDArray[np.float64]:
        """Return the vector of each sentence (sentences, dimensions).

        It is NaN if the sentence's word is unknown (`PlacedWord.is_known`).

        Raises
        ------
        InputError
            The pool or the layer is not the encoder's own, or the values are not vectors, one for each text.
        """
        if pool != SENTENCE or layer != -1:
            raise InputError(f"{self.name}: makes one vector of a text: pool is 'sentence', and layer -1")
        vectors: list[NDArray[np.float64]] = []
        for block in in_blocks([sentence.text for sentence in sentences]):
            found = _array(self._encode(block), self.name, "vectors")
            if found.ndim != 2 or len(found) != len(block) or not found.shape[1]:
                raise InputError(
                    f"{self.name}: expected an array ({len(block)}, dimensions), one of each text, not {found.shape}"
                )
            if vectors and vectors[0].shape[1] != found.shape[1]:
                raise InputError(
                    f"{self.name}: vectors of {vectors[0].shape[1]} and of {found.shape[1]} dimensions"
                )
            if not np.isfinite(found).all():
                raise InputError(f"{self.name}: a vector has a number that is not finite")
            vectors.append(found)
        result = np.concatenate(vectors)
        if is_unknown := self.is_unknown or tokens_unknown_to(self.source):
            known = {
                word: is_unknown(word) for word in dict.fromkeys(sentence.word for sentence in sentences)
            }
            result[[not sentence.is_known(known[sentence.word]) for sentence in sentences]] = np.nan
        return result

    def _encode(self, texts: list[str]) -> Any:
        encode = getattr(self.source, "encode", self.source)
        with _modes_kept(self.source):
            if "task_metadata" not in _parameters(encode):
                return encode(texts)
            task = SimpleNamespace(name="biasgrid", type="STS", languages=[], modalities=["text"])
            return encode(
                [{"text": texts}], task_metadata=task, hf_split="test", hf_subset="default", prompt_type=None
            )


def open_sentence_transformer(folder: Path, device: str = "auto") -> FunctionEncoder:
    """Open the encoder in a folder with sentence-transformers, with its own modules and pooling.

    Raise BiasgridError if the folder is not such an encoder or names code of its own, or if the package is
    missing.
    """
    if not (folder / MODULES).is_file():
        raise BiasgridError(
            f"{folder}: has no {MODULES}: it is no model of "
            "sentence-transformers; read it with type: transformers"
        )
    check_fetched(folder)
    check_classes(folder)
    require_for(SENTENCE_TRANSFORMERS, purpose=f"the encoder in {folder}")
    with quiet(), one_line(folder):
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(
            str(folder), device=choose_device(device).type, local_files_only=True, trust_remote_code=False
        )
    return FunctionEncoder(partial(_encode_alone, model), folder.name, tokens_unknown_to(model))


def tokens_unknown_to(source: Any) -> Callable[[str], list[bool]] | None:
    """Return a function that tells, for each token of a text, whether it is the unknown one.

    Return None for an object without a transformers tokenizer, or whose tokenizer knows every text.
    """
    tokenizer = getattr(source, "tokenizer", None)
    unknown = unknown_token(tokenizer)
    if unknown is None or not callable(tokenizer):
        return None
    return lambda text: [i == unknown for i in tokenizer(text, add_special_tokens=False)["input_ids"]]


def _modes_kept(source: Any) -> AbstractContextManager[None]:
    """Return a context manager that restores the modes of a torch model, such as one of sentence-transformers.

    Its `encode` puts it into evaluation mode.
    """
    torch = sys.modules.get("torch")  # imported already if there is such a model
    source = getattr(source, "__self__", source)  # the object of a method
    return modes_kept(source) if torch and isinstance(source, torch.nn.Module) else nullcontext()


def _encode_alone(model: Any, texts: list[str]) -> Any:
    # Encode texts one by one, on one thread, so that a vector depends only on its text.
    with one_thread():
        return np.array([model.encode([text], show_progress_bar=False)[0] for text in texts])


def _parameters(function: Callable[..., Any]) -> set[str]:
    try:
        return set(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # compiled code
        return set()


def _array(found: Any, name: str, what: str) -> NDArray[np.float64]:
    if hasattr(found, "detach"):  # a torch tensor, on any device
        found = found.detach().cpu().float().numpy()
    try:
        return np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name}: expected {what}, not {quote(type(found).__name__)}: {error!s:.100}"
        ) from None
