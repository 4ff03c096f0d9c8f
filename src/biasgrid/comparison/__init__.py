"""Comparison of a study's numbers with published ones, and with ones that other code computed."""

from .compare import COMPARISON, compare
from .ours import LOWEST, at
from .published import COMPUTED, HALVED, PRINTED, PUBLISHED, RATED, TESTED, read
from .verdict import NO_VALUE, NOT_ASKED, OTHER_VECTORS, UNJUDGED, VERDICTS, verdict

__all__ = [
    "COMPARISON",
    "COMPUTED",
    "HALVED",
    "LOWEST",
    "NOT_ASKED",
    "NO_VALUE",
    "OTHER_VECTORS",
    "PRINTED",
    "PUBLISHED",
    "RATED",
    "TESTED",
    "UNJUDGED",
    "VERDICTS",
    "at",
    "compare",
    "read",
    "verdict",
]
