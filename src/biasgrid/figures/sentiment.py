"""Figure of RNSB's distribution: each name's share of a classifier's negative sentiment (Sweeney 2019)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.files import slug
from ..core.numbers import coefficient, share, typeset
from ..measure.results import ASKED, KEYS, results
from .figure import Drawing, Example, Figure, Files, cells_of
from .frame import Frame, styled
from .palette import INK, in_order, series_mark
from .questions import WORDS
from .rows import keys_of, reasons, rows_of, rows_where
from .text import BOLD, NORMAL, fit_text, row_label, topic, unit_label
from .types.rows import height, rows, width
from .visuals import above_names, few_ticks, legend_line, legend_neutral

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..tables.planned import Planned

HEADING = "Shares of negative sentiment"
MARK = series_mark(0) | {"color": INK}
COLUMNS = ["id", "query", "metric", "model", "debias", "set", "word", "share", "value", "accuracy", "status"]


def distributions(cells: Iterable[Path]) -> pd.DataFrame:
    """Return one row per word of a target set of RNSB cells, in the cells' order; missing words lack a share.

    id is the id of the study's query, query the name of the measured (sub-)query, which another query may share.
    share is the word's part of the negative sentiment (they sum to 1), value the cell's RNSB in nats, accuracy the
    classifier's accuracy on held-out words, or NaN. Raises BiasgridError for a file that is not a cell.
    """
    import pandas as pd

    rows = []
    for place, query, result in results(cells):
        _, subquery, metric, model, debias = place
        shares = (result.get("detail") or {}).get("negative_sentiment_distribution", {})
        accuracy = (result.get("scalars") or {}).get("accuracy", np.nan)
        facts = [result.get("value"), accuracy, result.get("status")]
        words = [(name, word, share) for name, part in shares.items() for word, share in part.items()]
        rows += [
            (query, subquery, metric, model, debias, *word, *facts) for word in words or [("", "", np.nan)]
        ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.astype({"share": "float64", "value": "float64", "accuracy": "float64"})


@styled
def sentiment(table: pd.DataFrame, labels: Mapping[str, str], criterion: str) -> figure.Figure:
    """Draw each name's share of a classifier's negative sentiment: a line of panels per query, a row per name.

    `table` is from `distributions`. A mark is a target set, the mean share of its words. On the dashed line, all
    words have an equal share. A query's panels have one scale and one order of names. A model without any value lacks
    a column; the caption names it. Raises BiasgridError for a table without rows.
    """
    rows_of(table, "sentiment")
    keys = ["metric", "model", "debias"]
    queries = list(dict.fromkeys(keys_of(table, "id", "query")))
    query_names = [name for _, name in queries]
    order = in_order(keys_of(table))
    units = sorted(dict.fromkeys(keys_of(table, *keys)), key=lambda unit: order.index(unit[1:]))
    names = {unit: unit_label(unit[1:], labels) for unit in units}
    if len({metric for metric, *_ in units}) > 1:
        names = {unit: f"{name}, {labels.get(unit[0], unit[0])}" for unit, name in names.items()}
    has_value = table["share"].notna().groupby([table[key] for key in keys]).any()
    shown_units = [unit for unit in units if has_value[unit]] or units
    missing_models = "; ".join(
        f"{names[unit]}: {reasons(rows_where(table, **dict(zip(keys, unit, strict=True)))['status'])}"
        for unit in units
        if unit not in shown_units
    )
    page = Frame(
        _finding(table),
        f"{topic(criterion)}: each group's share of what a classifier takes for negative",
        [
            "A mark is a group's share; of several words, their mean. On the dashed line, all words have an "
            "equal share.",
            "The classifier learns from two lists of words; it says nothing about people with a name.",
            "RNSB is the divergence from equal shares, 0 without bias; accuracy is on listed words left out of "
            "training.",
            "A score has no intervals of shares.",
            *([f"No value for {missing_models}."] if missing_models else []),
        ],
    )
    parts = {
        (query, unit): part
        for query, of_query in table.groupby(["id", "query"])
        for unit, part in of_query.groupby(keys)
    }
    # A query without values in any model keeps a row with a note.
    sets = {
        query: {name: row_label(name) for name in of_query["set"].unique() if name} or {"": ""}
        for query, of_query in table.groupby(["id", "query"])
    }
    heads = {
        (query, unit): f"{names[unit]}\n{_facts(parts.get((query, unit), table[:0]))}"
        for query in queries
        for unit in shown_units
    }
    wide = max(map(width, sets.values()))
    heights = {(query, unit): height(sets[query]) for query, unit in heads}
    panels = page.panels(heads, heights, labels=wide, least=1.2, line=len(shown_units), bold=False)
    for (query, unit), axes in panels.items():
        shares = parts.get((query, unit), table[:0]).dropna(subset="share")
        marks = shares.groupby("set", as_index=False)["share"].mean().set_axis(["row", "value"], axis=1)
        equal = 1 / len(shares) if len(shares) else None
        rows(axes, marks.assign(series=""), sets[query], {"": MARK}, neutral=equal)
        highest = table.loc[table["id"] == query[0], "share"].max()
        axes.set(xlim=(0, 1.08 * highest if highest > 0 else 1.0), xlabel="classifier's share")
        few_ticks(axes.xaxis, 3)
        if unit == shown_units[0]:
            head = f"{query[1]} ({query[0]})" if query_names.count(query[1]) > 1 else query[1]
            inches = max(wide, 1.2)
            above_names(axes, fit_text(head, (inches - 0.1) / BOLD, NORMAL), inches)
    return page.done(
        [
            ("share of negative sentiment", legend_line(**MARK)),
            legend_neutral("equal shares"),
        ]
    )


def _finding(table: pd.DataFrame) -> str:
    """Say the range of the shares."""
    known = table.dropna(subset="share")
    if known.empty:
        return HEADING
    shares = known.groupby(["id", "query", "metric", "model", "debias", "set"])["share"].mean()
    return f"Shares of negative sentiment: {share(shares.min())} to {share(shares.max())}"


def _facts(part: pd.DataFrame) -> str:
    """Return the text above a panel: the cell's value, or why it is missing."""
    if part.empty:
        return "not measured"
    first = part.iloc[0]
    if np.isnan(first["value"]):
        lost = first["status"].partition(":")[2]
        lost_sets = lost.replace(";", ", ") if lost.count(";") < 6 else f"{lost.count(';') + 1} sets"
        return f"no value: {reasons(part['status'])}{f' ({lost_sets})' if lost_sets else ''}"
    accuracy = "" if np.isnan(first["accuracy"]) else f", accuracy {coefficient(first['accuracy'])}"
    return f"RNSB {typeset(first['value'])}{accuracy}"


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion in study.config.criteria:
        keys = {key for key in study.metrics(criterion) if study.metric(criterion, key).name == "rnsb"}
        if cells := [cell for cell in cells_of(study, [criterion]) if cell.metric in keys]:
            inputs = {"cells": list(map(study.paths.cell_file, cells))}
            yield Drawing(f"sentiment-{slug(criterion)}", inputs, {"criterion": criterion})


def _draw(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    return sentiment(distributions(inputs["cells"]), spec["labels"], spec["criterion"])


def _shares_alone(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the shares of RNSB's classifier for each name, and its accuracy."""
    shares = "negative_sentiment_distribution"
    cells = [
        {name: cell[name] for name in (*KEYS, *ASKED)}
        | {
            "results": [
                {name: result[name] for name in ("query", "status", "value")}
                | {"scalars": {"accuracy": result["scalars"]["accuracy"]}}
                | {"detail": {shares: result["detail"][shares]}}
                for result in cell["results"]
            ]
        }
        for cell in contents["cells"]
    ]
    return {"cells": cells}


FIGURES = (
    Figure(
        "sentiment",
        "Each name's share of negative sentiment under RNSB, by model.",
        _draw,
        question=WORDS,
        heading=HEADING,
        asks="Which groups does a classifier take for negative?",
        learn="You learn which groups contribute most to RNSB.",
        drawings=_drawings,
        facts=("labels",),
        needs="a criterion with RNSB",
        reading="A mark is a group's share, the dashed line an equal share. Where the classifier's "
        "accuracy is no better than chance, shares mean nothing.",
        example=Example(
            "sweeney", "sentiment-sweeney-and-najafian-2019", {"model": "glove-6b-50d"}, _shares_alone
        ),
    ),
)
