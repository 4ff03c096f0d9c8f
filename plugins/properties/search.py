"""Search for counterexamples to a metric's properties."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np

from biasgrid.metrics.one_word import KEEP
from biasgrid.metrics.registry import Metric

from .numbers import number
from .questions import (
    NO,
    NOT_REFUTED,
    OF_ONE_WORD,
    ORDERED,
    PROPERTIES,
    SET,
    UNDEFINED,
    WORD,
    WORD_VALUES,
)
from .settings import (
    CATALOGUE,
    CLEAR,
    COMPARED,
    EXACT,
    SEED,
    Sets,
    Setting,
    draw_settings,
    make_one_word_settings,
    unit_vectors,
)
from .verdicts import Example

NEAR, DESCENTS = 1e-6, 3


def sides(metric: Metric) -> tuple[int | str, int]:
    """Return the number of groups that the metric takes, and the number of sets of words."""
    groups, words = metric.template if metric.groups == "targets" else metric.template[::-1]
    return groups, words if isinstance(words, int) else {"n": 1, "k": 2}[words]


class Search:
    """Search for counterexamples to the properties of a metric, for one word (level WORD) or for a set."""

    def __init__(self, metric: Metric, parameters: Mapping[str, Any], level: str):
        self.metric, self.parameters, self.level = metric, dict(parameters), level
        if "one_word" in metric.parameters:
            # The paper's theorems hold for sets of any size.
            self.parameters["one_word"] = KEEP
        self.groups, self.sets = sides(metric)
        self.counterexamples: dict[tuple[str, str], Example] = {}
        self.undefined: dict[tuple[str, str], Example] = {}
        self.counts = dict.fromkeys(PROPERTIES, 0)
        self.questions = [(name, "") for name in (OF_ONE_WORD if level == WORD else PROPERTIES)]
        if level == SET and self.sets == 2:
            self.questions.insert(4, ("stereotype", ORDERED))

    def run(self) -> dict[tuple[str, str], tuple[str, Example | None, int]]:
        for setting in self._settings():
            self._examine(setting)
        self._descend()
        self._compare_ranges()
        verdicts = {}
        for question in self.questions:
            holds = NOT_REFUTED
            example = self.counterexamples.get(question)
            if example:
                holds = NO
            elif (example := self.undefined.get(question)) or not self.counts[question[0]]:
                holds = UNDEFINED
            verdicts[question] = holds, example, self.counts[question[0]]
        return verdicts

    def value(self, groups: Sets, words: Sets) -> float:
        """Compute the metric's own value, NaN if undefined."""
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
        return filter(
            self.fits, (*CATALOGUE, *draw_settings()) if self.level == SET else make_one_word_settings()
        )

    def _examine(self, setting: Setting) -> None:
        truth = setting.truth
        if not truth.groups_differ:
            return
        value = self.value(setting.groups, setting.words)
        neutral = self.metric.neutral
        distance = abs(value - neutral)
        example = partial(self._example, setting, value)
        is_biased, is_unbiased = truth.bias > CLEAR, truth.bias < EXACT
        # Each case has a property, whether it applies to the setting, and whether the setting would refute it.
        cases = [
            ("trustworthy", "", is_biased or is_unbiased, distance < EXACT if is_biased else distance > NEAR),
            ("skew", "", truth.skew > CLEAR, distance < EXACT),
            ("stereotype", "", truth.stereotype > CLEAR, distance < EXACT),
            ("stereotype", ORDERED, truth.stereotype > CLEAR and truth.is_ordered, distance < EXACT),
        ]
        for name, condition, applies, refutes in cases:
            if (name, condition) not in self.questions or not applies:
                continue
            self.counts[name] += not condition
            store = self.undefined if math.isnan(value) else self.counterexamples if refutes else None
            if store is not None:
                store.setdefault((name, condition), example(name))
        self.counts["defined"] += 1
        if math.isnan(value):
            self.counterexamples.setdefault(("defined", ""), example("defined"))
            return
        if ("length_free", "") in self.counterexamples:
            return
        self.counts["length_free"] += 1
        # Use readable factors that differ between vectors.
        longer = Setting(
            setting.name,
            *(
                tuple(
                    rows * (1 + (np.arange(len(rows))[:, None] + i) % 3) for i, rows in enumerate(sets, first)
                )
                for first, sets in ((1, setting.groups), (0, setting.words))
            ),
        )
        longer_value = self.value(longer.groups, longer.words)
        if not abs(longer_value - value) < NEAR:
            self.counterexamples["length_free", ""] = Example(
                (setting, longer),
                ((value,), (longer_value,)),
                f"{setting.name}: {number(value)}, and {number(longer_value)} with longer vectors of the same "
                "directions",
            )

    def _example(self, setting: Setting, value: float, name: str) -> Example:
        return Example((setting,), ((value,),), self._statement(name, setting, value))

    def _statement(self, name: str, setting: Setting, value: float) -> str:
        truth = setting.truth
        if math.isnan(value):
            value_text = "no value"
        elif abs(value - self.metric.neutral) < NEAR:
            value_text = f"{number(self.metric.neutral)}, which is neutral,"
        else:
            value_text = f"{number(value)}, not the neutral {number(self.metric.neutral)},"
        bias_text = {
            "skew": f"words are closer to one group by {number(truth.skew)} on average",
            "stereotype": f"words' associations differ by {number(truth.stereotype)}",
        }.get(name)
        if bias_text is None:
            word = "the word" if self.level == WORD else "every word"
            lean_text = (
                "the word is nearer to one group"
                if self.level == WORD
                else f"a word is nearer to one group by {number(truth.bias)}"
            )
            bias_text = lean_text if truth.bias > EXACT else f"{word} is as near to either group"
        link = "though" if not math.isnan(value) else "where"
        return f"{setting.name}: {value_text} {link} {bias_text}"

    def _descend(self) -> None:
        """Descend from random words to the no-bias value, and examine whether bias is left there."""
        questions = [
            question for question in self.questions if question[0] in ("trustworthy", "skew", "stereotype")
        ]
        if all(question in self.counterexamples for question in questions):
            return
        # Import scipy late: the import takes half a second.
        from scipy.optimize import minimize

        rng = np.random.default_rng(SEED)
        arrangements: list[Callable[[np.ndarray], Sets]] = [lambda w: (w,)]
        if self.level == SET:
            # Arrange one word and its opposite in all ways that make two sets; then take four words.
            arrangements = [
                lambda w: (np.concatenate([w, w]), np.concatenate([w, w])),
                lambda w: (np.concatenate([w, w]), np.concatenate([-w, -w])),
                lambda w: (np.concatenate([w, -w]), np.concatenate([w, -w])),
                lambda w: (w[:2], w[2:]),
            ]
        for arrange, attempt in product(arrangements, range(DESCENTS)):
            shape = (4 if arrange is arrangements[-1] and self.level == SET else 1, 2 + attempt % 2)
            groups = tuple(rng.normal(size=(2, 2, shape[1])))

            def objective(flat: np.ndarray, groups: Sets = groups, arrange=arrange, shape=shape) -> float:
                distance = abs(self.value(groups, arrange(flat.reshape(shape))) - self.metric.neutral)
                return distance if math.isfinite(distance) else 1e9

            start, options = rng.normal(size=shape).ravel(), {"fatol": 1e-13, "xatol": 1e-13, "maxfev": 600}
            solution = minimize(objective, start, method="Nelder-Mead", options=options).x
            self._examine(Setting("found by descent", groups, arrange(solution.reshape(shape))))

    def _compare_ranges(self) -> None:
        """Compare the ranges of values for words of unit length in the plane, between groups that fit."""
        question = ("comparable", "")
        ranges: list[tuple[str, Sets, Any, Any]] = []
        for name, groups in COMPARED.items():
            if not self.fits(Setting(name, groups, groups)):
                continue
            low, high = self._extremes(groups)
            if low is None:
                continue
            ranges.append((name, groups, low, high))
            if self._differ(ranges[0], ranges[-1]):
                # Search more precisely, as the extremes may lie between the directions that were tried.
                ranges[0], ranges[-1] = (self._refine_extremes(*entry) for entry in (ranges[0], ranges[-1]))
                if self._differ(ranges[0], ranges[-1]):
                    self.counterexamples[question] = self._range_example(ranges[0], ranges[-1])
                    return
        if not ranges:
            # The metric is undefined for all words.
            self.counts["comparable"] = 0

    def _differ(self, first, second) -> bool:
        return any(abs(a[0] - b[0]) > CLEAR for a, b in zip(first[2:], second[2:], strict=True))

    def _refine_extremes(self, name: str, groups: Sets, *extremes):
        """Improve the extremes by moving the words' directions."""
        # Import scipy late: the import takes half a second.
        from scipy.optimize import minimize

        refined = []
        for sign, (value, words) in zip((1, -1), extremes, strict=True):
            rows = np.concatenate(words)
            ends = np.cumsum([len(part) for part in words])[:-1]

            def turn_words(angles: np.ndarray, ends=ends) -> Sets:
                return tuple(np.split(unit_vectors(*np.degrees(angles)), ends))

            def cost(angles: np.ndarray, sign=sign, turn_words=turn_words) -> float:
                score = self.value(groups, turn_words(angles))
                return sign * score if math.isfinite(score) else math.inf

            start = np.arctan2(rows[:, 1], rows[:, 0])
            best = minimize(cost, start, method="Nelder-Mead", options={"fatol": 1e-12, "xatol": 1e-9})
            better = best.fun < sign * value - NEAR
            refined.append((sign * best.fun, turn_words(best.x)) if better else (value, words))
        return name, groups, *refined

    def _range_example(self, *ranges) -> Example:
        settings, values, texts = [], [], []
        for name, groups, (low, at_low), (high, at_high) in ranges:
            settings.append(Setting(name, groups, (np.concatenate(at_low), np.concatenate(at_high))))
            values.append((low, high))
            texts.append(f"{name}: {number(low)} to {number(high)}")
        return Example(tuple(settings), tuple(values), "; ".join(texts))

    def _extremes(self, groups: Sets):
        """Return (value, words) of the smallest and of the largest value: one word, two, or two sets of two."""
        angles = np.unique(np.round([*np.arange(0, 360, 30), *_angles(groups)], 9) % 360)
        points = unit_vectors(*angles)
        candidates = []
        if self.level == WORD:
            tuples: list[tuple[np.ndarray, ...]] = [(p[None],) for p in points]
        elif self.sets == 1:
            # The order of the words does not matter.
            tuples = [(p[None], q[None]) for p, q in combinations_with_replacement(points, 2)]
        else:
            tuples = [
                (np.repeat(p[None], 2, axis=0), np.repeat(q[None], 2, axis=0))
                for p, q in product(points, points)
            ]
        self.counts["comparable"] += len(points) if self.level == WORD else len(points) ** 2
        for words in tuples:
            value = self.value(groups, words)
            if math.isfinite(value):
                candidates.append((value, words))
        if not candidates:
            return None, None
        return min(candidates, key=lambda pair: round(pair[0], 9)), max(
            candidates, key=lambda pair: round(pair[0], 9)
        )


def _angles(groups: Sets) -> list[float]:
    """Return likely directions of extremes, in degrees: along groups and their differences, and across them."""
    units = [group / np.linalg.norm(group, axis=1, keepdims=True) for group in groups]
    candidates = [group.mean(axis=0) for group in (*groups, *units)]
    for a, b in (groups, units):
        unit_means = [m / (np.linalg.norm(m) or 1.0) for m in (a.mean(axis=0), b.mean(axis=0))]
        candidates += [a.mean(axis=0) - b.mean(axis=0), a[0] - b[0], unit_means[0] - unit_means[1]]
    angles = [math.degrees(math.atan2(y, x)) for x, y in candidates if math.hypot(x, y) > EXACT]
    return [(angle + turn) % 360 for angle in angles for turn in (0, 90, 180, 270)]
