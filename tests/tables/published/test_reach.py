"""How many published numbers the studies that come with biasgrid reach, on models that a package registry or the
checkout has: README says it."""

import re
from collections import Counter

import pytest
import yaml
from conftest import ROOT

from biasgrid.study.study import Study
from biasgrid.tables import published as comparison
from biasgrid.tables.comparison import published_as
from biasgrid.tables.published.study_values import unit

FILES = sorted((ROOT / "data" / "published").glob("*.csv"))
STUDIES = (
    "embedded",
    "caliskan",
    "sweeney+with_npm",
    "wefe_documentation",
    "bolukbasi",
    "thesis4",
    "same",
    "seat",
)
STUDIES += ("multilingual",)


def reached_by(name):
    """The file's name and the row of each number that a study compares with a number of its own, or finds no value
    for; what stands beside other vectors is not judged."""
    config = {}
    for part in name.split("+"):
        config |= yaml.safe_load((ROOT / f"config/{part}.yaml").read_text(encoding="utf-8"))
    study = Study.of(config, root=ROOT)
    models = Counter(published_as(study).values())
    for path in study.config.published:
        for place, row in enumerate(comparison.read([path]).itertuples(index=False)):
            states = [s for s, other in published_as(study).items() if row.model in (other, unit(*s))]
            if row.quantity in ("rank", "correlation"):  # of all models at once
                if models.keys() == set(comparison.read([path]).query("quantity == 'rank'")["model"]):
                    yield path.rpartition("/")[2], place, row
            elif row.query:
                cells = [f"{model}/{debias}/{row.metric}/{row.query}" for model, debias in states]
                known = study.grid.inferences if row.quantity in comparison.TESTED else study.grid.cells
                if any(cell in known for cell in cells):
                    yield path.rpartition("/")[2], place, row
            elif row.metric:
                cells = {(c.model, c.debias) for c in study.grid.cells.values() if c.metric == row.metric}
                if cells.intersection(states) and row.criterion in (*study.config.criteria, "Overall"):
                    yield path.rpartition("/")[2], place, row
            elif any(
                (e.criterion, e.model, e.debias) == (row.criterion, *state)
                for e in study.grid.evaluations.values()
                for state in states
            ):
                yield path.rpartition("/")[2], place, row


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*repeats", "ignore:.*a word in two sets")
def test_what_is_reached_is_as_readme_says():
    numbers = {path.name: len(comparison.read([path])) for path in FILES}
    assert sum(numbers.values()) == 1464
    reached = {(file, place): row for name in STUDIES for file, place, row in reached_by(name)}
    assert Counter(file for file, _ in reached) == {
        "wefe_documentation.csv": 331,
        "maddalozzo.csv": 53,
        "caliskan.csv": 40,
        "case_study.csv": 32,
        "rnsb_notebook.csv": 15,
        "weat_notebook.csv": 10,
        "sweeney.csv": 6,
        "bolukbasi.csv": 5,
    }
    assert len(reached) == 492
    readme, page = (
        " ".join((ROOT / name).read_text().split()) for name in ("README.md", "docs/replications.md")
    )
    assert f"reach {len(reached)} of them" in page
    without_value = int(re.search(r"For the other (\d+) the vectors lack words", page)[1])
    by_verdict = re.search(
        r"could be checked: (\d+) `reproduced`, (\d+) .*?, (\d+) .*?, (\d+) `differs`", page
    )
    judged = sum(map(int, by_verdict.groups()))
    assert judged + without_value == len(reached)
    assert f"{judged} could be checked with models at hand" in readme
    assert "compared 32 scores of two models. The 136 ranks and correlations need three" in readme
    # the case study: two of its seven models, and none of its ranks and correlations
    case_study = comparison.read([path for path in FILES if path.name.startswith("case_study")])
    assert len(set(case_study["model"]) - {""}) == 7
    assert f"prints {len(case_study)} numbers" in readme
    assert {row.model for (file, _), row in reached.items() if file == "case_study.csv"} == {
        "word2vec-google-news-300",
        "word2vec-gender-hard-debiased",
    }
    assert int(case_study["quantity"].isin(["rank", "correlation"]).sum()) == 136
