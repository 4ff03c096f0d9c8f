"""Figure of where the most biased words lie before and after debiasing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BiasgridError
from ..files import slug
from ..numbers import coefficient
from .figure import Drawing, Example, Figure, Files, evaluations_of, labels, pages
from .frame import MARGIN, PAGE, styled
from .layout import add_panels
from .methods import method_label
from .palette import LESS, MORE, Look
from .questions import DEBIASING
from .visuals import legend_mark

if TYPE_CHECKING:
    from matplotlib import figure

    from ..planned import Planned

PANELS = 16  # of a figure: what a page has room for
SIDES: list[Look] = [{"marker": "o", "color": LESS}, {"marker": "^", "color": MORE}]


@styled
def word_map(
    maps: Sequence[tuple[str, str, Mapping, float | None]], labels: Mapping[str, str], criterion: str
) -> figure.Figure:
    """Where the most biased words of one model lie before and after debiasing (Gonen & Goldberg 2019, figure 1).

    `maps`: (model, debias method or "none", map, accuracy of 2-means or None) of every panel, drawn in that order but
    the untouched model first. A map has "words" and, for each, its "side" (one of two) and its "xy". Directions and
    units of a panel mean nothing, distances do: axes have no numbers, and the same scale both ways.
    Raises BiasgridError where there is no map, maps of two models or two of a method, not two sides, or lists of
    different lengths.
    """
    if not maps:
        raise BiasgridError("word_map: nothing to draw, there are no maps")
    models = sorted({model for model, *_ in maps})
    if len(models) > 1:
        raise BiasgridError(f"word_map: maps of {len(models)} models ({', '.join(models)}); a figure has one")
    methods = [method for _, method, *_ in maps]
    if len(set(methods)) < len(methods):
        raise BiasgridError(f"word_map: two maps of one method; there are {', '.join(methods)}")
    sides = sorted({side for *_, points, _ in maps for side in points["side"]})
    if len(sides) != 2:
        raise BiasgridError(f"word_map: {len(sides)} sides; words have one of two")
    for _, method, points, _ in maps:
        if not len(points["words"]) == len(points["side"]) == len(points["xy"]):
            raise BiasgridError(f"word_map: {method!r} has words, side and xy of different lengths")

    heads = {
        method: (
            method_label(labels, method),
            "no 2-means accuracy" if accuracy is None else f"2-means accuracy {coefficient(accuracy)}",
        )
        for _, method, _, accuracy in sorted(maps, key=lambda entry: entry[1] != "none")
    }
    columns = min(len(heads), min((4, 3), key=lambda columns: -len(heads) % columns))
    gap = 0.12
    size = np.full(2, min(2.2, (PAGE[0] - 2 * MARGIN + gap) / columns - gap))
    figure, panels, _ = add_panels(
        f"{criterion}: the most biased words",
        f"{labels.get(models[0], models[0])}, t-SNE. Two sides that stay apart can still be told from each other. "
        "Accuracy: 0.5 = nothing left to recover, 1 = everything.",
        heads,
        columns,
        size,
        [
            (str(labels.get(side, side)), legend_mark(markersize=4, **SIDES[i]))
            for i, side in enumerate(sides)
        ],
        gap=gap,
    )
    for _, method, points, _ in maps:
        axes, xy, side = panels[method], np.asarray(points["xy"], dtype=float), np.asarray(points["side"])
        # in turns, so that neither side lies on the other
        for turn in range(8):
            for i, name in enumerate(sides):
                side_xy = xy[side == name][turn::8]
                axes.plot(*side_xy.T, linestyle="", markersize=2.4, markeredgewidth=0, alpha=0.75, **SIDES[i])
        middle, reach = (xy.min(axis=0) + xy.max(axis=0)) / 2, np.ptp(xy, axis=0).max() * 0.54
        axes.set(xlim=middle[0] + [-reach, reach], ylim=middle[1] + [-reach, reach], xticks=[], yticks=[])
        axes.spines[:].set(visible=True, color="#BBBBBB")
    return figure


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion, entry in study.config.evaluation.items():
        if criterion in study.config.debias and entry.get("hidden") is not None:
            for model, evaluations in evaluations_of(study, criterion).items():
                name = f"word-map-{slug(criterion)}-{model}"
                for drawing_name, page_evaluations in pages(name, evaluations, PANELS):
                    states = [evaluation.debias for evaluation in page_evaluations]
                    spec = {
                        "labels": labels(study, page_evaluations),
                        "criterion": criterion,
                        "states": states,
                    }
                    yield Drawing(
                        drawing_name,
                        {"evaluations": list(map(study.paths.evaluation_file, page_evaluations))},
                        spec,
                    )


def _draw(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    from ..evaluation.record import word_maps

    return word_map(word_maps(inputs["evaluations"]), spec["labels"], spec["criterion"])


def _map_alone(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """The map, to two digits, and the accuracy that stands above it."""
    records = [
        {name: record[name] for name in ("criterion", "model", "debias")}
        | {"measures": [m for m in record["measures"] if m["measure"] == "cluster_accuracy"]}
        | {"map": record["map"] | {"xy": np.round(record["map"]["xy"], 2).tolist()}}
        for record in contents["evaluations"]
    ]
    return {"evaluations": records}


FIGURES = (
    Figure(
        "word-map",
        "Where the most biased words of a model lie before and after debiasing.",
        _draw,
        question=DEBIASING,
        drawings=_drawings,
        group="mitigation",
        reading="A mark is one of the most biased words, its colour and shape the side that it has in the "
        "untouched model. Two clouds that stay apart after debiasing can still be told from each "
        "other. The accuracy above each panel says how well: .5 is chance. Distances mean something, "
        "directions and axes do not.",
        example=Example(
            "debias",
            "word-map-gender-word2vec-google-news-300-subset",
            {"debias": ["none", "gender-hard"]},
            _map_alone,
        ),
    ),
)
