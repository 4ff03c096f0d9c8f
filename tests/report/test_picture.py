"""Axes and marks of the page's pictures."""

from math import nan

import pytest

from biasgrid.figures.palette import model_looks, ordered
from biasgrid.report.picture import SHAPES, Axis, looks, offset, row_height, value_text
from biasgrid.tables.conclusions.overview import BASELINE, DISTANCE, Mark


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([-1.2, 7.9], ["0", "2", "4", "6"]),
        ([0.5, 3.7], ["0", "1", "2", "3"]),
        ([-0.02, 0.05], ["-0.02", "0", "0.02", "0.04"]),
        ([1500.0], ["0", "500", "1000", "1500"]),
        ([-3.0, -1.0], ["-3", "-2.5", "-2", "-1.5", "-1", "-0.5", "0"]),
        ([], ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        ([nan], ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        ([0.0], ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
    ],
)
def test_an_axis_has_zero_and_round_ticks(values, labels):
    assert [text.replace(",", "") for _, text in Axis.of(values).ticks] == labels


def test_places_are_within_the_axis():
    axis = Axis.of([-1.0, 3.0])
    assert [axis.at(value) for value in (-1, 1, 3, 99, -99)] == ["2.5%", "50.0%", "97.5%", "97.5%", "2.5%"]


def test_every_marker_of_figures_has_a_shape_and_models_look_as_in_figures():
    keys = [f"model-{i}" for i in range(25)]
    with ordered({"models": keys}):
        drawn = model_looks(keys)
    for look in looks(keys[3:], keys):
        assert look.light == drawn[look.model]["color"]
        assert look.path == SHAPES[drawn[look.model]["marker"]]
        assert len({look.light, look.dark}) <= 2


def test_marks_of_equal_value_do_not_cover_each_other():
    for models in (1, 4, 20):
        places = [offset(i, models) for i in range(models)]
        assert len(set(places)) == models
        assert max(map(abs, places)) <= row_height(models) / 2 - 5


def test_a_value_has_its_unit_and_interval():
    assert value_text(Mark("m", 1.234, 0.5, 2.0), BASELINE) == "1.2 SD (interval 0.50 to 2.0)"
    assert value_text(Mark("m", 0.0123), DISTANCE) == "0.012"
