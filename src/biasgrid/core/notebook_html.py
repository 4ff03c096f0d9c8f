"""Common HTML of notebooks, with colours that are legible on light and on dark pages."""

from __future__ import annotations

from html import escape

# Text has the page's own colour, which a dark page sets; all other colours are visible on both.
BLUE = "#2f86c1"
MUTED = "opacity: .72;"
LINE = 'stroke="currentColor" stroke-opacity=".35"'
CELL = "padding: 2px 14px 2px 0; text-align: left; vertical-align: top; border: 0; background: none;"
FONT = "font: 14px/1.45 'Segoe UI', system-ui, sans-serif;"


def block(html: str, width: int = 620) -> str:
    """Return HTML in a frame that is at most `width` pixels wide."""
    return (
        f'<div style="{FONT} box-sizing: border-box; border: 1px solid rgba(128, 128, 128, .35); '
        f'border-radius: 10px; max-width: {width}px; padding: 14px 18px; margin: 4px 0;">{html}</div>'
    )


def isolate(name: str) -> str:
    """Return a user's name, escaped, whose script does not change the direction of other text."""
    return f"<bdi>{escape(name)}</bdi>"


def svg_text(x: float, y: float, text: str, style: str = "") -> str:
    """Return a centred label of a drawing."""
    return (
        f'<text x="{x:.1f}" y="{y}" text-anchor="middle" font-size="12" fill="currentColor" '
        f'style="{style}">{escape(text)}</text>'
    )
