"""A stranger's files run nothing: reading results loads no plugin, and a config's are loaded after all checks."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import forks
import pytest
import yaml
from conftest import ROOT, forget_plugins, grid_config, write_text_model
from in_process import make_all
from refusals import refused
from test_registry import TOY
from test_toys import CONFIG, TEMPLATE, TOYS

import biasgrid as bg
from biasgrid.cli import main
from biasgrid.study.steps import figure_step
from biasgrid.study.study import Study
from biasgrid.tables.scales import ranking

MARK = "ran.txt"  # written by each file of a plugin
PAYLOAD = f"\nopen({MARK!r}, 'a').write(__name__)\n"
FIGURE = """
from matplotlib.figure import Figure as Page

from biasgrid.figures import Drawing, Figure


def drawings(study):
    return [Drawing("sizes")]


def draw(inputs, spec):
    return Page()


FIGURES = (Figure("sizes", "How many words.", draw, drawings=drawings, reads=("sizes",)),)
"""
# all doors through which results are read, in a process that has not run the study; it prints what it read
LOOK = """
import contextlib, io, json, pickle, sys
import biasgrid as bg
from biasgrid.cli import main

with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
    for command in (
        ["report", "results/small", "--output", "page.html"],
        ["compare", "results/small", "results/small", "--output", "compared.html"],
        ["step", "table rankings", "--study", "results/small/study.json"],
        ["step", "query q1", "--study", "results/small/study.json"],
        ["list", "metrics", "--study", "results/small/study.json"],
    ):
        assert not main(command), command
study = pickle.loads(pickle.dumps(bg.open_study("results/small")))
bg.open_study("config.yaml")
errors = []
for call in (
    lambda: study.plot("sizes"),
    lambda: bg.metrics.metric("length")(bg.Query([["a"], ["b"]], [["c"]]), bg.load(dict.fromkeys("abc", [1.0]))),
):
    try:
        call()
    except bg.BiasgridError as error:
        errors.append(str(error))
print(json.dumps({
    "labels": study.study.labels, "rank": study.rank().shape, "sizes": len(study.frame("sizes")),
    "without": study.table("length").shape, "errors": errors,
}))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The folder of a finished study whose results carry the files of its plugins."""
    folder = tmp_path_factory.mktemp("trust")
    before = Path.cwd()
    os.chdir(folder)
    try:
        write_text_model(Path("one.txt"), [f"{letter}{i}" for letter in "abc" for i in range(4)])
        lines = Path("one.txt").read_text().splitlines()[1:]
        Path("one.bars").write_text("\n".join(["bars", *(line.replace(" ", "|") for line in lines)]) + "\n")
        Path("corpus.txt").write_text(
            " ".join(f"{letter}{i} " * (i + 1) for letter in "abc" for i in range(4))
        )
        plugins = Path("results/small/queries/notes")
        plugins.mkdir(parents=True)
        for name, text in {**TOYS, "figure": FIGURE}.items():
            (plugins / f"{name}.py").write_text(text + PAYLOAD)
        (plugins / "section.html").write_text(TEMPLATE)
        config = CONFIG | {"plugins": [str(plugins)], "figures": ["sizes"], "embeddings": "stores"}
        Path("config.yaml").write_text(yaml.safe_dump(config))
        study = Study.read("config.yaml")
        make_all(study)
        figure_step(study, study.figures["sizes"]).run()
    finally:
        os.chdir(before)
        # whichever test comes first, it has not loaded them
        forget_plugins()
    return folder


@pytest.fixture
def copy(results, tmp_path, monkeypatch):
    """The results as somebody else has them."""
    shutil.copytree(results / "results", tmp_path / "results")
    shutil.copy(results / "config.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def look():
    return subprocess.run(
        [forks.python(), "-c", LOOK],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )


@pytest.mark.slow
def test_to_look_at_results_runs_none_of_their_code(copy):
    done = look()
    assert not done.returncode, done.stderr
    assert not Path(MARK).exists()
    left_out = "figure sizes, table sizes, section sizes"
    assert f"biasgrid: plugins are not loaded, so these are not updated: {left_out}\n" in done.stderr
    seen = json.loads(done.stdout)
    assert seen["labels"]["length"] == "Length"
    assert seen["labels"]["halved"] == "Halved"
    assert seen["sizes"] == 6
    # the page says all that it said in the run, which had the plugins, but for their section
    head, _, rest = Path("results/small/report.html").read_text().partition('<section id="sizes"')
    without = head + rest.partition("</section>")[2]
    assert Path("page.html").read_text() == re.sub(r'<a href="#sizes">[^<]*</a>', "", without)
    assert "figure 'sizes' is of a plugin" in seen["errors"][0]
    assert "metric 'length' is of a plugin" in seen["errors"][1]


@pytest.mark.slow
def test_a_plugins_table_of_older_code_is_read_without_ids_and_labels(copy):
    header, *lines = Path("results/small/sizes.csv").read_text().splitlines()
    assert header.endswith(",model_label")
    older = [line.rpartition(",")[0] for line in (header, *lines)]
    Path("results/small/sizes.csv").write_text("\n".join(older) + "\n")
    table = bg.open_study("results/small").frame("sizes")
    assert [",".join(table), len(table)] == [older[0], 6]
    assert not Path(MARK).exists()


@pytest.mark.slow
@pytest.mark.parametrize("place", ["results/small/cells/evil.py", "{folder}/evil.py", "../evil.py"])
def test_a_payload_in_a_strangers_study_file_is_not_run(copy, place):
    place = place.format(folder=copy)
    Path(place).write_text(PAYLOAD)
    record = json.loads(Path("results/small/study.json").read_text())
    Path("results/small/study.json").write_text(json.dumps(record | {"plugins": [place]}))
    assert not main(["report", "results/small", "--output", "page.html"])
    assert not main(["compare", "results/small", "results/small", "--output", "compared.html"])
    assert len(bg.open_study("results/small").scores) == 6
    assert "Length" in Path("page.html").read_text()
    assert not Path(MARK).exists()


@pytest.mark.slow
def test_results_that_describe_no_plugin_name_what_is_missing(copy):
    Path("results/small/plugins.json").unlink()
    with refused(
        "results/small/study.json: unknown debias method 'halve'; ",
        "plugins are not loaded",
        "run the study again",
    ):
        bg.open_study("results/small")


@pytest.mark.slow
def test_two_open_studies_have_each_its_own_plugins(copy):
    shutil.copytree("results/small", "results/other/small")
    path = Path("results/other/small/plugins.json")
    path.write_text(
        path.read_text()
        .replace('"Length"', '"Length in cm"')
        .replace('"Halved"', '"Half"')
        .replace('"neutral": 0.0', '"neutral": 1.0')
    )
    studies = [bg.open_study(folder).study for folder in ("results/small", "results/other/small")]
    assert [study.labels["length"] for study in studies] == ["Length", "Length in cm"]
    assert [study.labels["halved"] for study in studies] == ["Halved", "Half"]
    assert [ranking(study)["neutral"]["length"] for study in studies] == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("name", "weat", "metric 'weat' comes with biasgrid, and is of no plugin"),
        ("label", "x" * 201, "label: must be a line of text of at most 200 characters"),
        ("label", "x\u202ey", "the character U+202E"),
        ("asks", "{T1.__class__}", "asks: "),
        ("asks", "{T1:>999999999}", "asks: "),
        ("neutral", "0", "neutral: '0' is not a number"),
        ("function", "os.system", "unknown key 'function'"),
        ("template", [2], "template"),
    ],
)
def test_what_results_say_of_plugins_is_checked(copy, key, value, message):
    path = Path("results/small/plugins.json")
    record = json.loads(path.read_text())
    record["metrics"][0][key] = value
    path.write_text(json.dumps(record))
    with refused("results/small/plugins.json: metrics", message):
        bg.open_study("results/small")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a plugin in it, and one beside it that is no business of a config's."""
    here = tmp_path / "here"
    (here / "mine").mkdir(parents=True)
    monkeypatch.chdir(here)
    for place in ("mine/toy.py", "../other.py"):
        Path(place).write_text(TOY.format(name="toy") + PAYLOAD)
    (here / "data/word_sets").mkdir(parents=True)
    (here / "data/word_sets/toy.json").write_text('{"sets": {"e": ["e0", "e1"], "f": ["f0", "f1"]}}')
    return here


CONFIG_OF_TOY = grid_config() | {"plugins": ["mine"], "metrics": {"toy": {}, "weat": {}}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": None}, "models: None is not a mapping or a file's path"),
        ({"modles": {}}, "unknown key 'modles'; did you mean 'models'?"),
        ({"seed": "x"}, "seed: 'x' is not a whole number"),
        ({"word_sets": "nowhere"}, "toy.e"),
        ({"criteria": "nowhere.yaml"}, "nowhere.yaml: cannot read it"),
        ({"metrics": {"toy": {}, "weat": {"params": {"x": 1}}}}, "metrics: weat: unknown option 'x' of weat"),
        ({"beside": {"three": "x"}}, "beside: unknown model 'three'"),
        (
            {"evaluation": {"First": {"toy": {}, "vocabulary": 0}}},
            "evaluation: First: vocabulary: 0 is not allowed",
        ),
        ({"inference": {"bootstrap": {"draws": 0}}}, "draws"),
        (
            {
                "debias": {
                    "First": {"x": {"method": "toy", "words": {}}, "y": {"method": "hard", "words": {}}}
                }
            },
            "debias: First: y:",
        ),
    ],
)
def test_a_config_that_is_wrong_elsewhere_runs_no_plugin(project, change, message):
    with refused("x.yaml: ", message) if "criteria" not in change else refused(message):
        Study.of(CONFIG_OF_TOY | change, "x.yaml")
    assert not Path(MARK).exists()


@pytest.mark.parametrize(
    "command",
    [["run"], ["run", "--dry-run"], ["step", "query q1", "--study"], ["list", "metrics", "--study"]],
)
def test_no_command_runs_the_plugins_of_a_config_that_lacks_a_key(project, capsys, command):
    Path("c.yaml").write_text(yaml.safe_dump({k: v for k, v in CONFIG_OF_TOY.items() if k != "models"}))
    first, *options = command
    assert main([first, "c.yaml", *options] if first == "run" else [*command, "c.yaml"]) == 2
    assert "key 'models' is missing" in capsys.readouterr().err
    assert not Path(MARK).exists()


def test_a_config_that_is_right_runs_its_plugins_once(project):
    assert "toy" in Study.of(CONFIG_OF_TOY).labels
    assert Path(MARK).read_text() == "biasgrid_plugin_toy"


@pytest.mark.parametrize(
    "path", ["{outside}/other.py", "{outside}/here/mine", "../other.py", "mine/../mine/toy.py"]
)
def test_a_plugin_lies_below_the_working_folder(project, path):
    path = path.format(outside=project.parent)
    with refused("x.yaml: plugins: ", "below the folder that the command runs in"):
        Study.of(CONFIG_OF_TOY | {"plugins": [path]}, "x.yaml")
    assert not Path(MARK).exists()


@pytest.mark.parametrize("name", ["link.py", "folder/other.py", "mine"])
def test_a_link_that_leads_out_is_no_plugin(project, name):
    if name == "folder/other.py":
        Path("folder").symlink_to(project.parent)
    else:
        Path("link.py" if name == "link.py" else "mine/other.py").symlink_to(project.parent / "other.py")
    with refused("x.yaml: plugins: ", "a link leads out of the folder"):
        Study.of(CONFIG_OF_TOY | {"plugins": [name]}, "x.yaml")
    assert not Path(MARK).exists()


def test_a_link_within_the_folder_is_a_plugin(project):
    Path("link.py").symlink_to("mine/toy.py")
    assert "toy" in Study.of(CONFIG_OF_TOY | {"plugins": ["link.py"]}).labels


@pytest.mark.slow
def test_a_config_is_read_with_its_plugins_after_results_without(copy):
    """In one session: what results say of a plugin does not stand in for the plugin that a config loads."""
    code = "import biasgrid as bg; bg.open_study('results/small')\nfrom biasgrid.study.study import Study\n"
    done = subprocess.run(
        [forks.python(), "-c", code + "print(len(Study.read('config.yaml').grid.cells))"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == 6
