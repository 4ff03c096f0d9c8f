"""What figures of debias methods share: the order of methods, and panels in blocks, one block per model.

Functions take the table of mitigation, `labels` (what is printed for the key of a model, metric, debias method or
measure; the key itself where it has none; "none" is the untouched model) and a criterion. A criterion's methods have
one order in its figures: by the share of the measured bias that they remove, most on top. A number that is missing
shows as "n/a".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .figure import labels
from .frame import MARGIN, PAGE
from .layout import add_axes, page
from .palette import ZEBRA
from .rows import rows_of
from .text import BOLD, LONGEST_ROW, NORMAL, SMALL, fit_text, line_count, shorten, text_width, wrap_text
from .visuals import no_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from ..planned import Planned


def method_label(labels: Mapping[str, str], key: str) -> str:
    """What is printed for a debias method's key."""
    return labels.get(key, "untouched" if key == "none" else key)


def missing_values(values: pd.Series, statuses: pd.Series) -> list[tuple[str, Artist]]:
    """The legend's entry of "n/a"."""
    reasons = sorted(set(statuses[values.isna()].str.split(":").str[0].str.replace("_", " ")))
    return [(f"n/a: no value ({' or '.join(reasons)})", no_mark())] if reasons else []


def rows_of_group(table: pd.DataFrame, name: str, criterion: str, group: str) -> pd.DataFrame:
    """The rows of a criterion and a group of measures; `name` begins the message where there is none."""
    return rows_of(rows_of(table, name, criterion), f"{name}, {criterion}", group, column="group")


def removed_share(rows: pd.DataFrame) -> pd.Series:
    """The share of a metric's bias that a method removes; NaN where there was none."""
    return (1 - rows["after"] / rows["before"].where(rows["before"] > 0)).clip(lower=-1)


def ordered_methods(table: pd.DataFrame, criterion: str) -> list[str]:
    """The methods measured on a criterion by what they remove, most first."""
    rows = table[table["criterion"] == criterion]
    shares = removed_share(rows).where(rows["group"] == "metric").groupby(rows["debias"]).mean().fillna(-2)
    return sorted(shares.index, key=lambda method: (-shares[method], method))


def add_blocks(
    title: str,
    note: str,
    rows: pd.DataFrame,
    order: Sequence[str],
    labels: Mapping[str, str],
    columns: Mapping[str, str],
    legend: Sequence[tuple[str, Artist]],
    *,
    need: float,
    most: float,
    gap: float,
    foot: float = 0.0,
    first: str = "",
) -> tuple[figure.Figure, dict[tuple[str, str], Axes], dict[str, dict[str | None, float]]]:
    """A figure of panels: one block per model, in it one row per method (and a `first` row), one column per measure.

    Panels are `need` to `most` inches wide, as the page allows, with a gap right of each and a foot below. Returns
    the figure, its axes by (model, measure), and by model the rows' y in inches (method -> y, None: first).
    """
    methods = {model: set(part["debias"]) for model, part in rows.groupby("model")}
    names = {key: wrap_text(shorten(labels.get(key, key), LONGEST_ROW), 26) for key in order} | {None: first}
    members = {
        model: [None] * bool(first) + [key for key in order if key in model_methods]
        for model, model_methods in methods.items()
    }
    left = max(text_width(names[key], SMALL) for keys in members.values() for key in keys) + MARGIN + 0.08
    heads = {key: wrap_text(text, int((need + gap) / 0.07)) for key, text in columns.items()}
    need = max(need, *(text_width(text, SMALL) * BOLD - gap + 0.04 for text in heads.values()))
    width = max(need, min(most, (PAGE[0] - left - MARGIN) / len(columns) - gap))
    content_width = left + len(columns) * (width + gap) + MARGIN
    models = {
        key: fit_text(labels.get(key, key), (content_width - 2 * MARGIN) / BOLD, NORMAL) for key in members
    }
    heights = {
        model: {key: line_count(names[key]) * 0.115 + 0.045 for key in keys}
        for model, keys in members.items()
    }
    head_heights = {
        key: line_count(name) * 0.14 + max(map(line_count, heads.values())) * 0.12 + 0.06
        for key, name in models.items()
    }
    block_heights = {key: head_heights[key] + sum(heights[key].values()) + foot + 0.14 for key in members}
    figure, top = page(title, note, legend, content_width, sum(block_heights.values()))
    panels, places = {}, {}
    for model, keys in members.items():
        name_place = MARGIN / figure.get_figwidth(), 1 - top / figure.get_figheight()
        figure.text(*name_place, models[model], va="top", weight="bold")
        high = np.array([heights[model][key] for key in keys])
        centres = np.cumsum(high) - high / 2
        places[model] = dict(zip(keys, centres, strict=True))
        for i, column in enumerate(columns):
            axes = add_axes(figure, left + i * (width + gap), top + head_heights[model], width, high.sum())
            axes.set_title(heads[column], loc="left", size=SMALL, weight="bold", pad=3)
            for y, row in zip(centres[1::2], high[1::2], strict=True):
                # under the gaps too
                axes.axhspan(
                    y - row / 2, y + row / 2, 0, 1 + gap / width, color=ZEBRA, lw=0, zorder=0, clip_on=False
                )
            axes.set_ylim(high.sum(), 0)
            axes.set_yticks(centres, [names[key] if i == 0 else "" for key in keys])
            axes.tick_params(axis="y", length=0)
            panels[model, column] = axes
        top += block_heights[model]
    return figure, panels, places


def method_labels(study: Planned, criterion: str) -> dict[str, str]:
    """What is printed for the keys of the models that are evaluated on a criterion, and of their debias methods."""
    return labels(study, [e for e in study.grid.evaluations.values() if e.criterion == criterion])
