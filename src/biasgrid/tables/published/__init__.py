"""Comparison of a study's numbers with published ones, and with numbers that other code computed."""

from .compare import COMPARISON, compare
from .published import COMPUTED, HALVED, PRINTED, PUBLISHED, RATED, TESTED, read, rows_of
from .queries import words_digest
from .study_values import LOWEST, number_at
from .verdict import (
    NO_VALUE,
    NOT_ASKED,
    OTHER_QUERIES,
    OTHER_VECTORS,
    UNJUDGED,
    VERDICTS,
    WITH_AN_ERROR,
    verdict,
)

__all__ = [
    "COMPARISON",
    "COMPUTED",
    "HALVED",
    "LOWEST",
    "NOT_ASKED",
    "NO_VALUE",
    "OTHER_QUERIES",
    "OTHER_VECTORS",
    "PRINTED",
    "PUBLISHED",
    "RATED",
    "TESTED",
    "UNJUDGED",
    "VERDICTS",
    "WITH_AN_ERROR",
    "compare",
    "number_at",
    "read",
    "rows_of",
    "verdict",
    "words_digest",
]
