"""Figure of how negative each name is found: RNSB's distribution (Sweeney & Najafian, ACL 2019)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files import slug
from ..numbers import coefficient, typeset
from ..results import KEYS, results
from .figure import Drawing, Example, Figure, Files, cells_of, group_by_size, labels, pages
from .frame import MARGIN, PAGE, styled
from .layout import add_axes, page
from .palette import DASHED, LESS_LIGHT, MORE_LIGHT
from .questions import WORDS
from .rows import rows_of
from .text import BOLD, NORMAL, SMALL, fit_text, line_count, text_width, unit_label
from .visuals import few_ticks, legend_area, legend_line

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..planned import Planned

MOST_MODELS, MOST_QUERIES = 5, 3  # of a figure
COLUMNS = ["id", "query", "metric", "model", "debias", "set", "word", "share", "value", "accuracy", "status"]


def distributions(cells: Iterable[Path]) -> pd.DataFrame:
    """One row per word of a target set of RNSB cells, in the cells' order; words that a cell lacks have no share.

    id is the query's in the study, query the name of the (sub-)query that was measured, which another may have, too;
    share is the word's part of the negative sentiment (they sum to 1), value the cell's RNSB in nats, accuracy the
    classifier's on words left out, or NaN. Raises BiasgridError for a file that is no cell.
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
    """How the negative sentiment is shared out among the names of a query: one panel per model and query, one bar per
    name.

    `table` is as `distributions` gives it. A bar is a target set, the mean share of its words. On the dashed line,
    all words are found equally negative; a bar above it is orange. Queries are columns, models rows; a query's panels
    have one scale and one order of names. A model without any value has no row; the note above the panels names it.
    Raises BiasgridError for a table without rows.
    """
    rows_of(table, "sentiment")
    keys = ["metric", "model", "debias"]
    queries = list(dict.fromkeys(zip(table["id"], table["query"], strict=True)))
    query_names = [name for _, name in queries]
    query_labels = {
        query: f"{query[1]} ({query[0]})" if query_names.count(query[1]) > 1 else query[1]
        for query in queries
    }
    units = list(dict.fromkeys(table[keys].itertuples(index=False, name=None)))
    names = {unit: unit_label(unit[1:], labels) for unit in units}
    if len({metric for metric, *_ in units}) > 1:
        names = {unit: f"{name}, {labels.get(unit[0], unit[0])}" for unit, name in names.items()}
    has_value = table["share"].notna().groupby([table[key] for key in keys]).any()
    shown_units = [unit for unit in units if has_value[unit]] or units
    missing_models = "; ".join(
        f"{names[unit]}: {_why(table, keys, unit)}" for unit in units if unit not in shown_units
    )

    parts = dict(list(table.groupby(["id", "query"])))
    sets = {query: list(dict.fromkeys(part["set"][part["set"] != ""])) for query, part in parts.items()}
    label_height = (
        max([text_width(name, SMALL) for set_names in sets.values() for name in set_names], default=0.0) + 0.1
    )
    left, gap, high, facts = 0.42, 0.35, 0.85, 0.16
    width = (PAGE[0] - 2 * MARGIN - left - gap * (len(queries) - 1)) / len(queries)
    heads = {unit: fit_text(names[unit], (width - 0.05) / BOLD, NORMAL) for unit in shown_units}
    head_heights = {unit: line_count(heads[unit]) * 0.14 + facts + 0.12 for unit in shown_units}
    titles = {query: fit_text(query_labels[query], (width - 0.05) / BOLD, NORMAL) for query in queries}
    title = max(map(line_count, titles.values())) * 0.14 + 0.06
    legend = [
        ("more than an equal share of the negative sentiment", legend_area(facecolor=MORE_LIGHT)),
        ("less", legend_area(facecolor=LESS_LIGHT)),
        ("equal shares", legend_line(**DASHED)),
    ]
    figure, top = page(
        f"{criterion}: negative sentiment",
        "A classifier is trained to tell the words of two attribute sets apart. Each bar is a name's share of what "
        "it takes for the second, negative one; of a set of several words, their mean share. RNSB is the divergence "
        "from equal shares, 0 without bias; accuracy is on attribute words left out of training."
        f"{f' No value for {missing_models}.' if missing_models else ''}",
        legend,
        PAGE[0],
        title + sum(head_heights.values()) + len(shown_units) * high + label_height,
    )
    w, h = figure.get_size_inches()
    for i, query in enumerate(queries):
        x, y = MARGIN + left + i * (width + gap), top + title
        figure.text(x / w, 1 - top / h, titles[query], va="top", weight="bold", color="#333333")
        query_rows = parts[query]
        highest = query_rows["share"].max()
        for unit in shown_units:
            part = query_rows[(query_rows[keys] == list(unit)).all(axis=1)]
            axes = add_axes(figure, x, y + head_heights[unit], width, high)
            y += head_heights[unit] + high
            ticks = sets[query] if unit == shown_units[-1] else [""] * len(sets[query])
            axes.set_title(heads[unit], loc="left", weight="bold", pad=4 + facts * 66)
            axes.set_xlim(-0.6, max(len(ticks), 1) - 0.4)
            axes.set_xticks(range(len(ticks)), ticks, rotation=90)
            axes.tick_params(axis="x", length=0)
            axes.annotate(
                fit_text(_facts(part), width, SMALL),
                (0, 1),
                (0, facts * 72),
                "axes fraction",
                "offset points",
                size=SMALL,
                va="top",
            )
            if part["share"].isna().all():
                axes.set_yticks([])
                axes.spines["bottom"].set_visible(False)
                continue
            shares = part.groupby("set")["share"].mean().reindex(sets[query])
            equal = 1 / part["share"].notna().sum()
            axes.bar(
                range(len(shares)), shares, width=0.8, color=np.where(shares > equal, MORE_LIGHT, LESS_LIGHT)
            )
            axes.axhline(equal, **DASHED | {"zorder": 3})
            axes.spines["left"].set_visible(True)
            axes.set_ylim(0, highest * 1.05)
            few_ticks(axes.yaxis, 4)
            axes.set_ylabel("share" if i == 0 else "")
    return figure


def _why(table: pd.DataFrame, keys: list[str], unit: tuple[str, ...]) -> str:
    """Why a model has no value at all."""
    statuses = table["status"][(table[keys] == list(unit)).all(axis=1)]
    return " or ".join(sorted({status.partition(":")[0].replace("_", " ") for status in statuses}))


def _facts(part: pd.DataFrame) -> str:
    """What is written above a panel: the cell's value, or why there is none."""
    if part.empty:
        return "not measured"
    first = part.iloc[0]
    if np.isnan(first["value"]):
        why, _, lost = first["status"].partition(":")
        lost_sets = lost.replace(";", ", ") if lost.count(";") < 6 else f"{lost.count(';') + 1} sets"
        return f"no value: {why.replace('_', ' ')}{f' ({lost_sets})' if lost_sets else ''}"
    accuracy = "" if np.isnan(first["accuracy"]) else f", accuracy {coefficient(first['accuracy'])}"
    return f"RNSB {typeset(first['value'])}{accuracy}"


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion in study.config.criteria:
        keys = {key for key in study.metrics(criterion) if study.metric(criterion, key).name == "rnsb"}
        cells = [cell for cell in cells_of(study, [criterion]) if cell.metric in keys]
        units = list(dict.fromkeys((cell.metric, cell.model, cell.debias) for cell in cells))
        queries = list(dict.fromkeys(cell.query for cell in cells))
        # rows are models, columns are queries: as many as a page has room for
        groups = [
            [c for c in cells if c.query in columns and (c.metric, c.model, c.debias) in rows]
            for columns in group_by_size(queries, MOST_QUERIES, lambda _: 1)
            for rows in group_by_size(units, MOST_MODELS, lambda _: 1)
        ]
        for name, (page_cells,) in pages(f"sentiment-{slug(criterion)}", groups, 1):
            spec = {
                "labels": labels(study, page_cells),
                "criterion": criterion,
                "cells": [c.name for c in page_cells],
            }
            yield Drawing(name, {"cells": list(map(study.paths.cell_file, page_cells))}, spec)


def _draw(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    return sentiment(distributions(inputs["cells"]), spec["labels"], spec["criterion"])


def _shares_alone(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """What RNSB's classifier says of each name, and how well it knows words."""
    shares = "negative_sentiment_distribution"
    cells = [
        {name: cell[name] for name in KEYS}
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
        "How negative each name is found to be: RNSB's distribution, model by model.",
        _draw,
        question=WORDS,
        drawings=_drawings,
        needs="a criterion with RNSB",
        reading="A bar is a name's share of the negative sentiment that RNSB's classifier finds, the dashed "
        "line an equal share: orange names get more of it, blue ones less. Bars of one height would "
        "be RNSB 0. The accuracy says how well the classifier knows words that it was not trained on; "
        "where it is no better than chance, its shares mean nothing.",
        example=Example(
            "sweeney", "sentiment-sweeney-and-najafian-2019", {"model": "glove-6b-50d"}, _shares_alone
        ),
    ),
)
