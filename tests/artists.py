"""What a drawn figure shows, read from its artists; and tables to draw."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text

from biasgrid.figures.frame import caption
from biasgrid.tables.quality import QUALITY

# WEFE case study, overall ranks as published (average of tied ranks where it has them)
PUBLISHED = {
    "conceptnet-numberbatch 19.08-en dim=300": (1, 2, 2, 1),
    "fasttext-wiki-news-subwords-300": (3, 3, 3, 3),
    "glove-twitter-200": (4, 4, 5, 5),
    "glove-wiki-gigaword-300": (7, 7, 6, 7),
    "lexvec-commoncrawl W+C dim=300": (5, 5, 7, 6),
    "word2vec-gender-hard-debiased dim=300": (2, 1, 1, 2),
    "word2vec-google-news-300": (6, 6, 4, 4),
}
METRICS = ["weat", "weat_es", "rnd", "rnsb"]
# as the grid names them; one-attribute metrics have other (sub-)queries than WEAT
PAIRED = [
    "Male terms and Female terms wrt Career and Family",
    "White last names and Hispanic last names wrt Occupations white and Occupations hispanic",
    "Christianity terms, Islam terms and Judaism terms wrt Positive words and Negative words",
]


def ranking_table(ranks=PUBLISHED, criteria=("Overall",)):
    rows = [
        (criterion, metric, model, "none", np.nan, float(rank), 0)
        for criterion in criteria
        for model, values in ranks.items()
        for metric, rank in zip(METRICS, values, strict=True)
    ]
    columns = ["criterion", "metric", "model", "debias", "value", "rank", "cells_nan"]
    return pd.DataFrame(rows, columns=columns)


def texts(artist):
    """What an artist says; a figure also has its caption."""
    shown = [
        text.get_text() for text in artist.findobj(Text) if text.get_visible() and text.get_text().strip()
    ]
    return [*shown, caption(artist)] if isinstance(artist, Figure) else shown


def entries(figure):
    """Of the legend."""
    return [" ".join(text.get_text().split()) for text in figure.legends[0].texts]


def unwrapped(artist):
    return [" ".join(text.split()) for text in texts(artist)]


@contextmanager
def not_laid_out():
    """Within this, panels stay where they are: half of a drawing's time, where a test reads numbers and names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ConstrainedLayoutEngine, "execute", lambda *arguments: None)
        yield


def assert_readable(figure):
    """Nothing sticks out of the figure, and no text touches another text or the legend's."""
    renderer = figure.canvas.get_renderer()
    width, height = figure.get_size_inches()
    for legend in figure.legends:
        legend.draw(renderer)  # its texts have no places before
    panels = [axes.get_tightbbox(renderer) for axes in figure.axes]
    others = [*figure.texts, *figure.legends, *figure.lines, *figure.patches, *figure.artists, *figure.images]
    tight = np.array([box.extents for box in (*panels, *(a.get_tightbbox(renderer) for a in others)) if box])
    tight = tight[np.isfinite(tight).all(axis=1)] / figure.dpi
    assert (tight[:, :2] >= 0).all()
    assert (tight[:, 2:] <= np.array([width, height]) + 1e-9).all()
    unseen = set()
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        near = 1e-9 * (high - low)
        out = [tick for tick in axis.get_major_ticks() if not low - near <= tick.get_loc() <= high + near]
        unseen |= {id(label) for tick in out for label in (tick.label1, tick.label2)}
    shown = [
        t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip() and id(t) not in unseen
    ]
    boxes = [text.get_window_extent(renderer) for text in shown]
    names = [text.get_text() for text in shown]
    x0, y0, x1, y1 = np.array([box.extents for box in boxes]).T
    overlap = np.minimum(x1[:, None], x1) - np.maximum(x0[:, None], x0) > 0.5
    overlap &= np.minimum(y1[:, None], y1) - np.maximum(y0[:, None], y0) > 0.5
    np.fill_diagonal(overlap, False)
    assert not overlap.any(), [(names[i], names[j]) for i, j in np.argwhere(overlap)[:4]]
    for legend in figure.legends:
        box = legend.get_window_extent(renderer)
        assert not any(map(box.overlaps, panels))


def marks_of(axes):
    """((marker, colour), (x, y)) of every mark of a score."""
    return [
        ((line.get_marker(), to_hex(line.get_color())), (x, y))
        for line in axes.lines
        if line.get_linestyle() == "None" and line.get_transform() == axes.transData
        for x, y in line.get_xydata()
    ]


def intervals_of(axes):
    """(low, high) of every interval, sorted."""
    groups = [group for group in axes.collections if isinstance(group, LineCollection)]
    return sorted((a[0], b[0]) for group in groups for a, b in group.get_segments())


LONG = "word2vec Google News 300d (subset, 13,013 words, number {:02})"
BENCHMARKS = [("similarity", n) for n in ("MEN", "MTurk-771", "Rare Words", "SimLex-999", "WordSim-353")]
BENCHMARKS += [("analogy", "Google analogies"), ("analogy", "MSR analogies")]


def quality_table(models, seed=0):
    rng = np.random.default_rng(seed)
    ranks = {key: rng.permutation(len(models)) + 1.0 for key in BENCHMARKS}
    rows = [
        (model, "none", *key, 0.5, 60 + i, 200, 0.3 + i / 100, 9.0, 0.5, 50, ranks[key][i], "ok")
        for i, model in enumerate(models)
        for key in BENCHMARKS
    ]
    return pd.DataFrame(rows, columns=QUALITY.names)
