"""Declarations of metrics.

A metric is one file in this package. It contains a function of arrays and a module-level `METRICS` tuple that
declares the function's needs (template), its range, its value for "no bias" (`neutral`) and its publication.
Nothing else needs to be edited: the results table, the other tables and the command line find it automatically.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ..core.called_entry import CalledEntry
from ..core.errors import BiasgridError, unknown_name
from ..core.limits import check_limits
from ..core.wefe_names import METRIC_METHODS

if TYPE_CHECKING:
    from ..measure.result import Result
    from ..models.model import Model
    from ..models.preprocessing import Preprocessor
    from ..queries.query import Query

Role = Literal["target", "attribute"]
# An optional part of inference: True uses the defaults, a mapping gives options.
Part = bool | Mapping[str, Any] | None


@dataclass(frozen=True)
class Detail:
    """Values per word: one array for each set of that role; row i belongs to word i of the set.

    `columns` names the second axis of two-dimensional arrays.
    """

    role: Role
    values: list[np.ndarray]
    columns: list[str] | None = None


@dataclass(frozen=True)
class Contrast:
    """Numbers for one group of words against another, or (`second` None) against all others together.

    Groups are counted from 0 among the sets of the metric's side of groups (`Metric.groups`). `words` is counted in
    the same way among the sets of the other side: the only set of words that the numbers cover, or None for all of
    them together.
    """

    first: int
    second: int | None
    words: int | None
    values: dict[str, float]


@dataclass(frozen=True)
class Score:
    """Result of a metric function. `value` is NaN if the metric is undefined for these vectors."""

    value: float
    scalars: dict[str, float] = field(default_factory=dict)
    detail: dict[str, Detail] = field(default_factory=dict)
    contrasts: list[Contrast] = field(default_factory=list)


class CallSignature:
    """The signature of a metric's call, with the metric's own parameters, so that editors complete them (PEP 362)."""

    def __get__(self, metric: Metric | None, owner: type) -> inspect.Signature:
        if metric is None:
            raise AttributeError("__signature__")
        _, query, model, *shared, _ = inspect.signature(owner.__call__).parameters.values()
        own = [inspect.signature(metric.function).parameters[name] for name in metric.parameters]
        shared = [parameter for parameter in shared if parameter.name not in metric.parameters]
        return inspect.Signature([query, model, *own, *shared], return_annotation="Result")


@dataclass(frozen=True, repr=False)
class Metric(CalledEntry):
    """Metric: its function and its declaration. A call measures a query on a model: `metrics.weat(query, model)`.

    Attributes
    ----------
    function
        `(targets, attributes, **parameters)` -> Score. Each set is a float64 array (words, dimensions); for other
        kinds of models than vectors, (words, ...).
    template
        Number of target and attribute sets. "n" is any number from one on, "k" any from two on; if both are "k",
        both sides have the same number.
    range
        Closed interval in which its values lie.
    sized
        Function for a `range` that depends on the sizes of the sets; `range` is then the range for sets of equal
        size: `(sizes of the target sets, sizes of the attribute sets, **parameters)` -> range.
    neutral
        The value that means no bias. Rankings use the distance from it.
    needs
        Kind of model that it is measured on (`biasgrid.models.kinds`), which defines the content of its
        function's arrays for each word.
    groups
        Side that has the (protected) groups to which words of the other side are near or not.
    paired
        Whether its target sets are lists of pairs: word i of one belongs to word i of the others.
    seeded
        Whether it draws at random and takes a `seed` parameter.
    resampled
        Function that computes its value in many samples at once, in which words are permuted, drawn with
        replacement or left out: `(words, attributes, **parameters)` -> statistic. `words` (n, dimensions) are the
        words of all target sets, one set after the other; `attributes` (m, dimensions) likewise.
        `statistic(targets, attributes)` maps weights to values (samples,): one array (samples, n) per target set
        and one (samples, m) per attribute set contain how often each word is in the set; an array of one row is the
        same for all samples. In a sample of a metric of pairs, each set has one word of a pair. None: `function` is
        called sample by sample, which is slow.
    redrawn
        Function that computes its value for many draws of random groups at once: `(pool, places, words,
        **parameters)` -> values (draws,). `pool` (n, d) are all words of such groups; `places` are the indices of
        each group's words, one array (draws, words) per group; `words` are the sets on the other side. None:
        `function` is called draw by draw, which is slow.
    redrawn_words
        Function that computes the number of each word (`scored_by`) for many draws of groups at once, with the
        arguments of `redrawn`: an array (draws, words) for each set of `words`. None: `function` is called draw by
        draw.
    regrouped
        Sets that a test of random groups replaces by random ones: "targets", the sets of protected groups, or
        "attributes".
    exchanged
        Items that a permutation test exchanges between sets: "targets", words of the target sets; "pairs", the two
        words of a pair; "attributes", words of the attribute sets; "constituents", with four crossed groups, words
        of the first two target sets with each other, and of the other two. By default "pairs" for a metric of
        pairs, otherwise "targets".
    test_of
        Subject of that test: "words", the words that the query is about; "labels", the labels of the words that a
        classifier learns from, in which case the test is not about the target words. `TESTS` has a sentence for
        each.
    pairs_won
        For a metric of pairs whose value is the share of pairs in which the first wins: `(words, attributes,
        **parameters)` -> number of pairs in which the first wins, and number of pairs without a tie. Its permutation
        test is then exact.
    no_test
        Reason, in a sentence, why no permutation of words tests this metric; empty if a permutation does.
    redrawn_units
        For a metric of corpora, its value if the corpus' sentences (or windows) are drawn with replacement:
        `(targets, attributes, **parameters)` -> draw, where `draw(rng, draws)` returns values (draws,), NaN if
        undefined.
    of_model
        Function that reads what the metric needs of the model besides the words' vectors: `(model, targets,
        attributes, **parameters)` -> further keyword arguments of `function`, `resampled`, `redrawn` and
        `redrawn_units`; row i of their arrays may belong to word i. `model` is a store or a debiased model; the
        sets are `words.WordVectors`, which have the words' vocabulary entries. A metric with `of_model` also has
        `resampled`.
    unscored
        For a metric that requests scores from the model, the texts without a score: `(model, targets, attributes,
        **parameters)` -> for each target set, then each attribute set, {place in the set: reason}. They are missing,
        like words without a vector. For a metric of pairs, the sets are cut to whole pairs.
    variant
        Function that returns the fields that differ under some parameters: `(**parameters)` -> {field: value}; see
        `under`.
    contrasts
        Whether its scores have contrasts, which form a table of a study.
    word_bias
        Detail that shows to which of two groups each word is nearer: positive, the first; negative, the second.
    scored_by
        Detail that has a number for each word alone, and how several numbers are reduced to one: "first", their
        "mean", the "difference" of the first and the second, or "" if there is only one. By default `word_bias`,
        otherwise the first of `details`.
    nearer
        Group, "first" or "second", to which a word with a higher number is nearer. The same holds for the words of
        a query with a higher value, if values can lie on both sides of the neutral one. Empty if numbers do not
        show this. By default, with `word_bias`, the first.
    word_neutral
        Number of a word that is nearer to neither group.
    by_item
        Function that returns a word's number by each item (word, pair, template) of the other side, if it is a
        weighted sum of means over them: `(targets, attributes, **parameters)` -> for each set of scored words, one
        (weight, array (words, items)) per list of items; an empty list if it is not such a sum for these sets.
        None: it is not such a sum.
    item_note
        In words, why the number is not such a sum, or a limit of the statements about items.
    halved
        Parameters that replace the given ones if words are scored by half of the items.
    has_directions
        Whether values above and below the neutral one are bias towards different groups, if there are both. MAC's
        values are not: they show whether words are near or far.
    compares_models
        Whether models are compared by its standardised bias. They are not for MAC: there, random words have more
        standardised bias in some models than in others (docs/calibration.md).
    asks
        Question that it answers about a query. `sentence` fills in the sets' names: {T1}, {T2}, {A1}, {A2} are one
        target or attribute set, {T} and {A} all of them; {G1}, {G2}, {G} are the groups and {W} the sets on the
        other side, whichever side `groups` is.
    above
        Meaning of a value above the neutral one, in a clause with the same names; empty if such values do not exist.
    below
        Meaning of a value below the neutral one.
    details
        Name of a detail -> meaning of its number for a word; the most informative detail comes first.
    one_word
        Sets that fix its absolute value by construction if each of them has one word: "targets" or "attributes";
        empty if no sets do. Its value is then undefined, unless its parameter `one_word` is "keep" (`one_word.py`).
    scaled
        Whether its values grow with the length of all vectors, so that models with longer vectors get larger values.
    check
        Function that is called with all parameters before anything is measured; it raises BiasgridError for a wrong
        value.
    reference
        Paper and equation that it is written from.
    """

    name: str
    label: str
    function: Callable[..., Score]
    template: tuple[int | Literal["n", "k"], int | Literal["n", "k"]]
    range: tuple[float, float]
    neutral: float
    reference: str
    groups: Literal["targets", "attributes"] = "targets"
    paired: bool = False
    seeded: bool = False
    sized: Callable[..., tuple[float, float]] | None = None
    resampled: Callable[..., Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]] | None = None
    redrawn: Callable[..., np.ndarray] | None = None
    redrawn_words: Callable[..., list[np.ndarray]] | None = None
    regrouped: Literal["targets", "attributes"] = "targets"
    exchanged: Literal["targets", "pairs", "attributes", "constituents", ""] = ""
    test_of: Literal["words", "labels"] = "words"
    pairs_won: Callable[..., tuple[int, int]] | None = None
    no_test: str = ""
    redrawn_units: Callable[..., Callable[[np.random.Generator, int], np.ndarray]] | None = None
    of_model: Callable[..., dict[str, Any]] | None = None
    unscored: Callable[..., list[dict[int, str]]] | None = None
    variant: Callable[..., Mapping[str, Any]] | None = None
    contrasts: bool = False
    word_bias: str = ""
    scored_by: tuple[str, Literal["first", "mean", "difference", ""]] = ("", "")
    nearer: Literal["first", "second", ""] = ""
    word_neutral: float = 0.0
    by_item: Callable[..., list[list[tuple[float, np.ndarray]]]] | None = None
    item_note: str = ""
    halved: Mapping[str, Any] = field(default_factory=dict, hash=False)
    has_directions: bool = True
    compares_models: bool = True
    asks: str = ""
    above: str = ""
    below: str = ""
    details: Mapping[str, str] = field(default_factory=dict, hash=False)
    one_word: Literal["targets", "attributes", ""] = ""
    scaled: bool = False
    check: Callable[..., None] | None = None
    needs: str = "vectors"

    PACKAGE: ClassVar[str] = __package__ or ""
    SEE: ClassVar[str] = (
        "Metric.__call__ : The call with a query and a model, the options that all metrics share, and the Result."
    )
    WEFE_METHODS: ClassVar[Mapping[str, str]] = METRIC_METHODS
    __signature__ = CallSignature()

    def __post_init__(self):
        if not self.exchanged:
            object.__setattr__(self, "exchanged", "pairs" if self.paired else "targets")
        if not self.scored_by[0]:
            object.__setattr__(self, "scored_by", (self.word_bias or next(iter(self.details), ""), ""))
        if self.word_bias and not self.nearer:
            object.__setattr__(self, "nearer", "first")
        super().__post_init__()

    def __call__(
        self,
        query: Query,
        model: Model,
        *,
        preprocessors: Sequence[Preprocessor] | None = None,
        strategy: Literal["first", "all"] = "first",
        normalize: bool | Literal["tokens"] | None = False,
        lost_vocabulary_threshold: float = 0.2,
        seed: int = 0,
        permutation: Part = None,
        random_groups: Part = None,
        frequency_bands: Part = None,
        control_words: Part = None,
        bootstrap: Part = None,
        sensitivity: Part = None,
        reliability: Part = None,
        interval: Literal["jackknife", "percentile", "bca"] = "jackknife",
        **parameters: Any,
    ) -> Result:
        """Measure a query of this metric's template on a model.

        Parameters
        ----------
        query
            A query with the metric's template. Of a larger one take the sub-queries: `query.subqueries(template)`.
        model
            A model that `biasgrid.load` returned, or a debiased model: `model.under(transform)`.
        preprocessors
            Forms in which a word is looked up, tried in this order. Each is a mapping of options of `WordOptions`,
            such as `lowercase`, `uppercase`, `titlecase` and `strip_accents`, or a function of the word. `{}` is
            the word as written. Default: the word as written, then in lower case; for language models only as
            written.
        strategy
            "first": use the first form of a word that the model has; "all": use every form that it has.
        normalize
            Whether vectors are divided by their length. Metrics of sentences have a parameter of this name.
        lost_vocabulary_threshold
            From 0 to 1: the value is NaN if the model lacks more than this share of a set's distinct words.
        seed
            An integer from 0, for inference and for metrics that draw at random.
        permutation
            Whether to make the permutation test, which gives `p_value`; or its options: `draws`, `exact`, `stop`,
            `alternative`.
        random_groups
            Whether to make the test against random groups of the model's words, which gives `p_groups`; or its
            options: `draws`, `stop`, `alternative`, `match`.
        frequency_bands
            Whether to make the permutation test within bands of words that are about as frequent, which gives
            `p_bands`; or its options: `draws`, `exact`, `stop`, `alternative`, `frequency`, `language`, `width`.
        control_words
            Whether to make the comparison with frequency-matched control words, which gives `p_controls`; or its
            options: `frequency`, `language`, `draws`, `nearest`, `alternative`.
        bootstrap
            Whether to draw bootstrap resamples of the words, which gives `ci_low` and `ci_high`, a 95 % confidence
            interval over words; or options: `draws`, `level`.
        sensitivity
            Whether to measure without each word and on random halves of the sets, which gives `influence` and
            `halves` in `inference`; or options: `halves`.
        reliability
            Whether to measure how reliably the words are ordered (docs/intervals.md), which is in
            `Result.reliability`; or options: `splits`, `random_groups`.
        interval
            The kind of interval that `ci_low` and `ci_high` give.
        **parameters
            The metric's own parameters, which its docstring describes. Every other test of significance, such as a
            plugin's, is asked for by its name in the same way. A misspelt name is answered with the nearest one.

        Returns
        -------
        Result
            `value` is NaN if the metric cannot be computed; `status` and `reason` give the cause. `evidence` names
            the significant tests, without adjustment for the number of tests that you make.

        Raises
        ------
        BiasgridError
            The query has another template; an argument is not a query or a model; an option is unknown, or its
            value is not allowed.
        """
        # Imported late: a metric is declared below what measures it.
        from ..measure.measure_query import measure_query

        return measure_query(
            self,
            query,
            model,
            parameters,
            {
                "permutation": permutation,
                "random_groups": random_groups,
                "frequency_bands": frequency_bands,
                "control_words": control_words,
                "bootstrap": bootstrap,
                "sensitivity": sensitivity,
                "reliability": reliability,
            },
            preprocessors=preprocessors,
            strategy=strategy,
            normalize=normalize,
            lost_vocabulary_threshold=lost_vocabulary_threshold,
            seed=seed,
            interval=interval,
        )

    @property
    def metric(self) -> Metric:
        """Return the metric itself."""
        return self

    def under(self, parameters: Mapping[str, Any]) -> Metric:
        """Return the metric with these parameters set: template, range and the like may depend on them.

        Raises BiasgridError for an unknown parameter, or a value that is not allowed.
        """
        self.check_parameters(parameters)
        return replace(self, **self.variant(**{**self.parameters, **parameters})) if self.variant else self

    def sentence(self, text: str, targets: Sequence[str], attributes: Sequence[str]) -> str:
        """Fill the sets' names into a text of `asks`, `above`, `below` or `details`."""
        return text.format(**_names_of_sides(self.groups, tuple(targets), tuple(attributes)))

    def poles(self, targets: Sequence[str], attributes: Sequence[str]) -> tuple[str, str, str] | None:
        """Return the names of the words, of the set nearer to values above the neutral one, and of the set nearer
        to values below.

        Return None if the sign does not show this (`nearer`), and for more than two sets.
        """
        if not self.nearer or self.bias != "two-sided":
            return None
        ends, words = (targets, attributes) if self.groups == "targets" else (attributes, targets)
        if self.template == (2, 2):
            ends, words = attributes, targets[:1]
        if len(ends) != 2:
            return None
        above, below = ends if self.nearer == "first" else reversed(ends)
        return _join_names(words), above, below

    def is_fixed(self, targets: Sequence[int], attributes: Sequence[int]) -> bool:
        """Return whether sets of these sizes fix its absolute value by construction (`one_word`)."""
        sizes = {"targets": targets, "attributes": attributes}.get(self.one_word, ())
        return len(sizes) > 0 and all(size == 1 for size in sizes)

    @property
    def bias(self) -> Literal["greater", "less", "two-sided"]:
        """Return which values are more biased, as an alternative of a test.

        If the no-bias value is one end of the range, values towards the other end are more biased; otherwise values
        on both sides.
        """
        low, high = self.range
        return "greater" if self.neutral == low else "less" if self.neutral == high else "two-sided"

    @property
    def is_directed(self) -> bool:
        """Return whether the sides of the no-bias value are two directions of bias."""
        return self.bias == "two-sided" and self.has_directions

    @property
    def sign(self) -> str:
        """Describe the meaning of a value's sign, or of its side of the no-bias value, for any query."""
        if self.bias != "two-sided":
            direction = {"greater": "higher", "less": "lower"}[self.bias]
            return f"no sign; {self.neutral:g} is unbiased, {direction} is more biased"
        if not self.above:
            return f"further from {self.neutral:g} on either side is more biased"
        sides = {"T": "target", "A": "attribute"}
        sides |= {
            "G": self.groups.removesuffix("s"),
            "W": {"targets": "attribute"}.get(self.groups, "target"),
        }
        names = {letter: f"the {side} sets" for letter, side in sides.items()}
        for i, place in enumerate(("first", "second"), 1):
            names |= {f"{letter}{i}": f"the {place} {side} set" for letter, side in sides.items()}
        return (
            f"{'positive' if self.neutral == 0 else f'above {self.neutral:g}'}: {self.above.format(**names)}"
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the default of each parameter, without the seed and the arguments that `of_model` returns."""
        return dict(_defaults(self.function))

    def check_parameters(self, parameters: Mapping[str, Any], extra_names: Sequence[str] = ()) -> None:
        """Raise BiasgridError for an unknown parameter, or a value that is not allowed.

        `extra_names` are also allowed here, although they are not parameters of the metric.
        """
        for name in parameters:
            if name not in self.parameters:
                allowed = [*self.parameters, *extra_names]
                raise BiasgridError(unknown_name("option", name, allowed, of=self.name))
        check_limits(self.function, parameters)
        if self.check:
            self.check(**{**self.parameters, **parameters})


# A single call uses the defaults six times, and each inspection would take as long as WEAT does.
@lru_cache(maxsize=256)
def _defaults(function: Callable[..., Score]) -> dict[str, Any]:
    signature = inspect.signature(function).parameters.values()
    arguments = [p for p in signature if p.kind is p.KEYWORD_ONLY and p.default is not p.empty]
    return {p.name: p.default for p in arguments if p.name != "seed"}


@lru_cache
def _names_of_sides(groups: str, targets: tuple[str, ...], attributes: tuple[str, ...]) -> Mapping[str, str]:
    """Return the names that texts of a metric may have in braces: of all sets of a side, and of each."""
    of_groups, words = (targets, attributes) if groups == "targets" else (attributes, targets)
    sides = {"T": targets, "A": attributes, "G": of_groups, "W": words}
    names = {side: _join_names(sets) for side, sets in sides.items()}
    return names | {f"{side}{i}": name for side, sets in sides.items() for i, name in enumerate(sets, 1)}


def _join_names(names: Sequence[str]) -> str:
    *head, last = names or [""]
    return f"{', '.join(head)} and {last}" if head else last


def one_by_one(
    metric: Metric, words: np.ndarray, attributes: np.ndarray, parameters: Mapping[str, Any], seed: int = 0
) -> Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]:
    """Return `Metric.resampled` for a metric that does not have it: its function, called on each sample's words."""
    options = {**parameters, **({"seed": seed} if metric.seeded else {})}

    def rows(weights: np.ndarray, sample: int) -> np.ndarray:
        return np.repeat(np.arange(weights.shape[1]), weights[sample % len(weights)].astype(int))

    def target_rows(weights: np.ndarray, sample: int, pairs: int) -> np.ndarray:
        sample_rows = rows(weights, sample)
        # Keep the order of the pairs, whichever of its two words a pair has in this set.
        return sample_rows[np.argsort(sample_rows % pairs, kind="stable")] if metric.paired else sample_rows

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        pairs = max(len(words) // len(targets), 1)
        return np.array(
            [
                metric.function(
                    [words[target_rows(weights, sample, pairs)] for weights in targets],
                    [attributes[rows(weights, sample)] for weights in attribute_weights],
                    **options,
                ).value
                for sample in range(max(map(len, targets + attribute_weights)))
            ]
        )

    return statistic
