"""Misspelt names at every door: one line with the name, the nearest one, and all that are allowed."""

import inspect
import json

import pytest
import yaml
from conftest import GRID_QUERY, biasgrid, grid_config, refusal
from refusals import refused

import biasgrid as bg
from biasgrid import debias, metrics
from biasgrid.cli import commands
from biasgrid.measure import significance
from biasgrid.study.study import Study

COMMANDS = commands().by_name


def misspelt(name: str) -> str:
    """Return the name without a letter in its middle."""
    middle = len(name) * 2 // 3
    return name[:middle] + name[middle + 1 :]


def keywords(function) -> list[str]:
    """Return the names of a function's keywords; `**tests` are the tests of significance."""
    parameters = inspect.signature(function).parameters
    names = [p.name for p in parameters.values() if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [*names, *significance.REGISTRY] if "tests" in parameters else names


def check_keywords(function, names, *arguments):
    """Each keyword is misspelt in turn: the line has the nearest, and all that there are if they fit."""
    for name in (name for name in names if len(name) > 2):
        head = f"unknown option {misspelt(name)!r} of {function.__name__}; did you mean {name!r}? allowed: "
        parts = names if len(name) < 20 and len(head + ", ".join(names)) <= 395 else ["allowed: "]
        with refused(f"unknown option {misspelt(name)!r}", f"did you mean {name!r}?", *parts):
            function(*arguments, **{misspelt(name): 1})


@pytest.mark.parametrize("name", metrics.REGISTRY)
def test_keywords_of_a_metric(random_model, name):
    function = getattr(metrics, name)
    names = [option for option in keywords(function) if option not in ("query", "model")]
    check_keywords(function, names, GRID_QUERY, random_model(0))


@pytest.mark.parametrize("name", debias.REGISTRY)
def test_keywords_of_a_debias_method(random_model, name):
    function = getattr(debias, name)
    check_keywords(function, [n for n in keywords(function) if n != "model"], random_model(0))


@pytest.mark.parametrize(
    "function",
    [
        bg.load,
        bg.encode,
        bg.language_model,
        bg.word_sets,
        bg.measure_grid,
        bg.Query,
        bg.Grid.rank,
        bg.Grid.plot,
        *(getattr(bg.word_bias, name) for name in bg.word_bias.__all__ if name.islower()),
    ],
    ids=lambda function: function.__qualname__,
)
def test_keywords_of_the_api(function):
    check_keywords(function, [name for name in keywords(function) if name != "self"])


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
@pytest.mark.parametrize(
    ("use", "nearest"),
    [
        (lambda _: metrics.waet, "weat"),
        (lambda _: metrics.metric("rns"), "rnsb"),
        (lambda _: debias.hrad, "hard"),
        (lambda _: bg.load("glove-6b-50"), "glove-6b-50d"),
        (lambda _: bg.load("x.txt", kind="corpsu"), "corpus"),
        (lambda _: bg.word_sets("wat"), "weat"),
        (lambda _: bg.word_sets("weat")["carer"], "career"),
        (lambda _: bg.published("case_studi"), "case_study"),
        (lambda m: metrics.weat(GRID_QUERY, m, permutation={"drws": 9}), "draws"),
        (lambda m: metrics.weat(GRID_QUERY, m, strategy="al"), "all"),
        (lambda m: metrics.weat(GRID_QUERY, m, interval="jacknife"), "jackknife"),
        (lambda m: metrics.weat(GRID_QUERY, m, preprocessors=[{"lowrcase": True}]), "lowercase"),
        (lambda m: bg.measure_grid(["waet"], [GRID_QUERY], [m]), "weat"),
        (lambda m: bg.measure_grid(["weat"], [GRID_QUERY], [m], progress=False).plot("scors"), "scores"),
        (lambda m: bg.measure_grid(["weat"], [GRID_QUERY], [m], progress=False).table("waet"), "weat"),
        (
            lambda m: bg.measure_grid(["weat"], [GRID_QUERY], [m], progress=False).without("A and B wrt C"),
            GRID_QUERY.name,
        ),
    ],
)
def test_names_in_python(random_model, use, nearest):
    with refused(f"did you mean {nearest!r}?"):
        use(random_model(0))


def test_names_of_the_package():
    with pytest.raises(
        AttributeError, match=r"has no attribute 'measure_grd'; did you mean 'measure_grid'\?$"
    ):
        _ = bg.measure_grd


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "run"])
def test_options_of_a_command(command):
    flags = [flag for flag in COMMANDS[command]._option_string_actions if flag.startswith("--")]
    for name in flags[:: len(flags) // 6 + 1]:  # each takes milliseconds
        wrong = misspelt(name)
        parts = [f"biasgrid {command}: unknown option {wrong!r}; did you mean {name!r}?", *flags]
        refusal(*command.split(), wrong, "x", parts=parts)


@pytest.mark.slow  # it reads Snakemake's options
def test_options_of_run():
    for wrong, name in (("--wy", "--why"), ("--replce", "--replace"), ("--dry-rn", "--dry-run")):
        part = f"run: unknown option {wrong!r}; did you mean {name!r}?"
        refusal("run", "config/embedded.yaml", wrong, parts=[part])


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command):
    *group, name = command.split()
    line = refusal(*group, misspelt(name) if len(name) > 4 else f"{name}s", "x")
    assert "unknown command" in line
    siblings = [other for other in COMMANDS if other.split()[:-1] == group]
    assert all(other.split()[-1] in line for other in siblings)


def test_the_nearest_command():
    refusal("mesure", "--metric", "weat", parts=["did you mean 'measure'?"])


MEASURE = ("measure", "--metric", "weat", "--model", "one.txt", "--query", "q.json")


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        (("measure", "--metric", "waet", "--model", "one.txt", "--query", "q.json"), "weat"),
        ((*MEASURE, "--permutation", "drws=9"), "draws"),
        ((*MEASURE, "--interval", "jacknife"), "jackknife"),
        ((*MEASURE, "--param", "ddoff=0"), "ddof"),
        (("measure", "--metric", "weat", "--model", "one.tx", "--query", "q.json"), "one.txt"),
        (("measure", "--metric", "weat", "--model", "one.txt", "--query", "qq.json"), "q.json"),
        (("measure", "--metric", "weat", "--model", "glove-6b-50", "--query", "q.json"), "glove-6b-50d"),
        (("debias", "--method", "hrad", "--model", "one.txt", "--words", "w", "--output", "o.npz"), "hard"),
        (
            (
                "words",
                "analogy",
                "--model",
                "one.txt",
                "--pairs",
                "a0:b0",
                "--word",
                "c0",
                "--method",
                "3cosad",
            ),
            "3cosadd",
        ),
        (("init", "new", "--models", "glove-6b-50"), "glove-6b-50d"),
        (("init", "new", "--models", "one.tx"), "one.txt"),
        (("list", "metric"), "metrics"),
        (("list", "queries", "--study", "stdy.yaml"), "study.yaml"),
        (("run", "stdy.yaml"), "study.yaml"),
        (("run", "config/embeded.yaml"), "embedded.yaml"),
        pytest.param(("run", "study.yaml", "--why", "table score"), "table scores", marks=pytest.mark.slow),
        (("report", "dta"), "data"),
        (("verify", "dta"), "data"),
        (("step", "--study", "study.yaml", "table scors"), "scores"),
        (("step", "--study", "study.yaml", "figure ranking"), "figure rankings"),
        (("step", "--study", "study.yaml", "cell one/none/waet/q1"), "cell one/none/weat/q1"),
        (("step", "--study", "study.yaml", "query q"), "query q3"),
        (("step", "--study", "study.yaml", "archive on"), "archive one"),
        (("fetch", "--study", "study.yaml", "--model", "on"), "one"),
    ],
)
def test_names_on_the_command_line(study_files, arguments, nearest):
    config = grid_config() | {"figures": ["rankings"]}
    (study_files / "study.yaml").write_text(yaml.safe_dump(config))
    refusal(*arguments, parts=[f"did you mean {nearest!r}?"])


def changed(**parts):
    return {**grid_config(), **parts}


@pytest.mark.parametrize(
    ("config", "nearest"),
    [
        (changed(metrcs={}), "metrics"),
        (changed(metrics={"waet": {}}), "weat"),
        (changed(metrics={"weat": {"parms": {}}}), "params"),
        (changed(metrics={"weat": {"params": {"ddoff": 0}}}), "ddof"),
        (changed(metrics={"rnd": {"params": {"distance": "nrm"}}}), "norm"),
        (changed(inference={"permutaton": {}}), "permutation"),
        (changed(inference={"permutation": {"drws": 9}}), "draws"),
        (changed(inference={"interval": "jacknife"}), "jackknife"),
        (changed(figures=["scors"]), "scores"),
        (changed(models=["glove-6b-50"]), "glove-6b-50d"),
        (changed(models={"one": {"lable": "x", "source": {"type": "file", "path": "one.txt"}}}), "label"),
        (changed(models={"one": {"label": "x", "source": {"type": "fil", "path": "one.txt"}}}), "file"),
        (changed(models={"one": {"label": "x", "source": {"type": "file", "pth": "one.txt"}}}), "path"),
        (
            changed(
                models={"one": {"label": "x", "kind": "corpsu", "source": {"type": "file", "path": "x"}}}
            ),
            "corpus",
        ),
        (changed(debias={"First": {"h": {"method": "hrad", "label": "x", "words": {}}}}), "hard"),
        (changed(debias={"Frst": {"h": {"method": "hard", "label": "x", "words": {}}}}), "First"),
        (changed(ranking={"by": "distnce"}), "distance"),
        (changed(aggregation="abs_av"), "abs_avg"),
        (changed(correlations=["spearmn"]), "spearman"),
        (changed(words={"strategy": "firt"}), "first"),
        (
            changed(criteria={"A": {"queries": {"q": {"targets": {"A": "toy.e", "B": "weat.carer"}}}}}),
            "career",
        ),
        (changed(criteria={"A": {"queries": {"q": {"targets": {"A": "toy.e", "B": "wat.career"}}}}}), "weat"),
        (changed(criteria={"A": {"queries": {"q": {"targts": {"A": "toy.e"}}}}}), "targets"),
        (changed(criteria=["config/queries/case_studi.yaml"]), "case_study.yaml"),
        (changed(null_distributions=["one/none/waet/q1"]), "one/none/weat/q1"),
        (changed(plugins=["maddalozo"]), "maddalozzo"),
    ],
)
def test_names_in_a_config(study_files, config, nearest):
    with refused(f"did you mean {nearest!r}?"):
        Study.of(config, "study.yaml")
    (study_files / "study.json").write_text(json.dumps(config))
    assert biasgrid("run", "study.json", "--dry-run").returncode == 2
