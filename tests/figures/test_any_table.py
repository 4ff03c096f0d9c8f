"""Every kind of figure of tables that no study has: drawn so that all of it can be read, or refused in one line."""

import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from any_tables import KINDS, Change, changed, changes
from artists import assert_readable
from hypothesis import HealthCheck, Phase, given, settings
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.text import Text

from biasgrid import BiasgridError, figures

pytestmark = pytest.mark.slow


def drawn(kind, change, folder):
    """The figure, or None where it is refused."""
    drawing, found = changed(kind, change, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", r"figures: no font|Glyph \d+ .* missing from font")
        try:
            figure = figures.draw(drawing)
        except BiasgridError as error:
            assert 0 < len(str(error)) < 400
            assert "\n" not in str(error)
            return None
        check(figure, kind)
    return figure


def check(figure, kind):
    assert_readable(figure)
    sizes = [t.get_fontsize() for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
    assert min(sizes) >= 7
    for axes in figure.axes:
        for line in axes.lines:
            assert np.isfinite(np.asarray(line.get_xydata(), dtype=float)).all(), "a mark at no number"
        for patch in axes.patches:
            assert np.isfinite(patch.get_path().vertices).all()
        for group in axes.collections:
            if isinstance(group, PathCollection):
                assert np.isfinite(np.ma.filled(group.get_offsets(), np.nan)).all()
            if isinstance(group, LineCollection):
                assert all(np.isfinite(segment).all() for segment in group.get_segments())


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=2, deadline=None, phases=[Phase.explicit, Phase.generate], suppress_health_check=[*HealthCheck])
@given(change=changes())
def test_a_figure_of_any_table_is_readable_or_refused(kind, change, tmp_path):
    drawn(kind, change, tmp_path)
