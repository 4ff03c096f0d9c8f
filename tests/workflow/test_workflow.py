"""The workflow as Snakemake runs it: what re-runs after which edit, failures, interruption, determinism."""

import copy
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import forks
import pandas as pd
import pytest
import yaml
from conftest import ROOT, grid_config, refusal_of
from reruns import append, cells, every, made, planned, stale

from biasgrid.study.study import Study
from biasgrid.workflow import disk, run_messages

# the steps that follow when a cell is new, by the name of the file or its folder
TABLES_AND_FIGURES = {"scores", "scalars", "aggregates", "rankings", "correlations", "lost_words", "figure"}
TABLES_AND_FIGURES |= {"report"}
# the rules: one job makes all tables, and one all figures
FOLLOWS = {"tables", "figures", "report"}
# all metrics lose the same words, and the table of lost words is made of the cells of one
LOST = {"lost_words"}
# where the config itself is edited
AND_STUDY = {*TABLES_AND_FIGURES, "study"}


def test_a_finished_study_has_nothing_to_do(finished):
    """Also where files were touched."""
    for path in [
        *finished.own_code().rglob("*.py"),
        finished.word_sets,
        *finished.folder.rglob("*.yaml"),
    ]:
        os.utime(path)
    before = finished.results()
    assert "Nothing to be done" in finished.run().stderr
    assert finished.results() == before


def test_a_result_that_may_not_be_written_is_said_in_one_line(finished):
    """Root may write all files but those that are immutable."""
    file = finished.folder / "results/small/scores.csv"
    lock, unlock = (
        (("chattr", "+i"), ("chattr", "-i")) if os.geteuid() == 0 else (("chmod", "u-w"), ("chmod", "u+w"))
    )
    if shutil.which(lock[0]) is None or subprocess.run([*lock, file], check=False).returncode:
        pytest.skip("this file system has no immutable files")
    try:
        finished.word_sets.write_text(finished.word_sets.read_text().replace('"f5"', '"f6"'))
        done = finished.snakemake("--cores", "1")
    finally:
        subprocess.run([*unlock, file], check=True)
    assert done.returncode == 1
    assert "results/small/scores.csv" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_says_the_same_in_another_form_changes_nothing(finished):
    """A word that no query has, a word set written otherwise, comments in every file that Snakemake reads, modules
    that only plan, docstrings."""
    sets = json.loads(finished.word_sets.read_text())
    sets["sets"]["unused"] = ["y"]
    finished.word_sets.write_text(json.dumps(sets, indent=4))
    for path in [
        finished.folder / "Snakefile",
        *finished.folder.rglob("*.smk"),
        *finished.folder.rglob("*.yaml"),
    ]:
        append(path, "\n# edited\n")
    cell = finished.folder / "workflow" / "rules" / "cells.smk"
    cell.write_text(cell.read_text().replace("    run:\n", "    run:\n        # a comment in a rule\n"))
    code = finished.own_code()
    for module in (
        "study/study",
        "cli/steps",
        "workflow/run",
        "study/steps",
        "study/config/study",
        "metrics/ect",
    ):
        append(code / f"{module}.py")
    path = code / "metrics" / "rnd.py"
    path.write_text(path.read_text().replace('"""', '"""Edited. ', 1))
    assert planned(finished) == {}


def edit_model(key, **more):
    return lambda config: config["models"][key].update(more)


def new_model(config):
    config["models"]["three"] = {"label": "Three", "source": {"type": "file", "path": "two.txt"}}


def new_query(config):
    first = config["criteria"]["First"]["queries"]
    first["q4"] = copy.deepcopy(first["q1"])
    first["q4"]["attributes"] = {"E": "toy.e", "D": ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"]}


def removed(part, key):
    return lambda config: config[part].pop(key)


def renamed_criterion(config):
    config["criteria"] = {
        "Renamed" if name == "First" else name: entry for name, entry in config["criteria"].items()
    }


def moved_query(config):
    config["criteria"]["Second"]["queries"]["q2"] = config["criteria"]["First"]["queries"].pop("q2")


def reversed_order(config):
    for part in ("models", "criteria", "metrics"):
        config[part] = dict(reversed(config[part].items()))
    for criterion in config["criteria"].values():
        criterion["queries"] = dict(reversed(criterion["queries"].items()))
    for key in reversed(list(config)):
        config[key] = config.pop(key)


def in_full(models, queries):
    metrics = ("weat", "weat_es", "rnd", "rnsb")
    return {f"{m}/none/{metric}/{q}" for m in models for metric in metrics for q in queries}


# what is edited: how, the rules and tables that run again, and the cells
EDITS = {
    "metric parameter": (
        lambda c: c["metrics"]["rnd"]["params"].update(distance="cos"),
        {"cell", *AND_STUDY} - LOST,
        every("/rnd/"),
    ),
    # Snakemake compares parameters as a set of values; one canonical text is one value
    "two metric parameters exchanged": (
        lambda c: c["metrics"]["rnsb"].update(params={"n_iterations": 5, "holdout": True}),
        {"cell", *AND_STUDY},
        every("/rnsb/"),
    ),
    "model look-up": (edit_model("two", words={"normalize": True}), {"cell", *AND_STUDY}, every("^two/")),
    "model licence": (edit_model("two", licence="mine"), {"store", "cell", *AND_STUDY}, every("^two/")),
    "model label": (edit_model("two", label="Renamed"), AND_STUDY, set()),
    "model note": (edit_model("two", note="measured twice"), {"study", "report"}, set()),
    "model download": (edit_model("two", download_mb=5), set(), set()),
    "new model": (new_model, {"archive", "store", "cell", *AND_STUDY}, in_full(["three"], ["q1", "q2", "q3"])),
    "removed model": (removed("models", "two"), AND_STUDY, set()),
    "new query": (new_query, {"query", "cell", *AND_STUDY}, in_full(["one", "two"], ["q4"])),
    "removed query": (lambda c: c["criteria"]["First"]["queries"].pop("q2"), AND_STUDY, set()),
    "query name": (
        lambda c: c["criteria"]["First"]["queries"]["q2"].update(name="Renamed"),
        {"query", "cell", *AND_STUDY},
        every("/q2$"),
    ),
    "renamed criterion": (renamed_criterion, {"cell", *AND_STUDY}, every("/q[12]$")),
    "moved query": (moved_query, {"cell", *AND_STUDY}, every("/q2$")),
    "removed criterion": (removed("criteria", "Second"), AND_STUDY, set()),
    "unranked criterion": (
        lambda c: c["criteria"]["Second"].update(ranked=False),
        {"study", "aggregates", "rankings", "correlations", "figure", "report"},
        set(),
    ),
    "removed metric": (removed("metrics", "rnd"), AND_STUDY - LOST, set()),
    "study look-up": (lambda c: c.update(words={"strategy": "all"}), {"cell", *AND_STUDY}, every("")),
    "seed": (lambda c: c.update(seed=5), {"cell", *AND_STUDY}, every("")),
    "aggregation": (
        lambda c: c.update(aggregation="avg"),
        {"study", "aggregates", "rankings", "correlations", "figure", "report"},
        set(),
    ),
    "correlations": (lambda c: c.update(correlations=["kendall"]), {"study", "correlations", "report"}, set()),
    "figures": (lambda c: c.update(figures=["scores"]), {"study", "figure", "report"}, set()),
    # colours follow it
    "order": (reversed_order, {"study", "report", "figure"}, set()),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_editing_the_config_makes_stale_what_depends_on_it(root, name):
    edit, rules, reruns = EDITS[name]
    config = grid_config() | {"figures": ["rankings"]}
    before = Study.of(config, root=root)
    edit(config)
    jobs: dict[str, set[str]] = {}
    for path in stale(before, Study.of(config, root=root)):
        folder, _, _ = path.rpartition("/")
        rule = {
            "queries": "query",
            "sources": "archive",
            "models": "store",
            "figures": "figure",
            "": Path(path).stem,
        }
        jobs.setdefault(rule.get(folder, "cell"), set()).add(path)
    assert set(jobs) == rules
    assert cells(jobs) == reruns
    if "store" in rules:
        (model,) = {name.split("/")[0] for name in reruns}
        assert jobs["store"] == {f"models/{model}.json"}
    if "query" in rules:
        (query,) = {name.split("/")[-1] for name in reruns}
        assert jobs["query"] == {f"queries/{query}.json"}


@pytest.mark.parametrize(
    "name", ["two metric parameters exchanged", "new model", "query name", "moved query", "order"]
)
def test_snakemake_makes_again_what_is_stale_by_the_plan(finished, name):
    before = Study.of(finished.config, root=finished.folder)
    EDITS[name][0](finished.config)
    finished.configure(finished.config)
    jobs = planned(finished)
    made_again = stale(before, Study.of(finished.config, root=finished.folder))
    in_jobs = set().union(*jobs.values())
    assert made_again <= in_jobs
    # beside those, the tables and figures that are in a job with one, and what is made of them
    assert in_jobs - made_again <= set().union(*(jobs.get(rule, set()) for rule in FOLLOWS))


def test_a_renamed_criterion_is_renamed_in_every_table(finished):
    results = finished.folder / "results" / "small"
    config = json.loads((results / "study.json").read_text())
    del config["schema"]  # as an older biasgrid wrote it, which had no checksums
    (results / "study.json").write_text(json.dumps(config))
    (results / "checksums.sha256").unlink()
    renamed_criterion(finished.config)
    finished.configure(finished.config | {"figures": []})
    line = "biasgrid: results/small has results of schema 0, this biasgrid writes 1: "
    assert line in finished.run().stderr
    assert line not in finished.run().stderr
    for table in ("scores", "aggregates", "rankings", "correlations"):
        text = (results / f"{table}.csv").read_text()
        assert "Renamed," in text
        assert "First," not in text


def test_a_run_says_which_words_only_capital_letters_lost(finished, monkeypatch):
    query = copy.deepcopy(finished.config["criteria"]["First"]["queries"]["q1"])
    query["targets"]["X"] = ["b0", "C1", "C2", "X1"]
    del query["targets"]["B"]
    finished.config["criteria"]["First"]["queries"]["q4"] = query
    config = finished.config | {"metrics": {"weat": {}}, "figures": []}
    finished.configure(config | {"words": {"preprocessors": [{}]}})
    done = finished.run()
    assert (
        "biasgrid: warnings: none; words lost only because of their capital letters: 2 (2 in one, 2 in two); to look "
        "words up in lower case, too, set words: {preprocessors: [{}, {lowercase: true}]}\n"
    ) in done.stderr
    assert "downloads" not in done.stderr
    monkeypatch.chdir(finished.folder)
    table = Path("results/small/lost_words.csv")
    whole = table.read_text()
    table.write_text(whole[:-1])
    assert run_messages.lost_by_case(Study.of(config)) is None
    table.write_text(whole)
    # words that are looked up in lower case, too, are not lost
    finished.configure(config | {"words": {"preprocessors": [{}, {"lowercase": True}]}})
    assert "biasgrid: warnings: none\n" in finished.run(str(table)).stderr


def test_published_numbers_are_compared_and_measure_nothing(finished):
    finished.config |= {"published": ["published.csv"], "figures": []}
    published = finished.folder / "published.csv"
    shutil.copy(ROOT / "data" / "published" / "case_study.csv", published)
    finished.configure(finished.config)
    finished.run()
    append(published, published.read_text().splitlines()[-1].replace("word2vec", "word3vec") + "\n")
    assert set(planned(finished)) == {"tables", "report"}
    finished.config["models"]["two"]["published_as"] = "word2vec-google-news-300"
    finished.configure(finished.config)
    assert set(planned(finished)) == {"study", "tables", "report"}


def test_a_second_study_of_the_same_models_makes_no_model_again(finished):
    finished.config["study"] = "second"
    finished.configure(finished.config)
    jobs = planned(finished)
    assert set(jobs) == {"study", "query", "archive", "store", "cell", *FOLLOWS}
    assert all(path.startswith("results/second/") for paths in jobs.values() for path in paths)
    stores = [finished.folder / "data" / "embeddings" / model / "model.json" for model in ("one", "two")]
    before = [path.stat().st_mtime_ns for path in stores]
    finished.run("stores")
    assert [path.stat().st_mtime_ns for path in stores] == before
    # and the first study is as it was
    finished.config["study"] = "small"
    finished.configure(finished.config)
    assert planned(finished) == {}


def test_an_edit_of_modules_reruns_what_is_made_with_them(finished):
    """Which steps those are, of every module: tests/study/test_code.py."""
    for module in ("metrics/rnd", "figures/frame"):
        append(finished.own_code(f"{module}.py"))
    jobs = planned(finished)
    assert set(jobs) == {"cell", *FOLLOWS}
    assert cells(jobs) == every("/rnd/")


def test_a_new_metric_makes_no_other_stale(finished):
    """What it is then in: tests/metrics/test_new_metric.py."""
    finished.own_code("metrics/toy.py").write_text(
        "from .registry import Metric, Score\n\n\n"
        "def toy(targets, attributes, *, factor=1):\n"
        "    return Score(float(factor * len(targets[0])))\n\n\n"
        "METRICS = (Metric('toy', 'Toy', toy, (2, 1), (0, 99), 0.0, 'none'),)\n"
    )
    finished.config["metrics"]["toy"] = {"params": {"factor": 2}}
    finished.configure(finished.config)
    jobs = planned(finished)
    assert cells(jobs) == {f"{m}/none/toy/{q}" for m in ("one", "two") for q in ("q1", "q2", "q3")}
    assert set(jobs) == {"study", "cell", *FOLLOWS}


def test_a_figure_that_fails_costs_no_other_and_is_made_by_the_next_run(finished):
    finished.configure(finished.config | {"figures": ["rankings", "correlations"]})
    finished.run()
    before = finished.results()
    for figure in ("correlations", "rankings"):
        (finished.folder / f"results/small/figures/{figure}.pdf").unlink()
    module = finished.own_code("figures/rankings.py")
    text = module.read_text()
    line = '    rows_of(rankings, "rankings", criterion=criterion)\n'
    assert line in text
    module.write_text(text.replace(line, f"    1 / 0\n{line}"))
    done = finished.snakemake("--cores", "2")
    assert done.returncode == 1
    (line,) = [text for text in done.stderr.splitlines() if text.startswith("biasgrid: figures")]
    assert line == "biasgrid: figures failed: figure rankings: ZeroDivisionError: division by zero"
    # the others are made, and the next run makes the failed one
    there = finished.results()
    assert {name for name in before if name not in there} == {
        f"small/figures/rankings.{end}" for end in ("pdf", "svg", "png")
    }
    assert set(planned(finished)) == {"figures"}
    module.write_text(text)
    finished.run()
    assert finished.results() == before
    assert planned(finished) == {}


def test_a_table_that_fails_leaves_no_stale_one_behind(finished):
    (finished.folder / "results/small/figures/rankings.svg").unlink()
    module = finished.own_code("tables/scores.py")
    text = module.read_text()
    module.write_text(text.replace("def make(", "def make(inputs, spec):\n    1 / 0\n\n\ndef _make("))
    assert finished.snakemake("--cores", "1").returncode == 1
    module.write_text(text)
    # what is made of it was not: all of it is planned again, and comes out as it was
    assert set(planned(finished)) == FOLLOWS
    finished.run()
    assert planned(finished) == {}


def test_forced_steps_are_made_again_though_nothing_changed(finished):
    assert "table/scores" in made(finished, "--forcerun", "tables")
    assert planned(finished) == {}


def test_one_failing_cell_stops_no_other_and_is_named(finished):
    """A metric that fails on one query: the other cells are made, the failed one is named at the end."""
    path = finished.own_code("metrics/rnd.py")
    text = path.read_text()
    marker = "    first, second = (words.mean(axis=0) for words in targets)\n"
    assert marker in text
    path.write_text(text.replace(marker, "    if len(attributes[0]) == 6:\n        1 / 0\n" + marker))
    folder = finished.folder / "results/small/cells"
    shutil.rmtree(folder)
    # its cells come after others have failed
    (folder.parent / "models" / "two.json").unlink()
    done = finished.snakemake("--cores", "2")
    assert done.returncode != 0
    made = {str(p.relative_to(folder)).removesuffix(".json") for p in folder.rglob("*.json")}
    assert made == every("") - {f"{m}/none/rnd/{q}" for m in ("one", "two") for q in ("q2", "q3")}
    named = [line for line in done.stderr.splitlines() if line.startswith("biasgrid: cell ")]
    assert {line.split()[2] for line in named} == {
        f"{m}/none/rnd/{q}" for m in ("one", "two") for q in ("q2", "q3")
    }
    assert all("ZeroDivisionError" in line for line in named)
    path.write_text(text)
    assert cells(planned(finished)) == every("/rnd/")


def test_a_wrong_config_is_one_line_and_code_2(project):
    project.config["metrics"]["weta"] = {}
    project.configure(project.config)
    (project.folder / "config" / "mine.yaml").write_text("seed: 3\n")
    (project.folder / "config" / "twice.yaml").write_text("study: small\nseed: 1\nseed: 2\n")
    for arguments, told in (
        ((), "metrics: weta: unknown metric 'weta'"),
        # it is not the default study
        (("--configfile", "config/mine.yaml"), "config/mine.yaml: key 'study' is missing"),
        (
            ("--configfile", "config/twice.yaml"),
            "config/twice.yaml: not a YAML file: duplicate key 'seed'",
        ),
    ):
        refusal_of(project.snakemake("--cores", "1", *arguments), told)
        assert not (project.folder / "results").exists()


def test_a_key_on_the_command_line_is_one_of_the_default_study(project):
    assert len(cells(planned(project, "--config", "seed=3"))) == 24


def test_a_cell_as_a_process_gives_the_same_bytes(finished):
    """Without the profile's threads every job starts a Snakemake of its own, which reads the config anew."""
    before = finished.results()
    cell = "results/small/cells/two/none/rnsb/q2.json"
    (finished.folder / cell).unlink()
    (finished.folder / "profiles/default/config.yaml").write_text("nolock: true\n")
    finished.run(cell, "--configfile", "config/config.yaml")
    assert finished.results() == before


def test_a_snakefile_and_code_of_different_checkouts_are_refused(finished, tmp_path):
    other = finished.copy(tmp_path / "other")
    other.own_code()
    done = finished.snakemake("--cores", "1", "--snakefile", str(other.folder / "Snakefile"))
    refusal_of(done, f"this Snakefile is that of {other.folder}, but Python imports biasgrid from ")


def test_neither_cores_nor_the_workflow_catalogs_snakefile_change_a_byte(project, finished_project):
    project.configure(finished_project.config)
    project.run("--cores", "2", "--snakefile", "workflow/Snakefile")
    assert project.results() == finished_project.results()


def test_the_workflow_as_a_module_makes_the_whole_study(project):
    (project.folder / "module.smk").write_text(
        'configfile: "config/config.yaml"\n'
        "module biasgrid:\n"
        '    snakefile: "workflow/Snakefile"\n'
        "    config: config\n"
        "use rule * from biasgrid\n"
    )
    assert planned(project, "--snakefile", "module.smk") == planned(project)


def test_what_the_study_has_no_name_for_is_no_target(project):
    project.configure(project.config | {"figures": ["rankings"]})
    for target in ("cells/one/none/weat/q9.json", "queries/q9.json", "figures/nope.pdf"):
        done = project.snakemake("--cores", "1", "--dry-run", f"results/small/{target}")
        assert done.returncode == 1
        assert "MissingRuleException" in done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr


def test_downloads_can_be_verified(finished):
    finished.run("verify")
    (finished.folder / "one.txt").write_text("a0 1 2\n")
    done = finished.snakemake("--cores", "1", "verify")
    assert done.returncode == 1
    assert "biasgrid: verify failed: one: " in done.stdout + done.stderr


def test_a_broken_model_is_named_and_the_other_model_is_measured(project):
    path = project.folder / "two.txt"
    path.write_text(re.sub(r"^e3 \S+", "e3 nan", path.read_text(), flags=re.M))
    done = project.snakemake("--cores", "2")
    assert done.returncode != 0
    assert re.search(r"^biasgrid: store two failed: .*two.txt.*line 37", done.stderr + done.stdout, re.M)
    assert len(list((project.folder / "results/small/cells/one").rglob("*.json"))) == 12
    assert not (project.folder / "data/embeddings/two/model.json").exists()


def test_a_download_that_cannot_be_had_is_one_line_that_names_the_embedded_study(project):
    # nothing listens on port 9 of this machine
    for model in project.config["models"]:
        project.config["models"][model]["source"] = {"type": "url", "url": f"http://127.0.0.1:9/{model}.txt"}
    project.config["models"]["one"]["download_mb"] = 1200
    project.configure(project.config)
    dry = project.run("--dry-run")
    assert "biasgrid: " not in dry.stdout + dry.stderr
    assert not (project.folder / "data" / "embeddings").exists()
    start = time.monotonic()
    done = project.snakemake("--cores", "8")
    assert done.returncode != 0
    assert time.monotonic() - start < 60
    line = (
        "biasgrid: small downloads at least 1.2 GB to data/embeddings/raw: one 1.2 GB, two. The small study, "
    )
    assert line in done.stderr
    assert done.stderr.index(line) < done.stderr.index("biasgrid: could not download")
    (line,) = [
        x for x in (done.stderr + done.stdout).splitlines() if x.startswith("biasgrid: could not download")
    ]
    assert "one, two (cannot reach 127.0.0.1" in line
    assert "127.0.0.1" in line
    assert "config/embedded.yaml" in line


def test_a_run_for_which_the_disk_has_no_room_is_refused_before_it_downloads(project):
    source = {"type": "url", "url": "http://127.0.0.1:9/one.txt"}
    project.config["models"]["one"] |= {"source": source, "download_mb": 40_000_000}
    project.configure(project.config)
    # a store of text is 1.2 times its archive
    needs = "biasgrid: small needs 88,000 GB on the disk of data/embeddings ("
    refusal_of(project.snakemake("--cores", "1"), needs, "), which has ")
    assert not (project.folder / "data/embeddings/raw/one").exists()


def test_the_disk_of_the_full_study_is_near_what_a_rehearsal_took(tmp_path, monkeypatch):
    """On stand-ins of 7.06 GB, which pack a little less than the archives: 9.45 GB of stores, .34 GB of results."""
    study = Study.read(ROOT / "config" / "config.yaml")
    assert sum(entry["download_mb"] for entry in study.models.values()) == 6563
    monkeypatch.chdir(tmp_path)
    parts = disk.to_write(study, dict.fromkeys(study.sources, 0))
    assert 0.9 * 9450 < parts["stores"] < 1.1 * 9450
    assert 0.9 * 343 < parts["results"] < 1.1 * 343


@pytest.mark.slow
def test_the_full_study_plans_all_its_cells():
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = forks.run(("--cores", "8", "--dry-run", "--quiet", "rules"), ROOT, environment)
    assert done.returncode == 0, done.stderr
    jobs = dict(re.findall(r"^(\w+) +(\d+)$", done.stdout + done.stderr, re.M))
    cells_there = len(list((ROOT / "results" / "case_study" / "cells").rglob("*.json")))
    assert int(jobs["cell"]) + cells_there == 700


def test_a_run_where_the_file_system_has_no_locks_says_so_and_continues(finished):
    begin = finished.own_code("core/moved.py")
    refusal = "import errno, fcntl\ndef refuse(*_): raise OSError(errno.ENOLCK, 'No locks available')\n"
    begin.write_text(begin.read_text() + refusal + "fcntl.flock = refuse\n")
    cell = "results/small/cells/one/none/weat/q1.json"
    (finished.folder / cell).unlink()
    done = finished.run(cell)
    assert "biasgrid: no lock (logs/small/.lock: " in done.stderr
    assert "do not start a second run of small" in done.stderr
    assert (finished.folder / cell).is_file()
    assert "`no lock`" in (ROOT / "docs" / "engine.md").read_text()


def test_two_runs_at_once_are_refused(finished):
    slow, at_work = finished.own_code("metrics/rnd.py"), finished.folder / "at_work"
    text = slow.read_text()
    wait = f"    open({str(at_work)!r}, 'w'); __import__('time').sleep(60)\n"
    slow.write_text(text.replace("    first, second =", f"{wait}    first, second =", 1))
    running = finished.start(cores=1)
    try:
        while not at_work.exists():
            assert running.poll() is None
            time.sleep(0.05)
        refusal_of(finished.snakemake("--cores", "1"), "another run of small is at work in this folder")
        # of another study it is none
        other = {**finished.config, "study": "other", "metrics": {"weat": {}}}
        (finished.folder / "config" / "other.yaml").write_text(yaml.safe_dump(other, sort_keys=False))
        finished.run("results/other/scores.csv", "--configfile", "config/other.yaml")
        assert running.poll() is None
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def result_names(folder: Path) -> list[str]:
    """Return the names of the result files, also while a run removes some of them."""
    return [name for *_, names in os.walk(folder / "results") for name in names if name[0] != "."]


def test_killed_at_any_moment_the_next_run_completes_with_the_same_bytes(project, finished_project):
    """SIGKILL of the whole process group, twice in a row, after some files. The lock belongs to the
    process: it is gone when the process is, however it ended."""
    project.configure(finished_project.config)
    files = len(finished_project.results())
    for count in sorted(random.Random(3).sample(range(files), 2)):
        running = project.start()
        # the run removes files that were not whole when it was killed: none may be opened
        while running.poll() is None and len(result_names(project.folder)) <= count:
            time.sleep(0.01)
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    project.run()
    assert project.results() == finished_project.results()


def test_cell_files_hold_what_they_depend_on(finished):
    cell = json.loads((finished.folder / "results/small/cells/one/none/rnd/q1.json").read_text())
    assert (cell["criterion"], cell["query"], cell["metric"], cell["model"]) == ("First", "q1", "rnd", "one")
    assert cell["params"] == {"distance": "norm"}
    assert [r["query"] for r in cell["results"]] == ["A and B wrt C", "A and B wrt D"]
    assert cell["results"][0]["found"]["A"]["a0"] == ["a0"]


def test_a_rule_of_ones_own_is_made_and_its_mistake_is_shown(finished):
    """A rule beside the workflow's, as the how-to has it; its `run:` writes no log."""
    rule = """\
include: "Snakefile"


rule mean_scores:
    input:
        f"{RESULTS}/scores.csv",
    output:
        "mean-scores.csv",
    log:
        f"{LOGS}/mean_scores.txt",
    run:
        import pandas as pd

        pd.read_csv(input[0]).groupby("model")["COLUMN"].mean().to_csv(output[0])
"""
    file = finished.folder / "mine.smk"
    file.write_text(rule.replace("COLUMN", "value"))
    done = finished.snakemake("--snakefile", "mine.smk", "--cores", "1", "mean-scores.csv")
    assert done.returncode == 0, done.stderr
    assert list(pd.read_csv(finished.folder / "mean-scores.csv")) == ["model", "value"]

    file.write_text(rule.replace("COLUMN", "score"))
    done = finished.snakemake(
        "--snakefile", "mine.smk", "--cores", "1", "mean-scores.csv", "--forcerun", "mean_scores"
    )
    assert done.returncode == 1
    assert "KeyError" in done.stderr + done.stdout
