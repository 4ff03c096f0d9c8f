"""The result of a metric on one query and one model, and its forms: text, notebook, JSON, table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

from ..core.errors import InputError, is_among, join_names, quote, unknown_name
from ..core.schema import as_finite
from ..core.wefe_names import RESULT
from .caveats import why_undefined
from .statistics.scale import EXCESS, NONE, Scale, Standardized, why_no_baseline

if TYPE_CHECKING:
    import pandas as pd

UNTESTED = "untested"  # evidence of a single result: see `measure.evidence`

# The scalar of metrics whose values grow with vector length: the mean length of the score's vectors.
LENGTH = "mean_length"
# The scalar of models in which words of a set share vectors: the number of different vectors among `words_used`.
VECTORS = "distinct_vectors"


@dataclass(frozen=True)
class Wording:
    """Labels and clauses that people read instead of a result's keys.

    Attributes
    ----------
    label
        The metric's label.
    neutral
        The no-bias value.
    above, below
        Clauses on values above and below it, with the sets' names; they may be empty.
    ends
        The names that a low value and a high value are closer to; empty if the sign does not show this.
    targets, attributes
        The names of the sets.
    exchanged, regrouped
        The sets that a permutation test shuffles and that random groups replace, as in `Metric`.
    tests
        The possible tests of words for the metric; empty if no inference was requested.
    """

    label: str = ""
    neutral: float = math.nan
    above: str = ""
    below: str = ""
    ends: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    exchanged: str = "targets"
    regrouped: str = "targets"
    tests: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Result:
    """The result of a metric on one query and one model.

    Attributes
    ----------
    query, metric, model
        Their names.
    value
        The metric's value, in its range; NaN if `status` is not "ok".
    status
        "ok"; "lost_words:<set>[;<set>]", the sets with too many missing words; "degenerate", if the metric is
        undefined for these vectors; "degenerate:one word", if two sets of one word each would fix the size of
        the value, whatever the words. `reason` explains it in a sentence.
    words_used
        Number of vectors found for its sets; for a metric of pairs, only of whole pairs.
    words_lost
        Number of distinct words of the sets that the model does not have.
    scalars
        Further numbers of the metric, by name.
    detail
        Values per word: name -> set -> vocabulary entry -> value, or column -> value.
    found
        The vocabulary entries of each word, by set and word.
    lost
        The distinct words that the model does not have, by set.
    forms
        The form in which a word was found, by set and word, if it is not the first of `preprocessors`, or if its
        vector is computed from n-grams.
    why_lost
        Reasons for missing words, by set and word, if they are more specific than "not in the vocabulary".
    same_vector
        Groups of words with different entries but the same vector, by set; tests treat them as different words.
    ci_low, ci_high
        The ends of the confidence interval over words; NaN if there is no value.
    interval
        The kind of interval: "jackknife", "percentile" or "bca"; empty if it was not requested.
    is_fixed
        Whether two sets of one word each fix the size of the value, which is kept nevertheless
        (`one_word="keep"`).
    inference
        The requested parts: tests by name, bootstrap, influence, halves, in the form of
        docs/reference/files.md; None if none was requested. `reasons` explains missing numbers.
    contrasts
        Contrasts of one group with another or the others: {"first", "second", "words", "values"}, the sets'
        names, None for the others together and for all words together; None if the metric does not have
        contrasts.
    evidence
        Significant tests of words: "all" tests of the metric, only "permutation", only "groups", "none",
        "out_of_reach" or "untested", as in a study's scores.csv. A single result does not belong to a family
        of tests, so its p-values are *not adjusted* for the number of tests that you make.
    standardized
        Standardised bias, in standard deviations of random groups: the bias magnitude minus the mean
        magnitude of random groups of the model; 0 means average, NaN without `random_groups`.
    no_baseline
        The reason, in a few words, if it is missing in spite of `random_groups`; `reasons["p_groups"]` is the
        sentence.
    standardized_low, standardized_high
        The ends of its interval, over words and over the random groups that were drawn; NaN without an interval.
    reliability
        Answers on the value's reliability, one mapping each (docs/intervals.md): question "score" with a
        bootstrap, "words" if `reliability` was requested; `verdict` is the answer in one word.
    tests
        The test of each column of p-values, for all tests. Each column is also an attribute: `p_value` of the
        permutation test, `p_groups` of the random-word baseline, `p_bands` of the frequency-stratified
        permutation test, `p_controls` of the test against frequency-matched control words; 0 to 1, NaN if the
        test was not requested or does not exist for the metric.
    wording
        Labels and clauses that people read instead of its keys.
    """

    query: str
    value: float
    status: str
    words_used: int
    words_lost: int
    scalars: dict[str, float]
    detail: dict[str, dict[str, dict[str, Any]]]
    found: dict[str, dict[str, list[str]]]
    lost: dict[str, list[str]]
    ci_low: float = math.nan
    ci_high: float = math.nan
    inference: dict[str, Any] | None = None
    contrasts: list[dict[str, Any]] | None = None
    metric: str = ""
    model: str = ""
    evidence: str = UNTESTED
    interval: str = ""
    is_fixed: bool = False
    tests: Mapping[str, str] = field(default_factory=dict)
    reliability: Sequence[Mapping[str, Any]] = ()
    forms: dict[str, dict[str, str]] = field(default_factory=dict)
    why_lost: dict[str, dict[str, str]] = field(default_factory=dict)
    same_vector: dict[str, list[list[str]]] = field(default_factory=dict)
    wording: Wording = Wording()

    if TYPE_CHECKING:  # the columns of the tests that come with biasgrid
        p_value: ClassVar[float]
        p_groups: ClassVar[float]
        p_bands: ClassVar[float]
        p_controls: ClassVar[float]
    else:

        def __getattr__(self, name: str) -> float:
            if name == "excess":
                raise AttributeError(EXCESS)
            if name not in (tests := vars(self).get("tests", {})):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            p_value = (self.inference or {}).get(tests[name], {}).get("p_value")
            return math.nan if p_value is None else p_value

        def __dir__(self) -> list[str]:
            return [*super().__dir__(), *self.tests]

    @property
    def standardized(self) -> float:
        """Return the standardised bias: 0 equals the mean of random groups of the model, NaN means no baseline."""
        return self._on_scale.value

    @property
    def standardized_low(self) -> float:
        """Return the lower end of the interval of `standardized`."""
        return self._on_scale.low

    @property
    def standardized_high(self) -> float:
        """Return the upper end of the interval of `standardized`."""
        return self._on_scale.high

    @property
    def no_baseline(self) -> str:
        """Return why `standardized` is missing, in a few words, or "" if it exists or was not requested."""
        return why_no_baseline((self.inference or {}).get("random_groups"))

    @property
    def _on_scale(self) -> Standardized:
        inference = self.inference or {}
        scale = Scale.of_record(inference.get("random_groups"))
        level = inference.get("bootstrap", {}).get("level", math.nan)
        return scale.read(self.value, self.ci_low, self.ci_high, level) if scale else NONE

    def __repr__(self) -> str:
        return str(_views().one_line(self))

    def __str__(self) -> str:
        return str(_views().text(self))

    def _repr_html_(self) -> str:
        return str(_views().card(self))

    if not TYPE_CHECKING:  # so that type checkers also report it

        def __getitem__(self, key: Any) -> Any:
            if not isinstance(key, str):
                raise TypeError("a Result is no sequence")
            replacement = "result.value" if key in ("result", self.metric) else RESULT.get(key)
            raise InputError(
                "a Result is no mapping: "
                + (
                    f"WEFE's result[{quote(key)}] is {replacement}"
                    if replacement
                    else "say result.value, result.detail, ..."
                )
            )

    def p_lowest(self, name: str) -> float | None:
        """Return the lowest p-value that a test can give.

        Parameters
        ----------
        name
            One of `tests`, such as "p_value".

        Returns
        -------
        float or None
            0 to 1; None if the test was not made.
        """
        if not is_among(name, self.tests):
            raise InputError(unknown_name("test", name, self.tests))
        lowest: float | None = (self.inference or {}).get(self.tests[name], {}).get("p_lowest")
        return lowest

    @property
    def reason(self) -> str:
        """Return why the value is missing, in a sentence, or "" if it is not missing."""
        if undefined := why_undefined(self.status):
            return f"{undefined}; help of its function says when"
        if not self.status.startswith("lost_words:"):
            return ""
        failed_sets = f";{self.status.removeprefix('lost_words:')};"
        sets = [
            f"{name} lacks {len(lost)} of {len(lost) + len(self.found[name])} words ({join_names(map(quote, lost))})"
            for name, lost in self.lost.items()
            if lost and f";{name};" in failed_sets  # a name may have a semicolon
        ]
        whys = {
            self.why_lost.get(name, {}).get(word, "") for name, lost in self.lost.items() for word in lost
        }
        # A reason that all words share, such as a head that the model lacks, is added once.
        common = f"; {''.join(whys)}" if len(whys) == 1 and whys != {""} else ""
        return f"too many words are lost: {'; '.join(sets)}{common}"

    @property
    def reasons(self) -> dict[str, str]:
        """Return sentences that explain missing numbers, by name of the number."""
        sentences = {"value": self.reason} if self.reason else {}
        for name, part in self.tests.items():
            if reason := (self.inference or {}).get(part, {}).get("reason"):
                sentences[name] = reason
        for kind, reason in (self.inference or {}).get("bootstrap", {}).get("reasons", {}).items():
            sentences[f"{kind} interval"] = reason
        return sentences

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON; NaN is None. `inference` is included if it was requested.

        Returns
        -------
        dict
            metric, model, and the output of the command line.
        """
        return {"metric": self.metric, "model": self.model, **as_json(self)}

    def to_frame(self) -> pd.DataFrame:
        """Return the result as a table of one row, with the columns of a study's scores.csv that apply to it.

        Returns
        -------
        pandas.DataFrame
            query, metric, model, value, p_value, ci_low, ci_high, words_used, words_lost, status, the
            p-values of the other tests, and evidence, which is not adjusted here.
        """
        import pandas as pd  # imported late: it takes half a second

        first, *others = self.tests or [""]
        columns = [
            "query",
            "metric",
            "model",
            "value",
            first,
            "ci_low",
            "ci_high",
            "words_used",
            "words_lost",
        ]
        columns = [*filter(None, columns), "status", *others, "evidence"]
        return pd.DataFrame([{name: getattr(self, name) for name in columns}])

    @property
    def words(self) -> dict[str, dict[str, list[str]]]:
        """Return the vocabulary entries of every word, by set and word; the list is empty for a missing word."""
        return {s: self.found[s] | {word: [] for word in self.lost[s]} for s in self.found}


def as_json(result: Result) -> dict[str, Any]:
    """Return the result as in a cell file and on the command line, which name metric and model themselves.

    NaN becomes null. Inference is included only if it was requested; a study has it in separate files.
    """
    left_out: tuple[str, ...] = ("metric", "model", "is_fixed", "tests", "wording")
    left_out += ("reliability",) if "reliability" not in (result.inference or {}) else ()
    if result.inference is None:
        left_out += ("ci_low", "ci_high", "interval", "inference", "evidence")
    left_out += ("contrasts",) if result.contrasts is None else ()
    left_out += tuple(name for name in ("forms", "why_lost", "same_vector") if not getattr(result, name))
    # Words are the largest part of a record, and need no check of numbers.
    words = {
        "found": {
            name: dict(zip(by_word, map(list, by_word.values()), strict=True))
            for name, by_word in result.found.items()
        },
        "lost": {name: list(lost_words) for name, lost_words in result.lost.items()},
    }
    record = {
        f.name: words[f.name] if f.name in words else as_finite(getattr(result, f.name))
        for f in fields(result)
        if f.name not in left_out
    }
    p_values = {} if result.inference is None else {name: getattr(result, name) for name in result.tests}
    return record | as_finite(p_values)


def _views() -> Any:
    # Imported late: the views import this module.
    from . import result_views

    return result_views
