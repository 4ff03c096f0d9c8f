"""Control words: a metric's values for words of the same frequency, whatever their meaning.

The protected groups do not change. Each of the words that they are compared with is replaced by a word of the
model's vocabulary that is about as frequent. A score can thus be compared with the effect of frequency alone, also
for a metric without a permutation test. Control words do not form a topic. Words of one topic have similar values.
A set of them therefore lies further out than control words more often than expected by chance, even if the topic is
unrelated to the groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.geometry import unit
from ...core.validation import Whole, field
from ...metrics.registry import Metric, one_by_one
from ...models.cache_per_model import remember
from ...models.frequencies import Frequency
from ...models.store import DebiasedModel
from ...models.words import WordVectors
from ..bootstrap import digest
from ..candidate_words import Pool
from ..metric_input import MetricInput
from ..options import ALTERNATIVE, BIAS, AnAlternative, Frequencies
from ..permutation import Permutation, drawn_test
from ..random_data import DRAWS, PAIRS, POOL, random_sets, sample_of, sizes_of
from ..resampler import Resampler, rows_at_once
from .frequency_bands import UNKNOWN, frequency_of, summarise_logarithms
from .random_groups import MOST_UNDEFINED
from .test import Outcome, Test

# Number of words of a corpus from which control words are drawn: the largest size of a pool of vectors.
MOST_WORDS = 30_000
# Number of blocks of words for which control words are drawn together.
MOST_BLOCKS = 200


class ControlWordsOptions(Frequencies):
    """Comparison of each score with scores for control words: words without a topic, as frequent as the query's."""

    draws: Whole = field("sets of control words that are drawn", 999, ge=19, le=1_000_000)
    nearest: Whole = field(
        "a word is replaced by one of so many words of the vocabulary, those nearest in frequency",
        50,
        ge=2,
        le=10_000,
    )
    alternative: AnAlternative = field(ALTERNATIVE, BIAS)


def run(sample: MetricInput, resampler: Resampler, pool: Pool | None, seed: int, **options: Any) -> Outcome:
    """Run `control_test` and return its result and facts."""
    controls = control_test(sample, pool, seed=seed, **options)
    return Outcome(controls) if isinstance(controls, str) else Outcome(controls.test, controls.facts)


@dataclass(frozen=True)
class ControlTest:
    """Result of a test against control words.

    Attributes
    ----------
    test
        Its p-value and null distribution. `observed` is the metric's value, except for RNSB, whose random splits
        are left out here.
    frequency
        Source of the frequencies: "counts", "wordfreq" or "rank".
    query_frequencies
        Mean and variance of the logarithms of frequency of the replaced sets.
    control_frequencies
        Mean of these numbers over the control words.
    """

    test: Permutation
    frequency: str
    query_frequencies: dict[str, list[float | None]]
    control_frequencies: dict[str, list[float | None]]

    @property
    def facts(self) -> dict[str, Any]:
        """Return the facts about the words for a record; "middle" has the median of their values and the middle 95
        %'s ends."""
        middle = np.quantile(self.test.null_distribution, [0.025, 0.5, 0.975]).tolist()
        return {
            "frequency": self.frequency,
            "own": self.query_frequencies,
            "matched": self.control_frequencies,
            "middle": middle,
        }


def control_test(
    sample: MetricInput,
    pool: Pool | None,
    *,
    draws: int,
    nearest: int,
    alternative: str,
    seed: int,
    frequency: str,
    language: str,
) -> ControlTest | str:
    """Test a metric's value of a query against its values for control words; or return why this is impossible, in a
    sentence.

    `alternative` is "greater", "less" or "two-sided". `pool` has the words to draw from; None: the corpus' own
    words. Each word is replaced by one of the `nearest` words in frequency. No control word is in the query, and
    none is in a draw twice. A p-value is (k + 1) / (draws + 1), where k is the number of draws with a value as
    extreme.
    """
    model, word_sets = sample.model, sample.words
    frequencies = frequency_of(model, frequency, language)
    if frequencies is None:
        return UNKNOWN
    left_out = sample.rows_of((*sample.whole.target_sets, *sample.whole.attribute_sets))
    store = model.model if isinstance(model, DebiasedModel) else model
    keys = tuple(dict.fromkeys(key for s in word_sets for key in s.keys))
    control_draws = _draw(
        store, pool, (frequency, language), keys, tuple(left_out.tolist()), draws, nearest, seed
    )
    if isinstance(control_draws, str):
        return control_draws
    entries, rows, places = control_draws
    vectors = model.take(entries, rows)
    vectors = unit(vectors) if sample.request.words.normalize else vectors
    controls = WordVectors("control words", entries, entries, np.arange(len(entries)), vectors, rows, {}, ())
    values = values_of_controls(sample, controls, keys, places)
    observed, values = float(values[0]), values[1:]
    undefined_count = int(np.count_nonzero(~np.isfinite(values)))
    if not np.isfinite(observed) or undefined_count > MOST_UNDEFINED * len(values):
        return f"the metric has no value for {undefined_count} of {len(values)} draws of control words"
    test = drawn_test(values[np.isfinite(values)], observed, alternative)
    place = {key: i for i, key in enumerate(keys)}
    logs_by_draw = frequencies.logarithms(entries, rows)[places]
    control_logs = [logs_by_draw[:, [place[key] for key in s.keys]] for s in word_sets]
    query_logs = [frequencies.logarithms(s.keys, s.rows) for s in word_sets]
    control_frequencies: dict[str, list[float | None]] = {
        "mean_log_frequency": [float(np.nanmean(logs)) for logs in control_logs],
        "variance_log_frequency": [float(np.nanmean(np.nanvar(logs, axis=1))) for logs in control_logs],
    }
    return ControlTest(test, frequencies.source, summarise_logarithms(query_logs), control_frequencies)


def values_of_controls(
    sample: MetricInput, controls: WordVectors, keys: Sequence[str], places: np.ndarray
) -> np.ndarray:
    """Compute the metric's value for the original words, then for each draw of control words."""
    metric, groups, words, sides = sample.request.metric, sample.groups, sample.words, sample.sides
    words_and_controls = [*words, controls]
    ends = np.cumsum([len(s.keys) for s in words_and_controls])
    sets = sides(list(groups), words_and_controls)
    parameters = {**sample.request.parameters, **sample.ask_model(*sets)}
    target_vectors, attribute_vectors = (np.concatenate([s.vectors for s in side]) for side in sets)
    statistic = (
        metric.resampled(target_vectors, attribute_vectors, **parameters)
        if metric.resampled
        else one_by_one(metric, target_vectors, attribute_vectors, parameters)
    )
    of_groups = _ones([len(s.keys) for s in groups])
    place = {key: i for i, key in enumerate(keys)}
    columns = [ends[-2] + places[:, [place[key] for key in s.keys]] for s in words]
    values = np.empty(1 + len(places))
    values[:1] = statistic(*sides(of_groups, _ones([len(s.keys) for s in words], ends[-1])))
    block = rows_at_once(len(target_vectors) + len(attribute_vectors))
    for start in range(0, len(places), block):
        control_weights = []
        for of_set in columns:
            part = of_set[start : start + block]
            control_weights.append(np.zeros((len(part), ends[-1])))
            np.put_along_axis(control_weights[-1], part, 1.0, axis=1)
        # The statistic returns one value if draws differ only in words that the metric ignores.
        values[1 + start : 1 + start + block] = statistic(*sides(of_groups, control_weights))
    return values


def _ones(sizes: Sequence[int], length: int | None = None) -> list[np.ndarray]:
    """Return weights (1, all words of the side) of consecutive sets, with every word once in its own."""
    ends = np.cumsum(sizes)
    weights = np.zeros((len(sizes), 1, length or ends[-1]))
    for of_set, size, end in zip(weights, sizes, ends, strict=True):
        of_set[:, end - size : end] = 1
    return list(weights)


# Cache the draws: a study's metrics request the same ones for each query; for long lists they take megabytes.
@remember(64)
def _draw(
    store: Any,
    pool: Pool | None,
    source: tuple[str, str],
    keys: tuple[str, ...],
    left_out: tuple[int, ...],
    draws: int,
    nearest: int,
    seed: int,
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray] | str:
    """Draw control words for `keys`, or return the reason why this is impossible.

    Return vocabulary entries, their rows, and the indices of the words that replace each key in each draw, int32
    (draws, keys). The draws depend on `seed`, the words, the query's words and the model, so that all metrics have
    the same draws.
    """
    entries, rows, logs = _vocabulary(store, pool, source)
    free = np.flatnonzero(~np.isin(rows, left_out))
    of_keys = Frequency.of(store, *source).logarithms(keys, store.rows(keys))
    if not np.isfinite(of_keys).all():
        word = keys[int(np.argmin(np.isfinite(of_keys)))]
        return f"it is not known how frequent {word!r} is"
    if len(free) < 2 * max(len(keys), nearest):
        return f"the model has {len(free)} words that are in no set of the query: too few to draw from"
    logs = logs[free]
    rng = np.random.default_rng([seed, digest(keys)])
    picks = np.empty((draws, len(keys)), dtype=np.int32)
    in_draw = np.zeros((draws, len(free)), dtype=bool)
    # Draw for one word after the other; for long lists, draw for several words of similar frequency together.
    blocks = np.array_split(np.argsort(-of_keys, kind="stable"), min(len(keys), MOST_BLOCKS))
    for block in (blocks[i] for i in rng.permutation(len(blocks))):
        frequency, size = float(np.median(of_keys[block])), max(nearest, 3 * len(block))
        low, high = _window(logs, frequency, size)
        # If many words of the query are equally frequent, earlier draws leave too few words: widen the window.
        while high - low < len(free) and high - low - (
            used_count := int(in_draw[:, low:high].sum(axis=1).max())
        ) < max(2 * len(block), size // 2):
            low, high = _window(logs, frequency, 2 * used_count + size)
        luck = rng.random((draws, high - low)) + in_draw[:, low:high]
        of_block = low + luck.argpartition(len(block) - 1, axis=1)[:, : len(block)]
        # Assign the drawn words to the block's words at random.
        picks[:, block] = rng.permuted(of_block, axis=1)
        np.put_along_axis(in_draw, of_block, True, axis=1)
    # Number the picked words in order; sorting millions of picks would take longer than drawing them.
    is_picked = in_draw.any(axis=0)
    free_places = free[is_picked]
    places = (np.cumsum(is_picked, dtype=np.int32) - 1)[picks]
    return tuple(entries[i] for i in free_places.tolist()), rows[free_places], places


def _window(logs: np.ndarray, frequency: float, nearest: int) -> tuple[int, int]:
    """Return the range of words whose logarithms of frequency, in descending order, are nearest to a word's."""
    nearest = min(nearest, len(logs))
    place = int(np.searchsorted(-logs, -frequency))
    starts = np.arange(max(place - nearest, 0), min(place, len(logs) - nearest) + 1)
    furthest = np.maximum(np.abs(logs[starts] - frequency), np.abs(logs[starts + nearest - 1] - frequency))
    low = int(starts[furthest.argmin()])
    return low, low + nearest


@remember(8)
def _vocabulary(
    store: Any, pool: Pool | None, source: tuple[str, str]
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the words from which control words are drawn, their rows, and their logarithms of frequency,
    descending."""
    if pool is None:
        entries = store.words()[:MOST_WORDS]
        rows = np.arange(len(entries))
    else:
        entries, rows = list(pool.entries), pool.rows
    # Leave out numbers and marks, which are not words of a text's topics.
    plain = [i for i, entry in enumerate(entries) if entry.removeprefix(store.vocab_prefix).isalpha()]
    entries, rows = [entries[i] for i in plain], rows[plain]
    logs = Frequency.of(store, *source).logarithms(entries, rows)
    order = np.lexsort((rows, -logs))
    order = order[np.isfinite(logs[order])]
    return [entries[i] for i in order.tolist()], rows[order], logs[order]


def simulate(
    metric: Metric, params: dict, template: tuple[int, int], normalize: bool, alternative: str, trial: int
) -> np.ndarray:
    """Compute the metric's value for random words as control words."""
    sizes = [sizes_of(template[0], trial), sizes_of(template[1], trial)]
    sizes[0] = [PAIRS] * template[0] if metric.paired else sizes[0]
    sides = random_sets(sizes, normalize, trial)
    keys = [key for s in sides[metric.regrouped == "targets"] for key in s.keys]
    ((pool,), _) = random_sets([[POOL * len(keys)], [1]], normalize, trial)
    rng = np.random.default_rng(trial)
    places = POOL * np.arange(len(keys)) + rng.integers(POOL, size=(DRAWS, len(keys)))
    return values_of_controls(sample_of(metric, params, *sides), pool, keys, places)


CONTROL_WORDS = Test(
    name="control_words",
    label="Control words",
    noun="test against control words",
    column="p_controls",
    options=ControlWordsOptions,
    help="the comparison with frequency-matched control words",
    run=run,
    question=lambda metric: (
        "is the score more biased than with control words, as frequent and without a topic, in place of the words of "
        f"the {'attribute' if metric.regrouped == 'targets' else 'target'} sets?"
    ),
    compared="draws of control words",
    drawn="control words",
    order=4,
    pooled=True,
    by_frequency=True,
    simulate=simulate,
)
TESTS = (CONTROL_WORDS,)
