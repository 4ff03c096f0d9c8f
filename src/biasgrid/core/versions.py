"""Versions of software that computed a file of results.

A file keeps them after an upgrade, because an upgrade alone does not make a step outdated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import Any

from ..version import __version__

# Every score may depend on these; scores of language models also on torch (`sentence_scores`).
LIBRARIES = ("numpy", "scipy", "scikit-learn")


@cache
def versions(*libraries: str) -> dict[str, str]:
    """Return the current versions of biasgrid, Python, `LIBRARIES` and further libraries that are installed."""
    found = {"biasgrid": __version__, "python": python_version()}
    for name in (*LIBRARIES, *libraries):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def count_versions(records: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Count the records computed with each version of each library; the version is "" if a record lacks it."""
    counts: dict[str, dict[str, int]] = {}
    for record in records:
        of_record = record.get("versions")
        names = of_record if isinstance(of_record, Mapping) and of_record else {"biasgrid": ""}
        for name, number in names.items():
            of_library = counts.setdefault(str(name), {})
            of_library[str(number)] = of_library.get(str(number), 0) + 1
    return counts
