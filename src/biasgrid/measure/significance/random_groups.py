"""Random groups: is a metric's value more extreme for the query's groups than for other groups that are as
coherent?

The null hypothesis: the query's groups do not differ from the random groups that the steps of `group_draws` make.
Only the groups are drawn; the words that they are compared with, and the neighbours of these, do not change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np

from ...core.geometry import unit
from ...core.numbers import decimal
from ...core.validation import Strict, Whole, field
from ...metrics.registry import Metric
from ...models.cache_per_model import remember
from ...models.model import Model
from ...models.words import WordVectors
from ...queries.word_set import WordSet
from ..candidate_words import Pool
from ..group_draws import BLOCK, FEWEST, GroupDraws, draws_of
from ..metric_input import MetricInput
from ..options import BIAS, STOP, AnAlternative, Stop
from ..permutation import DISTANCE, Permutation, monte_carlo_test
from ..random_data import DRAWS, PAIRS, POOL, random_sets, sample_of, sizes_of
from ..resampler import Resampler
from ..statistics.scale import TOO_FEW_TOPICS, Scale
from .test import Outcome, Test

# With a larger share of undefined random groups, the defined ones are not a fair sample.
MOST_UNDEFINED = 0.05
# If the words that groups are compared with are more than this share of the pool, most draws would contain one.
LEXICON = 0.02
# Number of random groups with which every score is compared.
SCALE = 999
# Fewer effective topics are not a sample of the model's topics; see `effective_topics`.
FEWEST_APART = 10
NO_VECTORS = "the model has no vectors: groups as coherent as the query's are found by them"


class RandomGroupsOptions(Strict):
    """Test of every metric against random groups of the model's words."""

    draws: Whole = field("random groups that are drawn at most", 9_999, ge=19, le=1_000_000)
    stop: Stop = field(STOP, 20, ge=1, le=1_000_000)
    alternative: AnAlternative = field(
        "which values are as extreme as the score; `bias`: those at least as far from the metric's no-bias value, in "
        "either direction",
        BIAS,
    )
    match: Literal["between", "within"] = field(
        "what random groups have in common with the query's: `between`, how near the words of each group are to each "
        "other, and those of two groups; `within`, the first alone",
        "between",
    )


@dataclass(frozen=True)
class GroupsTest:
    """Result of a test against random groups.

    Attributes
    ----------
    test
        Its p-value and null distribution. `observed` is the metric's value, except for RNSB, whose random splits
        are left out here.
    scale
        Random groups with which the score is compared, whatever its p-value: the first `SCALE`.
    seeds
        Number of different words from which the first groups of the test's draws start.
    cosines
        Mean cosine of the words of each of the query's groups with each other; NaN for one word.
    random_cosines
        Mean of `cosines` over the random groups of the scale.
    between
        Mean cosine of the words of each pair of the query's groups.
    random_between
        Mean of `between` over the random groups of the scale.
    """

    test: Permutation
    scale: Scale
    seeds: int
    cosines: list[float]
    random_cosines: list[float]
    between: list[float]
    random_between: list[float]

    @property
    def facts(self) -> dict[str, Any]:
        """Return the facts about the groups for a record."""
        return {
            "scale": self.scale.record,
            "seeds": self.seeds,
            "cosines": self.cosines,
            "matched": self.random_cosines,
            "between": self.between,
            "matched_between": self.random_between,
        }


def run(sample: MetricInput, resampler: Resampler, pool: Pool | None, seed: int, **options: Any) -> Outcome:
    """Run `groups_test` and return its result and facts."""
    groups = groups_test(sample, pool, seed=seed, **options) if pool else NO_VECTORS
    return Outcome(groups) if isinstance(groups, str) else Outcome(groups.test, groups.facts)


class GroupValues(NamedTuple):
    """A metric's values for random groups.

    Attributes
    ----------
    observed
        Its value for the query's own groups, measured in the same way as random groups.
    values
        (draws,); NaN if undefined.
    numbers, seeds
        (draws,), numbers of the draws, and the seeds from which their first groups start.
    cosines, between
        (draws, groups) and (draws, pairs), mean cosines within groups and between them.
    """

    observed: float
    values: np.ndarray
    numbers: np.ndarray
    seeds: np.ndarray
    cosines: np.ndarray
    between: np.ndarray


def groups_test(
    sample: MetricInput,
    pool: Pool,
    *,
    draws: int,
    stop: int | None,
    alternative: str,
    match: str,
    seed: int,
) -> GroupsTest | str:
    """Test a metric's value of a query against its values for random groups; or return why this is impossible, in a
    sentence.

    `alternative` is "distance" (from the no-bias value), "greater", "less" or "two-sided"; see
    `group_draws.draws_of` for `match`. The p-value is computed by `sequential.count_up`. It is not below 1 / (s +
    1), where s is the number of different seeds from which the first groups start, as draws around one seed belong
    to one topic.
    """
    group_draws = draws_in_place(sample, pool, seed, match)
    if isinstance(group_draws, str):
        return group_draws
    scale_end = end_of_scale(sample, pool, group_draws, draws)
    if isinstance(scale_end, str):
        return scale_end
    values_of = group_values(sample, pool, group_draws)
    ends = ends_of_stretches(draws, scale_end)
    stretches = [values_of(*ends[:2])]
    is_of_scale = stretches[0].numbers < scale_end
    has_value = np.isfinite(stretches[0].values)
    observed, neutral = stretches[0].observed, sample.request.metric.neutral
    number = int(np.count_nonzero(is_of_scale))
    undefined = number - int(np.count_nonzero(has_value[is_of_scale]))
    if not np.isfinite(observed) or undefined > MOST_UNDEFINED * number:
        return f"undefined for random groups: the metric has no value for {undefined} of {number}"

    def draw(start: int, end: int) -> np.ndarray:
        if start:
            stretches.append(values_of(start, end))
        return _of_values(stretches[-1], "values")

    def seeds(draws: int | None = None) -> int:
        return count_seeds(np.concatenate([_of_values(stretch, "seeds") for stretch in stretches])[:draws])

    test = monte_carlo_test(
        draw, observed, alternative, ends, stop, neutral=neutral if alternative == DISTANCE else None
    )
    # Draws that were not made might have started from further seeds.
    is_complete = len(stretches) == len(ends) - 1
    most_seeds = seeds() if is_complete else group_draws.most_seeds(draws)
    of_test = seeds(test.draws)
    is_read = is_of_scale & has_value
    return GroupsTest(
        replace(
            test,
            p_value=max(test.p_value, 1 / (of_test + 1)),
            p_high=max(test.p_high, 1 / (of_test + 1)),
            p_lowest=max(test.p_lowest, 1 / (most_seeds + 1)),
        ),
        Scale.of(stretches[0].values[is_read], stretches[0].seeds[is_read], neutral),
        of_test,
        group_draws.cosines,
        stretches[0].cosines[is_read].mean(axis=0).tolist(),
        group_draws.between.tolist(),
        stretches[0].between[is_read].mean(axis=0).tolist(),
    )


def _of_values(values: GroupValues, name: str) -> np.ndarray:
    """Return a column of the draws that have a value."""
    column: np.ndarray = getattr(values, name)[np.isfinite(values.values)]
    return column


def end_of_scale(sample: MetricInput, pool: Pool, group_draws: GroupDraws, draws: int) -> int | str:
    """Return the end of the draws that form the scale of a score, or the reason why it cannot be tested, in a
    sentence.

    The scale has `SCALE` random groups, or all random groups among `draws`. Values are not used: on a model, either
    all metrics that compare the same groups with the same words have a test, or none has.
    """
    is_free = free_words(sample, pool)
    numbers, seeds = np.empty(0, np.int64), np.empty(0, np.int64)
    words = np.empty((0, sum(len(group.keys) for group in sample.groups)), np.int64)
    for place in range(-(-draws // BLOCK)):
        block = group_draws.block(sample.model, pool, place)
        of_block = np.concatenate(block.places, axis=1)
        is_kept = is_free[of_block].all(axis=1) & (block.numbers < draws)
        numbers = np.concatenate([numbers, block.numbers[is_kept]])[:SCALE]
        seeds = np.concatenate([seeds, block.seeds[is_kept]])[:SCALE]
        words = np.concatenate([words, of_block[is_kept]])[:SCALE]
        if len(numbers) == SCALE:
            break
    reason = too_few_topics(len(numbers), count_seeds(seeds), draws) or _topics_overlap(words, draws)
    return reason or (int(numbers[-1]) + 1 if len(numbers) == SCALE else draws)


def too_few_topics(number: int, topics: int, draws: int) -> str:
    """Return why random groups from this number of different words do not make a test; "" if they do."""
    # Some draws fail.
    fewest = min(FEWEST, draws // 2)
    if topics >= fewest:
        return ""
    return (
        f"{TOO_FEW_TOPICS}: only {number} random groups, around {topics} different words, are as coherent as the "
        f"query's groups and as near to each other; a test needs {fewest}"
    )


def _topics_overlap(words: np.ndarray, draws: int) -> str:
    """Return why random groups share too many words to make a test; "" if they do not."""
    topics, fewest = effective_topics(words), min(FEWEST_APART, draws // 20)
    if topics >= fewest:
        return ""
    return (
        f"{TOO_FEW_TOPICS}: the {len(words)} random groups share so many words that they are like "
        f"{decimal(topics, 1)} groups without a word in common; a test needs {fewest}"
    )


def effective_topics(words: np.ndarray) -> float:
    """Return the number of random groups without a common word that would be as varied as these.

    Parameters
    ----------
    words
        Words of each random group, (groups, words of a group); no word is twice in a group.

    Returns
    -------
    float
        The number of groups, divided by the mean number of groups that have a word (over all words of all groups).
        It is the inverse Simpson index of the words, divided by the number of words of a group (Hill 1973).
    """
    _, counts = np.unique(words, return_counts=True)
    return float(words.size**2 / (counts**2).sum() / words.shape[1])


def draws_in_place(sample: MetricInput, pool: Pool, seed: int, match: str) -> GroupDraws | str:
    """Prepare random groups in place of the metric's groups, or return the reason why this is impossible."""
    _, word_sets = sample.sides(sample.whole.target_sets, sample.whole.attribute_sets)
    return draws_for(sample, sample.groups, word_sets, pool, seed, match)


def draws_for(
    sample: MetricInput,
    groups: Sequence[WordVectors],
    word_sets: Sequence[WordSet],
    pool: Pool,
    seed: int,
    match: str,
) -> GroupDraws | str:
    """Prepare random groups in place of some sets that are compared with others, or why this is impossible."""
    rows = sample.rows_of(word_sets)
    left_out = tuple(rows.tolist()) if np.isin(pool.rows, rows).mean() > LEXICON else ()
    return draws_of(sample.model, pool, tuple(group.keys for group in groups), seed, match, left_out)


def ends_of_stretches(draws: int, first: int = 1) -> list[int]:
    """Return the ends of the stretches of draws that are made and measured at once, in whole blocks.

    The first stretch has at least `first` draws; each next stretch is twice as long as all before it.
    """
    ends = [0, -(-first // BLOCK) * BLOCK]
    while ends[-1] < draws:
        ends.append(3 * ends[-1])
    return [*(end for end in ends if end < draws), draws]


def count_seeds(seeds: np.ndarray) -> int:
    """Count the different seeds."""
    return len(np.unique(seeds))


def group_values(
    sample: MetricInput, pool: Pool, group_draws: GroupDraws
) -> Callable[[int, int], GroupValues]:
    """Return a function that measures the draws from number `start` up to `end`, in order: (start, end) -> values.

    A draw that contains a word of the query is left out.
    """
    groups, batch_of = sample.groups, batches_for(sample, pool, group_draws)

    def values_of(start: int, end: int) -> GroupValues:
        batch, is_kept = batch_of(start, end)
        # Put the query's own groups first, so that they are measured in the same way as the random ones.
        all_groups, ends = _concatenate([*groups, batch.words])
        places = [
            np.concatenate([np.arange(end - len(group.keys), end)[None], ends[-2] + random[is_kept]])
            for group, end, random in zip(groups, ends, batch.places, strict=False)
        ]
        observed, *_ = values = values_of_groups(sample, all_groups, places)
        of_draws = (batch.numbers, batch.seeds, batch.cosines, batch.between)
        return GroupValues(float(observed), values[1:], *(column[is_kept] for column in of_draws))

    return values_of


def batches_for(
    sample: MetricInput, pool: Pool, group_draws: GroupDraws
) -> Callable[[int, int], tuple[Batch, np.ndarray]]:
    """Return a function (start, end) -> the draws with these numbers, and which of them contain no word of the
    query."""
    is_free = free_words(sample, pool)

    def batch_of(start: int, end: int) -> tuple[Batch, np.ndarray]:
        batch = _batch(sample.model, pool, group_draws, start, end, sample.request.words.normalize)
        return batch, is_free[batch.pool_places[np.concatenate(batch.places, axis=1)]].all(axis=1)

    return batch_of


def free_words(sample: MetricInput, pool: Pool) -> np.ndarray:
    """Return which of the pool's words are not in the query, bool (words of the pool,)."""
    whole = sample.whole
    return ~np.isin(pool.rows, sample.rows_of((*whole.target_sets, *whole.attribute_sets)))


class Batch(NamedTuple):
    """Several blocks of draws, and the vectors of their words.

    Attributes
    ----------
    words
        All words in the draws, in the form of one looked-up set.
    pool_places
        Indices of these words in the pool.
    places
        For each group, the indices of its words in each draw: (draws, words of the group).
    """

    words: WordVectors
    pool_places: np.ndarray
    places: list[np.ndarray]
    numbers: np.ndarray
    seeds: np.ndarray
    cosines: np.ndarray
    between: np.ndarray


# Cache the vectors of the draws' words, which take megabytes; queries with the same groups request the same ones.
@remember(4)
def _batch(
    model: Model,
    pool: Pool,
    group_draws: GroupDraws,
    start: int,
    end: int,
    normalize: bool,
) -> Batch:
    blocks = [group_draws.block(model, pool, number) for number in range(start // BLOCK, -(-end // BLOCK))]
    numbers = np.concatenate([block.numbers for block in blocks])
    is_asked = numbers < end
    parts = [np.concatenate(group)[is_asked] for group in zip(*(b.places for b in blocks), strict=True)]
    pool_places, compact = np.unique(np.concatenate([part.ravel() for part in parts]), return_inverse=True)
    ends = np.cumsum([part.size for part in parts])[:-1]
    places = [
        compact_places.reshape(part.shape)
        for compact_places, part in zip(np.split(compact, ends), parts, strict=True)
    ]
    entries = tuple(map(pool.entries.__getitem__, pool_places.tolist()))
    rows = pool.rows[pool_places]
    vectors = model.take(entries, rows)
    vectors = unit(vectors) if normalize else vectors
    words = WordVectors("random groups", entries, entries, np.arange(len(rows)), vectors, rows, {}, ())
    return Batch(
        words,
        pool_places,
        places,
        numbers[is_asked],
        *(
            np.concatenate([getattr(b, name) for b in blocks])[is_asked]
            for name in ("seeds", "cosines", "between")
        ),
    )


def _concatenate(sets: Sequence[WordVectors]) -> tuple[WordVectors, np.ndarray]:
    """Concatenate the rows of all sets into one set, and return also the end of each set."""
    words, keys = (tuple(chain.from_iterable(getattr(s, name) for s in sets)) for name in ("words", "keys"))
    vectors, rows = (np.concatenate([getattr(s, name) for s in sets]) for name in ("vectors", "rows"))
    all_groups = WordVectors("groups", words, keys, np.arange(len(keys)), vectors, rows, {}, ())
    return all_groups, np.cumsum([len(s.keys) for s in sets])


def values_of_groups(
    sample: MetricInput, all_groups: WordVectors, places: Sequence[np.ndarray]
) -> np.ndarray:
    """Compute the metric's value for each draw of groups in place of the sample's."""
    metric, parameters = sample.request.metric, sample.request.parameters

    def model_arguments(groups: Sequence[WordVectors]) -> Mapping[str, Any]:
        return sample.ask_model(*sample.sides(groups, sample.words))

    word_vectors = [s.vectors for s in sample.words]
    if metric.redrawn:
        return metric.redrawn(
            all_groups.vectors, places, word_vectors, **parameters, **model_arguments([all_groups])
        )
    values = []
    for draw in zip(*places, strict=True):
        groups = [all_groups.take(rows) for rows in draw]
        vectors = sample.sides([group.vectors for group in groups], word_vectors)
        values.append(metric.function(*vectors, **parameters, **model_arguments(groups)).value)
    return np.array(values)


def simulate(
    metric: Metric, params: dict, template: tuple[int, int], normalize: bool, alternative: str, trial: int
) -> np.ndarray:
    """Compute the metric's value for groups that are each drawn from their own random words."""
    group_side, word_side = (0, 1) if metric.regrouped == "targets" else (1, 0)
    groups = [PAIRS] * template[group_side] if metric.paired else sizes_of(template[group_side], trial)
    (pool,), words = random_sets(
        [[POOL * len(groups)], sizes_of(template[word_side], trial)], normalize, trial
    )
    rng = np.random.default_rng(trial)
    places = [POOL * i + rng.random((DRAWS, POOL)).argsort(axis=1)[:, :size] for i, size in enumerate(groups)]
    sides = ([pool], words) if metric.regrouped == "targets" else (words, [pool])
    return values_of_groups(sample_of(metric, params, *sides), pool, places)


RANDOM_GROUPS = Test(
    name="random_groups",
    label="Random groups",
    noun="test against random groups",
    column="p_groups",
    options=RandomGroupsOptions,
    help="the test against random groups of the model's words",
    run=run,
    question=lambda metric: (
        "is the score more biased than with random groups of words of this model, as coherent and as frequent, in "
        f"place of the {metric.regrouped.removesuffix('s')} sets?"
    ),
    compared="random groups",
    drawn="random word groups",
    counts="groups",
    order=2,
    pooled=True,
    bias=lambda metric: DISTANCE,
    simulate=simulate,
)
TESTS = (RANDOM_GROUPS,)
