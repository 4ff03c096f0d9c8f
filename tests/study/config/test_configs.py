"""YAML and JSON that a person or a program wrote: what is refused, in one line, and how soon."""

import io
import json
import time
from pathlib import Path

import pytest
import yaml
from conftest import ROOT, grid_config, refusal, refusal_of
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from biasgrid.core.configs import (
    MOST_EXPANDED,
    check_expansion,
    parse_json,
    parse_yaml,
    read_json,
    read_yaml,
)
from biasgrid.study.study import Study
from biasgrid.workflow import setup
from validation.calibration import Simulation
from validation.planted_bias import Factory

pytestmark = pytest.mark.slow

MEASURE = ("measure", "--metric", "weat", "--model", "m", "--query", "q")
EXPERIMENT = str(ROOT / "validation" / "experiment.smk")


def bomb(levels: int, inner: str = "[{}]", first: str = "[x, x, x, x, x, x, x, x, x]") -> str:
    """YAML in which each level is nine times that before it."""
    lines = [f"a0: &a0 {first}"]
    for level in range(1, levels):
        names = [f"*a{level - 1}"] * 9
        pairs = [f"k{i}: {name}" for i, name in enumerate(names)]
        lines.append(f"a{level}: &a{level} {inner.format(', '.join(pairs if inner == '{{{}}}' else names))}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        bomb(9),
        bomb(300),
        bomb(9, "{{{}}}"),
        bomb(9, "{{<<: [{}]}}", "{x: 1, y: 2}"),
        bomb(7, first="x" * 2000),
        f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 50)}]\n",
    ],
    ids=["lists", "many-levels", "mappings", "merges", "texts", "one-long-text"],
)
def test_aliases_that_stand_for_too_much_are_refused_at_once(tmp_path, text):
    path = tmp_path / "config.yaml"
    path.write_text(text)
    before = time.monotonic()
    for reader in (Study, Factory, Simulation):
        with refused(str(path), "aliases", "1,000,000"):
            reader.read(path)
    assert time.monotonic() - before < 5


def test_what_is_handed_over_expanded_is_refused_as_well(root):
    """Snakemake reads a config with its own reader, and `--config` from the command line."""
    value = ["x"]
    for _ in range(40):
        value = [value, value]
    with refused("config", "aliases"):
        Study.of(grid_config() | {"models": value}, root=root)
    text = "a: &a [x, x]\n" + "\n".join(
        f"b{i}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]" for i in range(24)
    )
    refusal(*MEASURE, "--param", f"ddof={text}", parts=["biasgrid: --param ddof: 'a: &a [x, x]", "aliases"])


def test_aliases_as_people_use_them_are_read():
    words = [f"word{i}" for i in range(1000)]
    text = (
        yaml.safe_dump({"words": words}).replace("words:", "words: &w")
        + f"queries: [{', '.join(['*w'] * 60)}]\n"
    )
    assert parse_yaml(text)["queries"] == [words] * 60
    merged = parse_yaml("base: &base {a: 1, b: 2}\nmore: {<<: *base, b: 3}\n")
    assert merged["more"] == {"a": 1, "b": 3}


def test_what_is_long_without_aliases_is_read():
    check_expansion(["word"] * (MOST_EXPANDED + 10))
    check_expansion({f"word{i}": {"x": f"{i}" + "y" * 1000} for i in range(2000)})


records = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.integers(0, 130).map("a".__mul__),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=4)
    ),
)


@settings(max_examples=60, deadline=None)
@given(record=records, copies=st.integers(1, 5), levels=st.integers(0, 4), limit=st.integers(0, 3000))
def test_the_limit_counts_what_a_document_expands_to(record, copies, levels, limit):
    """Against counting in the expanded document itself."""

    def size(part):
        inner = [x for pair in part.items() for x in pair] if isinstance(part, dict) else part
        return 1 + (
            sum(map(size, inner)) if isinstance(inner, list) else len(part) if isinstance(part, str) else 0
        )

    expanded, once = record, size(record)
    for level in range(levels):
        leaf = level == 0 and not isinstance(record, (list, dict)) and size(record) <= 101
        # Python keeps one object for equal short texts: they are counted wherever they stand
        expanded, once = [expanded] * copies, 1 + (size(record) * copies if leaf else once)
    more = size(json.loads(json.dumps(expanded))) - once
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("biasgrid.core.configs.MOST_EXPANDED", limit)
        try:
            check_expansion(expanded)
            passed = True
        except ValueError:
            passed = False
    assert passed == (more <= limit)


@pytest.mark.parametrize("levels", [101, 5000])
def test_what_is_nested_too_deep(root, monkeypatch, levels):
    """In a file, on standard input, and as a parameter."""
    nested = "[" * levels + "]" * levels
    (root / "x.yaml").write_text(f"study: {nested}\n")
    with refused("x.yaml: ", "nested in more than 100 levels"):
        Study.read(root / "x.yaml")
    with pytest.raises(ValueError, match="nested in more than 100 levels"):
        parse_yaml(nested)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f'{{"study": {nested}}}'.encode())))
    for command in (("step", "--study", "-", "query q"), (*MEASURE, "--param", f"ddof={nested}")):
        refusal(*command, parts=["nested in more than 100 levels"])
    nested = "[" * 100 + "]" * 100
    assert parse_yaml(nested) == parse_json(nested)


@pytest.mark.parametrize(
    "text",
    [
        "? [a, b]\n: c", "!!map [a]", "!!set [a]", '!!int ""', "!!bool maybe", "!!timestamp foo", '"\\UFFFFFFFF"',
        "2020-13-45", "[" * 500, "9" * 5000, "!!python/name:os.system", "a: 1\na: 2", "\t- a", "*a",
    ],
)  # fmt: skip
def test_yaml_that_is_none_is_one_line(tmp_path, text):
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with refused(str(path), "not a YAML file: "):
        read_yaml(path)
    refusal(*MEASURE, "--param", f"ddof={text}")


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"a": 1, "a": 2}', "9" * 5000])
def test_json_that_is_none_is_one_line(tmp_path, text):
    path = tmp_path / "query.json"
    path.write_text(text)
    with refused(str(path), "not a JSON file: "):
        read_json(path)


@pytest.mark.parametrize(
    ("value", "told"),
    [("a\0b", "NUL"), ("\ud800", "surrogates"), (10**400, "a number of 401 digits")],
    ids=["nul", "surrogate", "large"],
)
def test_values_that_no_file_and_no_number_can_hold(value, told):
    with refused("config", "only text, numbers, lists and mappings are allowed", told):
        Study.of(grid_config() | {"results": value})


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"study: \xff\n", "byte 8 is not UTF-8; save the file as UTF-8"),
        (b"", "None is not a mapping"),
        (b"- 1\n", "[1] is not a mapping"),
        (b"a: [1\n", "not a YAML file: "),
        (b"a: 1\na: 2\n", "not a YAML file: duplicate key 'a'"),
        (None, "cannot read it: No such file"),
    ],
    ids=["not-utf-8", "empty", "list", "syntax", "duplicate", "missing"],
)
def test_a_workflow_ends_with_one_line(tmp_path, monkeypatch, capsys, content, told):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("config.yaml").write_bytes(content)
    with pytest.raises(SystemExit) as end:
        setup.read_config(["config.yaml"], {})
    assert end.value.code == 2
    assert capsys.readouterr().err.startswith(f"biasgrid: config.yaml: {told}")


@pytest.mark.parametrize("key", ["results", "embeddings"])
@pytest.mark.parametrize("path", ["r{model}", "r\nx"])
def test_a_folder_whose_path_snakemake_would_take_for_a_pattern(key, path):
    with refused(f"{key}: {path!r} is not a valid folder path"):
        Study.of(grid_config() | {key: path})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"a: !!bool maybe\n", "file.yaml: not a YAML file: 'maybe'"),
        (None, "file.yaml: cannot read it: No such file"),
        (b'results: "r\\nx"\n', "results: 'r\\nx' is not a valid folder path"),
        (b"published: [" + b"e" * 300 + b"]\n", "allowed: names of at most 255 bytes"),
    ],
    ids=["tag", "missing", "newline", "long"],
)
def test_a_run_answers_a_bad_config_in_one_line(project, text, told):
    """Before Snakemake reads it."""
    if text is not None:
        Path(project.folder, "file.yaml").write_bytes(text)
    refusal_of(project.biasgrid("run", "config/config.yaml", "file.yaml", "--cores", "1"), told)


@pytest.mark.slow
def test_a_target_behind_the_config_is_refused_with_the_right_order(finished):
    """Snakemake takes all that follows --configfile for configs, also a cell that is there."""
    config, cell = "config/config.yaml", "results/small/cells/one/none/weat/q1.json"
    assert (finished.folder / cell).is_file()
    for target, problem in ((cell, "is a result, not a config"), ("stores", "cannot read it: No such file")):
        refusal_of(
            finished.biasgrid("run", config, "-n", "--configfile", config, target),
            f"biasgrid: {target}: {problem}; a target stands before --configfile: "
            f"snakemake {target} --configfile {config}",
        )
        finished.run("-n", target, "--configfile", config)


def test_a_profile_whose_executor_is_not_installed_is_one_line(project):
    Path(project.folder, "cluster").mkdir()
    Path(project.folder, "cluster/config.yaml").write_text("executor: nowhere\njobs: 2\n")
    package = "snakemake-executor-plugin-nowhere"
    refusal_of(
        project.biasgrid("run", "config/config.yaml", "--profile", "./cluster", "--dry-run"),
        f"biasgrid: jobs by nowhere need {package}; install it: pip install {package}",
    )


@pytest.mark.parametrize(
    "what", ["results", "embeddings", "word_sets", "models", "criteria", "benchmarks", "source"]
)
def test_a_name_that_no_file_system_takes(what):
    """At most 255 bytes: 200 letters may be more."""
    name = "é" * 200
    change = {what: name}
    if what == "source":
        change = {"models": {"m": {"label": "M", "source": {"type": "file", "path": name}}}}
    with refused("config", "is no path; allowed: names of at most 255 bytes"):
        Study.of(grid_config() | change)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("config", []),
        ("simulation", ["--snakefile", EXPERIMENT]),
    ],
)
def test_a_run_does_so_before_snakemakes_own_reader_has_the_file(project, name, arguments):
    """It would take minutes, and all memory, for nested aliases."""
    (project.folder / "config" / f"{name}.yaml").write_text(bomb(9, "{{{}}}", "{x: 1}"))
    done = project.biasgrid("run", f"config/{name}.yaml", "--cores", "1", "--dry-run", *arguments)
    refusal_of(done, f"biasgrid: config/{name}.yaml: not a YAML file: its aliases")
