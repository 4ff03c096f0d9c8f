"""Colours and marks of figures.

What a model or a metric looks like follows from its place in the study's config: it is the same in every figure of a
study, and what is added to the end of a config changes no other. Both parts of a look count: a colour has a lightness
that tells it from most others in greyscale, and a marker (of an area: a hatch) tells it from the rest.
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

Look = dict[str, Any]  # what matplotlib takes for a line, a mark or an area
Unit = tuple[str, str]  # a model and a debias method, "none" for the original model
# the keys of a config's "models" and "metrics", and the "languages" of models that are not in English
Order = Mapping[str, Sequence[str]]
# of the study that a figure is drawn for, as matplotlib has its style; without one, keys are in alphabetical order
_ORDER: ContextVar[Order] = ContextVar("order", default={})  # noqa: B039 (nothing changes it)

# Models are marks on white: colours of Okabe and Ito and of Paul Tol that the colour-blind can tell apart, from black
# to the lightest that is seen on white.
MODEL_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#332288"]
MODEL_COLOURS += ["#56B4E9", "#882255", "#999933", "#000000", "#117733", "#7A4B00"]
MARKERS = "osD^vPX<>*d"
# Metrics are areas with black numbers in them: colours as light as black is read on, or lighter.
METRIC_COLOURS = ["#4E8FC7", "#EE8866", "#DDE3E8", "#D96BA0", "#44BB99", "#A5E1FF"]
METRIC_COLOURS += ["#B07CC6", "#BBCC33", "#FFB3C1", "#B5803F", "#A3A300", "#F3E7A0"]
METRIC_HATCHES = ["", "////", "....", "\\\\\\\\"]
GREY = "#666666"
NO_FILL = "#BBBBBB"
ZEBRA = "#F2F2F2"  # behind every second row
CLEAR = "#1B6E3C"  # what is clear: the ring around a model that is clearly the least biased
# one meaning per colour: scores above and below the no-bias value, as on the page
ABOVE, BELOW = "#0072B2", "#D55E00"
# as areas with black numbers in them
ABOVE_LIGHT, BELOW_LIGHT = "#BBD9F2", "#EE9264"
# a score without a sign; what is counted, and of that what a test counts
INK, PLAIN, COUNTED = "#333333", "#CFCFCF", "#555555"
SIGNED = ("#B34700", "#EE9264", "#F7F7F7", "#6CACDC", "#00507D")  # from -1 to 1, as of correlations
AMOUNT = ("#FFFFFF", "#BBBBBB", "#333333")  # from none to all
DASHED: Look = {"color": GREY, "linewidth": 0.8, "linestyle": (0, (4, 2)), "zorder": 1}
MISSING_CELL: Look = {"facecolor": "#E8E8E8", "edgecolor": "#BBBBBB", "hatch": "////", "linewidth": 0}


@contextmanager
def ordered(order: Order) -> Iterator[None]:
    """Within this, colours follow the order of a config's "models" and "metrics"."""
    token = _ORDER.set(order)
    try:
        yield
    finally:
        _ORDER.reset(token)


def languages() -> Sequence[str]:
    """The languages other than English of the study that a figure is drawn for."""
    return _ORDER.get().get("languages", ())


def _pairs(
    keys: Iterable[str], kind: str, colours: Sequence[str], patterns: Sequence[str]
) -> dict[str, tuple[str, int]]:
    """Keys, sorted, with a colour and a place in `patterns`: in the config's order, and the keys that it lacks after
    those, in alphabetical order. The next pair differs in both."""
    keys = sorted(set(keys))
    order = _ORDER.get().get(kind, ())
    in_order = [*(order if set(order).intersection(keys) else ()), *(key for key in keys if key not in order)]
    pairs = {}
    for place, key in enumerate(in_order):
        rounds, place = divmod(place, len(colours))
        pairs[key] = colours[place], (place + rounds) % len(patterns)
    return {key: pairs[key] for key in keys}


def in_order(units: Iterable[Unit]) -> list[Unit]:
    """Models in the config's order, those that it lacks after them, each original, then with its debias methods."""
    models = {key: place for place, key in enumerate(_ORDER.get().get("models", ()))}
    return sorted(set(units), key=lambda u: (models.get(u[0], len(models)), u[0], u[1] != "none", u[1]))


def models_in_order(models: Iterable[str]) -> list[str]:
    """Models in the config's order, those that it lacks after them."""
    return [model for model, _ in in_order((model, "none") for model in models)]


def model_looks(models: Iterable[str]) -> dict[str, Look]:
    """The marks of models, in their order: colour and marker of each follow from its place in the config."""
    models = dict.fromkeys(models)
    pairs = _pairs(models, "models", MODEL_COLOURS, MARKERS)
    return {model: _mark(pairs[model][0], MARKERS[pairs[model][1]]) for model in models}


def unit_looks(units: Iterable[Unit]) -> dict[Unit, Look]:
    """The marks of models under debias methods.

    All states of a model have its colour and marker (`model_looks`). Beside the mark of a debiased one stands a
    letter, the method's among those of the figure.
    """
    units = list(units)
    models = model_looks(model for model, _ in units)
    letters = method_letters(units)
    return {
        (model, debias): models[model] if debias == "none" else _letter_look(models[model], letters[debias])
        for model, debias in units
    }


def method_letters(units: Iterable[Unit]) -> dict[str, str]:
    """The letters of a figure's debias methods, in alphabetical order; the original model has none."""
    methods = sorted({debias for _, debias in units} - {"none"})
    return {method: ascii_lowercase[i % 26] for i, method in enumerate(methods)}


def metric_areas(metrics: Iterable[str]) -> dict[str, Look]:
    """The areas of metrics: colour and hatch of each follow from its place in the config."""
    pairs = _pairs(metrics, "metrics", METRIC_COLOURS, METRIC_HATCHES)
    return {
        key: {"facecolor": colour, "edgecolor": "#00000055", "hatch": METRIC_HATCHES[hatch], "linewidth": 0.4}
        for key, (colour, hatch) in pairs.items()
    }


def series_mark(i: int) -> Look:
    """The mark of the i-th of some series that are no models."""
    return _mark(MODEL_COLOURS[i % len(MODEL_COLOURS)], MARKERS[i % len(MARKERS)])


def open_mark(look: Look, width: float = 0.8) -> Look:
    """A mark with nothing in it but an edge of so many points."""
    return look | {"markerfacecolor": "white", "markeredgecolor": look["color"], "markeredgewidth": width}


def _mark(colour: str, marker: str) -> Look:
    # these look smaller than they are
    size = 5.8 if marker in "PX*d" else 4.5
    edge = {"markeredgecolor": "white", "markeredgewidth": 0.3}
    return {"linestyle": "", "color": colour, "marker": marker, "markersize": size, **edge}


def _letter_look(look: Look, letter: str) -> Look:
    from matplotlib.path import Path

    # `Any`: in matplotlib's stubs, vertices are no array
    shape: Any = Path.make_compound_path(_outline(look["marker"]), _letter_path(letter, look["markersize"]))
    # matplotlib scales a path such that its farthest point is half the size from the centre
    return look | {"marker": shape, "markersize": look["markersize"] * 2 * abs(shape.vertices).max()}


def add_letters(axes: Axes, x: Any, y: Any, look: Look, letter: str, **options: Any) -> None:
    """The letters of `unit_looks` beside marks that are open or half-filled: `look` is the model's."""
    glyph: Any = _letter_path(letter, look["markersize"])
    size = (look["markersize"] * 2 * abs(glyph.vertices).max()) ** 2
    axes.scatter(x, y, size, marker=glyph, color=look["color"], linewidth=0, **options)


def _letter_path(letter: str, size: float) -> Path:
    """A letter 5 points high, at the upper right corner of a mark that is one unit, `size` points, wide."""
    from matplotlib.path import Path

    glyph: Any = _glyph(letter)
    return Path(glyph.vertices * 5 / size + (0.62, -0.1), glyph.codes)


@cache
def _outline(marker: str) -> Path:
    """A marker as a path, one unit wide."""
    from matplotlib.markers import MarkerStyle

    style = MarkerStyle(marker)
    return style.get_path().transformed(style.get_transform())


@cache
def _glyph(letter: str) -> Path:
    """A letter as a path, one unit high."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    return TextPath((0, 0), letter, size=1.35, prop=FontProperties(family="DejaVu Sans", weight="bold"))


def colour_map(name: str, colours: Sequence[str]) -> LinearSegmentedColormap:
    """Colours from the first to the last for 0 to 1."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(name, colours)
