"""Studies as folders to deposit, and several of them as one: two halves of a study's models give the whole's tables;
what differs is said in a line; what strangers put into their folders is refused."""

import contextlib
import html
import json
import re
import shlex
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml
from conftest import biasgrid, grid_config, printed, refusal, write_text_model
from in_process import make
from same import differences

import biasgrid as bg
from biasgrid.cli import main
from biasgrid.core.errors import quote_both
from biasgrid.study import checksums
from biasgrid.study.results.finished_study import find_study
from biasgrid.study.study import Study

pytestmark = pytest.mark.slow

WORDS = [f"{letter}{i}" for letter in "abcdef" for i in range(8)]
MODELS = ("one", "two", "three", "four")


def study(name: str, models: tuple[str, ...], **changes: object) -> Study:
    config = grid_config() | {
        "study": name,
        "figures": ["rankings"],
        "models": {
            key: {"label": f"<script>{key}", "source": {"type": "file", "path": f"{key}.txt"}}
            for key in models
        },
        "metrics": {"weat": {}, "rnd": {"params": {"distance": "norm"}}},
        "inference": {
            "permutation": {"draws": 49, "exact": 10},
            "bootstrap": {"draws": 20},
            "adjust": "benjamini-hochberg",
        },
    }
    made = make(Study.of(config | changes))
    checksums.record_all(made.results)
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The whole study, and its halves, of which the first is published with a model that lies elsewhere."""
    place = tmp_path_factory.mktemp("join")
    with contextlib.chdir(place):
        sets = {"title": "toy", "sets": {letter: [f"{letter}{i}" for i in range(8)] for letter in "ef"}}
        Path("data/word_sets").mkdir(parents=True)
        Path("data/word_sets/toy.json").write_text(json.dumps(sets), encoding="utf-8")
        for seed, key in enumerate(MODELS):
            write_text_model(Path(f"{key}.txt"), WORDS[: len(WORDS) - seed], seed=seed)
        study("whole", MODELS)
        study("left", MODELS[:2])
        study("right", MODELS[2:])
        for half in ("left", "right"):
            assert main(["publish", f"results/{half}", half, "--author", "Ada"]) == 0
        assert main(["join", "left", "right", "--into", "both"]) == 0
    return place


@pytest.fixture
def here(folder, tmp_path, monkeypatch):
    """A copy of the published halves, to be changed."""
    for half in ("left", "right"):
        shutil.copytree(folder / half, tmp_path / half)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def joined(*folders: str) -> int:
    return main(["join", *(folders or ("left", "right")), "--into", "both"])


def change(file: str, edit) -> None:
    """Change a JSON file of a published folder, and its digest with it, as a stranger would."""
    record = json.loads(Path(file).read_text(encoding="utf-8"))
    edit(record)
    Path(file).write_text(json.dumps(record), encoding="utf-8")
    checksums.record_all(Path(file.partition("/")[0]))


def refused(capsys, *folders: str) -> list[str]:
    assert joined(*folders) == 2
    assert not [path for path in Path().iterdir() if "both" in path.name]
    return [line.removeprefix("biasgrid: ") for line in capsys.readouterr().err.splitlines()]


def test_two_halves_are_the_whole(folder):
    whole, both = folder / "results" / "whole", folder / "both"
    assert differences(whole, both) == []
    assert bg.open_study(both).rank().equals(bg.open_study(whole).rank())
    assert (both / "figures" / "rankings.png").is_file()
    assert "<script>one" not in (both / "report.html").read_text(encoding="utf-8")


def test_what_is_joined_is_published_like_any_other(folder, tmp_path):
    assert main(["publish", str(folder / "both"), str(tmp_path / "all")]) == 0
    assert main(["verify", str(tmp_path / "all")]) == 0


def test_what_is_published_describes_itself_and_no_machine(folder, here):
    package = json.loads(Path("left/datapackage.json").read_text(encoding="utf-8"))
    assert {f"{name}.csv" for name in find_study("left").tables} == {r["path"] for r in package["resources"]}
    types = {"string": str, "number": float, "integer": int}
    for resource in package["resources"]:
        table = pd.read_csv(Path("left") / resource["path"], dtype=str, keep_default_na=False)
        fields = resource["schema"]["fields"]
        assert [*table] == [field["name"] for field in fields]
        for field in fields:
            values = [types[field["type"]](value) for value in table[field["name"]] if value]
            limits = field.get("constraints", {})
            assert all(
                limits.get("minimum", value) <= value <= limits.get("maximum", value) for value in values
            )
            assert set(values) <= set(limits.get("enum", values))
    citation = yaml.safe_load(Path("left/CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["type"], citation["authors"]) == ("dataset", [{"name": "Ada"}])
    assert not [*Path("left").rglob("*.npz")]
    assert main(["verify", "left"]) == 0


def test_the_command_that_a_page_prints_needs_the_published_folder_and_the_models_file(folder, here):
    """Without a run, `biasgrid fetch` or queries: the command makes what it reads."""
    # the study's own word sets
    shutil.copytree(folder / "data" / "word_sets", here / "data" / "word_sets")
    shutil.copy(folder / "one.txt", here)
    page = Path("left/report.html").read_text(encoding="utf-8")
    commands = re.findall("<code class=again>(biasgrid step .*?)</code>", page)
    (command,) = {command for command in map(html.unescape, commands) if "/weat/q1" in command}
    _, *arguments = shlex.split(command.replace("MODEL/DEBIAS", "one/none"))
    record = printed(*arguments)
    assert {Path(file).parts[2] for file in record["files"]} == {"cells", "inference"}
    for file in record["files"]:
        assert Path(file).read_bytes() == Path(file.removeprefix("results/")).read_bytes(), file
    # the model's store is at hand now, and another score makes only its query
    Path("one.txt").unlink()
    assert printed("step", "cell one/none/rnd/q3", "--study", "left/study.json")["results"]
    refusal("step", "cell two/none/rnd/q3", "--study", "left/study.json", parts=["two.txt is not there"])


def test_publish_counts_the_files_that_verify_checks_and_names_the_folders_it_leaves_out(folder, here):
    made = printed("publish", folder / "both", "all")
    assert made["files"] == printed("verify", "all")["files"] == len(checksums.read(Path("all")))
    assert made["left out"] == ["figures/"]


@pytest.mark.parametrize("damage", ["scores.csv", "datapackage.json"])
def test_readers_of_a_damaged_published_folder_are_told_to_get_it_again(here, damage):
    (here / "left" / damage).unlink()
    (here / "left" / "notes.txt").touch()
    (here / "left" / "rankings.csv").write_bytes(b"")
    done = biasgrid("verify", "left")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "biasgrid: left/notes.txt: is not recorded",
        "biasgrid: such files were not published with the folder: delete them",
        "biasgrid: left/rankings.csv: differs",
        f"biasgrid: left/{damage}: is missing",
        "biasgrid: get the folder again from where it was published; do not use these files until then",
    ]
    with pytest.warns(UserWarning, match="rankings.csv: changed .*; get the folder again to restore it"):
        find_study("left").warn_of_changed_files()


def test_no_path_of_this_machine_is_published(folder, tmp_path, monkeypatch):
    shutil.copytree(folder / "results" / "left", tmp_path / "left")
    monkeypatch.chdir(tmp_path)
    change("left/study.json", lambda r: r["models"]["one"]["source"].update(path=str(tmp_path / "one.txt")))
    assert main(["publish", "left", "public"]) == 0
    record = json.loads(Path("public/study.json").read_text(encoding="utf-8"))
    assert record["models"]["one"]["source"]["path"] == "one.txt"
    change("left/study.json", lambda r: r["models"]["one"].update(note=f"from {tmp_path}/one.txt"))
    refusal(
        "publish",
        "left",
        "again",
        parts=[f"study.json: has a path of this machine, {tmp_path}; not published"],
    )
    assert not Path("again").exists()
    refusal("publish", "left", "public")  # it is there


def test_studies_of_other_questions_are_refused_in_a_line_each(folder, here, capsys):
    with contextlib.chdir(folder):
        config = grid_config()
        config["criteria"]["First"]["queries"]["q1"]["targets"]["A"] = ["a0", "a1", "a2", "a3"]
        study(
            "other",
            ("four",),
            seed=1,
            criteria=config["criteria"],
            metrics={"weat": {}, "rnd": {"params": {"distance": "cos"}}},
        )
    shutil.copytree(folder / "results" / "other", "other")
    assert refused(capsys, "left", "other") == [
        "other: seed: 1, and 0 in left",
        "other: metrics: rnd: params: distance: 'cos', and 'norm' in left",
        "other: query q1: A: differs from left by a4, a5, a6, a7",
    ]


def test_other_libraries_are_said_and_a_model_is_taken_once(here, capsys):
    for half in ("left", "right"):  # `folder` has a figure drawn
        change(f"{half}/study.json", lambda record: record.update(figures=[]))
    shutil.copytree("left", "copy")
    for cell in Path("right/cells").rglob("*.json"):
        change(str(cell), lambda record: record["versions"].update(numpy="0.0.1"))
    assert joined("left", "right", "copy") == 0
    line, *lines = capsys.readouterr().err.splitlines()
    assert line.startswith("biasgrid: right: version of numpy: 0.0.1, and ")
    assert lines == [f"biasgrid: copy: model {model} is that of left, and taken once" for model in MODELS[:2]]


def test_another_biasgrid_and_another_model_of_a_key_are_refused(here, capsys):
    cell = str(next(Path("right/cells").rglob("*.json")))
    change(cell, lambda record: record["versions"].update(biasgrid="0.0.1"))
    assert refused(capsys) == ["right: version of biasgrid: 0.0.1, 0.1.0, and 0.1.0 in left"]
    shutil.copytree("left", "copy")
    change("copy/models/one.json", lambda record: record["sha256"].update({"vectors.npy": "0" * 64}))
    line = "copy: models: one: is another one in left; one of them needs another key"
    assert refused(capsys, "left", "copy") == [line]


def test_long_values_that_differ_in_the_middle_are_cut_to_the_place():
    first, second = ([*range(40), end, *range(40)] for end in "ab")
    assert quote_both(first, second) == (
        "... 5, 36, 37, 38, 39, 'a', 0, 1, 2, 3, 4, 5, 6, 7, 8, ...",
        "... 5, 36, 37, 38, 39, 'b', 0, 1, 2, 3, 4, 5, 6, 7, 8, ...",
    )
    assert quote_both(1, None) == ("1", "None")


def test_strangers_folders_are_refused_in_a_line(here, capsys):
    shutil.copytree("right", "clean")

    def case(line: str, harm) -> None:
        shutil.rmtree("right")
        shutil.copytree("clean", "right")
        harm()
        lines = refused(capsys)
        assert [line in message for message in lines] == [True], lines

    def link():
        Path("right/scores.csv").unlink()
        Path("right/scores.csv").symlink_to("/etc/passwd")

    def append(file, text):
        with Path(file).open("a", encoding="utf-8") as lines:
            lines.write(text)

    cell = "right/cells/three/none/weat/q1.json"
    case("scores.csv: is a link or not a regular file", link)
    case("scores.csv: differs", lambda: append("right/scores.csv", "x" * 100))
    lines = len(Path("clean/checksums.sha256").read_text().splitlines())
    case(
        f"checksums.sha256: line {lines + 1} is not a checksum and a file in this folder",
        lambda: append("right/checksums.sha256", f"{'0' * 64}  ../x\n"),
    )
    case("plugins: are code", lambda: change("right/study.json", lambda r: r.update(plugins=["npm"])))
    case(
        "models: names files", lambda: change("right/study.json", lambda r: r.update(models=["/etc/passwd"]))
    )
    case(
        "'../x'",
        lambda: change("right/study.json", lambda r: r["models"].update({"../x": r["models"].pop("three")})),
    )
    case("U+202E", lambda: change("right/study.json", lambda r: r["models"]["three"].update(note="\u202e")))
    case("words: {", lambda: change("right/study.json", lambda r: r["words"].update(normalize=True)))
    case("it is of one/none/weat/q1", lambda: change(cell, lambda r: r.update(model="one")))
    case("value: '1' is not a number", lambda: change(cell, lambda r: r["results"][0].update(value="1")))
    case("not a cell file", lambda: change(cell, lambda r: r.pop("results")))
