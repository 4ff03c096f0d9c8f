"""Log-likelihoods of texts under a causal language model.

Its first token (BOS, or EOS if it has no BOS) precedes each text; a text does not have an end token.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .batches import Row
from .scorer import Scorer
from .sentence import Sentence


class Causal(Scorer):
    """A causal language model that scores texts. Its parameters are described in `Scorer`."""

    pieces = 128  # tokens of a batch; each needs memory for the probabilities of the whole vocabulary

    def score(self, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
        """Compute the log-likelihood of each sentence, or of its part given the text before it (sentences,).

        It is NaN for a text or a part without tokens or with unknown ones, and for a text of more tokens than
        the model takes.
        """
        model = self.pretrained
        pieces = {text: model.split(text) for text in {sentence.text: None for sentence in sentences}}
        asked = []
        for sentence in sentences:
            text = pieces[sentence.text]
            places = self._places_to_score(sentence, text)
            # The model does not see tokens after the scored ones, so they are cut off. Requests with equal texts then
            # share a row.
            row = () if self._why_unscored(sentence, text, places) else tuple(text.ids[: places[-1] + 1])
            asked.append((row, places))
        rows = dict.fromkeys(row for row, _ in asked if row)
        values = dict(zip(rows, self._log_probabilities(list(rows)), strict=True))
        # The first token is not predicted.
        return np.array(
            [values[row][[place - 1 for place in places]].sum() if row else np.nan for row, places in asked],
            dtype=np.float64,
        )

    def _log_probabilities(self, texts: Sequence[tuple[int, ...]]) -> list[NDArray[np.float64]]:
        """Compute the log-probability of each token of each text, except the first, given the tokens before it."""
        return self.predict([Row(ids[:-1], range(len(ids) - 1), ids[1:]) for ids in texts])
