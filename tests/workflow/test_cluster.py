"""What a cluster needs of the workflow, without a cluster. `make cluster-test` is the test on a real Slurm."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
from importlib.metadata import version
from types import SimpleNamespace

import pytest
import yaml
from conftest import ROOT, grid_config

from biasgrid.study.study import Study
from biasgrid.workflow import stores

PROFILE = yaml.safe_load((ROOT / "profiles" / "slurm" / "config.yaml").read_text())
GENERIC = (ROOT / "profiles" / "generic" / "config.yaml").read_text()
SUBMIT = re.findall(r"^(?:# )?cluster-generic-submit-cmd: (.+)$", GENERIC, re.M)
# a metric whose value is a fact of the process that computes the cell
FACT = """
from .registry import Metric, Score


def fact(targets, attributes):
    {body}


METRICS = (
    Metric(
        name="fact",
        label="Fact",
        function=fact,
        template=("n", "n"),
        range=(0.0, float("inf")),
        neutral=0.0,
        reference="none",
    ),
)
"""
THREADS = """from threadpoolctl import threadpool_info

    return Score(float(max(library["num_threads"] for library in threadpool_info())))"""


def measure_fact(project, body):
    project.own_code("metrics/fact.py").write_text(FACT.format(body=body))
    project.configure(grid_config() | {"metrics": {"fact": {}}})


def facts(project):
    cells = (project.folder / "results").rglob("fact/*.json")
    return [json.loads(cell.read_text())["results"][0]["value"] for cell in cells]


def steps_of_job(project, targets, *executor):
    """A job of these steps, in the words of Snakemake's spawned jobs."""
    rules = dict.fromkeys(target.partition(":")[0] for target in targets)
    options = ["--force", "--nolock", "--no-hooks", "--ignore-incomplete", "--mode", "remote", "--cores", "2"]
    return project.snakemake("--target-jobs", *targets, "--allowed-rules", *rules, *options, *executor)


def test_cells_compute_with_one_blas_thread(project, monkeypatch):
    """NumPy is loaded before the Snakefile is read: an environment variable that it sets would come too late."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    measure_fact(project, THREADS)
    project.configure(project.config | {"criteria": {"First": project.config["criteria"]["First"]}})
    cells = [f"results/small/cells/one/none/fact/{query}.json" for query in ("q1", "q2")]
    command = project.command("--cores", "2", *cells)
    subprocess.run(command, cwd=project.folder, env=project.environment, check=True)
    assert set(facts(project)) == {1.0}


def test_a_submitted_job_is_not_refused_by_the_lock_of_the_run_that_submitted_it(finished):
    results = finished.results()
    (finished.folder / "results" / "small" / "scores.csv").unlink()
    with (finished.folder / "logs/small/.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused = finished.snakemake("--cores", "1")
        assert refused.returncode == 2
        assert "another run of small is at work in this folder" in refused.stderr
        done = steps_of_job(finished, ["tables:"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert finished.results() == results


def test_a_submitted_job_infers_the_same_bytes(project):
    """It is started without the workflow's hooks, in which the run that submits it begins."""
    inference = {"permutation": {"draws": 20, "exact": 0}, "random_groups": {"draws": 20}}
    project.configure(grid_config() | {"inference": inference, "metrics": {"weat": {}}})
    project.run()
    whole = project.results()
    for model in ("one", "two"):
        (project.folder / f"results/small/inference/{model}/none/weat.json").unlink()
        done = steps_of_job(project, [f"inference:group={model}/none/weat"])
        assert done.returncode == 0, done.stdout + done.stderr
    assert project.results() == whole


def test_memory_goes_by_the_size_of_the_store_and_grows_with_each_try(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    study = Study.of(project.config)
    of_unknown = stores.memory(study, "one", 1, attempt=1)
    manifest = project.folder / "data" / "embeddings" / "raw" / "one" / "manifest.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"files": {"one.gz": {"bytes": 1000 * 10**6}}}))
    of_archive = stores.memory(study, "one", 1, attempt=1)
    store = project.folder / "data" / "embeddings" / "one" / "vectors.npy"
    store.parent.mkdir()
    with store.open("wb") as file:
        file.truncate(3600 * 10**6)  # word2vec-google-news-300's; a file without content takes no room
    of_store = stores.memory(study, "one", 1, attempt=1)
    assert 1000 < of_archive < 3600 < of_store < of_unknown  # an archive is packed
    # what the step that makes the store asks for, as a dry run prints it
    done = project.run("--dry-run", "--attempt", "2", "--", "results/small/models/one.json")
    step = next(part for part in done.stdout.split("\n\n") if "rule store:" in part)
    asked = [int(re.search(rf"\b{name}=(\d+)", step)[1]) for name in ("mem_mb", "runtime")]
    assert asked == [2 * of_store, 2 * 60]


def test_cells_and_downloads_are_not_submitted():
    local = re.search(r"^localrules:\n((?:    \w+,\n)+)", (ROOT / "Snakefile").read_text(), re.M)[1]
    assert {"cell", "archive", "query", "study"} <= set(re.findall(r"\w+", local))


def test_a_dry_run_on_a_cluster_is_a_table_of_jobs_with_memory_and_time(project):
    done = project.snakemake("--profile", "profiles/generic", "--dry-run")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.strip()}
    assert rows["rule"] == ["jobs", "MB", "minutes"]
    # Snakemake 9.12 leaves default-resources out of a dry run
    defaults = [] if version("snakemake").startswith("9.12.") else ["1,000", "5"]
    assert rows["cell"] == ["24", *defaults]
    assert rows["tables"] == ["1", "2,000", "30"]
    assert rows["store"][0] == "2"


def test_the_generic_profile_has_the_jobs_of_slurms():
    def shared(profile):
        return {key: value for key, value in profile.items() if not re.search("executor|slurm|generic", key)}

    assert shared(yaml.safe_load(GENERIC)) == shared(PROFILE)


@pytest.mark.parametrize(
    ("scheduler", "asked"),
    [
        ("qsub -terse", ["smp 4", "h_rt=18000,mem_free=1501M"]),
        ("qsub -V", ["select=1:ncpus=4:mem=6000mb", "walltime=18000"]),
        ("bsub", ["-n 4", "-W 300", "rusage[mem=6000]"]),
    ],
)
def test_a_submit_line_asks_for_processors_memory_and_time(scheduler, asked, tmp_path):
    """Grid Engine's memory is per slot; its time, and that of PBS, is in seconds, LSF's in minutes."""
    (line,) = [line for line in SUBMIT if line.startswith(scheduler)]
    resources = SimpleNamespace(mem_mb=6000, runtime=300)
    for name in ("qsub", "bsub"):
        (tmp_path / name).write_text('#!/bin/sh\nprintf "%s " "$@"\n')
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        line.format(threads=4, resources=resources),
        shell=True,
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert [part for part in asked if f" {part} " not in f" {done.stdout}"] == []


@pytest.mark.cluster
@pytest.mark.parametrize("command", SUBMIT)
def test_the_generic_profile_submits_jobs(command, project, monkeypatch):
    """Its submit lines, with stand-ins for the schedulers' commands that run the job at once."""
    assert len(SUBMIT) == 3
    project.configure(project.config | {"figures": ["rankings"]})
    for name in ("qsub", "bsub"):
        stand_in = project.folder / "bin" / name
        stand_in.parent.mkdir(exist_ok=True)
        stand_in.write_text(
            '#!/bin/sh\nprintf "%s\\n" "$*" >> submitted\nfor job; do :; done\n"$job" >&2\necho 1\n'
        )
        stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", str(project.folder / "bin"), prepend=":")
    profile = project.folder / "profiles" / "generic" / "config.yaml"
    profile.write_text(
        re.sub("(?m)^(cluster-generic-submit-cmd: ).*$", lambda found: found[1] + command, GENERIC)
    )
    project.run(
        "--profile", "profiles/generic", "--latency-wait", "5", "--seconds-between-status-checks", "1"
    )
    submitted = (project.folder / "submitted").read_text().splitlines()
    rules = [re.search(r"snakejob\.(\w+)\.", line)[1] for line in submitted]
    assert sorted(rules) == ["figures", "report", "store", "store", "tables"]
    assert not any("{" in line for line in submitted)
    assert (project.folder / "results" / "small" / "report.html").is_file()
