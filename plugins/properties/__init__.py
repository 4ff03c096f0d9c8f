"""Properties of metrics after Schroeder et al. (2021), definitions D5 to D8: which metric may be trusted for what.

A word is biased if it is nearer to one group than to another: s(w, A) is its mean cosine with the words of group A.
A set of words has skew if it is nearer to one group on the whole, and stereotype if its words are nearer to
different groups. `PROPERTIES` are questions whether a metric's value follows. The answer "no" has a counterexample:
vectors that can be measured again. A failed search for one is not a proof: the answer is "yes" only with an
argument (`ARGUMENTS`).
"""

from .examination import Examination, examine
from .examining import examine_metric, examine_metrics
from .questions import (
    NO,
    NOT_EXAMINED,
    NOT_REFUTED,
    ORDERED,
    PROPERTIES,
    SET,
    UNDEFINED,
    WORD,
    YES,
)
from .settings import CATALOGUE, Setting
from .tables import examples, markdown, table
from .verdicts import Example, Verdict, by_row

__all__ = [
    "CATALOGUE",
    "NO",
    "NOT_EXAMINED",
    "NOT_REFUTED",
    "ORDERED",
    "PROPERTIES",
    "SET",
    "UNDEFINED",
    "WORD",
    "YES",
    "Examination",
    "Example",
    "Setting",
    "Verdict",
    "by_row",
    "examine",
    "examine_metric",
    "examine_metrics",
    "examples",
    "markdown",
    "table",
]
