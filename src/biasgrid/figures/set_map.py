"""Figure of a map of word sets in a model, in two dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.files import slug
from .figure import Drawing, Example, Figure, Files, evaluations_of
from .frame import Frame, empty_page, styled
from .palette import NO_FILL, Look, series_mark
from .questions import WORDS
from .text import LONGEST_HEAD, shorten, topic
from .types.scatter import label_marks
from .visuals import legend_of

if TYPE_CHECKING:
    from matplotlib import figure

    from ..tables.planned import Planned

HEADING = "Map of the word sets"
# Inches of the map.
HEIGHT = 5.0
# Largest distance of a word from its mark in inches.
REACH = 0.5
VOCABULARY: Look = {"linestyle": "", "marker": ".", "color": NO_FILL, "markersize": 3}


@styled
def set_map(points: Mapping[str, Any], label: str, criterion: str) -> figure.Figure:
    """Draw a map of the words of some sets among other words of a model (Maddalozzo 2023, figure B.1).

    Parameters
    ----------
    points
        The entry "set_map" of an evaluation's record: "words" and, for each, its "side" and its "xy". A word of a set
        has the mark of the set, and its name if there is room. A word of the vocabulary's ranks is a grey point.
    label
        The model's label.
    criterion
        The criterion of the words.
    """
    from ..evaluation.maps import is_ranks

    if not points["words"]:
        return empty_page(HEADING, "fewer than eight words of the map have a direction.")
    page = Frame(
        HEADING,
        f"{topic(criterion)}, {shorten(label)}: t-SNE in two dimensions",
        [
            "Words that are near each other are alike in the model; distances between far groups mean little.",
            "Directions and units mean nothing. Words without room for their names are marks alone.",
        ],
    )
    axes = page.panel(HEIGHT)
    xy, sides = np.array(points["xy"], dtype=float), np.array(points["side"])
    of_sets = [side for side in dict.fromkeys(points["side"]) if not is_ranks(side)]
    looks = {side: series_mark(i) for i, side in enumerate(of_sets)}
    looks |= {side: VOCABULARY for side in dict.fromkeys(points["side"]) if is_ranks(side)}
    for side, look in looks.items():
        axes.plot(*xy[sides == side].T, zorder=2 if is_ranks(side) else 5, **look)
    axes.set(xticks=[], yticks=[])
    axes.margins(0.03)
    axes.spines[:].set(visible=True, color=NO_FILL)
    drawn = page.done(legend_of(looks, {side: shorten(side, LONGEST_HEAD) for side in looks}))
    # Put the words of sets first: only they have names.
    order = np.argsort([is_ranks(side) for side in points["side"]], kind="stable")
    names = [points["words"][i] for i in order if not is_ranks(points["side"][i])]
    label_marks(axes, xy[order], [shorten(name, LONGEST_HEAD) for name in names], reach=REACH)
    return drawn


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion in study.config.evaluation:
        if study.evaluation_specs[criterion].map:
            for model, (evaluation, *_) in evaluations_of(study, criterion).items():
                spec = {"label": study.labels[model], "criterion": criterion}
                inputs = {"evaluation": study.paths.evaluation_file(evaluation)}
                yield Drawing(f"set-map-{slug(criterion)}-{model}", inputs, spec)


def _draw(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    from ..evaluation.record import read_evaluation

    return set_map(read_evaluation(inputs["evaluation"], "set_map")["set_map"], **spec)


def _map_alone(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the map only, with two digits."""
    names = ("criterion", "model", "debias")
    records = [
        {name: record[name] for name in names}
        | {"measures": []}
        | {"set_map": record["set_map"] | {"xy": np.round(record["set_map"]["xy"], 2).tolist()}}
        for record in contents["evaluation"]
    ]
    return {"evaluation": records}


FIGURES = (
    Figure(
        "set-map",
        "Where the words of some sets lie in a model: a map in two dimensions.",
        _draw,
        question=WORDS,
        heading=HEADING,
        asks="Where do the words lie in the model?",
        learn="You learn which sets the model keeps together.",
        drawings=_drawings,
        needs="an evaluation with a map",
        reading="A mark is a word of a set, a grey point one of the model's other words. Words that "
        "are near each other are alike in the model; the distance between far groups means "
        "little.",
        example=Example("thesis", "set-map-gender-bolukbasi-w2v-gnews-small", keep=_map_alone),
    ),
)
