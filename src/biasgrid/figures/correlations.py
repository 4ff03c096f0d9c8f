"""Figure of the rank correlations between metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.numbers import coefficient, typeset
from ..measure.aggregation import OVERALL
from ..tables.conclusions.agreement import FEW_MODELS, of_few_models
from .figure import Example, Figure, Files
from .frame import Frame, empty_page, styled
from .palette import SIGNED
from .questions import AGREEMENT
from .rows import criteria_of, read_table, rows_of, rows_where
from .text import SMALL, metric_head, percent, text_width, topic
from .types.heat import coefficient_text, heat, scale

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

# Smallest number of models of a coefficient: with three models it has one of four values, with two it is 1 or -1.
FEWEST = 4
NAMES = {"spearman": "Spearman's ρ", "kendall": "Kendall's τ", "pearson": "Pearson's r"}
# In inches.
SHORTEST = 0.5
# Inches of a cell with an interval.
CELL = 0.42
HEADING = "Rank correlations of the metrics"


@styled
def correlations(
    correlations: pd.DataFrame,
    labels: Mapping[str, str],
    method: str = "spearman",
    level: float = 0.95,
    rankings: pd.DataFrame | None = None,
    subtitle: Sequence[str] = (),
    line: int = 0,
) -> figure.Figure:
    """Draw rank correlations between metrics, one triangle per criterion (Badilla et al., IJCAI 2020, figure 1).

    Colours run from -1 (orange) to 1 (blue) in all triangles; NaN is a hatched cell with "n/a".

    Parameters
    ----------
    correlations
        correlations.csv. The ends ci_low and ci_high, if present, are written under the coefficient.
    labels
        Labels of the metrics' keys.
    method
        The type of correlation that is drawn.
    level
        Level of the intervals.
    rankings
        rankings.csv, if the number of models is shown next to the criterion. Coefficients of fewer than FEWEST models
        are then left out.
    subtitle
        Further sentences of the caption.
    line
        Number of panels after which a new row begins.

    Raises
    ------
    BiasgridError
        If the table lacks rows of the method.
    """
    table = rows_of(correlations, "correlations", method=method)
    models = None if rankings is None else _models(rankings)
    small_criteria = (
        [] if models is None else [c for c in criteria_of(table) if models[c].to_numpy().max() < FEWEST]
    )
    if small_criteria:
        table = table[~table["criterion"].isin(small_criteria)]
        if table.empty:
            why = f"{_topics(small_criteria)}: fewer than {FEWEST} models have ranks. "
            return empty_page(HEADING, why + "A rank correlation of so few says nothing.")
    single = [name for name, part in table.groupby("criterion") if part["metric_a"].nunique() < 2]
    table = table[~table["criterion"].isin(single)]
    if table.empty:
        return empty_page(HEADING, f"{_topics(single)} {_have(single)} one metric.")
    # Put Overall first, then the criteria.
    criteria = sorted(criteria_of(table), key=lambda criterion: criterion != OVERALL)
    matrices, texts, names, heads = {}, {}, {}, {}
    most_models = None
    for criterion in criteria:
        part = rows_where(table, criterion=criterion)
        matrix = part.pivot(index="metric_a", columns="metric_b", values="correlation")
        heads[criterion] = topic(criterion)
        if models is not None:
            counts = models[criterion].loc[matrix.index, matrix.columns]
            matrix = matrix.where(counts >= FEWEST)
            of_pairs = counts.to_numpy()[np.tril_indices(len(counts), -1)]
            heads[criterion] += f", {_n(of_pairs)}"
            most_models = int(of_pairs.max()) if most_models is None else most_models
        matrices[criterion] = matrix
        texts[criterion] = _texts(part, matrix)
        names[criterion] = [metric_head(labels.get(key, key)) for key in matrix]
    has_intervals = "ci_low" in table and table["ci_low"].notna().any()
    has_missing = any(np.tril(matrix.isna(), -1).any() for matrix in matrices.values())
    notes = {
        "Blue: two metrics rank the models alike.": True,
        "Orange, with a black corner: they rank them in opposite orders.": any(
            np.tril(_below_0(t), -1).any() for t in texts.values()
        ),
        f"In brackets: the {percent(level)} interval over words.": has_intervals,
        f"n/a: fewer than {FEWEST} models that both metrics rank, or one metric ranks all alike.": has_missing,
        f"Not drawn, as fewer than {FEWEST} models have ranks: {_topics(small_criteria)}.": small_criteria,
        f"Not drawn: {_topics(single)} {_have(single)} one metric.": single,
        "With so few models, only a few values are possible.": most_models is not None
        and most_models < FEW_MODELS,
        "The ranks are WEFE's, of raw values. The intervals say nothing about other models.": has_intervals,
    }
    page = Frame(
        _finding(matrices[criteria[0]], most_models),
        f"Rank correlation ({NAMES.get(method, method)}) of two metrics over the models",
        [*(note for note, is_so in notes.items() if is_so), *subtitle],
    )
    sides = {criterion: max((len(matrix) - 1) * CELL, SHORTEST) for criterion, matrix in matrices.items()}
    wide = max(text_width(name, SMALL) for of_criterion in names.values() for name in of_criterion)
    least = max(min(5.0, (len(matrix) - 1) * CELL + wide) for matrix in matrices.values())
    panels = page.panels(heads, sides, least=least, line=line)
    for criterion, axes in panels.items():
        # Leave out the first row and the last column of a triangle, which are empty.
        part, text = matrices[criterion].iloc[1:, :-1], texts[criterion].iloc[1:, :-1]
        heat(
            axes,
            part,
            text,
            ends=(-1, 1),
            names=(names[criterion][1:], names[criterion][:-1]),
            is_triangle=True,
            corners=_below_0(text),
        )
    scale([*panels.values()], (-1, 1), SIGNED, NAMES.get(method, method), [-1, -0.5, 0, 0.5, 1])
    return page.done()


def _finding(matrix: pd.DataFrame, models: int | None) -> str:
    """Say whether the metrics agree, and whether the models are too few to tell.

    Parameters
    ----------
    matrix
        The coefficients of the first panel.
    models
        Largest number of models of a coefficient; None if it is unknown.
    """
    values = matrix.to_numpy(float)[np.tril_indices(len(matrix), -1)]
    values = values[np.isfinite(values)]
    if not len(values):
        return HEADING
    opposite = int((values < 0).sum())
    if models is not None and models < FEW_MODELS:
        return of_few_models(models)
    if opposite:
        return f"{opposite} of {len(values)} pairs of metrics rank in opposite orders"
    return f"Metrics agree: all correlations are {typeset(values.min(), form=coefficient)} or higher"


def _below_0(texts: pd.DataFrame) -> np.ndarray:
    """Return the mask of the coefficients that are written with a minus."""
    return texts.map(lambda text: text.startswith("−")).to_numpy()


def _texts(part: pd.DataFrame, matrix: pd.DataFrame) -> pd.DataFrame:
    """Return the texts of the cells: the coefficient, and its interval below it."""
    ends = part.reindex(columns=["metric_a", "metric_b", "ci_low", "ci_high"])
    texts = matrix.map(coefficient_text)
    for row in ends.itertuples():
        place = row.metric_a, row.metric_b
        texts.loc[place] = coefficient_text(matrix.loc[place], row.ci_low, row.ci_high)
    return texts


def _models(rankings: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Count the models over which two metrics are correlated, by criterion."""
    model_counts = {}
    for criterion, part in rankings.groupby("criterion"):
        has_rank = part.pivot(index=["model", "debias"], columns="metric", values="rank").notna().astype(int)
        model_counts[criterion] = has_rank.T @ has_rank
    return model_counts


def _n(models: np.ndarray) -> str:
    """Write the smallest and largest number of models behind the coefficients of a panel."""
    low, high = models.min(), models.max()
    return f"n = {high} models" if low == high else f"n = {low} to {high} models"


def _topics(criteria: Sequence[str]) -> str:
    return ", ".join(map(topic, criteria))


def _have(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def _draw(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    table, rankings = read_table(inputs["correlations"]), read_table(inputs["rankings"])
    return correlations(table, rankings=rankings, **spec)


FIGURES = (
    Figure(
        "correlations",
        "Heat maps of the correlations between the metrics' rankings.",
        _draw,
        question=AGREEMENT,
        heading=HEADING,
        asks="Do the metrics rank the models alike?",
        learn="You learn which metrics may stand for one another, and which disagree.",
        reads=("correlations", "rankings"),
        when="ranked",
        facts=("labels", "level", "method"),
        reading="A cell is the rank correlation of two metrics over n models, with its 95 % interval "
        "over words: blue above 0, orange below (black corner), hatched without a value. With "
        "four or five models, an interval from -1 to 1 is not a mistake.",
        example=Example("embedded", "correlations", {"method": "spearman"}),
    ),
)
