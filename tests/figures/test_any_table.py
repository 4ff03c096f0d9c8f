"""Every kind of figure of tables that no study has: drawn so that all of it can be read, or refused in one line."""

import io
import warnings
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest
from any_tables import KINDS, Change, changed, changes
from artists import assert_readable
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.text import Text
from test_pictures import numbers_of, rounded

from biasgrid import BiasgridError, figures
from biasgrid.figures.frame import PAGE, WIDTHS, as_wide_as, style
from biasgrid.figures.text import SMALL

pytestmark = pytest.mark.slow

OF_PAIRS = {"quadrants", "threshold-curves"}  # a mark is of two numbers, of which one may be missing
SAVED = {"rankings", "seed-lists", "sentiment"}  # bars, rows of marks, and documents


def drawn(kind, change, folder):
    """The figure, with all that is promised of it, or None where it is refused."""
    drawing, found = changed(kind, change, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # this machine's fonts are no matter of the figure
        warnings.filterwarnings("ignore", r"figures: no font|Glyph \d+ .* missing from font")
        figure, told = None, ""
        try:
            figure = figures.draw(drawing)
        except BiasgridError as error:
            told = str(error)
        if figure is None:
            assert 0 < len(told) < 400
            assert "\n" not in told
            return None
        assert_readable(figure)
    assert figure.get_figwidth() == PAGE[0]
    # a page or two: as large as its numbers need, and not as its texts are
    assert figure.get_figheight() < 18 or change.copies
    shown = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
    assert min(text.get_fontsize() for text in shown) >= SMALL
    # a title is a finding or a noun phrase, and no text is turned
    assert "?" not in figure.texts[0].get_text() or "?" in str(drawing.spec)
    assert not [text.get_text() for text in shown if text.get_rotation() % 180]
    assert_finite(figure)
    is_whole = change.rows is None and (kind not in OF_PAIRS or change.missing == "none")
    # a figure may show one number of several queries
    is_whole &= change.copies is None or change.copies[0] == "model"
    if figure.axes and is_whole:
        expected = numbers_expected(figures.REGISTRY[kind].example, found, drawing.spec)
        assert not expected - numbers_of(figure)
    return figure


def assert_finite(figure):
    """No mark, line, bar or text is at NaN or infinity."""
    for axes in figure.axes:
        groups = [group for group in axes.collections if isinstance(group, PathCollection)]
        lines = [group for group in axes.collections if isinstance(group, LineCollection)]
        places = [
            *(line.get_xydata() for line in axes.lines),
            *(patch.get_patch_transform().transform(patch.get_path().vertices) for patch in axes.patches),
            *(np.ma.filled(group.get_offsets(), np.nan) for group in groups),
            *(segment for group in lines for segment in group.get_segments()),
            *(text.get_position() for text in axes.texts),
        ]
        assert all(np.isfinite(np.asarray(place, dtype=float)).all() for place in places)


def numbers_expected(example, found, spec):
    """Of each row that has a number, those that the figure is declared to show; of an interval both ends or none."""
    numbers = Counter()
    for name, (first, *others) in example.shown.items():
        rows = found[name].dropna(subset=first)
        if "criterion" in spec:
            rows = rows[rows["criterion"] == spec["criterion"]]
        ends = rows[others].where(rows[others].notna().all(axis=1))
        numbers.update(rounded(x) for x in [*rows[first], *ends.to_numpy().ravel()] if np.isfinite(x))
    return numbers


# no shrinking: a figure takes too long to draw it hundreds of times. `make fuzz` draws other changes
@pytest.mark.filterwarnings("ignore:.*repeats")
@pytest.mark.parametrize("kind", KINDS)
@settings(
    max_examples=1,  # with the oddest texts
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[*HealthCheck],
    database=None,
)
@given(data=st.data())
def test_a_figure_of_any_table_can_be_read_or_is_refused(kind, data, tmp_path):
    change = data.draw(changes(kind, most=4))
    figure = drawn(kind, change, tmp_path)
    if kind in SAVED and figure:
        # that the bytes are the same each time: test_figure_kinds.py
        assert ElementTree.fromstring(svg(figure)).tag == "{http://www.w3.org/2000/svg}svg"


def svg(figure):
    content = io.BytesIO()
    with style():
        figure.savefig(content, format="svg", metadata={"Date": None})
    return content.getvalue()


FOUND = [
    # names of benchmarks stood on each other, and ticks of six figures
    ("quality-ranks", Change(copies=("criterion", 4), missing="some", ends=True, seed=75)),
    ("quality-ranks", Change(numbers="tiny", missing="some", texts="odd", seed=9)),
    (
        "trainings",
        Change(copies=("model", 2), numbers="huge", missing="columns", texts="Arabic", ends=True, seed=85),
    ),
    ("agreement-widths", Change(missing="columns", seed=70)),  # a limit of an axis was NaN
    ("analogies", Change(missing="all but one")),  # a column without an answer was one of numbers
    ("before-after", Change(numbers="negative")),  # the logarithm of a negative number
    ("hidden-bias", Change(numbers="huge")),  # ticks stood on each other
    ("influence", Change(numbers="one huge", seed=88)),  # so did numbers of marks that were cut off
    ("languages", Change(missing="all but one")),  # and reasons for a missing mark in one row
    ("mtmm", Change(rows=1)),  # and ticks of a short scale of shades
    ("pair-differences", Change(numbers="huge")),  # the axis' power of ten stood on what it is of
    ("phenomena", Change(numbers="identical", texts="one word")),  # a head was wider than its panel
    ("projections", Change(numbers="tiny", texts="Han")),  # names of words left no room for bars
    ("quadrants", Change(copies=("criterion", 20), rows=1, missing="columns", seed=74)),  # a mean of nothing
    ("query-ranks", Change(rows=1)),  # two ticks at one place
    ("rank-intervals", Change(copies=("model", 20))),  # letters of ties left no room for marks
    ("ratings", Change(rows=1)),  # one correlation of two
    ("scores", Change(missing="all but one")),  # letters of methods at NaN
    ("scores", Change(texts="markup")),  # a metric's name stood on the first model's
    ("seed-pairs", Change(missing="all")),  # a line at NaN
    ("shuffled", Change(numbers="one huge", seed=17)),  # ticks stood on each other
    ("threshold-curves", Change(numbers="at the ends", seed=74)),  # so they did
    ("threshold-curves", Change(rows=1)),  # a threshold without its other end
    # more models than fit beside each other
    ("before-after", Change(copies=("model", 12))),
    ("query-ranks", Change(copies=("model", 20))),
    ("rank-intervals", Change(copies=("model", 10), numbers="of both signs")),
]


@pytest.mark.parametrize(("kind", "change"), FOUND)
def test_what_could_not_be_read_once_can_be(kind, change, tmp_path):
    assert drawn(kind, change, tmp_path)


@pytest.mark.parametrize("kind", ["bias", "models", "trade-off", "comparison"])
def test_a_figure_for_a_column_of_text_can_be_read(kind, tmp_path):
    with as_wide_as("column"):
        figure = figures.draw(changed(kind, Change(), tmp_path)[0])
    assert figure.get_figwidth() == WIDTHS["column"]
    assert_readable(figure)


@pytest.mark.parametrize("kind", ["phenomena", "phenomenon-correlations", "shuffled"])
def test_a_table_of_older_code_is_refused(kind, tmp_path):
    with pytest.raises(BiasgridError, match="the table has no column 'query_id'; make it again"):
        figures.draw(changed(kind, Change(ends=False), tmp_path)[0])
