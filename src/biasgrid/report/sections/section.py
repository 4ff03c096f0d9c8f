"""What a section of a study's page is: the tables that it reads, what it makes of them, and its template."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..names import Names

if TYPE_CHECKING:
    import pandas as pd

FOLDER = Path(__file__).parent
Tables = Mapping[str, "pd.DataFrame"]


@dataclass(frozen=True)
class Section:
    """A section of a study's page: one file of this package, and a template of its name beside it.

    Parameters
    ----------
    id
        What a link to it ends in.
    title
        Its heading.
    reads
        The study's tables that `make` takes, where the study has them.
    make
        (tables by name, the page's spec, names) -> what the template shows, as plain values. It computes no verdict:
        it reads those of `biasgrid.verdicts`.
    template
        Its file in this package.
    """

    id: str
    title: str
    reads: tuple[str, ...]
    make: Callable[[Tables, Mapping[str, Any], Names], dict[str, Any]]
    template: str
