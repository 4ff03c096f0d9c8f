"""What a metric is, and the list of all of them.

A metric is one file in this package. It holds a function of arrays and a module-level `METRICS` tuple that says
what the function needs (template), where its values lie (range), what "no bias" is (neutral value) and where it was
published. Putting the file here is all it takes: the grid, the tables and the command line find it by itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np

from ..errors import BiasgridError, unknown_name
from ..hooks import complete
from ..limits import check_limits

Role = Literal["target", "attribute"]


@dataclass(frozen=True)
class Detail:
    """Values per word: one array for each set of that role, row i belonging to word i of the set.

    `columns` names the second axis of two-dimensional arrays.
    """

    role: Role
    values: list[np.ndarray]
    columns: list[str] | None = None


@dataclass(frozen=True)
class Contrast:
    """Numbers of one group of words against another, or (`second` None) against all others together.

    Groups are counted from 0 among the sets of the metric's side of groups (`Metric.groups`); so is `words` among
    those of the other side, the only set of words that the numbers are of, or None for all of them together.
    """

    first: int
    second: int | None
    words: int | None
    values: dict[str, float]


@dataclass(frozen=True)
class Score:
    """What a metric function returns. `value` is NaN where the metric is undefined for these vectors."""

    value: float
    scalars: dict[str, float] = field(default_factory=dict)
    detail: dict[str, Detail] = field(default_factory=dict)
    contrasts: list[Contrast] = field(default_factory=list)


@dataclass(frozen=True)
class Metric:
    """A metric: its function, and what the grid needs to know of it.

    Attributes
    ----------
    function
        (targets, attributes, **parameters) -> Score. Each set is a float64 array (words, dimensions); for other kinds
        of models than vectors, (words, ...).
    template
        How many target and attribute sets it takes. "n" is any number from one on, "k" any from two on, and the same
        on both sides where both are "k".
    range
        The closed interval in which its values lie.
    sized
        That interval where it depends on the sizes of the sets; `range` is then that of sets of one size: (sizes of
        the target sets, sizes of the attribute sets, **parameters) -> range.
    neutral
        The value that means no bias. Rankings use the distance from it.
    needs
        The kind of model that it is measured on (`biasgrid.embeddings.kinds`), which says what its function's arrays
        hold for each word.
    groups
        Which side has the (protected) groups that words of the other side are near to or not.
    paired
        Whether its target sets are lists of pairs: word i of one belongs to word i of the others.
    seeded
        Whether it draws at random and takes a `seed` parameter.
    resampled
        Its value where words are permuted, drawn with replacement or left out, for many such samples at once: (words,
        attributes, **parameters) -> statistic. `words` (n, dimensions) are those of all target sets, one set after
        the other; `attributes` (m, dimensions) likewise. `statistic(targets, attributes)` takes weights to values
        (samples,): one array (samples, n) per target set and one (samples, m) per attribute set say how often each
        word is in the set; an array of one row is the same for all samples. In a sample of a metric of pairs, each
        set has one word of a pair. None: `function` is called sample by sample, which is slow.
    redrawn
        Its value for random groups, for many draws at once: (pool, places, words, **parameters) -> values (draws,).
        `pool` (n, d) are all words of such groups; `places` says which words each group has, one array (draws, words)
        per group; `words` are the sets on the other side. None: `function` is called draw by draw, which is slow.
    regrouped
        Which sets a test of random groups replaces by random ones: "targets", the sets of protected groups, or
        "attributes".
    exchanged
        What a permutation test exchanges between sets: "targets", words of the target sets; "pairs", the two words of
        a pair; "attributes", words of the attribute sets; "constituents", of four crossed groups, words of the first
        two target sets with each other, and of the other two. By default "pairs" for a metric of pairs, else
        "targets".
    test_of
        What that test is about: "words", those that the query asks about; "labels", those of the words that a
        classifier learns from, which says nothing about the target words. `TESTS` has a sentence for each.
    pairs_won
        Of a metric of pairs whose value is the share of pairs in which the first wins: (words, attributes,
        **parameters) -> in how many the first wins, and how many are no ties. Its permutation test is then exact.
    no_test
        Why no permutation of words tests this metric, in a sentence; empty where one does.
    redrawn_units
        Of a metric of corpora, its value where the corpus' sentences (or windows) are drawn with replacement:
        (targets, attributes, **parameters) -> draw, where `draw(rng, draws)` gives values (draws,), NaN where there
        is none.
    of_model
        What it needs of the model besides the words' vectors: (model, targets, attributes, **parameters) -> further
        keyword arguments of `function`, `resampled`, `redrawn` and `redrawn_units`; row i of their
        arrays may belong to word i. `model` is a store or a debiased model; the sets are `words.FoundSet`s, which
        know the words' vocabulary entries. A metric that has it has `resampled`, too.
    unscored
        Of a metric that asks the model for scores, the texts that have none: (model, targets, attributes,
        **parameters) -> for each target set, then each attribute set, {place in the set: why}. They are lost, as
        words without a vector are. For a metric of pairs, the sets are cut to whole pairs.
    variant
        Which of these fields differ under some parameters: (**parameters) -> {field: value}; see `under`.
    contrasts
        Whether its scores have contrasts, which make a table of a study.
    word_bias
        The detail that says which of two groups each word is nearer to: positive, the first; negative, the second.
    scored_by
        The detail that has a number of each word alone, and what is taken of several numbers: "first", their "mean",
        the "difference" of the first and the second, or "" where there is one. By default `word_bias`, else the first
        of `details`.
    nearer
        Which of two groups, "first" or "second", a word with a higher number is nearer to, and so are the words of a
        query with a higher value, where values can lie on both sides of the neutral one. Empty where numbers do not
        say this. By default, with `word_bias`, the first.
    word_neutral
        The number of a word that is nearer to neither group.
    by_item
        A word's number by each item (word, pair, template) of the other side, where it is a weighted sum of means
        over them: (targets, attributes, **parameters) -> for each set of scored words, one (weight, array (words,
        items)) per list of items; nothing where it is no such sum for these sets. None: it is no such sum.
    item_note
        In words, why it is none, or what limits what is said of the items.
    halved
        Parameters that replace those given where words are scored by half of the items.
    has_directions
        Whether values above and below the neutral one are bias towards different groups, if there are both. MAC's are
        not: they say whether words are near or far.
    compares_models
        Whether models are compared by its standardised bias. By MAC they are not: there, random words have more
        standardised bias in some models than in others (docs/calibration.md).
    asks
        What it asks of a query, as a question. `sentence` fills in the sets' names: {T1}, {T2}, {A1}, {A2} are one
        target or attribute set, {T} and {A} all of them; {G1}, {G2}, {G} are the groups and {W} the sets on the other
        side, whichever side `groups` is.
    above
        What a value above the neutral one means, in a clause with the same names; empty where there is none.
    below
        What a value below it means.
    details
        Name of a detail -> what its number of a word is, in words; the most informative detail comes first.
    one_word
        Which sets fix its absolute value by construction if each of them has one word: "targets" or "attributes";
        empty if none do. Its value is then undefined, unless its parameter `one_word` is "keep" (`one_word.py`).
    scaled
        Whether its values grow with the length of all vectors, so that models with longer vectors get larger values.
    check
        Called with all parameters before anything is measured; raises BiasgridError for a wrong value.
    reference
        The paper and equation that it is written from.
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

    measure: ClassVar[Callable[..., Any]]  # `api.calls.measure_query`

    def __post_init__(self):
        if not self.exchanged:
            object.__setattr__(self, "exchanged", "pairs" if self.paired else "targets")
        if not self.scored_by[0]:
            object.__setattr__(self, "scored_by", (self.word_bias or next(iter(self.details), ""), ""))
        if self.word_bias and not self.nearer:
            object.__setattr__(self, "nearer", "first")

    def __call__(self, query: Any, model: Any, **options: Any) -> Any:
        """Measure a query of this metric's template on a model, as the metric's function does."""
        complete(__package__)  # it sets `measure`
        return self.measure(query, model, **options)

    def under(self, parameters: Mapping[str, Any]) -> Metric:
        """The metric as it is under these parameters: template, range and the like may depend on them.

        Raises BiasgridError for a parameter that it does not have, or a value that it cannot take.
        """
        self.check_parameters(parameters)
        return replace(self, **self.variant(**{**self.parameters, **parameters})) if self.variant else self

    def sentence(self, text: str, targets: Sequence[str], attributes: Sequence[str]) -> str:
        """A text of `asks`, `above`, `below` or `details` with the sets' names."""
        groups, words = (targets, attributes) if self.groups == "targets" else (attributes, targets)
        sides = {"T": targets, "A": attributes, "G": groups, "W": words}
        names = {side: _join_names(sets) for side, sets in sides.items()}
        names |= {f"{side}{i}": name for side, sets in sides.items() for i, name in enumerate(sets, 1)}
        return text.format(**names)

    def poles(self, targets: Sequence[str], attributes: Sequence[str]) -> tuple[str, str, str] | None:
        """What is nearer to which of two sets, of the names of sets: the words, the set of values above the neutral
        one, and the set of values below it; None where the sign does not say so (`nearer`), or of more than two."""
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
        """Whether sets of so many words fix its absolute value by construction (`one_word`)."""
        sizes = {"targets": targets, "attributes": attributes}.get(self.one_word, ())
        return len(sizes) > 0 and all(size == 1 for size in sizes)

    @property
    def bias(self) -> Literal["greater", "less", "two-sided"]:
        """Which values are more biased, as an alternative of a test: where the neutral value is an end of the range,
        those towards the other end; else those on both sides."""
        low, high = self.range
        return "greater" if self.neutral == low else "less" if self.neutral == high else "two-sided"

    @property
    def is_directed(self) -> bool:
        """Whether the sides of the neutral value are two directions of bias."""
        return self.bias == "two-sided" and self.has_directions

    @property
    def sign(self) -> str:
        """What the sign of a value says, or the side of the neutral value that it is on, of any query."""
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
        """Parameter -> default, without the seed and what `of_model` gives."""
        return dict(_defaults(self.function))

    def check_parameters(self, parameters: Mapping[str, Any], extra_names: Sequence[str] = ()) -> None:
        """Raises BiasgridError for a parameter that the metric does not have, or a value that it cannot take.

        `extra_names` are allowed here, too, though they are no parameters of the metric.
        """
        for name in parameters:
            if name not in self.parameters:
                allowed = [*self.parameters, *extra_names]
                raise BiasgridError(unknown_name("option", name, allowed, of=self.name))
        check_limits(self.function, parameters)
        if self.check:
            self.check(**{**self.parameters, **parameters})


# a single call asks six times, and each would take as long as WEAT does
@lru_cache(maxsize=256)
def _defaults(function: Callable[..., Score]) -> dict[str, Any]:
    signature = inspect.signature(function).parameters.values()
    arguments = [p for p in signature if p.kind is p.KEYWORD_ONLY and p.default is not p.empty]
    return {p.name: p.default for p in arguments if p.name != "seed"}


def _join_names(names: Sequence[str]) -> str:
    *head, last = names or [""]
    return f"{', '.join(head)} and {last}" if head else last


def one_by_one(
    metric: Metric, words: np.ndarray, attributes: np.ndarray, parameters: Mapping[str, Any], seed: int = 0
) -> Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]:
    """What `Metric.resampled` gives, for a metric that has none: its function on each sample's words."""
    options = {**parameters, **({"seed": seed} if metric.seeded else {})}

    def rows(weights: np.ndarray, sample: int) -> np.ndarray:
        return np.repeat(np.arange(weights.shape[1]), weights[sample % len(weights)].astype(int))

    def target_rows(weights: np.ndarray, sample: int, pairs: int) -> np.ndarray:
        sample_rows = rows(weights, sample)
        # in the order of the pairs, whichever of its two words a pair has in this set
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
