"""The embedded study says the same in the README, on its page, in the terminal and in Python. Missing, it fails."""

import html
import re

import pandas as pd
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


def test_readme_counts_the_answers_about_pairs_of_models():
    pairs = pd.read_csv(FOLDER / "pairs.csv").query("family == 'models'")
    these, other = (pairs[name].value_counts() for name in ("answer", "other_answer"))
    text = " ".join(readme.README.read_text(encoding="utf-8").split())
    assert (
        f"Of {these.sum()} comparisons about these queries, {these['different']} find a difference, "
        f"{these['alike']} find models alike, and {these['cannot tell']} cannot tell. "
    ) in text
    assert "different" not in other
    assert f"About other queries, none of {other.sum()} finds a difference." in text


def test_page_and_terminal_say_what_python_says(study):
    text = " ".join(study.summary().split())
    assert " ".join(" ".join(conclusions(study.study)).split()) == text
    page = (FOLDER / "report.html").read_text(encoding="utf-8")
    said = re.findall(r'<p class="says"><b>([^<]+)</b> (.*?)</p>', page)
    told = html.unescape(" ".join(f"{topic}: {sentence}" for topic, sentence in said))
    # the page alone says which names of word sets are misspelt in their sources
    assert told.replace(" [sic]", "") == text


def test_the_page_decides_what_least_biased_decides(study):
    page = (FOLDER / "report.html").read_text(encoding="utf-8")
    verdicts = re.findall(r'<span class="verdict (yes|no)">(decided|not decided|all the same)</span>', page)
    decided = study.least_biased()["decided"]
    assert len(verdicts) == len(decided)
    assert sum(text == "decided" for _, text in verdicts) == decided.sum()
