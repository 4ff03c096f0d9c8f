"""Pseudo-log-likelihoods: what a masked language model says of texts (Salazar et al. 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, quote
from .batches import Row
from .pretrained import Pieces
from .scorer import Scorer
from .sentence import NO_NEXT_SENTENCE_HEAD, Sentence


class Masked(Scorer):
    """A masked language model that scores. Parameters are those of `Scorer`."""

    pieces = 1024  # of a batch of copies of texts in which a piece is masked

    def score(self, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
        """The pseudo-log-likelihood of each sentence (sentences,): see `Network.score`.

        A whole text: the sum over its pieces of the log-probability of each, masked. NaN where there is nothing to
        score: no piece but the unknown one, or more of them than the model has positions; and of a part with an
        unknown one.
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
        """The log-probability of each text's words at its masked place.

        Parameters
        ----------
        texts
            Texts with the tokenizer's mask, such as [MASK], once each.
        words
            As many words for each text, each of them one piece of the model.

        Returns
        -------
        ndarray (texts, words)
            Natural logarithms.

        Raises
        ------
        InputError
            A text without its one mask, or with too many pieces; a word of several pieces, or none.
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
        """Copies of a text, in each of which something is masked; none where it cannot be scored, or nothing is
        masked."""
        if sentence.after:
            return []
        model = self.pretrained
        pieces = model.split(sentence.text)
        places = self._places_to_score(sentence, pieces)
        if self._why_unscored(sentence, pieces, places):
            return []
        if sentence.in_turn:
            # of the part, a copy has the pieces before the one that is predicted, and none after it
            return [
                Row(
                    [*pieces.ids[:place], model.mask, *pieces.ids[places[-1] + 1 :]],
                    [place],
                    [pieces.ids[place]],
                )
                for place in places
            ]
        hidden = pieces.of(sentence.hidden) if sentence.hidden else []
        # one copy with the whole part masked, or a copy per piece
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
        """Return how many tokens the score of a sentence is a sum over: 1 where it is no sum."""
        return 1 if sentence.in_turn or sentence.after else super().token_count(sentence)

    def why_unscored(self, sentence: Sentence) -> str:
        """Return why a sentence has no score; "" if it has one."""
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
    """The places right of a piece that are of its word."""
    right = range(place + 1, len(pieces.ids))
    return [other for other in right if pieces.words[other] == pieces.words[place]]


def shared(ids: Sequence[int], other_ids: Sequence[int]) -> set[int]:
    """The places of `ids` whose pieces another sentence has, too: the equal blocks that difflib finds.

    difflib may find others when the two change places; the one that is less goes first here, so that of a pair as
    many pieces are scored in each.
    """
    first, second = sorted((list(ids), list(other_ids)))
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    starts = [(block.a if first == list(ids) else block.b, block.size) for block in blocks]
    return {place for start, size in starts for place in range(start, start + size)}
