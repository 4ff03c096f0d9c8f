"""What the metrics of sentence pairs share: the scores that a language model gives to the sentences of a query."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ..embeddings.language.model import LanguageModel
from ..embeddings.language.sentence import Sentence
from ..errors import join_names, quote

ScoreKind = Literal["sz", "cp", "l2r"]
Normalize = Literal["tokens"] | None


def of_model(
    model: LanguageModel,
    targets: Sequence[Any],
    attributes: Sequence[Any],
    *,
    score: str = "sz",
    normalize: Normalize = None,
    **_: Any,
) -> dict[str, Any]:
    """The scores of a query's sentences, set after set (sentences of all sets,): `Metric.of_model`.

    Parameters
    ----------
    score
        "sz": the log-likelihood of a causal model, the pseudo-log-likelihood (Salazar et al. 2020) of a masked one.
        "cp": of a masked model only the pieces that a sentence shares with the other of its pair (Nangia et al.
        2020). Sets belong together by twos: the first and the second, the third and the fourth. "l2r": as "sz" of a
        masked model, which does not see the rest of a piece's word (Kauf & Ivanova 2023).
    normalize
        "tokens": each score is divided by the number of its tokens.
    """
    return {"scores": model.score(_requests(targets, score), normalize=normalize)}


def unscored(
    model: LanguageModel, targets: Sequence[Any], attributes: Sequence[Any], *, score: str = "sz", **_: Any
) -> list[dict[int, str]]:
    """Return the sentences of each set that have no score, or cannot be compared with their partners, and why:
    `Metric.unscored`.

    Two sentences that differ in a token that the tokenizer does not know cannot be compared. Unknown tokens that both
    have are scored like others, as in the published benchmarks.
    """
    requests = _requests(targets, score)
    if not model.takes(requests[0]):
        return [{} for _ in targets]  # the metric is undefined for this model
    why = model.why_unscored(requests)
    unknown = model.unknown([text for s in targets for text in s.keys])
    asked, lost = iter(requests), []
    for number, s in enumerate(targets):
        # pairs, or items of three sentences
        others = [targets[number ^ 1]] if len(targets) % 2 == 0 else targets
        of_set = {}
        for place, text in enumerate(s.keys):
            partners = [other.keys[place] for other in others]
            if reason := why.get(next(asked)):
                of_set[place] = reason
            elif text in unknown and any(unknown.get(other) != unknown[text] for other in partners):
                of_set[place] = (
                    f"differs from its partner in tokens unknown to the model: {_listed(unknown[text])}"
                )
        lost.append(of_set)
    return lost


def _listed(parts: Sequence[str]) -> str:
    return join_names(map(quote, dict.fromkeys(parts)))


def _requests(targets: Sequence[Any], score: str) -> list[Sentence]:
    """Return what a model is asked, set after set."""
    sets = [s.keys for s in targets]
    if score == "cp":
        return [
            Sentence(text, beside=partner)
            for place, texts in enumerate(sets)
            for text, partner in zip(texts, sets[place ^ 1], strict=True)
        ]
    return [Sentence(text, l2r=score == "l2r") for texts in sets for text in texts]


def by_set(scores: np.ndarray, targets: Sequence[np.ndarray]) -> np.ndarray:
    """The scores of each set: (sets, sentences of a set). The sets' arrays have a row for each sentence."""
    return scores.reshape(len(targets), -1)


def ks_test(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """The Kolmogorov-Smirnov statistic of two sets of numbers, and its p-value if the sets have nothing in common."""
    # imported here: importing scipy is slow, and planning a study does not need it
    from scipy.stats import ks_2samp

    with warnings.catch_warnings():
        # for few numbers with ties it warns that the p-value is asymptotic
        warnings.simplefilter("ignore", RuntimeWarning)
        test = ks_2samp(first, second)
    return float(test.statistic), float(test.pvalue)
