"""The list of faults by hand: each can still be put into the sources. `make faults` runs the tests on them."""

import ast
from collections import Counter

import faults
import pytest
from conftest import ROOT

FAULTS = faults.read()


def test_no_part_has_few_faults():
    counts = Counter(fault.part for fault in FAULTS)
    assert sum(counts.values()) >= 100
    assert min(counts.values()) >= 5
    assert len({(fault.file, fault.old, fault.new) for fault in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_in_the_sources_once_and_still_code(fault):
    original = (ROOT / "src" / "biasgrid" / fault.file).read_text(encoding="utf-8")
    assert ast.dump(ast.parse(fault.text_in(ROOT / "src"))) != ast.dump(ast.parse(original))
    assert fault.does.endswith(".")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_one_to_three_tests_are_named(fault):
    assert 1 <= len(fault.tests) <= 3
    for test in fault.tests:
        file, _, name = test.partition("::")
        text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert not name or f"def {name}(" in text
