"""Figure of the words furthest towards two ends, and of the components of the pairs that define a bias.

Bolukbasi et al., NeurIPS 2016, figures 1 and 6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BiasgridError
from ..core.files import slug
from ..core.numbers import share
from .figure import Drawing, Example, Figure, Files, evaluations_of
from .frame import Frame, styled
from .palette import NO_FILL, Look
from .projections import EXACT, PANEL, ROW, word_bars
from .questions import WORDS
from .text import LONGEST_HEAD, SMALL, shorten, topic
from .visuals import few_ticks, legend_area, under_head

if TYPE_CHECKING:
    from matplotlib import figure
    from matplotlib.axes import Axes

    from ..tables.planned import Planned

HEADING = "Words furthest from the middle"
# Number of words of each end, if no other number was published.
MOST = 12
PRINTED = "#777777"
RANDOM: Look = {"facecolor": "white", "edgecolor": "#666666", "linewidth": 0.7}


@styled
def professions(
    direct: Mapping[str, Any],
    expected: Sequence[tuple[str, Sequence[str]]],
    label: str,
    criterion: str,
    excluded: bool = True,
) -> figure.Figure:
    """Draw the words furthest towards either end, as many as were published, and the components' shares of variance.

    Parameters
    ----------
    direct
        The entry "direct" of an evaluation's record: "projections" by end, a list of [word, projection] with the
        furthest first, and "shares" and "random_shares" of variance, largest first.
    expected
        The ends, the left one first, each with its published words: they are in bold, with a dark bar.
    label
        The model's label.
    excluded
        Whether words that have a gender (or similar) by definition were left out.

    Raises
    ------
    BiasgridError
        For a record without projections.
    """
    expected_words = dict(expected)
    if not direct.get("projections"):
        raise BiasgridError(f"professions, {criterion}: nothing to draw, the evaluation has no projections")
    # Keep the order of the study: a record's keys are sorted.
    ends = [*expected_words] or [*direct["projections"]]
    most = max(map(len, expected_words.values()), default=0) or MOST
    words = {end: [(w, x) for w, x in direct["projections"][end] if x > 0][:most] for end in ends}
    is_printed = {end: [word in expected_words.get(end, ()) for word, _ in words[end]] for end in ends}
    # Leave room for a note if the words are missing.
    rows = max(1, *map(len, words.values()))
    left_out = ", words that have a side by definition left out" if excluded else ""
    shown = [printed for of_end in is_printed.values() for printed in of_end]
    page = Frame(
        f"{sum(shown)} of {len(shown)} extreme words match the original paper" if expected_words else HEADING,
        f"{topic(criterion)}, {shorten(label)}: the words furthest towards {ends[0]} and {ends[1]}",
        [
            f"Left: projections on the difference of {ends[0]} and {ends[1]}{left_out}.",
            "Right: the share of the variance of the definitional pairs that each principal component holds.",
            EXACT,
        ],
    )
    heads = {end: f"closer to {shorten(end, LONGEST_HEAD - 8)}" for end in ends} | {
        "": "Variance of the pairs"
    }
    panels = page.panels(heads, max(1.5, rows * ROW), least=PANEL)
    longest = max((value for of_end in words.values() for _, value in of_end), default=1.0)
    for end in ends:
        colours = [PRINTED if printed else NO_FILL for printed in is_printed[end]]
        word_bars(panels[end], words[end], colours, rows, longest)
        for text, printed in zip(panels[end].get_yticklabels(), is_printed[end], strict=True):
            text.set_fontweight("bold" if printed else "normal")
    _components(panels[""], direct["shares"], direct["random_shares"])
    kinds = {printed for of_end in is_printed.values() for printed in of_end}
    legend = [
        ("also in the original paper (bold)", legend_area(facecolor=PRINTED)),
        ("not in it", legend_area(facecolor=NO_FILL)),
    ]
    return page.done(
        [
            *(entry for entry, printed in zip(legend, (True, False), strict=True) if printed in kinds),
            ("definitional pairs", legend_area(facecolor=PRINTED)),
            ("random pairs (mean)", legend_area(**RANDOM)),
        ]
    )


def _components(axes: Axes, shares: Sequence[float], random_shares: Sequence[float]) -> None:
    """Draw the shares of the pairs' variance, and the shares of random pairs below them."""
    y = np.arange(len(random_shares))
    axes.barh(y[: len(shares)] - 0.2, np.array(shares) * 100, height=0.38, color=PRINTED)
    axes.barh(y + 0.2, np.array(random_shares) * 100, height=0.38, **RANDOM)
    for place, (value, random) in enumerate(zip(shares, random_shares, strict=False)):
        axes.text(100 * max(value, random) + 1, place, share(value), va="center", size=SMALL)
    axes.set(ylim=(len(y) - 0.5, -0.5), xlim=(0, max([*shares, 0.1]) * 130))
    axes.set_yticks(y, [str(i + 1) for i in y])
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel="share of the variance in %")
    under_head(axes, "principal component")
    few_ticks(axes.xaxis, 4)


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
    """Keep an evaluation's entry of the direction only."""
    names = ("criterion", "model", "debias", "direct")
    records = [{name: record[name] for name in names} | {"measures": []} for record in contents["evaluation"]]
    return {"evaluation": records}


FIGURES = (
    Figure(
        "professions",
        "The most biased words, and the components of the definitional pairs.",
        _draw,
        question=WORDS,
        heading=HEADING,
        asks="Which words lie furthest towards either end?",
        learn="You learn whether the words of the original paper come out again.",
        drawings=_drawings,
        needs="an evaluation of direct bias with extremes",
        reading="Left: bold and dark are words that the paper prints. Right: the variance of the "
        "pairs by component, beside random pairs (white); one high first bar means that they "
        "share a direction.",
        example=Example("bolukbasi", "professions-professions-bolukbasi-w2v-gnews-small", keep=_direct),
    ),
)
