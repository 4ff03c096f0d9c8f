"""Log-likelihoods: what a causal language model says of texts. Its first piece (BOS, or EOS where it has none) comes
before each text, and none ends it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .batches import Row
from .scorer import Scorer
from .sentence import Sentence


class Causal(Scorer):
    """A causal language model that scores. Parameters are those of `Scorer`."""

    pieces = 128  # of a batch: at each a probability of every piece of the vocabulary is in memory

    def score(self, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
        """The log-likelihood of each sentence, or of its part given what comes before (sentences,).

        NaN for a text, or a part, without pieces or of unknown ones, and for a text of more pieces than the model
        takes.
        """
        model = self.pretrained
        pieces = {text: model.split(text) for text in {sentence.text: None for sentence in sentences}}
        asked = []
        for sentence in sentences:
            text = pieces[sentence.text]
            places = self._places_to_score(sentence, text)
            # nothing after what is scored is seen: a text and its continuation, asked alone, are one row
            row = () if self._why_unscored(sentence, text, places) else tuple(text.ids[: places[-1] + 1])
            asked.append((row, places))
        rows = dict.fromkeys(row for row, _ in asked if row)
        values = dict(zip(rows, self._log_probabilities(list(rows)), strict=True))
        # the first piece is predicted by none
        return np.array(
            [values[row][[place - 1 for place in places]].sum() if row else np.nan for row, places in asked],
            dtype=np.float64,
        )

    def _log_probabilities(self, texts: Sequence[tuple[int, ...]]) -> list[NDArray[np.float64]]:
        """The log-probability of each piece of each text but the first, given those before it."""
        return self.predict([Row(ids[:-1], range(len(ids) - 1), ids[1:]) for ids in texts])
