"""Results are of one config file: a copy of it under the same study name writes over none of them unasked."""

import shutil

import pytest
import yaml
from conftest import refusal_of

RECORD = "results/small/config_file.txt"


@pytest.fixture
def copied(finished):
    """A finished project with an edited copy of its config: what a run of the copy gives."""
    write(finished, "mine.yaml", seed=5)
    return lambda *options, config="mine.yaml": finished.snakemake(
        "--cores", "1", "--configfile", config, *options
    )


def write(project, name, **changes):
    path = project.folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(project.config | changes, sort_keys=False))


def test_a_copy_of_the_config_writes_over_no_results(finished, copied):
    before = finished.results()
    done = copied()
    assert done.returncode == 2
    lines = [line for line in done.stderr.splitlines() if line.startswith("biasgrid: ")]
    assert lines == [
        "biasgrid: results/small was made by config/config.yaml, and this is mine.yaml: give the study in it another "
        "name, or replace those results: biasgrid run mine.yaml --replace (snakemake: --config replace=true)"
    ]
    command = ("run", "mine.yaml", "--cores", "1")
    run = finished.biasgrid(*command)
    assert run.returncode == 2
    assert lines[0] in run.stderr.splitlines()
    assert finished.results() == before
    replaced = finished.biasgrid(*command, "--replace", "--until", "study")
    assert replaced.returncode == 0, replaced.stderr
    assert (finished.folder / RECORD).read_text() == "../../mine.yaml\n"
    assert finished.snakemake("--cores", "1").returncode == 2  # that is the other one now
    assert copied("--dry-run").returncode == 0


def test_a_copy_that_says_the_same_is_the_same_study(finished, copied):
    write(finished, "mine.yaml")
    assert "Nothing to be done" in copied().stderr
    assert (finished.folder / RECORD).read_text() == "../../config/config.yaml\n"


def test_the_same_file_is_the_same_study(finished, copied, tmp_path):
    """Edited, with an overlay, and moved: alone, with its folder, with everything."""
    finished.configure(finished.config | {"seed": 5})
    write(finished, "overlay.yaml", figures=[])
    assert copied("overlay.yaml", "--dry-run", config="config/config.yaml").returncode == 0
    shutil.move(finished.folder / "config", finished.folder / "studies")
    assert copied("--dry-run", config="studies/config.yaml").returncode == 0
    (finished.folder / "config").mkdir()
    shutil.move(finished.folder / "studies/config.yaml", finished.folder / "config")
    shutil.move(finished.folder, tmp_path / "elsewhere")
    finished.folder = tmp_path / "elsewhere"
    assert copied("--dry-run", config=str(finished.folder / "config/config.yaml")).returncode == 0
    assert copied("--dry-run").returncode == 2


def test_results_without_a_record_are_taken(finished, copied):
    (finished.folder / RECORD).unlink()
    assert "Nothing to be done" in finished.run().stderr
    (finished.folder / "results/small/report.html").unlink()
    finished.run()
    assert (finished.folder / RECORD).read_text() == "../../config/config.yaml\n"
    (finished.folder / RECORD).unlink()
    assert copied("--until", "study").returncode == 0
    assert (finished.folder / RECORD).read_text() == "../../mine.yaml\n"
    # copied without Snakemake's records, and edited
    shutil.rmtree(finished.folder / ".snakemake")
    assert copied("--dry-run").returncode == 0
    write(finished, "mine.yaml", seed=6)
    assert "results/small is of another config, and was made in another folder" in copied().stderr


def test_a_folder_of_other_things_is_not_written_over(project):
    folder = project.folder / "results" / "small"
    folder.mkdir(parents=True)
    (folder / "thesis.tex").write_text("mine")
    done = project.biasgrid("run", "config/config.yaml", "--cores", "1")
    refusal_of(
        done,
        "biasgrid: results/small: has other things in it (thesis.tex); give the study another name, or write into "
        "this folder all the same: biasgrid run config/config.yaml --replace (snakemake: --config replace=true)",
    )
    assert "results/small: has other things in it" in project.snakemake("--cores", "1", "--dry-run").stderr
    step = project.biasgrid("step", "--study", "config/config.yaml", "table scores")
    assert (
        step.stderr
        == "biasgrid: results/small: has other things in it (thesis.tex); give the study another name\n"
    )
    done = project.biasgrid("run", "config/config.yaml", "--cores", "1", "--replace", "--until", "study")
    assert done.returncode == 0, done.stderr
    assert (folder / "thesis.tex").read_text() == "mine"
    # the folder is the study's from now on
    assert project.biasgrid("run", "config/config.yaml", "--cores", "1", "--dry-run").returncode == 0
