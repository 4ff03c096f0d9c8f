"""Figure of where the words of some sets lie in a model (Maddalozzo 2023, figure B.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .grid import (
    GREY,
    MARGIN,
    NO_FILL,
    PAGE,
    SMALL,
    _axes,
    _free_places,
    _look,
    _nothing,
    _page,
    _styled,
    _unit_label,
)

REACH, NEAR = 0.6, 0.14  # inches between a mark and its word at most, and of words of no set
HEIGHTS = 3.0, 7.0  # of a panel in inches, as the map needs
EDGE = np.array([1.0, 0.5])  # inches, for names at the edges


@_styled
def word_sets(
    maps: Mapping[str, Mapping[str, Any]],
    labels: Mapping[str, str],
    criterion: str,
    model: str,
    sets: Sequence[str],
) -> Figure:
    """The words of `sets` in two dimensions, a colour and marker a set; words of no set are grey.

    `maps`: debias method or "none" -> map with "words", the "side" (set) of each and its "xy"; a panel each.
    Directions and units mean nothing, distances do: axes have no numbers, and the same scale both ways. Of words that
    have no room beside their marks the name is left out.
    Where no map has a word the figure says so.
    """
    maps = {state: drawn for state, drawn in maps.items() if drawn.get("words")}
    if not maps:
        why = f"fewer than eight words have a place in {labels.get(model, model)}."
        return _nothing(f"{criterion}: a map of the words", why)
    there = {side for drawn in maps.values() for side in drawn["side"]}
    looks = {name: _look(i) for i, name in enumerate(sets)}
    others = sorted(there - looks.keys())
    looks |= {name: _look(0) | {"color": NO_FILL, "marker": ".", "markersize": 4} for name in others}
    legend = [(name, Line2D([], [], **look)) for name, look in looks.items() if name in there]
    width = PAGE[0] - 2 * MARGIN
    shape = max(np.divide(*np.ptp(drawn["xy"], axis=0)[::-1]) for drawn in maps.values())
    size = np.array([width, np.clip(shape * (width - EDGE[0]) + EDGE[1], *HEIGHTS)])
    height = size[1]
    head = 0.22 * (len(maps) > 1)
    figure, top = _page(
        f"{criterion}: a map of the words",
        f"{labels.get(model, model)}. t-SNE: words that are near each other here have similar vectors; distances "
        "between far groups, directions and units mean nothing. Words without room for their name have a mark only.",
        legend,
        PAGE[0],
        len(maps) * (height + head + 0.12),
    )
    for panel, (state, drawn) in enumerate(maps.items()):
        axes = _axes(figure, MARGIN, top + head + panel * (height + head + 0.12), *size)
        if head:
            text = "as it is" if state == "none" else _unit_label((model, state), labels)
            axes.set_title(text, loc="left", weight="bold", pad=3)
        xy, side = np.array(drawn["xy"], dtype=float), np.array(drawn["side"])
        scale = (np.ptp(xy, axis=0) / (size - EDGE)).max()
        marks = (xy - (xy.min(axis=0) + xy.max(axis=0)) / 2) / scale + size / 2
        axes.set(xlim=(0, size[0]), ylim=(0, size[1]), xticks=[], yticks=[])
        axes.spines[:].set(visible=True, color=NO_FILL)
        for name, look in looks.items():
            mine = side == name
            axes.plot(*marks[mine].T, **look, zorder=2 if name in others else 3)
        # words of sets first: the others have what room is left
        order = np.argsort([name in others for name in drawn["side"]], kind="stable")
        reach = np.where(np.isin(side[order], others), NEAR, REACH)
        texts = [drawn["words"][i].replace("_", " ") for i in order]
        for i, text, place in zip(order, texts, _free_places(marks[order], texts, size, reach), strict=True):
            if place is None:
                continue
            other = side[i] in others
            if not other and np.linalg.norm(place - marks[i]) > 0.2:
                axes.plot(*np.stack([marks[i], place]).T, color=GREY, linewidth=0.3, zorder=1)
            colour = GREY if other else looks[side[i]]["color"]
            look = {"ha": "center", "va": "center", "size": SMALL - other, "color": colour, "zorder": 4}
            box = {"boxstyle": "square,pad=0.05", "facecolor": "white", "linewidth": 0}
            axes.text(*place, text, bbox=None if other else box, **look)
    return figure
