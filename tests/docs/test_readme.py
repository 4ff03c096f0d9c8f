"""README's block of a study's summary: a command writes it; tests/notebooks compares it with the study."""

import re

import pytest
import readme
from conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_readme_has_one_block_and_it_is_a_summary():
    (block,) = re.findall(f"{re.escape(readme.START)}\n(.*?)\n{re.escape(readme.END)}", README, re.DOTALL)
    lines = block.splitlines()
    assert all(line.startswith("> ") and len(line) <= readme.WIDTH for line in lines)
    text = " ".join(line.removeprefix("> ") for line in lines)
    assert "least bias" in text
    # the same text again changes nothing
    assert readme.with_summary(README, text) == README
    assert len(README.splitlines()) <= 120


def test_the_block_is_replaced_and_nothing_else():
    text = f"before\n{readme.START}\nold\n{readme.END}\nafter\n"
    assert readme.with_summary(text, "New text.\nIn lines.") == (
        f"before\n{readme.START}\n> New text. In lines.\n{readme.END}\nafter\n"
    )
    with pytest.raises(ValueError, match="unpack"):
        readme.with_summary("no block", "New text.")
