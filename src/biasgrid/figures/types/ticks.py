"""What stands beside the ticks of an axis. Importing it imports matplotlib."""

from __future__ import annotations

from matplotlib.ticker import ScalarFormatter

from ...numbers import typographic


class Numbers(ScalarFormatter):
    """Very large and very small numbers have their power of ten each: where matplotlib writes it once, at the end of
    the axis, stands what the axis is of."""

    def __init__(self) -> None:
        super().__init__(useOffset=False)
        self.set_powerlimits((-5, 5))  # 400000 is wider than many panels' ticks are apart

    def __call__(self, x: float, pos: int | None = None) -> str:
        power = super().get_offset().removeprefix("1")
        return super().__call__(x, pos) + (typographic(power) if x else "")

    def get_offset(self) -> str:
        return ""
