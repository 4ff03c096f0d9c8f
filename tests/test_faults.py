"""The list of faults by hand: each can still be put into the sources. `make faults` runs the tests on them."""

import ast
from collections import Counter
from functools import cache

import faults
import pytest
from conftest import ROOT

FAULTS = faults.read()


def test_no_part_has_few_faults():
    counts = Counter(fault.part for fault in FAULTS)
    assert sum(counts.values()) >= 100
    assert min(counts.values()) >= 5
    assert len({(fault.file, fault.old, fault.new) for fault in FAULTS}) == len(FAULTS)


@cache
def original(file):
    return ast.dump(ast.parse((ROOT / "src" / "biasgrid" / file).read_text(encoding="utf-8")))


def test_each_fault_is_in_the_sources_once_and_still_code():
    for fault in FAULTS:
        assert ast.dump(ast.parse(fault.text_in(ROOT / "src"))) != original(fault.file), fault.name
        assert fault.does.endswith("."), fault.name


def test_one_to_three_tests_are_named():
    for fault in FAULTS:
        assert 1 <= len(fault.tests) <= 3, fault.name
        for test in fault.tests:
            file, _, name = test.partition("::")
            text = (ROOT / "tests" / file).read_text(encoding="utf-8")
            assert not name or f"def {name}(" in text, f"{fault.name}: {test}"


@pytest.mark.slow
def test_what_names_sources_by_their_path_passes_in_a_copy(tmp_path):
    copy = faults.Copy(tmp_path / "copy")
    try:
        code, said = copy.run("-k", "gallery_has_every_kind", "tests/figures/test_pictures.py")
    finally:
        copy.stop()
    assert code == faults.PASSED, said
