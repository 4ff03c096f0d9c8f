"""The last lines of a run: what came out, what has no value, what was reproduced, warnings, and where to read on."""

import re

import pandas as pd
import pytest
from conftest import ROOT, grid_config

from biasgrid.study import Study
from biasgrid.tables import REGISTRY
from biasgrid.workflow.conclusions import LONGEST, conclusions, where

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
    fill = {column.name: "" if column.dtype == "text" else 0 for column in table.columns}
    path = study.table_file(name)
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
            keys | {"model": f"m{i}", "query": f"query {i}", "status": status}
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


def test_the_answer_groups_metrics_by_model_and_models_are_told_apart(root):
    study = study_of(root)
    rank(study, RANKS)
    score(study, ["ok"])
    assert conclusions(study)[0] == (
        "least biased models (how sure is unknown: no bootstrap): First: word2vec (subset) by WEAT MAC, GloVe 840B "
        "(filtered) by RND; Second: GloVe 6B (complete) by WEAT"
    )


def test_what_is_decided_is_marked_and_what_lacks_scores(root):
    study = study_of(root, inference={"bootstrap": {"draws": 100}})
    rank(study, RANKS, missing={"glove-840b": 1})
    score(study, ["ok"])
    # of WEAT's pairs on First those with the first model differ, of RND's one does not
    differing = {("weat", "w2v", "glove"), ("weat", "w2v", "glove-840b"), ("rnd", "glove-840b", "glove")}
    write(
        study,
        "pairs",
        [
            {"criterion": "First", "metric": metric, "family": "models", "model_a": a, "debias_a": "none"}
            | {"model_b": b, "debias_b": "none", "pairs": 3, "queries": 2, "queries_of": 3}
            | {"difference": RANKS["First", metric].index(a) - RANKS["First", metric].index(b)}
            | {"p_adjusted": 0.001 if {(metric, a, b), (metric, b, a)} & differing else 0.4}
            for metric in ("weat", "rnd", "mac")
            for a, b in (("w2v", "glove"), ("w2v", "glove-840b"), ("glove", "glove-840b"))
        ],
    )
    assert conclusions(study)[0] == (
        "least biased models (*: decided; †: has lost queries): First: word2vec (subset) by "
        "WEAT* MAC, GloVe 840B (filtered) by RND†; Second: GloVe 6B (complete) by WEAT"
    )


def test_a_long_answer_counts_metrics_and_stays_a_line(root):
    metrics = ["weat", "weat_es", "rnd", "rnsb", "mac", "ect", "ripa"]
    criteria = [f"Criterion number {i}" for i in range(3)]
    study = study_of(root, metrics, criteria)
    models = list(MODELS)
    rank(
        study,
        {
            (criterion, metric): models[i % 3 :] + models[: i % 3]
            for criterion in criteria
            for i, metric in enumerate(metrics)
        },
    )
    score(study, ["ok"])
    line = conclusions(study)[0]
    assert line.startswith("least biased models by number of metrics (")
    assert line.endswith(
        "; Criterion number 2: GloVe 6B (complete) by 3, GloVe 840B (filtered) by 2, word2vec (subset) by 2"
    )
    assert len(line) <= LONGEST
    many = study_of(root, metrics, [f"Criterion number {i}" for i in range(30)])
    rank(many, {(name, metric): models for name in many.ranked_criteria for metric in metrics})
    line = conclusions(many)[0]
    assert len(line) <= LONGEST
    assert line.endswith("; ...")


def test_one_model_is_no_answer(root):
    study = study_of(root, models={"w2v": "word2vec"})
    rank(study, {("First", "weat"): ["w2v"]})
    score(study, ["ok", "ok"])
    assert conclusions(study) == ["scores: all 2 have a value"]


def test_missing_values_are_counted_by_reason(root):
    study = study_of(root)
    rank(study, RANKS)
    score(study, ["ok"] * 1000 + ["lost_words:A;B"] * 2 + ["degenerate", "lost_words:A", "of_a_plugin:x"])
    assert conclusions(study)[1] == (
        "5 of 1,005 scores have no value: too many words lost (3), not defined for these vectors (1), "
        f"of_a_plugin (1); column status of {study.table_file('scores')}"
    )


def test_verdicts_are_counted(root):
    published = root / "published.csv"
    published.write_bytes((ROOT / "data" / "published" / "case_study.csv").read_bytes())
    study = study_of(root, published=[str(published)])
    rank(study, RANKS)
    score(study, ["ok"])
    verdicts = ["reproduced", "differs", "reproduced", "no value", "explained", "reproduced"]
    write(study, "comparison", [{"verdict": verdict, "origin": "printed", "runs": 1} for verdict in verdicts])
    assert conclusions(study)[2] == (
        "6 published numbers: 1 differs, 1 explained, 3 reproduced, 1 no value; "
        f"{study.table_file('comparison')}"
    )


def test_a_damaged_table_costs_its_line_and_nothing_else(root):
    study = study_of(root)
    rank(study, RANKS)
    score(study, ["ok"])
    study.table_file("rankings").write_text("criterion,met")
    line, *others = conclusions(study)
    assert line.startswith(f"{study.table_file('rankings')}: ")
    assert "\n" not in line
    assert others == ["scores: all 1 have a value"]


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


def test_a_run_ends_with_what_came_out_also_if_there_is_nothing_to_do(finished):
    (finished.folder / "results/small/rankings.csv").unlink()
    first, second = said(finished.run()), said(finished.run())
    assert first == second
    least, scores, warnings, page = first
    assert re.match(r"biasgrid: least biased models \(.*\): First: Model (one|two) by .*; Second: ", least)
    assert scores.startswith("biasgrid: scores: all ")
    assert warnings == "biasgrid: warnings: none"
    assert page.split()[-1] in ("results/small/report.html", "results/small/figures")


def test_a_run_that_was_asked_for_less_concludes_nothing(finished):
    assert said(finished.run("stores")) == []
    assert said(finished.run("--dry-run")) == []


def test_warnings_of_a_run_are_counted_and_written_down(finished):
    """A word that stands twice in a query is read when the run is planned."""
    query = finished.config["criteria"]["First"]["queries"]["q1"]
    query["targets"]["A"].append(query["targets"]["A"][0])
    metric = finished.folder / "src/biasgrid/metrics/rnd.py"
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
