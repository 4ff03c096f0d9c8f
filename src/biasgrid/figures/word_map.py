"""Figure of a map of the most biased words before and after debiasing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BiasgridError
from ..core.files import slug
from ..core.numbers import share
from .figure import Drawing, Example, Figure, Files, evaluations_of
from .frame import Frame, styled
from .methods import method_label
from .palette import ABOVE, BELOW_LIGHT, NO_FILL, Look
from .questions import DEBIASING
from .text import share_range, topic
from .visuals import legend_mark

if TYPE_CHECKING:
    from matplotlib import figure

    from ..tables.planned import Planned

HEADING = "Map of the most biased words"
# Inches of a map: if there are many, and if there are few.
HEIGHT = 1.5, 2.4
# One colour is light, so that small marks differ in greyscale.
SIDES: list[Look] = [{"marker": "o", "color": ABOVE}, {"marker": "^", "color": BELOW_LIGHT}]


@styled
def word_map(
    maps: Sequence[tuple[str, str, Mapping, float | None]], labels: Mapping[str, str], criterion: str
) -> figure.Figure:
    """Draw the most biased words of one model before and after debiasing (Gonen & Goldberg 2019, figure 1).

    `maps` has (model, debias method or "none", map, accuracy of 2-means or None) for every panel, drawn in that order
    but with the original model first. A map has "words" and, for each, its "side" (one of two) and its "xy".
    Directions and units of a panel mean nothing, but distances do: axes lack numbers, and have the same scale both
    ways.

    Raises BiasgridError for an empty list, maps of two models, two maps of a method, not two sides, or lists of
    different lengths.
    """
    import pandas as pd
    import seaborn

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

    after = [accuracy for _, method, _, accuracy in maps if method != "none" and accuracy is not None]
    page = Frame(
        _finding(after),
        f"{topic(criterion)}, {labels.get(models[0], models[0])}: map of the most biased words (t-SNE)",
        [
            "Above each map: how many words a clustering still puts on their original side; half is chance.",
            "Distances mean something, directions do not.",
            "The words are the most biased ones and not a sample: there are no intervals.",
        ],
    )
    heads = {
        method: f"{method_label(labels, method)}: {share(accuracy)}"
        for _, method, _, accuracy in sorted(maps, key=lambda entry: entry[1] != "none")
    }
    panels = page.panels(heads, float(np.clip(page.width / len(heads), *HEIGHT)), least=1.5)
    looks = dict(zip(sides, SIDES, strict=True))
    for _, method, points, _ in maps:
        words = pd.DataFrame(points["xy"], columns=["x", "y"], dtype=float).assign(side=points["side"])
        # Draw the sides in turn, so that neither side covers the other.
        words = words.loc[words.groupby("side").cumcount().sort_values(kind="stable").index]
        axes = panels[method]
        seaborn.scatterplot(
            words,
            x="x",
            y="y",
            hue="side",
            style="side",
            palette={side: look["color"] for side, look in looks.items()},
            markers={side: look["marker"] for side, look in looks.items()},
            s=7,
            linewidth=0,
            alpha=0.75,
            legend=False,
            ax=axes,
        )
        axes.set(xticks=[], yticks=[], xlabel="", ylabel="")
        axes.set_aspect("equal", adjustable="datalim")
        axes.spines[:].set(visible=True, color=NO_FILL)
    return page.done(
        [(str(labels.get(side, side)), legend_mark(markersize=4, **look)) for side, look in looks.items()]
    )


def _finding(accuracies: Sequence[float]) -> str:
    """Say how many words stay predictable after debiasing, from the smallest to the largest share of a method."""
    if not accuracies:
        return HEADING
    return f"After debiasing, {share_range(accuracies)} of words stay predictable"


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion, entry in study.config.evaluation.items():
        if criterion in study.config.debias and entry.get("hidden") is not None:
            for model, evaluations in evaluations_of(study, criterion).items():
                yield Drawing(
                    f"word-map-{slug(criterion)}-{model}",
                    {"evaluations": list(map(study.paths.evaluation_file, evaluations))},
                    {"criterion": criterion},
                )


def _draw(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    from ..evaluation.record import word_maps

    return word_map(word_maps(inputs["evaluations"]), spec["labels"], spec["criterion"])


def _map_alone(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the map, with two digits, and the accuracy above it."""
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
        heading=HEADING,
        asks="Do the most biased words still form two groups?",
        learn="You see whether debiasing mixes the two groups of words.",
        drawings=_drawings,
        facts=("labels",),
        group="mitigation",
        reading="Colour and shape are a word's side in the original model: clouds that stay apart can "
        "still be predicted, by the share above (half is chance). Distances mean something, "
        "directions do not.",
        example=Example(
            "debias",
            "word-map-gender-word2vec-google-news-300-subset",
            {"debias": ["none", "gender-hard"]},
            _map_alone,
        ),
    ),
)
