"""The page, the summary, the lists and the helps are the texts of tests/golden/texts: a change is a diff to read."""

import golden_texts
import pytest

pytestmark = pytest.mark.slow  # a study is run first


@pytest.fixture(scope="module")
def found():
    return golden_texts.texts()


@pytest.mark.parametrize("name", ["page", "summary", "lists", "help"])
def test_texts_are_the_golden_ones(found, name):
    golden = (golden_texts.GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    assert found[name] == golden, "python tests/golden_texts.py writes texts that are new on purpose"
