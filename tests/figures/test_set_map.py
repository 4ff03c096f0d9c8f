"""The map of sets of words: each word at its place, with the mark of its set, and its name where there is room."""

import numpy as np
import pytest
from artists import assert_readable
from matplotlib.colors import to_rgb

from biasgrid.figures.set_map import set_map

pytestmark = pytest.mark.slow

RANKED = "vocabulary, ranks 201 to 240"


def points():
    rng = np.random.default_rng(3)
    side = [RANKED] * 20 + ["Women", "Men"] * 5 + [RANKED] * 20
    words = [f"{name[0]}{i}" for i, name in enumerate(side)]
    return {"words": words, "side": side, "xy": rng.normal(0, 20, (50, 2)).round(3).tolist()}


def test_every_word_has_the_mark_of_its_set_at_its_place():
    drawn = points()
    figure = set_map(drawn, "Model one", "Gender")
    (axes,), (legend,) = figure.axes, figure.legends
    handles = {
        text.get_text(): handle for text, handle in zip(legend.texts, legend.legend_handles, strict=True)
    }
    assert list(handles) == ["Women", "Men", RANKED]
    for name, handle in handles.items():
        expected = [xy for xy, side in zip(drawn["xy"], drawn["side"], strict=True) if side == name]
        (line,) = [
            line
            for line in axes.lines
            if (line.get_marker(), to_rgb(line.get_color()))
            == (handle.get_marker(), to_rgb(handle.get_color()))
        ]
        assert line.get_xydata().tolist() == expected
    # only words of sets have names: W20, M21 and so on, and none of the vocabulary's
    names = {text.get_text() for text in axes.texts}
    assert names <= {f"{'WM'[i % 2]}{i}" for i in range(20, 30)}
    assert len(names) >= 8
    assert_readable(figure)


def test_a_map_without_words_says_why_it_is_empty():
    figure = set_map({"words": [], "side": [], "xy": []}, "Model one", "Gender")
    assert "fewer than eight words" in " ".join(text.get_text().replace("\n", " ") for text in figure.texts)
    assert not figure.axes
