"""Opened language models; the network is loaded when the first text is scored."""

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

from ...core.errors import BiasgridError, InputError, not_allowed, quote
from .formats import FORMER, NETWORKS, Network
from .sentence import Sentence, check_log_likelihood, check_text

MODEL = "model.json"
KIND = "language_model"
MEASURED = "measured"  # entry of model.json: the model has only scores that were measured elsewhere
NO_SCORES = "no_scores"  # entry of model.json: the reason why it does not score texts, as for an encoder
NO_SCORE = "the model has no score of it"
TOKENS = "tokens"  # divides a score by the number of tokens


@dataclass(frozen=True, eq=False, repr=False)
class LanguageModel:
    """An opened language model, made by `open` from a folder, or by `of` from objects in memory.

    Attributes
    ----------
    path
        The model's folder; None for a model in memory.
    name
        Its name, printed in tables.
    metadata
        The contents of model.json, such as `format` and `masked`. `masked` is true if the model predicts
        masked words from both sides. Otherwise it is causal and predicts the next word.
    keeper
        An object that keeps a temporary folder as long as the model exists.
    given
        The object that computes the scores of a model in memory.
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
            The folder is not a complete language model.
        """
        path = Path(path)
        try:
            # The scores of a study's step are in a single file.
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
        """Make a language model in memory."""
        return cls(None, name, {"name": name, "kind": KIND, "masked": masked}, given=network)

    @property
    def masked(self) -> bool:
        """Return whether the model predicts masked words instead of next words."""
        return bool(self.metadata["masked"])

    @property
    def held_out_quality(self) -> dict[str, float]:
        """Return how well the model predicts sentences that it was not trained on, if this is known.

        The entries are `perplexity`, from 1, for which lower is better, and `masked_accuracy`, the share of
        masked tokens that are predicted correctly. Both are auxiliary statistics of every score of the model.
        """
        names = ("perplexity", "masked_accuracy")
        return {name: float(self.metadata[name]) for name in names if name in self.metadata}

    def score(
        self, sentences: Sequence[Sentence | str], *, normalize: Literal["tokens"] | None = None
    ) -> NDArray[np.float64]:
        """Return the log-likelihood of each sentence (sentences,): natural logarithm.

        A text counts as a whole sentence. If `normalize` is "tokens", each score is divided by the number of
        scored tokens. A score is NaN if the model cannot compute it: a causal model does not see words after
        the scored ones. Raise InputError for a model that does not score texts, such as an encoder, and for a
        score above 0.
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
        """Return the number of tokens over which the score of each sentence is a sum.

        Raise InputError if the model does not know it, such as a table of scores.
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
        """Return the sentences that do not have a score, each with the reason."""
        scores = self.score(sentences)
        missing = [s for s, score in zip(sentences, scores, strict=True) if not math.isfinite(score)]
        reason_of = getattr(self.network, "why_unscored", None)
        return {
            s: (reason_of(s) if reason_of and self.takes(s) else "") or NO_SCORE
            for s in dict.fromkeys(missing)
        }

    def unknown(self, texts: Sequence[str]) -> dict[str, list[str]]:
        """Return the texts with parts that the tokenizer does not know, each with these parts."""
        find = getattr(self.network, "unknown", None)
        return {text: parts for text in dict.fromkeys(texts) if (parts := find(text))} if find else {}

    def takes(self, sentence: Sentence) -> bool:
        """Return whether the model can compute this score; a causal model does not see words after scored
        ones."""
        return self.masked or not (
            sentence.hidden or sentence.beside or sentence.l2r or sentence.in_turn or sentence.after
        )

    @cached_property
    def _scores(self) -> dict[Sentence, float]:
        """Return the cache of scores, as a value, its test and its interval need the same ones."""
        return {}

    @cached_property
    def network(self) -> Network:
        """Return the object that computes scores, loaded once."""
        if self.given is not None:
            return self.given
        module, _, name = NETWORKS[self.metadata["format"]].partition(":")
        with self._named():
            network: Network = getattr(importlib.import_module(module), name)(self.path, self.metadata)
        return network

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name the model in errors, instead of its temporary folder, which users do not know."""
        try:
            yield
        except BiasgridError as error:
            if self.keeper is None:
                raise
            raise type(error)(str(error).replace(str(self.path), self.name)) from None

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return a number for each text, int64 (n,), the same for the same text.

        A language model does not lack any text. A model with measured scores gives -1 for a text without a
        score.
        """
        texts = getattr(self.network, "texts", None) if self.metadata.get(MEASURED) else None
        numbers = [_number(word) if texts is None or word in texts else -1 for word in words]
        return np.array(numbers, dtype=np.int64)

    def take(self, words: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the number of characters of each text, float64 (n, 1); `score` returns its score."""
        return np.array([[len(word)] for word in words], dtype=np.float64).reshape(-1, 1)

    def under(self, transform: object) -> Any:
        """Raise InputError, as a language model does not have vectors to transform."""
        raise InputError(f"{self.name}: is a language model; a debias method changes vectors of words")

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the path for pickling, from which unpickling opens the model again; or a model in memory
        itself."""
        if self.path is None:
            return LanguageModel, (None, self.name, self.metadata, None, self.given)
        return LanguageModel.open, (self.path.absolute(), self.name)

    def __repr__(self) -> str:
        label = "encoder" if NO_SCORES in self.metadata else "masked" if self.masked else "causal"
        return f"LanguageModel({self.name!r}: {label})"


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big") >> 1
