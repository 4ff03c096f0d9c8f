"""Fonts for characters that DejaVu Sans, which matplotlib ships, does not have."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..core.user_warnings import stacklevel

OWN = "DejaVu Sans"
# First word of the names of Chinese, Japanese and Korean characters -> the font with the matching forms of Han.
CJK = {
    "HIRAGANA": "Noto Sans CJK JP",
    "KATAKANA": "Noto Sans CJK JP",
    "HANGUL": "Noto Sans CJK KR",
    "CJK": "Noto Sans CJK SC",
}
# By the language of a model.
HAN = {"ja": CJK["KATAKANA"], "ko": CJK["HANGUL"], "zh": CJK["CJK"]}
# Packages of Debian.
PACKAGES = {"cjk": "fonts-noto-cjk", "other": "fonts-noto-core"}


def families(drawn: Any, languages: Sequence[str] = ()) -> list[str]:
    """Return matplotlib's font families for a drawing: DejaVu Sans, then installed fonts that its texts need.

    If one of the `languages` of its models is written in Han, Han characters have the forms of that language. Warns
    once of each script that no font has.
    """
    wanted = {character for text in texts(drawn) if not text.isascii() for character in text}
    missing = {c for c in wanted if unicodedata.category(c)[0] not in "ZC"} - characters(OWN)
    names = [OWN]
    if not missing:
        return names
    scripts = {character: _script(character) for character in missing}
    # Without such a language, texts with kana or Hangul have Japanese or Korean forms of Han.
    cjk = [font for script, font in CJK.items() if script in scripts.values()]
    of_models = {HAN[language] for language in languages if language in HAN}
    if cjk and len(of_models) == 1:
        cjk = [*of_models, *cjk]
    for name in [*(f"Noto Sans {script.title()}" for script in sorted({*scripts.values()})), *cjk]:
        if has := missing & characters(name):
            missing -= has
            names.append(name)
    for script in sorted({scripts[character] for character in missing}):
        _warn(script, PACKAGES["cjk" if script in CJK else "other"])
    return names


def texts(value: Any) -> Iterator[str]:
    """Yield the texts of a figure's inputs: labels by key, lists, tables."""
    if isinstance(value, str):
        yield value
    elif hasattr(value, "select_dtypes"):
        for column in value.columns[value.dtypes.map(lambda of: of.kind not in "biuf")]:
            yield from (text for text in value[column].unique() if isinstance(text, str))
    elif isinstance(value, Mapping):
        yield from texts([*value, *value.values()])
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from texts(each)


@lru_cache
def characters(name: str) -> frozenset[str]:
    """Return the characters that a font has; empty if it is not installed."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    if name not in _installed():
        return frozenset()
    return frozenset(map(chr, get_font(findfont(FontProperties(family=name))).get_charmap()))


@lru_cache
def _installed() -> frozenset[str]:
    """Return the names of installed fonts, also of Noto fonts that are newer than matplotlib's list."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    known = {font.fname for font in fontManager.ttflist}
    for path in findSystemFonts():
        if path not in known and re.search(r"NotoSans\w*-(Regular|Bold)\.tt[cf]$", path):
            fontManager.addfont(path)
    return frozenset(fontManager.get_font_names())


def _script(character: str) -> str:
    return re.split("[ -]", unicodedata.name(character, "UNKNOWN"))[0]


@lru_cache
def _warn(script: str, package: str) -> None:
    warnings.warn(
        f"figures: no font has the characters of {script.title()}, which are drawn as boxes; "
        f"Debian's package {package} has such a font",
        stacklevel=stacklevel(),
    )
