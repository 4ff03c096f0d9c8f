"""Colours and marks of figures.

The look of a model or a metric depends on its position in the study's config. It is therefore the same in every
figure of a study, and additions at the end of a config do not change other looks. Both parts of a look count. A
colour has a lightness that differs from most others in greyscale, and the marker (for an area: the hatch) differs
from the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.path import Path

# Arguments of matplotlib for a line, a mark or an area.
Look = dict[str, Any]
# A model and a debias method, "none" for the original model.
Unit = tuple[str, str]
# The keys of a config's "models" and "metrics", and the "languages" of models that are not English.
Order = Mapping[str, Sequence[str]]
# The order of the study whose figure is drawn, a context like matplotlib's style; by default keys are in alphabetical
# order.
_ORDER: ContextVar[Order] = ContextVar("order", default={})  # noqa: B039 (nothing changes it)

# Models are marks on white: colours of Okabe and Ito and of Paul Tol that the colour-blind can tell apart, from black
# to the lightest that is visible on white.
MODEL_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#332288"]
MODEL_COLOURS += ["#56B4E9", "#882255", "#999933", "#000000", "#117733", "#7A4B00"]
MARKERS = "osD^vPX<>*d"
# Metrics are areas with black numbers in them: colours that are light enough for black text.
METRIC_COLOURS = ["#4E8FC7", "#EE8866", "#DDE3E8", "#D96BA0", "#44BB99", "#A5E1FF"]
METRIC_COLOURS += ["#B07CC6", "#BBCC33", "#FFB3C1", "#B5803F", "#A3A300", "#F3E7A0"]
METRIC_HATCHES = ["", "////", "....", "\\\\\\\\"]
GREY = "#666666"
NO_FILL = "#BBBBBB"
# The background of every second row.
ZEBRA = "#F2F2F2"
# The colour of clear results, such as the ring around a model that is clearly the least biased.
CLEAR = "#1B6E3C"
# Each colour has one meaning: scores above and below the no-bias value, as in the report.
ABOVE, BELOW = "#0072B2", "#D55E00"
# The same colours for areas with black numbers in them.
ABOVE_LIGHT, BELOW_LIGHT = "#BBD9F2", "#EE9264"
# Colours of a score without a sign, of counted values, and of the values that a test counts.
INK, PLAIN, COUNTED = "#333333", "#CFCFCF", "#555555"
# From -1 to 1, such as for correlations.
SIGNED = ("#B34700", "#EE9264", "#F7F7F7", "#6CACDC", "#00507D")
# From none to all.
AMOUNT = ("#FFFFFF", "#BBBBBB", "#333333")
DASHED: Look = {"color": GREY, "linewidth": 0.8, "linestyle": (0, (4, 2)), "zorder": 1}
MISSING_CELL: Look = {"facecolor": "#E8E8E8", "edgecolor": "#BBBBBB", "hatch": "////", "linewidth": 0}


@contextmanager
def ordered(order: Order) -> Iterator[None]:
    """Order colours in this context like a config's "models" and "metrics"."""
    token = _ORDER.set(order)
    try:
        yield
    finally:
        _ORDER.reset(token)


def languages() -> Sequence[str]:
    """Return the languages other than English of the study whose figure is drawn."""
    return _ORDER.get().get("languages", ())


def _pairs(
    keys: Iterable[str], kind: str, colours: Sequence[str], patterns: Sequence[str]
) -> dict[str, tuple[str, int]]:
    """Return keys, sorted, with a colour and an index into `patterns`, in the config's order.

    Keys that the config lacks come last, in alphabetical order. Consecutive pairs differ in both.
    """
    keys = sorted(set(keys))
    order = _ORDER.get().get(kind, ())
    in_order = [*(order if set(order).intersection(keys) else ()), *(key for key in keys if key not in order)]
    pairs = {}
    for place, key in enumerate(in_order):
        rounds, place = divmod(place, len(colours))
        pairs[key] = colours[place], (place + rounds) % len(patterns)
    return {key: pairs[key] for key in keys}


def in_order(units: Iterable[Unit]) -> list[Unit]:
    """Return models in the config's order, then other models; each original model precedes its debiased variants."""
    models = {key: place for place, key in enumerate(_ORDER.get().get("models", ()))}
    return sorted(set(units), key=lambda u: (models.get(u[0], len(models)), u[0], u[1] != "none", u[1]))


def models_in_order(models: Iterable[str]) -> list[str]:
    """Return models in the config's order, then other models."""
    return [model for model, _ in in_order((model, "none") for model in models)]


def model_looks(models: Iterable[str]) -> dict[str, Look]:
    """Return the marks of models, in their order: colour and marker depend on the position in the config."""
    models = dict.fromkeys(models)
    pairs = _pairs(models, "models", MODEL_COLOURS, MARKERS)
    return {model: _mark(pairs[model][0], MARKERS[pairs[model][1]]) for model in models}


def unit_looks(units: Iterable[Unit]) -> dict[Unit, Look]:
    """Return the marks of models and their debiased variants.

    All variants of a model have its colour and marker (`model_looks`). The mark of a debiased variant also has a
    letter, the letter of the method in the figure.
    """
    units = list(units)
    models = model_looks(model for model, _ in units)
    letters = method_letters(units)
    return {
        (model, debias): models[model] if debias == "none" else _letter_look(models[model], letters[debias])
        for model, debias in units
    }


def method_letters(units: Iterable[Unit]) -> dict[str, str]:
    """Return the letters of a figure's debias methods, in alphabetical order; the original model lacks one."""
    methods = sorted({debias for _, debias in units} - {"none"})
    return {method: ascii_lowercase[i % 26] for i, method in enumerate(methods)}


def metric_areas(metrics: Iterable[str]) -> dict[str, Look]:
    """Return the areas of metrics: colour and hatch depend on the position in the config."""
    pairs = _pairs(metrics, "metrics", METRIC_COLOURS, METRIC_HATCHES)
    return {
        key: {"facecolor": colour, "edgecolor": "#00000055", "hatch": METRIC_HATCHES[hatch], "linewidth": 0.4}
        for key, (colour, hatch) in pairs.items()
    }


def series_mark(i: int) -> Look:
    """Return the mark of the i-th of some series other than models."""
    return _mark(MODEL_COLOURS[i % len(MODEL_COLOURS)], MARKERS[i % len(MARKERS)])


def open_mark(look: Look, width: float = 0.8) -> Look:
    """Return a white mark with an edge of `width` points."""
    return look | {"markerfacecolor": "white", "markeredgecolor": look["color"], "markeredgewidth": width}


def _mark(colour: str, marker: str) -> Look:
    # These markers look smaller than they are.
    size = 5.8 if marker in "PX*d" else 4.5
    edge = {"markeredgecolor": "white", "markeredgewidth": 0.3}
    return {"linestyle": "", "color": colour, "marker": marker, "markersize": size, **edge}


def _letter_look(look: Look, letter: str) -> Look:
    from matplotlib.path import Path

    # Use `Any`: in matplotlib's stubs, vertices are not an array.
    shape: Any = Path.make_compound_path(_outline(look["marker"]), _letter_path(letter, look["markersize"]))
    # matplotlib scales a path such that its farthest point is half the size away from the centre.
    return look | {"marker": shape, "markersize": look["markersize"] * 2 * abs(shape.vertices).max()}


def add_letters(axes: Axes, x: Any, y: Any, look: Look, letter: str, **options: Any) -> None:
    """Draw the letters of `unit_looks` next to open or half-filled marks; `look` is the model's look."""
    glyph: Any = _letter_path(letter, look["markersize"])
    size = (look["markersize"] * 2 * abs(glyph.vertices).max()) ** 2
    axes.scatter(x, y, size, marker=glyph, color=look["color"], linewidth=0, **options)


def _letter_path(letter: str, size: float) -> Path:
    """Return a letter 5 points high, at the upper right corner of a mark one unit (`size` points) wide."""
    from matplotlib.path import Path

    glyph: Any = _glyph(letter)
    return Path(glyph.vertices * 5 / size + (0.62, -0.1), glyph.codes)


@cache
def _outline(marker: str) -> Path:
    """Return a marker as a path one unit wide."""
    from matplotlib.markers import MarkerStyle

    style = MarkerStyle(marker)
    return style.get_path().transformed(style.get_transform())


@cache
def _glyph(letter: str) -> Path:
    """Return a letter as a path one unit high."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    return TextPath((0, 0), letter, size=1.35, prop=FontProperties(family="DejaVu Sans", weight="bold"))


def colour_map(name: str, colours: Sequence[str]) -> LinearSegmentedColormap:
    """Create a colour map from the first colour at 0 to the last at 1."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(name, colours)
