"""Scores that a language model assigns to the sentences of a query, for the metrics of sentence pairs."""

from __future__ import annotations

import re
import string
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np

from ..core.errors import join_names, quote
from ..models.language.model import LanguageModel
from ..models.language.sentence import NO_NEXT_SENTENCE_HEAD, Sentence, Span

ScoreKind = Literal["sz", "cp", "l2r", "term"]
Normalize = Literal["tokens"] | None
# Separates two sentences in one text if the second should follow the first.
SEPARATOR = " [SEP] "


def of_model(
    model: LanguageModel,
    targets: Sequence[Any],
    attributes: Sequence[Any],
    *,
    score: str = "sz",
    normalize: Normalize = None,
    **_: Any,
) -> dict[str, Any]:
    """Score a query's sentences, set after set (sentences of all sets,): `Metric.of_model`.

    Parameters
    ----------
    score
        "sz": the log-likelihood of a causal model, the pseudo-log-likelihood (Salazar et al. 2020) of a masked one.
        "cp": for a masked model, only the tokens that a sentence shares with the other sentence of its pair (Nangia
        et al. 2020). "l2r": for a masked model, like "sz", but the model does not see the rest of a token's word
        (Kauf & Ivanova 2023). "term": for a masked model, the mean probability of the masked tokens of the
        sentence's term (`terms`) (Nadeem et al. 2021). "next": for a masked model, the probability that the second
        of two sentences in a text follows the first.
        If the number of sets is even, the first and the second belong together, the third and the fourth, and so
        on; if it is odd, all sets do.
    normalize
        "tokens": each score is divided by the number of its tokens.
    """
    return {"scores": model.score(_requests(targets, score), normalize=normalize)}


def unscored(
    model: LanguageModel, targets: Sequence[Any], attributes: Sequence[Any], *, score: str = "sz", **_: Any
) -> list[dict[int, str]]:
    """Return the unscored sentences of each set, or those without comparable partners: `Metric.unscored`."""
    sets = range(len(targets))
    asked = [[[sentence] for sentence in _requests_of_set(targets, number, score)] for number in sets]
    if score == "next" and not model.takes(asked[0][0][0]):
        return [dict.fromkeys(range(len(s.keys)), NO_NEXT_SENTENCE_HEAD) for s in targets]
    return lost_sentences(model, targets, asked, [_partners(number, len(targets)) for number in sets])


def lost_sentences(
    model: LanguageModel,
    targets: Sequence[Any],
    asked: Sequence[Sequence[Sequence[Sentence]]],
    partners: Sequence[Sequence[int]],
) -> list[dict[int, str]]:
    """Return the sentences of each set that have no score, or cannot be compared with their partners, and why.

    Two sentences that differ in a token unknown to the tokenizer cannot be compared. Unknown tokens that both have
    are scored like others, as in the published benchmarks.

    Parameters
    ----------
    asked
        For each set, for each of its sentences, the requests to the model.
    partners
        For each set, the sets whose sentences are compared with its own.
    """
    requests = [request for of_set in asked for of_sentence in of_set for request in of_sentence]
    if not model.takes(requests[0]):
        return [{} for _ in targets]  # the metric is undefined for this model
    why = model.why_unscored(requests)
    unknown = model.unknown([text for s in targets for text in s.keys])
    lost = []
    for s, of_set, others in zip(targets, asked, partners, strict=True):
        reasons = {}
        for place, (text, of_sentence) in enumerate(zip(s.keys, of_set, strict=True)):
            texts = [targets[other].keys[place] for other in others]
            if any(request.in_turn and request.part == NO_TERM for request in of_sentence):
                reasons[place] = (
                    "has no term that can be masked: it shares all its words with its partners, or none"
                )
            elif found := [why[request] for request in of_sentence if request in why]:
                reasons[place] = found[0]
            elif text in unknown and any(unknown.get(other) != unknown[text] for other in texts):
                reasons[place] = (
                    f"differs from its partner in tokens unknown to the model: {_listed(unknown[text])}"
                )
        lost.append(reasons)
    return lost


NO_TERM: Span = (0, 0)


def terms(texts: Sequence[str]) -> list[Span]:
    """Return the term of each sentence of an item: the words that the item's sentences do not share.

    Words at the beginning and the end that all sentences have are shared. Punctuation at either end of a term does
    not belong to it. Without a word of its own, or a shared word, a sentence does not have a term: (0, 0).
    """
    words = [list(re.finditer(r"\S+", text)) for text in texts]
    fewest = min(map(len, words))
    first = _shared(words, range(fewest))
    last = _shared(words, range(-1, first - fewest - 1, -1))
    if not first + last:
        return [NO_TERM] * len(texts)
    return [
        _without_punctuation(text, own[0].start(), own[-1].end()) if own else NO_TERM
        for text, found in zip(texts, words, strict=True)
        for own in [found[first : len(found) - last]]
    ]


def _shared(words: Sequence[Sequence[re.Match[str]]], places: range) -> int:
    """Count the places, from the first on, that have the same word in all texts."""
    for number, place in enumerate(places):
        if len({found[place].group() for found in words}) > 1:
            return number
    return len(places)


def _without_punctuation(text: str, start: int, end: int) -> Span:
    term = text[start:end]
    inner = term.strip(string.punctuation) or term
    start += term.index(inner)
    return start, start + len(inner)


def has_two_sentences(targets: Sequence[Any]) -> bool:
    """Return whether every text of the sets is two sentences, with `SEPARATOR` between them."""
    return all(SEPARATOR in text for s in targets for text in s.keys)


def _listed(parts: Sequence[str]) -> str:
    return join_names(map(quote, dict.fromkeys(parts)))


def _requests(targets: Sequence[Any], score: str) -> list[Sentence]:
    """Return the requests to a model, set after set."""
    return [
        sentence for number in range(len(targets)) for sentence in _requests_of_set(targets, number, score)
    ]


def _requests_of_set(targets: Sequence[Any], number: int, score: str) -> Iterator[Sentence]:
    partners = _partners(number, len(targets))
    for place, text in enumerate(targets[number].keys):
        if score == "cp":
            yield Sentence(text, beside=targets[number ^ 1].keys[place])
        elif score == "term":
            spans = terms([targets[other].keys[place] for other in partners])
            yield Sentence(text, part=spans[partners.index(number)], in_turn=True)
        elif score == "next":
            before, _, sentence = text.partition(SEPARATOR)
            yield Sentence(sentence, after=before)
        else:
            yield Sentence(text, l2r=score == "l2r")


def _partners(number: int, sets: int) -> list[int]:
    """Return the sets that belong together with a set, and itself: two, or all sets if their number is odd."""
    return sorted({number, number ^ 1}) if sets % 2 == 0 else list(range(sets))


def by_set(scores: np.ndarray, targets: Sequence[np.ndarray]) -> np.ndarray:
    """Split scores by set: (sets, sentences of a set). The sets' arrays have a row for each sentence."""
    return scores.reshape(len(targets), -1)


def ks_test(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Compute the Kolmogorov-Smirnov statistic of two sets of numbers, and its p-value for unpaired sets."""
    # Import scipy here: the import is slow, and planning a study does not need it.
    from scipy.stats import ks_2samp

    with warnings.catch_warnings():
        # For few numbers with ties, it warns that the p-value is asymptotic.
        warnings.simplefilter("ignore", RuntimeWarning)
        test = ks_2samp(first, second)
    return float(test.statistic), float(test.pvalue)
