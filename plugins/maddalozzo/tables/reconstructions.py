"""Table of reconstructions: the loss of GLPP on held-out words (Maddalozzo 2023, section 3.3.6, step 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from biasgrid.debias.transform import Transform
from biasgrid.tables.keys import DEBIAS, MODEL
from biasgrid.tables.table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

    from biasgrid.tables.planned import Planned


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Make one row per fit.

    Parameters
    ----------
    inputs
        "transforms": the files of the fits.
    spec
        "fits": the model and the debias key of each fit.
    """
    rows = []
    for path, (model, debias) in zip(inputs["transforms"], spec["fits"], strict=True):
        facts = Transform.load(path).fitted_on
        test = facts["test"]
        dimensions = (facts["dimensions"], facts["components"], facts["graph"])
        rows.append((model, debias, *dimensions, test["words"], test["distance"], test["relative_distance"]))
    return RECONSTRUCTIONS.finish(rows)


def _fits(study: Planned) -> list[tuple[str, str]]:
    """Return the models and debias keys of fits of GLPP with held-out words."""
    return [
        (fit.model, fit.debias)
        for fit in study.grid.fits.values()
        if fit.spec["method"] == "glpp" and "test_words" in fit.spec["words"]
    ]


RECONSTRUCTIONS = Table(
    "reconstructions",
    "One row per fit of GLPP with held-out words: how far these are from what their projections say of them.",
    (
        MODEL,
        DEBIAS,
        Column.count("dimensions", "of the vectors"),
        Column.count("components", "dimensions that are kept"),
        Column.count("graph", "words of the graph"),
        Column.count("words", "held-out words that the model has"),
        Column.value(
            "distance",
            "Frobenius norm of the difference of the held-out vectors and their reconstruction",
            least=0,
        ),
        Column.value(
            "relative_distance",
            "the same, divided by the norm of the held-out vectors: 0 where nothing is lost, 1 where all is",
            least=0,
        ),
    ),
    inputs=lambda study: {"transforms": [study.paths.transform_file(*fit) for fit in _fits(study)]},
    when=_fits,
    spec=lambda study: {"fits": [list(fit) for fit in _fits(study)]},
    make=make,
    key=("model", "debias"),
)
TABLES = (RECONSTRUCTIONS,)
