"""Sets of one word each: a difference of two numbers over their own spread is fixed by construction."""

import math

import numpy as np
import pytest

from biasgrid import Query, metrics
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measurement_spec import MeasurementSpec

ONE = Query([["w0"], ["w1"]], [["w2", "w3", "w4"], ["w5", "w6"]], ["A", "B"], ["C", "D"])
SEEDS = range(6)


@pytest.mark.filterwarnings("ignore:.*is kept", "ignore::biasgrid.NoValueWarning")
@pytest.mark.parametrize(
    ("name", "parameters", "size"),
    [
        ("weat_es", {}, 2),
        ("weat_es", {"ddof": 1}, math.sqrt(2)),
        ("weat", {"return_effect_size": True}, 2),
        ("weat", {"return_effect_size": True, "ddof": 1}, math.sqrt(2)),
    ],
)
def test_an_effect_size_of_one_word_per_set_is_undefined_and_can_be_kept(
    random_model, name, parameters, size
):
    function, signs = getattr(metrics, name), set()
    for seed in SEEDS:
        result = function(ONE, random_model(seed), **parameters)
        assert (math.isnan(result.value), result.status) == (True, "degenerate:one word")
        assert "one word" in result.reason
        assert math.isnan(result.scalars["effect_size"])
        kept = function(ONE, random_model(seed), one_word="keep", **parameters)
        assert (abs(kept.value), kept.status) == (pytest.approx(size), "ok")
        signs.add(math.copysign(1, kept.value))
    assert signs == {-1, 1}


def test_the_statistic_of_one_word_per_set_is_a_number_and_its_effect_size_is_none(random_model):
    result = metrics.weat(ONE, random_model(0))
    assert result.status == "ok"
    assert math.isfinite(result.scalars["weat"])
    assert math.isnan(result.scalars["effect_size"])
    assert abs(metrics.weat(ONE, random_model(0), one_word="keep").scalars["effect_size"]) == pytest.approx(2)


@pytest.mark.filterwarnings("ignore:.*is kept", "ignore::biasgrid.NoValueWarning")
@pytest.mark.parametrize(("name", "parameters", "size"), [("nas", {}, 2**0.5), ("sc_weat", {"ddof": 0}, 2)])
def test_a_word_beside_two_groups_of_one_word(random_model, name, parameters, size):
    """Of three words, each at an end, the mean can be at one third or at all of it."""
    function = getattr(metrics, name)
    groups, words = [["w0"], ["w1"]], ["w2", "w3", "w4"]
    for query, more in (
        (Query(groups, [words]), {}),
        (Query([words], groups), {"orientation": "wefe_benchmark"}),
    ):
        assert function(query, random_model(0), **parameters, **more).status == "degenerate:one word"
        value = function(query, random_model(0), one_word="keep", **parameters, **more).value
        assert min(abs(abs(value) - size), abs(abs(value) - size / 3)) < 1e-9


def test_effect_sizes_of_contexts_and_of_language_models():
    rng = np.random.default_rng(0)
    ceat, lpbs_es = metrics.metric("ceat").function, metrics.metric("lpbs_es").function
    contexts = [[rng.normal(size=(n, 1, 9)) for n in side] for side in ((1, 1), (3, 2))]
    assert math.isnan(ceat(*contexts).value)
    assert abs(ceat(*contexts, ddof=0, one_word="keep").value) == pytest.approx(2)
    words = [[np.ones((n, 1)) for n in side] for side in ((1, 1), (3, 2))]
    associations = rng.normal(size=(2, 2, 5))
    assert math.isnan(lpbs_es(*words, associations=associations).value)
    assert abs(lpbs_es(*words, associations=associations, one_word="keep").value) == pytest.approx(2)


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning", "ignore::biasgrid.NoValueWarning")
def test_words_are_counted_after_look_up(random_model):
    lossy = Query([["w0", "gone"], ["w1", "lost"]], ONE.attribute_sets)
    assert metrics.weat_es(lossy, random_model(0)).status.startswith("lost_words:")
    shrunk = metrics.weat_es(lossy, random_model(0), lost_vocabulary_threshold=0.5)
    assert shrunk.status == "degenerate:one word"
    half = Query([["w0", "w7"], ["w1", "lost"]], ONE.attribute_sets)
    assert metrics.weat_es(half, random_model(0), lost_vocabulary_threshold=0.5).status == "ok"


def test_what_is_inferred_has_the_same_status(random_model):
    parts = {"permutation": {}, "bootstrap": {"draws": 20}}
    metric, model = metrics.metric("weat_es"), random_model(0)
    ((record,), _) = infer_query(MeasurementSpec(metric, inference=parts), ONE, model)
    assert record == {"query": ONE.name, "status": "degenerate:one word"}
    ((record,), _) = infer_query(MeasurementSpec(metric, {"one_word": "keep"}, inference=parts), ONE, model)
    assert record["status"] == "ok"
    assert record["permutation"]["p_value"] == record["permutation"]["p_lowest"] == 1


@pytest.mark.filterwarnings("ignore::biasgrid.NoValueWarning")
@pytest.mark.parametrize(
    "name", [name for name, metric in metrics.REGISTRY.items() if metric.needs == "vectors"]
)
def test_no_metric_of_vectors_has_one_size_for_any_two_words(random_model, name):
    """With one word in each set and its defaults, a metric has values of several sizes, or none."""
    metric = metrics.metric(name)
    numbers = [{"n": 2, "k": 2}.get(n, n) for n in metric.template]
    words = iter(f"w{i}" for i in range(40))
    targets, attributes = ([[next(words)] for _ in range(n)] for n in numbers)
    values = [metric(Query(targets, attributes), random_model(seed)).value for seed in SEEDS]
    distances = np.abs(np.array(values) - metric.neutral)
    assert np.isnan(distances).all() or np.ptp(distances) > 1e-6
