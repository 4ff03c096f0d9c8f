"""CSV files of simulation and planted-bias benchmark: what was written, or one line."""

import math

import numpy as np
import pandas as pd
import pytest

from biasgrid import BiasgridError
from validation.frames import read_frame, write_frame


def test_a_table_reads_back_to_the_last_bit(tmp_path):
    frame = pd.DataFrame({"name": ["NA", "", "é"], "value": [0.1 + 0.2, math.nan, -1e-300], "n": [1, 2, 3]})
    write_frame(frame, tmp_path / "table.csv")
    again = read_frame(tmp_path / "table.csv", ("name",))
    assert again["name"].tolist() == ["NA", "", "é"]
    assert np.array_equal(again["value"], frame["value"], equal_nan=True)
    assert again["n"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("content", [b"", b"name,value\na,x\n", b"name,value\na,1\nb,2,3\n", b"\xff\xfe\x00"])
def test_a_damaged_file_is_one_line(tmp_path, content):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(BiasgridError, match=r"make it again$") as error:
        read_frame(path, ("name",))
    assert str(error.value).startswith(f"{path}: ")
    with pytest.raises(BiasgridError, match="not a table"):
        read_frame(tmp_path / "other.csv", ())
