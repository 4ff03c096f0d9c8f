"""Colours and marks of figures.

They go by sorted key of a table's models or metrics, so that they mean the same in all figures of a study.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.colors import LinearSegmentedColormap

Look = dict[str, Any]  # what matplotlib takes for a line, a mark or an area

# Models are marks on white: Okabe and Ito's and Paul Tol's colour-blind safe colours, dark enough for that. One
# marker more than colours, so that the pair stays distinct when there are more models than either.
MODEL_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#332288"]
MODEL_COLOURS += ["#56B4E9", "#882255", "#999933", "#000000", "#44AA99", "#AA4499"]
MARKERS = "osD^vPX<>ph*d"
# Metrics are areas with black numbers in them: Tol's light scheme and six of the same lightness. Where there are more
# metrics than colours, the others are hatched.
METRIC_COLOURS = ["#77AADD", "#EE8866", "#EEDD88", "#FFAABB", "#99DDFF", "#44BB99"]
METRIC_COLOURS += ["#BBCC33", "#C7A6E0", "#D9B38C", "#AAAA00", "#B8C4CE", "#E08FC0"]
GREY = "#666666"
NO_FILL = "#BBBBBB"
ZEBRA = "#F2F2F2"  # behind every second row
LESS, MORE = MODEL_COLOURS[:2]
# as areas with black numbers in them
LESS_LIGHT, MORE_LIGHT = "#99C3EA", "#F4A582"
DASHED: Look = {"color": GREY, "linewidth": 0.8, "linestyle": (0, (4, 2)), "zorder": 1}
MISSING_CELL: Look = {"facecolor": "#E8E8E8", "edgecolor": "#BBBBBB", "hatch": "////", "linewidth": 0}
MISSING_MARK: Look = {"markerfacecolor": "white", "markeredgecolor": GREY, "markeredgewidth": 0.7}


def cycled(keys: Sequence[str], values: Sequence[str]) -> dict[str, str]:
    """Keys with values, which begin anew when there are fewer of them."""
    return {key: values[i % len(values)] for i, key in enumerate(keys)}


def model_mark(i: int) -> Look:
    """The mark of the i-th model."""
    colour = MODEL_COLOURS[i % len(MODEL_COLOURS)]
    marker = MARKERS[i % len(MARKERS)]
    # these look smaller than they are
    size = 5.8 if marker in "PX*d" else 4.5
    edge = {"markeredgecolor": "white", "markeredgewidth": 0.3}
    return {"linestyle": "", "color": colour, "marker": marker, "markersize": size, **edge}


def colour_map(name: str, colours: Sequence[str]) -> LinearSegmentedColormap:
    """Colours from the first to the last for 0 to 1."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(name, colours)
