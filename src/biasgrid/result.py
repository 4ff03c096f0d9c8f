"""What a metric says of one query on one model, and how that reads: as text, in a notebook, as JSON, as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

from .caveats import why_undefined
from .errors import InputError, is_among, join_names, quote, unknown_name
from .hooks import complete
from .schema import as_finite
from .statistics.scale import EXCESS, NONE, Scale, Standardized, why_no_baseline
from .wefe_names import RESULT

if TYPE_CHECKING:
    import pandas as pd

UNTESTED, UNADJUSTED = "untested", "unadjusted"  # what a single result is evidence for: `verdicts.evidence`

# the scalar of metrics whose values grow with length: the mean length of the vectors that the score is of
LENGTH = "mean_length"
# the scalar of models in which words of a set share vectors: how many different vectors `words_used` are
VECTORS = "distinct_vectors"


@dataclass(frozen=True)
class Wording:
    """What people read in place of a result's keys.

    Attributes
    ----------
    label
        The metric's.
    neutral
        The value that means no bias.
    above, below
        Clauses on values above and below it, with the sets' names; empty if there are none.
    ends
        What a low value and a high value are closer to; empty unless the sign says so.
    targets, attributes
        The names of the sets.
    exchanged, regrouped
        What a permutation test shuffles and what random groups replace, as in `Metric`.
    tests
        The tests of words that the metric can have; empty unless inference was asked for.
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
    """What a metric says of one query on one model.

    Attributes
    ----------
    query, metric, model
        Their names.
    value
        Of the metric, in its range; NaN where `status` is not "ok".
    status
        "ok"; "lost_words:<set>[;<set>]", the sets that lost too many words; "degenerate", the metric is undefined for
        these vectors; "degenerate:one word", two sets of one word each would fix the size of the value, whatever the
        words. `reason` says it in a sentence.
    words_used
        Vectors found for its sets; those of whole pairs for a metric of pairs.
    words_lost
        Distinct words of the sets that the model does not have.
    scalars
        Further numbers of the metric, by name.
    detail
        Values per word: name -> set -> vocabulary entry -> value, or column -> value.
    found
        Set -> word -> the vocabulary entries that it was found as.
    lost
        Set -> its distinct words that the model does not have.
    forms
        Set -> word -> the form in which it was found, where that is not the first of `preprocessors`, or its vector
        is made of n-grams.
    why_lost
        Set -> lost word -> why, where there is more to say than that it is not in the vocabulary.
    same_vector
        Set -> groups of its words that the model knows as different entries with one vector; tests take them for
        different words.
    ci_low, ci_high
        The ends of the confidence interval over words; NaN likewise.
    interval
        Which one that is: "jackknife", "percentile" or "bca"; empty where none was asked for.
    is_fixed
        Whether the value has a size that two sets of one word each fix, and is kept all the same (`one_word="keep"`).
    inference
        All that was asked for: tests by name, bootstrap, influence, halves, as docs/reference/files.md has them; None
        where nothing was. `reasons` says why a number of it is missing.
    contrasts
        Of one group against another or the others: {"first", "second", "words", "values"}, the sets' names, None for
        the others together and for all words together; None of a metric that has no contrasts.
    evidence
        Which tests of words are significant: "all" that the metric can have, "permutation" or "groups" alone, "none",
        "out_of_reach", or "untested", as in a study's scores.csv. But a single result has no family: its p-values are
        *not adjusted* for the number of tests that you make.
    standardized
        Standardised bias, in standard deviations of random groups: how much further the value is from no bias than
        random groups of the model are on average, 0 as far as they are; NaN without `random_groups`.
    no_baseline
        Why there is none in spite of `random_groups`, in a few words; `reasons["p_groups"]` is the sentence.
    standardized_low, standardized_high
        The ends of its interval, over words and over the random groups that were drawn; NaN without an interval.
    reliability
        How far the value can be trusted, a mapping per answer (docs/reliability.md): question "score" where there is
        a bootstrap, "words" where `reliability` was asked for; `verdict` says it in a word.
    tests
        Column of p-values -> the test that it is of, of all tests that there are. Each column is an attribute, too:
        `p_value` of the permutation test, `p_groups` of the one against random groups, `p_bands` of the permutation
        test within bands of frequency, `p_controls` of the one against control words; 0 to 1, NaN where the test was
        not asked for, or the metric has none.
    wording
        What people read in place of its keys.
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

    if TYPE_CHECKING:  # those of the tests that come with biasgrid
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
        """Return the standardised bias: 0 is as much as random groups of the model, NaN without them."""
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
        """Return why there is no `standardized`, in a few words; empty where there is one or none was asked for."""
        return why_no_baseline((self.inference or {}).get("random_groups"))

    @property
    def _on_scale(self) -> Standardized:
        inference = self.inference or {}
        scale = Scale.of_record(inference.get("random_groups"))
        level = inference.get("bootstrap", {}).get("level", math.nan)
        return scale.read(self.value, self.ci_low, self.ci_high, level) if scale else NONE

    def __repr__(self) -> str:
        return str(complete(__name__).one_line(self))

    def __str__(self) -> str:
        return str(complete(__name__).text(self))

    def _repr_html_(self) -> str:
        return str(complete(__name__).card(self))

    if not TYPE_CHECKING:  # type checkers should report it, too

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
        """The lowest p-value that a test can give.

        Parameters
        ----------
        name
            One of `tests`, such as "p_value".

        Returns
        -------
        float or None
            0 to 1; None where the test was not made.
        """
        if not is_among(name, self.tests):
            raise InputError(unknown_name("test", name, self.tests))
        lowest: float | None = (self.inference or {}).get(self.tests[name], {}).get("p_lowest")
        return lowest

    @property
    def reason(self) -> str:
        """Why there is no value, in a sentence; "" where there is one."""
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
        # the one reason of all, such as a head that the model lacks
        common = f"; {''.join(whys)}" if len(whys) == 1 and whys != {""} else ""
        return f"too many words are lost: {'; '.join(sets)}{common}"

    @property
    def reasons(self) -> dict[str, str]:
        """Why numbers that were asked for are missing: name of the number -> sentence."""
        sentences = {"value": self.reason} if self.reason else {}
        for name, part in self.tests.items():
            if reason := (self.inference or {}).get(part, {}).get("reason"):
                sentences[name] = reason
        for kind, reason in (self.inference or {}).get("bootstrap", {}).get("reasons", {}).items():
            sentences[f"{kind} interval"] = reason
        return sentences

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values for JSON; NaN is None. `inference` is there where it was asked for.

        Returns
        -------
        dict
            metric, model, and what the command line prints.
        """
        return {"metric": self.metric, "model": self.model, **as_json(self)}

    def to_frame(self) -> pd.DataFrame:
        """The result as a table of one row, with those columns of a study's scores.csv that a single result has.

        Returns
        -------
        pandas.DataFrame
            query, metric, model, value, p_value, ci_low, ci_high, words_used, words_lost, status, the p-values of
            the other tests, and evidence, which is not adjusted here.
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
        """Which word was found as what: set -> word -> vocabulary entries; a lost word has none."""
        return {s: self.found[s] | {word: [] for word in self.lost[s]} for s in self.found}


def as_json(result: Result) -> dict[str, Any]:
    """The result as a cell file and the command line give it, which name metric and model themselves: NaN becomes
    null; inference only where it was asked for, as a study has it in files of its own."""
    left_out: tuple[str, ...] = ("metric", "model", "is_fixed", "tests", "wording")
    left_out += ("reliability",) if "reliability" not in (result.inference or {}) else ()
    if result.inference is None:
        left_out += ("ci_low", "ci_high", "interval", "inference", "evidence")
    left_out += ("contrasts",) if result.contrasts is None else ()
    left_out += tuple(name for name in ("forms", "why_lost", "same_vector") if not getattr(result, name))
    # words, which are most of a record, have no numbers to check
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
