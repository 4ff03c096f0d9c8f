"""Figures of four crossed groups: words that IBD and EIBD detect, by the threshold, and FISE's quadrants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.files import slug
from ..core.numbers import interval, share, typeset, typographic
from ..core.seeds import seed_of
from ..measure.statistics.means import share_interval
from ..tables.cells import word_cells
from .figure import Drawing, Example, Figure, count_range, page_name
from .frame import Frame, empty_page, styled
from .palette import DASHED, GREY, NO_FILL, Look, model_looks, models_in_order
from .questions import WORDS
from .rows import from_tables, rows_where
from .text import SMALL, fit_text, percent, topic
from .types.curves import curves
from .visuals import few_ticks, in_place_of_mark, is_leftmost, legend_line, legend_neutral, legend_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

    from ..tables.planned import Planned

CURVES = "Share of detected words by the threshold"
QUADRANTS = "Words between four crossed groups"
# In inches.
PANEL = 1.15
# Inches of a model's name next to its panels.
BESIDE = 0.8
# Effect size beyond which an axis lacks room for ticks at 0, 1 and 2.
FAR = 6.0
# Number of resamples of a region.
DRAWS = 1000
NAMES_STAY = "over the words of the set; the groups' names stay"
MEAN: Look = {"color": "black", "marker": "D", "markersize": 3.5, "linestyle": "", "zorder": 5}
WORD: Look = {"color": GREY, "marker": "o", "markersize": 2.2, "linestyle": "", "alpha": 0.6}


@styled
def threshold_curves(
    words: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    metric: str,
    panels: Sequence[tuple[str, str]],
    level: float = 0.95,
) -> figure.Figure:
    """Draw the share of a set's words that are detected, by the threshold: a panel per query, a curve per model.

    `words`: words.csv. `panels`: (sub-)query, and the text above its panel.
    """
    import pandas as pd

    of_metric = rows_where(words, criterion=criterion, metric=metric)
    found = {
        key: part.reindex(columns=["from", "to"]) for key, part in _of_words(of_metric, "thresholds").items()
    }
    found = {key: part for key, part in found.items() if part.notna().all(axis=None)}
    if not found:
        return empty_page(CURVES, "no model has a value.")
    models = models_in_order(model for _, model in found)
    looks = {model: look | {"linestyle": "-"} for model, look in model_looks(models).items()}
    counts = [len(part) for part in found.values()]
    # Groups of unequal size may have effect sizes above 2.
    end = max(2.0, *(part["to"].max() for part in found.values()))
    page = Frame(
        CURVES,
        f"{topic(criterion)}, {labels.get(metric, metric)}: share of the words detected (up) by the threshold "
        "(across)",
        [
            f"The threshold is an effect size; shades are {percent(level)} intervals of a share over the words of "
            "the "
            "set.",
            "By chance alone some words are detected: a curve alone does not show that a group stands out.",
            "Where the study has tests, scores.csv has those of the area under a curve.",
            f"The intervals are Wilson's; the groups' names stay. A set has {count_range(counts)} words.",
        ],
    )
    heads = {query: head for query, head in panels if query in {query for query, _ in found}}
    axes_of = page.panels(heads, PANEL, labels=0.4, least=1.1, bold=False)
    for query, axes in axes_of.items():
        parts = []
        for model in models:
            if (query, model) in found:
                curve = _curve(found[query, model], level)
                shade: Look = {"color": looks[model]["color"], "alpha": 0.13, "linewidth": 0, "step": "post"}
                axes.fill_between(curve["threshold"], curve["low"], curve["high"], **shade)
                parts.append(curve.assign(series=model))
        options: Look = {"drawstyle": "steps-post", "markevery": 0.3}
        curves(axes, pd.concat(parts), "threshold", "share", looks, **options)
        axes.set(xlim=(0, end), ylim=(-0.02, 1.02), xlabel="", ylabel="")
        if end < FAR:
            axes.set_xticks([0, 1, 2], ["0", "1", "2"])
        else:
            few_ticks(axes.xaxis, 2)
        axes.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"] if is_leftmost(axes) else [""] * 3)
    return page.done(legend_of(looks, labels))


def _curve(thresholds: pd.DataFrame, level: float) -> pd.DataFrame:
    """Return the share of detected words from each threshold on at which it may change."""
    import pandas as pd

    start, end = thresholds["from"].to_numpy(), thresholds["to"].to_numpy()
    places = np.sort([0.0, *start, *end])
    hits = ((start <= places[:, None]) & (places[:, None] < end)).sum(axis=1)
    low, high = share_interval(hits, len(start), level)
    return pd.DataFrame({"threshold": places, "share": hits / len(start), "low": low, "high": high})


def _of_words(table: pd.DataFrame, detail: str) -> dict[tuple[str, str], pd.DataFrame]:
    """Return a metric's numbers of words on original models, as columns, by (sub-)query and model."""
    return {
        key: part.pivot(index="word", columns="column", values="value")
        for key, part in rows_where(table, detail=detail, debias="none").groupby(["query", "model"])
    }


@styled
def quadrants(
    words: pd.DataFrame,
    contrasts: pd.DataFrame,
    scores: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    metric: str,
    panels: Sequence[tuple[str, str]],
    groups: Sequence[str],
    centre: str,
    seed: int,
    level: float = 0.95,
) -> figure.Figure:
    """Draw words on the two axes of four crossed groups: a panel per query and model.

    `words`, `contrasts`, `scores`: the tables of these names. `panels`: (sub-)query, and the text above its panel.
    `groups`: the names of the groups, in their order. `centre`: the centre of the axes, a parameter of the metric.
    `seed`: the study's seed, for the resamples.
    """
    words, contrasts, scores = (
        rows_where(table, criterion=criterion, metric=metric, debias="none")
        for table in (words, contrasts, scores)
    )
    values = scores.dropna(subset="value").set_index(["query", "model"])
    found = {
        key: part.reindex(columns=["x", "y"]).dropna()
        for key, part in _of_words(words, "axes").items()
        if key in values.index
    }
    found = {key: part for key, part in found.items() if len(part)}
    if not found:
        return empty_page(QUADRANTS, "no model has a value.")
    shares = contrasts.set_index(["query", "model", "first", "quantity"])["value"]
    models = models_in_order(model for _, model in found)
    panels = [panel for panel in panels if panel[0] in {query for query, _ in found}]
    places = ("upper right", "lower right", "upper left", "lower left")
    about, expected = (
        ("the medians of 1,000 words of the model", "of words at large")
        if centre == "words"
        else ("the origin", "a quarter")
    )
    page = Frame(
        QUADRANTS,
        f"{topic(criterion)}, {labels.get(metric, metric)}: words on the axes of four crossed groups",
        [
            f"Quadrants: {'; '.join(map(', '.join, zip(places, groups, strict=True)))}.",
            f"In each quadrant: the share of the set's words; in brackets, {expected}.",
            f"Ellipse: {percent(level)} region of the mean of the words (bootstrap {NAMES_STAY}).",
            f"The axes are about {about}.",
            f"Below: {labels.get(metric, metric)}, and its interval over words and names.",
        ],
    )
    heads = {(model, query): head for model in models for query, head in panels}
    axes_of = page.panels(heads, PANEL, labels=BESIDE, least=1.1, line=len(panels), bold=False)
    for (model, query), axes in axes_of.items():
        if is_leftmost(axes):
            axes.set_ylabel(
                fit_text(labels.get(model, model), BESIDE, SMALL),
                size=SMALL,
                rotation=0,
                ha="right",
                va="center",
            )
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set(visible=True, color=NO_FILL)
        if (query, model) not in found:
            in_place_of_mark(axes, 0.5, "no value")
            continue
        _draw_quadrants(
            axes, found[query, model].to_numpy(), level, seed_of(seed, f"quadrants/{model}/{query}")
        )
        for name, (x, y) in zip(groups, ((1, 1), (1, 0), (0, 1), (0, 0)), strict=True):
            texts = [share(shares.get((query, model, name, part))) for part in ("share", "expected_share")]
            place: Look = {
                "ha": ("left", "right")[x],
                "va": ("bottom", "top")[y],
                "transform": axes.transAxes,
            }
            axes.text(0.02 + 0.96 * x, 0.02 + 0.96 * y, f"{texts[0]}\n({texts[1]})", size=SMALL, **place)
        value, low, high = values.loc[(query, model), ["value", "ci_low", "ci_high"]]
        ends = typographic(interval(low, high, 2)) if np.isfinite(low) else ""
        axes.set_xlabel(f"{typeset(value, 2)} {ends}", size=SMALL)
    return page.done(
        [
            ("a word", legend_line(**WORD)),
            ("mean of the words, and its region", legend_line(**{**MEAN, "linestyle": "-"})),
            legend_neutral("centre" if centre == "words" else "origin"),
        ]
    )


def _draw_quadrants(axes: Axes, points: np.ndarray, level: float, seed: int) -> None:
    axes.axvline(0, **DASHED)
    axes.axhline(0, **DASHED)
    axes.plot(*points.T, **WORD)
    axes.plot(*points.mean(axis=0), **MEAN)
    axes.plot(*_region(points, level, seed), color=MEAN["color"], linewidth=1.1, zorder=4)
    reach = 1.3 * max(np.abs(points).max(), 1e-9)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach))


def _region(points: np.ndarray, level: float, seed: int) -> np.ndarray:
    """Return the outline (2, 100) of the ellipse with a share `level` of the means of resamples of points (n, 2)."""
    rng = np.random.default_rng(seed)
    means = points[rng.integers(len(points), size=(DRAWS, len(points)))].mean(axis=1)
    centre = points.mean(axis=0)
    root = np.linalg.cholesky(np.cov(means.T) + 1e-18 * np.eye(2))
    reach = np.quantile(np.linalg.norm(np.linalg.solve(root, (means - centre).T), axis=0), level)
    angles = np.linspace(0, 2 * np.pi, 100)
    return centre[:, None] + reach * root @ [np.cos(angles), np.sin(angles)]


def _queries(study: Planned, metrics: Sequence[str]) -> Iterator[tuple[str, str, list[Any]]]:
    """Yield criterion, key and (sub-)queries of each metric with one of these names."""
    cells: dict[tuple[str, str], dict[str, None]] = {}
    for cell in word_cells(study):
        if study.metric(cell.criterion, cell.metric).name in metrics:
            cells.setdefault((cell.criterion, cell.metric), {})[cell.query] = None
    for (criterion, key), names in cells.items():
        template = study.metric(criterion, key).template
        yield criterion, key, [q for name in names for q in study.queries[name].subqueries(template)]


def _curve_drawings(study: Planned) -> Iterator[Drawing]:
    for criterion, metric, queries in _queries(study, ("ibd", "eibd")):
        panels = [[q.name, f"{q.target_sets[0].name}\n{q.attribute_sets[0].name}"] for q in queries]
        spec = {"criterion": criterion, "metric": metric, "panels": panels}
        yield Drawing(f"threshold-curves-{slug(criterion)}-{slug(metric)}", spec=spec)


def _quadrant_drawings(study: Planned) -> Iterator[Drawing]:
    drawn: dict[str, list[str]] = {}
    for criterion, metric, queries in _queries(study, ("fise", "fise_share")):
        centre = (study.metrics(criterion)[metric].params or {}).get("centre", "words")
        # Draw the axes with one centre once, because both metrics share them.
        if centre in drawn.setdefault(criterion, []):
            continue
        drawn[criterion].append(centre)
        # The figure of the first centre is named after the criterion only.
        name = "-".join(["quadrants", slug(criterion), *([centre] if len(drawn[criterion]) > 1 else [])])
        panels: dict[tuple[str, ...], list[list[str]]] = {}
        drawn_queries = set()
        for q in queries:
            groups, words = tuple(s.name for s in q.target_sets), q.attribute_sets[0].name
            # Skip a query with the same groups in another order, which has the same words on the same axes.
            if (asked := (frozenset(groups), words)) not in drawn_queries:
                drawn_queries.add(asked)
                panels.setdefault(groups, []).append([q.name, words])
        spec = {"criterion": criterion, "metric": metric, "centre": centre}
        for i, (groups, of_groups) in enumerate(panels.items()):
            yield Drawing(page_name(name, i), spec=spec | {"panels": of_groups, "groups": list(groups)})


NEEDS = "a criterion with a table of words (word_table) and four crossed groups, measured by "
FIGURES = (
    Figure(
        "threshold-curves",
        "How many words IBD and EIBD detect, by threshold.",
        from_tables(threshold_curves),
        question=WORDS,
        heading=CURVES,
        asks="How many words are detected, at which threshold?",
        learn="You learn how strongly a crossed group is associated with words of its own.",
        drawings=_curve_drawings,
        reads=("words",),
        facts=("labels", "level"),
        needs=NEEDS + "ibd or eibd",
        reading="A curve is the share of words detected at each threshold, with its 95 % interval "
        "over words. Some are detected by chance alone: only the area under it has tests.",
        example=Example(
            "intersections",
            "threshold-curves-intersections-ibd",
            {
                "metric": "ibd",
                "detail": "thresholds",
                "debias": "none",
                "model": ["glove-6b-50d", "word2vec-google-news-300-subset"],
                "query_id": ["african_american_women_pleasant", "african_american_women_unpleasant"],
            },
            shown={"words": ["value"]},
        ),
    ),
    Figure(
        "quadrants",
        "Words on the two axes of four crossed groups (FISE).",
        from_tables(quadrants),
        question=WORDS,
        heading=QUADRANTS,
        asks="Which of four crossed groups is a word closest to?",
        learn="You learn which crossed group a set of words is associated with.",
        drawings=_quadrant_drawings,
        reads=("words", "contrasts", "scores"),
        facts=("labels", "seed", "level"),
        needs=NEEDS + "fise or fise_share",
        reading="A dot is a word, on the side of the groups it is closer to; a corner has the share "
        "of words, and in brackets the expected one. If the dashed lines cross inside the "
        "ellipse (95 % region of the mean), the words may be closer to no group.",
        example=Example(
            "intersections",
            "quadrants-intersections",
            {
                "metric": "fise",
                "debias": "none",
                "detail": "axes",
                "model": ["glove-6b-50d", "word2vec-google-news-300-subset"],
                "query_id": ["african_american_women_pleasant", "african_american_women_unpleasant"],
            },
            shown={"words": ["value"]},
        ),
    ),
)
