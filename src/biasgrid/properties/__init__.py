"""Which metric may be trusted for what: properties D5 to D8 of Schroeder et al. (2021), computed for every metric.

A word is biased if it is nearer to one group than to another: s(w, A) is its mean cosine with the words of group A.
A set of words has skew if it is nearer to one group on the whole, stereotype if its words lean differently.
`PROPERTIES` asks of a metric whether its value follows. A "no" has a counterexample: vectors, to be measured again.
Finding none is no proof: the answer is "yes" only where there is an argument (`ARGUMENTS`).
"""

from .examine import examine, examine_metric
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
    "Example",
    "Setting",
    "Verdict",
    "by_row",
    "examine",
    "examine_metric",
    "examples",
    "markdown",
    "table",
]
