"""A language model that is opened: its network is loaded when the first text is scored."""

from __future__ import annotations

import hashlib
import importlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import BiasgridError, InputError, not_allowed, quote
from .formats import FORMER, NETWORKS, Network
from .sentence import Sentence, check_log_likelihood, check_text

MODEL = "model.json"
KIND = "language_model"
MEASURED = "measured"  # entry of model.json: its scores were measured elsewhere, and it has no others
NO_SCORES = (
    "no_scores"  # in model.json: why it scores no text, as an encoder without a head for words does not
)
NO_SCORE = "the model has no score of it"
TOKENS = "tokens"  # a score is divided by their number


@dataclass(frozen=True, eq=False, repr=False)
class LanguageModel:
    """An opened language model; `open` makes it of a folder, `of` of what is in memory.

    Attributes
    ----------
    path
        The model's folder; None of one in memory.
    name
        Its name, as tables print it.
    metadata
        model.json: `format`, and `masked`, whether it predicts words that are masked, from both sides. One that does
        not is causal: it predicts the next word.
    keeper
        What keeps a temporary folder, as long as the model is there.
    given
        What scores with a model in memory.
    """

    path: Path | None
    name: str
    metadata: dict[str, Any]
    keeper: object = None
    given: Network | None = None

    kind = KIND
    vocab_prefix = ""

    @classmethod
    def open(cls, path: Path | str, name: str | None = None, keeper: object = None) -> LanguageModel:
        """Open a model's folder without reading its weights.

        Raises
        ------
        BiasgridError
            The folder is not a whole language model.
        """
        path = Path(path)
        try:
            # what a study's step has scored is a file of its own
            file = path if path.is_file() else path / MODEL
            metadata = json.loads(file.read_text(encoding="utf-8"))
            for part in ("scores", "unknown"):
                metadata.pop(part, None)
            stored_name, format, masked = metadata["name"], metadata["format"], metadata["masked"]
            format = metadata["format"] = FORMER.get(format, format)
            if format not in NETWORKS or not isinstance(stored_name, str) or not isinstance(masked, bool):
                raise ValueError(f"format {format!r}, masked {masked!r}")
            for file in metadata.get("sha256", {}):
                (path / file).stat()
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise BiasgridError(f"{path}: not a whole language model: {error!r:.200}") from None
        return cls(path, name or stored_name, metadata, keeper)

    @classmethod
    def of(cls, network: Network, *, name: str, masked: bool) -> LanguageModel:
        """A language model in memory."""
        return cls(None, name, {"name": name, "kind": KIND, "masked": masked}, given=network)

    @property
    def masked(self) -> bool:
        """Whether it predicts masked words, and no next ones."""
        return bool(self.metadata["masked"])

    @property
    def held_out_quality(self) -> dict[str, float]:
        """How well it predicts sentences that it was not trained on, where that is known: `perplexity`, from 1, lower
        is better, and `masked_accuracy`, the share of masked pieces that it gets right. Both are auxiliary statistics
        of every score on it."""
        names = ("perplexity", "masked_accuracy")
        return {name: float(self.metadata[name]) for name in names if name in self.metadata}

    def score(
        self, sentences: Sequence[Sentence | str], *, normalize: Literal["tokens"] | None = None
    ) -> NDArray[np.float64]:
        """The log-likelihood of each sentence (sentences,): natural logarithm. A text is a whole sentence. With
        `normalize` "tokens", divided by the number of tokens that are scored.

        NaN for what it cannot be asked: a causal model sees no words after those that it scores. Raises InputError of
        a model that scores no text, such as an encoder, and for a score above 0.
        """
        if NO_SCORES in self.metadata:
            raise InputError(f"{self.name}: {self.metadata[NO_SCORES]}")
        if isinstance(sentences, str) or not isinstance(sentences, Iterable):
            raise InputError(f"sentences: a list of texts is needed, not {quote(sentences)}")
        asked = [Sentence(sentence) if isinstance(sentence, str) else sentence for sentence in sentences]
        for sentence in asked:
            check_text(sentence.text if isinstance(sentence, Sentence) else sentence, "sentences: ")
        scorable = filter(self.takes, dict.fromkeys(asked))
        if new_sentences := [sentence for sentence in scorable if sentence not in self._scores]:
            with self._named():
                new_scores = self.network.score(new_sentences).tolist()
            for sentence, score in zip(new_sentences, new_scores, strict=True):
                check_log_likelihood(score, f"{self.name}: {quote(sentence.text)}", error=InputError)
            self._scores.update(zip(new_sentences, new_scores, strict=True))
        scores = np.array([self._scores.get(sentence, math.nan) for sentence in asked], dtype=np.float64)
        if normalize is None:
            return scores
        if normalize != TOKENS:
            raise InputError(not_allowed("normalize", normalize, f"{TOKENS}, None"))
        is_scored = np.isfinite(scores)
        scored = [sentence for sentence, has_score in zip(asked, is_scored, strict=True) if has_score]
        counts = self.token_counts(scored)
        scores[is_scored] /= [counts[sentence] for sentence in scored]
        return scores

    def token_counts(self, sentences: Sequence[Sentence]) -> dict[Sentence, int]:
        """Return how many tokens the score of each sentence is a sum over.

        Raises InputError if the model does not know it, as a table of scores does not.
        """
        count = getattr(self.network, "token_count", None)
        counts: dict[Sentence, int] = {}
        for sentence in dict.fromkeys(sentences):
            counts[sentence] = (count(sentence) if count else None) or 0
            if not counts[sentence]:
                raise InputError(
                    f"{self.name}: normalize: {TOKENS}: it does not say how many tokens {quote(sentence.text)} has; "
                    "leave normalize out, or measure a network"
                )
        return counts

    def why_unscored(self, sentences: Sequence[Sentence]) -> dict[Sentence, str]:
        """Return those of the sentences that have no score, and why."""
        scores = self.score(sentences)
        missing = [s for s, score in zip(sentences, scores, strict=True) if not math.isfinite(score)]
        reason_of = getattr(self.network, "why_unscored", None)
        return {
            s: (reason_of(s) if reason_of and self.takes(s) else "") or NO_SCORE
            for s in dict.fromkeys(missing)
        }

    def unknown(self, texts: Sequence[str]) -> dict[str, list[str]]:
        """Return those of the texts of which the tokenizer does not know every part, and the unknown parts."""
        find = getattr(self.network, "unknown", None)
        return {text: parts for text in dict.fromkeys(texts) if (parts := find(text))} if find else {}

    def takes(self, sentence: Sentence) -> bool:
        """Whether it can be asked for this score: a causal model sees no words after those that it scores."""
        return self.masked or not (
            sentence.hidden or sentence.beside or sentence.l2r or sentence.in_turn or sentence.after
        )

    @cached_property
    def _scores(self) -> dict[Sentence, float]:
        """The scores so far: a value, its test and its interval need the same ones."""
        return {}

    @cached_property
    def network(self) -> Network:
        """What scores, loaded once."""
        if self.given is not None:
            return self.given
        module, _, name = NETWORKS[self.metadata["format"]].partition(":")
        with self._named():
            network: Network = getattr(importlib.import_module(module), name)(self.path, self.metadata)
        return network

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name the model in errors, and not its temporary folder, which no user knows."""
        try:
            yield
        except BiasgridError as error:
            if self.keeper is None:
                raise
            raise type(error)(str(error).replace(str(self.path), self.name)) from None

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        """A number of each text, int64 (n,), the same for the same text. A language model lacks none; of measured
        scores, -1 for a text that has none."""
        texts = getattr(self.network, "texts", None) if self.metadata.get(MEASURED) else None
        numbers = [_number(word) if texts is None or word in texts else -1 for word in words]
        return np.array(numbers, dtype=np.int64)

    def take(self, words: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """How many characters each text has, float64 (n, 1); `score` gives its score."""
        return np.array([[len(word)] for word in words], dtype=np.float64).reshape(-1, 1)

    def under(self, transform: object) -> Any:
        """There are no vectors to transform. Raises InputError."""
        raise InputError(f"{self.name}: is a language model; a debias method changes vectors of words")

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str)

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle is the path: what unpickles it opens the model again; of a model in memory it is the model."""
        if self.path is None:
            return LanguageModel, (None, self.name, self.metadata, None, self.given)
        return LanguageModel.open, (self.path.absolute(), self.name)

    def __repr__(self) -> str:
        label = "encoder" if NO_SCORES in self.metadata else "masked" if self.masked else "causal"
        return f"LanguageModel({self.name!r}: {label})"


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big") >> 1
