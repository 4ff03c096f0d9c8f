"""Figure of where the words of some sets lie in a model (Maddalozzo 2023, figure B.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgrid.figures.figure import Drawing, Example, Figure, Files, evaluations_of, labels, pages
from biasgrid.figures.frame import MARGIN, PAGE, empty_page, styled
from biasgrid.figures.layout import add_axes, page
from biasgrid.figures.palette import GREY, NO_FILL, series_mark
from biasgrid.figures.text import SMALL, unit_label
from biasgrid.figures.types.scatter import free_places
from biasgrid.figures.visuals import legend_line
from biasgrid.files import slug

if TYPE_CHECKING:
    from matplotlib import figure

    from biasgrid.planned import Planned

REACH, NEAR = 0.6, 0.14  # inches between a mark and its word at most, and of words of no set
STATES = 2  # of a figure: untouched, or under a debias method
HEIGHTS = 3.0, 7.0  # of a panel in inches, as the map needs
EDGE = np.array([1.0, 0.5])  # inches, for names at the edges


@styled
def word_set_map(
    maps: Sequence[tuple[str, Mapping[str, Any]]],
    labels: Mapping[str, str],
    criterion: str,
    model: str,
    sets: Sequence[str],
) -> figure.Figure:
    """The words of `sets` in two dimensions, one colour and marker per set; words of no set are grey.

    `maps`: debias method or "none", and a map with "words", the "side" (set) of each and its "xy"; one panel each.
    Directions and units mean nothing, distances do: axes have no numbers, and the same scale both ways. Of words that
    have no room beside their marks the name is left out.
    Where no map has a word the figure says so.
    """
    maps = {state: points for state, points in maps if points.get("words")}
    if not maps:
        why = f"fewer than eight words have a place in {labels.get(model, model)}."
        return empty_page(f"{criterion}: a map of the words", why)
    drawn_sets = {side for points in maps.values() for side in points["side"]}
    looks = {name: series_mark(i) for i, name in enumerate(sets)}
    other_sets = sorted(drawn_sets - looks.keys())
    looks |= {
        name: series_mark(0) | {"color": NO_FILL, "marker": ".", "markersize": 4} for name in other_sets
    }
    legend = [(name, legend_line(**look)) for name, look in looks.items() if name in drawn_sets]
    width = PAGE[0] - 2 * MARGIN
    shape = max(np.divide(*np.ptp(points["xy"], axis=0)[::-1]) for points in maps.values())
    head = 0.22 * (len(maps) > 1)
    highest = min(HEIGHTS[1], (PAGE[1] - 1.5) / len(maps) - head - 0.12)
    size = np.array([width, np.clip(shape * (width - EDGE[0]) + EDGE[1], HEIGHTS[0], highest)])
    height = size[1]
    figure, top = page(
        f"{criterion}: a map of the words",
        f"{labels.get(model, model)}. t-SNE: words that are near each other here have similar vectors; distances "
        "between far groups, directions and units mean nothing. Words without room for their name have a mark only.",
        legend,
        PAGE[0],
        len(maps) * (height + head + 0.12),
    )
    for panel, (state, points) in enumerate(maps.items()):
        axes = add_axes(figure, MARGIN, top + head + panel * (height + head + 0.12), *size)
        if head:
            text = "as it is" if state == "none" else unit_label((model, state), labels)
            axes.set_title(text, loc="left", weight="bold", pad=3)
        xy, side = np.array(points["xy"], dtype=float), np.array(points["side"])
        scale = (np.ptp(xy, axis=0) / (size - EDGE)).max()
        marks = (xy - (xy.min(axis=0) + xy.max(axis=0)) / 2) / scale + size / 2
        axes.set(xlim=(0, size[0]), ylim=(0, size[1]), xticks=[], yticks=[])
        axes.spines[:].set(visible=True, color=NO_FILL)
        for name, look in looks.items():
            is_in_set = side == name
            axes.plot(*marks[is_in_set].T, **look, zorder=2 if name in other_sets else 3)
        # words of sets first: the others have what room is left
        order = np.argsort([name in other_sets for name in points["side"]], kind="stable")
        reach = np.where(np.isin(side[order], other_sets), NEAR, REACH)
        texts = [points["words"][i].replace("_", " ") for i in order]
        for i, text, place in zip(order, texts, free_places(marks[order], texts, size, reach), strict=True):
            if place is None:
                continue
            is_other = side[i] in other_sets
            if not is_other and np.linalg.norm(place - marks[i]) > 0.2:
                axes.plot(*np.stack([marks[i], place]).T, color=GREY, linewidth=0.3, zorder=1)
            colour = GREY if is_other else _dark(looks[side[i]]["color"])
            look = {"ha": "center", "va": "center", "size": SMALL - is_other, "color": colour, "zorder": 4}
            box = {"boxstyle": "square,pad=0.05", "facecolor": "white", "linewidth": 0}
            axes.text(*place, text, bbox=None if is_other else box, **look)
    return figure


def _dark(colour: str) -> tuple[float, ...]:
    """A colour dark enough for text on white."""
    from matplotlib.colors import to_rgb

    rgb = np.array(to_rgb(colour))
    light = rgb @ [0.2126, 0.7152, 0.0722]
    return tuple(rgb * min(1.0, 0.3 / max(light, 1e-9)))


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion, evaluation_spec in study.evaluation_specs.items():
        for model, evaluations in evaluations_of(study, criterion).items() if evaluation_spec.map else ():
            name = f"word-set-map-{slug(criterion)}-{model}"
            for drawing_name, page_evaluations in pages(name, evaluations, STATES):
                states = [evaluation.debias for evaluation in page_evaluations]
                spec = {
                    "labels": labels(study, page_evaluations),
                    "criterion": criterion,
                    "model": model,
                    "sets": list(evaluation_spec.map.sets),
                    "states": states,
                }
                yield Drawing(
                    drawing_name,
                    {"evaluations": list(map(study.paths.evaluation_file, page_evaluations))},
                    spec,
                )


def _draw(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    from biasgrid.evaluation.record import read_evaluation

    records = (read_evaluation(path, "set_map") for path in inputs["evaluations"])
    maps = [(state, record["set_map"]) for state, record in zip(spec["states"], records, strict=True)]
    return word_set_map(maps, **{key: spec[key] for key in ("labels", "criterion", "model", "sets")})


def _map_alone(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """The map, and nothing else of an evaluation."""
    names = ("criterion", "model", "debias", "set_map")
    records = [
        {name: record[name] for name in names} | {"measures": []} for record in contents["evaluations"]
    ]
    return {"evaluations": records}


FIGURES = (
    Figure(
        "word-set-map",
        "Where the words of some sets lie in a model.",
        _drawings,
        _draw,
        needs="an evaluation with a map",
        reading="A mark is a word, its colour and shape the set that it is in, and grey words are of no set. "
        "Words that are near each other have similar vectors; distances between far groups, "
        "directions and axes mean nothing. It is a picture to look at, and no measurement.",
        example=Example("thesis", "word-set-map-religion-word2vec-google-news-300-subset", keep=_map_alone),
    ),
)
