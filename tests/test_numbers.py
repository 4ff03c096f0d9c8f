"""How numbers are written. Every expected text is written by hand."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import biasgrid
from biasgrid.core.numbers import (
    coefficient,
    count,
    decimal,
    interval,
    number,
    p_number,
    p_value,
    plain,
    share,
    typeset,
    typographic,
)
from biasgrid.core.resources import resource
from biasgrid.measure.caveats import is_at_floor

NAN, INF = math.nan, math.inf


WRITTEN = {
    number: [
        (0.9337773, "0.934"),
        (-12.345, "-12.3"),
        (1, "1.00"),
        (2.0999, "2.10"),
        (9.995001, "10.0"),  # one digit more before the point, one less behind it
        (99.96, "100"),
        (1234.4, "1,234"),
        (999_499, "999,499"),
        (999_999.5, "1e6"),
        (1_234_567, "1.23e6"),
        (-2.7e-8, "-2.7e-8"),
        (2.6951e-8, "2.7e-8"),
        (0.001, "0.00100"),
        (0.0001, "0.000100"),
        (0.0000999, "9.99e-5"),
        (0.00009996, "0.000100"),
        (0.00005, "5e-5"),
        (1e-12, "1e-12"),
        (0, "0"),
        (-0.0, "0"),
        (-3e-17, "0"),
        (INF, "inf"),
        (-INF, "-inf"),
        (NAN, "no value"),
        (None, "no value"),
    ],
    plain: [
        (1, "1"),
        (2.5, "2.5"),
        (10, "10"),
        (100 * 0.95, "95"),
        (100 * 0.975, "97.5"),
        (1 - 0.95, "0.05"),
        (0.5, "0.5"),
        (-1, "-1"),
        (0, "0"),
        (1000, "1,000"),
        (5e-5, "5e-5"),
        (INF, "inf"),
        (NAN, "no value"),
    ],
    coefficient: [
        (0.934, ".93"),
        (-0.4, "-.40"),
        (-0.001, ".00"),
        (0, ".00"),
        (0.999, "1.00"),
        (-1, "-1.00"),
        (10.04, "10.04"),
        (-20.5, "-20.50"),
        (NAN, "no value"),
    ],
    share: [
        (0.94, "94 %"),
        (0.056, "6 %"),
        (0.05, "5 %"),
        (0.0149, "1 %"),
        (0.0096, "1 %"),
        (0.004, "0.4 %"),
        (0.000123, "0.01 %"),
        (0, "0 %"),
        (0.9949, "99 %"),
        (0.997, "> 99 %"),
        (1, "100 %"),
        (1.5, "150 %"),
        (NAN, "no value"),
    ],
    count: [
        (0, "0"),
        (999, "999"),
        (13_013, "13,013"),
        (10**12 - 1, "999,999,999,999"),
        (184_756 * 10**9, "1.85e14"),
    ],
    p_value: [
        (0.012, "p = .012"),
        (0.388, "p = .39"),
        (0.0094, "p = .0094"),
        (0.05, "p = .050"),
        (0.0999, "p = .10"),
        (0.00999, "p = .010"),
        (0.001, "p = .0010"),
        (0.000999, "p < .001"),
        (1e-12, "p < .001"),
        (0, "p < .001"),
        (0.99, "p = .99"),
        (0.9949, "p = .99"),
        (0.9995, "p > .99"),
        (1, "p = 1"),
        (NAN, "p = no value"),
    ],
}


@pytest.mark.parametrize(
    ("form", "value", "text"), [(form, *row) for form, rows in WRITTEN.items() for row in rows]
)
def test_a_number_as_it_is_written(form: Callable, value: float | None, text: str) -> None:
    assert form(value) == text


@pytest.mark.parametrize(("p", "text"), WRITTEN[p_value])
def test_a_p_value_without_its_name(p: float, text: str) -> None:
    assert p_number(p) == text.removeprefix("p ").removeprefix("= ")


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(0.934, 2, "0.93"), (0.0346, 1, "0.03"), (12.6, 1, "13"), (0.1, 4, "0.1000"), (5e-6, 1, "5e-6")],
)
def test_digits(value: float, digits: int, text: str) -> None:
    assert number(value, digits) == text


def test_p_value_has_a_name() -> None:
    assert p_value(0.41, "p_groups") == "p_groups = .41"
    assert p_value(0.0002, "adjusted p") == "adjusted p < .001"


def test_decimals() -> None:
    assert [decimal(value) for value in (0.934, -0.001, 1234.5)] == ["0.93", "0.00", "1,234.50"]
    assert [decimal(-2.35, 1), decimal(NAN)] == ["-2.4", "no value"]


def test_interval() -> None:
    assert interval(0.4102, 3.79) == "[0.410, 3.79]"
    assert interval(-0.25, 1, form=coefficient) == "[-.25, 1.00]"
    assert interval(-2e-5, 1234.5, 2) == "[-2e-5, 1,234]"
    assert interval(NAN, NAN) == "no value"


def test_pages_and_figures_have_the_minus_sign_and_nothing_for_no_value() -> None:
    assert typographic("[-0.25, 2.7e-8]") == "[−0.25, 2.7e−8]"
    assert typographic("[-inf, inf]") == "[−∞, ∞]"
    assert [typeset(value) for value in (-0.0301, 2, 12_345.6, -1e-7)] == [
        "−0.0301",
        "2.00",
        "12,346",
        "−1e−7",
    ]
    assert [typeset(-1.54, 2), typeset(0.03, form=p_value), typeset(1, form=plain)] == [
        "−1.5",
        "p = .030",
        "1",
    ]
    assert [typeset(NAN), typeset(None), typeset(NAN, form=p_value)] == ["", "", ""]


# coordinates of SVG, and numbers that are rounded before they are compared
NOT_READ = {
    **{"cell_html.py": 1, "decisive_queries.py": 1, "agreement.html": 3, "reliability.html": 1},
    **{"grid_html.py": 4, "result_views.py": 6, "moves.py": 7, "picture.py": 1},
}


@pytest.mark.parametrize(
    "folder", ["study", "cli", "report", "tables/conclusions", "figures", "measure", "plugins"]
)
def test_what_people_read_has_no_format_of_its_own(folder: str) -> None:
    place = resource("plugins") if folder == "plugins" else Path(biasgrid.__file__).parent / folder
    files = [file for file in place.rglob("*") if file.suffix in (".py", ".html")]
    assert len(files) > 5
    formats = {
        file.name: re.findall(r":z?,?\.\d+[efg%]|%\.\d[efg]|toFixed", file.read_text()) for file in files
    }
    assert {
        name: len(of_file) for name, of_file in formats.items() if len(of_file) > NOT_READ.get(name, 0)
    } == {}


@pytest.mark.parametrize(
    ("test", "text"),
    [
        ({"p_value": 0.01, "p_lowest": 0.01, "method": "monte_carlo"}, "p ≤ .010"),
        ({"p_value": 0.01, "p_lowest": 0.01, "method": "drawn"}, "p ≤ .010"),
        ({"p_value": 0.02, "p_lowest": 0.01, "method": "drawn"}, "p = .020"),
        # with all permutations, p is what it is
        ({"p_value": 0.01, "p_lowest": 0.01, "method": "exact"}, "p = .010"),
        ({"p_value": 0.0001, "p_lowest": 0.0001, "method": "drawn"}, "p < .001"),
    ],
)
def test_a_p_value_that_more_draws_could_lower_is_at_most_that(test: dict, text: str) -> None:
    assert p_value(test["p_value"], at_most=is_at_floor(test)) == text
