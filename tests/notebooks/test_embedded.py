"""The embedded study says the same in the README, on its page, in the terminal and in Python. Missing, it fails."""

import html
import re
from itertools import pairwise

import pandas as pd
import pytest
import readme
from conftest import ROOT

from biasgrid import open_study
from biasgrid.core.numbers import coefficient, interval
from biasgrid.tables.read_conclusions import conclusion_of
from biasgrid.workflow.run_summary import conclusions

pytestmark = [pytest.mark.notebooks, pytest.mark.slow]
FOLDER = ROOT / "results" / "embedded"


@pytest.fixture(scope="module")
def study():
    return open_study(FOLDER)


def test_readme_says_what_the_study_says(study):
    text = readme.README.read_text(encoding="utf-8")
    assert text == readme.with_summary(text, conclusion_of(study.study)), (
        "README is older than the study: make readme"
    )


def test_page_and_terminal_say_what_python_says(study):
    conclusion = conclusion_of(study.study)
    text = str(study.summary())
    assert "\n".join(conclusions(study.study)) == text
    page = (FOLDER / "report.html").read_text(encoding="utf-8")
    # the page alone says which names of word sets are misspelt in their sources
    page = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).replace(" [sic]", "").split())
    for card in conclusion.cards:
        assert f"{card.figure} {card.unit} " in page
    said = [sentence for card in conclusion.cards for sentence in card.sentences]
    said += [sentence for sentences in conclusion.notes.values() for sentence in sentences]
    for sentence in (conclusion.title, conclusion.headline, conclusion.subtitle, *said):
        assert " ".join(sentence.split()) in page
    for sentence in (conclusion.title, f"{conclusion.headline}.", conclusion.subtitle):
        assert sentence in " ".join(text.split())


def test_the_page_calls_lowest_what_least_biased_calls_so(study):
    page = (FOLDER / "report.html").read_text(encoding="utf-8")
    clear = study.least_biased()["decided"].sum()
    assert len(re.findall(r'<p class="says clear">', page)) == clear
    assert page.count('class="ring"') == clear


def test_questions_count_the_answers_about_neighbouring_ranks():
    ranks = pd.read_csv(FOLDER / "rankings.csv").query("criterion == 'Overall' and debias == 'none'")
    pairs = pd.read_csv(FOLDER / "pairs.csv").query("criterion == 'Overall' and family == 'models'")
    answers = {
        (row.metric, frozenset((row.model_a, row.model_b))): row.answer
        for row in pairs[pairs["answer"].notna()].itertuples()
    }
    ordered = ranks.dropna(subset="rank_shared").sort_values("rank_shared").groupby("metric")["model"]
    found = [
        answers[metric, frozenset(pair)]
        for metric, models in ordered
        for pair in pairwise(models)
        if (metric, frozenset(pair)) in answers
    ]
    page = " ".join((ROOT / "docs" / "report.md").read_text(encoding="utf-8").split())
    assert (
        f"{len(found)} pairs of models with neighbouring overall ranks are compared: "
        f"{found.count('cannot tell')} *cannot tell*, {found.count('alike')} *alike*, "
        f"{found.count('different')} *different*."
    ) in page


def test_the_example_of_reliability_is_the_studys():
    table = pd.read_csv(FOLDER / "reliability.csv").query("criterion == 'Gender' and debias == 'none'")
    page = (ROOT / "docs" / "intervals.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([A-Z].*) \| ([A-Z]+) \| (\.\d+), `(.+)` \| (.+), `(.+)` \|$", page, re.M)
    assert len(rows) == 5
    of_model = table[table["model"] == "glove-6b-50d"]
    for query, metric, share, sign_level, order, order_level in rows:
        of_query = of_model[
            (of_model["query"] == f"Male terms and Female terms wrt {query}")
            & (of_model["metric"] == metric.lower())
        ]
        sign = of_query[of_query["coefficient"] == "sign"].iloc[0]
        assert (coefficient(sign["value"]), sign["verdict"]) == (share, sign_level)
        words = of_query[of_query["question"] == "words"].sort_values("set", na_position="first").iloc[0]
        told = f"{coefficient(words['value'])} {interval(words['low'], words['high'], form=coefficient)}"
        assert (told, words["verdict"]) == (order, order_level)
    holds = table.query("metric == 'weat' and coefficient == 'sign'")
    stable = holds[holds["verdict"] == "holds"]
    scores = pd.read_csv(FOLDER / "scores.csv")
    evidence = stable.merge(scores, on=["criterion", "query", "metric", "model", "debias"])["evidence"]
    text = " ".join(page.split())
    assert f"stable for {len(stable)} of {len(holds)} gender scores of WEAT." in text
    assert f"Only {(evidence == 'all').sum()} of these have [clear evidence]" in text
