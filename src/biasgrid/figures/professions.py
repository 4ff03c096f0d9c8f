"""Figure of the words that lie furthest towards two ends, and of the components of the pairs that define a bias.

Bolukbasi et al., NeurIPS 2016, figures 1 and 6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BiasgridError
from ..files import slug
from ..numbers import share, typeset
from .figure import Drawing, Example, Figure, Files, evaluations_of
from .frame import MARGIN, PAGE, styled
from .layout import add_axes, page
from .palette import LESS_LIGHT, MORE_LIGHT, NO_FILL
from .questions import WORDS
from .text import LARGE, SMALL, text_width
from .visuals import legend_area

if TYPE_CHECKING:
    from matplotlib import figure

    from ..planned import Planned

MOST = 12  # words of each end, where no other number was printed
ROW = 0.175  # inches of a bar and its word
NUMBER = 0.4  # inches of a projection's number


@styled
def professions(
    direct: Mapping[str, Any],
    expected: Sequence[tuple[str, Sequence[str]]],
    label: str,
    criterion: str,
    excluded: bool = True,
) -> figure.Figure:
    """The words furthest towards either end, as many as were printed, and the components' shares of variance.

    Parameters
    ----------
    direct
        The entry "direct" of an evaluation's record: "projections" by end, a list of [word, projection] with the
        furthest first, and "shares" and "random_shares" of variance, largest first.
    expected
        The ends, the left one first, each with the words that were printed for it: they are in bold, with a blue bar.
    label
        What the model is called.
    excluded
        Whether words that have a gender (or the like) by definition were left out.

    Raises
    ------
    BiasgridError
        For a record without projections.
    """
    expected_words = dict(expected)
    if not direct.get("projections"):
        raise BiasgridError(f"professions, {criterion}: nothing to draw, the evaluation has no projections")
    # in the order of the study: a record's keys are sorted
    ends = [*expected_words] or [*direct["projections"]]
    most = max(map(len, expected_words.values()), default=0) or MOST
    words_by_end = {
        end: [(word, value) for word, value in words if value > 0][:most]
        for end, words in direct["projections"].items()
    }
    # without a word there is still room to say so
    rows = max(1, *map(len, words_by_end.values()))
    gap, head, foot = 0.35, 0.35, 0.5
    shares = direct["shares"]
    high, low = rows * ROW, 1.5
    legend = [
        *(
            (text, legend_area(facecolor=colour))
            for text, colour, printed in (
                ("among the words that the original prints (bold)", LESS_LIGHT, True),
                ("not among them", NO_FILL, False),
            )
            if any(
                (word in expected_words.get(end, ())) == printed
                for end in ends
                for word, _ in words_by_end[end]
            )
        ),
        ("components of the definitional pairs", legend_area(facecolor=MORE_LIGHT)),
        ("of as many random pairs (mean)", legend_area(facecolor="white", edgecolor="#666666")),
    ]
    figure, top = page(
        f"{criterion}: the most extreme words",
        f"{label}. Projections on the difference of {ends[0]} and {ends[1]}"
        f"{', words that have a side by definition left out' if excluded else ''}; below, what share of the variance "
        "of the definitional pairs each principal component holds.",
        legend,
        PAGE[0],
        head + high + head + low + foot,
    )
    panel_width = (figure.get_figwidth() - 2 * MARGIN - gap) / 2
    longest = max((value for words in words_by_end.values() for _, value in words), default=1.0)
    for i, end in enumerate(ends):
        words = words_by_end[end]
        names = [word.replace("_", " ") for word, _ in words]
        room = max((text_width(name, SMALL) for name in names), default=0) * 1.2 + 0.1
        left = MARGIN + i * (panel_width + gap)
        axes = add_axes(figure, left + room, top + head, panel_width - room, high)
        is_printed = [word in expected_words.get(end, ()) for word, _ in words]
        values = np.array([value for _, value in words])
        colours = [LESS_LIGHT if printed else NO_FILL for printed in is_printed]
        axes.barh(range(len(words)), values, height=0.7, color=colours)
        axes.set(xlim=(0, longest * (1 + NUMBER / (panel_width - room - NUMBER))), xticks=[])
        axes.set_ylim(rows - 0.5, -0.5)
        axes.set_yticks(range(len(words)), names)
        for text, printed in zip(axes.get_yticklabels(), is_printed, strict=True):
            text.set_fontweight("bold" if printed else "normal")
        for y, value in enumerate(values):
            axes.text(value + longest * 0.02, y, typeset(value), va="center", size=SMALL)
        if not words:
            axes.text(0, 0, "no word", va="center", size=SMALL)
        axes.tick_params(axis="y", length=0)
        axes.spines["bottom"].set_visible(False)
        axes.set_title(f"towards {end}", loc="left", weight="bold", size=LARGE - 1)
    axes = add_axes(figure, MARGIN + 0.45, top + head + high + head, 2 * panel_width + gap - 0.45, low)
    x = np.arange(len(direct["random_shares"]))
    axes.bar(x[: len(shares)] - 0.2, np.array(shares) * 100, width=0.38, color=MORE_LIGHT)
    random = np.array(direct["random_shares"]) * 100
    axes.bar(x + 0.2, random, width=0.38, facecolor="white", edgecolor="#666666", linewidth=0.7)
    for place, value in zip(x - 0.2, shares, strict=False):
        axes.text(place, 100 * value + 1, share(value).removesuffix(" %"), ha="center", size=SMALL)
    axes.spines["left"].set_visible(True)
    axes.set_xticks(x, [str(i + 1) for i in x])
    axes.set(xlabel="principal component", ylabel="% of the variance", ylim=(0, max([*shares, 0.1]) * 112))
    axes.set_title("variance of the definitional pairs", loc="left", weight="bold", size=LARGE - 1)
    return figure


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion in study.config.evaluation:
        evaluation_spec = study.evaluation_specs[criterion]
        if evaluation_spec.direct and evaluation_spec.direct.extremes:
            for model, (evaluation, *_) in evaluations_of(study, criterion).items():
                spec = {
                    "expected": [
                        [end, list(words)] for end, words in evaluation_spec.direct.extremes.items()
                    ],
                    "label": study.labels[model],
                    "criterion": criterion,
                    "excluded": bool(evaluation_spec.direct.exclude),
                }
                inputs = {"evaluation": study.paths.evaluation_file(evaluation)}
                yield Drawing(f"professions-{slug(criterion)}-{model}", inputs, spec)


def _draw(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    from ..evaluation.record import read_evaluation

    return professions(read_evaluation(inputs["evaluation"], "direct")["direct"], **spec)


def _direct(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """What an evaluation says of the direction, and nothing else."""
    names = ("criterion", "model", "debias", "direct")
    records = [{name: record[name] for name in names} | {"measures": []} for record in contents["evaluation"]]
    return {"evaluation": records}


FIGURES = (
    Figure(
        "professions",
        "The words furthest towards two ends of a direction, and the components of the pairs that define it.",
        _draw,
        question=WORDS,
        drawings=_drawings,
        needs="an evaluation of direct bias with extremes",
        reading="Top: the words furthest towards either end, with their projections; bold with a blue bar are "
        "those that the original paper prints, grey are others. Bottom: how much of the variance of "
        "the definitional pairs each principal component holds, beside random pairs (white). One high "
        "bar on the left says that the pairs share one direction.",
        example=Example("bolukbasi", "professions-professions-bolukbasi-w2v-gnews-small", keep=_direct),
    ),
)
