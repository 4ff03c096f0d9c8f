"""The embedded study says the same in the README, on its page, in the terminal and in Python. Missing, it fails."""

import html
import re

import pytest
import readme
from conftest import ROOT

from biasgrid import open_study
from biasgrid.tables.answers import summary_of
from biasgrid.workflow.conclusions import conclusions

pytestmark = [pytest.mark.notebooks, pytest.mark.slow]
FOLDER = ROOT / "results" / "embedded"


@pytest.fixture(scope="module")
def study():
    return open_study(FOLDER)


def test_readme_says_what_the_study_says(study):
    text = readme.README.read_text(encoding="utf-8")
    assert text == readme.with_summary(text, summary_of(study.study)), (
        "README is older than the study: make readme"
    )


def test_page_and_terminal_say_what_python_says(study):
    text = " ".join(study.summary().split())
    assert " ".join(" ".join(conclusions(study.study)).split()) == text
    page = (FOLDER / "report.html").read_text(encoding="utf-8")
    assert (
        html.unescape(
            " ".join(
                f"{topic}: {said}"
                for topic, said in re.findall(r'<p class="says"><b>([^<]+)</b> (.*?)</p>', page)
            )
        )
        == text
    )


def test_the_page_decides_what_least_biased_decides(study):
    page = (FOLDER / "report.html").read_text(encoding="utf-8")
    verdicts = re.findall(r'<span class="verdict (yes|no)">(decided|not decided|all the same)</span>', page)
    decided = study.least_biased()["decided"]
    assert len(verdicts) == len(decided)
    assert sum(text == "decided" for _, text in verdicts) == decided.sum()
