"""docs/how-to: its examples work as plugins of a study, and its queries are queries."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml
from conftest import ROOT, write_text_model
from in_process import make_cells, make_inputs, make_tables

from biasgrid import Query, figures, tables
from biasgrid.report.report_step import report_step
from biasgrid.study.steps import figure_step, fit_step
from biasgrid.study.study import Study

PAGES = ROOT / "docs" / "how-to"
LACKING = "a3"


FILES = ("spread.py", "remove_pair.py", "lost_shares.py", "lost_bars.py", "largest.py", "largest.html")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def page(name: str) -> str:
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A small study with the examples as plugins, with the keys that the page shows."""
    monkeypatch.chdir(tmp_path)
    Path("plugins").mkdir()
    for name in FILES:
        shutil.copy2(PAGES / "examples" / name, "plugins")
    words = [f"{letter}{i}" for letter in "abcd" for i in range(6)]
    write_text_model(Path("one.txt"), [word for word in words if word != LACKING])
    sets = {letter.upper(): [word for word in words if word[0] == letter] for letter in "abcd"}
    query = {"targets": {s: sets[s] for s in "AB"}, "attributes": {s: sets[s] for s in "CD"}}
    config = {
        "study": "small",
        "embeddings": "stores",
        "models": {"one": {"label": "One", "source": {"type": "file", "path": "one.txt"}}},
        "criteria": {"Gender": {"queries": {"q": query}}},
    }
    for block in blocks(page("extend"), "yaml"):
        config |= yaml.safe_load(block)
    config["debias"]["Gender"]["pair"]["words"] = {"pairs": [["a0", "b0"], ["a1", "b1"]]}
    return Study.of(config)


@pytest.mark.slow
def test_the_examples_work_as_they_stand(study):
    make_inputs(study)
    fit_step(study, "one", "pair").run()
    make_cells(study)
    make_tables(study)
    scores = tables.read(study.paths.table_file("scores"))
    assert set(scores["metric"]) == {"weat", "spread"}
    assert set(scores["debias"]) == {"none", "pair"}
    assert scores["value"].notna().all()
    # without the direction of the groups' difference their means are nearer to each other
    spread = scores[scores["metric"] == "spread"].set_index("debias")["value"]
    assert spread["pair"] < spread["none"]
    lost = tables.read(study.paths.table_file("lost_shares"))
    # one of the set's six words
    assert lost.loc[lost["set"] == "A", "share"].unique().tolist() == [1 / 6]
    assert not lost.loc[lost["set"] != "A", "share"].any()
    assert set(lost["query_id"]) == {"q"}
    assert set(lost["model_label"]) == {"One"}
    figure_step(study, study.figures["lost-bars"]).run()
    assert (study.results / "figures" / "lost-bars.png").is_file()
    assert figures.REGISTRY["lost-bars"].reading
    report_step(study).run()
    section = (
        study.paths.report_file.read_text().partition('<section id="largest"')[2].partition("</section>")[0]
    )
    assert section.count("<li>") == 4
    assert re.search(r"<li>WEAT, A and B wrt C and D: [−\d.]+ \(One\)</li>", section)


def test_queries_of_the_pages(tmp_path):
    (query,) = blocks(page("measure-vectors"), "json")
    assert len(Query.from_dict(json.loads(query)).target_sets) == 2
    (sets,) = blocks(page("write-a-query"), "json")
    assert json.loads(sets)["sets"]
    added, listed = map(yaml.safe_load, blocks(page("write-a-query"), "yaml"))
    assert listed["criteria"][0] == "config/queries/case_study.yaml"
    (file := tmp_path / "my-queries.yaml").write_text(yaml.safe_dump(added))
    config = {
        "study": "s",
        "models": {"m": {"label": "M", "source": {"type": "file", "path": "m.txt"}}},
        "criteria": [listed["criteria"][0], str(file)],
        "metrics": {
            "weat": {},
            "rnd": {},
        },  # rnd takes sub-queries, whose names must differ from the case study's
    }
    query = added["Gender"]["queries"]["home"]
    assert len(Study.of(config).queries["home"].attribute_sets) == len(query["attributes"])


def test_the_words_of_an_added_query_are_in_a_shipped_model(word2vec):
    added = yaml.safe_load(blocks(page("write-a-query"), "yaml")[0])["Gender"]["queries"]["home"]
    words = [word for part in added["attributes"].values() if isinstance(part, list) for word in part]
    assert not [word for word in words if word not in word2vec]


def test_a_table_is_one_file_of_at_most_40_lines():
    assert (PAGES / "examples" / "lost_shares.py").read_text(encoding="utf-8").count("\n") <= 40
    assert "](docs/how-to/extend.md)" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_sources_of_the_page_on_any_model():
    query = {"targets": {"A": ["a"], "B": ["b"]}, "attributes": {"C": ["c"]}}
    config = {"study": "small", "criteria": {"First": {"queries": {"q": query}}}, "figures": []}
    found = set()
    for block in blocks(page("measure-any-model"), "yaml"):
        parts = yaml.safe_load(block)
        kinds = {entry.get("kind") for entry in parts.get("models", {}).values()}
        metrics = {"lpbs": {}} if kinds == {"language_model"} else {"rnd": {}}
        study = Study.of(config | {"metrics": metrics} | parts)
        found |= {entry["source"]["type"] for entry in study.sources.values()}
    assert {"transformers", "sentence-transformers"} <= found
