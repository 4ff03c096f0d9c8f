"""What docs/migration.md names of biasgrid is there."""

import inspect
import re

import pytest
from conftest import ROOT

import biasgrid as bg
from biasgrid.inference.significance import columns

PAGE = (ROOT / "docs/migration.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(set(re.findall(r"\bbg\.([\w.]+)", PAGE))))
def test_what_the_page_names_is_there(name):
    thing = bg
    for part in name.split("."):
        thing = getattr(thing, part)


@pytest.mark.parametrize(
    ("owner", "calls"),
    [("Grid", r"\bgrid\.(\w+)"), ("Query", r"\bquery\.(\w+)"), ("Result", r"\bresult\.(\w+)")],
)
def test_attributes_that_the_page_names_are_there(owner, calls):
    there = {*dir(getattr(bg, owner)), *getattr(bg, owner).__dataclass_fields__}
    there |= {*columns()} if owner == "Result" else set()  # what a result answers for each test
    ours = "\n".join(line.rsplit(" | ", 1)[-1] for line in PAGE.splitlines())
    assert set(re.findall(calls, ours)) <= there


def test_models_have_what_the_page_names():
    model = bg.load({"he": [1.0, 0.0], "she": [0.0, 1.0]})
    ours = "\n".join(line.rsplit(" | ", 1)[-1] for line in PAGE.splitlines())
    assert set(re.findall(r"\bmodel\.(\w+)", ours)) <= set(dir(model))


def test_keywords_that_the_page_names_are_arguments():
    for function, text in re.findall(r"\bbg\.((?:metrics|debias)\.\w+)\(([^()`]*)\)", PAGE):
        thing = bg
        for part in function.split("."):
            thing = getattr(thing, part)
        assert set(re.findall(r"(\w+)=", text)) <= set(inspect.signature(thing).parameters)
