"""WEFE's figures, drawn with plotly, which the extra `plotly` installs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def queries_results(results: pd.DataFrame, by: str) -> Figure:
    """Draw a group of bars for each query, or for each model."""
    table = results if by == "model" else results.T
    # As in WEFE, the aggregate is also drawn, if the table has one.
    figure = _figure(
        {
            "type": "bar",
            "name": str(column),
            "x": [str(label).replace(" wrt ", " wrt<br>") for label in table.index],
            "y": table[column].tolist(),
        }
        for column in table
    )
    return figure.update_layout(
        barmode="group",
        xaxis_title=by.capitalize(),
        yaxis_title="Bias measure",
        legend_title="Word Embedding Model" if by == "query" else "Query",
    )


def ranking(table: pd.DataFrame, facets: bool) -> Figure:
    """Draw a stacked bar of ranks for each model, or a panel for each ranking."""
    from plotly.subplots import make_subplots

    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "name": str(column),
            "x": table[column].tolist(),
            "y": list(map(str, table.index)),
        }
        for column in table
    ]
    if not facets:
        figure = _figure(bars).update_layout(barmode="stack", yaxis_categoryorder="total ascending")
    else:
        titles = [bar["name"] for bar in bars]
        figure = make_subplots(rows=1, cols=len(bars), shared_yaxes=True, subplot_titles=titles)
        for place, bar in enumerate(bars, 1):
            figure.add_trace(bar, row=1, col=place)
    figure.update_xaxes(title_text="Ranking")
    return figure.update_layout(showlegend=not facets)


def correlations(matrix: pd.DataFrame, title: str) -> Figure:
    """Draw a heat map from -1 to 1, while WEFE's shows negative correlations as 0."""
    heat_map = {
        "type": "heatmap",
        "z": matrix.to_numpy().tolist(),
        "x": list(map(str, matrix.columns)),
        "y": list(map(str, matrix.index)),
        "zmin": -1,
        "zmax": 1,
        "colorscale": "RdBu",
        "reversescale": True,
    }
    return _figure([heat_map]).update_layout(title=title)


def _figure(traces: Any) -> Figure:
    from plotly.graph_objects import Figure

    return Figure(data=list(traces))
