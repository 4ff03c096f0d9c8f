"""What a parameter's annotation allows is checked at the door, of a metric of the package's and of anyone's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import pytest
from annotated_types import Ge, Gt, Le, Lt

from biasgrid.core.errors import BiasgridError
from biasgrid.metrics import Metric, Score

if TYPE_CHECKING:
    from decimal import Decimal


def own(
    targets,
    attributes,
    *,
    flag: bool = False,
    kind: Literal["a", "b"] = "a",
    ddof: Literal[0, 1] = 0,
    k: Annotated[int, Ge(1)] | None = None,
    share: Annotated[float, Ge(0), Le(1)] = 0.5,
    size: Annotated[float, Gt(0), Lt(2)] = 1.0,
    few: Annotated[int, Ge(0), Lt(5)] = 0,
    above: Annotated[float, Gt(0)] = 1.0,
    most: Annotated[float, Le(9)] = 1.0,
    below: Annotated[int, Lt(9)] = 1,
    noted: Annotated[int, "a note", Ge(2)] = 2,
    text: Annotated[str, "a note"] = "",
    plain: int = 0,
    unknown: Decimal | None = None,
    bare=None,
):
    return Score(0.0)


METRIC = Metric(
    name="own", label="Own", function=own, template=(2, 2), range=(0, 1), neutral=0.0, reference="none"
)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"flag": 1}, "flag: 1 is not allowed; allowed: true, false"),
        ({"kind": "c"}, "kind: unknown value 'c'; allowed: a, b"),
        ({"kind": None}, "kind: unknown value None; allowed: a, b"),
        ({"ddof": 2}, "ddof: 2 is not allowed; allowed: 0, 1"),
        ({"ddof": True}, "ddof: True is not allowed; allowed: 0, 1"),
        ({"ddof": 1.0}, "ddof: 1.0 is not allowed; allowed: 0, 1"),
        ({"k": 0}, "k: 0 is not allowed; allowed: whole numbers from 1 on"),
        ({"k": 2.0}, "k: 2.0 is not allowed; allowed: whole numbers from 1 on"),
        ({"k": True}, "k: True is not allowed; allowed: whole numbers from 1 on"),
        ({"share": 1.01}, "share: 1.01 is not allowed; allowed: numbers from 0 to 1"),
        ({"share": float("nan")}, "share: nan is not allowed; allowed: numbers from 0 to 1"),
        ({"share": "0.5"}, "share: '0.5' is not allowed; allowed: numbers from 0 to 1"),
        ({"size": 2}, "size: 2 is not allowed; allowed: numbers between 0 and 2, both excluded"),
        ({"few": 5}, "few: 5 is not allowed; allowed: whole numbers from 0 to less than 5"),
        ({"above": float("inf")}, "above: inf is not allowed; allowed: numbers above 0"),
        ({"above": 0}, "above: 0 is not allowed; allowed: numbers above 0"),
        ({"most": 10}, "most: 10 is not allowed; allowed: numbers up to 9"),
        ({"below": 9}, "below: 9 is not allowed; allowed: whole numbers up to less than 9"),
        ({"noted": 1}, "noted: 1 is not allowed; allowed: whole numbers from 2 on"),
    ],
)
def test_a_value_outside_is_one_line(values, said):
    with pytest.raises(BiasgridError) as error:
        METRIC.check_parameters(values)
    assert str(error.value) == said


def test_what_is_allowed_passes():
    METRIC.check_parameters({"flag": True, "kind": "b", "ddof": 1, "k": 1, "share": 0, "size": 1.5, "few": 4})
    METRIC.check_parameters({"k": None, "share": 1.0, "above": 1e-9})
    # an annotation that says no limits takes all values
    METRIC.check_parameters({"plain": "text", "unknown": object(), "bare": [1], "text": "a"})
    METRIC.check_parameters({"most": -1e9, "below": 8, "noted": 2})
