"""What pydantic finds wrong is one line: the keys that lead to it, what is wrong, what is allowed."""

from collections.abc import Mapping, Sequence
from typing import Literal

import pytest
from refusals import refused

from biasgrid.core.validation import Strict, field, validate


class Part(Strict):
    words: Sequence[str] = field("words")
    size: int = field("so many of them", 3, "words", ge=1)
    share: float = field("a share", 0.5, "share, 0 to 1", gt=0, lt=1)
    kind: Literal["auto", "scale"] = field("a kind", "auto")


class Whole(Strict):
    name: str = field("a name")
    parts: Mapping[str, Part] = field("parts by name", {})
    part: Part | None = field("a part", None)
    either: str | list[str] | Part = field("one of three", "")
    some: list[Part] = field("parts", list, min_length=1)
    flag: bool = field("yes or no", True)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([1], "[1] is not a mapping"),
        ({}, "key 'name' is missing"),
        (
            {"nam": "a"},
            "unknown key 'nam'; did you mean 'name'? allowed: name, parts, part, either, some, flag",
        ),
        ({"name": 1}, "name: 1 is not text"),
        ({"name": "a", "flag": 1}, "flag: 1 is not true or false"),
        # the name of a part may be that of a field
        (
            {"name": "a", "parts": {"words": {"words": [], "sizes": 3}}},
            "parts: words: unknown key 'sizes'; did you",
        ),
        ({"name": "a", "parts": {"x": {"words": "he"}}}, "parts: x: words: 'he' is not a list"),
        (
            {"name": "a", "parts": {"x": {"words": [], "size": 0}}},
            "parts: x: size: 0 is not allowed: it should be gr",
        ),
        (
            {"name": "a", "parts": {"x": {"words": [], "size": 1.0}}},
            "parts: x: size: 1.0 is not a whole number",
        ),
        (
            {"name": "a", "part": {"words": [], "share": float("nan")}},
            "part: share: nan is not allowed: it should be",
        ),
        ({"name": "a", "part": {"words": ["he", 3]}}, "part: words: 1: 3 is not text"),
        (
            {"name": "a", "part": {"words": [], "kind": "aut"}},
            "part: kind: unknown value 'aut'; did you mean 'auto'?",
        ),
        ({"name": "a", "either": 5}, "either: 5 is not text or a list or a mapping"),
        ({"name": "a", "either": ["a", 6]}, "either: 1: 6 is not text"),
        ({"name": "a", "either": {"word": []}}, "either: unknown key 'word'; did you mean 'words'?"),
        ({"name": "a", "some": []}, "some: is empty"),
        ({"name": "a", "some": [{}]}, "some: 0: key 'words' is missing"),
        ({"name": "a", 1: 2}, "unknown key 1; allowed: name"),
    ],
)
def test_the_line_names_the_key_and_what_is_allowed(values, says):
    with refused(f"study.yaml: {says}"):
        validate(Whole, values, "study.yaml")


@pytest.mark.parametrize("long", ["x" * 10_000, ["y" * 50] * 1000, {"z" * 9000: 1}, 10**400])
def test_a_long_value_makes_no_long_line(long):
    for values in ({"name": long}, {"name": "a", "parts": long}, {"name": "a", "either": long, "flag": long}):
        if values != {"name": "x" * 10_000}:
            with refused():
                validate(Whole, values)


def test_what_is_right_comes_back_as_it_is():
    whole = validate(Whole, {"name": "a", "part": {"words": ("he", "she"), "share": 0.25}})
    assert (whole.part.words, whole.part.share, whole.part.size) == (("he", "she"), 0.25, 3)
    assert validate(Whole, whole) is whole
    assert Whole.model_fields["flag"].description == "yes or no"
    assert Part.model_json_schema()["properties"]["size"]["unit"] == "words"
