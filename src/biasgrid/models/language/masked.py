"""Pseudo-log-likelihoods of texts under a masked language model (Salazar et al. 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError, quote
from .batches import Row
from .pretrained import Pieces
from .scorer import Scorer
from .sentence import NO_NEXT_SENTENCE_HEAD, Sentence


class Masked(Scorer):
    """A masked language model that scores texts. Its parameters are described in `Scorer`."""

    pieces = 1024  # tokens of a batch of copies of texts in which a token is masked

    def score(self, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
        """Compute the pseudo-log-likelihood of each sentence (sentences,): see `Network.score`.

        For a whole text, it is the sum over its tokens of the log-probability of each, masked. It is NaN if
        there is nothing to score: only the unknown token, or more tokens than the model has positions. It is
        also NaN for a part with an unknown token.
        """
        copies = [self._rows(sentence) for sentence in sentences]
        values = iter(self.predict([row for rows in copies for row in rows]))
        scores = np.full(len(sentences), np.nan)
        for place, (sentence, rows) in enumerate(zip(sentences, copies, strict=True)):
            if rows:
                sums = [next(values).sum() for _ in rows]
                scores[place] = log_of_mean(sums) if sentence.in_turn else sum(sums)
            elif sentence.after and not self.why_unscored(sentence):
                scores[place] = self.pretrained.log_probability_of_next(sentence.after, sentence.text)
        return scores

    def fill(self, texts: Sequence[str], words: Sequence[Sequence[str]]) -> NDArray[np.float64]:
        """Compute the log-probability of each text's words at its masked position.

        Parameters
        ----------
        texts
            Texts that contain the tokenizer's mask, such as [MASK], exactly once.
        words
            Words for each text, the same number for all, each of which is one token of the model.

        Returns
        -------
        ndarray (texts, words)
            Natural logarithms.

        Raises
        ------
        InputError
            A text does not have exactly one mask, or has too many tokens; or a word is not exactly one token.
        """
        model = self.pretrained
        piece = {word: model.single(word) for group in set(map(tuple, words)) for word in group}
        rows = []
        for text, group in zip(texts, words, strict=True):
            ids = model.split(text).ids
            if ids.count(model.mask) != 1 or len(ids) > model.positions:
                raise InputError(
                    f"{quote(text)}: expected one {model.tokenizer.mask_token}, and up to {model.positions} pieces "
                    "with the special ones"
                )
            rows.append(Row(ids, [ids.index(model.mask)], [[piece[word] for word in group]]))
        return np.array([value[0] for value in self.predict(rows)])

    def _rows(self, sentence: Sentence) -> list[Row]:
        """Return masked copies of a text; none if it cannot be scored, or if nothing is masked."""
        if sentence.after:
            return []
        model = self.pretrained
        pieces = model.split(sentence.text)
        places = self._places_to_score(sentence, pieces)
        if self._why_unscored(sentence, pieces, places):
            return []
        if sentence.in_turn:
            # A copy contains the part's tokens before the predicted one, but not its tokens after it.
            return [
                Row(
                    [*pieces.ids[:place], model.mask, *pieces.ids[places[-1] + 1 :]],
                    [place],
                    [pieces.ids[place]],
                )
                for place in places
            ]
        hidden = pieces.of(sentence.hidden) if sentence.hidden else []
        # Make one copy with the whole part masked, or one copy per token.
        if sentence.part:
            copies = [(places, [*places, *hidden])]
        else:
            copies = [
                ([place], [place, *(_rest_of_word(pieces, place) if sentence.l2r else ()), *hidden])
                for place in places
            ]
        return [
            Row(
                [model.mask if place in masked else piece for place, piece in enumerate(pieces.ids)],
                asked,
                [pieces.ids[place] for place in asked],
            )
            for asked, masked in copies
        ]

    def token_count(self, sentence: Sentence) -> int:
        """Return the number of tokens over which the score of a sentence is a sum; 1 if it is not a sum."""
        return 1 if sentence.in_turn or sentence.after else super().token_count(sentence)

    def why_unscored(self, sentence: Sentence) -> str:
        """Return why a sentence does not have a score; "" if it has one."""
        if not sentence.after:
            return super().why_unscored(sentence)
        model = self.pretrained
        if not model.has_next_sentence_head:
            return NO_NEXT_SENTENCE_HEAD
        if (count := model.count_of_two(sentence.after, sentence.text)) > model.positions:
            return f"has {count} tokens with the sentence before it, and the model takes {model.positions}"
        return ""

    def _places_to_score(self, sentence: Sentence, pieces: Pieces) -> list[int]:
        places = set(np.flatnonzero(pieces.inner).tolist())
        if sentence.beside:
            places &= shared(pieces.ids, self.pretrained.split(sentence.beside).ids)
        if sentence.part:
            places &= set(pieces.of(sentence.part))
        elif sentence.hidden:
            places -= set(pieces.of(sentence.hidden))
        return sorted(places)


def log_of_mean(logarithms: Sequence[float]) -> float:
    """Return the logarithm of the mean of numbers that are given by their logarithms."""
    return float(np.logaddexp.reduce(logarithms) - np.log(len(logarithms)))


def _rest_of_word(pieces: Pieces, place: int) -> list[int]:
    """Return the positions to the right of a token that belong to the same word."""
    right = range(place + 1, len(pieces.ids))
    return [other for other in right if pieces.words[other] == pieces.words[place]]


def shared(ids: Sequence[int], other_ids: Sequence[int]) -> set[int]:
    """Return the positions of `ids` whose tokens another sentence also has: the equal blocks that difflib finds.

    difflib may find different blocks if the two are exchanged. The smaller sequence is always the first here,
    so the same number of tokens is scored in both sentences of a pair.
    """
    first, second = sorted((list(ids), list(other_ids)))
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    starts = [(block.a if first == list(ids) else block.b, block.size) for block in blocks]
    return {place for start, size in starts for place in range(start, start + size)}
