"""The command line as scripts use it: JSON on standard output, one line and exit code 2 for bad input."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import forks
import numpy as np
import pytest
from conftest import ROOT, biasgrid, grid_config, make_store, printed, refusal, write_text_model
from test_registry import TOY, plugins  # noqa: F401  (a fixture)

from biasgrid import EmbeddingStore, Query, metrics
from biasgrid.models import convert

WORDS = [f"{letter}{i}" for letter in "abcd" for i in range(4)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("cli")
    make_store(made, WORDS, np.random.default_rng(5).normal(size=(16, 6)))
    query = Query(
        [WORDS[:4], WORDS[4:8]],
        [WORDS[8:12], WORDS[12:]],
        ["First", "Second"],
        ["Attribute one", "Attribute two"],
    )
    (made / "query.json").write_text(query.to_json())
    (made / "small.json").write_text(query.subqueries((2, 1))[0].to_json())
    return made


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.mark.slow
def test_it_is_a_process(folder):
    command = [sys.executable, "-m", "biasgrid", "measure", "--metric", "weat", "--model", folder / "store"]
    done = subprocess.run([*command, "--query", folder / "query.json"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["status"] == "ok"
    done = subprocess.run([*command, "--query", "nowhere.json"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "biasgrid: nowhere.json: cannot read it: No such file or directory\n"


def test_measure_is_the_library(folder):
    record = printed(
        "measure", "--metric", "weat", "--model", folder / "store", "--query", folder / "query.json",
        "--param", "normalize=true", "--param", 'preprocessors=[{}, {"lowercase": true}]',
    )  # fmt: skip
    model = EmbeddingStore.open(folder / "store")
    result = metrics.weat(Query.read(folder / "query.json"), model, normalize=True)
    assert record["value"] == result.value
    assert record["scalars"]["effect_size"] == result.scalars["effect_size"]
    assert record["status"] == "ok"
    assert record["found"]["First"] == {word: [word] for word in WORDS[:4]}


def test_measure_gives_subqueries_of_a_larger_query(folder):
    record = printed(
        "measure", "--metric", "RND", "--model", folder / "store", "--query", folder / "query.json"
    )
    assert [s["query"] for s in record["subqueries"]] == [
        "First and Second wrt Attribute one",
        "First and Second wrt Attribute two",
    ]
    one = printed("measure", "--metric", "rnd", "--model", folder / "store", "--query", folder / "small.json")
    assert one["value"] == record["subqueries"][0]["value"]


def test_measure_reads_foreign_formats(folder, tmp_path):
    path = write_text_model(tmp_path / "model.txt", WORDS)
    record = printed("measure", "--metric", "mac", "--model", path, "--query", folder / "query.json")
    assert 0 < record["value"] < 2


def test_measure_with_a_vocabulary_prefix(folder, tmp_path):
    path = write_text_model(tmp_path / "model.txt", [f"/c/en/{word}" for word in WORDS])
    arguments = ("measure", "--metric", "mac", "--model", path, "--query", folder / "query.json")
    assert "First lacks 4 of 4 words" in biasgrid(*arguments).stderr
    record = printed(*arguments, "--vocab-prefix", "/c/en/")
    assert record["status"] == "ok"
    assert record["found"]["First"]["a0"] == ["/c/en/a0"]


def test_a_lost_set_is_null_and_said(folder, tmp_path):
    (tmp_path / "q.json").write_text(
        json.dumps({"target_sets": [{"words": ["x", "y"]}], "attribute_sets": [{"words": WORDS[:4]}]})
    )
    answer = biasgrid(
        "measure", "--metric", "mac", "--model", folder / "store", "--query", tmp_path / "q.json"
    )
    assert answer.returncode == 2
    assert "mac has no value on made: too many words are lost" in answer.stderr
    record = json.loads(answer.stdout)
    assert record["value"] is None
    assert record["status"] == "lost_words:Target set 0"
    assert record["lost"]["Target set 0"] == ["x", "y"]


def test_the_seed_decides_what_random_metrics_draw(folder):
    def value(seed):
        arguments = ("--metric", "rnsb", "--model", folder / "store", "--query", folder / "query.json")
        drawn = ("--seed", seed, "--param", "n_iterations=3", "--param", "test_size=0.25")
        return printed("measure", *arguments, *drawn)["value"]

    assert value(1) == value(1) != value(2)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"--metric": "weta"}, "unknown metric 'weta'"),
        ({"--model": "nowhere"}, "nowhere"),
        ({"--query": "nowhere.json"}, "nowhere.json: cannot read it"),
        ({"--query": "Makefile"}, "Makefile: not a JSON file"),
        ({"--param": "ddof"}, "expected KEY=VALUE"),
        ({"--param": "ddof=[1"}, "neither JSON nor YAML"),
        ({"--param": "ddoff=1"}, "unknown option 'ddoff' of weat; did you mean 'ddof'?"),
        ({"--param": "ddof=5"}, "ddof: 5"),
        ({"--param": "ddof=1.0"}, "ddof: 1.0"),
        ({"--param": 'return_effect_size="false"'}, "return_effect_size: 'false'"),
        ({"--param": "return_effect_size=2020-01-01"}, "return_effect_size"),
        ({"--param": "return_effect_size=NaN"}, "return_effect_size: nan"),
        ({"--metric": "rnsb", "--seed": "-1"}, "seed: -1"),
        ({"--metric": "rnsb", "--param": "n_iterations=4000000000"}, "n_iterations: 4000000000"),
        ({"--tru": "x"}, "unknown option '--tru'; did you mean '--trust-pickle'?"),
        ({"--param": "seed=5"}, "--seed"),
        ({"--param": "preprocessors=lowercase"}, "preprocessors: expected a list"),
        ({"--param": "lost_vocabulary_threshold=2"}, "numbers from 0 to 1"),
        ({"--seed": "x"}, "invalid int value"),
        ({"--nothing": "x"}, "unknown option '--nothing'; "),
    ],
)
def test_bad_input_is_one_line_and_code_2(folder, change, says):
    options = {"--metric": "weat", "--model": folder / "store", "--query": folder / "query.json"} | change
    refusal("measure", *(part for pair in options.items() for part in pair), parts=[says])


def test_a_path_that_is_too_long_is_said_in_one_line():
    for command in (("step", "table scores"), ("list", "models")):
        refusal(*command, "--study", "a" * 300, parts=["File name too long"])


@pytest.mark.slow
def test_draws_that_do_not_fit_into_memory_are_refused(folder):
    """Before any is drawn, in a process that may take 1 GB more than it has."""
    code = f"""
import resource
from pathlib import Path
from biasgrid.cli import main
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 10**9,) * 2)
measure = ["measure", "--metric", "weat", "--model", {str(folder / "store")!r}]
for option in (["--bootstrap", "draws=12000000"], ["--sensitivity", "halves=12000000"]):
    assert main([*measure, "--query", {str(folder / "query.json")!r}, *option]) == 2
"""
    done = subprocess.run([forks.python(), "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    line = (
        r"biasgrid: .*(bootstrap|sensitivity): 12,000,000 (draws|halves).*: this needs [\d.]+ GB of memory, and "
        r"[\d.]+ GB are free; ask for fewer\n"
    )
    assert re.fullmatch(line * 2, done.stderr)


def test_repeated_words_are_a_warning_on_standard_error(folder, tmp_path):
    (tmp_path / "q.json").write_text(
        json.dumps(
            {"target_sets": [{"words": ["a0", "a1", "a0"]}], "attribute_sets": [{"words": WORDS[4:8]}]}
        )
    )
    done = biasgrid("measure", "--metric", "mac", "--model", folder / "store", "--query", tmp_path / "q.json")
    assert done.returncode == 0
    assert "warning: target set 'Target set 0' repeats 'a0'" in done.stderr
    assert json.loads(done.stdout)["words_used"] == 6


def test_convert_makes_a_store(tmp_path):
    path = write_text_model(tmp_path / "model.txt", WORDS, dimensions=6)
    record = printed("convert", "--input", path, "--output", tmp_path / "store")
    assert record["shape"] == [16, 6]
    record = printed("convert", "--input", path, "--output", tmp_path / "store", "--limit", 3)
    assert (record["shape"], record["limit"]) == ([3, 6], 3)
    path.write_bytes(path.read_bytes() + b"\xff 1 2 3 4 5 6\n")
    arguments = ("convert", "--input", path, "--output", tmp_path / "other")
    assert "is not UTF-8" in refusal(*arguments, "--broken-words", "refuse")
    assert "limit: must be a whole number" in refusal(*arguments, "--limit", 0)
    refusal("convert", "--input", tmp_path / "none.txt", "--output", tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_every_step_can_be_run_by_hand(finished, monkeypatch):
    """The same bytes from the command line as from the workflow: query, cell, tables, figure."""
    folder = finished.folder
    before = finished.results()
    study = "results/small/study.json"
    monkeypatch.chdir(folder)
    (folder / "results/small/queries/q1.json").unlink()
    made = printed("step", "query q1", "--study", "config/config.yaml")
    assert made == {"steps": ["query q1"], "files": ["results/small/queries/q1.json"]}
    (folder / "results/small/cells/two/none/rnsb/q2.json").unlink()
    made = printed("step", "cell two/none/rnsb/q2", "--study", "config/config.yaml")
    assert [result["query"] for result in made["results"]]
    tables = ["scores", "aggregates", "rankings", "correlations"]
    for table in tables:
        (folder / f"results/small/{table}.csv").unlink()
    made = printed("step", *(f"table {table}" for table in tables), "--study", study)
    assert made["files"] == [f"results/small/{table}.csv" for table in tables]
    printed("step", "figure rankings", "--study", study)
    assert finished.results() == before
    # in the order in which they are made of one another, which is not the order on the command line
    for file in ("rankings", "scores"):
        (folder / f"results/small/{file}.csv").unlink()
    for jobs in ("1", "2"):
        printed("step", "table rankings", "table scores", "--study", study, "--jobs", jobs)
        assert finished.results() == before
    for arguments, says in (
        (("step", "cell x", "--study", study), "unknown step 'cell x'; "),
        (
            ("step", "query x", "--study", study),
            "did you mean 'query q3'? allowed: query q1, query q2, query q3",
        ),
        (("step", "figure x", "--study", study), "unknown step 'figure x'; "),
        (("fetch", "--study", study, "--model", "x"), "unknown model 'x'; allowed: one, two"),
        (("step", "table scores", "--study", "none.yaml"), "none.yaml: cannot read it"),
        (
            ("step", "table scores", "--study", study, "--jobs", "0"),
            "--jobs: 0 is not allowed; allowed: 1 or more",
        ),
        (("step", "table quality", "--study", study), "unknown step 'table quality'; "),
    ):
        refusal(*arguments, parts=[says])


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_step_is_left_out_if_what_it_reads_could_not_be_made(finished, monkeypatch, jobs):
    monkeypatch.chdir(finished.folder)
    Path("results/small/cells/one/none/weat/q1.json").write_text("[1]")
    Path("results/small/rankings.csv").unlink()
    steps = ["table rankings", "table scores"]
    reason = refusal(
        "step", *steps, "--study", "config/config.yaml", "--jobs", jobs, parts=["table scores: "]
    )
    assert "rankings" not in reason
    assert not Path("results/small/rankings.csv").exists()


@pytest.mark.slow
def test_a_step_makes_the_files_that_it_reads_if_they_are_missing(study_files):
    """A model's store, a debias method's fit, queries and scores; those of tables and figures are not made."""
    config = grid_config() | {"inference": {"permutation": {"draws": 19}}}
    entry = {"method": "hard", "words": {"definitional_pairs": [["a0", "b0"], ["a1", "b1"]]}}
    config["debias"] = {"First": {"hard": entry | {"models": ["one"]}}}
    (study_files / "study.yaml").write_text(json.dumps(config))
    step = ("step", "--study", "study.yaml")
    made = printed(*step, "inference one/hard/weat")
    assert made["files"] == ["results/small/inference/one/hard/weat.json"]
    results = study_files / "results" / "small"
    cells = [file.relative_to(results).as_posix() for file in results.glob("cells/**/*.json")]
    assert sorted(cells) == [f"cells/one/hard/weat/{query}.json" for query in ("q1", "q2")]
    assert (results / "debias/one/hard.npz").is_file()
    # a store that is gone is made again, although its record is there
    store = Path(printed("fetch", "--study", "study.yaml", "--model", "one")["store"])
    shutil.rmtree(store)
    assert printed(*step, "cell one/none/weat/q1")["results"]
    assert (store / "model.json").is_file()
    refusal(*step, "table scores", parts=["one/none/weat.json: not a cell file: there is no such file"])


def test_fetch_takes_the_study_as_other_commands_do(study_files):
    store = printed("fetch", "--study", "study.yaml", "--model", "one")["store"]
    # the former name of the option
    assert printed("fetch", "--config", "study.yaml", "--model", "one")["store"] == store
    assert "--config" not in biasgrid("fetch", "--help").stdout
    refusal("fetch", "--study", "study.yaml", parts=["--model and --study, or --pin"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("topic", "names"),
    [
        ("metrics", ["weat", "rnd"]),
        ("debias", ["hard"]),
        ("models", ["glove-twitter-200"]),
        ("word-sets", ["weat.career", "debiaswe.definitional_pairs"]),
        ("queries", ["gender_1"]),
        ("tables", ["scores"]),
        ("figures", ["rankings"]),
        ("evaluations", ["similarity"]),
        ("formats", ["text"]),
        ("sources", ["url"]),
        ("kinds", ["vectors"]),
    ],
)
def test_what_can_be_named_is_listed(topic, names):
    listed = {entry["name"]: entry["description"] for entry in printed("list", topic)}
    assert set(names) <= set(listed)
    assert all(len(description) > 8 for description in listed.values())


def test_a_studys_own_are_listed(tmp_path, monkeypatch, plugins):  # noqa: F811
    (tmp_path / "toy.py").write_text(TOY.format(name="toy"))
    (tmp_path / "study.yaml").write_text(
        json.dumps(grid_config() | {"plugins": ["toy.py"], "word_sets": "sets"})
    )
    (tmp_path / "sets").mkdir()
    (tmp_path / "sets" / "toy.json").write_text(
        '{"sets": {"e": ["e1", "e2"], "f": ["f1"], "g": [["x", "y"]]}}'
    )
    monkeypatch.chdir(tmp_path)

    def listed(topic):
        entries = printed("list", topic, "--study", "study.yaml")
        return {entry["name"]: entry["description"] for entry in entries}

    assert listed("metrics")["toy"] == "no description"
    assert listed("models") == {"one": "Model one.", "two": "Model two."}
    assert listed("word-sets") == {"toy.e": "2: e1, e2", "toy.f": "1: f1", "toy.g": "1: x-y"}
    assert listed("queries")["q1"] == "A and B wrt C and D"


def test_a_long_list_is_cut_and_says_how_to_see_the_rest():
    line = refusal("step", "--study", ROOT / "config" / "embedded.yaml", "cell " + "x" * 5000)
    assert "more (of the kinds " in line


def test_a_model_is_measured_by_its_name(tmp_path, monkeypatch):
    """A store in the cache, or a shipped model; a name that is like one is answered by it."""
    (tmp_path / "vectors.txt").write_text("he 1 0\nshe 0 1\nboss 1 0\n")
    convert(tmp_path / "vectors.txt", tmp_path / "mine", name="mine")
    query = tmp_path / "query.json"
    query.write_text(Query([["he"], ["she"]], [["boss"]]).to_json())
    measure = ("measure", "--metric", "rnd", "--query", query, "--param", "distance=cos", "--model")
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(tmp_path))
    assert printed(*measure, "mine")["value"] == 1
    refusal(*measure, "glove-6b-50", parts=["did you mean 'glove-6b-50d'?"])
