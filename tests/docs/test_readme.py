"""README: its length, its numbers, the output of its code, and its block of a study's summary, which a command writes
(tests/notebooks compares that block with the study)."""

import re

import pandas as pd
import pytest
import readme
from conftest import ROOT

from biasgrid import debias, metrics
from biasgrid.study.study import Study
from biasgrid.tables.conclusions.summary import Conclusion
from biasgrid.workflow.run_messages import SMALL_STUDY

README = (ROOT / "README.md").read_text(encoding="utf-8")
PROSE = " ".join(README.split())
NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
IMAGES = ROOT / "docs" / "images"


def word(number):
    return NUMBERS[number - 2]


def test_readme_is_a_front_page():
    assert len(README.splitlines()) <= 90
    assert len(README.split()) <= 1000


def test_readme_has_one_block_and_it_is_a_summary():
    (block,) = re.findall(f"{re.escape(readme.START)}\n(.*?)\n{re.escape(readme.END)}", README, re.DOTALL)
    assert all(len(line) <= readme.WIDTH for line in block.splitlines())
    fence, title, headline, *_, end = block.splitlines()
    assert (fence, end) == ("```text", "```")
    assert title == Study.read(ROOT / "config/embedded.yaml", ROOT).title
    assert "bias" in headline


def test_the_output_of_the_code_is_replaced_and_nothing_else():
    text = "before\n```python\nprint(1 + 1)\n```\n\n```text\n3\n```\nafter\n"
    assert readme.with_output(text) == text.replace("\n3\n", "\n2\n")
    assert all(len(line) <= 80 for line in readme.CODE.search(README)[3].splitlines())


def test_the_block_is_replaced_and_nothing_else():
    text = f"before\n{readme.START}\nold\n{readme.END}\nafter\n"
    conclusion = Conclusion("Title", "Finding", "Of one model.", (), {"Missing": ("None.",)})
    block = "```text\nTitle\nFinding.\nOf one model.\n\n  Missing  None.\n```"
    assert readme.with_summary(text, conclusion) == f"before\n{readme.START}\n{block}\n{readme.END}\nafter\n"
    with pytest.raises(ValueError, match="unpack"):
        readme.with_summary("no block", conclusion)


def test_it_counts_metrics_methods_and_published_numbers_as_they_are():
    """`make reference` writes the numbers of metrics and methods."""
    of_vectors = [metric for metric in metrics.REGISTRY.values() if metric.needs == "vectors"]
    n_tests = sum(not metric.no_test for metric in of_vectors)
    again = "make reference"
    assert f"permutation tests for {n_tests} of {len(of_vectors)} vector metrics" in PROSE, again
    n_metrics = sum(map(metrics.REGISTRY.is_shipped, metrics.REGISTRY))
    assert f"(WEAT, MAC, RND and {n_metrics - 3} more)" in PROSE, again
    n_methods = sum(map(debias.REGISTRY.is_shipped, debias.REGISTRY))
    assert f"[{word(n_methods)} methods](docs/debias.md)" in PROSE, again
    rows = sum(len(pd.read_csv(file)) for file in (ROOT / "data" / "published").glob("*.csv"))
    assert f"[{rows} numbers](docs/replications.md)" in PROSE
    notebooks = len(list((ROOT / "notebooks").glob("*.ipynb")))
    assert f"[{word(notebooks).capitalize()} notebooks]" in PROSE


def test_it_says_what_make_study_runs():
    study = Study.read(ROOT / "config" / "embedded.yaml")
    counts = len(study.queries), word(len(study.config.metrics)), word(len(study.config.models))
    assert "# {} queries, {} metrics, {} models".format(*counts) in README
    installs, concepts = (
        (ROOT / "docs" / name).read_text() for name in ("numbers/installs.csv", "concepts.md")
    )
    packages = re.search(r"^make study,\d+,(\d+),", installs, re.M)[1] + " MB"
    assert f"downloads {packages} of packages and 190 MB of vectors" in PROSE
    assert f"| packages of `make study` | {packages} downloaded |" in concepts
    assert "190 MB" in SMALL_STUDY
    assert "| `make study` | four to six minutes on 2 cores |" in concepts
    assert "`make study` takes four to six minutes on two cores" in PROSE


def test_its_pictures_show_what_it_says():
    """From the tables that the pictures are drawn from, which lie beside them."""
    table = pd.read_csv(IMAGES / "correlations.csv").query("criterion == 'Overall'")
    (row,) = table.query("metric_a == 'weat' and metric_b == 'ect'").itertuples()
    low, middle, high = (
        f"{x:.2f}".replace("-", "−").replace("0.", ".") for x in (row.ci_low, row.correlation, row.ci_high)
    )
    assert f"the ranks of WEAT and ECT correlate by {middle}, with an interval from {low} to {high}" in PROSE

    table = pd.read_csv(IMAGES / "trade-off.csv").query("model == 'glove-6b-50d' and debias == 'gender-hard'")
    bias = table.query("group == 'metric'")
    assert f"removes {(1 - bias['after'] / bias['before']).mean():.0%}".replace("%", " %") in PROSE
    (accuracy,) = table.query("measure == 'cluster_accuracy'")["after"]
    assert f"separates {100 * accuracy:.0f} %" in PROSE

    ranks = pd.read_csv(IMAGES / "encoder-atlas.rankings.csv").query("criterion == 'Overall'")
    ranks = ranks.pivot(index="model", columns="metric", values="rank")
    assert ranks["mac"].idxmax().startswith("random-")
    assert ranks["weat_es"].idxmin().startswith("random-")
    assert "MAC calls untrained weights the most biased, WEAT-ES the least" in re.sub(
        r"\[(.*?)\]\(.*?\)", r"\1", PROSE
    )


@pytest.mark.network
@pytest.mark.slow
def test_its_code_prints_what_it_shows(monkeypatch):
    if not (ROOT / "results" / "embedded" / "study.json").is_file():
        pytest.skip("needs the results of `make study`; tests/notebooks/test_embedded.py fails without them")
    monkeypatch.chdir(ROOT)
    assert readme.with_output(README) == README, "make readme"
