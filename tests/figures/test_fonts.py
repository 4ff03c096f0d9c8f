"""Labels of any script and length: the fonts that they need, where their lines break, and what is left out."""

import warnings

import pandas as pd
import pytest

from biasgrid.figures import fonts, palette
from biasgrid.figures.text import shorten, shorten_labels, wrap_text

INSTALLED = {
    "Noto Sans Devanagari": "हिन्दी",
    "Noto Sans CJK JP": "日本語の",
    "Noto Sans CJK KR": "日本語한국",
}


@pytest.fixture
def noto(monkeypatch):
    """Three fonts beside DejaVu Sans, each with a few characters."""
    own = fonts.characters(fonts.OWN)
    monkeypatch.setattr(
        fonts, "characters", lambda name: own if name == fonts.OWN else {*INSTALLED.get(name, "")}
    )
    fonts._warn.cache_clear()


@pytest.mark.parametrize(
    ("drawn", "added"),
    [
        ({"a": "Größe, Việt, русский, العربية"}, []),
        ([[], {"labels": {"m": "हिन्दी"}}], ["Noto Sans Devanagari"]),
        (pd.DataFrame({"query": ["日本語の"], "value": [1.0]}), ["Noto Sans CJK JP"]),
        (["日本", "한국"], ["Noto Sans CJK KR"]),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_font_is_added_only_where_a_text_needs_it(noto, drawn, added):
    assert fonts.families(drawn) == ["DejaVu Sans", *added]


@pytest.mark.parametrize(
    ("languages", "added"), [(["fr", "ja"], "JP"), (["ko"], "KR"), (["zh"], "SC"), (["ja", "zh"], "SC")]
)
def test_han_has_the_forms_of_the_models_language(monkeypatch, languages, added):
    own = fonts.characters(fonts.OWN)
    monkeypatch.setattr(
        fonts, "characters", lambda name: own if name == fonts.OWN else {*"数学"} if "CJK" in name else set()
    )
    with palette.ordered({"languages": languages}):
        assert fonts.families(["数学"], palette.languages()) == ["DejaVu Sans", f"Noto Sans CJK {added}"]


def test_a_script_without_a_font_is_said_once_with_a_package(noto):
    with pytest.warns(UserWarning, match="no font has the characters of Thai.* package fonts-noto-core"):
        assert fonts.families(["ภาษา"]) == ["DejaVu Sans"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fonts.families(["ไทย"])


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("กำกำกำ", ["กำ", "กำ", "กำ"]),
        ("क्षक्षक्ष", ["क्ष"] * 3),
        ("éée\u0301", ["é", "é", "e\u0301"]),
        ("日本", ["日", "本"]),
    ],
)
def test_a_line_breaks_between_what_readers_take_for_characters(text, lines):
    assert wrap_text(text, 1).split("\n") == lines


def test_labels_that_a_cut_makes_alike_are_numbered():
    labels = {"a": f"{'x' * 100} one {'y' * 96}", "b": f"{'x' * 100} two {'y' * 96}", "c": "short"}
    cut = f"{'x' * 54} … {'y' * 28}"
    assert shorten_labels(labels) == {"a": cut, "b": f"{cut} (2)", "c": "short"}
    assert shorten("a" * 85) == "a" * 85
