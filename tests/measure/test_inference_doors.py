"""Inference without a study: from Python and from `biasgrid measure`, with the options of a study's config."""

import inspect
import json
import math
from collections import Counter
from dataclasses import replace
from functools import wraps

import numpy as np
import pytest
import scipy.stats
from conftest import make_store, printed, refusal

from biasgrid import Query, debias, load, measure_grid, metrics
from biasgrid.core.errors import BiasgridError
from biasgrid.core.validation import to_record
from biasgrid.debias.transform import Transform
from biasgrid.measure import resampler
from biasgrid.measure.result import as_json
from biasgrid.measure.significance import REGISTRY, complete_options
from biasgrid.metrics import Metric, Score
from biasgrid.models import words
from biasgrid.study.study import Study

WORDS = [f"w{i}" for i in range(40)]
QUERY = Query([WORDS[:5], WORDS[5:10]], [WORDS[10:14], WORDS[14:18]])
ASKED = {"permutation": {}, "bootstrap": {"draws": 200}, "sensitivity": {"halves": 20}}


def test_a_result_has_its_p_value_and_interval(random_model):
    model = random_model(0)
    result = metrics.weat(QUERY, model, **ASKED)
    plain = metrics.weat(QUERY, model)
    association = [list(s.values()) for s in plain.detail["association"].values()]
    expected = scipy.stats.permutation_test(
        association,
        lambda x, y, axis: x.sum(axis=axis) - y.sum(axis=axis),
        vectorized=True,
        n_resamples=np.inf,
        alternative="two-sided",
    )
    assert result.p_value == pytest.approx(expected.pvalue)
    assert set(result.inference) == {"permutation", "bootstrap", "influence", "halves"}
    assert (result.ci_low, result.ci_high) == tuple(result.inference["bootstrap"]["jackknife"])
    percentile = metrics.weat(QUERY, model, interval="percentile", **ASKED)
    assert [percentile.ci_low, percentile.ci_high] == result.inference["bootstrap"]["percentile"]
    assert result.ci_low < result.value < result.ci_high
    # the words of a leave-one-out are the query's
    without = metrics.weat(Query([WORDS[1:5], WORDS[5:10]], [WORDS[10:14], WORDS[14:18]]), model)
    influence = result.inference["influence"]["Target set 0"]["w0"]
    assert influence == pytest.approx(without.value - result.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", REGISTRY)
def test_each_test_of_significance_is_asked_for_by_its_name(name):
    """Its p-value, or the reason why there is none, is in its column, in a call and in a grid."""
    test = REGISTRY[name]
    words = [f"w{i}" for i in range(400)]
    model = load((words, np.random.default_rng(0).normal(size=(400, 9))), name="m")
    result = metrics.weat(QUERY, model, **{name: True})
    grid = measure_grid(["weat"], [QUERY], [model], progress=False, **{name: True})
    for p, reason in (
        (getattr(result, test.column), result.reasons.get(test.column)),
        (grid.scores[test.column][0], grid.frame("tests")["reason"][0]),
    ):
        assert 0 < p <= 1 or (math.isnan(p) and reason)
    assert test.drawn in repr(result) or test.label.lower() in repr(result)
    assert test.adjusted in grid.scores
    for call in (
        metrics.weat,
        lambda query, model, **asked: measure_grid(["weat"], [query], [model], **asked),
    ):
        with pytest.raises(BiasgridError, match=f"{name}: unknown key 'drows'"):
            call(QUERY, model, **{name: {"drows": 9}})


def test_what_was_not_asked_for_is_absent(random_model):
    """The record of a cell's file does not change."""
    plain = metrics.weat(QUERY, random_model(0))
    assert plain.inference is None
    assert np.isnan([plain.p_value, plain.ci_low, plain.ci_high]).all()
    assert not {"p_value", "ci_low", "ci_high", "inference"} & set(as_json(plain))
    tested = metrics.weat(QUERY, random_model(0), permutation={"alternative": "greater"})
    assert set(tested.inference) == {"permutation"}
    assert tested.inference["permutation"]["alternative"] == "greater"
    assert math.isnan(tested.ci_low)
    assert as_json(tested)["ci_low"] is None
    assert {k: v for k, v in as_json(tested).items() if k in as_json(plain)} == as_json(plain)


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
def test_a_metric_without_a_test_and_a_query_without_a_value(random_model):
    result = metrics.mac(QUERY, random_model(0), permutation={}, bootstrap={"draws": 50})
    assert math.isnan(result.p_value)
    assert result.ci_low < result.value < result.ci_high
    assert result.inference["permutation"]["reason"] == metrics.metric("mac").no_test
    lost = Query([["x", "y"], WORDS[5:10]], [WORDS[10:14], WORDS[14:18]])
    result = metrics.weat(lost, random_model(0), **ASKED)
    assert result.status.startswith("lost_words")
    assert math.isnan(result.p_value)
    assert result.inference == {}


def spread(targets, attributes, *, power=2):
    """The metric of docs/how-to/extend.md, which looks at no attribute word."""
    return Score(float((abs(targets[0].mean(axis=0) - targets[1].mean(axis=0)) ** power).sum()))


def resampled_spread(words, attributes, *, power=2):
    def statistic(targets, attribute_weights):
        first, second = (w @ words / w.sum(axis=1, keepdims=True) for w in targets)
        return (abs(first - second) ** power).sum(axis=1)

    return statistic


@pytest.mark.parametrize("block", [None, 100])
def test_a_metric_of_ones_own_with_and_without_samples_at_once(random_model, monkeypatch, block):
    if block:
        monkeypatch.setattr(resampler, "BLOCK", block)
    plain = Metric("spread", "Spread", spread, (2, "n"), (0.0, math.inf), 0.0, "none")
    at_once = replace(plain, resampled=resampled_spread)
    one, other = (metric(QUERY, random_model(0), power=3, **ASKED) for metric in (plain, at_once))
    assert one.inference["permutation"]["alternative"] == "greater"
    assert one.inference["halves"] == pytest.approx(other.inference["halves"])
    assert one.inference["halves"]["attributes"] == pytest.approx(0, abs=1e-12)
    for name in one.inference["influence"]:
        assert one.inference["influence"][name] == pytest.approx(other.inference["influence"][name])
    found, expected = (
        (r.p_value, r.ci_low, r.ci_high, *r.inference["bootstrap"]["bca"]) for r in (one, other)
    )
    assert found == pytest.approx(expected)


def test_the_seed_decides_what_is_drawn(random_model):
    def drawn(seed):
        asked = {"permutation": {"exact": 0, "draws": 200}, "bootstrap": {}, "interval": "percentile"}
        return metrics.weat(QUERY, random_model(1), seed=seed, **asked)

    assert drawn(1) == drawn(1)
    assert drawn(1).p_value != drawn(2).p_value
    assert drawn(1).ci_low != drawn(2).ci_low


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"permutation": {"draws": 0}},
            "permutation: draws: 0 is not allowed: it should be greater than or equal to 1",
        ),
        ({"permutation": {"draws": True}}, "draws: True is not a whole number"),
        ({"permutation": {"draws": 10.5}}, "draws: 10.5 is not a whole number"),
        ({"permutation": {"exact": -1}}, "exact: -1 is not allowed: it should be greater than or equal to 0"),
        (
            {"permutation": {"alternative": "both"}},
            "alternative: unknown value 'both'; allowed: bias, greater, less, two-sided",
        ),
        (
            {"permutation": {"drawn": 9}},
            "permutation: unknown key 'drawn'; did you mean 'draws'\\? allowed: draws, exact, stop, alternative",
        ),
        ({"permutation": 7}, "permutation: 7 is not allowed; allowed: True, False, and a mapping of options"),
        ({"bootstrap": {"draws": "many"}}, "bootstrap: draws: 'many' is not a whole number"),
        (
            {"bootstrap": {"level": 2}},
            "bootstrap: level: 2 is not allowed: it should be less than 1",
        ),
        ({"bootstrap": {"level": math.nan}}, "bootstrap: level: nan is not allowed"),
        ({"sensitivity": {"halves": 0}}, "sensitivity: halves: 0 is not allowed"),
        (
            {"bootstrap": {}, "interval": "normal"},
            "unknown interval 'normal'; allowed: jackknife, percentile, bca",
        ),
    ],
)
def test_bad_options(random_model, asked, message):
    with pytest.raises(BiasgridError, match=message):
        metrics.weat(QUERY, random_model(0), **asked)


def test_options_are_those_of_a_study(root):
    """The same defaults wherever inference is asked for."""
    config = {
        "study": "s",
        "models": {"m": {"label": "M", "source": {"type": "file", "path": "m.txt"}}},
        "criteria": {
            "C": {"queries": {"q": {"targets": {"A": ["a"], "B": ["b"]}, "attributes": {"E": "toy.e"}}}}
        },
        "metrics": {"rnd": {}},
        "inference": {"permutation": {}, "bootstrap": {"level": 0.9}, "sensitivity": {}},
    }
    settings = Study.of(config, root=root).config.inference
    for part, given in config["inference"].items():
        assert complete_options(part, given) == to_record(settings.parts[part])
    assert inspect.signature(metrics.rnd).parameters["interval"].default == settings.interval


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("doors")
    make_store(made, WORDS, np.random.default_rng(0).normal(size=(40, 9)))
    (made / "query.json").write_text(QUERY.to_json())
    return made


def test_measure_prints_what_python_gives(folder, random_model):
    arguments = ("measure", "--model", folder / "store", "--query", folder / "query.json", "--seed", "3")
    asked = [
        "--permutation",
        "exact=0",
        "draws=300",
        "--bootstrap",
        "draws=200",
        "--sensitivity",
        "--interval",
        "percentile",
    ]
    record = printed(*arguments, "--metric", "weat", *asked)
    result = metrics.weat(
        QUERY,
        random_model(0),
        seed=3,
        permutation={"exact": 0, "draws": 300},
        bootstrap={"draws": 200},
        sensitivity={},
        interval="percentile",
    )
    assert record["asked"] == {
        "permutation": {"draws": 300, "exact": 0, "stop": 20, "alternative": "bias"},
        "bootstrap": {"draws": 200, "level": 0.95},
        "sensitivity": {"halves": 100},
        "interval": "percentile",
    }
    assert {key: record[key] for key in as_json(result)} == json.loads(json.dumps(as_json(result)))
    # a sub-query each
    sub = printed(*arguments, "--metric", "rnd", "--permutation")["subqueries"]
    assert [s["p_value"] for s in sub] == [
        measured.p_value
        for measured in (
            metrics.rnd(q, random_model(0), seed=3, permutation={}) for q in QUERY.subqueries((2, 1))
        )
    ]
    assert "p_value" not in printed(*arguments, "--metric", "weat")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            ("--permutation", "draws=0"),
            "permutation: draws: 0 is not allowed: it should be greater than or equal to 1",
        ),
        (
            ("--sensitivity", "half=5"),
            "sensitivity: unknown key 'half'; did you mean 'halves'? allowed: halves",
        ),
        (("--sensitivity", "halves"), "--sensitivity 'halves': expected KEY=VALUE"),
        (("--permutation", "draws=5", "--permutation", "draws=6"), "--permutation draws: given twice"),
        (("--permutation", "draws=[1"), "--permutation draws: '[1' is neither JSON nor YAML"),
        (("--interval", "normal"), "jackknife, percentile, bca"),
    ],
)
def test_bad_options_are_one_line_and_code_2(folder, given, says):
    place = ("--model", folder / "store", "--query", folder / "query.json")
    refusal("measure", "--metric", "weat", *place, *given, parts=[says])


def test_a_call_with_all_inference_measures_once_and_looks_up_each_set_once(word2vec, monkeypatch):
    """The value's call of the metric is the only one: tests redraw or resample."""
    pairs = [["she", "he"], ["woman", "man"], ["her", "his"]]
    transform = debias.hard(word2vec, definitional_pairs=pairs, equalize_pairs=[])
    query = Query(
        [["rose", "tulip", "daisy", "lily", "violet"], ["ant", "flea", "spider", "moth", "wasp"]],
        [["love", "peace", "friend", "heaven"], ["abuse", "crash", "murder", "poison"]],
    )
    sets = [tuple(s.words) for s in (*query.target_sets, *query.attribute_sets)]
    calls = []

    def counted(name, function, key):
        @wraps(function)
        def count(*args, **options):
            calls.append((name, key(*args)))
            return function(*args, **options)

        return count

    metric = metrics.metric("weat")
    metric = replace(metric, function=counted("metric", metric.function, lambda targets, attributes: ()))
    # every way to look words up ends there
    monkeypatch.setattr(words, "_look_up", counted("look-up", words._look_up, lambda found, *_: tuple(found)))
    apply = counted("transform", Transform.apply, lambda transform, vectors, found: tuple(found))
    monkeypatch.setattr(Transform, "apply", apply)
    asked = {part: options.copy() for part, options in ASKED.items()}
    asked |= {
        "frequency_bands": {"frequency": "wordfreq", "width": 99},
        "control_words": {"frequency": "wordfreq"},
    }
    result = metric(query, word2vec.under(transform), random_groups={"draws": 99}, **asked)
    assert not result.reasons
    assert result.inference["random_groups"]["draws"] > 20 < result.inference["control_words"]["draws"]
    of_sets = Counter(call for call in calls if call[0] != "transform" or call[1] in sets)
    assert of_sets == Counter(
        [("metric", ()), *((name, s) for name in ("look-up", "transform") for s in sets)]
    )


def test_a_permutation_test_that_a_parameter_gives_is_evidence(random_model):
    query = Query([WORDS[:7], WORDS[7:14]], [WORDS[20:24]])
    for options, evidence in (({}, "untested"), ({"relation": "mean"}, "none")):
        assert metrics.ripa(query, random_model(0), permutation={}, **options).evidence == evidence
