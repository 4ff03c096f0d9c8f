"""Files and folders that commands cannot use, byte order marks, and commands that come to nothing."""

import json
import shutil

import pytest
from conftest import GRID_WORDS, biasgrid, grid_config, printed, refusal, refusal_of

import biasgrid as bg
from biasgrid.cli import commands
from biasgrid.study.study import Study

BOM = "\ufeff"


@pytest.fixture
def here(study_files):
    """A folder with a study's files, and files of other kinds."""
    root = study_files
    (root / "words.json").write_text('{"definitional_pairs": [["a0", "b0"], ["a1", "b1"]]}')
    (root / "empty").touch()
    (root / "folder").mkdir()
    (root / "bytes").write_bytes(b"\x00\xff\xfe\x80" * 9)
    return root


MEASURE = ["measure", "--metric", "weat", "--model", "one.txt", "--query", "q.json"]
# a command with inputs, of which each in turn is another file
COMMANDS = {
    "measure": (MEASURE, ["one.txt", "q.json"]),
    "debias": (
        ["debias", "--method", "hard", "--model", "one.txt", "--words", "words.json", "--output", "o.npz"],
        ["one.txt", "words.json"],
    ),
    "words analogy": (
        ["words", "analogy", "--model", "one.txt", "--pairs", "a0:b0", "--word", "c0"],
        ["one.txt"],
    ),
    "words": (
        ["words", "project", "--model", "one.txt", "--query", "q.json", "--debias", "o.npz"],
        ["one.txt"],
    ),
    "convert": (["convert", "--input", "one.txt", "--output", "store"], ["one.txt"]),
    "score": (["score", "--model", "smollm2-135m", "--sentences", "text"], ["text"]),
    "list": (["list", "queries", "--study", "study.yaml"], ["study.yaml"]),
    "run": (["run", "study.yaml"], ["study.yaml"]),
    "fetch --pin": (["fetch", "--pin", "study.yaml"], ["study.yaml"]),
    "score --export": (["score", "--study", "study.yaml", "--export"], ["study.yaml"]),
    "fetch": (["fetch", "--model", "one", "--study", "study.yaml"], ["study.yaml"]),
    "init": (["init", "new", "--models", "one.txt"], ["one.txt"]),
    "report": (["report", "results"], ["results"]),
    "compare": (["compare", "results", "results"], ["results"]),
    "verify": (["verify", "results"], ["results"]),
    "publish": (["publish", "results"], ["results"]),
    "join": (["join", "results", "--into", "joined"], ["results"]),
    "step": (["step", "table scores", "--study", "study.yaml"], ["study.yaml"]),
}


@pytest.mark.parametrize("other", ["absent", "absent.json", "empty", "folder", "bytes", "q.json"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_is_none_of_its_kind_is_one_line(here, command, other):
    arguments, inputs = COMMANDS[command]
    for given in inputs:
        # lines of JSON are sentences, too, and a reader of the plugin npm takes JSON for vectors
        if given != other and (command, other) not in (("score", "q.json"), ("init", "q.json")):
            refusal(*(other if argument == given else argument for argument in arguments))
    assert not {path.name for path in here.iterdir()} & {"o.npz", "store", "new.yaml", "joined", "results"}


@pytest.mark.parametrize("command", sorted(commands().by_name.keys() - {"list", "properties"}))
def test_a_command_without_arguments_is_one_line(command):
    refusal(*command.split(), parts=["the following arguments are required: "])


@pytest.mark.parametrize(
    "arguments",
    [
        [*MEASURE, "--seed", "x"],
        [*MEASURE, "--bootstrap", "draws=many"],
        [*MEASURE, "--permutation", "draws"],
        ["words", "analogy", "--model", "one.txt", "--pairs", "a0:b0", "--word", "c0", "--best", "x"],
        ["run", "study.yaml", "--cores", "x"],
    ],
)
def test_a_value_of_another_type_is_one_line(here, arguments):
    refusal(*arguments)


def test_files_with_a_byte_order_mark_are_read(here):
    before = printed(*MEASURE)
    config = Study.read("study.yaml").to_json()
    for name in ("q.json", "study.yaml", "data/word_sets/toy.json", "words.json"):
        path = here / name
        path.write_text(BOM + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert printed(*MEASURE) == before
    assert Study.read("study.yaml").to_json() == config
    printed("debias", "--method", "hard", "--model", "one.txt", "--words", "words.json", "--output", "o.npz")
    (here / "study.json").write_text(BOM + json.dumps(grid_config()), encoding="utf-8")
    assert json.loads(Study.read("study.json").to_json()) == json.loads(config)


@pytest.mark.parametrize("format", ["text", "tokens"])
def test_a_corpus_with_a_byte_order_mark_has_its_first_word(here, format):
    (here / "corpus").write_text(f"{BOM}first word\nlast word\n", encoding="utf-8")
    corpus = bg.load("corpus", kind="corpus", format=format)
    assert (corpus.rows(["first", "last"]) >= 0).all()


def test_measure_without_a_value_has_exit_code_2(here):
    query = bg.Query([["x"], ["y"]], [GRID_WORDS[16:20], GRID_WORDS[24:28]], ["X", "Y"], ["C", "D"])
    (here / "lost.json").write_text(query.to_json())
    done = biasgrid(*MEASURE[:-1], "lost.json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["value"] is None
    line = done.stderr.splitlines()[-1]
    assert line.startswith(
        "biasgrid: lost.json: weat has no value on one: too many words are lost: X lacks 1 of 1"
    )


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_is_one_line(project):
    """As root nearly all can be: a file stands where Snakemake's folder would be."""
    shutil.rmtree(project.folder / ".snakemake", ignore_errors=True)
    (project.folder / ".snakemake").touch()
    for run in (
        lambda: project.biasgrid("run", "config/config.yaml"),
        lambda: project.snakemake("--dry-run"),
    ):
        says = ".snakemake: cannot be written (File exists); run the study in a folder that you can"
        refusal_of(run(), says)
