"""Links in a stranger's results: nothing is written through one, nor published through one."""

import shutil

import pytest
from conftest import refusal, refusal_of

# name of the link -> whether it leads to a folder
LINKS = {
    "results/small/report.html": False,
    "results/small/rankings.csv": False,
    "results/small/figures": True,
    "results/small/cells/one/none/weat": True,
    "logs/small/.lock": False,
    "logs/small/cell": True,
    ".snakemake/metadata/cmVzdWx0cw==": False,
    ".snakemake/log": True,
}


@pytest.fixture
def mine(tmp_path):
    """A file of the user's, in a folder of its own."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "file").write_text("mine")
    yield folder
    assert [path.name for path in folder.iterdir()] == ["file"]
    assert (folder / "file").read_text() == "mine"


def put_link(finished, mine, name):
    """Put a link in place of what a run has made."""
    path = finished.folder / name
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.symlink_to(mine if LINKS[name] else mine / "file")


def test_no_run_writes_through_a_link(finished, mine):
    for name in LINKS:
        copy = finished.copy(finished.folder.with_name("copy"))
        put_link(copy, mine, name)
        done = copy.biasgrid("run", "config/config.yaml", "--cores", "1")
        refusal_of(done, f"biasgrid: {name}: is a link to {mine}")
        shutil.rmtree(copy.folder)


def test_no_run_in_another_folder_writes_through_a_link(project, mine):
    state = project.folder / "other" / ".snakemake"
    state.mkdir(parents=True)
    (state / "log").symlink_to(mine)
    done = project.biasgrid("run", "config/config.yaml", "--cores", "1", "--directory", "other")
    refusal_of(done, f"biasgrid: other/.snakemake/log: is a link to {mine}")


def test_no_command_writes_or_publishes_through_a_link(finished, mine, monkeypatch):
    monkeypatch.chdir(finished.folder)
    put_link(finished, mine, "results/small/report.html")
    study = ("--study", "config/config.yaml")
    for arguments in (
        ("report", "results/small"),
        ("step", "table rankings", *study),
        ("step", "figure rankings", "cell one/none/weat/q1", *study),
        ("publish", "results/small", "published"),
    ):
        refusal(*arguments, parts=["results/small/report.html: is a link to"])
    assert not (finished.folder / "published").exists()


def test_results_and_embeddings_may_be_links_of_the_user(finished, tmp_path):
    for name in ("results", "data/embeddings", "logs"):
        moved = tmp_path / name.replace("/", "-")
        shutil.move(finished.folder / name, moved)
        (finished.folder / name).symlink_to(moved)
    assert "Nothing to be done" in finished.run().stderr
    (tmp_path / "results" / "small" / "scores.csv").unlink()
    finished.run()
    assert (tmp_path / "results" / "small" / "scores.csv").is_file()


@pytest.mark.parametrize("name", ["results", "results/small", "logs", "logs/small"])
def test_a_file_or_a_dangling_link_in_place_of_a_folder_is_one_line(finished, name):
    for put in (lambda path: path.touch(), lambda path: path.symlink_to("nowhere")):
        copy = finished.copy(finished.folder.with_name("copy"))
        shutil.rmtree(copy.folder / name)
        put(copy.folder / name)
        done = copy.biasgrid("run", "config/config.yaml", "--cores", "1")
        refusal_of(done, f"biasgrid: {name}: must be a folder, not a file or a link that leads nowhere")
        shutil.rmtree(copy.folder)
