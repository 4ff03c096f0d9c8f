"""Texts of the ticks of an axis. Importing this module imports matplotlib."""

from __future__ import annotations

from matplotlib.ticker import ScalarFormatter

from ...core.numbers import typographic


class Numbers(ScalarFormatter):
    """Formatter that writes the power of ten with each very large or very small number.

    matplotlib would write the power once, at the end of the axis, where the axis has its label.
    """

    def __init__(self) -> None:
        super().__init__(useOffset=False)
        # 400000 is wider than the gap between ticks of many panels.
        self.set_powerlimits((-5, 5))

    def __call__(self, x: float, pos: int | None = None) -> str:
        power = super().get_offset().removeprefix("1")
        return super().__call__(x, pos) + (typographic(power) if x else "")

    def get_offset(self) -> str:
        return ""
