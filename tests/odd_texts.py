"""The oddest texts that labels and names may be."""

from biasgrid.core.printable import LONGEST, check_line

# right to left, markup, what ends a comment, joiners and an emoji, a combining accent
SCIENTIST = "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{MICROSCOPE}"
ODD = f"שם <b>&amp; \"a\" 'b' --> نموذج می‌شود {SCIENTIST} e\N{COMBINING CIRCUMFLEX ACCENT} "


def odd(text: str, length: int = LONGEST) -> str:
    """Another text in its place, as long as may be; texts that differ stay so."""
    return check_line((f"{text} " + ODD * length)[:length].strip())
