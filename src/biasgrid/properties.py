"""Which metric may be trusted for what: properties D5 to D8 of Schroeder et al. (2021), computed for every metric.

A word is biased if it is nearer to one group than to another: s(w, A) is its mean cosine with the words of group A.
A set of words has skew if it is nearer to one group on the whole, stereotype if its words lean differently.
`PROPERTIES` asks of a metric whether its value follows. A "no" has a counterexample: vectors, to be measured again.
That none is found is no proof; "yes" is said only where there is an argument (`ARGUMENTS`).
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from .files import write_text
from .geometry import cosines
from .measure import as_finite, dumps
from .metrics import REGISTRY
from .metrics.registry import Metric

# what is asked -> the heading of its column
PROPERTIES = {
    "comparable": "Values compare across groups",
    "trustworthy": "Neutral value means no bias, and no bias neutral",
    "skew": "Sees words that lean one way (skew)",
    "stereotype": "Sees words that lean apart (stereotype)",
    "defined": "Always has a value",
    "length_free": "Ignores the vectors' length",
}
SHORT = {
    "comparable": "comparable",
    "trustworthy": "trustworthy",
    "skew": "sees skew",
    "stereotype": "sees stereotype",
    "defined": "always has a value",
    "length_free": "ignores length",
}
WORD, SET = "one word", "words"
OF_ONE_WORD = ("comparable", "trustworthy", "defined", "length_free")
# a second row of "stereotype" for metrics of two sets of words
ORDERED = "no word of the second set leans more to the first group than one of the first set"
# "yes": proved; "not refuted": none of the settings that were tried is a counterexample; "undefined": where it would
# have to have a value, it has none
YES, NO, NOT_REFUTED, UNDEFINED, NOT_EXAMINED = "yes", "no", "not refuted", "undefined", "not examined"

# parameters that a metric is examined with, where it is not only its defaults
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "direct_bias": [{"direction": "pca"}, {"direction": "pair"}, {"direction": "mean"}, {"direction": "sum"}],
    "rnd": [{"distance": "norm"}, {"distance": "cos"}],
    # no part of the groups is left out of training, as they are small, and nothing is drawn
    "rnsb": [{"holdout": False}],
}
# a metric that takes two sets of words has no value of one word, except this: its detail of that name
WORD_VALUES = {"weat": "association"}

# why a metric is not asked
OTHER_QUESTIONS = {
    "indirect_bias": "it asks how much of the likeness of words with words is due to the groups, "
    "not whether words are nearer to one of them",
}

EXACT, CLEAR, NEAR = 1e-9, 1e-3, 1e-6
SEED, DRAWN, DESCENTS = 6, 1200, 3

Sets = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Setting:
    """Groups, and words in one set or two. Metrics of one set of words take them together."""

    name: str
    groups: Sets
    words: Sets

    @cached_property
    def truth(self) -> Truth:
        together = np.concatenate(self.words)
        leanings = np.stack([cosines(together, group).mean(axis=1) for group in self.groups], axis=1)
        differences = [leanings[:, i] - leanings[:, j] for i, j in combinations(range(len(self.groups)), 2)]
        means = [cosines(np.eye(group.shape[1]), group).mean(axis=1) for group in self.groups]
        return Truth(
            leanings,
            bias=float(np.max(np.abs(differences))),
            skew=float(max(abs(d.mean()) for d in differences)),
            stereotype=float(max(np.ptp(d) for d in differences)),
            ordered=len(self.words) == 2
            and bool(
                differences[0][: len(self.words[0])].min() >= differences[0][len(self.words[0]) :].max()
            ),
            groups_differ=bool(min(np.abs(a - b).max() for a, b in combinations(means, 2)) > EXACT),
        )


@dataclass(frozen=True)
class Truth:
    """What is true of a setting: s(w, A) (words, groups), and the largest difference between two groups.

    bias of a word; skew of the words' mean; stereotype between two words.
    """

    leanings: np.ndarray
    bias: float
    skew: float
    stereotype: float
    ordered: bool
    groups_differ: bool


@dataclass(frozen=True)
class Example:
    """Settings that refute a property, with the values there: one, or two whose values contradict each other.

    A setting of "comparable" has the words of the smallest and of the largest value as its two sets of words.
    """

    settings: tuple[Setting, ...]
    values: tuple[tuple[float, ...], ...]
    statement: str


@dataclass(frozen=True)
class Verdict:
    """Whether a metric has a property. `tried` is how many settings were measured."""

    metric: str
    label: str
    level: str
    property: str
    condition: str
    holds: str
    paper: str
    tried: int
    note: str
    neutral: float
    example: Example | None = field(default=None, repr=False)

    @property
    def key(self) -> str:
        return ": ".join(filter(None, (self.label, self.level, self.property, self.condition and "ordered")))


def vectors(*rows: Sequence[float]) -> np.ndarray:
    return np.array(rows, dtype=float)


EAST, WEST, NORTH = vectors((1, 0)), vectors((-1, 0)), vectors((0, 1))


def _at(*degrees: float) -> np.ndarray:
    return np.stack([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], axis=1).round(15)


def _crossed(r: float) -> Sets:
    """P31's pairs, which differ along (-1, r) and along (-1, -r); the groups' means along (1, 0)."""
    return vectors((-1, r), (-1, -r)), vectors((1, -r), (1, r))


SCATTERED = vectors((0.6, 0.8), (0.6, -0.8)), vectors((1, 0), (1, 0))
FANNED = vectors((0.6, 0.8), (0.6, -0.8)), vectors((0, 1), (0, 1))
UNEQUAL = vectors((1, 0)), vectors((0, 2))

# P04 to P47 are the paper's and the specification's; the others examine what its metrics have in common: unit length
CATALOGUE = (
    Setting("a word in the middle (P04)", (EAST, NORTH), (vectors((1, 1)),)),
    Setting("a word beside the middle (P04)", (EAST, NORTH), (vectors((1, 0.9)),)),
    Setting("a biased word between opposite groups (P20)", (EAST, WEST), (vectors((0.6, 0.8)),)),
    Setting("words in the middle of near groups (P21)", (_at(0), _at(60)), (_at(30), _at(30))),
    Setting("words that lean apart (P24)", (EAST, WEST), (vectors((0.6, 0.8)), vectors((-0.6, 0.8)))),
    Setting("words that lean one way (P24)", (EAST, WEST), (vectors((0.6, 0.8)), vectors((0.6, -0.8)))),
    Setting(
        "sets that lean alike (P12)",
        (EAST, WEST),
        (vectors((0.6, 0.8), (0.8, 0.6)), vectors((0.6, -0.8), (0.8, -0.6))),
    ),
    Setting(
        "sets with words of both leanings (P06)",
        (EAST, WEST),
        (vectors((0.6, 0.8), (-0.6, 0.8)), vectors((0.6, -0.8), (-0.6, -0.8))),
    ),
    Setting(
        "sets with words of both leanings, in space (P06)",
        (vectors((1, 0, 0)), vectors((0, 1, 0))),
        (vectors((0.8, 0, 0.6), (0, 0.8, 0.6)), vectors((0.8, 0, -0.6), (0, 0.8, -0.6))),
    ),
    Setting(
        "four times the same word (P05)",
        (EAST, NORTH),
        (vectors((0.8, 0.6), (0.8, 0.6)), vectors((0.8, 0.6), (0.8, 0.6))),
    ),
    Setting("crossed pairs, word across (P31)", _crossed(2), (vectors((0, 1)),)),
    Setting("crossed pairs, words one way (P31b)", _crossed(2), (vectors((1, 0)), vectors((1, 0)))),
    Setting("crossed pairs, words apart (P31b)", _crossed(2), (vectors((1, 0)), vectors((-1, 0)))),
    Setting("flat crossed pairs (P32)", _crossed(0.5), (vectors((1, 0)), vectors((0, 1)))),
    Setting(
        "words that lean one way (P47)",
        (EAST, WEST),
        (vectors((0.5, 0.75**0.5)), vectors((0.5, 0.75**0.5))),
    ),
    Setting("words in one order", (EAST, NORTH), (vectors((-0.6, -0.8)), vectors((1, 0)))),
    Setting("a group more scattered than the other", SCATTERED, (vectors((1, 0)), vectors((0.6, 0.8)))),
    Setting(
        "a group that cancels out",
        (vectors((1, 0), (-1, 0)), vectors((0, 1), (0, 1))),
        (vectors((0.6, 0.8)), vectors((0.8, 0.6))),
    ),
    Setting(
        "pairs, of which one differs otherwise",
        (vectors((1, 0), (0, 1)), vectors((-1, 0), (0, -1))),
        (vectors((0, 1)), vectors((0, 1))),
    ),
    Setting(
        "a word that is in both groups",
        (vectors((1, 0), (0, 1)), vectors((1, 0), (0, -1))),
        (vectors((1, 0), (0.6, 0.8)), vectors((0, 1), (-0.6, 0.8))),
    ),
    Setting(
        "a word leans more than another leans back",
        (EAST, WEST),
        (vectors((1, 0)), vectors((-0.6, 0.8))),
    ),
    Setting(
        "two words that lean, against one that leans more",
        (EAST, WEST),
        (vectors((7**0.5 / 4, 0.75), (7**0.5 / 4, -0.75)), vectors((-1, 0))),
    ),
    Setting(
        "pairs, of which one differs otherwise, words apart",
        (vectors((1, 0), (0, 1)), vectors((-1, 0), (0, -1))),
        (vectors((0, 1)), vectors((0, -1))),
    ),
    Setting("a scattered group, words across", FANNED, (vectors((1, 1)), vectors((1, 1)))),
    Setting("a scattered group, words apart", FANNED, (vectors((1, 1)), vectors((-1, -1)))),
    Setting(
        "sets of unequal size",
        (EAST, WEST),
        (vectors((1, 0)), vectors((0.5, 0.75**0.5), (0.5, -(0.75**0.5)))),
    ),
    Setting(
        "a group more scattered than the other, words across", SCATTERED, (vectors((0, 1)), vectors((0, -1)))
    ),
    Setting("groups of unequal length, words in the middle", UNEQUAL, (vectors((1, 1)), vectors((2, 2)))),
    Setting("groups of unequal length, words across", UNEQUAL, (vectors((2, 1)), vectors((2, 1)))),
    Setting("groups of unequal length, biased words", UNEQUAL, (vectors((0.5, 1)), vectors((-1.5, 0)))),
    Setting("words of unequal length", (EAST, WEST), (vectors((1, 0), (1, 0)), vectors((-2, 0)))),
    Setting("as far along, at unequal length", (EAST, WEST), (vectors((0.6, 0.8)), vectors((0.6, 0)))),
    Setting("a pair of unequal length (P33)", (vectors((2, 0)), vectors((0, 1))), (vectors((1, 2)),)),
    Setting(
        "groups with one mean, of unequal length",
        (vectors((2, 0), (0, 2)), vectors((1, 1), (1, 1))),
        (vectors((1, 0)), vectors((1, 1))),
    ),
    Setting("three groups around the middle (P46)", (_at(0), _at(120), _at(240)), (_at(45),)),
    Setting(
        "three groups, words off their plane (P45)",
        tuple(vectors(row) for row in np.eye(3)),
        (vectors((1, 1, 1)), vectors((-2, -2, -2))),
    ),
)

# groups whose largest and smallest values are compared, all of two words: where one is listed twice, of the same
COMPARED = {
    "opposite groups": (np.repeat(EAST, 2, axis=0), np.repeat(WEST, 2, axis=0)),
    "groups at 90°": (np.repeat(EAST, 2, axis=0), np.repeat(NORTH, 2, axis=0)),
    "groups at 60°": (_at(0, 0), _at(60, 60)),
    "crossed pairs": _crossed(2),
    "flat crossed pairs": _crossed(0.5),
    "groups of unequal length": tuple(np.repeat(group, 2, axis=0) for group in UNEQUAL),
    "a group more scattered than the other": SCATTERED,
    "a group that cancels out": (vectors((1, 0), (-1, 0)), vectors((0, 1), (0, 1))),
    "a word that is in both groups": (vectors((1, 0), (0, 1)), vectors((1, 0), (0, -1))),
}

# what the paper's theorems and tables 1 and 7 say; the ticks of its conversion to text are lost, and these follow
# from the theorems. WEAT's effect size is stereotype-sensitive where sets are ordered
PAPER = {
    ("weat", WORD): {"comparable": NO, "trustworthy": YES},
    ("weat_es", SET): {"comparable": YES, "trustworthy": NO, "skew": NO, "stereotype": NO, ORDERED: YES},
    ("mac", WORD): {"comparable": NO, "trustworthy": NO},
    ("mac", SET): {"comparable": NO, "trustworthy": NO, "skew": NO, "stereotype": NO},
    ("direct_bias", WORD): {"comparable": YES, "trustworthy": NO},
    ("direct_bias", SET): {"comparable": YES, "trustworthy": NO, "skew": NO, "stereotype": NO},
    ("same", WORD): {"comparable": YES, "trustworthy": YES},
    ("same", SET): {"comparable": YES, "trustworthy": YES, "skew": YES, "stereotype": YES},
    ("same_stereotype", SET): {"comparable": YES, "trustworthy": NO, "skew": NO, "stereotype": YES},
    ("same_skew", SET): {"comparable": YES, "trustworthy": NO, "skew": YES, "stereotype": NO},
}

_COSINE = "of one word it is cos(w, a - b), which words along a - b and across it bring to its ends and to 0"
_SAME_VALUE = "it has a value wherever the groups' means of unit vectors differ"
_UNIT = "all vectors are taken at unit length"
# (metric, parameters, level) -> property -> why it holds. Level None: both
ARGUMENTS: dict[tuple[str, str, str | None], dict[str, str]] = {
    ("weat", "", WORD): {"trustworthy": "the value is s(w, A) - s(w, B) itself"},
    ("weat", "", None): {"defined": "a sum of cosines", "length_free": _UNIT},
    ("weat_es", "", SET): {
        "comparable": "of sets of one size, it is 2 where all of X lean alike and all of Y alike, and less, whatever "
        "the groups; so it is -2",
        ORDERED: "the mean of X is above that of Y unless all words lean alike",
        "length_free": _UNIT,
    },
    ("generalized_weat", "", SET): {
        ORDERED: "the mean of X is above that of Y unless all words lean alike",
        "defined": "a sum of cosines",
        "length_free": _UNIT,
    },
    ("mac", "", None): {"defined": "a mean of cosines", "length_free": _UNIT},
    ("rnd", "distance: norm", None): {"defined": "a mean of distances"},
    ("direct_bias", "direction: pca", None): {
        "comparable": "|cos(w, g)| is 1 along the direction and 0 across it, wherever it points",
        "length_free": _UNIT,
    },
    ("direct_bias", "direction: pair", None): {
        "comparable": "|cos(w, g)| is 1 along the direction and 0 across it, wherever it points",
        "length_free": _UNIT,
    },
    ("direct_bias", "direction: sum", None): {
        "comparable": "|cos(w, g)| is 1 along the direction and 0 across it, wherever it points",
        "length_free": _UNIT,
    },
    ("direct_bias", "direction: mean", None): {
        "comparable": _COSINE,
        "trustworthy": "it is SAME",
        "skew": "it is SAME",
        "stereotype": "it is SAME",
        "defined": _SAME_VALUE,
        "length_free": _UNIT,
    },
    ("same", "", None): {
        "comparable": f"{_COSINE}; of more groups, where there are as many dimensions as groups",
        "trustworthy": "a mean of sizes, each 0 for a word that is as near to every group and for no other",
        "skew": "follows from trustworthy (theorem 1)",
        "stereotype": "follows from trustworthy (theorem 1)",
        "defined": _SAME_VALUE,
        "length_free": _UNIT,
    },
    ("same_skew", "", WORD): {"trustworthy": "of one word it is s(w, A) - s(w, B) over |a - b|"},
    ("same_skew", "", None): {
        "comparable": _COSINE,
        "skew": "it is the difference of the words' mean nearness to either group, over |a - b|",
        "defined": _SAME_VALUE,
        "length_free": _UNIT,
    },
    ("same_stereotype", "", None): {
        "comparable": "half the words along a - b and half against it give 1, words that lean alike 0; of one word "
        "it is 0 whatever the groups",
        "stereotype": "a standard deviation is 0 only where all words lean alike",
        "defined": _SAME_VALUE,
        "length_free": _UNIT,
    },
    ("sc_weat", "", None): {"length_free": _UNIT},
    ("nas", "", None): {"length_free": _UNIT},
    ("semaxis", "", None): {
        "comparable": "cos(w, V) is 1 along the axis and -1 against it, wherever it points"
    },
    ("ripa", "", None): {
        "comparable": "of words of length 1 the inner product with a relation vector, of length 1, too, is 1 along "
        "it and -1 against it, wherever it points"
    },
    ("rnsb", "holdout: false", SET): {
        "defined": "the classifier's probabilities are above 0, of vectors that are not so long that they round to it"
    },
}


def examine(registry: Mapping[str, Metric] = REGISTRY) -> list[Verdict]:
    """Every metric's properties, those of a metric's one word before those of several."""
    return [
        verdict
        for metric in registry.values()
        for parameters in VARIANTS.get(metric.name, [{}])
        for verdict in examine_metric(metric, parameters)
    ]


def examine_metric(metric: Metric, parameters: Mapping[str, Any] | None = None) -> list[Verdict]:
    """The properties of one metric, with these parameters.

    The order of what is tried decides which counterexample is kept: the catalogue's, then small whole numbers drawn
    at random, then what a descent to the neutral value finds.
    """
    parameters = dict(parameters or {})
    variant = ", ".join(f"{key}: {json.dumps(value).strip(chr(34))}" for key, value in parameters.items())
    label = metric.label + (f" ({variant})" if variant else "")
    metric = metric.under(parameters)
    if reason := _not_examined(metric):
        return [Verdict(metric.name, label, "", "", "", NOT_EXAMINED, "", 0, reason, metric.neutral)]
    verdicts = []
    for level in (WORD, SET):
        if level == WORD and _sides(metric)[1] == 2 and metric.name not in WORD_VALUES:
            continue
        found = _Search(metric, parameters, level).run()
        for (name, condition), (holds, example, tried) in found.items():
            paper, why = ({}, "")
            if parameters in VARIANTS.get(metric.name, [{}])[:1]:
                paper = PAPER.get((metric.name, level), {})
            for asked in (level, None):
                why = why or ARGUMENTS.get((metric.name, variant, asked), {}).get(condition or name, "")
            if holds == NOT_REFUTED and why:
                holds = YES
            verdicts.append(
                Verdict(
                    metric.name,
                    label,
                    level,
                    name,
                    condition,
                    holds,
                    paper.get(condition or name, ""),
                    tried,
                    example.statement if example else "it has no value" if holds == UNDEFINED else why,
                    metric.neutral,
                    example,
                )
            )
    return verdicts


def _sides(metric: Metric) -> tuple[int | str, int]:
    """How many groups the metric takes, and how many sets of words."""
    groups, words = metric.template if metric.groups == "targets" else metric.template[::-1]
    return groups, {"n": 1, "k": 2}.get(words, words)


def _not_examined(metric: Metric) -> str:
    groups, words = _sides(metric)
    if metric.name in OTHER_QUESTIONS:
        return OTHER_QUESTIONS[metric.name]
    if metric.of_model:
        return "it is of more than its words' vectors: it needs a whole model"
    if groups not in (2, "n", "k") or words > 2:
        return f"the properties are of words that are nearer to one of two groups; it takes {metric.template}"
    return ""


class _Search:
    """What refutes the properties of a metric of one word (level WORD) or of a set."""

    def __init__(self, metric: Metric, parameters: Mapping[str, Any], level: str):
        self.metric, self.parameters, self.level = metric, parameters, level
        self.groups, self.sets = _sides(metric)
        self.found: dict[tuple[str, str], Example] = {}
        self.undefined: dict[tuple[str, str], Example] = {}
        self.tried = dict.fromkeys(PROPERTIES, 0)
        self.asked = [(name, "") for name in (OF_ONE_WORD if level == WORD else PROPERTIES)]
        if level == SET and self.sets == 2:
            self.asked.insert(4, ("stereotype", ORDERED))

    def run(self) -> dict[tuple[str, str], tuple[str, Example | None, int]]:
        for setting in self._settings():
            self._try(setting)
        self._descend()
        self._compare()
        verdicts = {}
        for asked in self.asked:
            holds = NOT_REFUTED
            example = self.found.get(asked)
            if example:
                holds = NO
            elif (example := self.undefined.get(asked)) or not self.tried[asked[0]]:
                holds = UNDEFINED
            verdicts[asked] = holds, example, self.tried[asked[0]]
        return verdicts

    def value(self, groups: Sets, words: Sets) -> float:
        """The metric's own. NaN where it has none."""
        if self.level == SET and self.sets == 1:
            words = (np.concatenate(words),)
        elif self.level == WORD and self.sets == 2:
            words = words * 2
        sides = (words, groups) if self.metric.groups == "attributes" else (groups, words)
        with np.errstate(all="ignore"):
            score = self.metric.function(*map(list, sides), **self.parameters)
        if self.level == WORD and self.sets == 2:
            return float(score.detail[WORD_VALUES[self.metric.name]].values[0][0])
        return score.value

    def fits(self, setting: Setting) -> bool:
        if self.metric.paired and len(set(map(len, setting.groups))) > 1:
            return False
        if self.groups == 2 and len(setting.groups) > 2:
            return False
        if self.sets == 2 and self.groups == "k" and len(setting.groups) != 2:
            return False
        return self.level == WORD or len(setting.words) == 2

    def _settings(self) -> Iterable[Setting]:
        return filter(self.fits, (*CATALOGUE, *_drawn()) if self.level == SET else _of_one_word())

    def _try(self, setting: Setting) -> None:
        truth = setting.truth
        if not truth.groups_differ:
            return
        value = self.value(setting.groups, setting.words)
        neutral = self.metric.neutral
        off = abs(value - neutral)
        example = self._example(setting, value)
        biased, unbiased = truth.bias > CLEAR, truth.bias < EXACT
        # a property -> whether the setting is of it; where it is, whether it refutes it
        cases = [
            ("trustworthy", "", biased or unbiased, off < EXACT if biased else off > NEAR),
            ("skew", "", truth.skew > CLEAR, off < EXACT),
            ("stereotype", "", truth.stereotype > CLEAR, off < EXACT),
            ("stereotype", ORDERED, truth.stereotype > CLEAR and truth.ordered, off < EXACT),
        ]
        for name, condition, of_it, refutes in cases:
            if (name, condition) not in self.asked or not of_it:
                continue
            self.tried[name] += not condition
            kept = self.undefined if math.isnan(value) else self.found if refutes else None
            if kept is not None:
                kept.setdefault((name, condition), example(name))
        self.tried["defined"] += 1
        if math.isnan(value):
            self.found.setdefault(("defined", ""), example("defined"))
            return
        if ("length_free", "") in self.found:
            return
        self.tried["length_free"] += 1
        # readable factors, other for every vector
        longer = Setting(
            setting.name,
            *(
                tuple(
                    rows * (1 + (np.arange(len(rows))[:, None] + i) % 3) for i, rows in enumerate(sets, first)
                )
                for first, sets in ((1, setting.groups), (0, setting.words))
            ),
        )
        other = self.value(longer.groups, longer.words)
        if not abs(other - value) < NEAR:
            self.found["length_free", ""] = Example(
                (setting, longer),
                ((value,), (other,)),
                f"{setting.name}: {_number(value)}, and {_number(other)} with longer vectors of the same directions",
            )

    def _example(self, setting: Setting, value: float) -> Callable[[str], Example]:
        def of(name: str) -> Example:
            return Example((setting,), ((value,),), self._statement(name, setting, value))

        return of

    def _statement(self, name: str, setting: Setting, value: float) -> str:
        truth = setting.truth
        if math.isnan(value):
            says = "no value"
        elif abs(value - self.metric.neutral) < NEAR:
            says = f"{_number(self.metric.neutral)}, which is neutral,"
        else:
            says = f"{_number(value)}, not the neutral {_number(self.metric.neutral)},"
        true = {
            "skew": f"words lean {_number(truth.skew)} to one group on average",
            "stereotype": f"words' leanings differ by {_number(truth.stereotype)}",
        }.get(name)
        if true is None:
            word = "the word" if self.level == WORD else "every word"
            biased = (
                "the word is nearer to one group"
                if self.level == WORD
                else f"a word is nearer to one group by {_number(truth.bias)}"
            )
            true = biased if truth.bias > EXACT else f"{word} is as near to either group"
        link = "though" if not math.isnan(value) else "where"
        return f"{setting.name}: {says} {link} {true}"

    def _descend(self) -> None:
        """From words drawn at random down to the neutral value: is there bias left?"""
        wanted = [asked for asked in self.asked if asked[0] in ("trustworthy", "skew", "stereotype")]
        if all(asked in self.found for asked in wanted):
            return
        from scipy.optimize import minimize  # takes half a second

        rng = np.random.default_rng(SEED)
        together: list[Callable[[np.ndarray], Sets]] = [lambda w: (w,)]
        if self.level == SET:
            # one word and its opposite, in the ways that they make two sets; and four words
            together = [
                lambda w: (np.concatenate([w, w]), np.concatenate([w, w])),
                lambda w: (np.concatenate([w, w]), np.concatenate([-w, -w])),
                lambda w: (np.concatenate([w, -w]), np.concatenate([w, -w])),
                lambda w: (w[:2], w[2:]),
            ]
        for arrange, attempt in product(together, range(DESCENTS)):
            shape = (4 if arrange is together[-1] and self.level == SET else 1, 2 + attempt % 2)
            groups = tuple(rng.normal(size=(2, 2, shape[1])))

            def off(flat: np.ndarray, groups: Sets = groups, arrange=arrange, shape=shape) -> float:
                distance = abs(self.value(groups, arrange(flat.reshape(shape))) - self.metric.neutral)
                return distance if math.isfinite(distance) else 1e9

            start, options = rng.normal(size=shape).ravel(), {"fatol": 1e-13, "xatol": 1e-13, "maxfev": 600}
            reached = minimize(off, start, method="Nelder-Mead", options=options).x
            self._try(Setting("found by descent", groups, arrange(reached.reshape(shape))))

    def _compare(self) -> None:
        """The range of values for words of unit length in the plane, of groups that fit."""
        asked = ("comparable", "")
        ranges: list[tuple[str, Sets, Any, Any]] = []
        for name, groups in COMPARED.items():
            if not self.fits(Setting(name, groups, groups)):
                continue
            low, high = self._extremes(groups)
            if low is None:
                continue
            ranges.append((name, groups, low, high))
            if self._differ(ranges[0], ranges[-1]):
                # only if it is not that one's extremes lie between the directions that were tried
                ranges[0], ranges[-1] = (self._sharper(*found) for found in (ranges[0], ranges[-1]))
                if self._differ(ranges[0], ranges[-1]):
                    self.found[asked] = self._compared(ranges[0], ranges[-1])
                    return
        if not ranges:
            # no value at all of any word
            self.tried["comparable"] = 0

    def _differ(self, one, other) -> bool:
        return any(abs(a[0] - b[0]) > CLEAR for a, b in zip(one[2:], other[2:], strict=True))

    def _sharper(self, name: str, groups: Sets, *extremes):
        """The extremes of words whose directions are moved on from those that were tried."""
        from scipy.optimize import minimize  # takes half a second

        found = []
        for sign, (value, words) in zip((1, -1), extremes, strict=True):
            rows = np.concatenate(words)
            ends = np.cumsum([len(part) for part in words])[:-1]

            def moved(angles: np.ndarray, ends=ends) -> Sets:
                return tuple(np.split(_at(*np.degrees(angles)), ends))

            def cost(angles: np.ndarray, sign=sign, moved=moved) -> float:
                at = self.value(groups, moved(angles))
                return sign * at if math.isfinite(at) else math.inf

            start = np.arctan2(rows[:, 1], rows[:, 0])
            best = minimize(cost, start, method="Nelder-Mead", options={"fatol": 1e-12, "xatol": 1e-9})
            better = best.fun < sign * value - NEAR
            found.append((sign * best.fun, moved(best.x)) if better else (value, words))
        return name, groups, *found

    def _compared(self, *ranges) -> Example:
        settings, values, said = [], [], []
        for name, groups, (low, at_low), (high, at_high) in ranges:
            settings.append(Setting(name, groups, (np.concatenate(at_low), np.concatenate(at_high))))
            values.append((low, high))
            said.append(f"{name}: {_number(low)} to {_number(high)}")
        return Example(tuple(settings), tuple(values), "; ".join(said))

    def _extremes(self, groups: Sets):
        """(value, words) of the smallest and of the largest value: one word, two, or two sets of two."""
        angles = np.unique(np.round([*np.arange(0, 360, 30), *_angles(groups)], 9) % 360)
        points = _at(*angles)
        found = []
        if self.level == WORD:
            tuples = [(p[None],) for p in points]
        else:
            many = 1 if self.sets == 1 else 2
            tuples = [
                (np.repeat(p[None], many, axis=0), np.repeat(q[None], many, axis=0))
                for p, q in product(points, points)
            ]
        for words in tuples:
            value = self.value(groups, words)
            self.tried["comparable"] += 1
            if math.isfinite(value):
                found.append((value, words))
        if not found:
            return None, None
        return min(found, key=lambda pair: round(pair[0], 9)), max(found, key=lambda pair: round(pair[0], 9))


def _angles(groups: Sets) -> list[float]:
    """Directions that extremes are likely to lie in, in degrees: of groups and of their differences, and across."""
    units = [group / np.linalg.norm(group, axis=1, keepdims=True) for group in groups]
    candidates = [group.mean(axis=0) for group in (*groups, *units)]
    for a, b in (groups, units):
        normalised = [m / (np.linalg.norm(m) or 1.0) for m in (a.mean(axis=0), b.mean(axis=0))]
        candidates += [a.mean(axis=0) - b.mean(axis=0), a[0] - b[0], normalised[0] - normalised[1]]
    angles = [math.degrees(math.atan2(y, x)) for x, y in candidates if math.hypot(x, y) > EXACT]
    return [(angle + turn) % 360 for angle in angles for turn in (0, 90, 180, 270)]


@cache
def _drawn() -> tuple[Setting, ...]:
    """Groups and words of small whole numbers, and words that are as near to one group as to the other."""
    rng = np.random.default_rng(SEED)

    def rows(n: int, dimensions: int) -> np.ndarray:
        while True:
            drawn = rng.integers(-2, 3, size=(n, dimensions)).astype(float)
            if drawn.any(axis=1).all():
                return drawn

    settings = []
    for i in range(DRAWN):
        dimensions = 2 + i % 2
        sizes = ((1, 1), (2, 2), (1, 2), (1, 1, 1))[i // 2 % 4]
        groups = tuple(rows(n, dimensions) for n in sizes)
        words = rows(4, dimensions)
        if i % 3 == 0:
            # off the span of differences between the groups' means, at any length
            means = np.stack([(g / np.linalg.norm(g, axis=1, keepdims=True)).mean(axis=0) for g in groups])
            _, lengths, axes = np.linalg.svd(means[1:] - means[0], full_matrices=False)
            axes = axes[lengths > EXACT]
            words = words - words @ axes.T @ axes
            if (np.linalg.norm(words, axis=1) < CLEAR).any():
                continue
        settings.append(Setting("found by search", groups, (words[:2], words[2:])))
    return tuple(settings)


@cache
def _of_one_word() -> tuple[Setting, ...]:
    """The catalogue's settings with each of their words alone, and the drawn ones with their first."""
    return tuple(
        Setting(setting.name, setting.groups, (word[None],))
        for settings, words in ((CATALOGUE, None), (_drawn(), 1))
        for setting in settings
        for word in dict.fromkeys(map(tuple, np.concatenate(setting.words)[:words]))
        for word in [np.array(word)]
    )


def _number(value: float) -> str:
    if math.isnan(value):
        return "no value"
    # rounding noise is 0, and 0 has no sign
    return f"{value if abs(value) > 1e-12 else 0.0:.3g}".replace("-", "−")


def write(verdicts: Sequence[Verdict], folder: Path) -> list[str]:
    """Write properties.csv, counterexamples.json, properties.md and the figures; returns their paths."""
    from .figures.layout import save
    from .figures.properties import counterexamples, matrix

    rows, text = table(verdicts), io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    files = {
        "properties.csv": text.getvalue(),
        "counterexamples.json": dumps(examples(verdicts), indent=1) + "\n",
        "properties.md": markdown(verdicts),
    }
    for name, content in files.items():
        write_text(folder / name, content)
    figures = {"properties": matrix(verdicts), "counterexamples": counterexamples(verdicts)}
    drawn = [path for name, figure in figures.items() for path in save(figure, folder / name)]
    return [str(folder / name) for name in files] + drawn


def table(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """Rows of properties.csv."""
    return [
        {
            "metric": v.metric,
            "label": v.label,
            "level": v.level,
            "property": v.property,
            "condition": v.condition,
            "holds": v.holds,
            "paper": v.paper,
            "construction": v.example.settings[0].name if v.example else "",
            "tried": v.tried,
            "note": v.note,
        }
        for v in verdicts
    ]


def examples(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The counterexamples, vectors and values: of one setting, or of two whose values contradict each other.

    `nearness` is s(w, A), a row a word, in the order of the sets of words. Of "comparable", the two sets of words are
    those of the smallest and of the largest value.
    """
    return {
        v.key: {
            "metric": v.metric,
            "statement": v.note,
            "settings": [
                as_finite(
                    {
                        "name": setting.name,
                        "groups": _rows_of(setting.groups),
                        "words": _rows_of(setting.words),
                        "nearness": setting.truth.leanings.round(12).tolist(),
                        "values": [round(value, 12) + 0.0 for value in values],
                    }
                )
                for setting, values in zip(v.example.settings, v.example.values, strict=True)
            ],
        }
        for v in verdicts
        if v.example
    }


def markdown(verdicts: Sequence[Verdict]) -> str:
    """The matrix, and below it the counterexamples: docs/property-matrix.md."""
    lines = ["# The property matrix, and its counterexamples", ""]
    lines += ["Made by `biasgrid properties`; [properties.md](properties.md) says what it means.", ""]
    lines += [
        "| metric | of | " + " | ".join(SHORT.values()) + " |",
        "|" + " --- |" * (len(SHORT) + 2),
    ]
    for (label, level), row in by_row(verdicts).items():
        cells = [_cell(row.get((name, "")), row.get((name, ORDERED))) for name in PROPERTIES]
        lines.append(f"| {label} | {level} | {' | '.join(cells)} |")
    lines += [f"\n{v.label} is not examined: {v.note}." for v in verdicts if v.holds == NOT_EXAMINED]
    lines += ["", "## Counterexamples", ""]
    lines += ["| metric | of | property | where | groups | words | value |", "|" + " --- |" * 7]
    for v in verdicts:
        for setting, values in zip(v.example.settings, v.example.values, strict=True) if v.example else ():
            groups, words = (_written(sets) for sets in (setting.groups, setting.words))
            if v.property == "comparable":
                shown = f"{_number(values[0])} to {_number(values[1])}"
            else:
                shown = _number(values[0])
            name = SHORT[v.property] + (", sets ordered" if v.condition else "")
            lines.append(
                f"| {v.label} | {v.level} | {name} | {setting.name} | {' and '.join(groups)} | "
                f"{'; '.join(words)} | {shown} |"
            )
    return "\n".join(lines) + "\n"


def by_row(verdicts: Sequence[Verdict]) -> dict[tuple[str, str], dict[tuple[str, str], Verdict]]:
    """(label, level) -> (property, condition) -> verdict, of what was examined."""
    rows: dict[tuple[str, str], dict[tuple[str, str], Verdict]] = {}
    for v in verdicts:
        if v.holds != NOT_EXAMINED:
            rows.setdefault((v.label, v.level), {})[v.property, v.condition] = v
    return rows


def _cell(verdict: Verdict | None, ordered: Verdict | None) -> str:
    if verdict is None:
        return ""
    text = f"**{verdict.holds}**" if verdict.paper else verdict.holds
    if ordered and ordered.holds != verdict.holds:
        text += f"; if ordered **{ordered.holds}**" if ordered.paper else f"; if ordered {ordered.holds}"
    return text


def _rows_of(sets: Sets) -> list[list[list[float]]]:
    return [(rows.round(12) + 0.0).tolist() for rows in sets]


def _written(sets: Sets) -> list[str]:
    return [" ".join("(" + ", ".join(map(_number, row)) + ")" for row in rows) for rows in sets]
