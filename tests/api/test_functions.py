"""What is called (`metrics.weat`, `debias.hard`, ...): its signature, help, source and sentences."""

import doctest
import importlib.util
import inspect
import math
import os
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, tracked
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refusals import refused

from biasgrid import BiasgridError, Query, debias, measure_grid, metrics
from biasgrid.core import docstrings, wefe_names
from biasgrid.measure.significance import parts
from biasgrid.metrics import Metric, Score
from biasgrid.models.store import EmbeddingStore
from biasgrid.models.words import WordOptions

# arguments of a call, besides the metric's own; of the tests, a further one is asked for by its name all the same
PARTS = [
    "permutation",
    "random_groups",
    "frequency_bands",
    "control_words",
    "bootstrap",
    "sensitivity",
    "reliability",
]
SHARED = ["preprocessors", "strategy", "normalize", "lost_vocabulary_threshold", "seed", *PARTS, "interval"]
FUNCTIONS = [getattr(metrics, name) for name in metrics.REGISTRY]
FITS = [getattr(debias, name) for name in debias.REGISTRY]
BOTH = [*FUNCTIONS, *FITS]
QUERY = Query([["w0", "w1", "w2"], ["w3", "w4", "w5"]], [["w6", "w7"], ["w8", "w9"]])


def by_name(function):
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"


@pytest.mark.parametrize("metric", metrics.REGISTRY.values(), ids=lambda metric: metric.name)
def test_the_signature_is_the_metrics_own(metric):
    signature = inspect.signature(getattr(metrics, metric.name))
    # metrics of sentences have a `normalize` of their own
    shared = [name for name in SHARED if name not in metric.parameters]
    assert list(signature.parameters) == ["query", "model", *metric.parameters, *shared]
    for name, default in metric.parameters.items():
        parameter = signature.parameters[name]
        assert parameter.kind is parameter.KEYWORD_ONLY
        assert parameter.default is default
    # None: it depends on the kind of model
    defaults = vars(WordOptions()) | {"preprocessors": None}
    look_up = {name: value for name, value in defaults.items() if name not in metric.parameters}
    assert {name: signature.parameters[name].default for name in look_up} == look_up
    assert signature.return_annotation == "Result"


def test_the_call_documents_the_options_that_metrics_share():
    told = docstrings.parameters(metrics.Metric.__call__)
    assert list(told) == ["query", "model", *SHARED, "parameters"]
    for name in PARTS:
        options = parts()[name].model_fields
        assert {option for option in options if f"`{option}`" in told[name]} == set(options), name


@pytest.mark.parametrize("method", debias.REGISTRY.values(), ids=lambda method: method.name)
def test_the_signature_is_the_methods_own(method):
    parameters = inspect.signature(getattr(debias, method.name)).parameters
    seed = {"seed"} if method.seeded else set()
    assert set(parameters) == {"model", *method.words, *method.parameters} | seed
    assert {name for name, p in parameters.items() if p.default is p.empty} == {
        "model",
        *method.required_words,
    }


@pytest.mark.parametrize("function", BOTH, ids=by_name)
def test_the_help_is_whole(function):
    parts = docstrings.sections(function)
    name = function.__name__
    titles = docstrings.SECTION.findall(function.__doc__)
    assert len(titles) == len(set(titles)), f"{name}: the docstring has a section twice: {titles}"
    lacking = {"Parameters", "Returns", "References", "Examples"} - set(parts)
    assert not lacking, f"{name}: its function's docstring lacks {lacking}"
    summary, _, formula = parts[""].partition("\n\n")
    assert summary.endswith("."), f"{name}: the docstring's first line is a sentence"
    assert "\n" not in summary, f"{name}: the docstring's first sentence is one line"
    # a formula, or the metric or method whose formula it is
    says = f"{name}: the docstring has a formula before its sections: a line that ends with ::, then indented ones"
    assert "::\n" in formula or "`sc_weat`" in summary, says
    told = docstrings.parameters(function)
    own = inspect.signature(getattr(function, "function", function)).parameters
    vague = [parameter for parameter in own if len(told.get(parameter, "")) <= 5]
    assert not vague, f"{name}: the docstring's Parameters say what each is: {vague}"
    assert " ".join(parts["References"].split()) == function.reference
    assert max(map(len, function.__doc__.splitlines())) <= 120
    assert function.__name__ == function.__qualname__ == function.name


@pytest.mark.parametrize("function", [metrics.rnd, debias.hsr], ids=by_name)
def test_the_help_and_the_source_are_the_functions_own(function, capsys):
    """`help(metrics.rnd)`, and `metrics.rnd??` in a notebook."""
    help(function)
    assert inspect.getdoc(function.function).splitlines()[0] in capsys.readouterr().out
    told = (
        pytest.importorskip("IPython.core.oinspect")
        .Inspector(theme_name="nocolor")
        .info(function, detail_level=1)
    )
    assert told["source"].rstrip() == inspect.getsource(function.function).rstrip()
    assert told["docstring"].rstrip() == function.__doc__.rstrip()


@pytest.mark.parametrize("metric", metrics.REGISTRY.values(), ids=lambda metric: metric.name)
def test_range_and_neutral_value_are_the_registrys(metric):
    text = " ".join(docstrings.sections(metric).get("Returns", "").split())
    found = re.search(r"Range ([\[(])(\S+), (\S+)([\])]), no-bias value (-?[\d.]*\d)", text)
    expected = f"Range [{metric.range[0]:g}, {metric.range[1]:g}], no-bias value {metric.neutral:g}."
    expected = expected.replace("[-inf", "(-inf").replace("inf]", "inf)")
    assert found, f"{metric.name}: the docstring's Returns begins: Score, and below it {expected!r}"
    left, low, high, right, neutral = found.groups()
    assert (float(low), float(high), float(neutral)) == (*metric.range, metric.neutral)
    assert (left == "(", right == ")") == tuple(map(math.isinf, metric.range))
    says = f"{metric.name}: the docstring's Returns says when the value is NaN"
    assert "NaN" in text or "as of `" in text, says


@pytest.mark.parametrize("function", BOTH, ids=by_name)
def test_the_example_runs(function):
    test = doctest.DocTestFinder(recurse=False).find(function, function.__name__)
    examples = [found for found in test if found.examples]
    assert examples, (
        f"{function.__name__}: the docstring has a section Examples, of >>> lines and what they print"
    )
    (example,) = examples
    printed = []
    failed, tried = doctest.DocTestRunner(verbose=False).run(example, out=printed.append)
    assert tried >= 3, f"{function.__name__}: the docstring's example has the imports, a model and the call"
    assert not failed, "".join(printed)


def test_attributes_of_the_packages():
    assert set(metrics.REGISTRY) <= set(dir(metrics))
    assert set(debias.REGISTRY) <= set(dir(debias))
    for package in (metrics, debias):
        for name in filter(package.REGISTRY.is_shipped, package.REGISTRY):
            assert getattr(package, name) is package.REGISTRY[name]
    assert metrics.metric(metrics.weat) is metrics.weat.metric is metrics.REGISTRY["weat"]
    assert debias.method(debias.hard) is debias.hard.method is debias.method("HardDebias")
    for entry in (metrics.weat, metrics.weat_es, debias.hard):
        assert pickle.loads(pickle.dumps(entry)) is entry
    assert not hasattr(metrics, "__wrapped__")
    spec = importlib.util.find_spec("biasgrid.metrics.weat")
    assert spec.origin.endswith("weat.py")


@pytest.mark.parametrize("package", [metrics, debias], ids=["metrics", "debias"])
def test_editors_and_type_checkers_see_each_metric_and_method_that_is_committed(package):
    """In the package's file: one that is not there is found all the same."""
    text = Path(package.__file__).read_text(encoding="utf-8")
    committed = {ROOT / path for path in tracked(str(Path(package.__file__).parent))}
    names = [name for name in package.REGISTRY if package.REGISTRY.file(name) in committed]
    assert len(names) > 5
    for name in names:
        line = f"    from .{package.REGISTRY.file(name).stem} import {name.upper()} as {name}\n"
        assert line in text, f"{name}: {package.__name__} lacks the line{line}"
        assert name in package.__all__, f"{name}: {package.__name__} lacks it in __all__"


@pytest.mark.parametrize(
    ("package", "name", "says"),
    [
        (metrics, "WEAT", "metrics.WEAT: say metrics.weat: …WEAT().run_query(query, model)"),
        (metrics, "RNSB", "say metrics.rnsb: metrics.rnsb(query, model)"),
        (metrics, "weta", "did you mean 'weat'"),
        (debias, "HardDebias", "say debias.hard: …debias.hard(model, definitional_pairs=...))"),
        (debias, "HalfSiblingRegression", "say debias.hsr: …definitional_words"),
        (debias, "hrad", "did you mean 'hard'"),
    ],
)
def test_another_name_is_answered_by_the_right_one(package, name, says):
    for kind in (AttributeError, BiasgridError):
        with refused(*says.split("…"), kind=kind):
            getattr(package, name)


# parameters of WEFE 1.0.1's run_query, of all its metrics, and of run_queries
OF_RUN_QUERY = {
    *("calculate_p_value", "p_value_test_type", "p_value_method", "p_value_iterations", "p_value_verbose"),
    *("return_effect_size", "warn_not_found_words", "print_model_evaluation", "distance", "estimator"),
    *("estimator_params", "n_iterations", "random_state", "holdout", "lost_vocabulary_threshold"),
    *("preprocessors", "strategy", "normalize"),
    *(
        "queries_set_name",
        "metric_params",
        "generate_subqueries",
        "aggregate_results",
        "aggregation_function",
    ),
    "return_only_aggregation",
}
# of the constructors, fit and transform of its debias methods
OF_DEBIAS = {
    *(
        "pca_args",
        "verbose",
        "criterion_name",
        "incremental_pca",
        "n_words",
        "n_components",
        "epochs",
        "theta",
    ),
    *("n_neighbours", "learning_rate", "weights", "definitional_pairs", "bias_representation", "target"),
    *(
        "ignore",
        "copy",
        "definitional_words",
        "alpha",
        "equalize_pairs",
        "definitional_sets",
        "equalize_sets",
    ),
}


def test_each_option_of_wefe_is_one_here_or_is_answered(random_model):
    known = {name for metric in metrics.REGISTRY.values() for name in metric.parameters}
    known |= set(vars(WordOptions()))
    assert set(wefe_names.MEASURING) >= OF_RUN_QUERY - known
    for name in OF_RUN_QUERY - known:
        with refused(f"metrics.weat: {name}: "):
            metrics.weat(QUERY, random_model(0), **{name: True})
    # it is WEAT's own
    assert metrics.weat(QUERY, random_model(0), return_effect_size=True).status == "ok"
    known = {n for m in debias.REGISTRY.values() for n in (*m.words, *m.parameters)}
    for name in OF_DEBIAS - known:
        with refused(f"debias.hsr: {name}: "):
            debias.hsr(random_model(0), definitional_words=["w0"], **{name: True})


def test_options_of_wefes_run_queries_and_rankings_are_answered(random_model):
    taken = set(inspect.signature(measure_grid).parameters)
    of_run_queries = OF_RUN_QUERY | {"metric", "word_embeddings_models"}
    parameters = {name for metric in metrics.REGISTRY.values() for name in metric.parameters}
    for name in of_run_queries - taken - parameters:
        with refused(f"measure_grid: {name}: "):
            measure_grid(["weat"], [QUERY], [random_model(0)], **{name: True})
    grid = measure_grid(["weat"], [QUERY], [random_model(0)], progress=False)
    for name, value in {"method": "first", "ascending": True}.items():
        with refused(f"rank: {name}: say "):
            grid.rank(**{name: value})


def test_a_grids_warnings_name_the_callers_line(random_model):
    queries = [QUERY, Query([["w0"], ["no-such-word"]], [["w1"]], name="lost")]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        measure_grid(["rnd", "weat"], queries, [random_model(0)], progress=False)
    assert len(warned) > 1
    assert {warning.filename for warning in warned} == {__file__}


KEYED = type("KeyedVectors", (), {"__module__": "gensim.models.keyedvectors"})()
FRAME = type("DataFrame", (), {"__module__": "pandas", "take": None, "rows": None})()
PAIR = ["w0", "w1"]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        *(
            (lambda m, _, given=given: metrics.weat(QUERY, given), says)
            for given, says in (
                (EmbeddingStore, "the class EmbeddingStore is no model"),
                ("vectors.bin", "biasgrid.load('vectors.bin')"),
                (Path("vectors.bin"), "biasgrid.load("),
                (KEYED, "a KeyedVectors of gensim is no model; load it: biasgrid.load(it)"),
                (FRAME, "load it"),
                ({"he": [1, 2]}, "load it"),
                (np.eye(3), "load it"),
                (None, "None is no model"),
            )
        ),
        (lambda m, transform: metrics.weat(QUERY, transform), "model.under(transform)"),
        (lambda m, _: metrics.weat(m, QUERY), "the query comes first"),
        (lambda m, _: metrics.weat("query.json", m), "Query.read(path)"),
        (lambda m, _: metrics.weat(QUERY.to_dict(), m), "Query.from_dict"),
        (lambda m, _: metrics.weat([["he"], ["she"]], m), "make one: Query("),
        (lambda m, transform: debias.hsr(transform, definitional_words=PAIR), "model"),
        *(
            (lambda m, _, given=given: debias.hsr(given, definitional_words=PAIR), "model")
            for given in (EmbeddingStore, "vectors.bin", KEYED, None, np.eye(3))
        ),
        (
            lambda m, transform: debias.hsr(m.under(transform), definitional_words=PAIR),
            "to debias it again, save it",
        ),
        (lambda m, _: debias.hard(m, pairs=[PAIR]), "unknown option 'pairs' of hard; …definitional_pairs"),
        (lambda m, _: debias.hard(m, [PAIR]), "hard: name all words and options, …definitional_pairs=..."),
        (
            lambda m, _: metrics.weat(QUERY, m, bootstrap=1000),
            "bootstrap: 1000 is not allowed; allowed: True, False, and a mapping",
        ),
        *(
            (
                lambda m, _, theirs=theirs: metrics.weat(QUERY, m, permutation={"alternative": theirs}),
                f"WEFE's '{theirs}' is '{ours}' here",
            )
            for theirs, ours in (("right-sided", "greater"), ("left-sided", "less"))
        ),
        (
            lambda m, _: metrics.weat(QUERY, m, calculate_p_value=True),
            "calculate_p_value: say permutation=True",
        ),
        (lambda m, _: metrics.mac(QUERY, m, return_effect_size=True), "metrics.weat_es"),
        (
            lambda m, _: measure_grid(["weat"], [QUERY], [m], njobs=2),
            "unknown option 'njobs' of measure_grid; did you mean 'n_jobs'",
        ),
    ],
)
def test_wrong_use_is_answered_by_a_sentence(random_model, call, says):
    model = random_model(0)
    with refused(*says.split("…")):
        call(model, debias.hsr(model, definitional_words=PAIR))


@pytest.mark.filterwarnings("ignore:.*cannot be small")
def test_a_part_of_inference_is_true_or_its_options(random_model):
    model = random_model(3)
    defaults = metrics.weat(QUERY, model, permutation=True, bootstrap=True, sensitivity=True)
    assert defaults == metrics.weat(QUERY, model, permutation={}, bootstrap={}, sensitivity={})
    assert set(defaults.inference) == {"permutation", "bootstrap", "influence", "halves"}
    without = metrics.weat(QUERY, model, permutation=False, random_groups=None, bootstrap=False)
    assert without.inference is None
    assert repr(without) == repr(metrics.weat(QUERY, model))


def plugin(targets, attributes, *, power: "NoSuchType" = 2.0, words=()):  # noqa: F821
    return Score(float(targets[0].sum()) ** power)


def test_a_metric_without_documentation_is_called_all_the_same(random_model):
    metric = Metric("plugin", "Plugin", plugin, (2, 2), (0.0, math.inf), 0.0, "nowhere", paired=True)
    assert list(inspect.signature(metric).parameters) == ["query", "model", "power", "words", *SHARED]
    parts = docstrings.sections(metric)
    assert parts[""] == "Plugin."
    assert parts["References"] == "nowhere"
    total = sum(random_model(0).vectors(["w0", "w1", "w2"]).sum(axis=1))
    assert metric(QUERY, random_model(0), power=1).value == pytest.approx(total)
    assert pickle.loads(pickle.dumps(metric)) == metric


# of names: wrong ones, and right ones with whatever value
NAMES = (
    "ddof return_effect_size orientation distance relation n_iterations test_size holdout solver estimator "
    "estimator_params neighbours c k permutations Seed calculate_p_value"
)
ARGUMENTS = (
    "definitional_pairs definitional_words ignore target equalize_pairs n_components alpha direction normalize "
    "preprocessors variant seed n_words wordz"
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.floats(allow_nan=True),
    st.text(max_size=5),
    st.binary(max_size=2),
    st.lists(st.integers(0, 3), max_size=2),
    st.dictionaries(st.text(max_size=6), st.integers(0, 3), max_size=2),
    st.sampled_from([np.eye(2), np.float64(0.5), np.int64(3), object(), int, {1}, [[]], {"draws": -1}, 1j]),
)


def answered(call):
    """It ends well, or in a sentence."""
    try:
        call()
        said = "well"
    except (BiasgridError, TypeError) as error:
        said = str(error)
    assert 0 < len(said) < 400
    assert "\n" not in said


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::biasgrid.NoValueWarning")
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    function=st.sampled_from(
        [metrics.weat, metrics.weat_es, metrics.same, metrics.rnsb, metrics.direct_bias]
    ),
    options=st.dictionaries(st.sampled_from([*SHARED, *NAMES.split()]), VALUES, min_size=1, max_size=2),
)
def test_a_wrong_option_never_ends_in_a_traceback(function, options, random_model):
    answered(lambda: function(QUERY, random_model(0), **options))


@pytest.mark.slow
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    function=st.sampled_from([debias.hard, debias.hsr, debias.linear_projection, debias.double_hard]),
    options=st.dictionaries(st.sampled_from(ARGUMENTS.split()), VALUES, min_size=1, max_size=3),
)
def test_a_wrong_argument_of_a_method_never_ends_in_a_traceback(function, options, random_model):
    pairs = {"definitional_pairs": [["w0", "w1"], ["w2", "w3"]], "definitional_words": ["w0", "w1"]}
    asked = {name: words for name, words in pairs.items() if name in function.method.words}
    answered(lambda: function(random_model(0), **asked | options))


CHECKED = """
from biasgrid import debias, metrics
from biasgrid.models.kinds import REGISTRY as KINDS
from biasgrid.models.store import EmbeddingStore
from biasgrid.queries.query import Query

model, query = EmbeddingStore.open("store"), Query([["he"], ["she"]], [["career"], ["family"]])
value: float = metrics.weat(query, model, ddof=1, preprocessors=[{}, {"lowercase": True}], permutation=True).value
transform = debias.hard(model, definitional_pairs=[["he", "she"], ["man", "woman"]], n_components=1)
metrics.rnd(query, model.under(transform), distance="cos", bootstrap={"draws": 10}).to_frame()
"""


# A metric's own parameters are checked when it is called: no annotation joins them with those that all metrics share
WRONG = {
    "metrics.weat(query, model, permutation=9)": 'Argument "permutation" to "__call__" of "Metric"',
    "metrics.weat(query, model, strategy='last')": 'Argument "strategy" to "__call__" of "Metric"',
    "metrics.weat(model, query)": 'Argument 1 to "__call__" of "Metric"',
    "metrics.weat(query, model).valu": '"Result" has no attribute "valu"',
    "metrics.weat.templat": '"Metric" has no attribute "templat"',
    "debias.hard(model, pairs=[])": 'Unexpected keyword argument "pairs" for "__call__" of "Method"',
    "debias.hard(model, definitional_pairs=[], n_components='2')": 'Argument "n_components" to "__call__"',
    "metrics.weta(query, model)": "has no attribute",
}


# 3,000 modules that say nothing about a call
MYPY = """
[mypy]
strict = True
follow_imports = silent

[mypy-torch.*,transformers.*,huggingface_hub.*,IPython.*,matplotlib.*,pydantic.*,numpy.*,PIL.*,rich.*]
follow_imports = skip
"""


@pytest.mark.slow
def test_type_checkers_see_the_functions(tmp_path):
    """Each wrong line is an error, and no right one."""
    pytest.importorskip("mypy")
    (tmp_path / "snippet.py").write_text(CHECKED + "\n".join(WRONG) + "\n")
    (tmp_path / "mypy.ini").write_text(MYPY)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "snippet.py"],
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    first = CHECKED.count("\n") + 1
    for line, says in enumerate(WRONG.values(), first):
        errors = re.findall(rf"^snippet\.py:{line}: error: (.*)$", done.stdout, re.M)
        assert any(says in error for error in errors), done.stdout
    wrong = {*re.findall(r"^snippet\.py:(\d+): error:", done.stdout, re.M)}
    assert wrong == {str(first + place) for place in range(len(WRONG))}, done.stdout + done.stderr
