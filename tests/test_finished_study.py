"""The finished study says what its golden values say, tables and cells, by the rule of same.py."""

import finished_study
import pytest
from same import differences


@pytest.mark.slow
def test_results_are_the_golden_values(tmp_path):
    results = finished_study.finished().folder / "results" / "small"
    assert differences(finished_study.GOLDEN, finished_study.copy_compared(results, tmp_path)) == []
