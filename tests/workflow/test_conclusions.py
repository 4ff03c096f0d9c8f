"""The last lines of a run: what the study says, warnings, and where to read on."""

import pandas as pd
import pytest
from conftest import grid_config

from biasgrid import open_study
from biasgrid.study.study import Study
from biasgrid.tables import REGISTRY
from biasgrid.tables.column import ANY
from biasgrid.workflow.run_summary import conclusions, where

MODELS = {
    "glove": "GloVe 6B 50d (complete)",
    "glove-840b": "GloVe 840B 300d (filtered)",
    "w2v": "word2vec Google News (subset)",
}


def study_of(root, metrics=("weat", "rnd", "mac"), criteria=("First", "Second"), models=MODELS, **more):
    """A study of these models, whose results lie below `root`; none is there yet."""
    config = grid_config() | {
        "results": str(root / "results"),
        "metrics": {key: {} for key in metrics},
        **more,
    }
    query = config["criteria"]["First"]["queries"]["q1"]
    config["criteria"] = {
        name: {"queries": {f"q{i}": {**query, "name": f"query {i}"}}} for i, name in enumerate(criteria)
    }
    config["models"] = {
        key: {"label": label, "source": {"type": "file", "path": f"{key}.txt"}}
        for key, label in models.items()
    }
    return Study.of(config, root=root)


def write(study, name, rows):
    """A table with these columns; what rows do not say is 0, or nothing."""
    table = REGISTRY[name]
    # the least that a column allows
    fill = {
        column.name: "" if column.dtype == "text" else max(0, (column.range or ANY)[0])
        for column in table.columns
    }
    path = study.paths.table_file(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame([fill | row for row in rows], columns=table.names).to_csv(path, index=False)


def rank(study, ranks, missing=None):
    """rankings.csv: (criterion, metric) -> models, the least biased first; `missing`: model -> queries it lacks."""
    write(
        study,
        "rankings",
        [
            {
                "criterion": criterion,
                "metric": metric,
                "model": model,
                "debias": "none",
                "value": place,
                "rank": place,
            }
            | {"value_shared": place, "rank_shared": place}
            | {"queries": 3 - (missing or {}).get(model, 0), "queries_of": 3}
            for (criterion, metric), models in ranks.items()
            for place, model in enumerate(models, start=1)
        ],
    )


def score(study, statuses):
    keys = {"criterion": "First", "metric": "weat", "debias": "none"}
    write(
        study,
        "scores",
        [
            keys
            | {"model": f"m{i}", "query": f"query {i}", "status": status}
            | {"value": 0 if status == "ok" else "", "evidence": "untested"}
            for i, status in enumerate(statuses)
        ],
    )


RANKS = {
    ("First", "weat"): ["w2v", "glove", "glove-840b"],
    ("First", "rnd"): ["glove-840b", "w2v", "glove"],
    ("First", "mac"): ["w2v", "glove-840b", "glove"],
    ("Second", "weat"): ["glove", "w2v", "glove-840b"],
    # over all criteria: no criterion of the study
    ("Overall", "weat"): ["glove", "w2v", "glove-840b"],
}


def test_the_last_lines_are_the_summary_in_lines(root):
    study = study_of(root)
    rank(study, RANKS)
    score(study, ["ok"] * 1000 + ["lost_words:A;B"] * 2 + ["degenerate", "lost_words:A", "of_a_plugin:x"])
    lines = conclusions(study)
    assert lines[:2] == ["small", "1,000 scores measured, none tested."]
    assert " ".join(" ".join(lines).split()).endswith(
        "Missing 5 of 1,005 scores could not be computed: for 3, models lack too many of the words, for 1, the "
        "metric is not defined for these vectors and for 1, of a plugin."
    )
    assert all(len(line) <= 80 for line in lines)


def test_a_damaged_table_costs_these_lines_and_not_the_run(root):
    study = study_of(root)
    rank(study, RANKS)
    score(study, ["ok"])
    study.paths.table_file("rankings").write_text("criterion,met")
    (line,) = conclusions(study)
    assert line.startswith(f"{study.paths.table_file('rankings')}: ")
    assert "\n" not in line


@pytest.mark.parametrize("made", [False, True])
def test_the_page_is_named_where_there_is_one(root, made):
    study = study_of(root)
    (study.results / "figures").mkdir(parents=True)
    if made:
        (study.results / "report.html").write_text("")
    assert ("report.html" in where(study)) is made
    assert ("figures" in where(study)) is not made


def said(done):
    return [line for line in done.stderr.splitlines() if line.startswith("biasgrid: ")]


def test_a_run_ends_with_what_came_out(finished):
    (finished.folder / "results/small/rankings.csv").unlink()
    done = finished.run()
    summary = str(open_study(finished.folder / "results/small").summary())
    assert "\n\n  Models  " in summary
    assert f"\n{summary}\n" in done.stderr
    warnings, page = said(done)
    assert warnings == "biasgrid: warnings: none"
    assert page.split()[-1] in ("results/small/report.html", "results/small/figures")


def test_a_run_that_was_asked_for_less_concludes_nothing(finished):
    assert said(finished.run("stores")) == []
    (finished.folder / "results/small/models/one.json").unlink()
    (finished.folder / "results/small/rankings.csv").unlink()
    assert "Models" not in finished.run("stores").stderr
    assert said(finished.run("--dry-run")) == []


def test_warnings_of_a_run_are_counted_and_written_down(finished):
    """A word that stands twice in a query is read when the run is planned."""
    query = finished.config["criteria"]["First"]["queries"]["q1"]
    query["targets"]["A"].append(query["targets"]["A"][0])
    metric = finished.own_code("metrics/rnd.py")
    marker = "    first, second = (words.mean(axis=0) for words in targets)\n"
    text = metric.read_text()
    assert marker in text
    metric.write_text(text.replace(marker, f"    import warnings\n    warnings.warn('a\\nword')\n{marker}"))
    finished.configure(finished.config | {"figures": []})
    done = finished.run()
    file = finished.folder / "logs/small/warnings.log"
    assert "biasgrid: warnings: 2, in logs/small/warnings.log" in done.stderr
    assert "a word" in file.read_text().splitlines()
    assert "UserWarning" not in done.stderr
    # those of the config come before the run, and only those
    assert [line for line in said(done) if line.startswith("biasgrid: warning: ")] == [
        f"biasgrid: warning: {line}" for line in file.read_text().splitlines() if line != "a word"
    ]
    # what a step warned of stays as long as its results do
    (finished.folder / "results/small/scores.csv").unlink()
    text_before = file.read_text()
    assert "biasgrid: warnings: 2, in logs/small/warnings.log" in finished.run().stderr
    assert sorted(file.read_text().splitlines()) == sorted(text_before.splitlines())
    metric.write_text(text)
    assert "biasgrid: warnings: 1, in logs/small/warnings.log" in finished.run().stderr
    assert "a word" not in file.read_text().splitlines()


def test_what_limits_the_scores_is_a_line_each_of_the_warnings(finished):
    """Two words deal out in six ways: a p-value of 1/3 at the least; of one word each the effect size is 2 or -2."""
    query = finished.config["criteria"]["First"]["queries"]["q1"]
    c, d = query["attributes"]["C"], query["attributes"]["D"]
    few = {
        "q1": {"targets": {"One": ["a0"], "Two": ["b0"]}, "attributes": {"C": c, "D": d}},
        "q2": {"targets": {"A": ["a0", "a1"], "B": ["b0", "b1"]}, "attributes": {"C": c, "D": [*d, "b1"]}},
    }
    finished.configure(
        finished.config
        | {"criteria": {"First": {"queries": few}}, "figures": [], "inference": {"permutation": {}}}
        | {"metrics": {"weat_es": {"params": {"one_word": "keep"}}, "sc_weat": {}}}
    )
    done = finished.run()
    assert "biasgrid: warnings: 3, in logs/small/warnings.log" in done.stderr
    assert (finished.folder / "logs/small/warnings.log").read_text().splitlines() == [
        "a word is in two sets: 'b1' in 'B' and 'D' (query 'A and B wrt C and D')",
        "2 scores are kept, where two sets of one word each fix its size by construction: weat_es of 'One and Two "
        "wrt C and D' on 'one', weat_es of 'One and Two wrt C and D' on 'two'",
        "6 scores are of too few words or draws for a small p; the first: sc_weat of 'A and B wrt C and D' on 'one' "
        "(lowest possible p .33)",
    ]
