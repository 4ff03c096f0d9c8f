"""A figure is one file, as tall as it needs and as wide as is asked for; its PDF has pages, cut between panels."""

import re

import pytest
from artists import assert_readable
from matplotlib.ticker import FixedLocator, MultipleLocator

from biasgrid import BiasgridError
from biasgrid.figures.figure import count_range
from biasgrid.figures.frame import PAGE, WIDTHS, Frame, as_wide_as, save, styled
from biasgrid.figures.types.heat import scale


@styled
def tall(panels, height, scaled=False):
    frame = Frame("Title", "Subtitle", ["How to read it."])
    axes_of = frame.panels({i: f"panel {i}" for i in range(panels)}, height, line=1)
    for i, axes in axes_of.items():
        axes.set_xlabel(f"axis {i}")
    if scaled:
        scale([*axes_of.values()], (0, 1), "RdBu", "shades", [0, 1])
    return frame.done()


def pages_of(path):
    """Inches of height of a PDF's pages."""
    boxes = re.findall(rb"/MediaBox \[ ?([\d. ]+) ?\]", path.read_bytes())
    return [float(box.split()[3]) / 72 for box in boxes]


@pytest.mark.slow
def test_a_page_and_its_panels_have_no_digits_of_the_layout_that_differ_between_runs():
    figure = tall(4, 1.7, scaled=True)
    assert figure.get_figheight() == round(figure.get_figheight(), 9)
    bounds = [x for axes in figure.axes for x in axes.get_position(True).bounds]
    assert bounds == pytest.approx([round(x, 6) for x in bounds], rel=1e-15, abs=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize(("panels", "height", "pages"), [(1, 2, 1), (3, 2, 1), (9, 2, 3), (3, 12, 3)])
def test_a_pdf_is_cut_between_panels(panels, height, pages, tmp_path):
    figure = tall(panels, height)
    assert [round(axes.get_position().height * figure.get_figheight(), 1) for axes in figure.axes] == [
        height
    ] * panels
    save(figure, tmp_path / "tall", ["pdf"])
    found = pages_of(tmp_path / "tall.pdf")
    assert len(found) == pages
    assert sum(found) == pytest.approx(figure.get_figheight(), abs=0.05)
    if height < PAGE[1]:
        # the last page may be the one that a fifth more fits on
        assert max(found) <= PAGE[1] * 1.2
    # and the figure is whole afterwards
    assert all(axes.get_visible() for axes in figure.axes)
    assert_readable(figure)


@pytest.mark.slow
def test_a_scale_of_shades_holds_no_two_pages_together(tmp_path):
    # between the third row of panels and the fourth is the middle
    save(tall(6, 2, scaled=True), tmp_path / "tall", ["pdf"])
    found = pages_of(tmp_path / "tall.pdf")
    assert len(found) == 2
    assert max(found) <= PAGE[1]


@styled
def of_rows(locator):
    frame = Frame("Title", "Subtitle", ["How to read it."])
    axes_of = frame.panels(
        {i: f"panel {i}" for i in range(5)}, {0: 1.0, 1: 0.7, 2: 2.0, 3: 1.5, 4: 0.5}, line=2
    )
    for i, axes in axes_of.items():
        axes.set(ylim=(0, 1), xlabel=f"axis {i}")
        axes.yaxis.set_major_locator(locator)
    return frame.done()


@pytest.mark.slow
def test_panels_of_fixed_names_lie_where_a_second_layout_puts_them():
    # the ticks are the same, but of the latter matplotlib alone knows that
    once, twice = of_rows(FixedLocator([0, 1])), of_rows(MultipleLocator(1))
    assert once.get_size_inches() == pytest.approx(twice.get_size_inches(), abs=1e-9)
    for axes, other in zip(once.axes, twice.axes, strict=True):
        assert axes.get_position().bounds == pytest.approx(other.get_position().bounds, abs=2e-6)
    assert [round(axes.get_position().height * once.get_figheight(), 3) for axes in once.axes] == [
        1.0,
        1.0,
        2.0,
        2.0,
        0.5,
    ]


@pytest.mark.slow
def test_a_figure_is_as_wide_as_what_it_fills():
    assert tall(1, 1).get_figwidth() == PAGE[0]
    for name, inches in WIDTHS.items():
        with as_wide_as(name):
            assert tall(1, 1).get_figwidth() == inches
    with (
        pytest.raises(BiasgridError, match="width: 'poster' is not allowed; allowed: page, column"),
        as_wide_as("poster"),
    ):
        pass


def test_a_count_is_one_number_or_its_ends():
    assert [count_range(counts) for counts in ([7], [7, 7], [12, 7, 1000])] == ["7", "7", "7 to 1,000"]
